// Random choices: the same everywhere for the same seed, or read from the bytes of a fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace dmlop::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Choices come from the bytes as long as there are any, so that a small change of them is a
  /// small change of what is chosen; after them from an engine that they seed.
  explicit Random(std::span<const std::byte> choices) : engine_(hash(choices)), choices_(choices) {}

  /// From 0 to n - 1.
  std::uint64_t below(std::uint64_t n) { return (choices_.empty() ? engine_() : chosen(n)) % n; }
  std::uint64_t from_to(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <typename T>
  const T& one_of(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  /// Random bytes, never those of a fuzzer: a tensor's contents would use them all up.
  void fill(std::span<std::byte> bytes) {
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(engine_() % 256);
  }

 private:
  // FNV-1a.
  static std::uint64_t hash(std::span<const std::byte> bytes) {
    std::uint64_t value = 0xCBF29CE484222325;
    for (const std::byte byte : bytes)
      value = (value ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3;
    return value;
  }

  // As many bytes as numbers below n need.
  std::uint64_t chosen(std::uint64_t n) {
    std::uint64_t value = 0;
    for (std::uint64_t most = n - 1;; most >>= 8) {
      if (!choices_.empty()) {
        value = value << 8 | std::to_integer<std::uint64_t>(choices_.front());
        choices_ = choices_.subspan(1);
      }
      if (most < 256) return value;
    }
  }

  std::mt19937_64 engine_;
  std::span<const std::byte> choices_;
};

}  // namespace dmlop::test
