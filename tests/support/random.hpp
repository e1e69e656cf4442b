// Random choices that are the same everywhere for the same seed, or that are read from a fuzzer's
// bytes.
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
  /// Choices are read from the bytes while there are any, so that a small change of the bytes is a
  /// small change of the choices. After that they come from an engine that the bytes seed.
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
  /// Random bytes that are never read from a fuzzer, because a tensor's contents would use up all
  /// of its bytes.
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

  // Uses as many bytes as numbers below n need.
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
