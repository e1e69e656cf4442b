// The numbers of kernels, whose arithmetic has 32 bits.
#pragma once

#include <cstdint>

namespace dmlop::gpu {

using Word = std::uint32_t;

/// The low 32 bits: numbers that may be negative wrap, as in the kernels.
inline Word word(std::uint64_t value) {
  return static_cast<Word>(value);
}
inline Word word(std::int64_t value) {
  return static_cast<Word>(value);
}

inline std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

}  // namespace dmlop::gpu
