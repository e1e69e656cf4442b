// Products of matrices and convolutions on the CPU, in blocks of rows and columns. The sums of
// 8-bit integers, FLOAT16 and FLOAT32 are in float within a block and in double beyond it, those of
// wider integers in double. What follows the sums is computed in double and rounded once.
#include <array>
#include <cstring>
#include <type_traits>

#include "base/threshold.hpp"
#include "cpu/block_product.hpp"
#include "cpu/byte_product.hpp"
#include "cpu/direct_columns.hpp"
#include "cpu/kinds.hpp"
#include "cpu/packing.hpp"
#include "cpu/taps.hpp"
#include "cpu/window_packing.hpp"
#include "cpu/window_sums.hpp"

namespace dmlop::cpu {
namespace {

/// An input of the kernel, at the first element of a batch.
struct BoundInput {
  const ProductInput* shape = nullptr;  // null: there is none
  const std::byte* data = nullptr;

  explicit operator bool() const { return shape != nullptr; }

  /// The elements of `count` rows from `row` on, in column 0.
  template <typename T>
  std::span<const T> rows(std::uint64_t row, std::uint64_t count, std::vector<T>& to) const {
    return read(row * shape->row_stride, shape->row_stride, count, to);
  }
  /// The elements of `count` columns from `column` on, in a row.
  template <typename T>
  std::span<const T> columns(std::uint64_t row, std::uint64_t column, std::uint64_t count,
                             std::vector<T>& to) const {
    return read(row * shape->row_stride + column * shape->column_stride, shape->column_stride,
                count, to);
  }

 private:
  template <typename T>
  std::span<const T> read(std::uint64_t offset, std::uint64_t stride, std::uint64_t count,
                          std::vector<T>& to) const {
    to.resize(count);
    read_elements(shape->data_type, data + offset * size_of(shape->data_type), stride, count,
                  to.data());
    return to;
  }
};

/// The inputs of a kernel at a batch.
struct BoundInputs {
  BoundInput left, right, left_zero, right_zero, left_scale, right_scale, added;
  BoundInput output_scale, output_zero;

