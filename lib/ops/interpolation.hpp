// The enumeration DML_INTERPOLATION_MODE.
#pragma once

#include <cstdint>

namespace dmlop {

inline constexpr std::int64_t nearest_neighbor = 0;

}  // namespace dmlop
