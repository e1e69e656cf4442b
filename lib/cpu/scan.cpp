// Running sums and products on the CPU. Sequences that stand alone are computed a few at a time,
// because each addition waits for the one before: where machines have vectors of four doubles, with
// an element of each of four sequences in one. Those that stand beside each other are computed all
// together.
//
// The order is that of the elements, so that every instruction set gives the same bits. Few long
// sequences are cut into blocks (cpu/scan_blocks.hpp), each of which begins with what those before
// it come to.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/elements.hpp"
#include "cpu/kinds.hpp"
#include "cpu/scan_blocks.hpp"
#include "cpu/simd_small.hpp"
#include "cpu/walk.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/scan.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/numbers-inl.hpp"
#include "cpu/scan_totals-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// Value is what totals are kept as: double, or an integer that wraps as the elements do.
template <typename Value, bool is_product>
class Scan {
  static constexpr bool has_powers = is_product && std::is_floating_point_v<Value>;
  // Sequences that stand alone, and elements of each, that are computed together.
  static constexpr std::size_t together = scans_together;
  static constexpr std::size_t chunk = 256;
  // Sequences beside each other that are computed together.
  static constexpr Threshold beside{1024, 5};
  // Rows that are asked for before they are computed.
  static constexpr std::uint64_t rows_ahead = 4;
  static constexpr std::uint64_t fetched_max = 4096;  // bytes
  // What needs no conversion but between floats and doubles.
  using Element = std::conditional_t<std::is_floating_point_v<Value>, float, Value>;

 public:
  Scan(const ScanKernel& kernel, Inputs inputs, Stores stores)
      : kernel_(kernel),
        size_(size_of(kernel.data_type)),
        input_(inputs.front().data()),
        is_direct_(std::is_floating_point_v<Value> ? kernel.data_type == DataType::Float32
                                                   : size_ == sizeof(Element)),
        stores_(stores),
        extent_(kernel.axes.along.extent),
        stride_(kernel.axes.along.stride()),
        outer_(kernel.axes.outer),
        inner_(kernel.axes.inner),
        numbers_(together * chunk) {}

  std::uint64_t inner() const { return inner_.elements(); }

  /// What block `block` of sequences [begin, end) of an outer index comes to.
  HWY_NOINLINE void add_up(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                           const ScanBlocks& blocks, std::uint64_t block, ScanStart* to) {
    const std::uint64_t first = block * blocks.length;
    const std::uint64_t last = std::min(extent_, first + blocks.length);
    const std::byte* from = input_ + outer_.offsets(outer)[0] * size_;
    if (inner() == 1) {
      *to = start_alone(from, first, last);
      return;
    }
    begin_beside(end - begin);
    if (are_rows_packed(end - begin)) {
      add_up_packed(from, first, last);
    } else {  // as outputs that nobody reads
      std::vector<std::byte> row((end - begin) * size_);
      run_rows(outer, begin, end, first, last, {row.data(), 0});
    }
    for (std::size_t k = 0; k < totals_.size(); ++k) to[k] = start_of(k);
  }

