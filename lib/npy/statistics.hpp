// Summarizes a tensor's elements for people: extremes, mean, special values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "npy/elements.hpp"

namespace dmlop {

struct Statistics {
  std::optional<std::string>
      min;  // as text that reads back exactly; of the elements that are no NaN
  std::optional<std::string> max;
  std::optional<double> mean;  // of the finite elements
  std::uint64_t nan_count = 0;
  std::uint64_t infinity_count = 0;
};

/// Reads every element once. Errors: as check_for_stop().
Statistics statistics_of(const Elements& elements);

/// Element `index` of the tensor, in C order, as text.
std::string element_text_at(const Elements& elements, std::uint64_t index);

}  // namespace dmlop
