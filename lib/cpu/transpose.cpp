#include "cpu/transpose.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/elements.hpp"
#include "cpu/rows.hpp"
#include "cpu/scratch.hpp"

namespace dmlop::cpu {
namespace {

// The sides of a block in bytes: of what is read of each column, and written of each row, in one
// piece. Less costs more pages, and a larger block does not fit the second cache.
constexpr Threshold read_bytes{512, 24}, written_bytes{512, 40};
// Fewer bytes of a column are better moved otherwise.
constexpr Threshold read_bytes_min{64, 2};

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

/// Elements of the output for one index along an axis.
std::uint64_t inner_elements(const IndexMapKernel& kernel, std::size_t axis) {
  std::uint64_t inner = 1;
  for (std::size_t i = axis + 1; i < kernel.axes.size(); ++i) inner *= kernel.axes[i].extent;
  return inner;
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

/// Moves blocks of rows: range i of a part is row i of it, whose columns are those of the last
/// axis.
class BlockMover {
 public:
  BlockMover(const IndexMapKernel& kernel, const std::byte* input, Stores stores)
      : kernel_(kernel),
        input_(input),
        stores_(stores),
        size_(kernel.element_size),
        block_(read_bytes / size_ * written_bytes) {}

  void move(const Part& part, const Destination& to) {
    const std::uint64_t width = kernel_.axes.back().extent;
    const std::uint64_t rows_most = read_bytes / size_, columns_most = written_bytes / size_;
    for (std::uint64_t i = 0; i < part.count; i += rows_most) {
      const std::uint64_t rows = std::min(rows_most, part.count - i);
      for (std::uint64_t done = 0; done < part.length;) {
        const std::uint64_t first = part.begin + i * part.step + done;
        const std::uint64_t columns =
            std::min({columns_most, width - first % width, part.length - done});
        move_block(first, rows, columns, {to.to + i * to.pitch + done * size_, to.pitch});
        done += columns;
      }
    }
  }

 private:
  // `rows` by `columns` elements from element `first` of the output on.
  void move_block(std::uint64_t first, std::uint64_t rows, std::uint64_t columns,
                  const Destination& to) {
    const std::uint64_t width = kernel_.axes.back().extent;
    const std::int64_t stride = kernel_.axes.back().stride;
    const std::int64_t from =
        offset_of(first / width) + static_cast<std::int64_t>(first % width) * stride;
    steps_.add(columns * far_steps / 4);
    const std::byte* input = input_ + from * static_cast<std::int64_t>(size_);
    const std::uint64_t bytes = columns * size_;
    // Rows that follow each other are written as they are made.
    const bool is_direct = bytes == to.pitch && stores_ == Stores::cached;
    std::byte* block = is_direct ? to.to : block_.data();
    transpose(size_, block, columns, input, stride, rows, columns);
    if (is_direct) return;
    if (bytes == to.pitch) return write(to.to, block, rows * to.pitch, stores_);
    for (std::uint64_t r = 0; r < rows; ++r)
      write(to.to + r * to.pitch, block + r * bytes, bytes, stores_);
  }

  // Where a row of the last axis begins in the source; all axes are plain.
  std::int64_t offset_of(std::uint64_t row) const {
    std::int64_t offset = kernel_.offset;
    for (std::size_t i = kernel_.axes.size() - 1; i-- > 0; row /= kernel_.axes[i].extent)
      offset += static_cast<std::int64_t>(row % kernel_.axes[i].extent) * kernel_.axes[i].stride;
    return offset;
  }

  const IndexMapKernel& kernel_;
  const std::byte* input_;
  Stores stores_;
  std::uint64_t size_;
  Scratch block_;
  Steps steps_;
};

}  // namespace

bool is_transposed(const IndexMapKernel& kernel, const Part& part) {
  const auto axis = turned_axis(kernel);
  if (!axis || part.count > 1) return axis.has_value();
  const std::uint64_t whole = inner_elements(kernel, *axis) * kernel.axes[*axis].extent;
  return part.begin % whole == 0 && part.length % whole == 0;
}

std::optional<PartShape> transposed_shape(const IndexMapKernel& kernel, std::uint64_t bytes) {
  const auto axis = turned_axis(kernel);
  if (!axis) return std::nullopt;
  const std::uint64_t inner = inner_elements(kernel, *axis), size = kernel.element_size;
  // Of small blocks a part has many.
  const std::uint64_t whole = kernel.axes[*axis].extent * inner;
  if (whole <= bytes / size / 4) return PartShape{.granule = whole};
  const std::uint64_t rows = std::min(kernel.axes[*axis].extent,
                                      std::max<std::uint64_t>(read_bytes, bytes / inner) / size);
  const std::uint64_t length = std::max<std::uint64_t>(written_bytes, bytes / rows) / size;
  return PartShape{.blocks =
                       Blocks{rows, inner, std::min(inner, length), kernel.axes[*axis].extent}};
}

void execute_transposed(const IndexMapKernel& kernel, Inputs inputs, const Part& part,
                        Stores stores, const Destination& to) {
  BlockMover mover(kernel, inputs[0].data(), stores);
  if (part.count > 1) return mover.move(part, to);
  const std::size_t axis = *turned_axis(kernel);
  const std::uint64_t inner = inner_elements(kernel, axis), rows = kernel.axes[axis].extent;
  for (std::uint64_t done = 0; done < part.length; done += rows * inner) {
    mover.move({.begin = part.begin + done, .length = inner, .step = inner, .count = rows},
               {to.to + done * kernel.element_size, inner * kernel.element_size});
  }
}

}  // namespace dmlop::cpu
