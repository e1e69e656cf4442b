#include "cpu/sequences.hpp"

#include <vector>

#include "cpu/columns.hpp"
#include "cpu/rows.hpp"

namespace dmlop::cpu {
namespace {

// The elements that the outputs of the kernel would be without its reversal.
IndexMapKernel unreversed(const IndexMapKernel& kernel) {
  IndexMapKernel result = kernel;
  result.reversal.reset();
  return result;
}

// The length of every output's sequence.
IndexMapKernel lengths_of(const IndexMapKernel& kernel) {
  IndexMapKernel result{.element_size = size_of(kernel.reversal->lengths_type)};
  for (const IndexMapAxis& axis : kernel.axes) {
    result.axes.push_back(
        {.extent = axis.extent, .stride = static_cast<std::int64_t>(axis.lengths_stride)});
  }
  return result;
}

void copy_range(const IndexMapKernel& kernel, Inputs inputs, std::uint64_t begin,
                std::uint64_t count, std::byte* to) {
  Output output(to, Stores::cached, kernel.element_size);
  execute_index_map(kernel, inputs, begin, begin + count, output);
}

// Where the kernel reads the elements of a range, and their lengths, one behind the other.
bool is_packed(const IndexMapKernel& kernel) {
  const IndexMapAxis& inner = kernel.axes.back();
  return kernel.reversal->axis + 2 == kernel.axes.size() && inner.boundary == Boundary::none &&
         inner.stride == 1 && inner.lengths_stride == 1;
}

Columns packed_columns(const IndexMapKernel& kernel, Inputs inputs, const Part& part) {
  const std::uint64_t inner = kernel.axes.back().extent;
  const Rows rows(kernel, kernel.axes.size() - 1, part.begin / inner);
  const auto size = static_cast<std::int64_t>(kernel.element_size);
  const auto column = static_cast<std::int64_t>(part.begin % inner);
  return {.rows = inputs[0].data() + (rows.offset() + column) * size,
          .pitch = kernel.axes[kernel.reversal->axis].stride * size,
          .lengths = inputs[1].data() + (rows.lengths_offset() + part.begin % inner) *
                                            size_of(kernel.reversal->lengths_type),
          .lengths_type = kernel.reversal->lengths_type,
          .height = part.count,
          .width = part.length};
}

}  // namespace

void execute_sequences(const IndexMapKernel& kernel, Inputs inputs, const Part& part, Stores stores,
                       std::byte* output, std::uint64_t pitch) {
  if (is_packed(kernel)) {
    return reverse_columns(kernel.element_size, packed_columns(kernel, inputs, part), stores,
                           output, pitch);
  }
  const IndexMapKernel plain = unreversed(kernel), lengths = lengths_of(kernel);
  const std::uint64_t row = part.length * kernel.element_size;
  std::vector<std::byte> block(part.count * row), block_lengths(part.length * lengths.element_size);
  for (std::uint64_t i = 0; i < part.count; ++i)
    copy_range(plain, inputs, part.begin + i * part.step, part.length, &block[i * row]);
  copy_range(lengths, inputs.subspan(1), part.begin, part.length, block_lengths.data());
  reverse_columns(kernel.element_size,
                  {.rows = block.data(),
                   .pitch = static_cast<std::ptrdiff_t>(row),
                   .lengths = block_lengths.data(),
                   .lengths_type = kernel.reversal->lengths_type,
                   .height = part.count,
                   .width = part.length},
                  stores, output, pitch);
}

}  // namespace dmlop::cpu
