#include "cpu/transpose.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/parallel.hpp"
#include "cpu/elements.hpp"
#include "cpu/rows.hpp"
#include "cpu/scratch.hpp"

namespace dmlop::cpu {
namespace {

// The sides of a block in bytes: of what is read of each column, and written of each row, in one
// piece. Less costs more pages, and a larger block does not fit the second cache.
constexpr std::uint64_t read_bytes = 512, written_bytes = 512;
// Fewer bytes of a column are better moved otherwise.
constexpr std::uint64_t read_bytes_min = 64;

/// The axis along which elements stand side by side in the source, if it is not the last one.
std::optional<std::size_t> turned_axis(const IndexMapKernel& kernel) {
  const auto is_plain = [](const IndexMapAxis& axis) { return axis.boundary == Boundary::none; };
  const bool is_linear = std::all_of(kernel.axes.begin(), kernel.axes.end(), is_plain);
  if (kernel.reversal || !is_linear || std::abs(kernel.axes.back().stride) <= 1)
    return std::nullopt;
  for (std::size_t i = 0; i + 1 < kernel.axes.size(); ++i) {
    const IndexMapAxis& axis = kernel.axes[i];
    if (axis.stride == 1 && axis.extent * kernel.element_size >= read_bytes_min) return i;
  }
  return std::nullopt;
}

// Whole lines past the caches, where asked for.
void write(std::byte* to, const std::byte* from, std::uint64_t bytes, Stores stores) {
  constexpr std::uint64_t line = 64;
  const std::uint64_t behind = reinterpret_cast<std::uintptr_t>(to) % line;
  const std::uint64_t before = std::min(bytes, (line - behind) % line);
  const std::uint64_t whole = stores == Stores::streaming ? (bytes - before) / line * line : 0;
  std::memcpy(to, from, before);
  stream(to + before, from + before, whole);
  const std::uint64_t done = before + whole;
  std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace

bool is_transposed(const IndexMapKernel& kernel) {
  return turned_axis(kernel).has_value();
}

std::optional<PartShape> transposed_shape(const IndexMapKernel& kernel, std::uint64_t bytes) {
  const auto axis = turned_axis(kernel);
  if (!axis) return std::nullopt;
  std::uint64_t inner = 1;
  for (std::size_t i = *axis + 1; i < kernel.axes.size(); ++i) inner *= kernel.axes[i].extent;
  const std::uint64_t size = kernel.element_size;
  const std::uint64_t rows =
      std::min(kernel.axes[*axis].extent, std::max(read_bytes, bytes / inner) / size);
  const std::uint64_t length = std::max(written_bytes, bytes / rows) / size;
  return PartShape{
      .blocks = Blocks{rows, inner, std::min(inner, length), kernel.axes[*axis].extent}};
}

// Range i is row i of a block, whose columns are those of the last axis.
void execute_transposed(const IndexMapKernel& kernel, Inputs inputs, const Part& part,
                        Stores stores, const Destination& to) {
  const std::uint64_t size = kernel.element_size;
  const std::uint64_t width = kernel.axes.back().extent;
  const std::int64_t stride = kernel.axes.back().stride;
  const std::uint64_t rows_most = read_bytes / size, columns_most = written_bytes / size;
  Scratch block(rows_most * written_bytes);
  Steps steps;
  for (std::uint64_t i = 0; i < part.count; i += rows_most) {
    const std::uint64_t rows = std::min(rows_most, part.count - i);
    for (std::uint64_t done = 0; done < part.length;) {
      const std::uint64_t first = part.begin + i * part.step + done;
      const std::uint64_t column = first % width;
      const std::uint64_t columns = std::min({columns_most, width - column, part.length - done});
      const Rows row(kernel, kernel.axes.size() - 1, first / width);
      const std::int64_t from = row.offset() + static_cast<std::int64_t>(column) * stride;
      steps.add(columns * far_steps / 4);
      transpose(size, block.data(), columns,
                inputs[0].data() + from * static_cast<std::int64_t>(size), stride, rows, columns);
      std::byte* output = to.to + i * to.pitch + done * size;
      if (columns * size == to.pitch) {
        write(output, block.data(), rows * to.pitch, stores);
      } else {
        for (std::uint64_t r = 0; r < rows; ++r)
          write(output + r * to.pitch, block.data() + r * columns * size, columns * size, stores);
      }
      done += columns;
    }
  }
}

}  // namespace dmlop::cpu
