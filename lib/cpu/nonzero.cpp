// Elements that are not zero, on the CPU: their numbers by block, and their coordinates. A row of
// coordinates is found without those before it: its block by the sums of the numbers, and within
// the block by counting.
#include <algorithm>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/kinds.hpp"
#include "cpu/walk.hpp"

namespace dmlop::cpu {
namespace {

/// The bits that make an element more than zero: all but the sign of a floating-point one.
std::uint64_t mask_of(DataType type) {
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * size_of(type));
  return is_floating(type) ? all >> 1 : all;
}

template <typename T>
class Nonzero {
 public:
  Nonzero(const NonzeroCountKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        input_(inputs.front().data()),
        elements_(elements_of(kernel.axes)),
        walk_(kernel.axes),
        mask_(static_cast<T>(mask_of(kernel.data_type))) {}

  std::uint64_t count(std::uint64_t block) {
    const std::uint64_t first = block * kernel_.block;
    const std::uint64_t end = first + std::min(elements_ - first, kernel_.block);
    std::uint64_t sum = 0;
    for (std::uint64_t begin = first; begin < end;) {
      const std::uint64_t piece = begin + std::min<std::uint64_t>(end - begin, counted_at_once);
      walk_.run(begin, piece, [&](const Walk<1>::Offsets& from, std::uint64_t length) {
        add_steps(length);
        sum += count(input_ + from[0] * sizeof(T), length);
      });
      begin = piece;
    }
    return sum;
  }

  /// Calls action(index) for the elements that are not zero from the block on, but for the first
  /// `skipped`, in their order, until it returns false.
  template <typename Action>
  void for_each(std::uint64_t block, std::uint64_t skipped, Action&& action) {
    for (std::uint64_t begin = block * kernel_.block; begin < elements_;) {
      const std::uint64_t end = begin + std::min<std::uint64_t>(elements_ - begin, at_once);
      bool goes_on = true;
      std::uint64_t index = begin;
      walk_.run(begin, end, [&](const Walk<1>::Offsets& from, std::uint64_t length) {
        if (!goes_on) return;
        add_steps(length);
        const std::byte* at = input_ + from[0] * sizeof(T);
        for (std::uint64_t k = 0; k < length && goes_on; ++k) {
          if (!is_nonzero(at, k)) continue;
          if (skipped > 0) {
            --skipped;
          } else {
            goes_on = action(index + k);
          }
        }
        index += length;
      });
      if (!goes_on) return;
      begin = end;
    }
  }

 private:
  static constexpr Threshold at_once{4096, 5};
  static constexpr Threshold counted_at_once{std::uint64_t{1} << 18, 7};

  std::uint64_t count(const std::byte* at, std::uint64_t length) const {
    std::uint64_t sum = 0;
    if (step() == 1) {  // so that the compiler vectorizes it
      for (std::uint64_t k = 0; k < length; ++k)
        sum += (load<T>(at + k * sizeof(T)) & mask_) != 0 ? 1 : 0;
    } else {
      for (std::uint64_t k = 0; k < length; ++k) sum += is_nonzero(at, k) ? 1 : 0;
    }
    return sum;
  }

  std::uint64_t step() const { return walk_.steps()[0]; }
  bool is_nonzero(const std::byte* at, std::uint64_t k) const {
    return (load<T>(at + k * step() * sizeof(T)) & mask_) != 0;
  }
  void add_steps(std::uint64_t length) {
    const bool is_far = length == 1 || step() * sizeof(T) >= 4096;
    steps_.add(is_far ? length * 256 : length);
  }

  const NonzeroCountKernel& kernel_;
  const std::byte* input_;
  std::uint64_t elements_;
  Walk<1> walk_;
  T mask_;
  Steps steps_;
};

/// Rows [begin, end) of coordinates.
template <typename T>
void find_rows(const NonzeroKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
               std::byte* to) {
  const std::size_t coordinates = kernel.extents.size();
  const std::uint64_t blocks = kernel.count.output_elements();
  const auto sum_at = [&](std::uint64_t i) {
    return load<std::uint64_t>(inputs[1].data() + i * sizeof(std::uint64_t));
  };
  std::uint64_t block = 0;  // the first with a sum beyond `begin`
  for (std::uint64_t count = blocks; count > 0;) {
    const std::uint64_t half = count / 2;
    if (sum_at(block + half) <= begin) {
      block += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  const std::uint64_t before = block == 0 ? 0 : sum_at(block - 1);
  std::uint64_t row = begin;
  Nonzero<T>(kernel.count, inputs)
      .for_each(block, begin - std::min(begin, before), [&](std::uint64_t index) {
        for (std::size_t i = coordinates; i-- > 0;) {
          const std::uint64_t extent = kernel.extents[i];
          store(to + i * sizeof(std::uint32_t), static_cast<std::uint32_t>(index % extent));
          index /= extent;
        }
        to += coordinates * sizeof(std::uint32_t);
        return ++row < end;
      });
  std::fill_n(to, (end - row) * coordinates * sizeof(std::uint32_t), std::byte{0});
}

}  // namespace

// A block of the input is much, however small its number is.
PartShape part_shape(const NonzeroCountKernel& kernel, std::uint64_t bytes) {
  const std::uint64_t block_bytes = kernel.block * size_of(kernel.data_type);
  const std::uint64_t length = std::max<std::uint64_t>(1, bytes / block_bytes);
  return {.blocks = Blocks{1, kernel.output_elements(), length}};
}

void run_part(const NonzeroCountKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  with_bits(size_of(kernel.data_type), [&](auto element) {
    Nonzero<decltype(element)> nonzero(kernel, inputs);
    for (std::uint64_t i = 0; i < part.length; ++i)
      store(outputs.front().to + i * sizeof(std::uint64_t), nonzero.count(part.begin + i));
  });
}

PartShape part_shape(const NonzeroKernel& kernel, std::uint64_t) {
  return {.granule = kernel.extents.size()};
}

void run_part(const NonzeroKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  const std::size_t coordinates = kernel.extents.size();
  with_bits(size_of(kernel.count.data_type), [&](auto element) {
    find_rows<decltype(element)>(kernel, inputs, part.begin / coordinates,
                                 (part.begin + part.length) / coordinates, outputs.front().to);
  });
}

}  // namespace dmlop::cpu