  BoundInputs(const ProductKernel& kernel, Inputs inputs, std::uint64_t batch) {
    std::size_t next = 0;
    const auto bind = [&](const ProductInput& input) {
      std::uint64_t offset = input.offset, rest = batch;
      for (std::size_t i = kernel.batches.size(); i-- > 0; rest /= kernel.batches[i])
        offset += rest % kernel.batches[i] * input.batch_strides[i];
      return BoundInput{&input, inputs[next++].data() + offset * size_of(input.data_type)};
    };
    const auto bind_if = [&](const std::optional<ProductInput>& input) {
      return input ? bind(*input) : BoundInput{};
    };
    left = bind(kernel.left);
    right = bind(kernel.right);
    left_zero = bind_if(kernel.left_zero);
    right_zero = bind_if(kernel.right_zero);
    left_scale = bind_if(kernel.left_scale);
    if (kernel.has_joined_scales) --next;
    right_scale = bind_if(kernel.right_scale);
    added = bind_if(kernel.added);
    if (!kernel.quantization) return;
    output_scale = bind(kernel.quantization->scale);
    output_zero = bind_if(kernel.quantization->zero_point);
  }
};

/// Rows [row, row + rows) and columns [column, column + columns) of a batch, and where they go.
struct Block {
  std::uint64_t batch, row, rows, column, columns;
  std::byte* to;
  std::uint64_t pitch;  // bytes from row to row
};

template <typename T>
class Product {
 public:
  Product(const ProductKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        inputs_(inputs),
        size_(size_of(kernel.output_type)),
        sums_windows_(cpu::sums_windows(kernel)) {
    if constexpr (std::is_same_v<T, float>) {
      if (reads_columns_directly(kernel)) direct_columns_.emplace(kernel);
    }
  }

  /// Blocks of any size.
  void run(const Block& whole) {
    if constexpr (std::is_same_v<T, float>) {
      if (sums_windows_) return sum_windows(whole);
    }
    const std::uint64_t at_once =
        direct_columns_ ? direct_columns_at_once(kernel_) : std::uint64_t{columns_at_once};
    for (std::uint64_t column = 0; column < whole.columns; column += at_once) {
      const std::uint64_t columns = std::min(whole.columns - column, at_once);
      const std::uint64_t most = most_rows(columns);
      for (std::uint64_t row = 0; row < whole.rows; row += most) {
        Block block = whole;
        block.row += row;
        block.rows = std::min(whole.rows - row, most);
        block.column += column;
        block.columns = columns;
        block.to += row * whole.pitch + column * size_;
        run_block(block);
      }
    }
  }

 private:
  void run_block(const Block& block) {
    const BoundInputs inputs(kernel_, inputs_, block.batch);
    WindowPacking<T>* windows = nullptr;
    if (is_of_bytes()) {
      multiply_bytes(block, inputs);
    } else if (kernel_.windows.empty()) {
      if (multiply(block, inputs, nullptr)) return;
    } else {
      if constexpr (std::is_same_v<T, float>) {
        if (multiply_directly(block, inputs)) return;
      }
      std::vector<T> zero(1, T{0});
      if (inputs.right_zero) inputs.right_zero.columns(0, 0, 1, zero);
      if (!windows_) windows_.emplace(kernel_);
      windows = &*windows_;
      windows->set_batch(inputs.right.data, zero.front());
      windows->set_columns(block.column, block.columns);
      if (multiply(block, inputs, windows)) return;
    }
    for (std::uint64_t r = 0; r < block.rows; ++r) finish_row(block, inputs, windows, r);
  }

  // Rows by their sums in float, which are at most sum_block.
  void sum_windows(const Block& block) {
    const BoundInputs inputs(kernel_, inputs_, block.batch);
    const std::size_t terms = kernel_.sum_length();
    set_left_depth(0, terms);
    weights_.resize(kernel_.rows * terms);
    for (std::uint64_t r = 0; r < kernel_.rows; ++r) {
      for (std::size_t k = 0; k < terms; ++k) {
        const std::uint64_t offset = r * kernel_.left.row_stride + depth_[k];
        read_elements(kernel_.left.data_type,
                      inputs.left.data + offset * size_of(kernel_.left.data_type), 0, 1,
                      &weights_[r * terms + k]);
      }
    }
    added_.assign(kernel_.rows, 0);
    if (inputs.added) inputs.added.rows(0, kernel_.rows, added_);
    for (double& added : added_) added *= kernel_.added_factor;
    if (!window_sums_) window_sums_.emplace(kernel_);
    window_sums_->run(inputs.right.data, weights_, block.column, block.columns,
                      [&](const WindowSums::Run& run) { take(block, run); });
  }

  void take(const Block& block, const WindowSums::Run& run) {
    if (run.row < block.row || run.row >= block.row + block.rows) return;
    std::byte* to =
        block.to + (run.row - block.row) * block.pitch + (run.column - block.column) * size_;
    const double added = added_[run.row];
    if (kernel_.output_type != DataType::Float32) {
      numbers_.resize(run.count);
      for (std::size_t i = 0; i < run.count; ++i)
        numbers_[i] = run.sums[i] * kernel_.factor + added;
      return write_elements(kernel_.output_type, numbers_, to);
    }
    if (kernel_.factor != 1 || kernel_.added) {
      finish_sums(run.sums, kernel_.factor, added, run.count, to);
    } else {
      std::memcpy(to, run.sums, run.count * sizeof(float));
    }
  }

  // Outputs that are not computed are left to the other way.
  bool is_of_bytes() const {
    const auto is_whole = [](const ProductWindow& window) {
      return window.computed == window.output_extent;
    };
    return std::is_same_v<T, float> && size_of(kernel_.left.data_type) == 1 &&
           size_of(kernel_.right.data_type) == 1 && multiplies_bytes() &&
           std::all_of(kernel_.windows.begin(), kernel_.windows.end(), is_whole);
  }

  // (a - x) (b - y) = a b - y a - x b + x y, for sums over all of the depth. Padding is y.
  void multiply_bytes(const Block& block, const BoundInputs& inputs) {
    left_zeros_.assign(block.rows, 0);
    right_zeros_.assign(block.columns, 0);
    if (inputs.left_zero) inputs.left_zero.rows(block.row, block.rows, left_zeros_);
    if (inputs.right_zero) inputs.right_zero.columns(0, block.column, block.columns, right_zeros_);
    const ByteLines left = left_bytes(block, inputs.left);
    const std::uint64_t depth = kernel_.sum_length();
    product_.make_room(block.rows, block.columns);
    const ByteProduct::Sums sums{product_.row(0), product_.pitch()};
    const bool is_right_signed = is_signed_integer(kernel_.right.data_type);
    if (kernel_.windows.empty()) {
      const std::uint64_t stride = kernel_.right.column_stride;
      bytes_.run(left, block.rows,
                 {inputs.right.data + block.column * stride, stride, kernel_.right_depth_stride,
                  is_right_signed},
                 block.columns, depth, sums);
    } else {
      if (!byte_windows_) byte_windows_.emplace(kernel_);
      byte_windows_->set_batch(inputs.right.data,
                               static_cast<std::uint8_t>(static_cast<int>(right_zeros_.front())));
      byte_windows_->set_columns(block.column, block.columns);
      const auto read = [&](std::uint64_t k, std::size_t count, std::size_t pitch, std::byte* to) {
        byte_windows_->read_lines(k, count, pitch, reinterpret_cast<std::uint8_t*>(to));
      };
      bytes_.run(left, block.rows, ByteReader{read, is_right_signed}, block.columns, depth, sums);
    }
    numbers_.resize(block.columns);
    for (std::size_t i = 0; i < block.columns; ++i)
      numbers_[i] = right_zeros_[i] - (is_right_signed ? 0 : 128);
    for (std::size_t r = 0; r < block.rows; ++r) {
      const double x = left_zeros_[r] + (left.is_signed ? 128 : 0);
      const double left_sum = static_cast<double>(depth) * x - bytes_.left_sums()[r];
      add_zero_points(product_.row(r), numbers_.data(), bytes_.right_sums().data(), block.columns,
                      left_sum, x);
    }
  }

  static void add_zero_points(double* __restrict row, const double* __restrict y,
                              const double* __restrict sums, std::size_t count, double left_sum,
                              double x) {
    for (std::size_t i = 0; i < count; ++i) row[i] += y[i] * left_sum - x * sums[i];
  }

  // The rows of a block; copied where their elements are not evenly apart.
  ByteLines left_bytes(const Block& block, const BoundInput& left) {
    const bool is_signed = is_signed_integer(kernel_.left.data_type);
    const std::byte* first = left.data + block.row * kernel_.left.row_stride;
    const std::uint64_t depth = kernel_.sum_length();
    set_left_depth(0, depth);
    const std::uint64_t stride = depth < 2 ? 0 : depth_[1] - depth_[0];
    bool is_even = true;
    for (std::size_t k = 1; k < depth; ++k) is_even &= depth_[k] - depth_[k - 1] == stride;
    if (is_even) return {first + depth_[0], kernel_.left.row_stride, stride, is_signed};
    left_bytes_.resize(block.rows * depth);
    Steps steps;
    for (std::size_t r = 0; r < block.rows; ++r) {
      steps.add(depth);
      const std::byte* row = first + r * kernel_.left.row_stride;
      for (std::size_t k = 0; k < depth; ++k) left_bytes_[r * depth + k] = row[depth_[k]];
    }
    return {left_bytes_.data(), depth, 1, is_signed};
  }

  // Returns whether the outputs are written; otherwise the sums are there.
  bool multiply(const Block& block, const BoundInputs& inputs, WindowPacking<T>* windows) {
    std::span<const T> left_zeros, right_zeros;
    if (inputs.left_zero) left_zeros = inputs.left_zero.rows(block.row, block.rows, left_zeros_);
    if (inputs.right_zero && windows == nullptr)
      right_zeros = inputs.right_zero.columns(0, block.column, block.columns, right_zeros_);

    const auto left = [&](std::uint64_t k, std::size_t count, T* to) {
      return pack_left(block, inputs, left_zeros, k, count, to);
    };
    const auto pack_right = [&](std::uint64_t k, std::size_t count, T* to) {
      if (windows != nullptr) {
        windows->pack(k, count, product_.width(), to);
        return RightBlock<T>{to};
      }
      if (const T* from = streamed_columns_of(block, inputs.right, right_zeros.empty()))
        return RightBlock<T>{from + k * kernel_.right_depth_stride, kernel_.right_depth_stride};
      depth_.resize(count);
      for (std::size_t i = 0; i < count; ++i) depth_[i] = (k + i) * kernel_.right_depth_stride;
      const std::uint64_t first =
          block.column * kernel_.right.column_stride * size_of(kernel_.right.data_type);
      pack_lines<T>({kernel_.right.data_type, inputs.right.data + first,
                     kernel_.right.column_stride, depth_, right_zeros},
                    block.columns, product_.width(), line_, to);
      return RightBlock<T>{to};
    };
    if (!rounds_sums(block, inputs, windows)) {
      product_.run(block.rows, block.columns, kernel_.sum_length(), left, pack_right);
      return false;
    }
    product_.run_rounded(block.rows, block.columns, kernel_.sum_length(), left, pack_right,
                         rounded_sums(block, inputs, reinterpret_cast<float*>(block.to),
                                      block.pitch / sizeof(float)));
    return true;
  }

  // Columns that are read in the input. Returns false where they have to be packed.
  bool multiply_directly(const Block& block, const BoundInputs& inputs) {
    if (!direct_columns_ || !rounds_sums(block, inputs, nullptr) ||
        !direct_columns_->set_columns(inputs.right.data, block.column, block.columns))
      return false;
    const std::size_t columns = direct_columns_->columns();
    float* rounded = rounded_memory_.template at_least<float>(block.rows * columns);
    product_.run_rounded(
        block.rows, columns, kernel_.sum_length(),
        [&](std::uint64_t k, std::size_t count, float* to) {
          return pack_left(block, inputs, {}, k, count, to);
        },
        [&](std::uint64_t k, std::size_t count, float*) { return direct_columns_->read(k, count); },
        rounded_sums(block, inputs, rounded, columns));
    for (std::uint64_t r = 0; r < block.rows; ++r)
      direct_columns_->copy_windows(rounded + r * columns, block.to + r * block.pitch);
    return true;
  }

  RoundedSums rounded_sums(const Block& block, const BoundInputs& inputs, float* to,
                           std::size_t pitch) {
    if (inputs.added) inputs.added.rows(block.row, block.rows, added_);
    for (double& added : added_) added *= kernel_.added_factor;
    return {.to = to,
            .pitch = pitch,
            .factor = kernel_.factor,
            .added = inputs.added ? added_.data() : nullptr};
  }

  LeftBlock<T> pack_left(const Block& block, const BoundInputs& inputs, std::span<const T> zeros,
                         std::uint64_t k, std::size_t count, T* to) {
    set_left_depth(k, count);
    const std::uint64_t first =
        block.row * kernel_.left.row_stride * size_of(kernel_.left.data_type);
    pack_lines<T>(
        {kernel_.left.data_type, inputs.left.data + first, kernel_.left.row_stride, depth_, zeros},
        block.rows, panel_rows, line_, to);
    return {to};
  }

  // Whether nothing follows the sums but a factor, or a number that is added to all of a row.
  bool rounds_sums(const Block& block, const BoundInputs& inputs,
                   const WindowPacking<T>* windows) const {
    const bool is_aligned =
        (reinterpret_cast<std::uintptr_t>(block.to) | block.pitch) % alignof(float) == 0;
    return std::is_same_v<T, float> && kernel_.output_type == DataType::Float32 && is_aligned &&
           !inputs.left_scale && !inputs.right_scale && !inputs.output_scale &&
           (!inputs.added || (kernel_.added->column_stride == 0 && kernel_.factor == 1)) &&
           (windows == nullptr || !windows->has_left_out());
  }

  // The first column of a block that is read where it is; null if columns have to be packed.
  const T* streamed_columns_of(const Block& block, const BoundInput& right,
                               bool has_no_zeros) const {
    const std::byte* first = right.data + block.column * sizeof(T);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(first) % alignof(T) == 0;
    const bool has_type = right.shape->data_type ==
                          (std::is_same_v<T, float> ? DataType::Float32 : DataType::Float64);
    const bool is_side_by_side =
        right.shape->column_stride == 1 && kernel_.right_depth_stride >= block.columns;
    return has_no_zeros && has_type && is_aligned && is_side_by_side && block.rows <= streamed_rows
               ? reinterpret_cast<const T*>(first)
               : nullptr;
  }

  // The offsets of elements [k, k + count) of a left row: channels, and taps within them.
  void set_left_depth(std::uint64_t k, std::size_t count) {
    depth_.resize(count);
    Tap taps{1, 1, 1}, strides{};
    const std::size_t axes = kernel_.windows.size();
    for (std::size_t i = 0; i < axes; ++i) {
      taps[3 - axes + i] = kernel_.windows[i].taps;
      strides[3 - axes + i] = kernel_.windows[i].left_stride;
    }
    for_each_tap(taps, k, count, [&](std::size_t i, std::uint64_t channel, const Tap& tap) {
      depth_[i] = channel * kernel_.left_depth_stride + tap[0] * strides[0] + tap[1] * strides[1] +
                  tap[2] * strides[2];
    });
  }

  void finish_row(const Block& block, const BoundInputs& inputs, const WindowPacking<T>* windows,
                  std::uint64_t r) {
    const std::span<double> row(product_.row(r), block.columns);
    const std::uint64_t at = block.row + r;
    const auto one = [&](const BoundInput& input) {
      return input.columns(at, block.column, 1, numbers_).front();
    };
    if (inputs.added && kernel_.is_added_scaled) add(inputs, block, at, row);
    const double factor = kernel_.factor * (inputs.left_scale ? one(inputs.left_scale) : 1);
    if (inputs.right_scale) {
      const auto scales = inputs.right_scale.columns(at, block.column, block.columns, numbers_);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] *= factor * scales[i];
    } else if (factor != 1) {
      for (double& sum : row) sum *= factor;
    }
    if (inputs.added && !kernel_.is_added_scaled) add(inputs, block, at, row);
    if (windows != nullptr && windows->has_left_out()) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (windows->is_left_out()[i]) row[i] = 0;
      }
    }
    if (inputs.output_scale)
      quantize_doubles(row.data(), one(inputs.output_scale),
                       inputs.output_zero ? one(inputs.output_zero) : 0, row.size());
    write_elements(kernel_.output_type, row, block.to + r * block.pitch);
  }

