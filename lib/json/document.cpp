#include "json/document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/text.hpp"

namespace dmlop::json {
namespace {

constexpr std::string_view structure = "[]{},:";
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// After this many findings of one kind the rest are not listed.
constexpr std::size_t duplicates_listed = 8;

// Characters are counted once for each such piece of a text.
constexpr std::size_t piece_bytes = 4096;

// A longer name is cut in a finding's pointer: many findings may stand below it.
constexpr std::size_t pointer_name_max = 1000;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The end of the string literal that starts at `begin` (a quote): one past its closing quote.
std::size_t skip_string(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// The end of the comment that starts at `begin`, or npos for an unterminated /* comment.
std::size_t skip_comment(std::string_view text, std::size_t begin) {
  if (text[begin + 1] == '/') return std::min(text.find('\n', begin), text.size());
  const std::size_t close = text.find("*/", begin + 2);
  return close == std::string_view::npos ? close : close + 2;
}

// The end of the token that starts at `begin`, which is no space and not the end.
std::size_t skip_token(std::string_view text, std::size_t begin) {
  if (text[begin] == '"') return skip_string(text, begin);
  if (structure.find(text[begin]) != std::string_view::npos) return begin + 1;
  return std::min(text.find_first_of(" \t\r\n,:[]{}", begin), text.size());
}

// What a number is worth is its field's matter, which reads the original text. nlohmann, which
// wants to know it, too, ends at a number beyond double, and C libraries may take a time that is
// quadratic in the digits.

// Makes the digits of a fraction zero behind the first ones, which messages show.
void blank_fraction(std::string& text, std::size_t point) {
  constexpr std::size_t kept = 32;
  if (point == 0 || !is_digit(text[point - 1])) return;
  std::size_t at = point + 1;
  while (at < text.size() && at <= point + kept && is_digit(text[at])) ++at;
  for (; at < text.size() && is_digit(text[at]); ++at) text[at] = '0';
}

// Makes the exponent whose letter stands at `letter` zero.
void blank_exponent(std::string& text, std::size_t letter) {
  if (letter == 0 || !is_digit(text[letter - 1])) return;
  std::size_t at = letter + 1;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  for (; at < text.size() && is_digit(text[at]); ++at) text[at] = '0';
}

// Replaces comments and trailing commas by spaces, so that offsets stay and strict JSON remains.
// Returns the offset of a comment that never ends, if there is one.
std::optional<std::size_t> blank_extensions(std::string& text) {
  std::size_t comma = std::string::npos;  // a comma with only space and comments after it so far
  char before_comma = 0;
  char last = 0;  // the last character that is neither space nor comment
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool comment =
        c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*');
    if (comment) {
      const std::size_t end = skip_comment(text, at);
      if (end == std::string::npos) return at;
      for (; at < end; ++at) {
        if (text[at] != '\n') text[at] = ' ';
      }
      continue;
    }
    if (is_space(c)) {
      ++at;
      continue;
    }
    if (c == '.') blank_fraction(text, at);
    if (c == 'e' || c == 'E') blank_exponent(text, at);
    const bool closes = c == ']' || c == '}';
    const bool follows_value = before_comma != 0 && before_comma != '[' && before_comma != '{' &&
                               before_comma != ',' && before_comma != ':';
    if (closes && comma != std::string::npos && follows_value) text[comma] = ' ';
    comma = c == ',' ? at : std::string::npos;
    if (c == ',') before_comma = last;
    last = c;
    at = c == '"' ? skip_string(text, at) : at + 1;
  }
  return std::nullopt;
}

// What nlohmann/json says after "LABEL", up to a semicolon; "" where it does not say it.
std::string part_after(const std::string& text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + label.size();
  return text.substr(begin, text.find(';', begin) - begin);
}

// Builds values from nlohmann's events. It reports no positions, so a cursor walks the same text:
// every event is one token, which the parser has found to be well formed.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// `strict` is `text` without the extensions, of the same length.
  Builder(std::string_view strict, std::string_view text, std::size_t value_limit)
      : strict_(strict), text_(text), value_limit_(value_limit) {}

