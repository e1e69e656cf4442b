// The fills and RANDOM_GENERATOR by their definitions.
#pragma once

#include <array>

#include "reference/number.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test {

/// The value where begin <= column - row < end or, where the end comes before, everywhere but where
/// end <= column - row < begin. The rest is the input, or zeros.
inline Tensor banded(const Tensor& input, const std::byte* value, std::int64_t begin,
                     std::int64_t end) {
  Tensor output = Tensor::packed(input.type, input.sizes);
  for_each_index(input.sizes, [&](const Index& index) {
    const auto row = static_cast<std::int64_t>(index[index.size() - 2]);
    const auto diagonal = static_cast<std::int64_t>(index.back()) - row;
    const bool has_value =
        begin <= end ? begin <= diagonal && diagonal < end : diagonal < end || begin <= diagonal;
    std::memcpy(output.at(index), has_value ? value : input.at(index), output.element_size());
  });
  return output;
}

/// A number of 64 bits as two halves' schoolbook product: the high and the low 32 bits.
inline std::array<std::uint32_t, 2> product_halves(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t a0 = a & 0xffff, a1 = a >> 16, b0 = b & 0xffff, b1 = b >> 16;
  const std::uint32_t low = a0 * b0, middle = a1 * b0 + (low >> 16);
  const std::uint32_t other = a0 * b1 + (middle & 0xffff);
  return {a1 * b1 + (middle >> 16) + (other >> 16), other << 16 | (low & 0xffff)};
}

/// The block of a counter, as the paper's Philox 4x32 with 10 rounds gives it.
inline std::array<std::uint32_t, 4> random_block(std::array<std::uint32_t, 4> x, std::uint32_t k0,
                                                 std::uint32_t k1) {
  for (int round = 1; round <= 10; ++round) {
    const auto [high0, low0] = product_halves(x[0], 0xD2511F53);
    const auto [high1, low1] = product_halves(x[2], 0xCD9E8D57);
    x = {high1 ^ x[1] ^ k0, low1, high0 ^ x[3] ^ k1, low0};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

struct RandomBits {
  std::vector<std::uint32_t> bits;
  std::array<std::uint32_t, 6> state;  // after them

  static RandomBits of(std::array<std::uint32_t, 6> state, std::uint64_t count) {
    RandomBits result{{}, state};
    for (auto& now = result.state; result.bits.size() < count;) {
      const auto block = random_block({now[0], now[1], now[2], now[3]}, now[4], now[5]);
      for (const std::uint32_t word : block) {
        if (result.bits.size() < count) result.bits.push_back(word);
      }
      for (std::size_t i = 0; i < 4 && ++now[i] == 0; ++i) {
      }
    }
    return result;
  }
};

}  // namespace dmlop::test
