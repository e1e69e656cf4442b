#include "model/values.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "npy/elements.hpp"
#include "tensor/element.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;
using Element = std::array<std::byte, 8>;

// After this many findings in one list, the rest are not listed.
constexpr std::size_t findings_listed = 8;

template <typename T>
Element element_of(T value) {
  Element element{};
  std::memcpy(element.data(), &value, sizeof value);
  return element;
}

template <typename T>
T value_of(const Element& element) {
  T value;
  std::memcpy(&value, element.data(), sizeof value);
  return value;
}

// Returns nothing unless the value is a number or one of three words.
std::optional<double> read_double(const json::Value& value) {
  if (value.kind == Kind::string) {
    const std::string word = lower_case(value.text);
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    return std::nullopt;
  }
  return json::nearest_double(value);
}

template <typename T>
bool is_rounded(const std::string& text, double number) {
  T integer = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer);
  if (error != std::errc{} || stop != end) return false;
  const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
  return number >= beyond || static_cast<T>(number) != integer;
}

// Whether a literal is a 64-bit integer that no double represents.
bool is_inexact(const json::Value& value, double number) {
  if (value.kind != Kind::number) return false;
  return value.text.starts_with('-') ? is_rounded<std::int64_t>(value.text, number)
                                     : is_rounded<std::uint64_t>(value.text, number);
}

std::optional<Element> read_float(FieldReader& reader, const json::Value& value,
                                  const std::string& name, DataType type) {
  const auto number = read_double(value);
  const std::string type_name(name_of(type));
  if (!number) {
    const bool is_array = value.kind == Kind::array;
    reader.expected(value, name, "a number, \"inf\", \"-inf\" or \"nan\" (" + type_name + ")",
                    is_array ? "write the values as one flat list" : "");
    return std::nullopt;
  }
  if (is_inexact(value, *number)) {
    reader.expected(value, name, "an integer that a double holds exactly, or have a fraction",
                    "write " + value.text + ".0 for the nearest one");
    return std::nullopt;
  }
  const auto narrow = static_cast<float>(*number);
  const bool is_double = type == DataType::Float64;
  if (value.kind == Kind::number && std::isinf(is_double ? *number : narrow)) {
    reader.expected(
        value, name,
        std::string("within the range of ") +
            (is_double ? "FLOAT64 (up to 1.7976931348623157e308)" : "FLOAT (up to 3.4028235e38)"),
        std::string("write ") + (*number < 0 ? "\"-inf\"" : "\"inf\"") + " for infinity");
    return std::nullopt;
  }
  return visit_type_among<DataType::Float64, DataType::Float32, DataType::Float16>(
      type, [&]<typename T>(T) {
        if constexpr (std::is_same_v<T, Half>)
          return element_of(half_toward_zero(narrow));
        else
          return element_of(static_cast<T>(*number));
      });
}

template <typename T>
std::optional<Element> read_integer(FieldReader& reader, const json::Value& value,
                                    const std::string& name, DataType type) {
  T number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (value.kind == Kind::number && error == std::errc{} && stop == end) return element_of(number);
  if (value.kind == Kind::number && value.text == "-0") return element_of(T{0});
  const bool is_array = value.kind == Kind::array;
  reader.expected(value, name,
                  "an integer from " + std::to_string(std::numeric_limits<T>::min()) + " to " +
                      std::to_string(std::numeric_limits<T>::max()) + " (" +
                      std::string(name_of(type)) + ")",
                  is_array ? "write the values as one flat list" : "");
  return std::nullopt;
}

// a + b in the data type.
Element sum(DataType type, const Element& a, const Element& b) {
  return visit_type(type, [&]<typename T>(T) {
    if constexpr (std::is_same_v<T, Half>) {
      return element_of(half_toward_zero(half_to_float(value_of<std::uint16_t>(a)) +
                                         half_to_float(value_of<std::uint16_t>(b))));
    } else if constexpr (std::is_floating_point_v<T>) {
      return element_of(value_of<T>(a) + value_of<T>(b));
    } else {
      using Unsigned = std::make_unsigned_t<T>;
      return element_of(static_cast<Unsigned>(value_of<Unsigned>(a) + value_of<Unsigned>(b)));
    }
  });
}

