// How much memory a system lets this program have on a device.
#pragma once

#include <cstdint>

namespace dmlop::gpu {

/// In bytes, as the system tells it; both are 0 where it does not.
struct MemoryBudget {
  std::uint64_t budget = 0;
  std::uint64_t used = 0;

  /// Whether so much more fits. Beyond the budget some systems swap the memory of a device to that
  /// of the host, and everything on it becomes slow without any error.
  constexpr bool has_room_for(std::uint64_t bytes) const {
    return budget == 0 || (used <= budget && bytes <= budget - used);
  }
};

}  // namespace dmlop::gpu
