// How element-wise kernels go through tensors: the output in stretches, and each input in the
// pieces that lie under one. Included once per instruction set.
#if defined(DMLOP_CPU_STRETCHES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_STRETCHES_INL
#undef DMLOP_CPU_STRETCHES_INL
#else
#define DMLOP_CPU_STRETCHES_INL
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/parallel.hpp"
#include "cpu/expressions-inl.hpp"
#include "cpu/kinds.hpp"
#include "cpu/numbers-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// Goes through the output in stretches, and through the pieces of an input that lie under one.
class Stretches {
 public:
  Stretches(const ElementWiseKernel& kernel, Inputs inputs)
      : kernel_(kernel), row_(kernel.extents.back()) {
    std::size_t buffer = 0;
    for (const ElementWiseInput& input : kernel.inputs) {
      buffers_[static_cast<std::size_t>(&input - kernel.inputs.data())] =
          input.constant ? nullptr : inputs[buffer++].data();
      const std::uint64_t bytes = input.strides.back() * size_of(input.type);
      steps_each_ += bytes >= 4096 ? far_steps : 8;
    }
  }

  /// Calls action(begin, count, to) for one stretch after the other; with `within_rows`, each is of
  /// one row.
  template <typename Action>
  void run(std::uint64_t begin, std::uint64_t end, bool within_rows, Output& output,
           Action&& action) const {
    while (begin < end) {
      const std::uint64_t most = std::min<std::uint64_t>(stretch, output.room(steps_each_));
      const std::uint64_t last = within_rows ? std::min(end, (begin / row_ + 1) * row_) : end;
      const std::uint64_t count = std::min(last - begin, most);
      action(begin, static_cast<std::size_t>(count), output.take(count, steps_each_));
      begin += count;
    }
  }

  /// Whether the elements of an input lie in one piece.
  bool is_one_piece(std::uint64_t begin, std::size_t count) const {
    return begin % row_ + count <= row_;
  }
  std::uint64_t row_of(std::uint64_t index) const { return index / row_; }

  /// Calls action(from, first, count) for the elements `first` to `first + count` of a stretch, a
  /// stride apart in input k.
  template <typename Action>
  void for_each_piece(std::size_t k, std::uint64_t begin, std::size_t count,
                      Action&& action) const {
    for (std::size_t first = 0; first < count;) {
      const std::uint64_t left = row_ - (begin + first) % row_;
      const std::size_t part =
          static_cast<std::size_t>(std::min<std::uint64_t>(left, count - first));
      action(source(k, begin + first), first, part);
      first += part;
    }
  }

  const std::byte* source(std::size_t k, std::uint64_t index) const {
    const ElementWiseInput& input = kernel_.inputs[k];
    std::uint64_t offset = 0;
    for (std::size_t i = kernel_.extents.size(); i-- > 0; index /= kernel_.extents[i])
      offset += index % kernel_.extents[i] * input.strides[i];
    return buffers_[k] + offset * size_of(input.type);
  }

 private:
  const ElementWiseKernel& kernel_;
  std::array<const std::byte*, inputs_most> buffers_{};
  std::uint64_t row_;
  std::uint64_t steps_each_ = 0;
};

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
