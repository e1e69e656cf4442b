#include "cpu/product_packing.hpp"

#include "cpu/product_taps.hpp"

namespace dmlop::cpu {

std::span<const std::uint64_t> LeftDepth::of(std::uint64_t k, std::size_t count) {
  offsets_.resize(count);
  Tap taps{1, 1, 1}, strides{};
  const std::size_t first = taps.size() - kernel_.windows.size();
  for (std::size_t i = 0; i < kernel_.windows.size(); ++i) {
    taps[first + i] = kernel_.windows[i].taps;
    strides[first + i] = kernel_.windows[i].left_stride;
  }
  for_each_tap(taps, k, count, [&](std::size_t i, std::uint64_t channel, const Tap& tap) {
    offsets_[i] = channel * kernel_.left_depth_stride + tap[0] * strides[0] + tap[1] * strides[1] +
                  tap[2] * strides[2];
  });
  return offsets_;
}

template <typename T>
void ProductPacking<T>::pack_left(const ProductOperands& operands, const Lines& rows,
                                  std::uint64_t k, std::size_t count, T* to) {
  std::span<const T> zeros;
  if (operands.left_zero) zeros = operands.left_zero.rows(rows.begin, rows.count, zeros_);
  const ProductInput& left = kernel_.left;
  const std::byte* first =
      operands.left.data + rows.begin * left.row_stride * size_of(left.data_type);
  pack_lines<T>({left.data_type, first, left.row_stride, left_depth_.of(k, count), zeros},
                rows.count, panel_rows(), line_, to);
}

template <typename T>
void ProductPacking<T>::pack_right(const ProductOperands& operands, const Lines& columns,
                                   std::uint64_t k, std::size_t count, T* to) {
  if (!kernel_.windows.empty()) return windows(operands, columns).pack(k, count, width_, to);
  std::span<const T> zeros;
  if (operands.right_zero)
    zeros = operands.right_zero.columns(0, columns.begin, columns.count, zeros_);
  depth_.resize(count);
  for (std::size_t i = 0; i < count; ++i) depth_[i] = (k + i) * kernel_.right_depth_stride;
  const ProductInput& right = kernel_.right;
  const std::byte* first =
      operands.right.data + columns.begin * right.column_stride * size_of(right.data_type);
  pack_lines<T>({right.data_type, first, right.column_stride, depth_, zeros}, columns.count, width_,
                line_, to);
}

template <typename T>
WindowPacking<T>& ProductPacking<T>::windows(const ProductOperands& operands,
                                             const Lines& columns) {
  if (!windows_) windows_.emplace(kernel_);
  zeros_.assign(1, T{0});
  if (operands.right_zero) operands.right_zero.columns(0, 0, 1, zeros_);
  windows_->set_batch(operands.right.data, zeros_.front());
  windows_->set_columns(columns.begin, columns.count);
  return *windows_;
}

template class ProductPacking<float>;
template class ProductPacking<double>;

}  // namespace dmlop::cpu
