// The operators on regions of images by their definitions, in double.
#pragma once

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "reference/number.hpp"
#include "reference/tensor.hpp"
#include "reference/values.hpp"

namespace dmlop::test {

struct RoiAlign {
  bool takes_maximum = false, is_nearest = false, reaches_corners = false;
  float scale_x = 1, scale_y = 1, input_offset = 0.5F, output_offset = -0.5F, outside = 0;
  std::uint64_t samples_min = 1, samples_max = 1;

  /// Element and weight; empty outside of the image.
  using Sample = std::vector<std::pair<Index, double>>;

  struct Position {
    double y, x;
  };

  static double box(const Tensor& boxes, std::uint64_t roi, std::uint64_t i) {
    Index index(boxes.sizes.size(), 0);
    index[index.size() - 2] = roi;
    index.back() = i;
    return number(boxes.type, boxes.at(index));
  }
  static std::uint64_t batch(const Tensor& batches, std::uint64_t roi, std::uint64_t count) {
    Index index(batches.sizes.size(), 0);
    index.back() = roi;
    std::uint64_t batch = 0;
    std::memcpy(&batch, batches.at(index), batches.element_size());
    return std::min(batch, count - 1);
  }

  std::uint64_t samples(double length, std::uint64_t outputs) const {
    const double wanted = std::ceil(length / static_cast<double>(outputs));
    return static_cast<std::uint64_t>(std::min(std::max(wanted, static_cast<double>(samples_min)),
                                               static_cast<double>(samples_max)));
  }

  double along(double start, double end, std::uint64_t outputs, std::uint64_t n, std::uint64_t o,
               std::uint64_t k) const {
    const auto all = static_cast<double>(outputs * n);
    if (reaches_corners && all == 1) return (start + end) / 2 - double{input_offset};
    const double step = (end - start) / (reaches_corners ? std::max(all - 1, 1.0) : all);
    return start + (static_cast<double>(o * n + k) - double{output_offset}) * step -
           double{input_offset};
  }

  std::vector<Position> positions(const Tensor& boxes, const Index& o, const List& grids) const {
    const double x1 = box(boxes, o[0], 0) * scale_x, x2 = box(boxes, o[0], 2) * scale_x;
    const double y1 = box(boxes, o[0], 1) * scale_y, y2 = box(boxes, o[0], 3) * scale_y;
    const std::uint64_t ny = samples(y2 - y1, grids[2]), nx = samples(x2 - x1, grids[3]);
    std::vector<Position> positions;
    for (std::uint64_t ky = 0; ky < ny; ++ky) {
      for (std::uint64_t kx = 0; kx < nx; ++kx)
        positions.push_back(
            {along(y1, y2, grids[2], ny, o[2], ky), along(x1, x2, grids[3], nx, o[3], kx)});
    }
    return positions;
  }

  Sample sample(const Position& at, std::uint64_t batch, std::uint64_t channel,
                const List& image) const {
    const auto height = static_cast<double>(image[2]), width = static_cast<double>(image[3]);
    const bool is_outside = reaches_corners
                                ? at.y < 0 || at.x < 0 || at.y > height - 1 || at.x > width - 1
                                : at.y <= -1 || at.x <= -1 || at.y >= height || at.x >= width;
    if (is_outside) return {};
    double y = std::clamp(at.y, 0.0, height - 1), x = std::clamp(at.x, 0.0, width - 1);
    if (is_nearest) y = std::floor(y + 0.5), x = std::floor(x + 0.5);
    Sample sample;
    for (const double row : {std::floor(y), std::floor(y) + 1}) {
      for (const double column : {std::floor(x), std::floor(x) + 1}) {
        const double weight = (1 - std::abs(y - row)) * (1 - std::abs(x - column));
        if (weight > 0)
          sample.emplace_back(Index{batch, channel, static_cast<std::uint64_t>(row),
                                    static_cast<std::uint64_t>(column)},
                              weight);
      }
    }
    return sample;
  }

  double value(const Tensor& image, const Sample& sample, double otherwise) const {
    if (sample.empty()) return otherwise;
    double sum = 0;
    for (const auto& [index, weight] : sample) sum += weight * number(image.type, image.at(index));
    return sum;
  }

