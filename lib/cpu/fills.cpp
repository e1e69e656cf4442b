// Kernels that make their elements up: sequences, bands of matrices and random bits.
#include <algorithm>
#include <array>
#include <type_traits>

#include "base/parallel.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/halves.hpp"
#include "cpu/kinds.hpp"
#include "cpu/walk.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::cpu {
namespace {

template <typename T>
void fill(std::byte* to, std::uint64_t count, T value) {
  for (std::uint64_t k = 0; k < count; ++k) store(to + k * sizeof(T), value);
}

/// Calls action(first element, count, where to) for stretches of the output.
template <typename Action>
void for_each_stretch(std::uint64_t begin, std::uint64_t end, std::uint64_t steps_each,
                      Output& output, Action&& action) {
  while (begin < end) {
    const std::uint64_t count = std::min(end - begin, output.room(steps_each));
    action(begin, count, output.take(count, steps_each));
    begin += count;
  }
}

// --- sequences

/// Elements [first, first + count) of a sequence of numbers, at most 256, in double. The first
/// index and a short one are added as doubles: short ones are converted in vectors.
void sequence_numbers(double start, double delta, std::uint64_t first, std::size_t count,
                      double* numbers) {
  const auto base = static_cast<double>(first);
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(count); ++i)
    numbers[i] = start + (base + i) * delta;
}

/// Elements [first, first + count) of a sequence.
template <typename T>
void write_sequence(const SequenceKernel& kernel, std::uint64_t first, std::uint64_t count,
                    std::byte* to) {
  if constexpr (std::is_integral_v<T>) {
    using Bits = std::make_unsigned_t<T>;
    const std::uint64_t start = load<Bits>(kernel.start.data());
    const std::uint64_t delta = load<Bits>(kernel.delta.data());
    for (std::uint64_t k = 0; k < count; ++k)
      store(to + k * sizeof(T), static_cast<Bits>(start + (first + k) * delta));
  } else {
    const double start = number_at<T>(kernel.start.data());
    const double delta = number_at<T>(kernel.delta.data());
    std::array<double, 256> numbers;
    for (std::uint64_t k = 0; k < count; k += numbers.size()) {
      const auto here =
          static_cast<std::size_t>(std::min<std::uint64_t>(numbers.size(), count - k));
      sequence_numbers(start, delta, first + k, here, numbers.data());
      std::byte* place = to + k * sizeof(T);
      if constexpr (std::is_same_v<T, Half>) {
        halves_of_doubles({numbers.data(), here}, place);
      } else {
        for (std::size_t i = 0; i < here; ++i)
          store(place + i * sizeof(T), static_cast<T>(numbers[i]));
      }
    }
  }
}

/// Elements that are all the first one.
template <typename T>
void write_constant(const SequenceKernel& kernel, std::uint64_t count, std::byte* to) {
  using Bits = std::conditional_t<std::is_same_v<T, Half>, std::uint16_t, T>;
  fill(to, count, load<Bits>(kernel.start.data()));
}

// --- bands

template <typename T>
class Band {
 public:
  Band(const BandKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        input_(kernel.has_input ? inputs.front().data() : nullptr),
        columns_(kernel.columns.extent),
        value_(load<T>(kernel.value.data())),
        lines_(kernel.lines) {}

  /// Columns [column, column + count) of a row of all.
  void line(std::uint64_t row, std::uint64_t column, std::uint64_t count, std::byte* to) const {
    const auto first = static_cast<std::int64_t>(row % kernel_.rows);
    const auto column_at = [&](std::int64_t diagonal) {
      return static_cast<std::uint64_t>(std::clamp(diagonal + first,
                                                   static_cast<std::int64_t>(column),
                                                   static_cast<std::int64_t>(column + count)));
    };
    const std::uint64_t low = column_at(kernel_.begin), high = column_at(kernel_.end);
    const std::uint64_t end = column + count;
    const auto put = [&](bool has_value, std::uint64_t from, std::uint64_t until) {
      std::byte* at = to + (from - column) * sizeof(T);
      if (has_value) return fill(at, until - from, value_);
      if (input_ == nullptr) return fill(at, until - from, T{0});
      const std::uint64_t stride = kernel_.columns.stride();
      const std::uint64_t input = lines_.offsets(row)[0] + from * stride;
      copy_strided<T>(at, input_ + input * sizeof(T), stride, until - from);
    };
    put(kernel_.is_inverted, column, low);
    put(!kernel_.is_inverted, low, std::max(low, high));
    put(kernel_.is_inverted, std::max(low, high), end);
  }

  void run(std::uint64_t begin, std::uint64_t end, Output& output) const {
    const bool is_far =
        input_ != nullptr && (kernel_.columns.stride() * sizeof(T) >= 4096 || columns_ < 64);
    for_each_stretch(begin, end, is_far ? far_steps : 4 + far_steps / columns_, output,
                     [&](std::uint64_t at, std::uint64_t count, std::byte* to) {
                       while (count > 0) {
                         const std::uint64_t column = at % columns_;
                         const std::uint64_t length = std::min(count, columns_ - column);
                         line(at / columns_, column, length, to);
                         at += length, count -= length, to += length * sizeof(T);
                       }
                     });
  }

 private:
  const BandKernel& kernel_;
  const std::byte* input_;  // null: zeros
  std::uint64_t columns_;
  T value_;
  Walk<1> lines_;
};

// --- random bits

using Words = std::array<std::uint32_t, 4>;

struct State {
  Words counter;
  std::array<std::uint32_t, 2> key;