InitialValues values_of(std::optional<DataType> type, std::vector<std::byte> bytes) {
  const auto shared = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {.data_type = type, .bytes = shared->size(), .fill = [shared](std::span<std::byte> to) {
            copy_in_pieces(*shared, to.data());
          }};
}

// A required member of an initializer.
const json::Value* require(FieldReader& reader, const json::Value& object, const std::string& name,
                           const std::string& member, const std::string& form) {
  const json::Value* value = object.find(member);
  if (value == nullptr)
    reader.missing(object, name + "." + member, "this form of initialValues is " + form,
                   "write \"" + member + "\": 1, for example");
  return value;
}

std::optional<std::uint64_t> read_count(FieldReader& reader, const json::Value& object,
                                        const std::string& name, const std::string& form) {
  const json::Value* value = require(reader, object, name, "valueCount", form);
  if (value == nullptr) return std::nullopt;
  const auto count = reader.uint(*value, name + ".valueCount");
  if (!count) return std::nullopt;
  if (*count == 0) reader.expected(*value, name + ".valueCount", "at least 1");
  return *count != 0 ? std::optional(static_cast<std::uint64_t>(*count)) : std::nullopt;
}

}  // namespace

InitialValues values_of_file(std::shared_ptr<const NpyFile> file, const std::string& path) {
  const auto fill = [file, path](std::span<std::byte> to) {
    copy_elements(Elements(*file), to.data());
    require_intact(*file, path);
  };
  const NpyHeader& header = file->header();
  const bool is_native = !header.big_endian || size_of(header.data_type) == 1;
  const bool is_in_order = !header.fortran_order || header.sizes.size() < 2;
  return {.data_type = header.data_type,
          .bytes = file->data().size(),
          .fill = fill,
          .file = file,
          .path = path,
          .raw = {},
          .mapped = is_native && is_in_order ? file->data() : std::span<const std::byte>{},
          .require_intact = [file, path] { require_intact(*file, path); }};
}

InitialValues values_of_file(std::shared_ptr<const InputFile> file, const std::string& path,
                             DataType type) {
  const auto require_intact = [file, path] {
    with_context("reading " + path, [&] { file->require_intact(); });
  };
  const auto fill = [file, require_intact](std::span<std::byte> to) {
    copy_in_pieces(file->bytes(), to.data());
    require_intact();
  };
  return {.data_type = type,
          .bytes = file->bytes().size(),
          .fill = fill,
          .file = {},
          .path = path,
          .raw = file->bytes(),
          .mapped = file->bytes(),
          .require_intact = require_intact};
}

std::uint16_t half_toward_zero(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t exponent = (bits >> 23) & 0xFFU;
  const std::uint32_t mantissa = bits & 0x7FFFFFU;
  std::uint32_t half = 0;  // below the smallest denormal
  if (exponent == 0xFF) {
    half = 0x7C00U | (mantissa >> 13);
  } else if (exponent >= 143) {
    half = 0x7C00U;
  } else if (exponent >= 113) {
    half = ((exponent - 112) << 10) | (mantissa >> 13);
  } else if (exponent >= 103) {
    half = (mantissa | 0x800000U) >> (126 - exponent);
  }
  return static_cast<std::uint16_t>(sign | half);
}

std::optional<Element> read_element(FieldReader& reader, const json::Value& value,
                                    const std::string& name, DataType type) {
  return visit_type(type, [&]<typename T>(T) {
    if constexpr (std::is_integral_v<T>) {
      return read_integer<T>(reader, value, name, type);
    } else {
      return read_float(reader, value, name, type);
    }
  });
}