  /// Blocks [first, first + count) of a sequence that stands alone; `starts` is that of its first
  /// block.
  HWY_NOINLINE void run_blocks(std::uint64_t outer, const ScanBlocks& blocks, std::uint64_t first,
                               std::uint64_t count, const ScanStart* starts, std::byte* to) {
    const std::byte* from = input_ + outer_.offsets(outer)[0] * size_;
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

  /// A block of sequences [begin, end) of an outer index; `starts` are theirs.
  HWY_NOINLINE void run_block(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                              const ScanBlocks& blocks, std::uint64_t block,
                              const ScanStart* starts, Destination to) {
    const std::uint64_t first = block * blocks.length;
    const std::uint64_t last = std::min(extent_, first + blocks.length);
    for (; begin < end; begin += beside, to.to += beside * size_) {
      const std::uint64_t count = std::min<std::uint64_t>(end - begin, beside);
      begin_beside(count);
      for (std::uint64_t k = 0; k < count; ++k, ++starts) {
        totals_[k] = value_of(*starts);
        if constexpr (has_powers) {
          exponents_[k] = starts->exponent;
          powers_[k] = power_of(starts->exponent);
        }
      }
      run_rows(outer, begin, begin + count, first, last, to);
    }
  }

  /// Sequences that stand alone: `count` from `first` on, one behind the other.
  void run_alone(std::uint64_t first, std::uint64_t count, std::byte* to) {
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

  /// Sequences [begin, end) of an outer index.
  void run(std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Destination to) {
    for (std::uint64_t first = begin; first < end; first += beside) {
      run_beside(outer, first, std::min<std::uint64_t>(end, first + beside), to);
      to.to += beside * size_;
    }
  }

 private:
  static HWY_INLINE Value combined(Value total, Value number) {
    if constexpr (is_product) return total * number;
    return total + number;
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
  ScanStart start_of(std::size_t k) const {
    return start_of(totals_[k], has_powers ? exponents_[k] : 0);
  }
  static Running<Value> running() {
    Running<Value> all;
    all.totals.fill(Value{is_product});
    all.exponents.fill(0);
    all.powers.fill(1);
    return all;
  }
  // Sequences beside each other.
  void begin_beside(std::size_t count) {
    totals_.assign(count, Value{is_product});
    exponents_.assign(has_powers ? count : 0, 0);
    powers_.assign(has_powers ? count : 0, 1);
  }

  // What elements [first, last) of a sequence come to, in lanes that do not wait for each other.
  HWY_NOINLINE ScanStart start_alone(const std::byte* from, std::uint64_t first,
                                     std::uint64_t last) {
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

  // Whether short rows of all sequences follow each other.
  bool are_rows_packed(std::uint64_t width) const {
    constexpr Threshold width_most{64, 3};
    return width == inner() && width == stride_ && width <= width_most &&
           inner_.stretch() == width && inner_.steps()[0] == 1;
  }

  // So many of them are computed at a time.
  static std::uint64_t packed_rows(std::uint64_t width) {
    return 2 * chunk / width / settled_for * settled_for;
  }

  // The elements of such rows [first, last), to totals_.
  HWY_NOINLINE void add_up_packed(const std::byte* from, std::uint64_t first, std::uint64_t last) {
    const std::size_t width = totals_.size();
    const std::uint64_t rows = packed_rows(width);
    for (std::uint64_t i = first; i < last; i += rows) {
      const auto count = static_cast<std::size_t>(std::min(rows, last - i));
      load_numbers(from + i * width * size_, 1, count * width, numbers_.data());
      for (std::size_t r = 0; r < count; ++r) {
        const Value* HWY_RESTRICT numbers = &numbers_[r * width];
        Value* HWY_RESTRICT totals = totals_.data();
        for (std::size_t k = 0; k < width; ++k) totals[k] = combined(totals[k], numbers[k]);
        if (r % settled_for == settled_for - 1) settle_beside();
      }
    }
  }

  // So few that their totals stay in the nearest cache.
  void run_beside(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                  const Destination& to) {
    begin_beside(end - begin);
    run_rows(outer, begin, end, 0, extent_, to);
  }

  // Elements [first, last) of these sequences, from totals_ on. `to` is that of the first.
  HWY_NOINLINE void run_rows(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                             std::uint64_t first, std::uint64_t last, const Destination& to) {
    const std::uint64_t from = outer_.offsets(outer)[0];
    if constexpr (std::is_floating_point_v<Value>) {
      if (are_rows_packed(end - begin) && to.pitch == (end - begin) * size_)
        return run_packed(input_ + from * size_, first, last, to);
    }
    for (std::uint64_t i = 0; i < last - first; ++i) {
      const std::uint64_t row_index = kernel_.from_end ? last - first - 1 - i : i;
      const std::uint64_t index = first + row_index;
      OutputBytes output(to.to + row_index * to.pitch, stores_);
      std::size_t done = 0;
      inner_.run(begin, end, [&](const Walk<1>::Offsets& at, std::uint64_t count) {
        const std::byte* input = input_ + (from + index * stride_ + at[0]) * size_;
        if (last - first - i > rows_ahead) fetch_ahead(input, count);
        for (std::uint64_t k = 0; k < count; k += chunk) {
          const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, count - k));
          row(input + k * inner_.steps()[0] * size_, part, done, output.take(part * size_));
          done += part;
        }
      });
      output.finish();
      if (i % settled_for == settled_for - 1) settle_beside();
    }
  }

  // Short rows [first, last) that follow each other, from totals_ on.
  HWY_NOINLINE void run_packed(const std::byte* from, std::uint64_t first, std::uint64_t last,
                               const Destination& to) {
    const std::size_t width = totals_.size();
    const std::uint64_t rows = packed_rows(width);
    for (std::uint64_t done = first; done < last; done += rows) {
      const auto count = static_cast<std::size_t>(std::min(rows, last - done));
      const std::uint64_t begin = kernel_.from_end ? last - (done - first) - count : done;
      load_numbers(from + begin * width * size_, 1, count * width, numbers_.data());
      for (std::size_t r = 0; r < count; ++r) {
        const std::size_t row = kernel_.from_end ? count - 1 - r : r;
        scan_row(&numbers_[row * width], width, 0);
        if (r % settled_for == settled_for - 1) settle_beside();
      }
      OutputBytes output(to.to + (begin - first) * to.pitch, stores_);
      store_numbers(numbers_.data(), count * width, output.take(count * to.pitch));
      output.finish();
    }
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
    for (std::size_t r = 0; r < rows; ++r)
      group.inputs[r] = input_ + outer_.offsets(first + r)[0] * size_;
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

  static HWY_INLINE Value result_of(Value total, [[maybe_unused]] double power) {
    if constexpr (has_powers) return product_of(total, power);
    return total;
  }

  // The next element of `count` sequences from `first` on, read and written as they stand.
  template <bool is_exclusive>
  void direct_row(const std::byte* input, std::size_t count, std::size_t first, std::byte* output) {
    Value* HWY_RESTRICT totals = &totals_[first];
    const double* HWY_RESTRICT powers = powers_.data() + (has_powers ? first : 0);
    for (std::size_t k = 0; k < count; ++k) {
      const Value before = totals[k];
      totals[k] =
          combined(before, static_cast<Value>(cpu::load<Element>(input + k * sizeof(Element))));
      const Value result = result_of(is_exclusive ? before : totals[k], has_powers ? powers[k] : 1);
      cpu::store(output + k * sizeof(Element), static_cast<Element>(result));
    }
  }

  // The next element of `count` sequences from `first` on.
  void row(const std::byte* input, std::size_t count, std::size_t first, std::byte* output) {
    if (is_direct_ && inner_.steps()[0] == 1) {
      steps_.add(count);
      if (kernel_.is_exclusive) return direct_row<true>(input, count, first, output);
      return direct_row<false>(input, count, first, output);
    }
    load_numbers(input, inner_.steps()[0], count, numbers_.data());
    scan_row(numbers_.data(), count, first);
    store_numbers(numbers_.data(), count, output);
  }

  // Numbers of `count` sequences from `first` on become results.
  HWY_NOINLINE void scan_row(Value* HWY_RESTRICT numbers, std::size_t count, std::size_t first) {
    Value* HWY_RESTRICT totals = &totals_[first];
    const double* HWY_RESTRICT powers = powers_.data() + (has_powers ? first : 0);
    if (kernel_.is_exclusive) {
      for (std::size_t k = 0; k < count; ++k) {
        const Value before = totals[k];
        totals[k] = combined(before, numbers[k]);
        numbers[k] = result_of(before, has_powers ? powers[k] : 1);
      }
    } else {
      for (std::size_t k = 0; k < count; ++k) {
        totals[k] = combined(totals[k], numbers[k]);
        numbers[k] = result_of(totals[k], has_powers ? powers[k] : 1);
      }
    }
  }

  HWY_INLINE void settle_beside() {
    if constexpr (has_powers)
      settle_all(totals_.data(), exponents_.data(), powers_.data(), totals_.size());
  }

  // Asks for the row that comes in a while: it is far from this one.
  void fetch_ahead(const std::byte* input, std::uint64_t count) const {
    if (inner_.steps()[0] != 1) return;
    const std::uint64_t ahead = rows_ahead * stride_ * size_;
    fetch(kernel_.from_end ? input - ahead : input + ahead, std::min(count * size_, fetched_max));
  }

  const ScanKernel& kernel_;
  std::size_t size_;  // of an element
  const std::byte* input_;
  bool is_direct_;  // elements are of type Element
  Stores stores_;
  std::uint64_t extent_, stride_;  // of sequences
  Walk<1> outer_, inner_;
  std::vector<Value> numbers_;
  std::vector<float> floats_;  // the same of eight rows by vectors
  // Of sequences beside each other.
  std::vector<Value> totals_;
  std::vector<std::int64_t> exponents_;
  std::vector<double> powers_;
  Steps steps_;
};

template <typename Value, bool is_product>
void scan_part(const ScanKernel& kernel, Inputs inputs, const Part& part, Stores stores,
               Destinations outputs) {
  Scan<Value, is_product> scan(kernel, inputs, stores);
  const std::uint64_t extent = kernel.axes.along.extent;
  if (scan.inner() == 1 && extent > 1) {
    return scan.run_alone(part.begin / extent, part.length / extent, outputs.front().to);
  }
  for_each_sequences(part, extent, scan.inner(), std::array{size_of(kernel.data_type)}, outputs,
                     [&](std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                         Destinations to) { scan.run(outer, begin, end, to.front()); });
}

// A part of blocks, or whole outer indices.
template <typename Value, bool is_product>
HWY_NOINLINE void scan_blocks(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  const ScanBlocks& blocks = *task.blocks;
  const std::uint64_t extent = kernel.axes.along.extent, size = size_of(kernel.data_type);
  const std::uint64_t sequences = blocks.inner * blocks.outer;
  Scan<Value, is_product> scan(kernel, inputs, task.stores);
  const auto run = [&](std::uint64_t outer, std::uint64_t column, std::uint64_t columns,
                       std::uint64_t block, std::uint64_t count, Destination to) {
    if (blocks.inner == 1)
      return scan.run_blocks(outer, blocks, block, count, task.starts + outer * blocks.count,
                             to.to);
    for (std::uint64_t b = block; b < block + count; ++b) {
      scan.run_block(outer, column, column + columns, blocks, b,
                     task.starts + b * sequences + outer * blocks.inner + column, to);
      to.to += blocks.length * to.pitch;
    }
  };
  const Part& part = task.part;
  const std::uint64_t whole = extent * blocks.inner, outer = part.begin / whole;
  if (part.count == 1 && part.length > blocks.inner) {
    for (std::uint64_t i = 0; i < part.length / whole; ++i)
      run(outer + i, 0, blocks.inner, 0, blocks.count,
          {task.to.to + i * whole * size, blocks.inner * size});
    return;
  }
  const std::uint64_t first = part.begin % whole / blocks.inner / blocks.length;
  run(outer, part.begin % blocks.inner, part.length, first, divided_up(part.count, blocks.length),
      task.to);
}

template <typename Value, bool is_product>
void scan_task(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  using AScan = Scan<Value, is_product>;
  switch (task.kind) {
    case ScanTask::Kind::whole:
      return scan_part<Value, is_product>(kernel, inputs, task.part, task.stores, {&task.to, 1});
    case ScanTask::Kind::add_up:
      return AScan(kernel, inputs, task.stores)
          .add_up(task.outer, task.begin, task.end, *task.blocks, task.block, task.totals);
    case ScanTask::Kind::blocks:
      return scan_blocks<Value, is_product>(kernel, inputs, task);
  }
}

template <typename Value>
void scan_values(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  if (kernel.is_product) return scan_task<Value, true>(kernel, inputs, task);
  scan_task<Value, false>(kernel, inputs, task);
}

void RunScan(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  if (is_floating(kernel.data_type)) return scan_values<double>(kernel, inputs, task);
  if (size_of(kernel.data_type) < 8) return scan_values<std::uint32_t>(kernel, inputs, task);
  scan_values<std::uint64_t>(kernel, inputs, task);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

namespace {

// What each block of each sequence begins with. Those of a sequence that stands alone follow each
// other; sequences beside each other do in a block.
struct ScanStarts : Preparation {
  ScanStarts(const ScanBlocks& cut)
      : blocks(cut),
        memory(cut.count * cut.inner * cut.outer * sizeof(ScanStart), "the blocks of sequences") {}

  ScanStart* starts() { return reinterpret_cast<ScanStart*>(memory.data()); }
  const ScanStart* starts() const { return reinterpret_cast<const ScanStart*>(memory.data()); }

  ScanBlocks blocks;
  Buffer memory;
};

}  // namespace

PartShape part_shape(const ScanKernel& scan, std::uint64_t bytes) {
  const std::uint64_t extent = scan.axes.along.extent;
  if (const auto blocks = blocks_of(scan))
    return {.blocks = Blocks{.ranges = blocks->length * blocks->together,
                             .inner = blocks->inner,
                             .length = blocks->columns,
                             .of = extent}};
  return sequences_shape(extent, elements_of(scan.axes.inner), size_of(scan.data_type), bytes);
}

std::unique_ptr<const Preparation> prepare(const ScanKernel& kernel, Inputs inputs,
                                           unsigned threads) {
  const auto blocks = blocks_of(kernel);
  if (!blocks) return nullptr;
  auto all = std::make_unique<ScanStarts>(*blocks);
  ScanStart* starts = all->starts();
  const bool is_alone = blocks->inner == 1;
  const std::uint64_t sequences = blocks->inner * blocks->outer;
  parallel_for(threads, blocks->outer * blocks->count, [&](unsigned, std::uint64_t index) {
    const std::uint64_t outer = index / blocks->count, block = index % blocks->count;
    DMLOP_BEST_SIMD(RunScan)
    (kernel, inputs,
     {.kind = ScanTask::Kind::add_up,
      .blocks = &*blocks,
      .outer = outer,
      .end = blocks->inner,
      .block = block,
      .totals = starts + (is_alone ? index : block * sequences + outer * blocks->inner)});
  });
  // What all before a block come to, in place of what it comes to itself.
  in_pieces(sequences, blocks->count * 16, [&](std::uint64_t s, std::uint64_t end) {
    for (; s < end; ++s) {
      ScanStart so_far = nothing_of(kernel);
      for (std::uint64_t i = 0; i < blocks->count; ++i) {
        const std::uint64_t block = kernel.from_end ? blocks->count - 1 - i : i;
        ScanStart& start = starts[is_alone ? s * blocks->count + block : block * sequences + s];
        const ScanStart next = joined(kernel, so_far, start);
        start = std::exchange(so_far, next);
      }
    }
  });
  return all;
}

void run_part(const ScanKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores stores, Destinations outputs) {
  ScanTask task{.part = part, .stores = stores, .to = outputs.front()};
  if (const auto* all = static_cast<const ScanStarts*>(prepared)) {
    task.kind = ScanTask::Kind::blocks;
    task.blocks = &all->blocks;
    task.starts = all->starts();
  }
  DMLOP_BEST_SIMD(RunScan)(kernel, inputs, task);
}

}  // namespace dmlop::cpu
#endif
