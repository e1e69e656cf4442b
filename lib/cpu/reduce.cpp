// Reductions on the CPU. What is gathered of a row lies in cells: one where rows lie side by side
// in memory, as columns, and elements of many rows are read together; several where a row is read
// at a stretch, so that an element need not wait for the one before. Where rows are read together
// depends on the kernel alone, and so does every result.
//
// Few long rows are cut into blocks (cpu/preparation.hpp), whose cells are joined in their order.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "cpu/axis_walk.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/halves.hpp"
#include "cpu/kinds.hpp"
#include "cpu/reduce_shape.hpp"
#include "cpu/simd_small.hpp"
#include "tensor/half.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduce.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/operands-inl.hpp"
#include "cpu/reduce_cells-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// --- their execution

template <typename Value>
class Reduction {
 public:
  Reduction(const ReduceKernel& kernel, Inputs inputs, Cells<Value>& cells)
      : kernel_(kernel),
        shape_(shape_of(kernel)),
        last_(shape_.length),
        kept_(kernel.extents, kernel.operands, 0, kernel.kept - 1),
        reduced_(kernel.extents, kernel.operands, kernel.kept, kernel.extents.size() - 1),
        size_(size_of(kernel.output_type)),
        width_(width_of(shape_)),
        cells_(cells),
        numbers_(width_),
        integers_(width_) {
    readers_.reserve(kernel.operands.size());
    for (std::size_t next = 0; const ReduceOperand& operand : kernel.operands) {
      readers_.emplace_back(operand,
                            operand.is_position ? std::span<const std::byte>() : inputs[next++]);
    }
    const ReduceOperand& first = kernel.operands.front();
    const std::uint64_t stride = shape_.is_columns ? beside(0) : along(0);
    is_far_ = stride * size_of(first.data_type) >= 4096;
  }

  // Outputs [begin, begin + length).
  void run(std::uint64_t begin, std::uint64_t length, std::byte* to) {
    for_each_rows(begin, length, [&](std::uint64_t i, std::size_t count) {
      reduce(i, count);
      put(count, to);
      to += count * size_;
    });
  }

  // The cells of these outputs for elements [first, last) of their rows.
  void save_block(std::uint64_t begin, std::uint64_t length, std::uint64_t first,
                  std::uint64_t last, std::byte* to) {
    first_ = first, last_ = last;
    for_each_rows(begin, length, [&](std::uint64_t i, std::size_t count) {
      reduce(i, count);
      get(count);
      const auto* saved = cells_.are_integers() ? reinterpret_cast<std::byte*>(integers_.data())
                                                : reinterpret_cast<std::byte*>(numbers_.data());
      std::memcpy(to, saved, count * saved_cell_bytes);
      to += count * saved_cell_bytes;
    });
  }

  // These outputs from saved cells: those of `blocks`, which lie `pitch` bytes apart, where an
  // index is found, and otherwise what all of these came to together.
  void join_blocks(std::uint64_t begin, std::uint64_t length, std::uint64_t blocks,
                   const std::byte* saved, std::uint64_t pitch, std::byte* to) {
    for_each_rows(begin, length, [&](std::uint64_t i, std::size_t count) {
      if (finds_index(kernel_)) {
        for (std::size_t k = 0; k < count; ++k)
          integers_[k] = joined_index(i + k, blocks, saved + k * saved_cell_bytes, pitch);
      } else if (cells_.are_integers()) {
        std::memcpy(integers_.data(), saved, count * saved_cell_bytes);
      } else {
        std::memcpy(numbers_.data(), saved, count * saved_cell_bytes);
      }
      put_joined(count, to);
      to += count * size_, saved += count * saved_cell_bytes;
    });
  }

 private:
  // Rows that are read together; of short ones several, too, although each is read at a stretch.
  static std::uint64_t width_of(const ReduceShape& shape) {
    return shape.width == 1 && shape.length <= chunk ? 16 : shape.width;
  }

