#include "cpu/shared_panels.hpp"

#include <algorithm>
#include <optional>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/direct_columns.hpp"
#include "cpu/product_parts.hpp"
#include "cpu/window_sums.hpp"

namespace dmlop::cpu {
namespace {

// Each part packs what it needs of a larger side, so that memory has room for it.
constexpr Threshold most_shared_bytes{std::uint64_t{32} << 20, std::uint64_t{1} << 12};

/// Calls pack(packing, operands, lines, k, count, to) for all panels of a side.
template <typename T, typename Pack>
void fill_panels(const ProductKernel& kernel, Inputs inputs, const SidePanels<T>& side,
                 std::uint64_t lines, std::uint64_t lines_at_once, unsigned threads, Pack&& pack) {
  if (!side.are_shared()) return;
  const std::uint64_t depth = kernel.sum_length(), depth_at_once = sum_block;
  const std::uint64_t per_lines = divided_up(depth, depth_at_once);
  const std::uint64_t per_batch = divided_up(lines, lines_at_once) * per_lines;
  std::vector<std::optional<ProductPacking<T>>> packings(threads);
  parallel_for(threads, side.batches().size() * per_batch, [&](unsigned worker, std::uint64_t i) {
    auto& packing = packings[worker];
    if (!packing) packing.emplace(kernel);
    const std::uint64_t batch = side.batches()[i / per_batch];
    const std::uint64_t line = i % per_batch / per_lines * lines_at_once;
    const std::uint64_t k = i % per_lines * depth_at_once;
    const Lines here{line, std::min(lines_at_once, lines - line)};
    const std::size_t count = std::min(depth_at_once, depth - k);
    pack(*packing, ProductOperands(kernel, inputs, batch), here, k, count,
         side.place(batch, line, k, count));
  });
}

}  // namespace

template <typename T>
SidePanels<T>::SidePanels(const ProductKernel& kernel, const ProductInput& side,
                          std::uint64_t lines, std::size_t width)
    : width_(width),
      lines_(divided_up(lines, width) * width),
      pitch_(lines_ * kernel.sum_length()) {
  const std::uint64_t all = kernel.output_elements() / (kernel.rows * kernel.column_count());
  for (std::uint64_t batch = 0; batch < all; ++batch) {
    // Its number among those that differ, which come in order.
    std::uint64_t number = 0, scale = 1, rest = batch;
    for (std::size_t i = kernel.batches.size(); i-- > 0; rest /= kernel.batches[i]) {
      if (side.batch_strides[i] == 0) continue;
      number += rest % kernel.batches[i] * scale;
      scale *= kernel.batches[i];
    }
    panels_of_.push_back(number);
    if (number == batches_.size()) batches_.push_back(batch);
  }
}

template <typename T>
void SidePanels<T>::share_if_worthwhile(std::uint64_t uses) {
  const std::uint64_t most = most_shared_bytes / sizeof(T);
  const bool is_small = pitch_ <= most && batches_.size() <= most / pitch_;
  const bool has_uses = panels_of_.size() / batches_.size() * uses > 1;
  if (is_small && has_uses) data_ = memory_.template at_least<T>(batches_.size() * pitch_);
}

template <typename T>
SharedPanels<T>::SharedPanels(const ProductKernel& kernel, Inputs inputs, const Blocks& parts,
                              unsigned threads)
    : left_(kernel, kernel.left, kernel.rows, panel_rows()),
      right_(kernel, kernel.right, kernel.column_count(), panel_columns<T>()) {
  const std::uint64_t columns = kernel.column_count();
  const bool are_read_in_place = parts.ranges <= streamed_rows || reads_columns_directly(kernel);
  if (!kernel.left_zero) left_.share_if_worthwhile(divided_up(columns, parts.length));
  if (!kernel.right_zero && !are_read_in_place)
    right_.share_if_worthwhile(divided_up(kernel.rows, parts.ranges));
  fill_panels(kernel, inputs, left_, kernel.rows, parts.ranges, threads,
              [](ProductPacking<T>& packing, const auto&... what) { packing.pack_left(what...); });
  fill_panels(kernel, inputs, right_, columns, parts.length, threads,
              [](ProductPacking<T>& packing, const auto&... what) { packing.pack_right(what...); });
}

template class SidePanels<float>;
template class SidePanels<double>;
template class SharedPanels<float>;
template class SharedPanels<double>;

namespace {

template <typename T>
std::unique_ptr<const Preparation> share(const ProductKernel& kernel, Inputs inputs,
                                         const Blocks& parts, unsigned threads) {
  auto shared = std::make_unique<SharedPanels<T>>(kernel, inputs, parts, threads);
  const bool is_any = shared->left().are_shared() || shared->right().are_shared();
  return is_any ? std::move(shared) : nullptr;
}

}  // namespace

std::unique_ptr<const Preparation> prepare(const ProductKernel& kernel, Inputs inputs,
                                           unsigned threads) {
  const PartShape shape = part_shape(kernel, 0);
  if (!shape.blocks || sums_windows(kernel) || multiplies_as_bytes(kernel)) return nullptr;
  if (multiplies_as_floats(kernel)) return share<float>(kernel, inputs, *shape.blocks, threads);
  return share<double>(kernel, inputs, *shape.blocks, threads);
}

}  // namespace dmlop::cpu