  Value root;
  std::string problem;         // set when parsing stopped
  std::size_t problem_at = 0;  // offset
  std::string suggestion;
  std::vector<std::pair<std::size_t, std::string>> duplicates;  // of keys: offset, name

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
    if (!keys_.back().insert(name).second && duplicates.size() < duplicates_listed)
      duplicates.emplace_back(begin, name);
    open_.back()->members.push_back({name, begin, {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    const std::size_t stopped = position == 0 ? 0 : position - 1;
    const std::string reason = error.what();
    // What stands before the text that was read, which may have the same words.
    const std::string fault = reason.substr(0, reason.find("; last read: '"));
    const bool in_token = fault.find(" - invalid ") != std::string::npos;
    std::size_t token = token_around(stopped, in_token);
    if (const std::string about = part_after(fault, "invalid string: "); !about.empty()) {
      const bool is_open = about.starts_with("missing closing quote");
      if (!is_open) token = stopped;
      problem = is_open ? "this string has no closing quote"
                : about.starts_with("ill-formed UTF-8")
                    ? "this is no UTF-8 text; save the file as UTF-8"
                    : "invalid string: " + about;
    } else if (stopped < cursor_ || error.id == 406) {
      token = stopped < cursor_ ? last_begin_ : token;
      problem = shown(token) + " is no JSON number that can be read";
    } else if (const std::string lacks = part_after(fault, "invalid number; "); !lacks.empty()) {
      problem = shown(token) + " is no number: " + lacks;
    } else {
      problem = (token < strict_.size() ? "unexpected " + shown(token) : "the file ends") +
                "; expected " + expected_at(token, reason);
    }
    problem_at = token;
    suggest(token);
    return false;
  }

 private:
  // Moves the cursor behind the next token and returns where the token begins.
  std::size_t next_token() {
    while (cursor_ < strict_.size() &&
           (is_space(strict_[cursor_]) || strict_[cursor_] == ',' || strict_[cursor_] == ':')) {
      ++cursor_;
    }
    const std::size_t begin = last_begin_ = cursor_;
    if (begin < strict_.size()) cursor_ = skip_token(strict_, begin);
    return begin;
  }

  // Where the token begins in which the parser stopped at `stopped`. A token that is wrong in
  // itself may have ended just there.
  std::size_t token_around(std::size_t stopped, bool in_token) const {
    if (in_token && stopped > 0) {
      const std::size_t token = token_at(stopped - 1);
      if (token < strict_.size() && structure.find(strict_[token]) == std::string_view::npos)
        return token;
    }
    return token_at(stopped);
  }

  // Where the first token after the cursor begins that ends behind `offset`.
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

  std::string shown(std::size_t token) const {
    if (token >= strict_.size()) return "";
    const std::string_view text = strict_.substr(token, skip_token(strict_, token) - token);
    return structure.find(text) == std::string_view::npos ? printable(text)
                                                          : "'" + std::string(text) + "'";
  }

  // nlohmann names the part of the grammar it was in.
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
      suggestion = "write \"nan\", \"inf\" or \"-inf\", with the quotes";
    } else if (word.size() > 2 && strict_[token] == '\'' && word.ends_with("'")) {
      suggestion = "write \"" + word.substr(1, word.size() - 2) + "\"";
    }
  }

