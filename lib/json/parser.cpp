#include "json/parser.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "json/strict_text.hpp"

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

bool has_digits_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// A number with a suffix of C, without it: 1.0 for 1.0f and 1.f; "" for other words, such as 0x1F.
std::string without_suffix(std::string_view word) {
  constexpr std::size_t longest = 64;
  const std::size_t end = word.find_last_not_of("fFlLuU");
  const bool has_suffix = end != std::string_view::npos && end + 1 < word.size();
  if (!has_suffix || end >= longest) return "";
  std::string number(word.substr(0, end + 1));
  if (number.back() == '.') number += '0';
  const auto json = nlohmann::json::parse(number, nullptr, /*allow_exceptions=*/false);
  return json.is_number() ? number : "";
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
    if (const std::string last = shown(last_begin_); in_token && !without_suffix(last).empty()) {
      parsed.problem = last + " is no JSON number";
      parsed.problem_at = last_begin_;
      parsed.suggestion = "write " + without_suffix(last);
      return false;
    }
    if (const std::string about = part_after(fault, "invalid string: "); !about.empty()) {
      const bool is_open = about.starts_with("missing closing quote");
      if (!is_open) token = stopped;
      parsed.problem = is_open ? "this string has no closing quote"
                       : about.starts_with("ill-formed UTF-8")
                           ? "this is no UTF-8 text; save the file as UTF-8"
                           : "invalid string: " + about;
    } else if (stopped < cursor_ || error.id == 406) {
      token = stopped < cursor_ ? last_begin_ : token;
      parsed.problem = shown(token) + " is no JSON number that can be read";
    } else if (const std::string lacks = part_after(fault, "invalid number; "); !lacks.empty()) {
      parsed.problem = shown(token) + " is no number: " + lacks;
    } else {
      parsed.problem = (token < strict_.size() ? "unexpected " + shown(token) : "the file ends") +
                       "; expected " + expected_at(token, reason);
    }
    parsed.problem_at = token;
    suggest(token);
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
  std::string shown(std::size_t token) const {
    if (token >= strict_.size()) return "";
    const std::string_view text = text_.substr(token, skip_token(strict_, token) - token);
    return structure.find(text) == std::string_view::npos ? printable(text)
                                                          : "'" + std::string(text) + "'";
  }

  // What was expected, from nlohmann's name for the part of the grammar.
  std::string expected_at(std::size_t token, const std::string& reason) const {
    if (reason.ends_with("expected end of input")) return "the end of the file";
    std::size_t before = token;
    while (before > 0 && is_space(strict_[before - 1])) --before;
    const char previous = before > 0 ? strict_[before - 1] : ' ';
    const std::string where = part_after(reason, "while parsing ");
    if (where.starts_with("object key"))
      return std::string("a field name in double quotes") + (previous == '{' ? " or '}'" : "");
    if (where.starts_with("object separator")) return "':' and a value";
    if (where.starts_with("object ")) return "',' or '}'";
    if (where.starts_with("array ")) return "',' or ']'";
    return std::string("a value") + (previous == '[' ? " or ']'" : "");
  }

  void suggest(std::size_t token) {
    const std::string word = shown(token);
    std::string lower = word;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower == "nan" || lower.ends_with("inf") || lower.ends_with("infinity")) {
      parsed.suggestion = "write \"nan\", \"inf\" or \"-inf\", with the quotes";
    } else if (lower == "true" || lower == "false" || lower == "none") {
      parsed.suggestion = "write " + (lower == "none" ? std::string("null") : lower);
    } else if (word.size() > 1 && word[0] == '.' &&
               has_digits_only(std::string_view(word).substr(1))) {
      parsed.suggestion = "write 0" + word;
    } else if (word.size() > 2 && strict_[token] == '\'' && word.ends_with("'")) {
      parsed.suggestion = "write \"" + word.substr(1, word.size() - 2) + "\"";
    } else if (const std::string number = without_suffix(word); !number.empty()) {
      parsed.suggestion = "write " + number;
    }
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
        "more than " + std::to_string(value_limit_) + " values; this is no op description";
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
