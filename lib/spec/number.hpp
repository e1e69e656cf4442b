// The numbers of formulas: checked 64-bit integers, or doubles if a FLOAT takes part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dmlop {

class Number {
 public:
  Number(std::int64_t integer) : integer_(integer) {}  // NOLINT: integers are numbers
  static Number real(double value) {
    Number number(0);
    number.is_real_ = true;
    number.real_ = value;
    return number;
  }

  bool is_real() const { return is_real_; }
  /// The integer. A double is truncated, and limited to the range of 64 bits.
  std::int64_t integer() const;
  double as_double() const { return is_real_ ? real_ : static_cast<double>(integer_); }
  bool is_true() const { return is_real_ ? real_ != 0 : integer_ != 0; }

  bool operator==(const Number& other) const;
  /// As for doubles: false if one of them is NaN.
  bool operator<(const Number& other) const;

 private:
  bool is_real_ = false;
  std::int64_t integer_ = 0;
  double real_ = 0;
};

/// Integers that leave 64 bits become doubles, so that a rule about them is still decided. Nothing
/// if an integer is divided by zero. Integer division truncates.
std::optional<Number> add(const Number& a, const Number& b);
std::optional<Number> subtract(const Number& a, const Number& b);
std::optional<Number> multiply(const Number& a, const Number& b);
std::optional<Number> divide(const Number& a, const Number& b);
std::optional<Number> remainder(const Number& a, const Number& b);

/// The largest integer that is not greater than the number.
Number floor(const Number& number);

/// The shortest text that reads back as the number: "4", "0.5".
std::string to_text(const Number& number);

}  // namespace dmlop
