#include "cpp/number.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/checked.hpp"

namespace dmlop::cpp {
namespace {

using Type = Number::Type;

bool is_unsigned(Type type) {
  return type == Type::uint32 || type == Type::uint64;
}

/// An arithmetic type: its names, its size, and how it holds numbers.
struct TypeName {
  std::string_view name;
  std::size_t bytes;
  char kind;  // signed, unsigned, float, bool
};

constexpr std::array type_names{TypeName{"bool", 1, 'b'},
                                TypeName{"BOOL", 4, 's'},
                                TypeName{"char", 1, 's'},
                                TypeName{"signed char", 1, 's'},
                                TypeName{"INT8", 1, 's'},
                                TypeName{"int8_t", 1, 's'},
                                TypeName{"unsigned char", 1, 'u'},
                                TypeName{"UINT8", 1, 'u'},
                                TypeName{"uint8_t", 1, 'u'},
                                TypeName{"BYTE", 1, 'u'},
                                TypeName{"byte", 1, 'u'},
                                TypeName{"short", 2, 's'},
                                TypeName{"INT16", 2, 's'},
                                TypeName{"int16_t", 2, 's'},
                                TypeName{"unsigned short", 2, 'u'},
                                TypeName{"UINT16", 2, 'u'},
                                TypeName{"uint16_t", 2, 'u'},
                                TypeName{"WORD", 2, 'u'},
                                TypeName{"int", 4, 's'},
                                TypeName{"INT", 4, 's'},
                                TypeName{"INT32", 4, 's'},
                                TypeName{"int32_t", 4, 's'},
                                TypeName{"long", 4, 's'},
                                TypeName{"LONG", 4, 's'},
                                TypeName{"unsigned", 4, 'u'},
                                TypeName{"unsigned int", 4, 'u'},
                                TypeName{"UINT", 4, 'u'},
                                TypeName{"UINT32", 4, 'u'},
                                TypeName{"uint32_t", 4, 'u'},
                                TypeName{"DWORD", 4, 'u'},
                                TypeName{"unsigned long", 4, 'u'},
                                TypeName{"ULONG", 4, 'u'},
                                TypeName{"long long", 8, 's'},
                                TypeName{"INT64", 8, 's'},
                                TypeName{"int64_t", 8, 's'},
                                TypeName{"ptrdiff_t", 8, 's'},
                                TypeName{"unsigned long long", 8, 'u'},
                                TypeName{"UINT64", 8, 'u'},
                                TypeName{"uint64_t", 8, 'u'},
                                TypeName{"size_t", 8, 'u'},
                                TypeName{"SIZE_T", 8, 'u'},
                                TypeName{"float", 4, 'f'},
                                TypeName{"FLOAT", 4, 'f'},
                                TypeName{"double", 8, 'f'},
                                TypeName{"DOUBLE", 8, 'f'}};

const TypeName* find_type(std::string_view name) {
  if (name.starts_with("std::")) name.remove_prefix(5);
  const auto found = std::ranges::find(type_names, name, &TypeName::name);
  return found == type_names.end() ? nullptr : &*found;
}

// An integer of 64 bits as one of `bytes`, as C++20 converts it.
std::int64_t wrapped(std::int64_t value, std::size_t bytes, bool without_sign) {
  if (bytes == 8) return value;
  const auto bits = static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << (bytes * 8)) - 1);
  const std::uint64_t sign = std::uint64_t{1} << (bytes * 8 - 1);
  const bool is_negative = !without_sign && (bits & sign) != 0;
  return static_cast<std::int64_t>(is_negative ? bits - 2 * sign : bits);
}

std::optional<Number> as_integer(Type type, std::optional<std::int64_t> value) {
  if (!value) return std::nullopt;
  if (type == Type::uint32) return integer_number(wrapped(*value, 4, true), type);
  const bool fits = *value >= INT32_MIN && *value <= INT32_MAX;
  if (type == Type::int32 && !fits) return std::nullopt;
  return integer_number(*value, type);
}

std::optional<Number> apply_signed(std::string_view symbol, Type type, std::int64_t a,
                                   std::int64_t b) {
  if (symbol == "+") return as_integer(type, checked_add(a, b));
  if (symbol == "-") return as_integer(type, checked_subtract(a, b));
  if (symbol == "*") return as_integer(type, checked_multiply(a, b));
  if (symbol == "&") return as_integer(type, a & b);
  if (symbol == "|") return as_integer(type, a | b);
  if (symbol == "^") return as_integer(type, a ^ b);
  if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
  if (symbol == "/") return as_integer(type, a / b);
  if (symbol == "%") return as_integer(type, a % b);
  return std::nullopt;
}