std::optional<InitialValues> read_list(FieldReader& reader, const json::Value& array,
                                       const std::string& name, DataType type) {
  const std::size_t size = size_of(type);
  std::vector<std::byte> bytes(array.items.size() * size);
  std::size_t findings = 0;
  for (std::size_t i = 0; i < array.items.size() && findings < findings_listed; ++i) {
    const auto element =
        read_element(reader, array.items[i], name + "[" + std::to_string(i) + "]", type);
    if (element) {
      std::copy_n(element->begin(), size, bytes.begin() + static_cast<std::ptrdiff_t>(i * size));
    } else {
      ++findings;
    }
  }
  return findings == 0 ? std::optional(values_of(type, std::move(bytes))) : std::nullopt;
}

std::optional<InitialValues> read_mixed_list(FieldReader& reader, const json::Value& array,
                                             const std::string& name) {
  std::vector<std::string> types;
  for (const DataTypeInfo& type : data_types) {
    if (has_4_bits(type.type)) continue;  // DxDispatch has no such types
    if (type.type != DataType::Float16) types.emplace_back(type.name);
  }
  std::vector<std::byte> bytes;
  std::size_t findings = 0;
  for (std::size_t i = 0; i < array.items.size() && findings < findings_listed; ++i) {
    const json::Value& item = array.items[i];
    const std::string item_name = name + "[" + std::to_string(i) + "]";
    if (item.kind != Kind::object) {
      reader.expected(item, item_name, "an object such as {\"type\": \"UINT32\", \"value\": 6}",
                      "give initialValuesDataType for a list of numbers");
      return std::nullopt;
    }
    constexpr const char* form = "a list of {\"type\": …, \"value\": …}";
    const json::Value* type = require(reader, item, item_name, "type", form);
    const json::Value* value = require(reader, item, item_name, "value", form);
    const auto index =
        type != nullptr ? reader.name_of(*type, item_name + ".type", types, "DML_TENSOR_DATA_TYPE_")
                        : std::nullopt;
    const auto data_type = index ? data_type_named(types[*index]) : std::nullopt;
    const auto element = data_type && value != nullptr
                             ? read_element(reader, *value, item_name + ".value", *data_type)
                             : std::nullopt;
    if (!data_type || !element) {
      ++findings;
      continue;
    }
    bytes.insert(bytes.end(), element->begin(),
                 element->begin() + static_cast<std::ptrdiff_t>(size_of(*data_type)));
  }
  return findings == 0 ? std::optional(values_of(std::nullopt, std::move(bytes))) : std::nullopt;
}

std::optional<InitialValues> read_constant(FieldReader& reader, const json::Value& object,
                                           const std::string& name, DataType type) {
  const auto count = read_count(reader, object, name, "{\"valueCount\": …, \"value\": …}");
  const auto element = read_element(reader, *object.find("value"), name + ".value", type);
  if (!count || !element) return std::nullopt;
  const std::size_t size = size_of(type);
  return InitialValues{.data_type = type,
                       .bytes = *count * size,
                       .fill = [element = *element, size](std::span<std::byte> to) {
                         in_pieces(to.size() / size, 1, [&](std::uint64_t i, std::uint64_t end) {
                           for (; i < end; ++i) std::memcpy(&to[i * size], element.data(), size);
                         });
                       }};
}

std::optional<InitialValues> read_sequence(FieldReader& reader, const json::Value& object,
                                           const std::string& name, DataType type) {
  constexpr const char* form = "{\"valueCount\": …, \"valueStart\": …, \"valueDelta\": …}";
  const auto count = read_count(reader, object, name, form);
  const auto start = read_element(reader, *object.find("valueStart"), name + ".valueStart", type);
  const json::Value* delta = require(reader, object, name, "valueDelta", form);
  const auto step =
      delta != nullptr ? read_element(reader, *delta, name + ".valueDelta", type) : std::nullopt;
  if (!count || !start || !step) return std::nullopt;
  const std::size_t size = size_of(type);
  return InitialValues{.data_type = type,
                       .bytes = *count * size,
                       .fill = [type, size, start = *start, step = *step](std::span<std::byte> to) {
                         Element element = start;
                         in_pieces(to.size() / size, 4, [&](std::uint64_t i, std::uint64_t end) {
                           for (; i < end; ++i) {
                             std::memcpy(&to[i * size], element.data(), size);
                             element = sum(type, element, step);
                           }
                         });
                       }};
}

}  // namespace dmlop
