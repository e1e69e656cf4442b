#include "base/per_process.hpp"

namespace dmlop {

unsigned forks() noexcept {
  return 0;  // Windows has none
}

int at_forks(void (*)(), void (*)(), void (*)()) {
  return 0;
}

}  // namespace dmlop
