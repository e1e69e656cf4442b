#include <algorithm>
#include <array>
#include <utility>

#include "cpp/layouts.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

// Conventions of calls are among them: int __cdecl main().
constexpr std::array<std::string_view, 21> qualifiers{
    "const",    "constexpr",    "static",           "inline",      "volatile", "struct",
    "extern",   "enum",         "mutable",          "constinit",   "typename", "thread_local",
    "__cdecl",  "__stdcall",    "__forceinline",    "FORCEINLINE", "WINAPI",   "CALLBACK",
    "APIENTRY", "__vectorcall", "STDMETHODCALLTYPE"};

constexpr std::array<std::string_view, 8> builtin{"unsigned", "signed", "long",   "short",
                                                  "int",      "char",   "double", "float"};

constexpr std::array<std::string_view, 10> no_types{
    "return", "new", "delete", "sizeof", "throw", "goto", "else", "case", "this", "nullptr"};

// "unsigned long int" is the same type as "unsigned long".
std::string plain_name(const std::vector<std::string_view>& words) {
  const auto count = [&](std::string_view word) { return std::ranges::count(words, word); };
  for (const char* single : {"char", "double", "float"}) {
    if (count(single) > 0)
      return count("unsigned") > 0 ? std::string("unsigned ") + single : single;
  }
  const std::string size = count("short") > 0  ? "short"
                           : count("long") > 1 ? "long long"
                           : count("long") > 0 ? "long"
                                               : "int";
  return count("unsigned") > 0 ? "unsigned " + size : size;
}

}  // namespace

std::string Reader::without_alias(const std::string& type) const {
  std::string name = type;
  for (int steps = 0; steps < 8; ++steps) {
    const auto found = aliases_.find(name);
    if (found == aliases_.end()) break;
    name = found->second;
  }
  return name;
}

// Reads the type that begins at the token `at`, and moves `at` behind it.
std::optional<Reader::Type> Reader::type_at(std::size_t& at) const {
  Type type;
  const auto is = [&](std::string_view symbol) { return at < limit_ && tokens_[at].is(symbol); };
  const auto skip_qualifiers = [&] {
    for (; at < limit_ && is_one_of(tokens_[at].text, qualifiers); ++at) {
      type.is_constant |= is("const") || is("constexpr");
      type.is_static |= is("static");
    }
  };
  skip_qualifiers();
  std::vector<std::string_view> words;
  for (; at < limit_ && (is_one_of(tokens_[at].text, builtin) || (!words.empty() && is("const")));
       ++at) {
    type.is_constant |= is("const");
    if (!is("const")) words.push_back(tokens_[at].text);
  }
  if (!words.empty()) {
    type.name = plain_name(words);
  } else {
    if (is("::")) ++at;
    if (at >= limit_ || !tokens_[at].is_word() || is_one_of(tokens_[at].text, no_types))
      return std::nullopt;
    type.name = tokens_[at++].text;
    while (is("::") && at + 1 < limit_ && tokens_[at + 1].is_word()) {
      type.name += "::" + std::string(tokens_[at + 1].text);
      at += 2;
    }
    if (is("<")) {
      const std::size_t end = angle_end(at);
      if (end == 0) return std::nullopt;
      std::size_t inner = at + 1;
      if (const auto element = type_at(inner)) type.element = element->name;
      if (inner < end && tokens_[inner].is(",")) {
        type.extent_begin = inner + 1;
        type.extent_end = end - 1;
      }
      at = end;
    }
  }
  type.name = without_alias(type.name);
  type.element = without_alias(type.element);
  skip_qualifiers();
  for (; is("*") || is("&") || is("&&"); ++at) {
    (is("*") ? type.is_pointer : type.is_reference) = true;
    type.points_to_constant = std::exchange(type.is_constant, false);
    skip_qualifiers_after_pointer(at, type);
  }
  return type;
}

void Reader::skip_qualifiers_after_pointer(std::size_t& at, Type& type) const {
  for (; at + 1 < limit_ && tokens_[at + 1].is("const"); ++at) type.is_constant = true;
}