std::optional<Number> apply_unsigned(std::string_view symbol, Type type, std::uint64_t a,
                                     std::uint64_t b) {
  const auto result = [&](std::uint64_t value) {
    return as_integer(type, static_cast<std::int64_t>(value));
  };
  if (symbol == "+") return result(a + b);
  if (symbol == "-") return result(a - b);
  if (symbol == "*") return result(a * b);
  if (symbol == "&") return result(a & b);
  if (symbol == "|") return result(a | b);
  if (symbol == "^") return result(a ^ b);
  if (b == 0) return std::nullopt;
  if (symbol == "/") return result(a / b);
  if (symbol == "%") return result(a % b);
  return std::nullopt;
}

std::optional<Number> apply_real(std::string_view symbol, Type type, double a, double b) {
  if (symbol == "+") return real_number(a + b, type);
  if (symbol == "-") return real_number(a - b, type);
  if (symbol == "*") return real_number(a * b, type);
  if (symbol == "/") return real_number(a / b, type);
  return std::nullopt;
}

std::optional<Number> shifted(std::string_view symbol, const Number& left, const Number& right) {
  if (!left.is_integer() || !right.is_integer()) return std::nullopt;
  const bool is_wide = left.type >= Type::int64;
  if (right.is_negative() || right.integer >= (is_wide ? 64 : 32)) return std::nullopt;
  const auto bits = static_cast<std::uint64_t>(left.integer);
  if (symbol == ">>")
    return integer_number(left.is_negative() ? left.integer >> right.integer
                                             : static_cast<std::int64_t>(bits >> right.integer),
                          left.type);
  const auto value = static_cast<std::int64_t>(bits << right.integer);
  return integer_number(is_wide ? value : wrapped(value, 4, is_unsigned(left.type)), left.type);
}

template <typename T>
std::optional<bool> compared(std::string_view symbol, T a, T b) {
  if (symbol == "==") return a == b;
  if (symbol == "!=") return a != b;
  if (symbol == "<") return a < b;
  if (symbol == ">") return a > b;
  if (symbol == "<=") return a <= b;
  if (symbol == ">=") return a >= b;
  return std::nullopt;
}

// An integer in a wider or equal type; of 32 bits without a sign, a negative one wraps.
std::int64_t widened(const Number& number, Type type) {
  return type == Type::uint32 ? wrapped(number.integer, 4, true) : number.integer;
}

}  // namespace

bool Number::is_negative() const {
  if (!is_integer()) return value < 0;
  return integer < 0 && type != Type::uint64;
}

double Number::as_double() const {
  if (!is_integer()) return value;
  return type == Type::uint64 ? static_cast<double>(static_cast<std::uint64_t>(integer))
                              : static_cast<double>(integer);
}

std::optional<std::uint64_t> Number::count() const {
  if (!is_integer() || is_negative()) return std::nullopt;
  return static_cast<std::uint64_t>(integer);
}

Number integer_number(std::int64_t value, Number::Type type) {
  return {.type = type, .integer = value};
}

Number real_number(double value, Number::Type type) {
  return {.type = type, .value = type == Type::single ? static_cast<float>(value) : value};
}

namespace {

std::optional<Number> integer_literal(std::string_view digits, std::string_view suffix) {
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
    base = 2;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits.front() == '0') {
    base = 8;
  }
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  std::string lower(suffix);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  static constexpr std::array<std::string_view, 13> known{
      "", "u", "l", "ul", "lu", "ll", "ull", "llu", "z", "uz", "zu", "i64", "ui64"};
  if (std::ranges::find(known, lower) == known.end()) return std::nullopt;
  const bool has_u = lower.find('u') != std::string::npos;
  const bool is_wide = lower.find("ll") != std::string::npos ||
                       lower.find('z') != std::string::npos ||
                       lower.find("64") != std::string::npos;
  const bool may_lose_sign = has_u || base != 10;
  Type type = Type::uint64;
  if (!is_wide && !has_u && value <= INT32_MAX) {
    type = Type::int32;
  } else if (!is_wide && may_lose_sign && value <= UINT32_MAX) {
    type = Type::uint32;
  } else if (!has_u && value <= INT64_MAX) {
    type = Type::int64;
  }
  return integer_number(static_cast<std::int64_t>(value), type);
}

