// Operands of reductions as values of one C++ type, a chunk at a time.
// Included once per instruction set.
#if defined(DMLOP_CPU_OPERANDS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_OPERANDS_INL
#undef DMLOP_CPU_OPERANDS_INL
#else
#define DMLOP_CPU_OPERANDS_INL
#endif

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "cpu/powers-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "ops/kernels/reduce.hpp"
#include "tensor/visit_type.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// Values that are worked on together: they stay in the nearest cache.
constexpr std::size_t chunk = 512;
/// Room behind a chunk, for a whole vector that begins in it.
constexpr std::size_t chunk_room = chunk + 64;

inline void floats_from_halves(const std::byte* from, std::size_t count, float* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint16_t, decltype(d)> bits;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(float_from_half(d, load(bits, from + 2 * i)), d, to + i);
  if (i < count)
    hn::StoreU(float_from_half(d, load_part(bits, from + 2 * i, count - i)), d, to + i);
}

/// Elements `stride` apart, side by side.
template <typename T>
void gather(const std::byte* from, std::uint64_t stride, std::size_t count, T* to) {
  if (stride == 1) {
    std::memcpy(to, from, count * sizeof(T));
  } else if (stride == 0) {
    T element;
    std::memcpy(&element, from, sizeof element);
    for (std::size_t i = 0; i < count; ++i) to[i] = element;
  } else {
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(&to[i], from + i * stride * sizeof(T), sizeof(T));
  }
}

template <typename Value, typename Element>
void load_chunk(const std::byte* from, std::uint64_t stride, std::size_t count, Value* to) {
  if constexpr (std::is_same_v<Value, Element>) {
    gather(from, stride, count, to);
  } else if constexpr (std::is_same_v<Element, Half>) {
    alignas(64) std::uint16_t halves[chunk];
    if (stride != 1) {
      gather(from, stride, count, halves);
      from = reinterpret_cast<const std::byte*>(halves);
    }
    floats_from_halves(from, count, to);
  } else {
    Element elements[chunk];
    gather(from, stride, count, elements);
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<Value>(elements[i]);
  }
}

/// Whether elements are read as values: numbers as float, integers without a loss.
template <typename Value, typename Element>
constexpr bool is_readable() {
  if constexpr (std::is_same_v<Value, float>)
    return true;
  else if constexpr (!std::is_integral_v<Element>)
    return false;
  else
    return sizeof(Element) <= sizeof(Value) && std::is_signed_v<Element> == std::is_signed_v<Value>;
}

template <typename Value>
class OperandReader {
 public:
  OperandReader(const ReduceOperand& operand, std::span<const std::byte> input)
      : is_position_(operand.is_position), bytes_(input.data()) {
    visit_type(operand.data_type, [&](auto element) {
      using Element = decltype(element);
      size_ = sizeof(Element);
      is_direct_ = std::is_same_v<Value, Element>;
      if constexpr (is_readable<Value, Element>()) load_ = load_chunk<Value, Element>;
    });
  }

  /// `count` values from an offset on, at most a chunk.
  const Value* read(std::uint64_t offset, std::uint64_t stride, std::size_t count) {
    if (is_position_) {
      for (std::size_t i = 0; i < count; ++i) values_[i] = static_cast<Value>(offset + i * stride);
      return values_;
    }
    const std::byte* from = bytes_ + offset * size_;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(from) % alignof(Value) == 0;
    if (stride == 1 && is_direct_ && is_aligned) return reinterpret_cast<const Value*>(from);
    if (stride == 0 && from == repeated_ && count <= repeats_) return values_;
    load_(from, stride, count, values_);
    repeated_ = stride == 0 ? from : nullptr;
    repeats_ = count;
    return values_;
  }

 private:
  bool is_position_;
  const std::byte* bytes_;
  std::size_t size_ = 1;
  bool is_direct_ = false;
  void (*load_)(const std::byte*, std::uint64_t, std::size_t, Value*) = nullptr;
  const std::byte* repeated_ = nullptr;  // what values_ hold again and again
  std::size_t repeats_ = 0;
  alignas(64) Value values_[chunk_room];
};

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