  // Calls action(i, count) for the rows [begin, begin + length), those that are read together: i is
  // the first one's index along the innermost kept axis.
  template <typename Action>
  void for_each_rows(std::uint64_t begin, std::uint64_t length, Action&& action) {
    const std::uint64_t extent = kernel_.extents[kernel_.kept - 1];
    kept_.seek(begin / extent);
    for (std::uint64_t left = length, i = begin % extent; left > 0; kept_.next(), i = 0) {
      for (const std::uint64_t end = std::min(extent, i + left); i < end;) {
        const auto count = static_cast<std::size_t>(std::min(width_, end - i));
        action(i, count);
        i += count, left -= count;
      }
    }
  }

  // Each block began with the row's first element: where it found no better one, it says 0.
  std::uint64_t joined_index(std::uint64_t i, std::uint64_t blocks, const std::byte* saved,
                             std::uint64_t pitch) {
    std::uint64_t best = 0;
    Value most = element(i, 0);
    for (std::uint64_t b = 0; b < blocks; ++b) {
      const auto next = cpu::load<std::uint64_t>(saved + b * pitch);
      if (next == 0) continue;
      const Value value = element(i, next);
      const bool is_maximum = kernel_.function == ReduceFunction::index_of_maximum;
      const bool is_better = is_maximum ? value > most : value < most;
      if (!is_better && !(kernel_.takes_last && value == most)) continue;
      best = next, most = value;
    }
    return best;
  }

  Value element(std::uint64_t i, std::uint64_t position) {
    reduced_.seek(position / kernel_.extents.back());
    return read(i, position % kernel_.extents.back(), 1)[0][0];
  }

  HWY_NOINLINE void reduce(std::uint64_t i, std::size_t count) {
    shape_.is_columns ? reduce_columns(i, count) : reduce_rows(i, count);
  }

  // Calls action(r, count, position) for the elements of the block in rows of the innermost reduced
  // axis: from r on, at `position` in the row as a whole.
  template <typename Action>
  void for_each_stretch(Action&& action) {
    const std::uint64_t extent = kernel_.extents.back();
    reduced_.seek(first_ / extent);
    for (std::uint64_t r = first_ % extent, at = first_; at < last_; reduced_.next(), r = 0) {
      const std::uint64_t count = std::min(extent - r, last_ - at);
      action(r, count, at);
      at += count;
    }
  }

  std::uint64_t beside(std::size_t k) const {
    return kernel_.operands[k].strides[kernel_.kept - 1];
  }
  std::uint64_t along(std::size_t k) const { return kernel_.operands[k].strides.back(); }

  // A chunk of each operand from element r of row i on, along the rows or across them.
  HWY_NOINLINE const Value* const* read(std::uint64_t i, std::uint64_t r, std::size_t count) {
    steps_.add((is_far_ ? count : 1) * far_steps);
    for (std::size_t k = 0; k < readers_.size(); ++k) {
      const std::uint64_t offset =
          kept_.offset(k) + i * beside(k) + reduced_.offset(k) + r * along(k);
      chunks_[k] = readers_[k].read(offset, shape_.is_columns ? beside(k) : along(k), count);
    }
    return chunks_.data();
  }

  // Rows [i, i + count) of the innermost kept axis.
  void reduce_columns(std::uint64_t i, std::size_t count) {
    begin_columns(i, count);
    for_each_stretch([&](std::uint64_t first, std::uint64_t rows, std::uint64_t position) {
      for (std::uint64_t r = 0; r < rows; ++r) {
        for (std::size_t at = 0; at < count; at += chunk)
          add_columns(i, first + r, at, std::min(chunk, count - at), position + r);
      }
    });
  }

  // Of rows from i on; only an index begins with them.
  const Value* first_elements(std::uint64_t i, std::size_t count) {
    return finds_index(kernel_) ? read(i, 0, count)[0] : nullptr;
  }

  // Cells begin with the first elements of whole rows.
  void begin_columns(std::uint64_t i, std::size_t count) {
    reduced_.seek(0);
    for (std::size_t at = 0; at < count; at += chunk) {
      const std::size_t part = std::min(chunk, count - at);
      cells_.begin(at, part, first_elements(i + at, part), 1);
    }
  }

