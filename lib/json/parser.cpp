#include "json/parser.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "json/meant_number.hpp"
#include "json/strict_text.hpp"
#include "json/syntax_remedy.hpp"

namespace dmlop::json {
namespace {

// After this many findings of one kind, the rest are not listed.
constexpr std::size_t duplicates_listed = 8;

// The part of a message of nlohmann/json after "LABEL", up to a semicolon; "" if there is none.
std::string part_after(const std::string& text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + label.size();
  return text.substr(begin, text.find(';', begin) - begin);
}

// Whether a token begins like a number and is none, such as 1.0f.
bool has_more_than_number(std::string_view token) {
  return !token.empty() && (is_digit(token.front()) || token.front() == '-') &&
         !decimal_number(token);
}

// Builds values from nlohmann's events. The events have no positions, so a cursor walks the same
// text: each event is one token, which the parser has found to be well formed.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view strict, std::string_view text, std::size_t value_limit)
      : strict_(strict), text_(text), value_limit_(value_limit) {}

  Parsed parsed;

  bool null() override { return place(Value::Kind::null) != nullptr; }
  bool boolean(bool flag) override {
    Value* value = place(Value::Kind::boolean);
    if (value != nullptr) value->boolean = flag;
    return value != nullptr;
  }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_unsigned(number_unsigned_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t& content) override {
    Value* value = place(Value::Kind::string);
    if (value != nullptr) value->text = content;
    return value != nullptr;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Value::Kind::object); }
  bool start_array(std::size_t) override { return open(Value::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const std::size_t begin = next_token();
    if (!keys_.back().insert(name).second && parsed.duplicates.size() < duplicates_listed)
      parsed.duplicates.emplace_back(begin, name);
    open_.back()->members.push_back({name, begin, {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    const std::size_t stopped = position == 0 ? 0 : position - 1;
    const std::string reason = error.what();
    // Looks only at the part before the text that was read, because that text may contain the same
    // words.
    const std::string fault = reason.substr(0, reason.find("; last read: '"));
    const bool in_token = fault.find(" - invalid ") != std::string::npos;
    std::size_t token = token_around(stopped, in_token);
    // The parser took the front of the last token for a number.
    const bool is_of_last = stopped < cursor_ || has_more_than_number(token_text(last_begin_));
    Expected expected = expected_at(reason);
    if (const std::string about = part_after(fault, "invalid string: "); !about.empty()) {
      const bool is_open = about.starts_with("missing closing quote");
      if (!is_open) token = stopped;
      parsed.problem = is_open                                 ? "this string has no closing quote"
                       : about.starts_with("ill-formed UTF-8") ? "this is not UTF-8 text"
                                                               : "invalid string: " + about;
      parsed.suggestion = remedy_of_string(about);
    } else if (is_of_last) {
      token = last_begin_;
      parsed.problem = shown(token) + " is no JSON number";
      expected = Expected::value;
    } else if (error.id == 406) {
      parsed.problem = shown(token) + " is larger than all numbers that can be read";
      parsed.suggestion = "write a smaller number";
    } else if (const std::string lacks = part_after(fault, "invalid number; "); !lacks.empty()) {
      parsed.problem = shown(token) + " is not a number: " + lacks;
      expected = Expected::value;
    } else {
      parsed.problem = (token < strict_.size() ? "unexpected " + shown(token) : "the file ends") +
                       "; expected " + words_of(expected, token);
    }
    parsed.problem_at = token;
    if (parsed.suggestion.empty())
      parsed.suggestion = remedy_of(expected, token_text(token), open_brackets());
    return false;
  }

 private:
  // Moves the cursor past the next token and returns where the token begins.
  std::size_t next_token() {
    while (cursor_ < strict_.size() &&
           (is_space(strict_[cursor_]) || strict_[cursor_] == ',' || strict_[cursor_] == ':')) {
      ++cursor_;
    }
    const std::size_t begin = last_begin_ = cursor_;
    if (begin < strict_.size()) cursor_ = skip_token(strict_, begin);
    return begin;
  }

  // Where the token begins in which the parser stopped at `stopped`. A malformed token may have
  // ended exactly there.
  std::size_t token_around(std::size_t stopped, bool in_token) const {
    if (in_token && stopped > 0) {
      const std::size_t token = token_at(stopped - 1);
      if (token < strict_.size() && structure.find(strict_[token]) == std::string_view::npos)
        return token;
    }
    return token_at(stopped);
  }

  // Where the first token begins that starts after the cursor and ends after `offset`.
  std::size_t token_at(std::size_t offset) const {
    std::size_t at = cursor_;
    while (true) {
      while (at < strict_.size() && is_space(strict_[at])) ++at;
      if (at >= strict_.size()) return at;
      const std::size_t end = skip_token(strict_, at);
      if (end > offset) return at;
      at = end;
    }
  }

  // As it was written: the strict text has other exponents.
  std::string_view token_text(std::size_t token) const {
    if (token >= strict_.size()) return "";
    return text_.substr(token, skip_token(strict_, token) - token);
  }

  std::string shown(std::size_t token) const {
    const std::string_view text = token_text(token);
    if (text.empty()) return "";
    return structure.find(text) == std::string_view::npos ? printable(text)
                                                          : "'" + std::string(text) + "'";
  }

  std::string open_brackets() const {
    std::string brackets;
    for (const Value* value : open_) brackets += value->kind == Value::Kind::array ? '[' : '{';
    return brackets;
  }

  // From nlohmann's name for the part of the grammar.
  static Expected expected_at(const std::string& reason) {
    if (reason.ends_with("expected end of input")) return Expected::end;
    const std::string where = part_after(reason, "while parsing ");
    if (where.starts_with("object key")) return Expected::name;
    if (where.starts_with("object separator")) return Expected::colon;
    if (where.starts_with("object ")) return Expected::next_member;
    return where.starts_with("array ") ? Expected::next_item : Expected::value;
  }

  std::string words_of(Expected expected, std::size_t token) const {
    std::size_t before = token;
    while (before > 0 && is_space(strict_[before - 1])) --before;
    const char previous = before > 0 ? strict_[before - 1] : ' ';
    switch (expected) {
      case Expected::end:
        return "the end of the file";
      case Expected::name:
        return std::string("a field name in double quotes") + (previous == '{' ? " or '}'" : "");
      case Expected::colon:
        return "':' and a value";
      case Expected::next_member:
        return "',' or '}'";
      case Expected::next_item:
        return "',' or ']'";
      case Expected::value:
        return std::string("a value") + (previous == '[' ? " or ']'" : "");
    }
    return "";
  }

  // Returns null if the document has too many values.
  Value* place(Value::Kind kind) {
    Value* value = &parsed.root;
    if (!open_.empty()) {
      Value& parent = *open_.back();
      value = parent.kind == Value::Kind::array ? &parent.items.emplace_back()
                                                : &parent.members.back().value;
    }
    value->kind = kind;
    value->begin = next_token();
    value->end = cursor_;
    if (++value_count_ <= value_limit_) return value;
    parsed.problem =
        "more than " + std::to_string(value_limit_) + " values; this is not an op description";
    parsed.suggestion = "write elements of tensors into .npy files";
    parsed.problem_at = value->begin;
    return nullptr;
  }

  bool number() {
    Value* value = place(Value::Kind::number);
    if (value != nullptr) value->text = text_.substr(value->begin, value->end - value->begin);
    return value != nullptr;
  }

  bool open(Value::Kind kind) {
    Value* value = place(kind);
    if (value == nullptr) return false;
    if (open_.size() == max_depth) {
      parsed.problem = "nesting is deeper than " + std::to_string(max_depth) + " levels";
      parsed.suggestion = "leave the outer brackets out";
      parsed.problem_at = value->begin;
      return false;
    }
    open_.push_back(value);
    keys_.emplace_back();
    return true;
  }

  bool close() {
    next_token();
    open_.back()->end = cursor_;
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string_view strict_;
  std::string_view text_;
  std::size_t cursor_ = 0;
  std::size_t last_begin_ = 0;  // where the token before the cursor begins
  std::size_t value_limit_;
  std::size_t value_count_ = 0;
  std::vector<Value*> open_;  // from the root to the innermost open value
  std::vector<std::set<std::string>> keys_;
};

/// A place in the text. It counts steps as it advances, because the longest texts take more than a
/// second.
class CountedPlace {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountedPlace(const char* at, Steps& steps) : at_(at), steps_(&steps) {}

  const char& operator*() const { return *at_; }
  CountedPlace& operator++() {
    constexpr std::uint64_t character_steps = 8;
    steps_->add(character_steps);
    ++at_;
    return *this;
  }
  bool operator==(const CountedPlace& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  Steps* steps_;
};

}  // namespace

Parsed parse_values(const std::string& strict, std::string_view text, std::size_t value_limit,
                    AfterRoot after_root) {
  Builder builder(strict, text, value_limit);
  Steps steps;
  builder.parsed.is_complete = nlohmann::json::sax_parse(
      CountedPlace(strict.data(), steps), CountedPlace(strict.data() + strict.size(), steps),
      &builder, nlohmann::json::input_format_t::json, after_root == AfterRoot::refused);
  return std::move(builder.parsed);
}

}  // namespace dmlop::json
