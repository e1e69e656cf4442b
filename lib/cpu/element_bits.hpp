// Elements as bits: read, written and moved by size, at any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dmlop::cpu {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

/// Calls action with an unsigned integer of 1, 2, 4 or 8 bytes.
template <typename Action>
auto with_bits(std::size_t element_size, Action&& action) {
  switch (element_size) {
    case 1:
      return action(std::uint8_t{});
    case 2:
      return action(std::uint16_t{});
    case 4:
      return action(std::uint32_t{});
    default:
      return action(std::uint64_t{});
  }
}

/// to[k] = from[k * step] for k in [0, count).
template <typename T>
void copy_strided(std::byte* to, const std::byte* from, std::uint64_t step, std::uint64_t count) {
  if (step == 1) {
    std::memcpy(to, from, count * sizeof(T));
    return;
  }
  for (std::uint64_t k = 0; k < count; ++k)
    store(to + k * sizeof(T), load<T>(from + k * step * sizeof(T)));
}

}  // namespace dmlop::cpu