  Tensor result(const Tensor& image, const Tensor& boxes, const Tensor& batches,
                const List& grids) const {
    Tensor output = Tensor::packed(image.type, grids);
    for_each_index(grids, [&](const Index& o) {
      const std::uint64_t from = batch(batches, o[0], image.sizes[0]);
      double sum = 0, most = -std::numeric_limits<double>::infinity();
      const auto all = positions(boxes, o, grids);
      for (const Position& at : all) {
        const double x = value(image, sample(at, from, o[1], image.sizes), outside);
        sum += x;
        most = std::max(most, x);
      }
      const double reduced = takes_maximum ? most : sum / static_cast<double>(all.size());
      std::memcpy(output.at(o), element(image.type, reduced).data(), output.element_size());
    });
    return output;
  }

  /// The gradient with respect to the image.
  Tensor gradient(const Tensor& image, const Tensor& gradient, const Tensor& boxes,
                  const Tensor& batches) const {
    std::vector<double> sums(Tensor::packed(DataType::UInt8, image.sizes).bytes.size());
    for_each_index(gradient.sizes, [&](const Index& o) {
      const std::uint64_t from = batch(batches, o[0], image.sizes[0]);
      const double incoming = number(gradient.type, gradient.at(o));
      const auto all = positions(boxes, o, gradient.sizes);
      std::size_t largest = 0;
      const auto value_of = [&](std::size_t i) {
        return value(image, sample(all[i], from, o[1], image.sizes), 0);
      };
      for (std::size_t i = 1; takes_maximum && i < all.size(); ++i) {
        if (value_of(i) > value_of(largest)) largest = i;
      }
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (takes_maximum && i != largest) continue;
        const double share = takes_maximum ? 1 : 1 / static_cast<double>(all.size());
        for (const auto& [index, weight] : sample(all[i], from, o[1], image.sizes))
          sums[place_of(index, image.sizes)] += incoming * share * weight;
      }
    });
    return rounded(image.type, image.sizes, sums);
  }

  nlohmann::ordered_json fields(bool is_first) const {
    nlohmann::ordered_json fields{{"ReductionFunction", takes_maximum ? "MAX" : "AVERAGE"},
                                  {"InterpolationMode", is_nearest ? "NEAREST_NEIGHBOR" : "LINEAR"},
                                  {"SpatialScaleX", scale_x},
                                  {"SpatialScaleY", scale_y},
                                  {"MinimumSamplesPerOutput", samples_min},
                                  {"MaximumSamplesPerOutput", samples_max}};
    if (!is_first) {
      fields["InputPixelOffset"] = input_offset;
      fields["OutputPixelOffset"] = output_offset;
      fields["AlignRegionsToCorners"] = reaches_corners;
    }
    return fields;
  }
};

/// DML_OPERATOR_ROI_POOLING.
inline Tensor roi_maxima(const Tensor& image, const Tensor& boxes, const List& grids,
                         double scale) {
  Tensor output = Tensor::packed(image.type, grids);
  for_each_index(grids, [&](const Index& o) {
    const auto rounded = [&](std::uint64_t i) {
      return static_cast<std::int64_t>(std::round(RoiAlign::box(boxes, o[0], i) * scale));
    };
    // Cells of an axis: whole elements, from floor(o * size / cells) to ceil((o + 1) * size /
    // cells).
    const auto cell = [&](std::int64_t start, std::int64_t end, std::uint64_t o_,
                          std::uint64_t cells, std::uint64_t extent) {
      const std::int64_t size = std::max<std::int64_t>(end - start + 1, 1);
      const auto here = static_cast<std::int64_t>(o_), count = static_cast<std::int64_t>(cells);
      const auto limit = static_cast<std::int64_t>(extent);
      const std::int64_t low = start + here * size / count;
      const std::int64_t high = start + ((here + 1) * size + count - 1) / count;
      return std::pair(std::clamp<std::int64_t>(low, 0, limit),
                       std::clamp<std::int64_t>(high, 0, limit));
    };
    const auto [top, bottom] = cell(rounded(2), rounded(4), o[2], grids[2], image.sizes[2]);
    const auto [left, right] = cell(rounded(1), rounded(3), o[3], grids[3], image.sizes[3]);
    const auto from = static_cast<std::uint64_t>(RoiAlign::box(boxes, o[0], 0));
    double most = top < bottom && left < right ? -std::numeric_limits<double>::infinity() : 0;
    for (auto y = top; y < bottom; ++y) {
      for (auto x = left; x < right; ++x)
        most =
            std::max(most, number(image.type, image.at({from, o[1], static_cast<std::uint64_t>(y),
                                                        static_cast<std::uint64_t>(x)})));
    }
    std::memcpy(output.at(o), element(image.type, most).data(), output.element_size());
  });
  return output;
}

}  // namespace dmlop::test
