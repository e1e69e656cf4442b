#include "spec/setting_value.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "json/document.hpp"
#include "json/meant_number.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string quoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (byte < 0x20) {
      json += std::string("\\u00") + digits[byte / 16] + digits[byte % 16];
    } else {
      json += c;
    }
  }
  return json + "\"";
}

std::string number_or_text(std::string_view text) {
  return json::decimal_number(text).value_or(quoted(text));
}

std::string flag_or_text(std::string_view text) {
  const std::string word = lower_case(std::string(text));
  return word == "true" || word == "false" ? word : number_or_text(text);
}

// "a,b,c" as a list, each part by `convert`; nothing but blanks is an empty list.
template <typename Convert>
std::string list_of_parts(std::string_view text, Convert&& convert) {
  std::vector<std::string> parts;
  for (bool is_last = trimmed(text, " ").empty(); !is_last;) {
    const std::size_t comma = text.find(',');
    is_last = comma == std::string_view::npos;
    parts.push_back(convert(trimmed(text.substr(0, comma), " ")));
    if (!is_last) text.remove_prefix(comma + 1);
  }
  return "[" + join(parts) + "]";
}

std::string numbers(std::string_view text) {
  return list_of_parts(text, number_or_text);
}

// "FLOAT32:1,1,4,4" or "FLOAT32[1, 1, 4, 4]"; either half alone, too.
std::string tensor(std::string_view text) {
  const auto is_in_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const bool begins_with_size = !text.empty() && is_digit(text.front());
  const auto name_end =
      begins_with_size ? text.begin() : std::find_if_not(text.begin(), text.end(), is_in_name);
  const std::string_view type = text.substr(0, static_cast<std::size_t>(name_end - text.begin()));
  std::string_view sizes = text.substr(type.size());
  const bool has_colon = sizes.starts_with(':');
  if (has_colon) sizes.remove_prefix(1);
  sizes = trimmed(sizes, " ");
  const bool has_brackets = sizes.starts_with('[') && sizes.ends_with(']');
  if (has_brackets) sizes = sizes.substr(1, sizes.size() - 2);
  const bool has_sizes = has_colon || has_brackets || begins_with_size;
  if ((!sizes.empty() && !has_sizes) || (type.empty() && !has_sizes)) return quoted(text);
  std::vector<std::string> members;
  if (!type.empty()) members.push_back("\"DataType\": " + quoted(type));
  if (has_sizes) members.push_back("\"Sizes\": " + numbers(sizes));
  return "{" + join(members) + "}";
}

// Two numbers in the order of DirectML.h's struct.
std::string pair(std::string_view text, const char* first, const char* second) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return number_or_text(text);
  return "{" + quoted(first) + ": " + number_or_text(trimmed(text.substr(0, comma), " ")) + ", " +
         quoted(second) + ": " + number_or_text(trimmed(text.substr(comma + 1), " ")) + "}";
}

std::string activation(std::string_view type) {
  return "{\"Type\": " + quoted(type) + "}";
}

// Numbers, lists of numbers, and true and false are what they look like.
std::string any(std::string_view text) {
  const auto is_number = [](std::string_view part) {
    return json::decimal_number(part).has_value();
  };
  const std::string flag = flag_or_text(text);
  if (!flag.starts_with('"')) return flag;
  bool are_numbers = text.find(',') != std::string_view::npos;
  list_of_parts(text, [&](std::string_view part) {
    are_numbers = are_numbers && is_number(part);
    return std::string();
  });
  return are_numbers ? numbers(text) : quoted(text);
}

std::string typed_list(const json::Value& list) {
  std::vector<std::string> parts;
  for (const json::Value& item : list.items) parts.push_back(item.text);
  return join(parts, ",");
}

bool is_plain_list(const json::Value& value) {
  const auto is_plain = [](const json::Value& item) {
    return item.kind == Kind::number || item.kind == Kind::string;
  };
  return value.kind == Kind::array && std::all_of(value.items.begin(), value.items.end(), is_plain);
}

}  // namespace

Form form_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::input_tensor:
    case FieldKind::output_tensor:
      return Form::tensor;
    case FieldKind::input_tensor_array:
    case FieldKind::output_tensor_array:
      return Form::tensors;
    case FieldKind::enumeration:
      return Form::name;
    case FieldKind::uint:
    case FieldKind::int32:
    case FieldKind::float32:
    case FieldKind::scalar_union:
      return Form::number;
    case FieldKind::boolean:
      return Form::flag;
    case FieldKind::uint_array:
    case FieldKind::int_array:
    case FieldKind::float_array:
      return Form::numbers;
    case FieldKind::size_2d:
      return Form::size_2d;
    case FieldKind::scale_bias:
      return Form::scale_bias;
    case FieldKind::fused_activation:
      return Form::activation;
    case FieldKind::activation_array:
      return Form::activations;
  }
  return Form::any;
}

std::string json_of(Form form, std::string_view typed) {
  const std::string_view text = trimmed(typed, " ");
  constexpr std::string_view json_begins = "{[\"";
  const bool is_list_of_sizes = form == Form::tensor && text.starts_with('[');
  if (text == "null") return "null";
  if (!text.empty() && json_begins.find(text.front()) != std::string_view::npos &&
      !is_list_of_sizes)
    return std::string(text);
  switch (form) {
    case Form::any:
      return any(text);
    case Form::name:  // enumerations have numbers, too
    case Form::number:
      return number_or_text(text);
    case Form::names:
      return list_of_parts(text, number_or_text);
    case Form::numbers:
      return numbers(text);
    case Form::flag:
      return flag_or_text(text);
    case Form::tensor:
      return tensor(text);
    case Form::tensors:
      return quoted(text);
    case Form::size_2d:
      return pair(text, "Width", "Height");
    case Form::scale_bias:
      return pair(text, "Scale", "Bias");
    case Form::activation:
      return activation(text);
    case Form::activations:
      return list_of_parts(text, activation);
  }
  return quoted(text);
}

std::string typed_value(const std::string& json) {
  Diagnostics ignored;
  const auto document = json::Document::parse("", json, ignored);
  if (!document) return json;
  const json::Value& value = document->root();
  if (value.kind == Kind::string) return value.text;
  if (is_plain_list(value)) return typed_list(value);
  const json::Value* type = value.find("DataType");
  const json::Value* sizes = value.find("Sizes");
  const std::size_t known = (type != nullptr ? 1U : 0U) + (sizes != nullptr ? 1U : 0U);
  if (value.members.size() != known || known == 0) return json;
  if (sizes == nullptr) return type->text;
  if (!is_plain_list(*sizes)) return json;
  return (type != nullptr ? type->text + ":" : "") + typed_list(*sizes);
}

}  // namespace dmlop
