// The samples of regions of images (ops/kernels/regions.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "cpu/element_rows.hpp"
#include "ops/kernels/regions.hpp"

namespace dmlop::cpu {

/// Where the samples of one region lie along an axis.
struct SampleAxis {
  std::uint64_t count;   // for each output
  std::uint64_t extent;  // of the image
  double start;
  double step;
  double input_offset;
  double output_offset;

  double position(std::uint64_t output, std::uint64_t k) const {
    return start + (static_cast<double>(output * count + k) - output_offset) * step - input_offset;
  }
};

/// One region.
struct Region {
  std::uint64_t batch;
  SampleAxis y;
  SampleAxis x;
};

/// A position between two elements: the first one, the second one's, and how near it is to that.
struct Between {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  double share = 0;

  /// `position` is on the image, or less than an element beyond; there it is the outermost element.
  static Between at(double position, std::uint64_t extent, bool is_nearest) {
    if (position < 0) return {};
    const double cut = std::min(position, static_cast<double>(extent - 1));
    const auto low = static_cast<std::uint64_t>(is_nearest ? std::floor(cut + 0.5) : cut);
    if (is_nearest) return {low, low, 0};
    return {low, std::min(low + 1, extent - 1), cut - static_cast<double>(low)};
  }
};

/// A sample: the elements of an image that it lies between.
struct Sample {
  Between y;
  Between x;

  /// The weights of its four elements: low or high along each axis.
  double weight(bool is_high_y, bool is_high_x) const {
    return (is_high_y ? y.share : 1 - y.share) * (is_high_x ? x.share : 1 - x.share);
  }
  std::uint64_t row(bool is_high) const { return is_high ? y.high : y.low; }
  std::uint64_t column(bool is_high) const { return is_high ? x.high : x.low; }
};

class RegionReader {
 public:
  /// The arguments must outlive it.
  RegionReader(const Regions& regions, std::span<const std::byte> boxes,
               std::span<const std::byte> batches)
      : regions_(regions), boxes_(boxes), batches_(batches) {}

  Region at(std::uint64_t index) const {
    std::uint64_t batch = 0;
    std::memcpy(&batch, &batches_[index * regions_.batch_stride * size_of(regions_.batch_type)],
                size_of(regions_.batch_type));
    return {std::min(batch, regions_.input[0].extent - 1), axis(index, 0), axis(index, 1)};
  }

 private:
  // Of y (0) or x (1).
  SampleAxis axis(std::uint64_t index, std::size_t i) const {
    const double scale = regions_.spatial_scales[i];
    const double start = coordinate(index, 1 - i) * scale, end = coordinate(index, 3 - i) * scale;
    const auto size = static_cast<double>(regions_.output[i]);
    const double wanted = std::ceil((end - start) / size);
    const auto least = static_cast<double>(regions_.samples_min);
    const auto most = static_cast<double>(regions_.samples_max);
    // Not a number of samples: the fewest.
    const double count = wanted > least ? std::min(wanted, most) : least;
    const double divisor =
        regions_.reaches_corners ? std::max(size * count - 1, 1.0) : size * count;
    const bool is_between_corners = regions_.reaches_corners && size * count == 1;
    return {.count = static_cast<std::uint64_t>(count),
            .extent = regions_.input[2 + i].extent,
            .start = start,
            .step = (end - start) / divisor,
            .input_offset = regions_.input_offset,
            .output_offset = is_between_corners ? -0.5 : regions_.output_offset};
  }

  double coordinate(std::uint64_t index, std::size_t i) const {
    const std::byte* at = &boxes_[(index * regions_.box_strides[0] + i * regions_.box_strides[1]) *
                                  size_of(regions_.data_type)];
    return visit_float(regions_.data_type, [at]<typename Element>(Element) -> double {
      return number_at<Element>(at);
    });
  }

  const Regions& regions_;
  std::span<const std::byte> boxes_, batches_;
};

/// An image of a batch and channel, read as numbers.
template <typename Element>
class Image {
 public:
  Image(const Regions& regions, std::span<const std::byte> input, std::uint64_t batch,
        std::uint64_t channel)
      : regions_(regions),
        input_(input),
        offset_(batch * regions.input[0].stride() + channel * regions.input[1].stride()) {}

  double at(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t index =
        offset_ + row * regions_.input[2].stride() + column * regions_.input[3].stride();
    return number_at<Element>(&input_[index * sizeof(Element)]);
  }

  /// The mix of the elements of a sample. Those with weight 0 do not count.
  double at(const Sample& sample) const {
    double sum = 0;
    for (const bool is_high_y : {false, true}) {
      for (const bool is_high_x : {false, true}) {
        const double weight = sample.weight(is_high_y, is_high_x);
        if (weight != 0) sum += weight * at(sample.row(is_high_y), sample.column(is_high_x));
      }
    }
    return sum;
  }

 private:
  const Regions& regions_;
  std::span<const std::byte> input_;
  std::uint64_t offset_;
};

/// The sample at a position; nothing outside of the image. Where samples reach the corners, the
/// image ends at its outermost elements; otherwise it goes on for less than an element. NaN is
/// outside.
inline std::optional<Sample> sample_at(const Regions& regions, const Region& region, double y,
                                       double x) {
  const auto is_inside = [&](double position, std::uint64_t extent) {
    const auto end = static_cast<double>(extent);
    return regions.reaches_corners ? position >= 0 && position <= end - 1
                                   : position > -1 && position < end;
  };
  if (!is_inside(y, region.y.extent) || !is_inside(x, region.x.extent)) return std::nullopt;
  return Sample{Between::at(y, region.y.extent, regions.is_nearest),
                Between::at(x, region.x.extent, regions.is_nearest)};
}

}  // namespace dmlop::cpu
