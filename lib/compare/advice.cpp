#include "compare/advice.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "compare/element_pair.hpp"

namespace dmlop {
namespace {

constexpr double times_given = 1000;
constexpr double small_share = 0.1;
constexpr Threshold block{4096, 5};
constexpr Threshold blocks_max{4096, 3};

// A share of the numbers between 1 and 2, or of the largest integer.
double advised_ulp(const Comparison& comparison) {
  return visit_type(comparison.data_type, [&]<typename T>(T) {
    if constexpr (std::is_same_v<T, Half>) {
      return small_share * 0x1p10;
    } else if constexpr (element::is_floating<T>) {
      return small_share / static_cast<double>(std::numeric_limits<T>::epsilon());
    } else {
      return std::max(1.0, small_share * comparison.largest_expected);
    }
  });
}

template <typename Number>
std::optional<Number> advised(std::optional<Number> smallest, std::optional<Number> given,
                              double most) {
  if (!smallest) return std::nullopt;
  const double limit = std::max(most, times_given * static_cast<double>(given.value_or(0)));
  return static_cast<double>(*smallest) <= limit ? smallest : std::nullopt;
}

}  // namespace

SmallestTolerances advised_tolerances(const Comparison& comparison) {
  const SmallestTolerances& smallest = comparison.smallest;
  const Tolerance& given = comparison.tolerance;
  const bool is_float = is_floating(comparison.data_type);
  const double least = is_float ? 0 : 1;
  return {advised(smallest.rtol, given.rtol, small_share),
          advised(smallest.atol, given.atol,
                  std::max(least, small_share * comparison.largest_expected)),
          advised(smallest.ulp, given.ulp, advised_ulp(comparison))};
}

double largest_magnitude(const Elements& elements) {
  const std::uint64_t blocks = (elements.count() + block - 1) / block;
  const std::uint64_t distance = blocks / blocks_max + 1;
  double largest = 0;
  std::vector<std::byte> scratch;
  visit_type(elements.data_type(), [&]<typename T>(T) {
    for (std::uint64_t i = 0; i < blocks; i += distance) {
      check_for_stop();
      const std::uint64_t count = std::min<std::uint64_t>(block, elements.count() - i * block);
      const auto bytes = elements.read(i * block, count, scratch);
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
        const double magnitude = std::abs(element::value_of(element::load<T>(&bytes[at])));
        if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
      }
    }
  });
  return largest;
}

}  // namespace dmlop