  // Null when the document has too many values.
  Value* place(Value::Kind kind) {
    Value* value = &root;
    if (!open_.empty()) {
      Value& parent = *open_.back();
      value = parent.kind == Value::Kind::array ? &parent.items.emplace_back()
                                                : &parent.members.back().value;
    }
    value->kind = kind;
    value->begin = next_token();
    value->end = cursor_;
    if (++value_count_ <= value_limit_) return value;
    problem = "more than " + std::to_string(value_limit_) + " values; this is no op description";
    problem_at = value->begin;
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
      problem = "nesting is deeper than " + std::to_string(max_depth) + " levels";
      problem_at = value->begin;
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

// Parses one value; what follows it is not looked at.
bool parse_root(const std::string& text, Builder& builder) {
  constexpr bool to_the_end = false;
  return nlohmann::json::sax_parse(text, &builder, nlohmann::json::input_format_t::json,
                                   to_the_end);
}

std::string escape_pointer(std::string_view name) {
  std::string escaped;
  for (const char c : name.substr(0, pointer_name_max)) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return name.size() > pointer_name_max ? escaped + "..." : escaped;
}

}  // namespace

const Value* Value::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::boolean:
      return value.boolean ? "true" : "false";
    case Value::Kind::number:
      return printable(value.text);
    case Value::Kind::string:
      return "the string \"" + printable(value.text) + "\"";
    case Value::Kind::array:
      return value.items.empty() ? "an empty array" : "an array";
    case Value::Kind::object:
      return "an object";
  }
  return "";
}

std::optional<Document> Document::parse(Source source, std::string text, Diagnostics& diagnostics) {
  auto document = parse_leniently(std::move(source), std::move(text), diagnostics);
  if (!document) return std::nullopt;
  const Diagnostics& refused = document->tolerated_;
  diagnostics.insert(diagnostics.end(), refused.begin(), refused.end());
  if (document->has_text_after_root_) return std::nullopt;
  return document;
}

std::optional<Document> Document::parse_leniently(Source source, std::string text,
                                                  Diagnostics& diagnostics) {
  Document document;
  document.source_ = std::move(source);
  document.text_ = std::move(text);
  for (std::size_t at = 0; (at = document.text_.find('\n', at)) != std::string::npos; ++at)
    document.line_ends_.push_back(at);
  document.count_characters();
  if (document.refuse_as_text(diagnostics) || !document.build(diagnostics)) return std::nullopt;
  return document;
}

void Document::count_characters() {
  if (text_.size() > max_text_bytes) return;  // it is refused
  std::size_t count = 0;
  for (std::string_view rest = text_; !rest.empty();) {
    const std::string_view piece = rest.substr(0, piece_bytes);
    characters_before_.push_back(count);
    count += character_count(piece);
    rest.remove_prefix(piece.size());
  }
  characters_before_.push_back(count);
}

// How many characters begin in the text before the offset.
std::size_t Document::characters_to(std::size_t offset) const {
  const std::size_t piece = offset / piece_bytes;
  if (piece >= characters_before_.size()) return 0;
  const std::size_t begin = piece * piece_bytes;
  return characters_before_[piece] +
         character_count(std::string_view(text_).substr(begin, offset - begin));
}

// What is wrong with the text before it is read as JSON.
bool Document::refuse_as_text(Diagnostics& diagnostics) const {
  const auto refuse = [&](std::size_t offset, std::string message) {
    diagnostics.push_back(at_offset(offset, std::move(message)));
    return true;
  };
  if (text_.size() > max_text_bytes) {
    return refuse(0, "the file has " + std::to_string(text_.size()) +
                         " bytes; a JSON description may have at most " +
                         std::to_string(max_text_bytes));
  }
  if (text_.starts_with("\x93NUMPY"))
    return refuse(0, "this is a .npy file; expected an op description in JSON");
  if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF"))
    return refuse(0, "this is UTF-16 text; save the file as UTF-8");
  if (const std::size_t nul = text_.find('\0'); nul != std::string::npos)
    return refuse(nul, "a NUL byte, which no JSON text has; is this file JSON in UTF-8?");
  return false;
}

bool Document::build(Diagnostics& diagnostics) {
  std::string strict = text_;
  if (strict.starts_with(byte_order_mark)) strict.replace(0, byte_order_mark.size(), "   ");
  const auto comment = blank_extensions(strict);  // one that never ends
  if (comment) strict.resize(*comment);
  Builder builder(strict, text_, source_.max_values);
  if (!parse_root(strict, builder)) {
    const bool empty = std::all_of(strict.begin(), strict.end(), is_space);
    diagnostics.push_back(comment ? open_comment(*comment)
                                  : at_offset(std::min(builder.problem_at, text_.size()),
                                              empty ? "the file is empty; expected a JSON object"
                                                    : "wrong JSON: " + builder.problem));
    if (!empty && !comment) diagnostics.back().suggestion = builder.suggestion;
    return false;
  }
  root_ = std::move(builder.root);
  tolerate_text_after_root(strict, comment);
  if (has_text_after_root_) return true;
  for (const auto& [offset, name] : builder.duplicates) {
    tolerated_.push_back(at_offset(
        offset, "the field \"" + printable(name) + "\" is given twice; keep one of them"));
  }
  return true;
}