  State(const RandomBitsKernel& kernel, Inputs inputs) {
    const auto at = [&](std::uint64_t i) {
      return load<std::uint32_t>(inputs.front().data() + i * kernel.state_stride * 4);
    };
    counter = {at(0), at(1), at(2), at(3)};
    key = {at(4), at(5)};
  }
};

Words advanced(Words counter, std::uint64_t blocks) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < counter.size(); ++i) {
    const std::uint64_t part = i < 2 ? blocks >> (32 * i) & 0xffffffff : 0;
    const std::uint64_t sum = counter[i] + part + carry;
    counter[i] = static_cast<std::uint32_t>(sum);
    carry = sum >> 32;
  }
  return counter;
}

/// Philox 4x32 with 10 rounds: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3".
Words philox(Words words, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * words[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * words[2];
    words = {static_cast<std::uint32_t>(b >> 32) ^ words[1] ^ key[0], static_cast<std::uint32_t>(b),
             static_cast<std::uint32_t>(a >> 32) ^ words[3] ^ key[1],
             static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return words;
}

void random_stretch(const State& state, std::uint64_t begin, std::uint64_t count, std::byte* to) {
  for (std::uint64_t end = begin + count; begin < end;) {
    const Words words = philox(advanced(state.counter, begin / 4), state.key);
    const std::uint64_t word = begin % 4, used = std::min(4 - word, end - begin);
    std::memcpy(to, &words[word], used * 4);
    begin += used, to += used * 4;
  }
}

void next_state(const State& state, std::uint64_t blocks, std::uint64_t begin, std::uint64_t count,
                std::byte* to) {
  const Words counter = advanced(state.counter, blocks);
  const std::array<std::uint32_t, RandomBitsKernel::state_elements> next{
      counter[0], counter[1], counter[2], counter[3], state.key[0], state.key[1]};
  std::memcpy(to, &next[begin], count * 4);
}

}  // namespace

PartShape part_shape(const SequenceKernel&, std::uint64_t) {
  return {};
}

void run_part(const SequenceKernel& kernel, Inputs, const Part& part, Stores stores,
              Destinations outputs) {
  const bool is_constant = kernel.delta == std::array<std::byte, 8>{};
  const auto write = [&](std::uint64_t at, std::uint64_t count, std::byte* to) {
    visit_type(kernel.data_type, [&](auto element) {
      using T = decltype(element);
      if (is_constant) return write_constant<T>(kernel, count, to);
      write_sequence<T>(kernel, at, count, to);
    });
  };
  run_stretch(stores, part, size_of(kernel.data_type), outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                for_each_stretch(begin, end, 2, output, write);
              });
}

PartShape part_shape(const BandKernel&, std::uint64_t) {
  return {};
}

void run_part(const BandKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  run_stretch(stores, part, kernel.element_size, outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                with_bits(kernel.element_size, [&](auto element) {
                  Band<decltype(element)>(kernel, inputs).run(begin, end, output);
                });
              });
}

PartShape part_shape(const RandomBitsKernel&, std::uint64_t) {
  return {};
}

void run_part(const RandomBitsKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  const State state(kernel, inputs);
  run_stretch(stores, part, sizeof(std::uint32_t), outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                for_each_stretch(begin, end, 8, output,
                                 [&](std::uint64_t at, std::uint64_t count, std::byte* to) {
                                   if (kernel.is_next_state) {
                                     next_state(state, (kernel.elements + 3) / 4, at, count, to);
                                   } else {
                                     random_stretch(state, at, count, to);
                                   }
                                 });
              });
}

}  // namespace dmlop::cpu
