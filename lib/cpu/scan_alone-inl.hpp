// Scans of sequences that stand alone: a few at a time, because each addition waits for the one
// before. Included once per instruction set.
#if defined(DMLOP_CPU_SCAN_ALONE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_SCAN_ALONE_INL
#undef DMLOP_CPU_SCAN_ALONE_INL
#else
#define DMLOP_CPU_SCAN_ALONE_INL
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/elements.hpp"
#include "cpu/scan_elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

template <typename Value, bool is_product>
class AloneScan : ScanElements<Value, is_product> {
  using Base = ScanElements<Value, is_product>;
  using Base::chunk;
  using Base::combined;
  using Base::extent_;
  using Base::first_of;
  using Base::has_powers;
  using Base::is_direct_;
  using Base::kernel_;
  using Base::load_numbers;
  using Base::result_of;
  using Base::size_;
  using Base::start_of;
  using Base::steps_;
  using Base::store_numbers;
  using Base::stores_;
  using Base::stride_;
  using Base::value_of;
  // Sequences, or blocks of one, that are computed together.
  static constexpr std::size_t together = scans_together;

 public:
  AloneScan(const ScanKernel& kernel, Inputs inputs, Stores stores)
      : Base(kernel, inputs, stores), numbers_(together * chunk) {}

  /// What block `block` of a sequence comes to.
  HWY_NOINLINE ScanStart add_up(std::uint64_t sequence, const ScanBlocks& blocks,
                                std::uint64_t block) {
    const std::uint64_t first = block * blocks.length;
    const std::uint64_t last = std::min(extent_, first + blocks.length);
    return add_up(first_of(sequence), first, last);
  }

  /// Blocks [first, first + count) of a sequence; `starts` is that of its first
  /// block.
  HWY_NOINLINE void run_blocks(std::uint64_t sequence, const ScanBlocks& blocks,
                               std::uint64_t first, std::uint64_t count, const ScanStart* starts,
                               std::byte* to) {
    const std::byte* from = first_of(sequence);
    const std::uint64_t pitch = blocks.length * size_;
    for (std::uint64_t b = first; b < first + count;) {
      const std::uint64_t left = extent_ - b * blocks.length;
      const std::uint64_t whole = std::min(first + count - b, left / blocks.length);
      const auto rows = static_cast<std::size_t>(std::clamp<std::uint64_t>(whole, 1, together));
      Group group{.rows = rows, .takes_vectors = rows == together && can_take_vectors()};
      group.running = running();
      for (std::size_t r = 0; r < rows; ++r) {
        const ScanStart& start = starts[b + r];
        group.inputs[r] = from + (b + r) * blocks.length * stride_ * size_;
        group.running.totals[r] = value_of(start);
        group.running.exponents[r] = start.exponent;
        group.running.powers[r] = power_of(start.exponent);
      }
      run_group(group, std::min(left, blocks.length), to, pitch);
      b += rows, to += rows * pitch;
    }
  }

