#include "layer/memory.hpp"

#ifdef __linux__
#include <sys/uio.h>
#include <unistd.h>
#endif

namespace dmlop::layer {

bool copy_memory([[maybe_unused]] std::uint64_t address, std::span<std::byte> to) noexcept {
  if (to.empty()) return true;
#ifdef __linux__
  const iovec local{to.data(), to.size()};
  const iovec remote{reinterpret_cast<void*>(address), to.size()};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  return copied >= 0 && static_cast<std::size_t>(copied) == to.size();
#else
  return false;  // applications of DirectML run on Windows, and tests of this on Linux, too
#endif
}

}  // namespace dmlop::layer
