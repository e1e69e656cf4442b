#include "base/mappings.hpp"

#include <array>

namespace dmlop {
namespace {

constexpr std::uintptr_t reserved_entry = 1;
// If a program maps more files than this at a time, it reads the others.
constinit std::array<Mapping, 4096> mappings;

}  // namespace

Mapping* reserve_mapping() {
  for (Mapping& mapping : mappings) {
    std::uintptr_t free = 0;
    if (mapping.begin.load(std::memory_order_relaxed) == 0 &&
        mapping.begin.compare_exchange_strong(free, reserved_entry))
      return &mapping;
  }
  return nullptr;
}

void fill_mapping(Mapping& mapping, const void* address, std::uint64_t bytes) {
  mapping.has_lost_bytes = false;
  mapping.has_zeros = false;
  mapping.end = reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(bytes);
  mapping.begin = reinterpret_cast<std::uintptr_t>(address);
}

Mapping* mapping_at(const std::byte* address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (Mapping& mapping : mappings) {
    if (mapping.begin.load(std::memory_order_acquire) == begin) return &mapping;
  }
  return nullptr;
}

// Other entries may change meanwhile, which the second look at `begin` reveals.
Mapping* mapping_around(std::uintptr_t address) {
  for (Mapping& mapping : mappings) {
    const std::uintptr_t begin = mapping.begin.load();
    const std::uintptr_t end = mapping.end.load();
    if (begin > reserved_entry && begin <= address && address < end &&
        mapping.begin.load() == begin)
      return &mapping;
  }
  return nullptr;
}

}  // namespace dmlop
