// The numbers of kernels, whose arithmetic has 32 bits.
#pragma once

#include <cstdint>

#include "base/divide.hpp"

namespace dmlop::gpu {

using Word = std::uint32_t;

/// The low 32 bits: numbers that may be negative wrap, as in the kernels.
inline Word word(std::uint64_t value) {
  return static_cast<Word>(value);
}
inline Word word(std::int64_t value) {
  return static_cast<Word>(value);
}

}  // namespace dmlop::gpu
