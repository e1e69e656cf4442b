#include "cpu/window_packing.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "base/divide.hpp"
#include "base/threshold.hpp"
#include "cpu/panels.hpp"

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

// Taps along the innermost axis of which something is noted.
constexpr Threshold most_reaches{64, 3};

}  // namespace

template <typename T>
WindowPacking<T>::WindowPacking(const ProductKernel& kernel)
    : kernel_(kernel), size_(size_of(kernel.right.data_type)) {
  std::copy(kernel.windows.begin(), kernel.windows.end(), axes_.end() - kernel.windows.size());
  line_.resize(1);
  for (std::uint64_t tap = 0; tap < std::min<std::uint64_t>(axes_[2].taps, most_reaches); ++tap)
    reaches_.push_back(reach_of(tap));
}

template <typename T>
void WindowPacking<T>::set_batch(const std::byte* data, T zero) {
  constexpr bool are_bytes = std::is_same_v<T, std::uint8_t>;
  data_ = data;
  (are_bytes ? padding_ : zero_) = zero;
  is_copied_ = (are_bytes || (std::is_same_v<T, float> &&
                              kernel_.right.data_type == DataType::Float32 && zero == T{0})) &&
               axes_[2].step == 1 && axes_[2].divisor == 1 && axes_[2].input_stride == 1 &&
               reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0;
  is_plane_ = is_copied_ && is_plane();
}

// Whether a tap of all outputs is the image, moved.
template <typename T>
bool WindowPacking<T>::is_plane() const {
  const auto& [depth, height, width] = axes_;
  return depth.output_extent == 1 && depth.computed == 1 && depth.taps == 1 &&
         depth.input_extent == 1 && depth.offset == 0 && height.step == 1 && height.divisor == 1 &&
         height.computed == height.output_extent && width.computed == width.output_extent &&
         width.output_extent == width.input_extent && height.input_stride == width.input_extent &&
         width.taps <= most_reaches;
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
  masks_.clear();
}

template <typename T>
void WindowPacking<T>::pack(std::uint64_t first, std::size_t depth, std::size_t width, T* to) {
  if (is_plane_) return pack_plane(first, depth, width, to);
  for_each_tap(taps(), first, depth, [&](std::size_t k, std::uint64_t channel, const Tap& tap) {
    read_line(channel, tap, line_.data());
    put_in_panels(line_.data(), is_left_out_.size(), k, depth, width, to);
  });
}

// A few panels at a time, because the caches hold few places that are as far apart as panels are.
template <typename T>
void WindowPacking<T>::pack_plane(std::uint64_t first, std::size_t depth, std::size_t width,
                                  T* to) {
  if (masks_.empty()) set_masks();
  const std::size_t count = is_left_out_.size(), at_once = 4 * width;
  for (std::size_t begin = 0; begin < count; begin += at_once) {
    const std::size_t end = std::min(count, begin + at_once);
    for_each_tap(taps(), first, depth, [&](std::size_t k, std::uint64_t channel, const Tap& tap) {
      const PlaneTap plane = plane_tap(channel, tap);
      std::size_t column = begin;
      if constexpr (std::is_same_v<T, float>) {
        if (plane.begin <= static_cast<std::int64_t>(begin) &&
            static_cast<std::int64_t>(end) <= plane.end) {
          const std::size_t panels = (end - begin) / width;
          copy_masked(plane.source + begin, plane.mask + begin, panels, width * depth,
                      to + begin * depth + k * width);
          column += panels * width;
        }
      }
      for (; column < end; column += width) {
        T* row = to + column * depth + k * width;
        const std::size_t here = std::min(width, count - column);
        copy_plane(plane, column, here, row);
        std::fill(row + here, row + width, T{0});
      }
    });
  }
}

template <typename T>
void WindowPacking<T>::read_lines(std::uint64_t first, std::size_t depth, std::size_t pitch,
                                  T* to) {
  if (is_plane_ && masks_.empty()) set_masks();
  for_each_tap(taps(), first, depth, [&](std::size_t k, std::uint64_t channel, const Tap& tap) {
    T* line = to + k * pitch;
    if (!is_plane_) return read_line(channel, tap, line);
    copy_plane(plane_tap(channel, tap), 0, is_left_out_.size(), line);
  });
}

template <typename T>
typename WindowPacking<T>::Reach WindowPacking<T>::reach_of(std::uint64_t tap) const {
  const ProductWindow& axis = axes_[2];
  const std::int64_t start = static_cast<std::int64_t>(tap) * axis.tap_step + axis.offset;
  const auto extent = static_cast<std::int64_t>(axis.input_extent);
  // Either the step or the divisor is 1.
  std::int64_t begin = std::max<std::int64_t>(0, divided_up(-start, axis.step));
  begin += (axis.divisor - (begin * axis.step + start) % axis.divisor) % axis.divisor;
  return {.begin = begin,
          .end = divided_up(extent * axis.divisor - start, axis.step),
          .x_step = axis.divisor,
          .source = (begin * axis.step + start) / axis.divisor,
          .source_step = axis.step};
}

template <typename T>
typename WindowPacking<T>::Reach WindowPacking<T>::reach_at(std::uint64_t tap) const {
  return tap < reaches_.size() ? reaches_[tap] : reach_of(tap);
}

// Where a tap stays within its row.
template <typename T>
void WindowPacking<T>::set_masks() {
  const std::uint64_t pitch = axes_[2].output_extent;
  masks_.assign(axes_[2].taps, std::vector<Bits>(is_left_out_.size(), 0));
  for (std::uint64_t tap = 0; tap < axes_[2].taps; ++tap) {
    const Reach reach = reach_at(tap);
    std::uint64_t x = begin_ % pitch;
    for (Bits& mask : masks_[tap]) {
      const auto at = static_cast<std::int64_t>(x);
      if (at >= reach.begin && at < reach.end) mask = static_cast<Bits>(~Bits{0});
      if (++x == pitch) x = 0;
    }
  }
}

