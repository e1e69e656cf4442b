// The resampling operators and their gradients by their definitions: weights in double, and the
// places that are rounded to an element in float.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "reference/number.hpp"
#include "reference/tensor.hpp"
#include "reference/values.hpp"

namespace dmlop::test {

enum class Rounding { linear, nearest, down, up };

struct Resampling {
  Rounding rounding = Rounding::linear;
  std::vector<float> scales, input_offsets, output_offsets;
  bool is_antialiased = false;

  using Weights = std::vector<std::pair<std::uint64_t, double>>;  // element, weight

  /// The element that lies nearest to an output, or on the side that `rounding` says.
  std::uint64_t nearest(std::size_t i, std::uint64_t o, std::uint64_t size) const {
    float place = static_cast<float>(o) - output_offsets[i];
    place = place / scales[i] - input_offsets[i];
    if (rounding == Rounding::nearest) place += 0.5F;
    place = rounding == Rounding::up ? std::ceil(place) : std::floor(place);
    return place <= 0 ? 0 : std::min(static_cast<std::uint64_t>(place), size - 1);
  }

  /// What an output's element along one dimension is made of.
  Weights weights(std::size_t i, std::uint64_t o, std::uint64_t size) const {
    if (rounding != Rounding::linear) return {{nearest(i, o, size), 1}};
    const double covered = 1 / double{scales[i]};
    const double center =
        (static_cast<double>(o) - double{output_offsets[i]}) * covered - double{input_offsets[i]};
    const auto last = static_cast<double>(size - 1);
    const bool is_spread = is_antialiased && covered > 2;
    const int samples = is_spread ? static_cast<int>(std::ceil(covered / 2 * (1 - 1e-6))) : 1;
    Weights weights;
    for (int k = 0; k < samples; ++k) {
      double place = center + ((k + 0.5) / samples - 0.5) * covered;
      place = std::min(std::max(place, 0.0), last);
      const double low = std::floor(place);
      weights.emplace_back(static_cast<std::uint64_t>(low), (1 - (place - low)) / samples);
      if (place > low)
        weights.emplace_back(static_cast<std::uint64_t>(low) + 1, (place - low) / samples);
    }
    return weights;
  }

  /// Calls action(element of the input, element of the output, weight).
  template <typename Action>
  void for_each_weight(const List& input, const List& output, Action&& action) const {
    for_each_index(output, [&](const Index& o) {
      std::vector<Weights> all;
      List counts;
      for (std::size_t i = 0; i < o.size(); ++i) {
        all.push_back(weights(i, o[i], input[i]));
        counts.push_back(all.back().size());
      }
      for_each_index(counts, [&](const Index& k) {
        Index from(o.size());
        double weight = 1;
        for (std::size_t i = 0; i < o.size(); ++i) {
          from[i] = all[i][k[i]].first;
          weight *= all[i][k[i]].second;
        }
        action(from, o, weight);
      });
    });
  }

  Tensor result(const Tensor& input, const List& sizes) const {
    std::vector<double> sums(Tensor::packed(DataType::UInt8, sizes).bytes.size());
    const bool is_byte = input.element_size() == 1;
    for_each_weight(input.sizes, sizes, [&](const Index& from, const Index& to, double weight) {
      const std::byte* at = input.at(from);
      const double x = input.type == DataType::Int8
                           ? static_cast<double>(static_cast<std::int8_t>(*at))
                       : input.type == DataType::UInt8 ? static_cast<double>(*at)
                                                       : number(input.type, at);
      sums[place_of(to, sizes)] += weight * x;
    });
    // What double rounds must not take an integer below itself.
    if (is_byte) {
      for (double& sum : sums) sum = static_cast<double>(static_cast<float>(sum));
    }
    return rounded(input.type, sizes, sums);
  }

  /// The offsets are named from the side of the gradient.
  Tensor gradient(const Tensor& gradient, const List& sizes) const {
    std::vector<double> sums(Tensor::packed(DataType::UInt8, sizes).bytes.size());
    Resampling forward = *this;
    std::swap(forward.input_offsets, forward.output_offsets);
    forward.for_each_weight(
        sizes, gradient.sizes, [&](const Index& to, const Index& from, double weight) {
          sums[place_of(to, sizes)] += weight * number(gradient.type, gradient.at(from));
        });
    return rounded(gradient.type, sizes, sums);
  }
};

}  // namespace dmlop::test
