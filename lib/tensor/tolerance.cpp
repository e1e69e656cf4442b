#include "tensor/tolerance.hpp"

#include <array>
#include <charconv>

namespace dmlop {

std::string shortest_text(double number) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return {buffer.data(), end};
}

std::string to_text(const Tolerance& tolerance) {
  std::string text;
  if (tolerance.rtol) text = "rtol " + shortest_text(*tolerance.rtol);
  if (tolerance.atol)
    text += (text.empty() ? "" : ", ") + ("atol " + shortest_text(*tolerance.atol));
  if (tolerance.ulp)
    text += (text.empty() ? "" : " or ") + (std::to_string(*tolerance.ulp) + " ULP");
  if (text.empty()) text = "bit for bit";
  if (!tolerance.nan_equals_nan) text += ", NaN differs from NaN";
  return text;
}

}  // namespace dmlop