  void add_columns(std::uint64_t i, std::uint64_t r, std::size_t at, std::size_t count,
                   std::uint64_t position) {
    const Value* const* from = read(i + at, r, count);
    cells_.add(at, count, position, from);
  }

  void reduce_rows(std::uint64_t i, std::size_t count) {
    const std::size_t lanes = cells_.lanes();
    reduced_.seek(0);
    for (std::size_t k = 0; k < count; ++k)
      cells_.begin(k * lanes, lanes, first_elements(i + k, 1), 0);
    for_each_stretch([&](std::uint64_t first, std::uint64_t elements, std::uint64_t position) {
      for (std::uint64_t done = 0; done < elements; done += chunk) {
        const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, elements - done));
        for (std::size_t k = 0; k < count; ++k)
          cells_.add_run(k * lanes, run, position + done, read(i + k, first + done, run));
      }
    });
    for (std::size_t k = 0; k < count; ++k) cells_.join(k * lanes, k);
  }

  void finish(double* numbers, std::size_t count) const {
    const auto each = [&](auto function) {
      for (std::size_t k = 0; k < count; ++k) numbers[k] = function(numbers[k]);
    };
    const auto length = static_cast<double>(shape_.length);
    switch (kernel_.finish) {
      case ReduceFinish::mean:
        return each([=](double sum) HWY_ATTR { return sum / length; });
      case ReduceFinish::root:
        return each([](double sum) HWY_ATTR { return std::sqrt(sum); });
      case ReduceFinish::logarithm:
        return each([](double sum) { return std::log(sum); });
      case ReduceFinish::softmax_logarithm:
        return each([](double sum) { return std::log(sum > 1e-20 ? sum : 1e-20); });
      case ReduceFinish::none:
        break;
    }
  }

  // What the first cells became.
  void put(std::size_t count, std::byte* to) {
    get(count);
    put_joined(count, to);
  }

  void get(std::size_t count) {
    if (cells_.are_integers()) return cells_.get(count, integers_.data());
    cells_.get(count, numbers_.data());
  }

  HWY_NOINLINE void put_joined(std::size_t count, std::byte* to) {
    if (cells_.are_integers()) {
      for (std::size_t k = 0; k < count; ++k, to += size_) std::memcpy(to, &integers_[k], size_);
      return;
    }
    finish(numbers_.data(), count);
    constexpr std::size_t worth_vectors = 8;
    if (kernel_.output_type == DataType::Float16 && count >= worth_vectors)
      return halves_of_doubles({numbers_.data(), count}, to);
    visit_float(kernel_.output_type, [&]<typename Element>(Element) HWY_ATTR {
      // Copies: the stores might change what is captured by reference.
      const double* const numbers = numbers_.data();
      std::byte* const first = to;
      const std::size_t end = count;
      for (std::size_t k = 0; k < end; ++k)
        put_number<Element>(first + k * sizeof(Element), numbers[k]);
    });
  }

  const ReduceKernel& kernel_;
  ReduceShape shape_;
  std::uint64_t first_ = 0, last_;  // the elements of each row that are read
  AxisWalk kept_, reduced_;         // without the innermost axis of each
  std::size_t size_;                // of an output element
  std::uint64_t width_;
  Cells<Value>& cells_;
  std::vector<OperandReader<Value>> readers_;
  std::array<const Value*, AxisWalk::operands_max> chunks_{};
  bool is_far_;
  Steps steps_;
  // What the cells of rows that were read together became.
  std::vector<double> numbers_;
  std::vector<std::uint64_t> integers_;
};

// --- the choice of what to execute

template <typename Value>
using CellsOf = std::unique_ptr<Cells<Value>>;

template <typename Value, bool is_maximum>
CellsOf<Value> index_cells(bool takes_last) {
  if (takes_last) return std::make_unique_for_overwrite<IndexCells<Value, is_maximum, true>>();
  return std::make_unique_for_overwrite<IndexCells<Value, is_maximum, false>>();
}

