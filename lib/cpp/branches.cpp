// Branches of #if that the text itself decides: what it does not compile is left out.
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>

#include "cpp/definitions.hpp"
#include "cpp/tokens.hpp"

namespace dmlop::cpp {
namespace {

using Truth = std::optional<bool>;  // nothing: the text does not say

class BranchCutter {
 public:
  BranchCutter(std::string_view text, const Definitions& definitions)
      : text_(text), tokens_(tokens_of(text)), definitions_(definitions) {}

  std::vector<Token> rest() {
    while (at_ < tokens_.size()) {
      const bool is_directive = tokens_[at_].is("#");
      const std::size_t end = is_directive ? end_of_line(at_) : at_ + 1;
      if (!is_directive || directive(end)) keep(end);
      at_ = end;
    }
    // The end of the text would be left out, too.
    if (!is_live()) refuse_unclosed(text_, conditions_.back().begin, "this #if has no #endif");
    return std::move(kept_);
  }

 private:
  /// An #if with its branches.
  struct Condition {
    std::size_t begin = 0;       // of its #, in the text
    bool is_decided = true;      // whether the text says which branch counts
    bool is_taken = false;       // whether a branch counts, up to here
    bool is_live = false;        // whether this branch may count
    bool is_around_live = true;  // whether the #if itself may count
  };

  std::size_t end_of_line(std::size_t at) const {
    while (at + 1 < tokens_.size() && tokens_[at].kind != Token::Kind::line_end) ++at;
    return tokens_[at].kind == Token::Kind::line_end ? at + 1 : at;
  }

  bool is_live() const { return conditions_.empty() || conditions_.back().is_live; }

  bool is_certain() const {
    return std::ranges::all_of(conditions_, [](const Condition& c) { return c.is_decided; });
  }

  void keep(std::size_t end) {
    if (!is_live()) return;
    for (std::size_t at = at_; at < end; ++at) kept_.push_back(tokens_[at]);
  }

  // Whether the reader is to see the line.
  bool directive(std::size_t end) {
    const Token& word = tokens_[std::min(at_ + 1, tokens_.size() - 1)];
    if (word.is("if") || word.is("ifdef") || word.is("ifndef")) return open(word, end);
    if (word.is("elif") || word.is("else")) return next_branch(word, end);
    if (word.is("endif")) return close();
    if ((word.is("define") || word.is("undef")) && is_live()) note(word.is("define"), end);
    return true;
  }

  bool open(const Token& word, std::size_t end) {
    Condition condition{.begin = tokens_[at_].span.begin, .is_around_live = is_live()};
    const Truth truth = condition.is_around_live ? truth_of(word, end) : Truth(false);
    condition.is_decided = truth.has_value();
    condition.is_live = condition.is_around_live && truth.value_or(true);
    condition.is_taken = condition.is_live;
    conditions_.push_back(condition);
    return !condition.is_decided;
  }

  bool next_branch(const Token& word, std::size_t end) {
    if (conditions_.empty()) return true;
    Condition& condition = conditions_.back();
    if (!condition.is_decided || !condition.is_around_live) return true;
    condition.is_live = false;
    const Truth truth = condition.is_taken ? Truth(false) : truth_of(word, end);
    condition.is_live = truth.value_or(true);
    condition.is_taken = condition.is_taken || condition.is_live;
    if (!truth) become_undecided(condition, word);
    return false;
  }

  // An #elif behind branches that do not count is an #if.
  void become_undecided(Condition& condition, const Token& word) {
    condition.is_decided = false;
    kept_.push_back(tokens_[at_]);
    kept_.push_back({Token::Kind::word, word.span, "if"});
    kept_.push_back({Token::Kind::line_end, word.span, ""});
  }

  bool close() {
    if (conditions_.empty()) return true;
    const bool was_decided = conditions_.back().is_decided;
    conditions_.pop_back();
    return !was_decided;
  }

  // What a #define or #undef says about its name, unless it may not be compiled itself.
  void note(bool is_define, std::size_t end) {
    if (at_ + 2 >= end) return;
    Macro& macro = macros_[std::string(tokens_[at_ + 2].text)];
    macro.is_defined = is_certain() ? Truth(is_define) : std::nullopt;
    macro.number.reset();
    const bool has_one_token = at_ + 4 == end || at_ + 5 == end;
    if (is_define && is_certain() && has_one_token) macro.number = number_at(at_ + 3);
  }

  Truth truth_of(const Token& word, std::size_t end) const {
    if (word.is("else")) return true;
    std::size_t at = at_ + 2;
    if (at >= end) return std::nullopt;
    const std::size_t last = tokens_[end - 1].kind == Token::Kind::line_end ? end - 1 : end;
    if (word.is("ifdef")) return is_defined(tokens_[at]);
    if (word.is("ifndef")) return negated(is_defined(tokens_[at]), true);
    bool is_negated = false;
    for (; at < last && tokens_[at].is("!"); ++at) is_negated = !is_negated;
    return negated(operand(at, last), is_negated);
  }

  static Truth negated(Truth truth, bool is_negated) {
    return truth ? Truth(*truth != is_negated) : truth;
  }

  // A number, the name of one, or defined(NAME), if nothing follows.
  Truth operand(std::size_t at, std::size_t last) const {
    if (at + 1 == last) {
      const auto number = number_at(at);
      return number ? Truth(*number != 0) : std::nullopt;
    }
    if (at >= last || !tokens_[at].is("defined")) return std::nullopt;
    const bool is_enclosed = tokens_[at + 1].is("(");
    const std::size_t name = is_enclosed ? at + 2 : at + 1;
    return name + (is_enclosed ? 2 : 1) == last ? is_defined(tokens_[name]) : std::nullopt;
  }

  std::optional<std::uint64_t> number_at(std::size_t at) const {
    const Token& token = tokens_[at];
    if (token.is_word()) {
      const auto macro = macros_.find(std::string(token.text));
      if (macro != macros_.end()) return macro->second.number;
      const Value* given = definitions_.use(token.text);
      return given != nullptr ? given->number.count() : std::nullopt;
    }
    std::uint64_t number = 0;
    const char* end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data(), end, number);
    const bool is_number = token.kind == Token::Kind::number && error == std::errc{} && stop == end;
    return is_number ? std::optional(number) : std::nullopt;
  }

  Truth is_defined(const Token& name) const {
    const auto macro = macros_.find(std::string(name.text));
    if (macro != macros_.end()) return macro->second.is_defined;
    return definitions_.use(name.text) != nullptr ? Truth(true) : std::nullopt;
  }

  struct Macro {
    Truth is_defined;
    std::optional<std::uint64_t> number;
  };

  std::string_view text_;
  std::vector<Token> tokens_;
  const Definitions& definitions_;
  std::size_t at_ = 0;
  std::vector<Token> kept_;
  std::vector<Condition> conditions_;
  std::map<std::string, Macro> macros_;
};

}  // namespace

std::vector<Token> compiled_tokens_of(std::string_view text, const Definitions& definitions) {
  return BranchCutter(text, definitions).rest();
}

}  // namespace dmlop::cpp
