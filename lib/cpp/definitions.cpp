#include "cpp/definitions.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cpp/reader.hpp"

namespace dmlop::cpp {
namespace {

bool is_constant(const Value& value) {
  if (value.kind == Value::Kind::number || value.kind == Value::Kind::null) return true;
  if (value.kind == Value::Kind::word) return value.word.starts_with("DML_");
  return value.kind == Value::Kind::list &&
         std::ranges::all_of(value.entries, [](const Entry& entry) {
           return entry.name.empty() && is_constant(entry.value);
         });
}

bool is_name(std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':';
  };
  return !name.empty() && !(name.front() >= '0' && name.front() <= '9') &&
         std::ranges::all_of(name, is_part);
}

std::optional<Value> value_of(const std::string& text) {
  Memory memory;
  std::vector<Warning> warnings;
  const Definitions none;
  if (text.size() > max_text_bytes) return std::nullopt;
  try {
    return Reader(text, memory, warnings, none).read_expression();
  } catch (const Error&) {  // it is not closed, or nested too deeply
    return std::nullopt;
  }
}

}  // namespace

void Definitions::add(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string given = equals == text.npos ? "1" : text.substr(equals + 1);
  const auto value = value_of(given);
  if (!is_name(name) || !value || !is_constant(*value))
    throw Error(ErrorKind::usage,
                "-D \"" + printable(text) +
                    "\" must be NAME=VALUE, where VALUE is a constant of C++, such as batch=2, "
                    "sizes={1,1,4,4} or type=DML_TENSOR_DATA_TYPE_FLOAT32");
  if (!values_.emplace(name, *value).second)
    throw Error(ErrorKind::usage, "-D " + name + " is given twice; keep one of them");
}

const Value* Definitions::use(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return nullptr;
  used_.emplace(name);
  return &found->second;
}

std::vector<std::string> Definitions::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_) {
    if (!used_.contains(name)) names.push_back(name);
  }
  return names;
}

Value moved_to(Value value, Span written) {
  value.written = written;
  for (Entry& entry : value.entries) entry.value = moved_to(std::move(entry.value), written);
  return value;
}

}  // namespace dmlop::cpp
