#include "cpu/shared_panels.hpp"

#include <algorithm>
#include <limits>
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

// Where an element is multiplied more often than this, packing takes little of the time, and panels
// are not kept.
constexpr std::uint64_t most_uses_of_kept = 4096;

/// Calls pack(packing, operands, lines, k, count, to) for all panels of a side.
template <typename T, typename Pack>
void fill_panels(const ProductKernel& kernel, Inputs inputs, const SidePanels<T>& side,
                 std::uint64_t lines, std::uint64_t lines_at_once, unsigned threads, Pack&& pack) {
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

/// One side of a product.
struct Side {
  std::size_t input;  // of the kernel
  const ProductInput* operand;
  std::uint64_t lines;
  std::size_t width;            // of a panel
  std::uint64_t lines_at_once;  // that are packed by a thread
  std::uint64_t parts;          // of a batch that read the same panel
  std::uint64_t uses;           // of an element in a batch
};

/// Whether several batches have the same elements of a side.
bool repeats_at_batches(const ProductKernel& kernel, const ProductInput& side) {
  for (std::size_t i = 0; i < kernel.batches.size(); ++i) {
    if (kernel.batches[i] > 1 && side.batch_strides[i] == 0) return true;
  }
  return false;
}

/// The panels of a side, which are null if each part should pack its own.
template <typename T, typename Pack>
std::shared_ptr<const SidePanels<T>> panels_of(const ProductKernel& kernel, Inputs inputs,
                                               const Side& side, unsigned threads,
                                               ConstantInputs* constants, Pack&& pack) {
  const bool is_constant = constants != nullptr && constants->is_constant(side.input);
  if (is_constant) {
    if (auto made = constants->find(side.input))
      return std::static_pointer_cast<const SidePanels<T>>(made);
  }
  if (!is_constant && side.parts == 1 && !repeats_at_batches(kernel, *side.operand)) return nullptr;
  auto panels = std::make_shared<SidePanels<T>>(kernel, *side.operand, side.lines, side.width);
  const std::uint64_t batches = panels->batches_of_panel();
  const bool is_kept =
      is_constant && batches <= most_uses_of_kept / side.uses && panels->make_kept_room();
  if (!is_kept && (batches * side.parts == 1 || !panels->make_room())) return nullptr;
  fill_panels(kernel, inputs, *panels, side.lines, side.lines_at_once, threads, pack);
  if (is_kept) constants->keep(side.input, panels);
  return panels;
}

/// Whether the columns are read where they are.
bool are_columns_in_place(const ProductKernel& kernel, const Blocks& parts) {
  if (!kernel.windows.empty()) return reads_columns_directly(kernel);
  const bool is_number =
      kernel.right.data_type == DataType::Float32 || kernel.right.data_type == DataType::Float64;
  return parts.ranges <= streamed_rows && kernel.right.column_stride == 1 && is_number;
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
bool SidePanels<T>::make_room() {
  const std::uint64_t most = most_shared_bytes / sizeof(T);
  if (pitch_ > most || batches_.size() > most / pitch_) return false;
  data_ = memory_.template at_least<T>(batches_.size() * pitch_);
  return true;
}

template <typename T>
bool SidePanels<T>::make_kept_room() {
  const std::uint64_t most = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
  if (pitch_ > most / batches_.size()) return false;
  kept_ = KeptBytes::make(batches_.size() * pitch_ * sizeof(T));
  if (!kept_) return false;
  data_ = reinterpret_cast<T*>(kept_->data());
  return true;
}

template <typename T>
SharedPanels<T>::SharedPanels(const ProductKernel& kernel, Inputs inputs, const Blocks& parts,
                              unsigned threads, ConstantInputs* constants) {
  const std::uint64_t columns = kernel.column_count();
  if (!kernel.left_zero)
    left_ = panels_of<T>(kernel, inputs,
                         {.input = 0,
                          .operand = &kernel.left,
                          .lines = kernel.rows,
                          .width = panel_rows(),
                          .lines_at_once = parts.ranges,
                          .parts = divided_up(columns, parts.length),
                          .uses = columns},
                         threads, constants, [](ProductPacking<T>& packing, const auto&... what) {
                           packing.pack_left(what...);
                         });
  if (!kernel.right_zero && !are_columns_in_place(kernel, parts))
    right_ = panels_of<T>(kernel, inputs,
                          {.input = 1,
                           .operand = &kernel.right,
                           .lines = columns,
                           .width = panel_columns<T>(),
                           .lines_at_once = parts.length,
                           .parts = divided_up(kernel.rows, parts.ranges),
                           .uses = kernel.rows},
                          threads, constants, [](ProductPacking<T>& packing, const auto&... what) {
                            packing.pack_right(what...);
                          });
}

template class SidePanels<float>;
template class SidePanels<double>;
template class SharedPanels<float>;
template class SharedPanels<double>;

namespace {

template <typename T>
std::unique_ptr<const Preparation> share(const ProductKernel& kernel, Inputs inputs,
                                         const Blocks& parts, unsigned threads,
                                         ConstantInputs* constants) {
  auto shared = std::make_unique<SharedPanels<T>>(kernel, inputs, parts, threads, constants);
  const bool is_any = shared->left() != nullptr || shared->right() != nullptr;
  return is_any ? std::move(shared) : nullptr;
}

}  // namespace

std::unique_ptr<const Preparation> prepare(const ProductKernel& kernel, Inputs inputs,
                                           unsigned threads, ConstantInputs* constants) {
  const PartShape shape = part_shape(kernel, 0);
  if (sums_windows(kernel) || multiplies_as_bytes(kernel)) return nullptr;
  if (!shape.blocks && constants == nullptr) return nullptr;
  const Blocks whole{.ranges = kernel.rows,
                     .inner = kernel.column_count(),
                     .length = kernel.column_count(),
                     .of = kernel.rows};
  const Blocks& parts = shape.blocks ? *shape.blocks : whole;
  if (multiplies_as_floats(kernel)) return share<float>(kernel, inputs, parts, threads, constants);
  return share<double>(kernel, inputs, parts, threads, constants);
}

}  // namespace dmlop::cpu
