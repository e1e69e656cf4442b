// Samples of regions of images on the CPU: each output after the other, one sample after the other.
#include <limits>

#include "base/parallel.hpp"
#include "cpu/kinds.hpp"
#include "cpu/regions.hpp"

namespace dmlop::cpu {
namespace {

constexpr std::uint64_t sample_steps = 8;

template <typename Element>
class RegionSampler {
 public:
  RegionSampler(const Regions& regions, Inputs inputs)
      : regions_(regions), input_(inputs[0]), reader_(regions, inputs[1], inputs[2]) {}

  void run(std::uint64_t begin, std::uint64_t end, std::byte* to) {
    const auto [height, width] = regions_.output;
    const std::uint64_t channels = regions_.input[1].extent;
    std::uint64_t current = ~std::uint64_t{0};
    for (; begin < end; ++begin, to += sizeof(Element)) {
      const std::uint64_t grid = begin / width / height;
      if (grid / channels != current) {
        current = grid / channels;
        region_ = reader_.at(current);
      }
      const Image<Element> image(regions_, input_, region_.batch, grid % channels);
      put_number<Element>(to, reduced(image, begin / width % height, begin % width));
    }
  }

 private:
  // A maximum skips NaN; where every sample is NaN it is minus infinity.
  double reduced(const Image<Element>& image, std::uint64_t row, std::uint64_t column) {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    for (std::uint64_t ky = 0; ky < region_.y.count; ++ky) {
      const double y = region_.y.position(row, ky);
      for (std::uint64_t kx = 0; kx < region_.x.count; ++kx) {
        steps_.add(sample_steps);
        const double sample = at(image, y, region_.x.position(column, kx));
        sum += sample;
        most = sample > most ? sample : most;
      }
    }
    if (regions_.takes_maximum) return most;
    return sum / (static_cast<double>(region_.y.count) * static_cast<double>(region_.x.count));
  }

  double at(const Image<Element>& image, double y, double x) const {
    const auto sample = sample_at(regions_, region_, y, x);
    return sample ? image.at(*sample) : double{regions_.outside_value};
  }

  const Regions& regions_;
  std::span<const std::byte> input_;
  RegionReader reader_;
  Region region_{};
  Steps steps_;
};

}  // namespace

PartShape part_shape(const RegionSampleKernel&, std::uint64_t) {
  return {};
}

void run_part(const RegionSampleKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  visit_float(kernel.regions.data_type, [&](auto zero) {
    RegionSampler<decltype(zero)>(kernel.regions, inputs)
        .run(part.begin, part.begin + part.length, outputs.front().to);
  });
}

}  // namespace dmlop::cpu
