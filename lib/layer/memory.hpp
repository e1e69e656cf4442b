// Reads memory that may not be there: what the pointers of an application point to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dmlop::layer {

/// Copies `to.size()` bytes from an address of this process. Returns false, and does not fault, if
/// one of them cannot be read.
bool copy_memory(std::uint64_t address, std::span<std::byte> to) noexcept;

}  // namespace dmlop::layer