  void add(const BoundInputs& inputs, const Block& block, std::uint64_t at, std::span<double> row) {
    const auto added = inputs.added.columns(at, block.column, block.columns, numbers_);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += kernel_.added_factor * added[i];
  }

  const ProductKernel& kernel_;
  Inputs inputs_;
  std::size_t size_;
  bool sums_windows_;
  BlockProduct<T> product_;
  ByteProduct bytes_;
  std::optional<WindowPacking<T>> windows_;
  std::optional<WindowPacking<std::uint8_t>> byte_windows_;
  std::optional<WindowSums> window_sums_;
  std::optional<DirectColumns> direct_columns_;
  GrowingScratch rounded_memory_;
  std::vector<std::byte> left_bytes_;
  std::vector<std::uint64_t> depth_;
  std::vector<T> line_, left_zeros_, right_zeros_;
  std::vector<float> weights_;
  std::vector<double> numbers_, added_;
};

/// Outputs [begin, end) in row-major order: the rest of a row, whole rows, and so on.
template <typename T>
void multiply_stretch(const ProductKernel& kernel, Product<T>& product, const Part& part,
                      std::byte* to) {
  const std::uint64_t columns = kernel.column_count(), size = size_of(kernel.output_type);
  const std::uint64_t end = part.begin + part.length;
  for (std::uint64_t at = part.begin; at < end;) {
    const std::uint64_t row = at / columns % kernel.rows, column = at % columns;
    const std::uint64_t batch = at / columns / kernel.rows;
    const bool is_whole = column == 0 && end - at >= columns;
    const std::uint64_t rows = is_whole ? std::min((end - at) / columns, kernel.rows - row) : 1;
    const std::uint64_t here = is_whole ? columns : std::min(columns - column, end - at);
    product.run({batch, row, rows, column, here, to + (at - part.begin) * size, columns * size});
    at += rows * here;
  }
}

