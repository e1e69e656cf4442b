#include "cpu/window_packing.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace dmlop::cpu {
namespace {

/// The source index of a tap at an output index; nothing where it lies at padding.
std::optional<std::uint64_t> source_index(const ProductWindow& axis, std::uint64_t o,
                                          std::uint64_t tap) {
  const std::int64_t at = static_cast<std::int64_t>(o) * axis.step +
                          static_cast<std::int64_t>(tap) * axis.tap_step + axis.offset;
  if (at < 0) return std::nullopt;
  auto index = static_cast<std::uint64_t>(at);
  if (axis.divisor != 1) {
    if (at % axis.divisor != 0) return std::nullopt;
    index = static_cast<std::uint64_t>(at / axis.divisor);
  }
  return index < axis.input_extent ? std::optional(index) : std::nullopt;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a <= 0 ? -(-a / b) : (a + b - 1) / b;
}

}  // namespace

template <typename T>
WindowPacking<T>::WindowPacking(const ProductKernel& kernel)
    : kernel_(kernel), size_(size_of(kernel.right.data_type)) {
  std::copy(kernel.windows.begin(), kernel.windows.end(), axes_.end() - kernel.windows.size());
  line_.resize(1);
  constexpr std::uint64_t most_reaches = 64;
  for (std::uint64_t tap = 0; tap < std::min(axes_[2].taps, most_reaches); ++tap)
    reaches_.push_back(reach_of(tap));
}

template <typename T>
void WindowPacking<T>::set_batch(const std::byte* data, T zero) {
  data_ = data;
  zero_ = zero;
  is_copied_ = std::is_same_v<T, float> && kernel_.right.data_type == DataType::Float32 &&
               zero == T{0} && axes_[2].step == 1 && axes_[2].divisor == 1 &&
               axes_[2].input_stride == 1 &&
               reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
}

template <typename T>
void WindowPacking<T>::set_columns(std::uint64_t begin, std::uint64_t count) {
  if (begin == begin_ && count == is_left_out_.size()) return;
  begin_ = begin;
  segments_.clear();
  is_left_out_.assign(count, false);
  has_left_out_ = false;
  line_.resize(std::max<std::size_t>(line_.size(), count));
  const auto& [depth, height, width] = axes_;
  for (std::uint64_t at = 0; at < count;) {
    const std::uint64_t n = begin + at, x = n % width.output_extent;
    const std::uint64_t y = n / width.output_extent % height.output_extent;
    const std::uint64_t z = n / width.output_extent / height.output_extent;
    const std::uint64_t here = std::min(width.output_extent - x, count - at);
    const bool is_in = z < depth.computed && y < height.computed && x < width.computed;
    const std::uint64_t computed = is_in ? std::min(here, width.computed - x) : 0;
    if (computed > 0) segments_.push_back({z, y, x, computed, at});
    std::fill_n(is_left_out_.begin() + static_cast<std::ptrdiff_t>(at + computed), here - computed,
                true);
    has_left_out_ |= computed < here;
    at += here;
  }
}

template <typename T>
void WindowPacking<T>::pack(std::uint64_t first, std::size_t depth, std::size_t width, T* to) {
  const std::uint64_t taps[] = {axes_[0].taps, axes_[1].taps, axes_[2].taps};
  std::uint64_t rest = first;
  Tap tap;
  for (std::size_t i = 3; i-- > 0; rest /= taps[i]) tap[i] = rest % taps[i];
  std::uint64_t channel = rest;
  for (std::size_t k = 0; k < depth; ++k) {
    read_line(channel, tap);
    put_in_panels(line_.data(), is_left_out_.size(), k, depth, width, to);
    std::size_t i = 3;
    while (i > 0 && ++tap[i - 1] == taps[i - 1]) tap[--i] = 0;
    if (i == 0) ++channel;
  }
}

template <typename T>
typename WindowPacking<T>::Reach WindowPacking<T>::reach_of(std::uint64_t tap) const {
  const ProductWindow& axis = axes_[2];
  const std::int64_t start = static_cast<std::int64_t>(tap) * axis.tap_step + axis.offset;
  const auto extent = static_cast<std::int64_t>(axis.input_extent);
  // Either the step or the divisor is 1.
  std::int64_t begin = std::max<std::int64_t>(0, ceil_div(-start, axis.step));
  begin += (axis.divisor - (begin * axis.step + start) % axis.divisor) % axis.divisor;
  return {.begin = begin,
          .end = ceil_div(extent * axis.divisor - start, axis.step),
          .x_step = axis.divisor,
          .source = (begin * axis.step + start) / axis.divisor,
          .source_step = axis.step};
}

