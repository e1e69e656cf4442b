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
#include "cpu/product_operands.hpp"
#include "cpu/product_packing.hpp"
#include "cpu/product_parts.hpp"
#include "cpu/rounding.hpp"
#include "cpu/shared_panels.hpp"
#include "cpu/window_packing.hpp"
#include "cpu/window_sums.hpp"

namespace dmlop::cpu {
namespace {

/// Rows [row, row + rows) and columns [column, column + columns) of a batch, and where they go.
struct Block {
  std::uint64_t batch, row, rows, column, columns;
  std::byte* to;
  std::uint64_t pitch;  // bytes from row to row
};

template <typename T>
class Product {
 public:
  /// `shared` may be null: then nothing is shared.
  Product(const ProductKernel& kernel, Inputs inputs, const SharedPanels<T>* shared)
      : kernel_(kernel),
        inputs_(inputs),
        shared_(shared),
        packing_(kernel),
        left_depth_(kernel),
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
    const ProductOperands operands(kernel_, inputs_, block.batch);
    const WindowPacking<T>* windows = nullptr;
    if (multiplies_as_bytes(kernel_)) {
      multiply_bytes(block, operands);
    } else {
      if constexpr (std::is_same_v<T, float>) {
        if (multiply_directly(block, operands)) return;
      }
      if (!kernel_.windows.empty()) windows = &packing_.windows(operands, columns_of(block));
      if (multiply(block, operands, windows)) return;
    }
    for (std::uint64_t r = 0; r < block.rows; ++r) finish_row(block, operands, windows, r);
  }

