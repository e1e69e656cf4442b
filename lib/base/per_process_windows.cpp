#include "base/per_process.hpp"

namespace dmlop {

unsigned forks() noexcept {
  return 0;  // Windows has none
}

}  // namespace dmlop
