// Keys that sort as elements are to stand, each with its index behind it, so that equal elements
// keep their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/parallel.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::cpu {

/// A key with its index behind it.
template <typename Bits>
class Entry {
 public:
  Entry() = default;
  Entry(Bits key, std::uint64_t index)
      : bits_(std::uint64_t{key} << 32 | static_cast<std::uint32_t>(index)) {}
  Bits key() const { return static_cast<Bits>(bits_ >> 32); }
  std::uint64_t index() const { return static_cast<std::uint32_t>(bits_); }
  bool operator<(const Entry& other) const { return bits_ < other.bits_; }

 private:
  std::uint64_t bits_ = 0;
};
template <>
class Entry<std::uint64_t> {
 public:
  Entry() = default;
  Entry(std::uint64_t key, std::uint64_t index)
      : key_(key), index_(static_cast<std::uint32_t>(index)) {}
  std::uint64_t key() const { return key_; }
  std::uint64_t index() const { return index_; }
  bool operator<(const Entry& other) const {
    return key_ != other.key_ ? key_ < other.key_ : index_ < other.index_;
  }

 private:
  std::uint64_t key_ = 0;
  std::uint32_t index_ = 0;
};

/// The bits of an element as a number that sorts as the elements do.
template <typename Bits, NumberKind kind>
class KeyMaker {
 public:
  KeyMaker(DataType type, bool is_descending)
      : infinity_(kind == NumberKind::floating ? static_cast<Bits>(infinity_bits(type)) : Bits{0}),
        flip_(is_descending ? all : Bits{0}) {}

  Bits operator()(Bits element) const { return ascending_key(element) ^ flip_; }

 private:
  static constexpr Bits all = static_cast<Bits>(~Bits{0});
  static constexpr Bits sign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));

  Bits ascending_key(Bits element) const {
    if constexpr (kind == NumberKind::unsigned_integer) return element;
    if constexpr (kind == NumberKind::signed_integer) return element ^ sign;
    const auto magnitude = static_cast<Bits>(element & (sign - 1));
    const Bits positive = magnitude | sign;
    const auto negative = static_cast<Bits>(~element);
    const Bits key = (element & sign) != 0 && magnitude != 0 ? negative : positive;
    return magnitude > infinity_ ? all : key;  // NaN
  }

  Bits infinity_;
  Bits flip_;
};

/// Sorts entries that are in the order of their indices, eight bits of the keys after the other.
/// `to` has room for as many. Returns where they are at last.
template <typename Bits>
const Entry<Bits>* sort_by_digits(Entry<Bits>* from, Entry<Bits>* to, std::uint64_t count) {
  for (std::size_t shift = 0; shift < sizeof(Bits) * 8; shift += 8) {
    const auto digit = [&](const Entry<Bits>& entry) {
      return std::uint64_t{entry.key()} >> shift & 0xff;
    };
    std::array<std::uint64_t, 257> begins{};
    in_pieces(count, 1, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i) ++begins[digit(from[i]) + 1];
    });
    if (std::find(begins.begin(), begins.end(), count) != begins.end()) continue;  // all alike
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    in_pieces(count, 4, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i) to[begins[digit(from[i])]++] = from[i];
    });
    std::swap(from, to);
  }
  return from;
}

/// The elements of a sequence as keys, a chunk at a time.
template <typename Bits>
class KeyReader {
 public:
  static constexpr std::uint64_t keys_at_once = 64;

  /// `stride` elements apart.
  KeyReader(DataType type, bool is_descending, std::uint64_t stride)
      : type_(type), is_descending_(is_descending), step_(stride * sizeof(Bits)) {
    const NumberKind kind = info(type).kind;
    if (kind == NumberKind::unsigned_integer) make_ = make_keys<NumberKind::unsigned_integer>;
    if (kind == NumberKind::signed_integer) make_ = make_keys<NumberKind::signed_integer>;
    if constexpr (sizeof(Bits) > 1) {
      if (kind == NumberKind::floating) make_ = make_keys<NumberKind::floating>;
    }
  }

  /// Of `count` elements, at most keys_at_once.
  void read(const std::byte* from, std::uint64_t count, Bits* to) const {
    make_(from, count, step_, type_, is_descending_, to);
  }
  Bits key(const std::byte* from, std::uint64_t index) const {
    Bits key;
    read(at(from, index), 1, &key);
    return key;
  }
  const std::byte* at(const std::byte* from, std::uint64_t index) const {
    return from + index * step_;
  }

 private:
  template <NumberKind kind>
  static void make_keys(const std::byte* from, std::uint64_t count, std::uint64_t step,
                        DataType type, bool is_descending, Bits* to) {
    const KeyMaker<Bits, kind> key_of(type, is_descending);
    const auto make = [&](std::uint64_t number, std::uint64_t apart) {
      for (std::uint64_t i = 0; i < number; ++i) {
        Bits element;
        std::memcpy(&element, from + i * apart, sizeof element);
        to[i] = key_of(element);
      }
    };
    // The usual case is a loop of its own, which the compiler turns into vectors.
    if (step == sizeof(Bits) && count == keys_at_once) return make(keys_at_once, sizeof(Bits));
    make(count, step);
  }

  DataType type_;
  bool is_descending_;
  std::uint64_t step_;
  void (*make_)(const std::byte*, std::uint64_t, std::uint64_t, DataType, bool, Bits*) = nullptr;
};

}  // namespace dmlop::cpu