template <typename T>
typename WindowPacking<T>::PlaneTap WindowPacking<T>::plane_tap(std::uint64_t channel,
                                                                const Tap& tap) {
  const ProductWindow &height = axes_[1], &width = axes_[2];
  const auto moved = [&](std::size_t axis) {
    return static_cast<std::int64_t>(tap[axis]) * axes_[axis].tap_step + axes_[axis].offset;
  };
  const auto pitch = static_cast<std::int64_t>(width.output_extent);
  const auto rows = static_cast<std::int64_t>(height.output_extent);
  const auto input_rows = static_cast<std::int64_t>(height.input_extent);
  const std::int64_t y_move = moved(1), move = y_move * pitch + moved(2);
  // Rows whose source is a row of the image, and places that are within it.
  const std::int64_t y_begin = std::clamp<std::int64_t>(-y_move, 0, rows);
  const std::int64_t y_end = std::clamp<std::int64_t>(input_rows - y_move, y_begin, rows);
  const auto first = static_cast<std::int64_t>(begin_);
  const auto count = static_cast<std::int64_t>(is_left_out_.size());
  steps_.add(is_left_out_.size());
  const auto* image = reinterpret_cast<const T*>(data_) + channel * kernel_.right_depth_stride;
  const std::int64_t begin = std::max(y_begin * pitch, -move) - first;
  const std::int64_t end = std::min(y_end * pitch, input_rows * pitch - move) - first;
  return {std::clamp<std::int64_t>(begin, 0, count), std::clamp<std::int64_t>(end, 0, count),
          image + (first + move), masks_[tap[2]].data()};
}

/// Elements where the mask is set, `padding` elsewhere.
template <typename T, typename Bits>
void copy_masked_or(T padding, const T* from, const Bits* mask, std::size_t count, T* to) {
  for (std::size_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, from + i, sizeof bits);
    bits &= mask[i];
    if constexpr (sizeof(T) == 1) bits |= padding & static_cast<Bits>(~mask[i]);
    std::memcpy(to + i, &bits, sizeof bits);
  }
}

template <typename T>
void WindowPacking<T>::copy_plane(const PlaneTap& tap, std::size_t column, std::size_t count,
                                  T* to) const {
  const auto first = static_cast<std::int64_t>(column);
  const auto last = static_cast<std::int64_t>(column + count);
  const std::int64_t begin = std::clamp(tap.begin, first, last);
  const std::int64_t end = std::clamp(tap.end, begin, last);
  std::fill(to, to + (begin - first), padding_);
  copy_masked_or(padding_, tap.source + begin, tap.mask + begin,
                 static_cast<std::size_t>(end - begin), to + (begin - first));
  std::fill(to + (end - first), to + (last - first), padding_);
}

template <typename T>
void WindowPacking<T>::read_line(std::uint64_t channel, const Tap& tap, T* line) {
  std::fill_n(line, is_left_out_.size(), padding_);
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
      copy_segment(segment, reach, data_ + offset * size_, line);
    } else {
      read_segment(segment, reach, data_ + offset * size_, line);
    }
  }
}

template <typename T>
void WindowPacking<T>::copy_segment(const Segment& segment, const Reach& reach,
                                    const std::byte* row, T* line) {
  const auto x = static_cast<std::int64_t>(segment.x);
  const std::int64_t begin = std::max(reach.begin, x);
  const std::int64_t end = std::min(reach.end, x + static_cast<std::int64_t>(segment.count));
  if (begin >= end) return;
  const T* from = reinterpret_cast<const T*>(row) + reach.source + (begin - reach.begin);
  std::copy_n(from, end - begin, line + segment.at + (begin - x));
}

template <typename T>
void WindowPacking<T>::read_segment(const Segment& segment, const Reach& reach,
                                    const std::byte* row, T* line) {
  const auto x = static_cast<std::int64_t>(segment.x);
  const std::int64_t skipped = x <= reach.begin ? 0 : divided_up(x - reach.begin, reach.x_step);
  const std::int64_t begin = reach.begin + skipped * reach.x_step;
  const std::int64_t end = std::min(reach.end, x + static_cast<std::int64_t>(segment.count));
  if (begin >= end) return;
  const auto count = static_cast<std::uint64_t>(divided_up(end - begin, reach.x_step));
  const auto source = static_cast<std::uint64_t>(reach.source + skipped * reach.source_step);
  const std::uint64_t stride = axes_[2].input_stride;
  const std::uint64_t step = static_cast<std::uint64_t>(reach.source_step) * stride;
  T* to = line + segment.at + (begin - x);
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    const auto* bytes = reinterpret_cast<const T*>(row) + source * stride;
    for (std::uint64_t i = 0; i < count; ++i)
      to[i * static_cast<std::uint64_t>(reach.x_step)] = bytes[i * step];
  } else {
    T* read = to;
    if (reach.x_step != 1) {
      if (scattered_.size() < count) scattered_.resize(count);
      read = scattered_.data();
    }
    read_elements(kernel_.right.data_type, row + source * stride * size_, step, count, read);
    if (zero_ != T{0} || read != to) {
      for (std::uint64_t i = 0; i < count; ++i)
        to[i * static_cast<std::uint64_t>(reach.x_step)] = read[i] - zero_;
    }
  }
}

template class WindowPacking<float>;
template class WindowPacking<double>;
template class WindowPacking<std::uint8_t>;

}  // namespace dmlop::cpu