// Whether a name with an initializer stands here, so that what was before it is a type.
bool Reader::is_declarator(std::size_t at) const {
  if (at + 1 >= tokens_.size() || at >= limit_ || !tokens_[at].is_word()) return false;
  const Token& next = tokens_[at + 1];
  return next.is("=") || next.is("{") || next.is("(") || next.is("[") || next.is(";") ||
         next.is(",") || next.is("::") || next.kind == Token::Kind::end;
}

bool Reader::declaration() {
  std::size_t at = at_;
  auto type = type_at(at);
  if (!type || at >= limit_ || !is_declarator(at)) return false;
  std::size_t open = at + 1;
  while (open + 1 < limit_ && tokens_[open].is("::")) open += 2;
  if (open < limit_ && tokens_[open].is("(")) {
    const std::size_t close = matching(open);
    const bool is_variable =
        close + 1 >= limit_ || tokens_[close + 1].is(";") || tokens_[close + 1].is(",");
    if (!is_variable) return function(*type, at, open, close), true;
  } else if (open != at + 1) {
    return false;
  }
  at_ = at;
  while (true) {
    declarator(*type);
    if (!take(",")) break;
    type->is_pointer = type->is_reference = false;
    for (; now().is("*") || now().is("&"); ++at_)
      (now().is("*") ? type->is_pointer : type->is_reference) = true;
    if (!now().is_word()) throw NotUnderstood{};
  }
  if (now().kind != Token::Kind::end) expect(";");
  return true;
}

// A function that is defined here is known from here on. Its body is read here, too, with
// parameters that are not known.
void Reader::function(const Type& type, std::size_t name, std::size_t open, std::size_t close) {
  std::size_t body = close;
  while (body < limit_ && !tokens_[body].is("{") && !tokens_[body].is(";")) ++body;
  at_ = std::min(body + 1, limit_);
  if (body >= limit_ || tokens_[body].is(";")) return;
  Function defined{.open = open, .close = close, .body = body, .result = type};
  for (std::size_t at = name; at < open; ++at) defined.name += tokens_[at].text;
  if (close + 1 < body && tokens_[close + 1].is("->")) {
    std::size_t at = close + 2;
    if (const auto behind = type_at(at)) defined.result = *behind;
  }
  if (templates_ > 0) defined.refusal = "it is a template";
  const auto index = declare_function(tokens_[name].span, std::move(defined));
  open_function(body, index);
  parameters(open, close);
}

void Reader::parameters(std::size_t open, std::size_t close) {
  for (std::size_t at = open + 1; at < close;) {
    const Parameter parameter = parameter_at(at, close);
    if (parameter.name != 0)
      declare(tokens_[parameter.name], parameter.type,
              unresolved(tokens_[parameter.name].span, "it is a parameter of this function",
                         "write its value"),
              false, {});
    at = parameter.end + 1;
  }
}

// Whether a variable of this type holds copies of what it is made of. One of another type may hold
// addresses, too, and change what is there.
bool Reader::copies(const Type& type) const {
  const auto is_plain = [&](const std::string& name) {
    return size_of_type(name) > 0 || name.starts_with("DML_") || name == "auto" ||
           struct_of(name) != nullptr;
  };
  const auto is_container = [](const std::string& name) {
    return name == "std::vector" || name == "std::array" || name == "std::initializer_list";
  };
  if (type.is_pointer || type.is_reference || is_plain(type.name)) return true;
  return is_container(type.name) && (is_plain(type.element) || is_container(type.element));
}

// A list of what is between two pointers.
std::optional<Value> Reader::copy_of_range(const Value& first, const Value& last, Span written) {
  const auto places = range_of(first, last);
  if (!places) return std::nullopt;
  Value copy{.kind = Value::Kind::list, .written = written};
  for (const Place& place : *places) copy.entries.push_back({"", operand_at(place, written).value});
  return copy;
}

