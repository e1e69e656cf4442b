#include "base/windows.hpp"
#include "layer/memory.hpp"

namespace dmlop::layer {

bool copy_memory(std::uint64_t address, std::span<std::byte> to) noexcept {
  if (to.empty()) return true;
  SIZE_T copied = 0;
  const BOOL is_copied = ReadProcessMemory(
      GetCurrentProcess(), reinterpret_cast<const void*>(address), to.data(), to.size(), &copied);
  return is_copied != 0 && copied == to.size();
}

}  // namespace dmlop::layer
