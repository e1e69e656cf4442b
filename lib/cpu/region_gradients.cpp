// Gradients of samples of regions on the CPU. With respect to the images: a thread has whole images
// and goes through the regions on them, so that sums have one order. With respect to the boxes: a
// thread has whole boxes.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "cpu/kinds.hpp"
#include "cpu/regions.hpp"

namespace dmlop::cpu {
namespace {

constexpr std::uint64_t gradient_steps = 16;

template <typename Element>
class RegionGradients {
 public:
  RegionGradients(const Regions& regions, const std::array<std::uint64_t, 4>& gradient_strides,
                  Inputs inputs)
      : regions_(regions),
        strides_(gradient_strides),
        gradients_(inputs[0]),
        images_(inputs.size() > 3 ? inputs[3] : std::span<const std::byte>()),
        reader_(regions, inputs[1], inputs[2]) {}

  Region region(std::uint64_t index) const { return reader_.at(index); }
  Image<Element> image(std::uint64_t batch, std::uint64_t channel) const {
    return {regions_, images_, batch, channel};
  }

  /// Calls action(sample, its share of the incoming gradient, output's row, column) for all samples
  /// on the image that the region's outputs in a channel depend on.
  template <typename Action>
  void for_each_sample(std::uint64_t index, const Region& region, std::uint64_t channel,
                       Action&& action) {
    for (std::uint64_t row = 0; row < regions_.output[0]; ++row) {
      for (std::uint64_t column = 0; column < regions_.output[1]; ++column) {
        const double gradient = gradient_at({index, channel, row, column});
        if (regions_.takes_maximum) {
          pass_to_largest(region, channel, row, column, gradient, action);
        } else {
          pass_to_all(region, row, column, gradient, action);
        }
      }
    }
  }

 private:
  double gradient_at(const std::array<std::uint64_t, 4>& index) const {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < 4; ++i) offset += index[i] * strides_[i];
    return number_at<Element>(&gradients_[offset * sizeof(Element)]);
  }

  // Calls action(sample or null where it is outside) for each sample of an output.
  template <typename Action>
  void for_each_position(const Region& region, std::uint64_t row, std::uint64_t column,
                         Action&& action) {
    for (std::uint64_t ky = 0; ky < region.y.count; ++ky) {
      const double y = region.y.position(row, ky);
      for (std::uint64_t kx = 0; kx < region.x.count; ++kx) {
        steps_.add(gradient_steps);
        const auto sample = sample_at(regions_, region, y, region.x.position(column, kx));
        action(sample ? &*sample : nullptr);
      }
    }
  }

  template <typename Action>
  void pass_to_all(const Region& region, std::uint64_t row, std::uint64_t column, double gradient,
                   Action&& action) {
    const double share =
        gradient / (static_cast<double>(region.y.count) * static_cast<double>(region.x.count));
    for_each_position(region, row, column, [&](const Sample* sample) {
      if (sample != nullptr) action(*sample, share, row, column);
    });
  }

  // The first of the largest samples; those outside are 0 and pass nothing on.
  template <typename Action>
  void pass_to_largest(const Region& region, std::uint64_t channel, std::uint64_t row,
                       std::uint64_t column, double gradient, Action&& action) {
    const Image<Element> image(regions_, images_, region.batch, channel);
    double most = -std::numeric_limits<double>::infinity();
    Sample largest{};
    bool is_found = false;
    for_each_position(region, row, column, [&](const Sample* sample) {
      const double value = sample == nullptr ? 0 : image.at(*sample);
      if (!(value > most)) return;
      most = value;
      is_found = sample != nullptr;
      if (is_found) largest = *sample;
    });
    if (is_found) action(largest, gradient, row, column);
  }

