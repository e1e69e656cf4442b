// The files that are mapped, as a handler of failed reads finds them: without locks and without
// memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dmlop {

/// A mapped file. `begin` is 0 if the entry is free, and 1 while it is being filled in.
struct Mapping {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> has_lost_bytes{false};
  std::atomic<bool> has_zeros{false};  // in place of all that it had
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);

/// A free entry, for nobody else; null if there are too many. fill_mapping() puts it to use, and
/// free_mapping() gives it back.
Mapping* reserve_mapping();
void fill_mapping(Mapping& mapping, const void* address, std::uint64_t bytes);
inline void free_mapping(Mapping& mapping) {
  mapping.begin = 0;
}

/// The mapping that begins at an address; null if none does.
Mapping* mapping_at(const std::byte* address);

/// The mapping that contains an address; null if none does. It does not change while the address is
/// in use. Safe to call in a handler.
Mapping* mapping_around(std::uintptr_t address);

}  // namespace dmlop