std::optional<Number> real_literal(std::string_view text, bool is_hexadecimal) {
  Type type = Type::real;
  const char last = text.back();
  const bool has_f = (last == 'f' || last == 'F');
  if (has_f || last == 'l' || last == 'L') {
    text.remove_suffix(1);
    if (has_f) type = Type::single;
  }
  if (is_hexadecimal) text.remove_prefix(2);
  const auto format = is_hexadecimal ? std::chars_format::hex : std::chars_format::general;
  const char* end = text.data() + text.size();
  if (type == Type::single) {
    float value = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, value, format);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return real_number(value, type);
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value, format);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return real_number(value, type);
}

}  // namespace

std::optional<Number> literal(std::string_view written) {
  // No number that means something is longer. Reading a longer one could take its time.
  if (written.empty() || written.size() > 400) return std::nullopt;
  std::string text;
  std::ranges::copy_if(written, std::back_inserter(text), [](char c) { return c != '\''; });
  const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool is_real = is_hexadecimal ? text.find_first_of("pP.") != std::string::npos
                                      : text.find_first_of(".eE") != std::string::npos;
  if (is_real) return real_literal(text, is_hexadecimal);
  const std::string_view digits_only = is_hexadecimal ? "0123456789abcdefABCDEFxX" : "0123456789bB";
  const std::size_t digits = std::min(text.find_first_not_of(digits_only), text.size());
  return integer_literal(std::string_view(text).substr(0, digits),
                         std::string_view(text).substr(digits));
}

std::optional<Number> apply(std::string_view symbol, const Number& left, const Number& right) {
  if (symbol == "<<" || symbol == ">>") return shifted(symbol, left, right);
  const Type type = std::max(left.type, right.type);
  std::optional<bool> truth;
  if (type >= Type::single) {
    truth = compared(symbol, left.as_double(), right.as_double());
    if (!truth) {
      const bool is_single = type == Type::single;
      const double a = is_single ? static_cast<float>(left.as_double()) : left.as_double();
      const double b = is_single ? static_cast<float>(right.as_double()) : right.as_double();
      return apply_real(symbol, type, a, b);
    }
  } else {
    const std::int64_t a = widened(left, type), b = widened(right, type);
    const auto a_bits = static_cast<std::uint64_t>(a), b_bits = static_cast<std::uint64_t>(b);
    const bool without_sign = is_unsigned(type);
    truth = without_sign ? compared(symbol, a_bits, b_bits) : compared(symbol, a, b);
    if (!truth)
      return without_sign ? apply_unsigned(symbol, type, a_bits, b_bits)
                          : apply_signed(symbol, type, a, b);
  }
  return integer_number(*truth ? 1 : 0);
}

std::optional<Number> apply(std::string_view symbol, const Number& operand) {
  if (symbol == "+") return operand;
  if (symbol == "!") return integer_number(operand.as_double() == 0 ? 1 : 0);
  if (symbol == "-") {
    if (!operand.is_integer()) return real_number(-operand.value, operand.type);
    return apply("-", integer_number(0, operand.type), operand);
  }
  if (symbol == "~" && operand.is_integer())
    return apply("^", operand, integer_number(-1, operand.type));
  return std::nullopt;
}

std::optional<Number> converted(const Number& number, std::string_view name) {
  const TypeName* type = find_type(name);
  if (type == nullptr) return number;
  if (type->kind == 'f')
    return real_number(number.as_double(), type->bytes == 4 ? Type::single : Type::real);
  if (type->kind == 'b') return integer_number(number.as_double() != 0 ? 1 : 0);
  const bool without_sign = type->kind == 'u';
  std::int64_t value = number.integer;
  if (!number.is_integer()) {
    const double whole = std::trunc(number.value);
    const double limit =
        std::ldexp(1.0, static_cast<int>(type->bytes * 8) - (without_sign ? 0 : 1));
    if (!(whole < limit && whole >= (without_sign ? 0 : -limit))) return std::nullopt;
    value = without_sign ? static_cast<std::int64_t>(static_cast<std::uint64_t>(whole))
                         : static_cast<std::int64_t>(whole);
  }
  const Type wide = without_sign ? Type::uint64 : Type::int64;
  const Type narrow = without_sign && type->bytes == 4 ? Type::uint32 : Type::int32;
  return integer_number(wrapped(value, type->bytes, without_sign),
                        type->bytes == 8 ? wide : narrow);
}