  const Regions& regions_;
  std::array<std::uint64_t, 4> strides_;
  std::span<const std::byte> gradients_, images_;
  RegionReader reader_;
  Steps steps_;
};

template <typename Element>
void image_gradient(RegionGradients<Element>& gradients, const Regions& regions,
                    std::uint64_t index, std::span<double> sums) {
  const std::uint64_t batch = index / regions.input[1].extent;
  const std::uint64_t channel = index % regions.input[1].extent;
  const std::uint64_t width = regions.input[3].extent;
  std::fill(sums.begin(), sums.end(), 0);
  in_pieces(regions.count, 64, [&](std::uint64_t i, std::uint64_t end) {
    for (; i < end; ++i) {
      const Region region = gradients.region(i);
      if (region.batch != batch) continue;
      gradients.for_each_sample(
          i, region, channel,
          [&](const Sample& sample, double share, std::uint64_t, std::uint64_t) {
            for (const bool is_high_y : {false, true}) {
              for (const bool is_high_x : {false, true}) {
                const double weight = sample.weight(is_high_y, is_high_x);
                if (weight != 0)
                  sums[sample.row(is_high_y) * width + sample.column(is_high_x)] += weight * share;
              }
            }
          });
    }
  });
}

/// The slopes of an image at a sample.
struct Slopes {
  double y;
  double x;
};

template <typename Element>
Slopes slopes_at(const Image<Element>& image, const Sample& sample) {
  const double low_low = image.at(sample.y.low, sample.x.low);
  const double low_high = image.at(sample.y.low, sample.x.high);
  const double high_low = image.at(sample.y.high, sample.x.low);
  const double high_high = image.at(sample.y.high, sample.x.high);
  return {(1 - sample.x.share) * (high_low - low_low) + sample.x.share * (high_high - low_high),
          (1 - sample.y.share) * (low_high - low_low) + sample.y.share * (high_high - high_low)};
}

/// How much slopes along an axis count: `whole` for both ends of a box, of it `each` for the end
/// for every output before, and for the start what is left.
struct EndWeights {
  double whole;
  double each;
};

EndWeights end_weights(const Regions& regions, const SampleAxis& axis, std::uint64_t outputs) {
  const auto extent = static_cast<double>(axis.extent);
  const double samples = static_cast<double>(outputs) * static_cast<double>(axis.count);
  if (!regions.reaches_corners) return {extent, extent / samples};
  return {extent - 1, (extent - 1) / std::max(samples - 1, 1.0)};
}

template <typename Element>
std::array<double, 4> box_gradient(RegionGradients<Element>& gradients, const Regions& regions,
                                   std::uint64_t index) {
  const Region region = gradients.region(index);
  const EndWeights along_y = end_weights(regions, region.y, regions.output[0]);
  const EndWeights along_x = end_weights(regions, region.x, regions.output[1]);
  std::array<double, 4> sums{};
  for (std::uint64_t channel = 0; channel < regions.input[1].extent; ++channel) {
    const Image<Element> image = gradients.image(region.batch, channel);
    gradients.for_each_sample(
        index, region, channel,
        [&](const Sample& sample, double share, std::uint64_t row, std::uint64_t column) {
          const Slopes slopes = slopes_at(image, sample);
          const double y = static_cast<double>(row) * along_y.each;
          const double x = static_cast<double>(column) * along_x.each;
          sums[0] += slopes.x * share * (along_x.whole - x);
          sums[1] += slopes.y * share * (along_y.whole - y);
          sums[2] += slopes.x * share * x;
          sums[3] += slopes.y * share * y;
        });
  }
  return sums;
}

}  // namespace

PartShape part_shape(const RegionGradientKernel& kernel, std::uint64_t) {
  return {.granule = kernel.regions.input[2].extent * kernel.regions.input[3].extent};
}

void run_part(const RegionGradientKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  const std::uint64_t extent = kernel.regions.input[2].extent * kernel.regions.input[3].extent;
  Buffer memory(extent * sizeof(double), "the gradient of an image");
  const std::span<double> sums(reinterpret_cast<double*>(memory.data()), extent);
  visit_float(kernel.regions.data_type, [&](auto zero) {
    using Element = decltype(zero);
    RegionGradients<Element> gradients(kernel.regions, kernel.gradient_strides, inputs);
    std::byte* to = outputs.front().to;
    for (std::uint64_t at = part.begin; at < part.begin + part.length; at += extent) {
      image_gradient(gradients, kernel.regions, at / extent, sums);
      for (const double sum : sums) {
        put_number<Element>(to, sum);
        to += sizeof(Element);
      }
    }
  });
}

PartShape part_shape(const RegionBoxGradientKernel&, std::uint64_t) {
  return {.granule = 4};
}

void run_part(const RegionBoxGradientKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  visit_float(kernel.regions.data_type, [&](auto zero) {
    using Element = decltype(zero);
    RegionGradients<Element> gradients(kernel.regions, kernel.gradient_strides, inputs);
    std::byte* to = outputs.front().to;
    for (std::uint64_t at = part.begin; at < part.begin + part.length; at += 4) {
      for (const double sum : box_gradient(gradients, kernel.regions, at / 4)) {
        put_number<Element>(to, sum);
        to += sizeof(Element);
      }
    }
  });
}

}  // namespace dmlop::cpu