// The extents behind a declarator's name.
Reader::Extents Reader::extents() {
  Extents extents;
  while (now().is("[")) {
    const std::size_t close = matching(at_);
    extents.is_array = true;
    extents.lengths.push_back(extent_of(at_ + 1, close));
    extents.is_unknown |= !extents.lengths.back() && close > at_ + 1;
    at_ = std::min(close + 1, limit_);
  }
  return extents;
}

void Reader::declarator(const Type& type) {
  const Token name = now();
  if (!name.is_word()) throw NotUnderstood{};
  ++at_;
  const Extents lengths = extents();
  const std::size_t first = at_;
  const bool is_given = now().is("=") || now().is("{") || now().is("(");
  std::optional<Place> refers;
  Value value = initial_value(type, refers);
  const Span written = is_given ? span_of(first, at_) : name.span;
  const bool has_braces = first < at_ && tokens_[at_ - 1].is("}");
  if (is_given && !copies(type)) has_braces ? forget_named(first, at_) : escape(value, written);
  value = declared_value(type, lengths, std::move(value), written);
  if (value.written.end == 0) value.written = name.span;
  declare(name, type, std::move(value), lengths.is_array, std::move(refers));
}

// What a variable of this type holds that is made of a value.
Value Reader::declared_value(const Type& type, const Extents& extents, Value value, Span written) {
  const bool is_array = extents.is_array;
  const auto is_one = [](const Value& v) {
    return v.kind == Value::Kind::pointer || v.kind == Value::Kind::function || !v.type.empty();
  };
  const bool is_enclosed =
      value.kind == Value::Kind::list && value.entries.size() == 1 && !is_array &&
      value.type.empty() &&
      (type.is_pointer || (type.name == "auto" && is_one(value.entries[0].value)));
  if (is_enclosed) value = Value(value.entries[0].value);
  std::vector<std::optional<std::size_t>> lengths = extents.lengths;
  bool has_unknown_length = extents.is_unknown;
  if (type.name == "std::array" && type.extent_begin != 0) {
    lengths.push_back(extent_of(type.extent_begin, type.extent_end));
    has_unknown_length |= !lengths.back();
  }
  if (has_unknown_length)
    return unresolved(written, "the length of the array is not known", "write it as a number");
  if (type.name == "std::vector" && value.entries.size() == 2 && !is_array) {
    auto copy = copy_of_range(value.entries[0].value, value.entries[1].value, written);
    if (copy) value = std::move(*copy);
  }
  if (!is_array && !type.is_container())
    return type.is_pointer || type.is_reference ? value : typed(std::move(value), type.name);
  const bool braced_twice =
      type.name == "std::array" && value.entries.size() == 1 &&
      value.entries[0].value.kind == Value::Kind::list &&
      (!is_struct(type.element) ||
       std::ranges::all_of(value.entries[0].value.entries,
                           [](const Entry& e) { return e.value.kind == Value::Kind::list; }));
  if (braced_twice) value = Value(value.entries[0].value);
  const bool is_fixed = is_array || type.name == "std::array";
  const auto length = is_fixed && !lengths.empty() ? lengths.front() : std::nullopt;
  if (lengths.size() >= 2) return filled_rows(std::move(value), lengths, type.name);
  return filled(std::move(value), length, is_array ? type.name : type.element);
}

// A number of elements; nothing where it is empty or not known.
std::optional<std::size_t> Reader::extent_of(std::size_t begin, std::size_t end) {
  if (begin >= end) return std::nullopt;
  const std::size_t here = at_;
  try {
    const Value value = evaluate(begin, end).value;
    at_ = here;
    const auto count = value.kind == Value::Kind::number ? value.number.count() : std::nullopt;
    return count && *count <= max_elements ? std::optional<std::size_t>(*count) : std::nullopt;
  } catch (const NotUnderstood&) {
    at_ = here;
    return std::nullopt;
  }
}

