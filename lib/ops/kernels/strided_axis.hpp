// An axis of an input.
#pragma once

#include <cstdint>

namespace dmlop {

/// An axis of an input that is read with strides.
struct StridedAxis {
  std::uint64_t extent = 1;
  std::uint64_t stride = 0;  // elements
  bool operator==(const StridedAxis&) const = default;
};

}  // namespace dmlop
