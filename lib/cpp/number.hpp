// Numbers as C++ computes with them: integers of 32 and 64 bits, float and double.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dmlop::cpp {

struct Number {
  enum class Type { int32, uint32, int64, uint64, single, real };  // in the order of conversions
  Type type = Type::int32;
  std::int64_t integer = 0;  // of an integer; the bits of a uint64
  double value = 0;          // of a float or double

  bool is_integer() const { return type < Type::single; }
  bool is_negative() const;
  double as_double() const;
  /// Its value if it is an integer that is not negative.
  std::optional<std::uint64_t> count() const;
};

Number integer_number(std::int64_t value, Number::Type type = Number::Type::int32);
Number real_number(double value, Number::Type type = Number::Type::real);

/// The value of a literal with its suffix; nothing if it is none.
std::optional<Number> literal(std::string_view text);

/// The result of an operator; nothing where C++ defines none: overflow, division by zero.
std::optional<Number> apply(std::string_view symbol, const Number& left, const Number& right);
std::optional<Number> apply(std::string_view symbol, const Number& operand);

/// Converted to an arithmetic type such as "UINT" or "float", by its name in C++ or Windows;
/// nothing where C++ defines no result. Types of other names leave it as it is.
std::optional<Number> converted(const Number& number, std::string_view type);

/// The size of an arithmetic type in bytes, or 0 for other names.
std::size_t size_of_type(std::string_view type);

/// A constant of the standard library or of Windows: "INFINITY", "UINT_MAX",
/// "std::numeric_limits<float>::max".
std::optional<Number> named_number(std::string_view name);

}  // namespace dmlop::cpp
