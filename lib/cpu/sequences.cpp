#include "cpu/sequences.hpp"

#include <vector>

#include "cpu/columns.hpp"
#include "cpu/rows.hpp"

namespace dmlop::cpu {
namespace {

// The elements that the outputs of the plan would be without its reversal.
IndexMapPlan unreversed(const IndexMapPlan& plan) {
  IndexMapPlan result = plan;
  result.reversal.reset();
  return result;
}

// The length of every output's sequence.
IndexMapPlan lengths_of(const IndexMapPlan& plan) {
  IndexMapPlan result{.element_size = size_of(plan.reversal->lengths_type)};
  for (const IndexMapAxis& axis : plan.axes) {
    result.axes.push_back(
        {.extent = axis.extent, .stride = static_cast<std::int64_t>(axis.lengths_stride)});
  }
  return result;
}

void copy_range(const IndexMapPlan& plan, Inputs inputs, std::uint64_t begin, std::uint64_t count,
                std::byte* to) {
  Output output(to, Stores::cached, plan.element_size);
  execute_index_map(plan, inputs, begin, begin + count, output);
}

// Where the plan reads the elements of a range, and their lengths, one behind the other.
bool is_packed(const IndexMapPlan& plan) {
  const IndexMapAxis& inner = plan.axes.back();
  return plan.reversal->axis + 2 == plan.axes.size() && inner.boundary == Boundary::none &&
         inner.stride == 1 && inner.lengths_stride == 1;
}

Columns packed_columns(const IndexMapPlan& plan, Inputs inputs, const Part& part) {
  const std::uint64_t inner = plan.axes.back().extent;
  const Rows rows(plan, plan.axes.size() - 1, part.begin / inner);
  const auto size = static_cast<std::int64_t>(plan.element_size);
  const auto column = static_cast<std::int64_t>(part.begin % inner);
  return {.rows = inputs[0].data() + (rows.offset() + column) * size,
          .pitch = plan.axes[plan.reversal->axis].stride * size,
          .lengths = inputs[1].data() + (rows.lengths_offset() + part.begin % inner) *
                                            size_of(plan.reversal->lengths_type),
          .lengths_type = plan.reversal->lengths_type,
          .height = part.count,
          .width = part.length};
}

}  // namespace

void execute_sequences(const IndexMapPlan& plan, Inputs inputs, const Part& part, Stores stores,
                       std::byte* output, std::uint64_t pitch) {
  if (is_packed(plan)) {
    return reverse_columns(plan.element_size, packed_columns(plan, inputs, part), stores, output,
                           pitch);
  }
  const IndexMapPlan plain = unreversed(plan), lengths = lengths_of(plan);
  const std::uint64_t row = part.length * plan.element_size;
  std::vector<std::byte> block(part.count * row), block_lengths(part.length * lengths.element_size);
  for (std::uint64_t i = 0; i < part.count; ++i)
    copy_range(plain, inputs, part.begin + i * part.step, part.length, &block[i * row]);
  copy_range(lengths, inputs.subspan(1), part.begin, part.length, block_lengths.data());
  reverse_columns(plan.element_size,
                  {.rows = block.data(),
                   .pitch = static_cast<std::ptrdiff_t>(row),
                   .lengths = block_lengths.data(),
                   .lengths_type = plan.reversal->lengths_type,
                   .height = part.count,
                   .width = part.length},
                  stores, output, pitch);
}

}  // namespace dmlop::cpu