template <typename Value>
CellsOf<Value> sum_cells(ReduceTerm term) {
  const auto of = [](auto chosen) -> CellsOf<Value> {
    return std::make_unique_for_overwrite<FoldCells<Sums<Value, decltype(chosen)>>>();
  };
  if (term == ReduceTerm::value) return of(ValueTerm());
  if (term == ReduceTerm::magnitude) return of(Magnitude());
  if (term == ReduceTerm::square) return of(Square());
  if constexpr (std::is_same_v<Value, float>) {
    if (term == ReduceTerm::exponential)
      return std::make_unique_for_overwrite<ExponentialCells<Exponential>>();
    if (term == ReduceTerm::finite_exponential)
      return std::make_unique_for_overwrite<ExponentialCells<FiniteExponential>>();
    if (term == ReduceTerm::squared_difference) return of(SquaredDifference());
    if (term == ReduceTerm::product_with_difference) return of(ProductWithDifference());
  }
  throw std::logic_error("a reduction: integers have no such term");
}

template <typename Value>
CellsOf<Value> cells_of(const ReduceKernel& kernel) {
  switch (kernel.function) {
    case ReduceFunction::sum:
      break;
    case ReduceFunction::product:
      return std::make_unique_for_overwrite<FoldCells<Products<Value>>>();
    case ReduceFunction::minimum:
      return std::make_unique_for_overwrite<FoldCells<Extremes<Value, false>>>();
    case ReduceFunction::maximum:
      return std::make_unique_for_overwrite<FoldCells<Extremes<Value, true>>>();
    case ReduceFunction::index_of_minimum:
      return index_cells<Value, false>(kernel.takes_last);
    case ReduceFunction::index_of_maximum:
      return index_cells<Value, true>(kernel.takes_last);
  }
  return sum_cells<Value>(kernel.term);
}

template <typename Value>
void reduce(const ReduceKernel& kernel, Inputs inputs, const ReduceTask& task, std::byte* to) {
  const CellsOf<Value> cells = cells_of<Value>(kernel);
  Reduction<Value> reduction(kernel, inputs, *cells);
  const std::uint64_t pitch = kernel.output_elements() * saved_cell_bytes;
  const std::uint64_t place = task.begin * saved_cell_bytes;
  switch (task.kind) {
    case ReduceTask::Kind::whole:
      return reduction.run(task.begin, task.count, to);
    case ReduceTask::Kind::save:
      return reduction.save_block(task.begin, task.count, task.first, task.last,
                                  to + task.block * pitch + place);
    case ReduceTask::Kind::join:
      return reduction.join_blocks(task.begin, task.count, task.block, task.saved, pitch, to);
  }
}

