#include "compare/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "compare/legend.hpp"
#include "tensor/element.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop {
namespace {

constexpr std::uint64_t max_side = 1024;
constexpr std::uint64_t least_side =
    256;  // smaller planes are enlarged so that single pixels can be seen

// The position of a value between low and high: 0 to 1, also for infinities; NaN for NaN.
double share_of(double value, double low, double high) {
  if (std::isnan(value)) return value;
  if (value <= low) return 0;
  if (value >= high) return 1;
  return (value / 2 - low / 2) /
         (high / 2 - low / 2);  // halved, because the whole range may overflow
}

/// Values over the last two axes, reduced to at most max_side pixels per side. NaN means not
/// comparable.
class Plane {
 public:
  explicit Plane(const Sizes& sizes)
      : width_(sizes.empty() ? 1 : sizes.back()),
        height_(sizes.size() < 2 ? 1 : sizes[sizes.size() - 2]),
        block_((std::max(width_, height_) + max_side - 1) / max_side),
        columns_((width_ + block_ - 1) / block_),
        rows_((height_ + block_ - 1) / block_),
        values_(columns_ * rows_, -std::numeric_limits<double>::infinity()) {}

  std::uint64_t elements() const { return width_ * height_; }

  /// Keeps the larger of the value and the one already there. NaN counts as the largest.
  void raise(std::uint64_t element, double value) {
    const std::uint64_t place = element % elements();
    double& kept = values_[place / width_ / block_ * columns_ + place % width_ / block_];
    if (std::isnan(value) || value > kept) kept = value;
  }

  double highest() const {
    return extreme([](double a, double b) { return a > b; });
  }
  double lowest() const {
    return extreme([](double a, double b) { return a < b; });
  }

  /// The darkest color for `low` and below, the brightest for `high` and above.
  Pixels picture(double low, double high) const {
    const std::uint64_t scale = std::max<std::uint64_t>(1, least_side / std::max(columns_, rows_));
    Pixels pixels(columns_ * scale, rows_ * scale, nan_color);
    for (std::uint64_t y = 0; y < rows_; ++y) {
      for (std::uint64_t x = 0; x < columns_; ++x) {
        const Color color = color_at(share_of(values_[y * columns_ + x], low, high));
        pixels.fill(x * scale, y * scale, scale, scale, color);
      }
    }
    return pixels;
  }

 private:
  template <typename Better>
  double extreme(Better better) const {
    double found = std::numeric_limits<double>::quiet_NaN();
    for (const double value : values_) {
      if (std::isfinite(value) && (std::isnan(found) || better(value, found))) found = value;
    }
    return std::isnan(found) ? 0 : found;
  }

  std::uint64_t width_, height_;
  std::uint64_t block_;  // elements per side that share a pixel
  std::uint64_t columns_, rows_;
  std::vector<double> values_;
};

// Calls action(index, actual bytes, expected bytes) for elements [begin, end).
template <typename Action>
void for_each_pair(const Elements& actual, const Elements& expected, std::uint64_t begin,
                   std::uint64_t end, Action action) {
  constexpr std::uint64_t steps = 16;  // per element; also how many are read at a time
  const std::size_t size = size_of(actual.data_type());
  std::vector<std::byte> actual_scratch, expected_scratch;
  in_pieces(end - begin, steps, [&](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t first = begin + from, count = to - from;
    const auto a = actual.read(first, count, actual_scratch);
    const auto e = expected.read(first, count, expected_scratch);
    for (std::uint64_t k = 0; k < count; ++k)
      action(first + k, a.data() + k * size, e.data() + k * size);
  });
}

// The height of a difference in the picture: log2(1 + ULP), or NaN if it cannot be measured.
class Difference {
 public:
  Difference(DataType data_type, bool nan_equals_nan)
      : data_type_(data_type), nan_equals_nan_(nan_equals_nan) {}

  double operator()(const std::byte* actual, const std::byte* expected) {
    const Deviation deviation = deviation_of(data_type_, actual, expected, nan_equals_nan_);
    if (!deviation.comparable) return std::numeric_limits<double>::quiet_NaN();
    largest_ = std::max(largest_, deviation.ulp);
    return std::log2(1 + static_cast<double>(deviation.ulp));
  }

  std::uint64_t largest() const { return largest_; }

 private:
  DataType data_type_;
  bool nan_equals_nan_;
  std::uint64_t largest_ = 0;
};

std::string plane_text(std::uint64_t index, const Sizes& sizes) {
  const auto indices = indices_of(index, sizes);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < indices.size(); ++i)
    parts.push_back(i + 2 < indices.size() ? std::to_string(indices[i]) : ":");
  return "[" + join(parts) + "]";
}

}  // namespace

Png error_picture(const Elements& actual, const Elements& expected, bool nan_equals_nan,
                  Legend legend) {
  Plane plane(actual.sizes());
  Difference difference(actual.data_type(), nan_equals_nan);
  for_each_pair(actual, expected, 0, actual.count(),
                [&](std::uint64_t index, const std::byte* a, const std::byte* e) {
                  plane.raise(index, difference(a, e));
                });
  const Pixels picture = plane.picture(0, plane.highest());
  if (legend == Legend::none) return picture.to_png();
  return with_legend(picture, std::to_string(difference.largest()) + " ULP").to_png();
}

PlanePictures plane_pictures(const Elements& actual, const Elements& expected, std::uint64_t index,
                             bool nan_equals_nan) {
  const DataType type = actual.data_type();
  Plane actual_plane(actual.sizes()), expected_plane(actual.sizes()), errors(actual.sizes());
  Difference difference(type, nan_equals_nan);
  const std::uint64_t begin = index / errors.elements() * errors.elements();
  for_each_pair(actual, expected, begin, begin + errors.elements(),
                [&](std::uint64_t at, const std::byte* a, const std::byte* e) {
                  actual_plane.raise(at, element_value(type, a));
                  expected_plane.raise(at, element_value(type, e));
                  errors.raise(at, difference(a, e));
                });
  const double low = std::min(actual_plane.lowest(), expected_plane.lowest());
  const double high = std::max(actual_plane.highest(), expected_plane.highest());
  return {plane_text(index, actual.sizes()),
          actual_plane.picture(low, high).to_png(),
          expected_plane.picture(low, high).to_png(),
          errors.picture(0, errors.highest()).to_png(),
          shortest_text(low),
          shortest_text(high),
          std::to_string(difference.largest()) + " ULP"};
}

}  // namespace dmlop