  /// Whole sequences: `count` from `first` on, one behind the other.
  void run(std::uint64_t first, std::uint64_t count, std::byte* to) {
    const std::uint64_t pitch = extent_ * size_;
    const bool are_short = together * pitch <= OutputBytes::stretch && extent_ <= chunk;
    OutputBytes output(to, stores_);
    for (std::uint64_t k = 0; k < count; k += together) {
      const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(together, count - k));
      if (are_short) {
        run_short(first + k, rows, output.take(rows * pitch), pitch);
      } else {
        run_together(first + k, rows, to + k * pitch, pitch);
      }
    }
    if (are_short) output.finish();
  }

 private:
  static Running<Value> running() {
    Running<Value> all;
    all.totals.fill(Value{is_product});
    all.exponents.fill(0);
    all.powers.fill(1);
    return all;
  }
  // What elements [first, last) of a sequence come to, in lanes that do not wait for each other.
  ScanStart add_up(const std::byte* from, std::uint64_t first, std::uint64_t last) {
    Running<Value> lanes = running();
    for (std::uint64_t i = first; i < last; i += chunk) {
      const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, last - i));
      load_numbers(from + i * stride_ * size_, stride_, count, numbers_.data());
      std::fill(numbers_.begin() + static_cast<std::ptrdiff_t>(count), numbers_.begin() + chunk,
                Value{is_product});
      for (std::size_t k = 0; k < chunk; k += settled_for * together) {
        Value* HWY_RESTRICT totals = lanes.totals.data();
        for (std::size_t j = k; j < k + settled_for * together; j += together) {
          for (std::size_t r = 0; r < together; ++r)
            totals[r] = combined(totals[r], numbers_[j + r]);
        }
        if constexpr (has_powers) settle_all(lanes);
      }
    }
    ScanStart all = start_of(lanes.totals[0], lanes.exponents[0]);
    for (std::size_t r = 1; r < together; ++r)
      all = joined(kernel_, all, start_of(lanes.totals[r], lanes.exponents[r]));
    return all;
  }

  /// Where sequences that are computed together lie, and what they have come to.
  struct Group {
    std::size_t rows;
    bool takes_vectors;
    std::array<const std::byte*, together> inputs;
    Running<Value> running;
  };

  Group group_of(std::uint64_t first, std::size_t rows) const {
    Group group{.rows = rows, .takes_vectors = rows == together && can_take_vectors()};
    for (std::size_t r = 0; r < rows; ++r) group.inputs[r] = first_of(first + r);
    group.running = running();
    return group;
  }

  // Whole sequences, whose outputs are taken together.
  void run_short(std::uint64_t first, std::size_t rows, std::byte* to, std::uint64_t pitch) {
    Group group = group_of(first, rows);
    const auto count = static_cast<std::size_t>(extent_);
    compute_chunk(group, 0, count);
    for (std::size_t r = 0; r < rows; ++r) store_chunk(group, r, count, to + r * pitch);
  }

  // Chunks end where lines of the first output do, from either end.
  void run_together(std::uint64_t first, std::size_t rows, std::byte* to, std::uint64_t pitch) {
    Group group = group_of(first, rows);
    run_group(group, extent_, to, pitch);
  }

  HWY_NOINLINE void run_group(Group& group, std::uint64_t extent, std::byte* to,
                              std::uint64_t pitch) {
    constexpr std::uint64_t line = 64;
    const std::size_t rows = group.rows;
    const std::uint64_t behind = reinterpret_cast<std::uintptr_t>(to) % line / size_;
    for (std::uint64_t done = 0; done < extent;) {
      std::uint64_t begin = done, end = 0;
      if (kernel_.from_end) {
        end = extent - done;
        const std::uint64_t whole = (end - 1 + behind) / chunk * chunk;
        begin = whole > behind ? whole - behind : 0;
      } else {
        end = std::min(extent, (begin + behind) / chunk * chunk + chunk - behind);
      }
      const auto count = static_cast<std::size_t>(end - begin);
      compute_chunk(group, begin, count);
      for (std::size_t r = 0; r < rows; ++r) {
        OutputBytes output(to + r * pitch + begin * size_, stores_);
        store_chunk(group, r, count, output.take(count * size_));
        output.finish();
      }
      done += count;
    }
  }

  // Elements [begin, begin + count) of each sequence.
  HWY_NOINLINE void compute_chunk(Group& group, std::uint64_t begin, std::size_t count) {
    if (group.takes_vectors) return scan_eight(group.inputs, begin, count, group.running);
    for (std::size_t r = 0; r < group.rows; ++r)
      load_numbers(group.inputs[r] + begin * stride_ * size_, stride_, count, &numbers_[r * chunk]);
    scan_chunk(count, group.running);
  }

  void store_chunk(const Group& group, std::size_t row, std::size_t count, std::byte* to) const {
    if (!group.takes_vectors) return store_numbers(&numbers_[row * chunk], count, to);
    store<StoreMode::truncates, float>(kernel_.data_type, &floats_[row * chunk], count, to);
  }

  /// Whether eight rows are computed by vectors: floats that lie at a stretch.
  bool can_take_vectors() const {
    return DMLOP_CPU_SCANS_VECTORS != 0 && std::is_same_v<Value, double> &&
           is_within_float32(kernel_.data_type) && stride_ == 1;
  }

  // Elements [begin, begin + count) of each row, to floats_.
  void scan_eight([[maybe_unused]] const std::array<const std::byte*, together>& inputs,
                  [[maybe_unused]] std::uint64_t begin, [[maybe_unused]] std::size_t count,
                  [[maybe_unused]] Running<Value>& running) {
#if DMLOP_CPU_SCANS_VECTORS
    if constexpr (std::is_same_v<Value, double>) {
      steps_.add(count * 4 * together);
      floats_.resize(together * chunk);
      std::array<const float*, together> from;
      for (std::size_t r = 0; r < together; ++r) {
        const std::byte* input = inputs[r] + begin * size_;
        from[r] = reinterpret_cast<const float*>(input);
        if (is_direct_ && reinterpret_cast<std::uintptr_t>(input) % sizeof(float) == 0) continue;
        load(kernel_.data_type, input, 1, count, &floats_[r * chunk]);
        from[r] = &floats_[r * chunk];
      }
      with_bool(kernel_.from_end, [&](auto from_end) {
        with_bool(!is_direct_, [&](auto for_halves) {
          scan_eight_rows<EightRows<is_product, from_end(), for_halves()>>(
              from, count, floats_.data(), chunk, kernel_.is_exclusive, running);
        });
      });
    }
#endif
  }

  /// Calls action with the value as a type.
  template <typename Action>
  static void with_bool(bool value, Action&& action) {
    value ? action(std::true_type()) : action(std::false_type());
  }

  HWY_NOINLINE void scan_chunk(std::size_t count, Running<Value>& running) {
    const std::size_t piece = has_powers ? settled_for : count;
    for (std::size_t i = 0; i < count; i += piece) {
      const std::size_t part = std::min(piece, count - i);
      Value* at = numbers_.data() + (kernel_.from_end ? count - i - part : i);
      if (kernel_.is_exclusive) {
        scan_piece<true>(at, part, running);
      } else {
        scan_piece<false>(at, part, running);
      }
      if constexpr (has_powers) settle_all(running);
    }
  }

  template <bool is_exclusive>
  void scan_piece(Value* numbers, std::size_t count, Running<Value>& running) const {
    const std::ptrdiff_t step = kernel_.from_end ? -1 : 1;
    Value* at = kernel_.from_end ? numbers + count - 1 : numbers;
    auto now = running.totals;
    const auto next = [&](std::size_t r) HWY_ATTR {
      Value* number = at + r * chunk;
      const Value before = now[r];
      now[r] = combined(before, *number);
      *number = result_of(is_exclusive ? before : now[r], running.powers[r]);
    };
    for (std::size_t i = 0; i < count; ++i, at += step) {
      [&]<std::size_t... r>(std::index_sequence<r...>) HWY_ATTR {
        (next(r), ...);
      }
      (std::make_index_sequence<together>());
    }
    running.totals = now;
  }

  std::vector<Value> numbers_;  // chunks of sequences that are computed together
  std::vector<float> floats_;   // the same of eight rows by vectors
};

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