// Numbers are read as float, integers with at least 32 bits.
void Reduce(const ReduceKernel& kernel, Inputs inputs, const ReduceTask& task, std::byte* to) {
  const DataTypeInfo& type = info(kernel.operands.front().data_type);
  if (is_floating(type.type)) return reduce<float>(kernel, inputs, task, to);
  const bool is_signed = type.kind == NumberKind::signed_integer;
  if (type.size == 8) {
    if (is_signed) return reduce<std::int64_t>(kernel, inputs, task, to);
    return reduce<std::uint64_t>(kernel, inputs, task, to);
  }
  if (is_signed) return reduce<std::int32_t>(kernel, inputs, task, to);
  reduce<std::uint32_t>(kernel, inputs, task, to);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

// A part is of about so many bytes of the input; columns are not cut narrower than they are read
// fast.
PartShape part_shape(const ReduceKernel& kernel, std::uint64_t bytes) {
  const ReduceShape shape = shape_of(kernel);
  const std::uint64_t elements = bytes / size_of(kernel.operands.front().data_type);
  const std::uint64_t least = shape.is_columns ? least_rows(shape) : 1;
  const std::uint64_t total = kernel.output_elements();
  const std::uint64_t length = std::max({std::uint64_t{1}, elements / shape.length, least});
  return {.blocks = Blocks{1, total, std::min(length, total)}};
}

namespace {

// The cells of each block, and in it of each row.
struct SavedCells : Preparation {
  SavedCells(std::uint64_t count, std::uint64_t rows)
      : blocks(count), cells(count * rows * saved_cell_bytes, "the blocks of rows") {}

  std::uint64_t blocks;
  Buffer cells;
};

}  // namespace

std::unique_ptr<const Preparation> prepare(const ReduceKernel& kernel, Inputs inputs,
                                           unsigned threads) {
  const ReduceShape shape = shape_of(kernel);
  const ReduceBlocks blocks = blocks_of(kernel, shape);
  if (blocks.count == 1) return nullptr;
  const std::uint64_t total = kernel.output_elements();
  auto saved = std::make_unique<SavedCells>(blocks.count, total);
  std::byte* cells = saved->cells.data();
  parallel_for(threads, blocks.groups * blocks.count, [&](unsigned, std::uint64_t index) {
    const std::uint64_t begin = index % blocks.groups * blocks.rows, block = index / blocks.groups;
    const std::uint64_t first = block * blocks.length;
    const ReduceTask task{.kind = ReduceTask::Kind::save,
                          .begin = begin,
                          .count = std::min(blocks.rows, total - begin),
                          .first = first,
                          .last = std::min(shape.length, first + blocks.length),
                          .block = block};
    DMLOP_BEST_SIMD(Reduce)(kernel, inputs, task, cells);
  });
  return saved;
}

namespace {

template <typename Cell>
Cell joined(ReduceFunction function, Cell a, Cell b) {
  if (function == ReduceFunction::minimum) return b < a ? b : a;
  if (function == ReduceFunction::maximum) return b > a ? b : a;
  if constexpr (!std::is_signed_v<Cell> || std::is_floating_point_v<Cell>)
    return function == ReduceFunction::product ? a * b : a + b;
  return a;  // sums and products of integers wrap
}

/// Joins the cells of `count` rows in the order of their blocks, which lie `pitch` bytes apart.
template <typename Cell>
void join_cells(ReduceFunction function, const SavedCells& saved, std::uint64_t pitch,
                std::uint64_t first, std::uint64_t count, std::byte* to) {
  const std::byte* from = saved.cells.data() + first * sizeof(Cell);
  std::memcpy(to, from, count * sizeof(Cell));
  for (std::uint64_t b = 1; b < saved.blocks; ++b) {
    for (std::uint64_t k = 0; k < count; ++k) {
      std::byte* cell = to + k * sizeof(Cell);
      const Cell next = load<Cell>(from + b * pitch + k * sizeof(Cell));
      store(cell, joined(function, load<Cell>(cell), next));
    }
  }
}

void join_cells(const ReduceKernel& kernel, const SavedCells& saved, std::uint64_t first,
                std::uint64_t count, std::byte* to) {
  const std::uint64_t pitch = kernel.output_elements() * saved_cell_bytes;
  const NumberKind kind = info(kernel.operands.front().data_type).kind;
  const ReduceFunction function = kernel.function;
  const bool compares = function == ReduceFunction::minimum || function == ReduceFunction::maximum;
  if (kind == NumberKind::floating)
    return join_cells<double>(function, saved, pitch, first, count, to);
  if (kind == NumberKind::signed_integer && compares)
    return join_cells<std::int64_t>(function, saved, pitch, first, count, to);
  join_cells<std::uint64_t>(function, saved, pitch, first, count, to);
}

}  // namespace

void run_part(const ReduceKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores, Destinations outputs) {
  ReduceTask task{.begin = part.begin, .count = part.length};
  std::vector<std::byte> cells;
  if (const auto* saved = static_cast<const SavedCells*>(prepared)) {
    task.kind = ReduceTask::Kind::join;
    task.block = saved->blocks;
    task.saved = saved->cells.data() + part.begin * saved_cell_bytes;
    if (!finds_index(kernel)) {
      cells.resize(part.length * saved_cell_bytes);
      join_cells(kernel, *saved, part.begin, part.length, cells.data());
      task.saved = cells.data();
    }
  }
  DMLOP_BEST_SIMD(Reduce)(kernel, inputs, task, outputs.front().to);
}

}  // namespace dmlop::cpu
#endif