Value Reader::initial_value(const Type& type, std::optional<Place>& refers) {
  if (type.is_reference && (now().is("(") || now().is("{") || now().is("="))) {
    const std::size_t first = at_;
    const bool has_equals = take("=");
    const bool is_enclosed = now().is("{") || (!has_equals && now().is("("));
    const std::size_t begin = is_enclosed ? at_ + 1 : at_;
    const std::size_t end = is_enclosed ? matching(at_) : end_of_operand(at_);
    Value value;
    try {
      Operand operand = evaluate(begin, end);
      refers = operand.place;
      value = std::move(operand.value);
    } catch (const NotUnderstood&) {
      value = not_evaluated(first, end);
      refers.reset();
    }
    if (!refers) forget_named(begin, end);
    at_ = is_enclosed ? std::min(end + 1, limit_) : end;
    return value;
  }
  if (now().is("(")) return constructed(type);
  const bool has_equals = take("=");
  if (now().is("{")) return list();
  if (!has_equals) {
    Value value;  // whose place is that of the name
    if (type.name == "std::vector") value.kind = Value::Kind::list;
    if (const auto* members = struct_of(type.name); members && !type.is_pointer && !now().is("["))
      value = unset_struct(tokens_[at_ - 1].span, type.name, *members);
    return value;
  }
  const std::size_t first = at_;
  const std::size_t end = end_of_operand(at_);
  try {
    Operand operand = evaluate(at_, end);
    at_ = end;
    return std::move(operand.value);
  } catch (const NotUnderstood&) {
    forget_named(first, end);
    at_ = end;
    return not_evaluated(first, end);
  }
}

// std::vector<UINT> sizes(4, 1)
Value Reader::constructed(const Type& type) {
  const std::size_t first = at_;
  std::vector<Operand> given = arguments(type.is_container() ? "" : type.name, copies(type));
  const Span written = span_of(first, at_);
  if (!type.is_container() && given.size() == 1) return given[0].value;
  if (given.size() == 1 && given[0].value.kind == Value::Kind::list) return given[0].value;
  if (given.size() == 2 && type.name == "std::vector") {
    if (auto copy = copy_of_range(given[0].value, given[1].value, written)) return *copy;
  }
  const bool is_filled = type.name == "std::vector" && !given.empty() && given.size() <= 2 &&
                         given[0].value.kind == Value::Kind::number;
  const auto count = is_filled ? given[0].value.number.count() : std::nullopt;
  if (!count || *count > max_elements)
    return unresolved(written, "what is constructed here is not known",
                      "write the values in braces: = {1, 2, 3}");
  Value value{.kind = Value::Kind::list, .written = written};
  const Value element =
      given.size() == 2 ? given[1].value : number_value(written, integer_number(0));
  for (std::size_t i = 0; i < *count; ++i) {
    memory_.count(element);
    value.entries.push_back({"", element});
  }
  return value;
}

// What -D gives to a variable whose value the text does not say.
Value Reader::given_value(const Token& name, const Type& type, const Value& given) {
  Value value = moved_to(given, name.span);
  if (type.is_pointer && value.kind == Value::Kind::list) {
    const std::size_t array =
        memory_.add({.type = type.name,
                     .declared = name.span,
                     .value = filled(std::move(value), std::nullopt, type.name),
                     .is_array = true,
                     .conditions = conditions_});
    value = {.kind = Value::Kind::pointer, .written = name.span};
    value.target = {array};
    return value;
  }
  Type own = type;
  own.is_reference = false;
  return declared_value(own, {}, std::move(value), name.span);
}