template <typename T>
void run_as(const ProductKernel& kernel, Inputs inputs, const Part& part,
            const Destination& output) {
  Product<T> product(kernel, inputs);
  if (part.count == 1) return multiply_stretch(kernel, product, part, output.to);
  const std::uint64_t columns = kernel.column_count(), row = part.begin / columns;
  product.run({row / kernel.rows, row % kernel.rows, part.count, part.begin % columns, part.length,
               output.to, output.pitch});
}

bool fits_float(DataType type) {
  return is_within_float32(type) || info(type).bits <= 8;
}

}  // namespace

// Small matrices together; of others the blocks that are packed at once, smaller ones where there
// would be too few for all threads.
PartShape part_shape(const ProductKernel& kernel, std::uint64_t) {
  constexpr Threshold small{std::uint64_t{1} << 20, 8};
  constexpr Threshold worthwhile{std::uint64_t{1} << 22, 8};
  constexpr std::uint64_t column_unit = 32;
  const std::uint64_t enough_parts = hardware_threads();
  const std::uint64_t columns = kernel.column_count(), sum = kernel.sum_length();
  const std::uint64_t matrix = kernel.rows * columns;
  if (matrix <= small / sum) return {.granule = matrix};
  if (sums_windows(kernel)) {
    constexpr Threshold sums_at_once{std::uint64_t{1} << 15, 9};
    const std::uint64_t width = kernel.windows.back().output_extent;
    const std::uint64_t most = std::max(width, sums_at_once / width * width);
    return {.blocks = Blocks{.ranges = kernel.rows,
                             .inner = columns,
                             .length = even_block(columns, most, width),
                             .of = kernel.rows}};
  }
  const bool is_direct = reads_columns_directly(kernel);
  const std::uint64_t unit = is_direct ? kernel.windows.back().output_extent : column_unit;
  std::uint64_t length = even_block(
      columns, is_direct ? direct_columns_at_once(kernel) : std::uint64_t{columns_at_once}, unit);
  std::uint64_t rows = even_block(kernel.rows, most_rows(length), panel_rows);
  const std::uint64_t batches = kernel.output_elements() / matrix;
  const auto parts = [&] {
    return batches * ((kernel.rows + rows - 1) / rows) * ((columns + length - 1) / length);
  };
  while (parts() < enough_parts && rows * length > worthwhile / sum &&
         (rows > panel_rows || length > unit)) {
    if (rows > panel_rows && (rows * 2 >= length || length <= unit)) {
      rows = even_block(rows, (rows + 1) / 2, panel_rows);
    } else {
      length = even_block(length, (length + 1) / 2, unit);
    }
  }
  return {.blocks = Blocks{.ranges = rows, .inner = columns, .length = length, .of = kernel.rows}};
}

void run_part(const ProductKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  const bool is_float = fits_float(kernel.left.data_type) && fits_float(kernel.right.data_type);
  if (is_float) return run_as<float>(kernel, inputs, part, outputs.front());
  run_as<double>(kernel, inputs, part, outputs.front());
}

}  // namespace dmlop::cpu
