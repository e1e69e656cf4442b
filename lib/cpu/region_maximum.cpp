// Maxima of the cells of regions on the CPU. Both corners of a box, rounded to whole elements,
// belong to it; one that ends before it begins is one element large.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/kinds.hpp"

namespace dmlop::cpu {
namespace {

/// Elements [begin, end) of an axis.
struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

template <typename Element>
class RegionMaximum {
 public:
  RegionMaximum(const RegionMaximumKernel& kernel, Inputs inputs)
      : kernel_(kernel), input_(inputs[0]), boxes_(inputs[1]) {}

  void run(std::uint64_t begin, std::uint64_t end, std::byte* to) {
    const auto [height, width] = kernel_.output;
    const std::uint64_t channels = kernel_.input[1].extent;
    for (; begin < end; ++begin, to += sizeof(Element)) {
      const std::uint64_t grid = begin / width / height, box = grid / channels;
      const double batch = number(box, 0);
      const auto last = static_cast<double>(kernel_.input[0].extent - 1);
      const auto image = static_cast<std::uint64_t>(batch > 0 ? std::min(batch, last) : 0);
      put_number<Element>(
          to,
          maximum(image * kernel_.input[0].stride() + grid % channels * kernel_.input[1].stride(),
                  cell(box, 0, begin / width % height), cell(box, 1, begin % width)));
    }
  }

 private:
  double number(std::uint64_t box, std::size_t i) const {
    return number_at<Element>(
        &boxes_[(box * kernel_.box_strides[0] + i * kernel_.box_strides[1]) * sizeof(Element)]);
  }

  // A number of a box in whole elements. Far beyond any image it counts no further, because 0 times
  // infinity is no place.
  double corner(std::uint64_t box, std::size_t i) const {
    return std::clamp(std::round(number(box, i) * kernel_.spatial_scale), -1e15, 1e15);
  }

  // A cell along y (0) or x (1), cut to the image.
  Range cell(std::uint64_t box, std::size_t i, std::uint64_t index) const {
    const double start = corner(box, 2 - i), end = corner(box, 4 - i);
    const double size = std::max(end - start + 1, 1.0);
    const auto cells = static_cast<double>(kernel_.output[i]);
    const auto here = static_cast<double>(index);
    const auto limit = static_cast<double>(kernel_.input[2 + i].extent);
    const auto cut = [&](double position) {
      return position > 0 ? static_cast<std::uint64_t>(std::min(position, limit)) : 0;
    };
    return {cut(start + std::floor(here * size / cells)),
            cut(start + std::ceil((here + 1) * size / cells))};
  }

  // Of a cell without elements 0; NaN is skipped.
  double maximum(std::uint64_t offset, const Range& rows, const Range& columns) {
    if (rows.begin >= rows.end || columns.begin >= columns.end) return 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::uint64_t row = rows.begin; row < rows.end; ++row) {
      const std::uint64_t first = offset + row * kernel_.input[2].stride();
      for (std::uint64_t column = columns.begin; column < columns.end; ++column) {
        steps_.add(4);
        const double x = number_at<Element>(
            &input_[(first + column * kernel_.input[3].stride()) * sizeof(Element)]);
        most = x > most ? x : most;
      }
    }
    return most;
  }

  const RegionMaximumKernel& kernel_;
  std::span<const std::byte> input_, boxes_;
  Steps steps_;
};

}  // namespace

PartShape part_shape(const RegionMaximumKernel&, std::uint64_t) {
  return {};
}

void run_part(const RegionMaximumKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  visit_float(kernel.data_type, [&](auto zero) {
    RegionMaximum<decltype(zero)>(kernel, inputs)
        .run(part.begin, part.begin + part.length, outputs.front().to);
  });
}

}  // namespace dmlop::cpu
