// What formulas compute with: checked 64-bit integers, and doubles where a FLOAT takes part.
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
  /// The integer; of a double the part before the point, at the ends of 64 bits where it is beyond.
  std::int64_t integer() const;
  double as_double() const { return is_real_ ? real_ : static_cast<double>(integer_); }
  bool is_true() const { return is_real_ ? real_ != 0 : integer_ != 0; }

  bool operator==(const Number& other) const;
  /// Like a double's: false where one of them is NaN.
  bool operator<(const Number& other) const;

 private:
  bool is_real_ = false;
  std::int64_t integer_ = 0;
  double real_ = 0;
};

/// Integers that leave 64 bits become doubles, so that a rule about them still decides. Nothing where
/// integers are divided by zero. Integer division truncates.
std::optional<Number> add(const Number& a, const Number& b);
std::optional<Number> subtract(const Number& a, const Number& b);
std::optional<Number> multiply(const Number& a, const Number& b);
std::optional<Number> divide(const Number& a, const Number& b);
std::optional<Number> remainder(const Number& a, const Number& b);

/// The largest integer that is not above the number.
Number floor(const Number& number);

/// "4", "0.5": the shortest text that reads back as the number.
std::string to_text(const Number& number);

}  // namespace dmlop