void Reader::declare(const Token& name, const Type& type, Value value, bool is_array,
                     std::optional<Place> refers) {
  const std::string key(name.text);
  const auto hidden = find(key);
  const bool is_again =
      hidden && conditions_ > 0 && memory_.variables()[*hidden].scope == scopes_.back().id;
  if (is_again)
    value = unresolved(name.span, "it is declared more than once", "keep one of the declarations");
  std::string shown = type.is_pointer ? type.name + "*" : type.name;
  if (shown == "auto" && value.kind == Value::Kind::list && !value.type.empty()) shown = value.type;
  const bool is_kept = type.is_static && !type.is_constant && !frames_.empty();
  if (is_kept)
    value = unresolved(name.span, "it is static, and keeps its value from call to call",
                       "write its value");
  if (value.kind == Value::Kind::unresolved) {
    if (const Value* given = definitions_.use(key)) {
      value = given_value(name, type, *given);
      refers.reset();
    } else if (value.remedy == "write its value") {
      value.remedy += ", or give it: -D " + key + "=VALUE";
    }
  }
  if (repeated_ > 0) spend(size_of(value));
  const std::size_t variable = memory_.add({.name = key,
                                            .type = type.is_container() ? type.element : shown,
                                            .declared = name.span,
                                            .value = std::move(value),
                                            .is_array = is_array,
                                            .is_container = type.is_container(),
                                            .is_constant = type.is_constant && !type.is_reference,
                                            .scope = scopes_.back().id,
                                            .conditions = conditions_,
                                            .refers = std::move(refers),
                                            .is_static = type.is_static,
                                            .call = type.is_static ? 0 : call_now()});
  scopes_.back().hidden.emplace_back(key, hidden);
  names_[key] = variable;
  taint_changed(variable);
}

// An array of arrays, each with the elements that it has, and zero behind those that are given.
Value Reader::filled_rows(Value value, std::span<const std::optional<std::size_t>> lengths,
                          const std::string& element) {
  if (lengths.size() == 1) return filled(std::move(value), lengths[0], element);
  const bool is_unset = value.kind == Value::Kind::unset;
  const bool has_rows =
      value.kind == Value::Kind::list && std::ranges::all_of(value.entries, [](const Entry& e) {
        return e.value.kind == Value::Kind::list && e.value.type.empty();
      });
  if (!is_unset && !has_rows) return value;
  const std::size_t rows = lengths[0].value_or(value.entries.size());
  if (value.entries.size() > rows) return filled(std::move(value), lengths[0], "");
  value.kind = Value::Kind::list;
  while (value.entries.size() < rows) {
    const auto kind = is_unset ? Value::Kind::unset : Value::Kind::list;
    value.entries.push_back({"", {.kind = kind, .written = value.written}});
  }
  for (Entry& entry : value.entries) {
    entry.value = filled_rows(std::move(entry.value), lengths.subspan(1), element);
    memory_.count(entry.value);
  }
  return value;
}

// The elements of an array as its declaration makes them: of their type, and zero behind those
// that are given.
Value Reader::filled(Value value, std::optional<std::size_t> extent, const std::string& element) {
  const Span written = value.written;
  if (value.kind == Value::Kind::unset && extent) {
    value.kind = Value::Kind::list;
    for (std::size_t i = 0; i < *extent; ++i) value.entries.push_back({"", {.written = written}});
    return value;
  }
  if (value.kind != Value::Kind::list) return value;
  for (Entry& entry : value.entries) entry.value = typed(std::move(entry.value), element);
  if (!extent) return value;
  if (value.entries.size() > *extent)
    return unresolved(written,
                      "it has " + std::to_string(value.entries.size()) +
                          " values for an array of " + std::to_string(*extent),
                      "write as many values as it has elements");
  while (value.entries.size() < *extent) {
    Value zero = number_value(written, integer_number(0));
    if (is_struct(element)) zero = typed({.kind = Value::Kind::list, .written = written}, element);
    value.entries.push_back({"", std::move(zero)});
  }
  return value;
}

// A value that becomes one of this type: a struct's members get their names, a number is converted.
Value Reader::typed(Value value, const std::string& type) {
  if (value.kind == Value::Kind::number) {
    const auto number = converted(value.number, type);
    if (!number)
      return unresolved(value.written, "its value does not fit " + type, "write a value that fits");
    value.number = *number;
    return value;
  }
  if (value.kind != Value::Kind::list || !value.type.empty()) return value;
  if (const auto* members = struct_of(type)) return own_struct(value, type, *members);
  if (members_of(type)) return typed_struct(std::move(value), type);
  // Braces around one number are a number, and empty ones are 0.
  if (size_of_type(type) == 0) return value;
  if (value.entries.empty()) return number_value(value.written, integer_number(0));
  if (value.entries.size() == 1) return typed(Value(value.entries[0].value), type);
  return value;
}

}  // namespace dmlop::cpp
