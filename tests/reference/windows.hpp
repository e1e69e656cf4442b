// Pooling operators and their gradients by their definitions, element by element.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "reference/lp_pooling.hpp"
#include "reference/number.hpp"
#include "reference/tensor.hpp"
#include "reference/values.hpp"

namespace dmlop::test {

/// Windows over all dimensions behind the first two.
struct Pooling {
  List window, strides, dilations, start, end;
  List outputs = {};  // along these dimensions, if not what the formula gives

  List output_sizes(const List& input) const {
    List sizes{input[0], input[1]};
    if (!outputs.empty()) {
      sizes.insert(sizes.end(), outputs.begin(), outputs.end());
      return sizes;
    }
    for (std::size_t i = 0; i < window.size(); ++i) {
      const std::uint64_t reach = (window[i] - 1) * dilations[i] + 1;
      sizes.push_back((input[i + 2] + start[i] + end[i] - reach) / strides[i] + 1);
    }
    return sizes;
  }

  /// The elements of the input under the window of an output, in order.
  std::vector<Index> under(const Index& o, const List& input) const {
    std::vector<Index> inside;
    if (elements() == 0) return inside;
    for_each_index(window, [&](const Index& w) {
      Index from = o;
      bool is_inside = true;
      for (std::size_t i = 0; i < w.size(); ++i) {
        const std::uint64_t place = o[i + 2] * strides[i] + w[i] * dilations[i];
        from[i + 2] = place - start[i];
        is_inside = is_inside && place >= start[i] && from[i + 2] < input[i + 2];
      }
      if (is_inside) inside.push_back(from);
    });
    return inside;
  }
  /// Of a window, with those in padding.
  std::uint64_t elements() const {
    std::uint64_t count = 1;
    for (const std::uint64_t size : window) count *= size;
    return count;
  }

  Tensor average(const Tensor& input, bool includes_padding) const {
    Tensor output = Tensor::packed(input.type, output_sizes(input.sizes));
    for_each_index(output.sizes, [&](const Index& o) {
      const std::vector<Index> inside = under(o, input.sizes);
      double sum = 0;
      for (const Index& i : inside) sum += number(input.type, input.at(i));
      const auto count = static_cast<double>(includes_padding ? elements() : inside.size());
      std::memcpy(output.at(o), element(input.type, sum / count).data(), output.element_size());
    });
    return output;
  }

  /// The incoming gradients, shared among the elements of their windows.
  Tensor average_gradient(const Tensor& gradient, const List& input, bool includes_padding) const {
    std::vector<double> sums(Tensor::packed(DataType::UInt8, input).bytes.size());
    for_each_index(gradient.sizes, [&](const Index& o) {
      const std::vector<Index> inside = under(o, input);
      const auto count = static_cast<double>(includes_padding ? elements() : inside.size());
      for (const Index& i : inside)
        sums[place_of(i, input)] += number(gradient.type, gradient.at(o)) / count;
    });
    return rounded(gradient.type, input, sums);
  }

  /// The first largest element under a window that is a number.
  std::optional<Index> largest(const Index& o, const Tensor& input) const {
    std::optional<Index> found;
    for (const Index& i : under(o, input.sizes)) {
      const long double x = exact_number(input.type, input.at(i));
      if (std::isnan(x)) continue;
      if (!found || x > exact_number(input.type, input.at(*found))) found = i;
    }
    return found;
  }

  /// The first largest element under a window; of NaN alone the first.
  std::optional<Index> place(const Index& o, const Tensor& input) const {
    if (const auto found = largest(o, input)) return found;
    const auto inside = under(o, input.sizes);
    return inside.empty() ? std::nullopt : std::optional(inside.front());
  }

  Tensor maximum(const Tensor& input) const {
    Tensor output = Tensor::packed(input.type, output_sizes(input.sizes));
    for_each_index(output.sizes, [&](const Index& o) {
      const auto place = largest(o, input);
      const auto bytes = lowest(input.type);
      std::memcpy(output.at(o), place ? input.at(*place) : bytes.data(), output.element_size());
    });
    return output;
  }

  Tensor places(const Tensor& input, DataType type) const {
    Tensor output = Tensor::packed(type, output_sizes(input.sizes));
    for_each_index(output.sizes, [&](const Index& o) {
      const auto found = place(o, input);
      const std::uint64_t index = found ? place_of(*found, input.sizes) : 0;
      std::memcpy(output.at(o), &index, output.element_size());
    });
    return output;
  }

  Tensor maximum_gradient(const Tensor& input, const Tensor& gradient) const {
    std::vector<double> sums(Tensor::packed(DataType::UInt8, input.sizes).bytes.size());
    for_each_index(gradient.sizes, [&](const Index& o) {
      if (const auto found = place(o, input))
        sums[place_of(*found, input.sizes)] += number(gradient.type, gradient.at(o));
    });
    return rounded(gradient.type, input.sizes, sums);
  }

  Tensor norm(const Tensor& input, std::uint64_t p) const {
    Tensor output = Tensor::packed(input.type, output_sizes(input.sizes));
    for_each_index(output.sizes, [&](const Index& o) {
      std::vector<double> values;
      for (const Index& i : under(o, input.sizes))
        values.push_back(number(input.type, input.at(i)));
      const double norm =
          LpPooling{.p = p, .window = {}, .strides = {}, .start = {}, .end = {}}.norm(values);
      std::memcpy(output.at(o), element(input.type, norm).data(), output.element_size());
    });
    return output;
  }

  nlohmann::ordered_json fields(bool with_dilations = true) const {
    nlohmann::ordered_json fields{{"DimensionCount", window.size()},
                                  {"Strides", strides},
                                  {"WindowSize", window},
                                  {"StartPadding", start},
                                  {"EndPadding", end}};
    if (with_dilations) fields["Dilations"] = dilations;
    return fields;
  }

  /// What a window without numbers gives.
  static std::vector<std::byte> lowest(DataType type) {
    if (type == DataType::Float32) return element(type, -std::numeric_limits<float>::max());
    if (type == DataType::Float16) return element(type, -std::numeric_limits<double>::infinity());
    const bool is_signed = info(type).kind == NumberKind::signed_integer;
    std::vector<std::byte> bytes(size_of(type));
    if (is_signed) bytes.back() = std::byte{0x80};
    return bytes;
  }
};

/// DML_OPERATOR_LP_POOLING1.
struct LpPooling1 {
  std::uint64_t p;
  Pooling pooling;

  static constexpr auto name = "DML_OPERATOR_LP_POOLING1";
  static constexpr std::array inputs{"InputTensor"};

  Tensor result(const std::vector<Tensor>& tensors) const { return pooling.norm(tensors[0], p); }
  nlohmann::ordered_json fields() const {
    nlohmann::ordered_json fields = pooling.fields();
    fields["P"] = p;
    return fields;
  }
};

}  // namespace dmlop::test