  // Rows by their sums in float, which are at most sum_block.
  void sum_windows(const Block& block) {
    const ProductOperands operands(kernel_, inputs_, block.batch);
    const std::size_t terms = kernel_.sum_length();
    const auto depth = left_depth_.of(0, terms);
    weights_.resize(kernel_.rows * terms);
    for (std::uint64_t r = 0; r < kernel_.rows; ++r) {
      for (std::size_t k = 0; k < terms; ++k) {
        const std::uint64_t offset = r * kernel_.left.row_stride + depth[k];
        read_elements(kernel_.left.data_type,
                      operands.left.data + offset * size_of(kernel_.left.data_type), 0, 1,
                      &weights_[r * terms + k]);
      }
    }
    added_.assign(kernel_.rows, 0);
    if (operands.added) operands.added.rows(0, kernel_.rows, added_);
    for (double& added : added_) added *= kernel_.added_factor;
    if (!window_sums_) window_sums_.emplace(kernel_);
    window_sums_->run(operands.right.data, weights_, block.column, block.columns,
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

  // (a - x) (b - y) = a b - y a - x b + x y, for sums over all of the depth. Padding is y.
  void multiply_bytes(const Block& block, const ProductOperands& operands) {
    left_zeros_.assign(block.rows, 0);
    right_zeros_.assign(block.columns, 0);
    if (operands.left_zero) operands.left_zero.rows(block.row, block.rows, left_zeros_);
    if (operands.right_zero)
      operands.right_zero.columns(0, block.column, block.columns, right_zeros_);
    const ByteLines left = left_bytes(block, operands.left);
    const std::uint64_t depth = kernel_.sum_length();
    product_.make_room(block.rows, block.columns);
    const ByteProduct::Sums sums{product_.row(0), product_.pitch()};
    const bool is_right_signed = is_signed_integer(kernel_.right.data_type);
    if (kernel_.windows.empty()) {
      const std::uint64_t stride = kernel_.right.column_stride;
      bytes_.run(left, block.rows,
                 {operands.right.data + block.column * stride, stride, kernel_.right_depth_stride,
                  is_right_signed},
                 block.columns, depth, sums);
    } else {
      if (!byte_windows_) byte_windows_.emplace(kernel_);
      byte_windows_->set_batch(operands.right.data,
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
  ByteLines left_bytes(const Block& block, const ProductOperand& left) {
    const bool is_signed = is_signed_integer(kernel_.left.data_type);
    const std::byte* first = left.data + block.row * kernel_.left.row_stride;
    const std::uint64_t depth = kernel_.sum_length();
    const auto places = left_depth_.of(0, depth);
    const std::uint64_t stride = depth < 2 ? 0 : places[1] - places[0];
    bool is_even = true;
    for (std::size_t k = 1; k < depth; ++k) is_even &= places[k] - places[k - 1] == stride;
    if (is_even) return {first + places[0], kernel_.left.row_stride, stride, is_signed};
    left_bytes_.resize(block.rows * depth);
    Steps steps;
    for (std::size_t r = 0; r < block.rows; ++r) {
      steps.add(depth);
      const std::byte* row = first + r * kernel_.left.row_stride;
      for (std::size_t k = 0; k < depth; ++k) left_bytes_[r * depth + k] = row[places[k]];
    }
    return {left_bytes_.data(), depth, 1, is_signed};
  }

  // Returns whether the outputs are written; otherwise the sums are there.
  bool multiply(const Block& block, const ProductOperands& operands,
                const WindowPacking<T>* windows) {
    const auto left = [&](std::uint64_t k, std::size_t count, T* to) {
      return left_panels(block, operands, k, count, to);
    };
    const T* streamed = windows == nullptr ? streamed_columns_of(block, operands) : nullptr;
    const auto pack_right = [&](std::uint64_t k, std::size_t count, T* to) {
      if (streamed != nullptr) {
        return RightBlock<T>{streamed + k * kernel_.right_depth_stride, kernel_.right_depth_stride};
      }
      const T* shared = shared_columns(block, k, count);
      if (shared != nullptr) return RightBlock<T>{shared};
      packing_.pack_right(operands, columns_of(block), k, count, to);
      return RightBlock<T>{to};
    };
    if (!rounds_sums(block, operands, windows)) {
      product_.run(block.rows, block.columns, kernel_.sum_length(), left, pack_right);
      return false;
    }
    product_.run_rounded(block.rows, block.columns, kernel_.sum_length(), left, pack_right,
                         rounded_sums(block, operands, reinterpret_cast<float*>(block.to),
                                      block.pitch / sizeof(float)));
    return true;
  }

  // Columns that are read in the input. Returns false where they have to be packed.
  bool multiply_directly(const Block& block, const ProductOperands& operands) {
    if (!direct_columns_ || !rounds_sums(block, operands, nullptr) ||
        !direct_columns_->set_columns(operands.right.data, block.column, block.columns))
      return false;
    const std::size_t columns = direct_columns_->columns();
    float* rounded = rounded_memory_.template at_least<float>(block.rows * columns);
    product_.run_rounded(
        block.rows, columns, kernel_.sum_length(),
        [&](std::uint64_t k, std::size_t count, float* to) {
          return left_panels(block, operands, k, count, to);
        },
        [&](std::uint64_t k, std::size_t count, float*) { return direct_columns_->read(k, count); },
        rounded_sums(block, operands, rounded, columns));
    for (std::uint64_t r = 0; r < block.rows; ++r)
      direct_columns_->copy_windows(rounded + r * columns, block.to + r * block.pitch);
    return true;
  }

  RoundedSums rounded_sums(const Block& block, const ProductOperands& operands, float* to,
                           std::size_t pitch) {
    return {.to = to,
            .pitch = pitch,
            .factor = kernel_.factor,
            .added = operands.added ? added_to_sums(block, operands.added) : AddedToSums{}};
  }

  AddedToSums added_to_sums(const Block& block, const ProductOperand& added) {
    if (const float* elements = added_elements(block, added))
      return {.elements = elements,
              .pitch = added.shape->row_stride,
              .factor = kernel_.added_factor};
    added.rows(block.row, block.rows, added_);
    for (double& number : added_) number *= kernel_.added_factor;
    return {.numbers = added_.data()};
  }

  // The elements that are added to a block, if they are side by side; otherwise null.
  const float* added_elements(const Block& block, const ProductOperand& added) const {
    const ProductInput& shape = *added.shape;
    const std::uint64_t first = block.row * shape.row_stride + block.column;
    const std::byte* data = added.data + first * sizeof(float);
    return shape.data_type == DataType::Float32 && shape.column_stride == 1 &&
                   reinterpret_cast<std::uintptr_t>(data) % alignof(float) == 0
               ? reinterpret_cast<const float*>(data)
               : nullptr;
  }

  LeftBlock<T> left_panels(const Block& block, const ProductOperands& operands, std::uint64_t k,
                           std::size_t count, T* to) {
    const SidePanels<T>* shared = shared_ != nullptr ? shared_->left() : nullptr;
    const T* panels = shared != nullptr ? shared->at(block.batch, block.row, k, count) : nullptr;
    if (panels != nullptr) return {panels};
    packing_.pack_left(operands, {block.row, block.rows}, k, count, to);
    return {to};
  }

  // Null if they have to be packed.
  const T* shared_columns(const Block& block, std::uint64_t k, std::size_t count) const {
    const SidePanels<T>* shared = shared_ != nullptr ? shared_->right() : nullptr;
    return shared != nullptr ? shared->at(block.batch, block.column, k, count) : nullptr;
  }

  // Whether nothing follows the sums but a factor, and what is added to all of a row or to each.
  bool rounds_sums(const Block& block, const ProductOperands& operands,
                   const WindowPacking<T>* windows) const {
    const bool is_aligned =
        (reinterpret_cast<std::uintptr_t>(block.to) | block.pitch) % alignof(float) == 0;
    return std::is_same_v<T, float> && kernel_.output_type == DataType::Float32 && is_aligned &&
           !operands.left_scale && !operands.right_scale && !operands.output_scale &&
           (!operands.added || adds_to_sums(block, operands.added)) &&
           (windows == nullptr || !windows->has_left_out());
  }

  bool adds_to_sums(const Block& block, const ProductOperand& added) const {
    if (kernel_.is_added_scaled && kernel_.factor != 1) return false;
    return added.shape->column_stride == 0 ||
           (kernel_.windows.empty() && added_elements(block, added) != nullptr);
  }

  // The first column of a block that is read where it is; null if columns have to be packed.
  const T* streamed_columns_of(const Block& block, const ProductOperands& operands) const {
    const std::byte* first = operands.right.data + block.column * sizeof(T);
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(first) % alignof(T) == 0;
    const bool has_type = kernel_.right.data_type ==
                          (std::is_same_v<T, float> ? DataType::Float32 : DataType::Float64);
    const bool is_side_by_side =
        kernel_.right.column_stride == 1 && kernel_.right_depth_stride >= block.columns;
    return !operands.right_zero && has_type && is_aligned && is_side_by_side &&
                   block.rows <= streamed_rows
               ? reinterpret_cast<const T*>(first)
               : nullptr;
  }

  static Lines columns_of(const Block& block) { return {block.column, block.columns}; }

  void finish_row(const Block& block, const ProductOperands& operands,
                  const WindowPacking<T>* windows, std::uint64_t r) {
    const std::span<double> row(product_.row(r), block.columns);
    const std::uint64_t at = block.row + r;
    const auto one = [&](const ProductOperand& input) {
      return input.columns(at, block.column, 1, numbers_).front();
    };
    if (operands.added && kernel_.is_added_scaled) add(operands, block, at, row);
    const double factor = kernel_.factor * (operands.left_scale ? one(operands.left_scale) : 1);
    if (operands.right_scale) {
      const auto scales = operands.right_scale.columns(at, block.column, block.columns, numbers_);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] *= factor * scales[i];
    } else if (factor != 1) {
      for (double& sum : row) sum *= factor;
    }
    if (operands.added && !kernel_.is_added_scaled) add(operands, block, at, row);
    if (windows != nullptr && windows->has_left_out()) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (windows->is_left_out()[i]) row[i] = 0;
      }
    }
    if (operands.output_scale)
      quantize_doubles(row.data(), one(operands.output_scale),
                       operands.output_zero ? one(operands.output_zero) : 0, row.size());
    write_elements(kernel_.output_type, row, block.to + r * block.pitch);
  }

  void add(const ProductOperands& operands, const Block& block, std::uint64_t at,
           std::span<double> row) {
    const auto added = operands.added.columns(at, block.column, block.columns, numbers_);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] += kernel_.added_factor * added[i];
  }

  const ProductKernel& kernel_;
  Inputs inputs_;
  const SharedPanels<T>* shared_;
  ProductPacking<T> packing_;
  LeftDepth left_depth_;
  std::size_t size_;
  bool sums_windows_;
  BlockProduct<T> product_;
  ByteProduct bytes_;
  std::optional<WindowPacking<std::uint8_t>> byte_windows_;
  std::optional<WindowSums> window_sums_;
  std::optional<DirectColumns> direct_columns_;
  GrowingScratch rounded_memory_;
  std::vector<std::byte> left_bytes_;
  std::vector<float> left_zeros_, right_zeros_;  // of bytes
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
void run_as(const ProductKernel& kernel, Inputs inputs, const Preparation* prepared,
            const Part& part, const Destination& output) {
  Product<T> product(kernel, inputs, static_cast<const SharedPanels<T>*>(prepared));
  if (part.count == 1) return multiply_stretch(kernel, product, part, output.to);
  const std::uint64_t columns = kernel.column_count(), row = part.begin / columns;
  product.run({row / kernel.rows, row % kernel.rows, part.count, part.begin % columns, part.length,
               output.to, output.pitch});
}

}  // namespace

void run_part(const ProductKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores, Destinations outputs) {
  if (multiplies_as_floats(kernel))
    return run_as<float>(kernel, inputs, prepared, part, outputs.front());
  run_as<double>(kernel, inputs, prepared, part, outputs.front());
}

}  // namespace dmlop::cpu
