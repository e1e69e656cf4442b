#include "ops/taps.hpp"

#include <algorithm>
#include <cmath>

#include "base/divide.hpp"

namespace dmlop {
namespace {

using Int = std::int64_t;

/// How many elements of a window that begins at `begin` lie before `position`.
std::uint64_t elements_before(const Windows& windows, Int begin, Int position) {
  if (position <= begin) return 0;
  return std::min(windows.size,
                  divided_up(static_cast<std::uint64_t>(position - begin), windows.dilation));
}

Int begin_of(const Windows& windows, std::uint64_t o) {
  return static_cast<Int>(o * windows.stride) - static_cast<Int>(windows.start_padding);
}

/// Windows that begin at an element below this have no padding; 0 where this is not easy to tell.
std::uint64_t whole_begins(const Windows& windows, std::uint64_t extent) {
  constexpr std::uint64_t small = std::uint64_t{1} << 31;
  if (windows.size - 1 >= small || windows.dilation >= small) return 0;
  const std::uint64_t reach = (windows.size - 1) * windows.dilation + 1;
  return reach <= extent ? extent - reach + 1 : 0;
}

TapRun taps_of(const Windows& windows, std::uint64_t extent, std::uint64_t o) {
  const Int begin = begin_of(windows, o);
  const auto element = static_cast<std::uint64_t>(begin);  // large in front of the input
  if (element < whole_begins(windows, extent)) return {element, windows.size, windows.dilation};
  const std::uint64_t first = elements_before(windows, begin, 0);
  const std::uint64_t last = elements_before(windows, begin, static_cast<Int>(extent));
  if (first == last) return {extent, 0, windows.dilation};
  return {static_cast<std::uint64_t>(begin + static_cast<Int>(first * windows.dilation)),
          last - first, windows.dilation};
}

double divisor_of(const Windows& windows, std::uint64_t extent, std::uint64_t o) {
  if (windows.divisor == Divisor::none) return 1;
  if (windows.divisor == Divisor::elements_and_padding) return static_cast<double>(windows.size);
  return static_cast<double>(taps_of(windows, extent, o).count);
}

/// The first window that reaches behind element i, and the first one that begins behind it.
TapRun transposed_taps(const Windows& windows, std::uint64_t count, std::uint64_t i) {
  const std::uint64_t place = i + windows.start_padding;
  const std::uint64_t first =
      place < windows.size ? 0 : (place - windows.size) / windows.stride + 1;
  const std::uint64_t last = std::min(count, place / windows.stride + 1);
  if (first >= last) return {count, 0, 1};
  return {first, last - first, 1};
}

/// Samples of an interpolation at even distances around an output's coordinate.
struct Samples {
  double first;     // coordinate
  double distance;  // between two of them
  double count;
};

template <typename Number>
Number coordinate(const Interpolation& of, std::uint64_t o) {
  return (static_cast<Number>(o) - Number{of.output_offset}) / Number{of.scale} -
         Number{of.input_offset};
}

double cut(double position, std::uint64_t extent) {
  return std::clamp(position, 0.0, static_cast<double>(extent - 1));
}

Samples samples_of(const Interpolation& of, std::uint64_t o) {
  const auto center = coordinate<double>(of, o);
  if (!of.is_antialiased) return {center, 0, 1};
  const double covered = 1 / double{of.scale};
  const bool is_spread = of.sampling == Sampling::linear && covered > 2;
  // Rounded, as a scale that stands for 1/4 may cover a little more than 4.
  const double count = is_spread ? std::ceil(covered / 2 * (1 - 1e-6)) : 1;
  if (count == 1) return {center, 0, 1};
  const double distance = covered / count;
  return {center - distance * (count - 1) / 2, distance, count};
}

/// The element that an output is. Its position is computed in float, as DirectML does: that decides
/// where it lies on, or halfway between, elements.
std::uint64_t element_of(const Interpolation& of, std::uint64_t extent, std::uint64_t o) {
  auto position = coordinate<float>(of, o);
  if (of.sampling == Sampling::nearest) position += 0.5F;
  position = of.sampling == Sampling::ceiling ? std::ceil(position) : std::floor(position);
  return static_cast<std::uint64_t>(cut(position, extent));
}

TapRun taps_of(const Interpolation& of, std::uint64_t extent, std::uint64_t o) {
  if (of.sampling != Sampling::linear) return {element_of(of, extent, o), 1, 1};
  const Samples samples = samples_of(of, o);
  const double last = samples.first + samples.distance * (samples.count - 1);
  const auto begin = static_cast<std::uint64_t>(std::floor(cut(samples.first, extent)));
  const auto end = static_cast<std::uint64_t>(std::ceil(cut(last, extent)));
  return {begin, end - begin + 1, 1};
}

/// How much of the samples element i is, of 1 for all elements together.
double weight_of(const Interpolation& of, std::uint64_t extent, std::uint64_t o, std::uint64_t i) {
  if (of.sampling != Sampling::linear || extent == 1) return 1;
  const Samples samples = samples_of(of, o);
  const auto share = [&](double position) {
    return std::max(0.0, 1 - std::abs(cut(position, extent) - static_cast<double>(i)));
  };
  if (samples.count == 1) return share(samples.first);
  // Samples before the first element, or behind the last, count whole for it; of the others only
  // those within a distance of 1 count.
  const auto index_of = [&](double position) {
    return (position - samples.first) / samples.distance;
  };
  const double here = static_cast<double>(i), most = samples.count;
  const double begin = i == 0 ? 0 : std::clamp(std::ceil(index_of(here - 1)), 0.0, most);
  const double end =
      i + 1 == extent ? most : std::clamp(std::floor(index_of(here + 1)) + 1, begin, most);
  const double whole_begin = i == 0 ? std::clamp(std::floor(index_of(0)), begin, end) : begin;
  const double whole_end =
      i + 1 == extent ? std::clamp(std::ceil(index_of(here)) + 1, whole_begin, end) : end;
  double sum = (whole_begin - begin) + (end - whole_end);
  for (double k = whole_begin; k < whole_end; ++k)
    sum += share(samples.first + samples.distance * k);
  return sum / most;
}

/// The outputs [0, count) of an interpolation that reach element i of `extent`.
TapRun transposed_taps(const Interpolation& of, std::uint64_t extent, std::uint64_t count,
                       std::uint64_t i) {
  // The first output for which something holds that holds for all behind it, too.
  const auto first_that = [&](auto&& holds) {
    std::uint64_t begin = 0, end = count;
    while (begin < end) {
      const std::uint64_t middle = begin + (end - begin) / 2;
      if (holds(taps_of(of, extent, middle))) {
        end = middle;
      } else {
        begin = middle + 1;
      }
    }
    return begin;
  };
  const std::uint64_t first = first_that([&](const TapRun& run) { return run.end() > i; });
  const std::uint64_t last = first_that([&](const TapRun& run) { return run.first > i; });
  return {first, last - first, 1};
}

}  // namespace

Taps::Taps(const WindowAxis& axis) : axis_(axis) {
  if (!are_uniform()) return;
  windows_ = std::get<Windows>(axis.reach);
  whole_begins_ = whole_begins(windows_, axis.input_extent);
}

TapRun Taps::find(std::uint64_t output) const {
  if (const auto* windows = std::get_if<Windows>(&axis_.reach)) {
    return axis_.is_transposed ? transposed_taps(*windows, axis_.input_extent, output)
                               : taps_of(*windows, axis_.input_extent, output);
  }
  const auto& interpolation = std::get<Interpolation>(axis_.reach);
  return axis_.is_transposed
             ? transposed_taps(interpolation, axis_.output_extent, axis_.input_extent, output)
             : taps_of(interpolation, axis_.input_extent, output);
}

double Taps::weight(std::uint64_t output, const TapRun& run, std::uint64_t k) const {
  const std::uint64_t input = run.first + k * run.step;
  if (const auto* windows = std::get_if<Windows>(&axis_.reach))
    return axis_.is_transposed ? 1 / divisor_of(*windows, axis_.output_extent, input) : 1;
  const auto& interpolation = std::get<Interpolation>(axis_.reach);
  return axis_.is_transposed ? weight_of(interpolation, axis_.output_extent, input, output)
                             : weight_of(interpolation, axis_.input_extent, output, input);
}

double Taps::find_divisor(std::uint64_t output) const {
  return divisor_of(windows_, axis_.input_extent, output);
}

}  // namespace dmlop
