#include "spec/number.hpp"

#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop {
namespace {

using Int = std::int64_t;
using Limits = std::numeric_limits<Int>;

Number exact_or(std::optional<Int> exact, double rounded) {
  return exact ? Number(*exact) : Number::real(rounded);
}

}  // namespace

Int Number::integer() const {
  if (!is_real_) return integer_;
  if (std::isnan(real_)) return 0;
  if (real_ >= 0x1p63) return Limits::max();
  return real_ < -0x1p63 ? Limits::min() : static_cast<Int>(real_);
}

bool Number::operator==(const Number& other) const {
  if (is_real_ || other.is_real_) return as_double() == other.as_double();
  return integer_ == other.integer_;
}

bool Number::operator<(const Number& other) const {
  if (is_real_ || other.is_real_) return as_double() < other.as_double();
  return integer_ < other.integer_;
}

std::optional<Number> add(const Number& a, const Number& b) {
  const double rounded = a.as_double() + b.as_double();
  if (a.is_real() || b.is_real()) return Number::real(rounded);
  return exact_or(checked_add(a.integer(), b.integer()), rounded);
}

std::optional<Number> subtract(const Number& a, const Number& b) {
  const double rounded = a.as_double() - b.as_double();
  if (a.is_real() || b.is_real()) return Number::real(rounded);
  return exact_or(checked_subtract(a.integer(), b.integer()), rounded);
}

std::optional<Number> multiply(const Number& a, const Number& b) {
  const double rounded = a.as_double() * b.as_double();
  if (a.is_real() || b.is_real()) return Number::real(rounded);
  return exact_or(checked_multiply(a.integer(), b.integer()), rounded);
}

std::optional<Number> divide(const Number& a, const Number& b) {
  if (a.is_real() || b.is_real()) return Number::real(a.as_double() / b.as_double());
  if (b.integer() == 0 || (a.integer() == Limits::min() && b.integer() == -1)) return std::nullopt;
  return Number(a.integer() / b.integer());
}

std::optional<Number> remainder(const Number& a, const Number& b) {
  if (a.is_real() || b.is_real()) return Number::real(std::fmod(a.as_double(), b.as_double()));
  if (b.integer() == 0 || (a.integer() == Limits::min() && b.integer() == -1)) return std::nullopt;
  return Number(a.integer() % b.integer());
}

Number floor(const Number& number) {
  return number.is_real() ? Number(Number::real(std::floor(number.as_double())).integer()) : number;
}

std::string to_text(const Number& number) {
  return number.is_real() ? shortest_text(number.as_double()) : std::to_string(number.integer());
}

}  // namespace dmlop