Diagnostic Document::open_comment(std::size_t offset) const {
  return at_offset(offset, "this /* comment never ends; close it with */");
}

void Document::tolerate_text_after_root(const std::string& strict,
                                        std::optional<std::size_t> comment) {
  const auto rest = strict.begin() + static_cast<std::ptrdiff_t>(root_.end);
  has_text_after_root_ = comment || !std::all_of(rest, strict.end(), is_space);
  if (!has_text_after_root_) return;
  if (comment) {
    tolerated_.push_back(open_comment(*comment));
    return;
  }
  // Once more for the message.
  Builder builder(strict, text_, source_.max_values);
  nlohmann::json::sax_parse(strict, &builder);
  tolerated_.push_back(
      at_offset(std::min(builder.problem_at, text_.size()), "wrong JSON: " + builder.problem));
  tolerated_.back().suggestion = builder.suggestion;
}

Diagnostic Document::at(const Value& value, std::string message) const {
  Diagnostic diagnostic = at_offset(value.begin, std::move(message));
  const std::string_view written = source(value);
  if (written.size() <= 200) diagnostic.value = written;
  return diagnostic;
}

Diagnostic Document::at(const Member& member, std::string message) const {
  return at_offset(member.begin, std::move(message));
}

std::uint32_t Document::line_of(const Value& value) const {
  return source_.first_line + static_cast<std::uint32_t>(line_index(value.begin));
}

// How many lines end before the offset.
std::size_t Document::line_index(std::size_t offset) const {
  const auto after = std::lower_bound(line_ends_.begin(), line_ends_.end(), offset);
  return static_cast<std::size_t>(after - line_ends_.begin());
}

std::string_view Document::source(const Value& value) const {
  return std::string_view(text_).substr(value.begin, value.end - value.begin);
}

Diagnostic Document::at_offset(std::size_t offset, std::string message) const {
  Diagnostic diagnostic;
  diagnostic.file = source_.file;
  const std::size_t line = line_index(offset);
  const std::size_t line_begin = line == 0 ? 0 : line_ends_[line - 1] + 1;
  const bool has_mark =
      line_begin == 0 && offset >= byte_order_mark.size() && text_.starts_with(byte_order_mark);
  diagnostic.line = source_.first_line + static_cast<std::uint32_t>(line);
  diagnostic.column = static_cast<std::uint32_t>(characters_to(offset) - characters_to(line_begin) +
                                                 (has_mark ? 0 : 1));
  diagnostic.pointer = pointer_to(offset);
  diagnostic.message = std::move(message);
  return diagnostic;
}

std::string Document::pointer_to(std::size_t offset) const {
  std::string pointer;
  const Value* value = &root_;
  while (true) {
    const Value* next = nullptr;
    // Members and items stand in the order of the text.
    const auto& members = value->members;
    const auto member =
        std::upper_bound(members.begin(), members.end(), offset,
                         [](std::size_t at, const Member& one) { return at < one.value.end; });
    if (member != members.end() && offset >= member->begin) {
      pointer += "/" + escape_pointer(member->name);
      if (offset < member->value.begin) return pointer;
      next = &member->value;
    }
    const auto ends_after = [](std::size_t at, const Value& item) { return at < item.end; };
    const auto& items = value->items;
    const auto item = std::upper_bound(items.begin(), items.end(), offset, ends_after);
    if (next == nullptr && item != items.end() && offset >= item->begin) {
      pointer += "/" + std::to_string(item - items.begin());
      next = &*item;
    }
    if (next == nullptr) return pointer;
    value = next;
  }
}

}  // namespace dmlop::json