template <typename T>
void WindowPacking<T>::sum(std::span<const T> weights, double* sums) {
  line_.resize(std::max<std::size_t>(line_.size(), is_left_out_.size()));
  for (const Segment& segment : segments_) {
    steps_.add(segment.count * weights.size() / 8 + far_steps / 64);
    set_tap_rows(segment, weights);
    if constexpr (std::is_same_v<T, float>)
      sum_taps(tap_rows_, static_cast<std::int64_t>(segment.x),
               static_cast<std::int64_t>(segment.count), line_.data());
    std::copy_n(line_.begin(), segment.count, sums + segment.at);
  }
}

// What the taps of a segment contribute, in the order of the weights.
template <typename T>
void WindowPacking<T>::set_tap_rows(const Segment& segment, std::span<const T> weights) {
  tap_rows_.clear();
  std::size_t next = 0;
  for (std::uint64_t channel = 0; channel < kernel_.depth; ++channel) {
    for (std::uint64_t tz = 0; tz < axes_[0].taps; ++tz) {
      const auto z = source_index(axes_[0], segment.z, tz);
      for (std::uint64_t ty = 0; ty < axes_[1].taps; ++ty, next += axes_[2].taps) {
        const auto y = source_index(axes_[1], segment.y, ty);
        if (!z || !y) continue;
        const std::uint64_t offset = channel * kernel_.right_depth_stride +
                                     *z * axes_[0].input_stride + *y * axes_[1].input_stride;
        const auto* row = reinterpret_cast<const float*>(data_ + offset * size_);
        for (std::size_t tx = 0; tx < axes_[2].taps; ++tx) {
          const Reach reach = reach_at(tx);
          if (reach.begin < reach.end)
            tap_rows_.push_back({row + reach.source, static_cast<float>(weights[next + tx]),
                                 reach.begin, reach.end});
        }
      }
    }
  }
}

template <typename T>
typename WindowPacking<T>::Reach WindowPacking<T>::reach_at(std::uint64_t tap) const {
  return tap < reaches_.size() ? reaches_[tap] : reach_of(tap);
}

template <typename T>
void WindowPacking<T>::read_line(std::uint64_t channel, const Tap& tap) {
  std::fill_n(line_.begin(), is_left_out_.size(), T{0});
  const Reach reach = reach_at(tap[2]);
  for (const Segment& segment : segments_) {
    const auto z = source_index(axes_[0], segment.z, tap[0]);
    const auto y = source_index(axes_[1], segment.y, tap[1]);
    if (!z || !y) continue;
    const bool is_far = axes_[1].input_stride * size_ >= page_bytes;
    steps_.add(is_far ? far_steps : segment.count);
    const std::uint64_t offset = channel * kernel_.right_depth_stride + *z * axes_[0].input_stride +
                                 *y * axes_[1].input_stride;
    if (is_copied_) {
      copy_segment(segment, reach, data_ + offset * size_);
    } else {
      read_segment(segment, reach, data_ + offset * size_);
    }
  }
}

template <typename T>
void WindowPacking<T>::copy_segment(const Segment& segment, const Reach& reach,
                                    const std::byte* row) {
  const auto x = static_cast<std::int64_t>(segment.x);
  const std::int64_t begin = std::max(reach.begin, x);
  const std::int64_t end = std::min(reach.end, x + static_cast<std::int64_t>(segment.count));
  if (begin >= end) return;
  const T* from = reinterpret_cast<const T*>(row) + reach.source + (begin - reach.begin);
  std::copy_n(from, end - begin, line_.data() + segment.at + (begin - x));
}

template <typename T>
void WindowPacking<T>::read_segment(const Segment& segment, const Reach& reach,
                                    const std::byte* row) {
  const auto x = static_cast<std::int64_t>(segment.x);
  const std::int64_t skipped = x <= reach.begin ? 0 : ceil_div(x - reach.begin, reach.x_step);
  const std::int64_t begin = reach.begin + skipped * reach.x_step;
  const std::int64_t end = std::min(reach.end, x + static_cast<std::int64_t>(segment.count));
  if (begin >= end) return;
  const auto count = static_cast<std::uint64_t>(ceil_div(end - begin, reach.x_step));
  const auto source = static_cast<std::uint64_t>(reach.source + skipped * reach.source_step);
  const std::uint64_t stride = axes_[2].input_stride;
  T* to = line_.data() + segment.at + (begin - x);
  T* read = to;
  if (reach.x_step != 1) {
    if (scattered_.size() < count) scattered_.resize(count);
    read = scattered_.data();
  }
  read_elements(kernel_.right.data_type, row + source * stride * size_,
                static_cast<std::uint64_t>(reach.source_step) * stride, count, read);
  if (zero_ != T{0} || read != to) {
    for (std::uint64_t i = 0; i < count; ++i)
      to[i * static_cast<std::uint64_t>(reach.x_step)] = read[i] - zero_;
  }
}

template class WindowPacking<float>;
template class WindowPacking<double>;

}  // namespace dmlop::cpu
