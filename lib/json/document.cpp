#include "json/document.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace dmlop::json {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
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

// nlohmann/json's words without its prefix: "unexpected '}'; expected string literal".
std::string reason_of(const nlohmann::json::exception& error) {
  std::string text = error.what();
  if (const auto at = text.find(" - "); at != std::string::npos) return text.substr(at + 3);
  if (const auto at = text.find("] "); at != std::string::npos) return text.substr(at + 2);
  return text;
}

// Builds values from nlohmann's events. It reports no positions, so a cursor walks the same text:
// every event is one token, which the parser has found to be well formed.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  Value root;
  std::string problem;                                          // set when parsing stopped
  std::size_t problem_at = 0;                                   // offset
  std::vector<std::pair<std::size_t, std::string>> duplicates;  // of keys: offset, name

  bool null() override { return place(Value::Kind::null) != nullptr; }
  bool boolean(bool flag) override {
    place(Value::Kind::boolean)->boolean = flag;
    return true;
  }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_unsigned(number_unsigned_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t& content) override {
    place(Value::Kind::string)->text = content;
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Value::Kind::object); }
  bool start_array(std::size_t) override { return open(Value::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const std::size_t begin = next_token();
    if (!keys_.back().insert(name).second) duplicates.emplace_back(begin, name);
    open_.back()->members.push_back({name, begin, {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    problem = reason_of(error);
    problem_at = position == 0 ? 0 : position - 1;
    if (error.id == 406) {
      problem_at = next_token();
      problem = "number " + std::string(text_.substr(problem_at, cursor_ - problem_at)) +
                " is out of range";
    }
    return false;
  }

 private:
  // Moves the cursor behind the next token and returns where the token begins.
  std::size_t next_token() {
    while (cursor_ < text_.size() &&
           (is_space(text_[cursor_]) || text_[cursor_] == ',' || text_[cursor_] == ':')) {
      ++cursor_;
    }
    const std::size_t begin = cursor_;
    if (begin >= text_.size()) return begin;
    if (text_[begin] == '"') {
      cursor_ = skip_string(text_, begin);
    } else if (std::string_view("[]{}").find(text_[begin]) != std::string_view::npos) {
      cursor_ = begin + 1;
    } else {
      cursor_ = std::min(text_.find_first_of(" \t\r\n,:[]{}", begin), text_.size());
    }
    return begin;
  }

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
    return value;
  }

  bool number() {
    Value* value = place(Value::Kind::number);
    value->text = text_.substr(value->begin, value->end - value->begin);
    return true;
  }

  bool open(Value::Kind kind) {
    Value* value = place(kind);
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

  std::string_view text_;
  std::size_t cursor_ = 0;
  std::vector<Value*> open_;  // from the root to the innermost open value
  std::vector<std::set<std::string>> keys_;
};

std::string escape_pointer(const std::string& name) {
  std::string escaped;
  for (const char c : name) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
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
      return value.text;
    case Value::Kind::string:
      return value.text.size() > 60 ? "a long string" : "the string \"" + value.text + "\"";
    case Value::Kind::array:
      return "an array";
    case Value::Kind::object:
      return "an object";
  }
  return "";
}

std::optional<Document> Document::parse(std::string file, std::string text,
                                        Diagnostics& diagnostics) {
  Document document;
  document.file_ = std::move(file);
  document.text_ = std::move(text);
  const auto refuse = [&](std::size_t offset, std::string message) {
    diagnostics.push_back(document.at_offset(offset, std::move(message)));
    diagnostics.back().pointer.clear();
  };
  if (document.text_.size() > max_text_bytes) {
    refuse(0, "the file has " + std::to_string(document.text_.size()) +
                  " bytes; a JSON description may have at most " + std::to_string(max_text_bytes));
    return std::nullopt;
  }
  std::string strict = document.text_;
  if (strict.starts_with("\xEF\xBB\xBF")) std::fill_n(strict.begin(), 3, ' ');
  if (const auto comment = blank_extensions(strict)) {
    refuse(*comment, "this /* comment never ends; close it with */");
    return std::nullopt;
  }
  Builder builder(strict);
  if (!nlohmann::json::sax_parse(strict, &builder)) {
    const bool empty = std::all_of(strict.begin(), strict.end(), is_space);
    refuse(std::min(builder.problem_at, document.text_.size()),
           empty ? "the file is empty; expected a JSON object" : "wrong JSON: " + builder.problem);
    return std::nullopt;
  }
  document.root_ = std::move(builder.root);
  for (const auto& [offset, name] : builder.duplicates) {
    diagnostics.push_back(
        document.at_offset(offset, "the field \"" + name + "\" is given twice; keep one of them"));
  }
  if (!builder.duplicates.empty()) return std::nullopt;
  return document;
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

std::string_view Document::source(const Value& value) const {
  return std::string_view(text_).substr(value.begin, value.end - value.begin);
}

Diagnostic Document::at_offset(std::size_t offset, std::string message) const {
  Diagnostic diagnostic;
  diagnostic.file = file_;
  const std::string_view before = std::string_view(text_).substr(0, offset);
  const std::size_t line_begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const auto starts_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  };
  diagnostic.line = static_cast<std::uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
  diagnostic.column = static_cast<std::uint32_t>(
      std::count_if(before.begin() + static_cast<std::ptrdiff_t>(line_begin), before.end(),
                    starts_character) +
      1);
  diagnostic.pointer = pointer_to(offset);
  diagnostic.message = std::move(message);
  return diagnostic;
}

std::string Document::pointer_to(std::size_t offset) const {
  std::string pointer;
  const Value* value = &root_;
  while (true) {
    const Value* next = nullptr;
    for (const Member& member : value->members) {
      if (offset >= member.begin && offset < member.value.end) {
        pointer += "/" + escape_pointer(member.name);
        next = offset >= member.value.begin ? &member.value : nullptr;
        if (next == nullptr) return pointer;
        break;
      }
    }
    for (std::size_t i = 0; next == nullptr && i < value->items.size(); ++i) {
      if (offset >= value->items[i].begin && offset < value->items[i].end) {
        pointer += "/" + std::to_string(i);
        next = &value->items[i];
      }
    }
    if (next == nullptr) return pointer;
    value = next;
  }
}

}  // namespace dmlop::json
