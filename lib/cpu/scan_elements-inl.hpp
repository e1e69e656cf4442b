// The elements of scans as numbers: how they are loaded, combined and stored, whichever way their
// sequences lie. Included once per instruction set.
#if defined(DMLOP_CPU_SCAN_ELEMENTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_SCAN_ELEMENTS_INL
#undef DMLOP_CPU_SCAN_ELEMENTS_INL
#else
#define DMLOP_CPU_SCAN_ELEMENTS_INL
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/parallel.hpp"
#include "cpu/kinds.hpp"
#include "cpu/numbers-inl.hpp"
#include "cpu/scan_blocks.hpp"
#include "cpu/scan_totals-inl.hpp"
#include "cpu/walk.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// What scans have in common. Value is what totals are kept as: double, or an integer that wraps as
/// the elements do.
template <typename Value, bool is_product>
class ScanElements {
 protected:
  static constexpr bool has_powers = is_product && std::is_floating_point_v<Value>;
  // Elements that are computed together.
  static constexpr std::size_t chunk = 256;
  // What needs no conversion but between floats and doubles.
  using Element = std::conditional_t<std::is_floating_point_v<Value>, float, Value>;

  ScanElements(const ScanKernel& kernel, Inputs inputs, Stores stores)
      : kernel_(kernel),
        size_(size_of(kernel.data_type)),
        is_direct_(std::is_floating_point_v<Value> ? kernel.data_type == DataType::Float32
                                                   : size_ == sizeof(Element)),
        stores_(stores),
        extent_(kernel.axes.along.extent),
        stride_(kernel.axes.along.stride()),
        input_(inputs.front().data()),
        outer_(kernel.axes.outer) {}

  /// The first element of an outer index.
  const std::byte* first_of(std::uint64_t outer) const {
    return input_ + outer_.offsets(outer)[0] * size_;
  }

  static HWY_INLINE Value combined(Value total, Value number) {
    if constexpr (is_product) return total * number;
    return total + number;
  }
  static HWY_INLINE Value result_of(Value total, [[maybe_unused]] double power) {
    if constexpr (has_powers) return product_of(total, power);
    return total;
  }

  void load_numbers(const std::byte* from, std::uint64_t stride, std::size_t count, Value* to) {
    const bool is_far = stride * size_ >= 4096;
    steps_.add(count * (is_far ? far_steps : 4));
    HWY_NAMESPACE::load(kernel_.data_type, from, stride, count, to);
  }
  void store_numbers(const Value* from, std::size_t count, std::byte* to) const {
    constexpr StoreMode mode =
        std::is_floating_point_v<Value> ? StoreMode::truncates : StoreMode::wraps;
    store<mode, Value>(kernel_.data_type, from, count, to);
  }

  static Value value_of(const ScanStart& start) {
    if constexpr (std::is_floating_point_v<Value>) return start.number;
    return static_cast<Value>(start.integer);
  }
  static ScanStart start_of(Value total, std::int64_t exponent) {
    if constexpr (std::is_floating_point_v<Value>)
      return {.number = total, .exponent = exponent};
    else
      return {.integer = total};
  }

  const ScanKernel& kernel_;
  std::size_t size_;  // of an element
  bool is_direct_;    // elements are of type Element
  Stores stores_;
  std::uint64_t extent_, stride_;  // of sequences
  Steps steps_;

 private:
  const std::byte* input_;
  Walk<1> outer_;
};

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