std::size_t size_of_type(std::string_view name) {
  const TypeName* type = find_type(name);
  return type == nullptr ? 0 : type->bytes;
}

namespace {

// The part of std::numeric_limits that descriptions use.
std::optional<Number> limit_of(std::string_view type_name, std::string_view member) {
  const TypeName* type = find_type(type_name);
  if (type == nullptr) return std::nullopt;
  if (type->kind == 'f') {
    const bool is_single = type->bytes == 4;
    const Type result = is_single ? Type::single : Type::real;
    if (member == "infinity") return real_number(INFINITY, result);
    if (member == "quiet_NaN") return real_number(NAN, result);
    const double largest = is_single ? static_cast<double>(FLT_MAX) : DBL_MAX;
    if (member == "max") return real_number(largest, result);
    if (member == "lowest") return real_number(-largest, result);
    if (member == "min")
      return real_number(is_single ? static_cast<double>(FLT_MIN) : DBL_MIN, result);
    if (member == "epsilon")
      return real_number(is_single ? static_cast<double>(FLT_EPSILON) : DBL_EPSILON, result);
    return std::nullopt;
  }
  if (type->kind == 'b') return std::nullopt;
  const bool without_sign = type->kind == 'u';
  const auto all = static_cast<std::int64_t>(
      type->bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (type->bytes * 8)) - 1);
  const std::int64_t high =
      without_sign ? all : static_cast<std::int64_t>(static_cast<std::uint64_t>(all) >> 1);
  if (member == "max") return converted(integer_number(high, Type::uint64), type_name);
  if (member == "min" || member == "lowest")
    return converted(integer_number(without_sign ? 0 : -high - 1, Type::int64), type_name);
  return std::nullopt;
}

struct Constant {
  std::string_view name;
  Number number;
};

const std::array constants{
    Constant{"true", integer_number(1)},
    Constant{"false", integer_number(0)},
    Constant{"TRUE", integer_number(1)},
    Constant{"FALSE", integer_number(0)},
    Constant{"INFINITY", real_number(INFINITY, Type::single)},
    Constant{"NAN", real_number(NAN, Type::single)},
    Constant{"FLT_MAX", real_number(static_cast<double>(FLT_MAX), Type::single)},
    Constant{"FLT_MIN", real_number(static_cast<double>(FLT_MIN), Type::single)},
    Constant{"FLT_EPSILON", real_number(static_cast<double>(FLT_EPSILON), Type::single)},
    Constant{"DBL_MAX", real_number(DBL_MAX)},
    Constant{"DBL_EPSILON", real_number(DBL_EPSILON)},
    Constant{"INT_MAX", integer_number(INT32_MAX)},
    Constant{"INT_MIN", integer_number(INT32_MIN)},
    Constant{"INT32_MAX", integer_number(INT32_MAX)},
    Constant{"INT32_MIN", integer_number(INT32_MIN)},
    Constant{"UINT_MAX", integer_number(UINT32_MAX, Type::uint32)},
    Constant{"UINT32_MAX", integer_number(UINT32_MAX, Type::uint32)},
    Constant{"INT64_MAX", integer_number(INT64_MAX, Type::int64)},
    Constant{"INT64_MIN", integer_number(INT64_MIN, Type::int64)},
    Constant{"UINT64_MAX", integer_number(-1, Type::uint64)},
    Constant{"DML_TENSOR_DIMENSION_COUNT_MAX", integer_number(5, Type::uint32)},
    Constant{"DML_TENSOR_DIMENSION_COUNT_MAX1", integer_number(8, Type::uint32)},
    Constant{"DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT", integer_number(16, Type::uint32)},
};

}  // namespace

std::optional<Number> named_number(std::string_view name) {
  constexpr std::string_view limits = "std::numeric_limits<";
  const std::size_t close = name.rfind(">::");
  if (name.starts_with(limits) && close != std::string_view::npos)
    return limit_of(name.substr(limits.size(), close - limits.size()), name.substr(close + 3));
  const auto found = std::ranges::find(constants, name, &Constant::name);
  return found == constants.end() ? std::nullopt : std::optional(found->number);
}

}  // namespace dmlop::cpp
