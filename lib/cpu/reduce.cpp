// Reductions on the CPU. What is gathered of a row lies in cells: one where rows lie side by side
// in memory, as columns, and elements of many rows are read together; several where a row is read
// at a stretch, so that an element need not wait for the one before. Where rows are read together
// depends on the kernel alone, and so does every result.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/axis_walk.hpp"
#include "cpu/element_bits.hpp"
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
        kept_(kernel.extents, kernel.operands, 0, kernel.kept - 1),
        reduced_(kernel.extents, kernel.operands, kernel.kept, kernel.extents.size() - 1),
        size_(size_of(kernel.output_type)),
        cells_(cells),
        numbers_(shape_.width),
        integers_(shape_.width) {
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
    const std::uint64_t extent = kernel_.extents[kernel_.kept - 1];
    kept_.seek(begin / extent);
    for (std::uint64_t left = length, i = begin % extent; left > 0; kept_.next(), i = 0) {
      for (const std::uint64_t end = std::min(extent, i + left); i < end;) {
        const auto count = static_cast<std::size_t>(std::min(shape_.width, end - i));
        shape_.is_columns ? reduce_columns(i, count) : reduce_rows(i, count);
        put(count, to);
        i += count, left -= count, to += count * size_;
      }
    }
  }

 private:
  std::uint64_t beside(std::size_t k) const {
    return kernel_.operands[k].strides[kernel_.kept - 1];
  }
  std::uint64_t along(std::size_t k) const { return kernel_.operands[k].strides.back(); }

  // A chunk of each operand from element r of row i on, along the rows or across them.
  const Value* const* read(std::uint64_t i, std::uint64_t r, std::size_t count) {
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
    const std::uint64_t extent = kernel_.extents.back();
    reduced_.seek(0);
    for (std::uint64_t position = 0; position < shape_.length; reduced_.next()) {
      for (std::uint64_t r = 0; r < extent; ++r, ++position) {
        for (std::size_t at = 0; at < count; at += chunk)
          add_columns(i, r, at, std::min(chunk, count - at), position);
      }
    }
  }

  void add_columns(std::uint64_t i, std::uint64_t r, std::size_t at, std::size_t count,
                   std::uint64_t position) {
    const Value* const* from = read(i + at, r, count);
    if (position == 0) cells_.begin(at, count, from[0], 1);
    cells_.add(at, count, position, from);
  }

  void reduce_rows(std::uint64_t i, std::size_t count) {
    const std::uint64_t extent = kernel_.extents.back();
    const std::size_t lanes = cells_.lanes();
    reduced_.seek(0);
    for (std::uint64_t position = 0; position < shape_.length; reduced_.next()) {
      for (std::uint64_t r = 0; r < extent;) {
        const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, extent - r));
        for (std::size_t k = 0; k < count; ++k) {
          const Value* const* from = read(i + k, r, run);
          if (position == 0) cells_.begin(k * lanes, lanes, from[0], 0);
          cells_.add_run(k * lanes, run, position, from);
        }
        r += run, position += run;
      }
    }
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
    if (cells_.are_integers()) {
      cells_.get(count, integers_.data());
      for (std::size_t k = 0; k < count; ++k, to += size_) std::memcpy(to, &integers_[k], size_);
      return;
    }
    cells_.get(count, numbers_.data());
    finish(numbers_.data(), count);
    if (kernel_.output_type == DataType::Float16) {
      for (std::size_t k = 0; k < count; ++k)
        cpu::store(to + k * sizeof(std::uint16_t), half_from_double(numbers_[k]));
    } else {
      for (std::size_t k = 0; k < count; ++k)
        cpu::store(to + k * sizeof(float), static_cast<float>(numbers_[k]));
    }
  }

  const ReduceKernel& kernel_;
  ReduceShape shape_;
  AxisWalk kept_, reduced_;  // without the innermost axis of each
  std::size_t size_;         // of an output element
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
  if (takes_last) return std::make_unique<IndexCells<Value, is_maximum, true>>();
  return std::make_unique<IndexCells<Value, is_maximum, false>>();
}

template <typename Value>
CellsOf<Value> sum_cells(ReduceTerm term) {
  const auto of = [](auto chosen) -> CellsOf<Value> {
    return std::make_unique<FoldCells<Sums<Value, decltype(chosen)>>>();
  };
  if (term == ReduceTerm::value) return of(ValueTerm());
  if (term == ReduceTerm::magnitude) return of(Magnitude());
  if (term == ReduceTerm::square) return of(Square());
  if constexpr (std::is_same_v<Value, float>) {
    if (term == ReduceTerm::exponential) return std::make_unique<ExponentialCells<Exponential>>();
    if (term == ReduceTerm::finite_exponential)
      return std::make_unique<ExponentialCells<FiniteExponential>>();
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
      return std::make_unique<FoldCells<Products<Value>>>();
    case ReduceFunction::minimum:
      return std::make_unique<FoldCells<Extremes<Value, false>>>();
    case ReduceFunction::maximum:
      return std::make_unique<FoldCells<Extremes<Value, true>>>();
    case ReduceFunction::index_of_minimum:
      return index_cells<Value, false>(kernel.takes_last);
    case ReduceFunction::index_of_maximum:
      return index_cells<Value, true>(kernel.takes_last);
  }
  return sum_cells<Value>(kernel.term);
}

template <typename Value>
void reduce(const ReduceKernel& kernel, Inputs inputs, const Part& part, std::byte* to) {
  const CellsOf<Value> cells = cells_of<Value>(kernel);
  Reduction<Value>(kernel, inputs, *cells).run(part.begin, part.length, to);
}

// Numbers are read as float, integers with at least 32 bits.
void Reduce(const ReduceKernel& kernel, Inputs inputs, const Part& part, std::byte* to) {
  const DataTypeInfo& type = info(kernel.operands.front().data_type);
  if (type.kind == NumberKind::floating) return reduce<float>(kernel, inputs, part, to);
  const bool is_signed = type.kind == NumberKind::signed_integer;
  if (type.size == 8) {
    if (is_signed) return reduce<std::int64_t>(kernel, inputs, part, to);
    return reduce<std::uint64_t>(kernel, inputs, part, to);
  }
  if (is_signed) return reduce<std::int32_t>(kernel, inputs, part, to);
  reduce<std::uint32_t>(kernel, inputs, part, to);
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
  const std::uint64_t least = shape.is_columns ? std::min<std::uint64_t>(1024, shape.width) : 1;
  const std::uint64_t total = kernel.output_elements();
  const std::uint64_t length = std::max({std::uint64_t{1}, elements / shape.length, least});
  return {.blocks = Blocks{1, total, std::min(length, total)}};
}

void run_part(const ReduceKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  DMLOP_BEST_SIMD(Reduce)(kernel, inputs, part, outputs.front().to);
}

}  // namespace dmlop::cpu
#endif
