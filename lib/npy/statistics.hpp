// Summarizes a tensor's elements for people: extremes, mean, special values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "npy/npy.hpp"

namespace dmlop {

struct Statistics {
  std::optional<std::string>
      min;  // as text that reads back exactly; of the elements that are no NaN
  std::optional<std::string> max;
  std::optional<double> mean;  // of the finite elements
  std::uint64_t nan_count = 0;
  std::uint64_t infinity_count = 0;
};

/// Reads every element once.
Statistics statistics_of(const NpyFile& file);

/// Element `index` in file order, as text.
std::string element_text_at(const NpyFile& file, std::uint64_t index);

}  // namespace dmlop
