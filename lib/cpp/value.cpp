#include "cpp/value.hpp"

#include "base/error.hpp"
#include "cpp/limits.hpp"

namespace dmlop::cpp {
namespace {

template <typename V>
auto find_entry(V& value, std::string_view member) -> decltype(value.entries.data()) {
  for (auto& entry : value.entries) {
    if (entry.name == member) return &entry;
  }
  return nullptr;
}

}  // namespace

Entry* Value::find(std::string_view member) {
  return find_entry(*this, member);
}

const Entry* Value::find(std::string_view member) const {
  return find_entry(*this, member);
}

Value unresolved(Span written, std::string why, std::string remedy) {
  Value value{.kind = Value::Kind::unresolved, .written = written};
  value.why = std::move(why);
  value.remedy = std::move(remedy);
  return value;
}

Value number_value(Span written, const Number& number) {
  Value value{.kind = Value::Kind::number, .written = written};
  value.number = number;
  return value;
}

Value word_value(Span written, std::string word) {
  Value value{.kind = Value::Kind::word, .written = written};
  value.word = std::move(word);
  return value;
}

std::string remedy_of_undeclared(const std::string& name) {
  return "write its value, add its declaration, or give it: -D " + name + "=VALUE";
}

Value why_no_number(const Value& operand, Span written) {
  using Kind = Value::Kind;
  if (operand.kind == Kind::unresolved) return operand;
  if (operand.kind == Kind::word)
    return unresolved(operand.written, operand.word + " is not declared in this text",
                      remedy_of_undeclared(operand.word));
  if (operand.kind == Kind::unset)
    return unresolved(written, "a part of it is never given a value", "write its value");
  return unresolved(written, "this expression is not evaluated", "write its value");
}

std::optional<bool> truth_of(const Value& value) {
  if (value.kind == Value::Kind::null) return false;
  if (value.kind == Value::Kind::pointer) return true;
  if (value.kind != Value::Kind::number) return std::nullopt;
  return value.number.as_double() != 0;
}

std::size_t size_of(const Value& value) {
  std::size_t size = 1;
  for (const Entry& entry : value.entries) size += size_of(entry.value);
  return size;
}

std::size_t Memory::add(Variable variable) {
  count(variable.value);
  variables_.push_back(std::move(variable));
  return variables_.size() - 1;
}

void Memory::count(const Value& value) {
  counted_ += size_of(value);
  if (counted_ > max_values)
    throw Error(ErrorKind::invalid_input, "the text describes more than " +
                                              std::to_string(max_values) +
                                              " values; leave only the code of one description");
}

const Value* Memory::find(const Place& place) const {
  const Value* value = &variables_[place.variable].value;
  for (const auto& step : place.path) {
    if (value->kind == Value::Kind::unresolved) return value;
    const Entry* entry = nullptr;
    if (const auto* name = std::get_if<std::string>(&step)) {
      entry = value->find(*name);
    } else if (const std::size_t index = std::get<std::size_t>(step);
               index < value->entries.size()) {
      entry = &value->entries[index];
    }
    if (entry == nullptr) return nullptr;
    value = &entry->value;
  }
  return value;
}

Value* Memory::make(const Place& place) {
  Value* value = &variables_[place.variable].value;
  for (const auto& step : place.path) {
    if (value->kind == Value::Kind::unset) value->kind = Value::Kind::list;
    if (value->kind != Value::Kind::list) return nullptr;
    if (const auto* name = std::get_if<std::string>(&step)) {
      Entry* entry = value->find(*name);
      if (entry == nullptr) {
        if (value->entries.size() == max_members) return nullptr;
        count(Value{});
        value->entries.push_back({*name, {}});
        entry = &value->entries.back();
      }
      value = &entry->value;
    } else {
      const std::size_t index = std::get<std::size_t>(step);
      if (index >= value->entries.size()) return nullptr;
      value = &value->entries[index].value;
    }
  }
  return value;
}

const Value* Memory::shown_by(const Value& pointer) const {
  const Value* value = &pointer;
  for (int steps = 0; value != nullptr && value->kind == Value::Kind::pointer; ++steps) {
    if (steps == 16) return nullptr;
    value = find(value->target);
  }
  return value;
}

std::size_t Memory::begin_call(std::size_t caller) {
  callers_.push_back(caller);
  return callers_.size() - 1;
}

bool Memory::outlives(std::size_t call, std::size_t other) const {
  while (other != call && other != 0) other = callers_[other];
  return other == call;
}

}  // namespace dmlop::cpp
