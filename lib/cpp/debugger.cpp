#include "cpp/debugger.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "cpp/layouts.hpp"
#include "cpp/limits.hpp"

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;

constexpr std::size_t max_value_depth = 32;

bool is_hexadecimal(const Token& token) {
  return token.kind == Token::Kind::number &&
         (token.text.starts_with("0x") || token.text.starts_with("0X"));
}

// Debuggers show pointers with all their digits, or with more than an int has.
bool is_long_address(const Token& token) {
  return is_hexadecimal(token) && token.text.size() - 2 > 8;
}

// An address of 32 bits looks like an int, but what is there is shown behind it.
bool has_content_behind(const std::vector<Token>& tokens, std::size_t at) {
  return is_hexadecimal(tokens[at]) && at + 1 < tokens.size() && tokens[at + 1].is("{");
}

// "0x0000007ffe1230" and "0x7ffe1230" are the same address.
std::string plain_address(std::string_view text) {
  text.remove_prefix(2);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  std::string plain = "0x";
  for (const char c : text) {
    if (c != '`' && c != '\'') plain += static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c);
  }
  return plain;
}

class DebuggerReader {
 public:
  DebuggerReader(std::string_view text, Memory& memory)
      : text_(text), tokens_(tokens_of(text)), memory_(memory) {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      if (has_content_behind(tokens_, at)) addresses_.insert(plain_address(tokens_[at].text));
    }
  }

  void read() {
    const bool has_rows = text_.find('\t') != std::string_view::npos;
    has_rows ? read_rows() : read_printed();
  }

 private:
  bool is_address(const Token& token) const {
    return is_long_address(token) ||
           (is_hexadecimal(token) && addresses_.contains(plain_address(token.text)));
  }
  const Token& now() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }
  bool is_over() const { return at_ >= end_ || now().kind == Token::Kind::end; }
  bool take(std::string_view symbol) {
    if (is_over() || !now().is(symbol)) return false;
    ++at_;
    return true;
  }
  Span span_from(std::size_t first) const {
    const std::size_t last = std::max(first, at_ > 0 ? at_ - 1 : 0);
    return {tokens_[first].span.begin, tokens_[std::min(last, tokens_.size() - 1)].span.end};
  }

  // Values.

  Value value(std::size_t depth = 0) {
    const std::size_t first = at_;
    if (depth > max_value_depth || is_over()) return hidden(first);
    const Token token = now();
    if (token.is("{")) return braces(depth);
    if (is_hexadecimal(token) && (is_address(token) || next_is("{") || next_is("<")))
      return pointer(depth);
    if (token.is("-") || token.is("+") || token.is("inf") || token.is("nan") ||
        token.kind == Token::Kind::number)
      return number();
    if (!token.is_word()) return ++at_, hidden(first);
    ++at_;
    if (token.is("true") || token.is("false"))
      return number_value(token.span, integer_number(token.is("true") ? 1 : 0));
    if (token.is("nullptr") || token.is("NULL")) return {.kind = Kind::null, .written = token.span};
    if (take("(")) {  // the number of an enumeration's constant
      while (!is_over() && !take(")")) ++at_;
    }
    return word_value(token.span, std::string(token.text));
  }

  bool next_is(std::string_view symbol) const {
    return at_ + 1 < std::min(end_, tokens_.size()) && tokens_[at_ + 1].is(symbol);
  }

  static Number word_number(const Token& token) {
    return *named_number(token.is("inf") ? "INFINITY" : "NAN");
  }

  Value hidden(std::size_t first) const {
    return unresolved(span_from(std::min(first, tokens_.size() - 1)),
                      "the debugger does not show it", "show it, too, and paste all of it");
  }

  // "-0" is a float: no debugger shows an integer like that.
  static std::optional<Number> negative(const Number& number) {
    const bool is_integer_zero = number.is_integer() && number.integer == 0;
    return is_integer_zero ? real_number(-0.0, Number::Type::single) : apply("-", number);
  }

  Value number() {
    const std::size_t first = at_;
    const bool is_negative = take("-");
    if (!is_negative) take("+");
    const Token token = now();
    ++at_;
    const auto old = old_special();
    auto found = old                                  ? old
                 : token.is("inf") || token.is("nan") ? std::optional(word_number(token))
                                                      : literal(token.text);
    if (found && is_negative) found = negative(*found);
    if (continues()) return odd(first);
    while (!is_over() && now().kind == Token::Kind::text) ++at_;  // 65 'A'
    if (!is_over() && token.is("nan") && take("(")) {
      while (!is_over() && !take(")")) ++at_;
    }
    return found ? number_value(span_from(first), *found) : hidden(first);
  }

  // Whether the token behind the last one touches it, so that they are one.
  bool touches() const {
    return !is_over() && at_ > 0 && now().span.begin == tokens_[at_ - 1].span.end;
  }

  // 1.#INF0000, -1.#IND0000 and 1.#QNAN000 of older versions of Visual Studio
  std::optional<Number> old_special() {
    const bool is_special = touches() && now().is("#") && at_ + 1 < end_ &&
                            tokens_[at_].span.end == tokens_[at_ + 1].span.begin;
    if (!is_special) return std::nullopt;
    const std::string_view word = tokens_[at_ + 1].text;
    const bool is_infinite = word.starts_with("INF");
    const bool is_nan =
        word.starts_with("IND") || word.starts_with("QNAN") || word.starts_with("SNAN");
    if (!is_infinite && !is_nan) return std::nullopt;
    at_ += 2;
    return named_number(is_infinite ? "INFINITY" : "NAN");
  }

  // Whether a number goes on with what no number of C++ has.
  bool continues() const {
    if (!touches()) return false;
    const Token& next = now();
    for (const char* end : {",", "}", ")", "]", "<", "("}) {
      if (next.is(end)) return false;
    }
    return next.kind != Token::Kind::text;
  }

  // All that is written without a blank is one value that is not understood.
  Value odd(std::size_t first) {
    while (touches() && !now().is("}")) ++at_;
    const Span written = span_from(first);
    return unresolved(written, "it is not a C++ number", "write it as C++ does, such as 0.5");
  }

  // A number alone must fill its cell or member: "0,5" is two.
  Value alone(Value number, std::size_t first) {
    const bool goes_on = number.kind == Kind::number && touches() && now().is(",") &&
                         at_ + 1 < end_ && tokens_[at_ + 1].kind == Token::Kind::number &&
                         tokens_[at_ + 1].span.begin == now().span.end;
    return goes_on ? odd(first) : number;
  }

  // 0x00000012 {...}, or without what is there
  Value pointer(std::size_t depth) {
    const std::size_t first = at_;
    const std::string address = plain_address(now().text);
    ++at_;
    if (take("<")) {  // a symbol, or <NULL>
      while (!is_over() && !take(">")) ++at_;
    }
    while (!is_over() && now().kind == Token::Kind::text) ++at_;
    const bool has_content = !is_over() && now().is("{");
    Value content = has_content ? braces(depth) : Value{};
    if (address == "0x0") return {.kind = Kind::null, .written = span_from(first)};
    Value result{.kind = Kind::pointer, .written = tokens_[first].span};
    result.target = {object_at(address, tokens_[first].span)};
    if (has_content) merge(result.target, std::move(content));
    return result;
  }

  // The variable that stands for what is at an address.
  std::size_t object_at(const std::string& address, Span written) {
    const auto found = objects_.find(address);
    if (found != objects_.end()) return found->second;
    Value value{.kind = Kind::address, .written = written, .word = address};
    const std::size_t variable =
        memory_.add({.type = address, .declared = written, .value = std::move(value)});
    return objects_[address] = variable;
  }

  static bool is_pointer(const Value& value) { return value.kind == Kind::pointer; }

  // A short "0x0" was read as a number.
  static bool is_null(const Value& value) {
    return value.kind == Kind::null ||
           (value.kind == Kind::number && value.number.as_double() == 0);
  }

  // Whether two values that are shown for one place contradict each other.
  static bool contradict(const Value& a, const Value& b) {
    if (a.kind != b.kind) return (is_pointer(a) && is_null(b)) || (is_null(a) && is_pointer(b));
    if (a.kind == Kind::word) return a.word != b.word;
    if (a.kind == Kind::pointer) return a.target.variable != b.target.variable;
    if (a.kind != Kind::number) return false;
    const double x = a.number.as_double(), y = b.number.as_double();
    return x != y && !(std::isnan(x) && std::isnan(y));
  }

  // Keeps one of two values for one place, or says that they are not the same.
  static void compare(Value& known, const Value& shown) {
    if (known.kind == Kind::unresolved) return;
    if (contradict(known, shown))
      known = unresolved(shown.written, "another value is shown for it before this",
                         "leave what the debugger shows at one moment");
    if (known.kind != Kind::list || shown.kind != Kind::list) return;
    for (std::size_t i = 0; i < known.entries.size(); ++i) {
      Entry& entry = known.entries[i];
      const Entry* same = !entry.name.empty()        ? shown.find(entry.name)
                          : i < shown.entries.size() ? &shown.entries[i]
                                                     : nullptr;
      if (same != nullptr && same->name == entry.name) compare(entry.value, same->value);
    }
  }

  // Adds what is shown at a place to what was shown there before.
  void merge(const Place& place, Value shown) {
    Value* known = memory_.make(place);
    if (known == nullptr) return;
    const bool is_new = known->kind != Kind::list || shown.kind != Kind::list;
    if (is_new && (known->kind == Kind::address || known->kind == Kind::unset ||
                   known->kind == Kind::unresolved)) {
      *known = std::move(shown);
      return;
    }
    if (is_new) {
      compare(*known, shown);
      return;
    }
    if (shown.entries.empty()) return;
    if (known->entries.empty()) {
      *known = std::move(shown);
      return;
    }
    const auto is_struct = [](const Value& v) {
      return !v.entries.empty() && !v.entries.front().name.empty();
    };
    if (is_struct(*known) != is_struct(shown)) return;
    compare(*known, shown);
    if (!is_struct(shown)) {
      for (std::size_t i = known->entries.size(); i < shown.entries.size(); ++i)
        known->entries.push_back(std::move(shown.entries[i]));
      return;
    }
    for (Entry& entry : shown.entries) {
      if (known->find(entry.name) == nullptr) known->entries.push_back(std::move(entry));
    }
  }

  // {Type=DML_TENSOR_TYPE_BUFFER (1) Desc=0x12 } or {1, 1, 4, 4} or {[0] = 1, [1] = 1}
  Value braces(std::size_t depth) {
    const std::size_t first = at_++;
    Value list{.kind = Kind::list};
    while (!is_over() && !take("}")) {
      if (take(",") || take("...")) continue;  // what is cut may stand in other rows
      const std::size_t begin = at_;
      Entry entry;
      if (now().is_word() && next_is("=")) {
        entry.name = now().text;
        at_ += 2;
      } else if (now().is("[") && at_ + 3 < tokens_.size() && tokens_[at_ + 3].is("=")) {
        at_ += 4;
      }
      const std::size_t first_of_value = at_;
      entry.value = value(depth + 1);
      if (!entry.name.empty()) entry.value = alone(std::move(entry.value), first_of_value);
      memory_.count(entry.value);
      list.entries.push_back(std::move(entry));
      repeat_last(list);
      if (at_ == begin) ++at_;
    }
    list.written = span_from(first);
    return list;
  }

  // 0 <repeats 12 times>
  void repeat_last(Value& list) {
    if (is_over() || !now().is("<") || !next_is("repeats")) return;
    const auto times = at_ + 2 < tokens_.size() ? literal(tokens_[at_ + 2].text) : std::nullopt;
    while (!is_over() && !take(">")) ++at_;
    const auto count = times ? times->count() : std::nullopt;
    const Value last = list.entries.back().value;
    for (std::size_t i = 1; count && i < std::min<std::uint64_t>(*count, max_elements); ++i) {
      memory_.count(last);
      list.entries.push_back({"", last});
    }
  }

  // What gdb and lldb print: NAME = VALUE, with a command or a type before it.

  void read_printed() {
    end_ = tokens_.size() - 1;
    at_ = 0;
    std::size_t first = 0;
    while (!is_over()) {
      if (!take("=")) {
        ++at_;
        continue;
      }
      const std::size_t equals = at_ - 1;
      Value shown = alone(value(), equals + 1);
      printed(first, equals, std::move(shown));
      first = at_;
    }
  }

  void printed(std::size_t first, std::size_t equals, Value shown) {
    std::string name, type;
    std::optional<Place> place;
    bool is_indirect = false;
    for (std::size_t at = first; at < equals; ++at) {
      const Token& token = tokens_[at];
      if (token.is("*")) is_indirect = true;
      if (is_address(token)) place = Place{object_at(plain_address(token.text), token.span)};
      if (!token.is_word()) continue;
      const auto known = places_.find(std::string(token.text));
      const bool is_member = at > first && (tokens_[at - 1].is(".") || tokens_[at - 1].is("->"));
      if (is_member && place && place->path.size() < 8) {
        follow(*place);
        place->path.emplace_back(std::string(token.text));
      } else if (known != places_.end() && !is_member) {
        place = known->second;
      }
      if (token.text.starts_with("DML_") && token.text.ends_with("_DESC")) {
        type = token.text;
      } else if (!token.text.starts_with("$")) {
        name = token.text;
      }
    }
    if (place && (is_indirect || !place->path.empty())) follow(*place);
    if (place) return show_at(*place, type, std::move(shown));
    add_variable(name, type, std::move(shown), tokens_[std::min(first, tokens_.size() - 1)].span);
  }

  // Goes on to where the pointer at a place points.
  void follow(Place& place) const {
    const Value* value = memory_.find(place);
    if (value != nullptr && value->kind == Kind::pointer) place = value->target;
  }

  void show_at(const Place& place, const std::string& type, Value shown) {
    if (place.path.empty() && operator_of(type) != nullptr)
      memory_.variables()[place.variable].type = type;
    merge(place, std::move(shown));
  }

  Place add_variable(const std::string& name, const std::string& type, Value shown, Span declared) {
    Place place;
    if (shown.kind == Kind::pointer && !type.empty()) {
      place = shown.target;  // the variable is a pointer to a struct: what it shows counts
      Variable& variable = memory_.variables()[place.variable];
      if (operator_of(type) != nullptr && place.path.empty()) variable.type = type;
    } else {
      place = {memory_.add(
          {.name = name, .type = type, .declared = declared, .value = std::move(shown)})};
    }
    if (!name.empty()) places_[name] = place;
    return place;
  }

  // Rows of a watch window: NAME, VALUE and TYPE with tabs between them.

  struct Cell {
    std::size_t begin, end;  // tokens
  };

  std::vector<Cell> cells_of(std::size_t line_begin, std::size_t line_end) {
    std::vector<Cell> cells;
    std::size_t begin = line_begin;
    while (begin <= line_end) {
      const std::size_t end = std::min(text_.find('\t', begin), line_end);
      Cell cell{next_token_, next_token_};
      while (cell.end + 1 < tokens_.size() && tokens_[cell.end].span.begin < end) ++cell.end;
      next_token_ = cell.end;
      const bool is_mark = cell.end == cell.begin + 1 &&
                           (tokens_[cell.begin].is("+") || tokens_[cell.begin].is("-"));
      if (cell.end > cell.begin && !is_mark) cells.push_back(cell);
      begin = end + 1;
    }
    return cells;
  }

  void read_rows() {
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', begin), text_.size());
      const auto cells = cells_of(begin, end);
      if (cells.size() >= 2) row(cells);
      begin = end + 1;
    }
  }

  void row(const std::vector<Cell>& cells) {
    at_ = cells[1].begin;
    end_ = cells[1].end;
    Value shown = alone(value(), cells[1].begin);
    std::string type;
    bool is_pointer = false;
    for (std::size_t at = cells.size() > 2 ? cells[2].begin : 0;
         cells.size() > 2 && at < cells[2].end; ++at) {
      if (tokens_[at].is("*") || tokens_[at].is("[")) is_pointer = true;
      if (tokens_[at].is_word() && tokens_[at].text.starts_with("DML_")) type = tokens_[at].text;
    }
    const Span name_span = tokens_[cells[0].begin].span;
    const bool is_element = tokens_[cells[0].begin].is("[");
    const std::string name = is_element ? "" : name_of(cells[0]);
    if (is_element) return element_row(cells[0], std::move(shown));
    if (add_member(name, shown, cells[0])) {
      last_ = shown.kind == Kind::pointer ? std::optional(shown.target) : last_;
    } else {
      const bool is_struct = shown.kind == Kind::pointer && is_pointer && members_of(type);
      const auto before = shown.kind == Kind::list ? shown_before(cells[0], type) : std::nullopt;
      if (before) merge(*before, shown);
      const Place place =
          before ? *before
                 : add_variable(name, is_struct || !is_pointer ? type : "", shown, name_span);
      last_ = place;
      follow(*last_);
    }
    if (last_ && members_of(type)) structs_.push_back({*last_, type});
    if (structs_.size() > 64) structs_.erase(structs_.begin());
  }

  // Where the same struct was shown before. A name behind others may be that of another struct.
  std::optional<Place> shown_before(const Cell& cell, const std::string& type) {
    if (cell.end != cell.begin + 1 || operator_of(type) == nullptr) return std::nullopt;
    const auto known = places_.find(name_of(cell));
    if (known == places_.end() || !known->second.path.empty()) return std::nullopt;
    const bool is_same = memory_.variables()[known->second.variable].type == type;
    return is_same ? std::optional(known->second) : std::nullopt;
  }

  // The last name of an expression that is no type: "Sizes" of "input.Sizes,4".
  std::string name_of(const Cell& cell) const {
    std::string name;
    for (std::size_t at = cell.begin; at < cell.end && !tokens_[at].is(","); ++at) {
      if (tokens_[at].is_word()) name = tokens_[at].text;
    }
    return name;
  }

  // A row below a struct's row shows a member of it.
  bool add_member(const std::string& name, const Value& shown, const Cell& cell) {
    if (cell.end != cell.begin + 1) return false;
    for (auto owner = structs_.rbegin(); owner != structs_.rend(); ++owner) {
      const auto members = members_of(owner->type);
      if (std::ranges::find(*members, name, &Member::name) == members->end()) continue;
      Place place = owner->place;
      place.path.emplace_back(name);
      const Value* known = memory_.find(owner->place);
      const bool is_list = known != nullptr && known->kind == Kind::list;
      if (is_list && known->find(name) == nullptr) memory_.make(place);
      if (is_list) merge(place, shown);
      return is_list;
    }
    return false;
  }

  // [2]  4  unsigned int
  void element_row(const Cell& cell, Value shown) {
    const auto index =
        cell.end > cell.begin + 1 ? literal(tokens_[cell.begin + 1].text) : std::nullopt;
    if (!last_ || !index || !index->count()) return;
    Value* list = memory_.make(*last_);
    if (list == nullptr) return;
    const bool is_summary =
        list->kind == Kind::list && list->entries.size() == 1 && list->entries[0].name == "size";
    if (list->kind != Kind::list || is_summary)
      *list = {.kind = Kind::list, .written = shown.written};
    const std::uint64_t at = *index->count();
    memory_.count(shown);
    if (at == list->entries.size() && at < max_elements) {
      list->entries.push_back({"", std::move(shown)});
    } else if (at < list->entries.size()) {
      compare(list->entries[at].value, shown);
    }
  }

  struct StructRow {
    Place place;
    std::string type;
  };

  std::string_view text_;
  std::vector<Token> tokens_;
  Memory& memory_;
  std::set<std::string> addresses_;  // behind which the text shows what is there
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // tokens from here on do not belong to the value
  std::size_t next_token_ = 0;
  std::map<std::string, std::size_t> objects_;  // by address
  std::map<std::string, Place> places_;         // of variables, by name
  std::optional<Place> last_;                   // of the last row
  std::vector<StructRow> structs_;
};

}  // namespace

bool is_of_debugger(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  const auto ends_statement = [](const Token& token) { return token.is(";"); };
  if (std::ranges::any_of(tokens, ends_statement)) return false;
  for (std::size_t at = 0; at < tokens.size(); ++at) {
    if (is_long_address(tokens[at]) || has_content_behind(tokens, at)) return true;
  }
  return false;
}

void read_debugger(std::string_view text, Memory& memory) {
  DebuggerReader(text, memory).read();
}

}  // namespace dmlop::cpp
