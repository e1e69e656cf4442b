#include "golden_rules.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "ops/element_wise.hpp"
#include "ops/interpolation.hpp"
#include "ops/operator.hpp"
#include "spec/differences.hpp"
#include "tensor/element.hpp"

namespace dmlop::test {
namespace {

struct GoldenRule {
  const char* difference;  // of specs/differences.json
  bool (*applies)(const GoldenElement& at);
};

bool is_denormal(double x) {
  return x != 0 && std::abs(x) < double{std::numeric_limits<float>::min()};
}

bool is_near(double x, double y) {
  return std::abs(x - y) <= 0.02 * (1 + std::abs(y));
}

/// The next integer toward zero.
bool is_one_less(const GoldenElement& at) {
  return at.expected == at.found - std::copysign(1, at.found);
}

/// Of an element and an exponent: DirectML scales both, and truncates an exponent that is an
/// integer.
bool has_scaled_exponent(const GoldenElement& at) {
  const auto scale = input_scale_of(at.job.description);
  if (!scale) return false;
  const auto scaled = [&](double x) { return x * double{scale->scale} + double{scale->bias}; };
  const double base = scaled(at.input(0)), exponent = at.input(1);
  const DataType type = *at.job.description.tensor("ExponentTensor").data_type;
  const bool is_integer = type != DataType::Float32 && type != DataType::Float16;
  const double both = is_integer ? std::trunc(scaled(exponent)) : scaled(exponent);
  return is_near(at.found, std::pow(base, exponent)) && is_near(at.expected, std::pow(base, both));
}

bool is_antialiased_to_less_than_half(const Description& description) {
  const auto& scales = std::get<std::vector<double>>(description.find("Scales")->value);
  return description.integer("Antialiased") != 0 &&
         std::ranges::any_of(scales, [](double scale) { return scale < 0.5; });
}

bool is_of(const GoldenElement& at, std::string_view difference) {
  const auto rows = differences_of(at.job.description.spec->name);
  return std::ranges::any_of(rows, [&](const Difference* row) { return row->name == difference; });
}

/// What every byte of an output was filled with before DirectML ran.
constexpr float unwritten = std::bit_cast<float>(0xCDCDCDCDU);
constexpr double largest = std::numeric_limits<float>::max();

/// What is said of these elements holds for no others, as far as values tell.
constexpr GoldenRule rules[] = {
    {"NaN below the threshold",
     [](const GoldenElement& at) {
       return std::isnan(at.input(0)) && at.found == 0 && std::isnan(at.expected);
     }},
    {"inverse hyperbolic functions of large numbers",
     [](const GoldenElement& at) {
       const double x = at.input(0);
       const bool is_infinite = x < 0 && std::isinf(x) && at.found == x;
       return is_infinite ? std::isnan(at.expected)
                          : std::abs(x) > std::sqrt(largest) && std::isfinite(at.found) &&
                                std::isinf(at.expected);
     }},
    {"arc tangent of NaN",
     [](const GoldenElement& at) {
       const bool is_binary = at.job.inputs.size() > 1;
       const bool has_nan = std::isnan(at.input(0)) || (is_binary && std::isnan(at.input(1)));
       return has_nan && std::isnan(at.found) && !std::isnan(at.expected);
     }},
    {"angles beyond any circle",
     [](const GoldenElement& at) { return std::abs(at.input(0)) == largest; }},
    {"denormals on a GPU",
     [](const GoldenElement& at) {
       for (std::size_t i = 0; i < at.job.inputs.size(); ++i) {
         if (is_denormal(at.input(i))) return true;
       }
       return is_denormal(at.expected);
     }},
    {"logarithms of denormals",
     [](const GoldenElement& at) {
       return is_denormal(at.input(0)) && is_near(at.expected, -88) && at.found < -88;
     }},
    {"negative powers of 0",
     [](const GoldenElement& at) {
       return at.type() == DataType::Float16 && at.input(0) == 0 && std::isinf(at.found) &&
              at.expected == 0;
     }},
    {"powers that are always 1",
     [](const GoldenElement& at) {
       // NaN is 0 as an integer.
       const bool is_float = at.type() == DataType::Float32 || at.type() == DataType::Float16;
       return (at.input(1) == 0 || at.input(0) == 1) && at.found == 1 &&
              (is_float ? std::isnan(at.expected) : at.expected == 0);
     }},
    {"powers of integers",
     [](const GoldenElement& at) {
       return at.found == std::trunc(std::pow(at.input(0), at.input(1))) && is_one_less(at);
     }},
    {"scaled exponents", has_scaled_exponent},
    {"integers divided by 0",
     [](const GoldenElement& at) { return at.input(1) == 0 && at.found == -1; }},
    {"shifts by 64 bits and more",
     [](const GoldenElement& at) { return size_of(at.type()) == 8 && at.input(1) >= 64; }},
    {"remainders of large quotients",
     [](const GoldenElement& at) {
       return std::abs(at.input(0)) == largest && std::isfinite(at.found) &&
              !std::isfinite(at.expected);
     }},
    {"last digits of quantized integers",
     [](const GoldenElement& at) {
       return is_of(at, "last digits of quantized integers") &&
              std::abs(at.found - at.expected) == 1;
     }},
    {"resampled integers",
     [](const GoldenElement& at) {
       return size_of(at.type()) == 1 && is_one_less(at) &&
              at.job.description.integer("InterpolationMode") != nearest_neighbor;
     }},
    {"antialiasing",
     [](const GoldenElement& at) { return is_antialiased_to_less_than_half(at.job.description); }},
    {"NaN as UINT32",
     [](const GoldenElement& at) {
       return at.type() == DataType::UInt32 && std::isnan(at.input(0)) && at.found == 1 &&
              at.expected == 0;
     }},
    {"groups of one element",
     [](const GoldenElement& at) { return at.input(0) < 0 && !std::isnan(at.found); }},
    {"gradient of even windows",
     [](const GoldenElement& at) { return at.job.description.integer("LocalSize") % 2 == 0; }},
    {"sequences of more than 4 dimensions",
     [](const GoldenElement& at) {
       return at.output.desc->sizes.size() > 4 && at.expected == double{unwritten};
     }},
    {"sums of 8-bit integers",
     [](const GoldenElement& at) {
       const bool is_signed = at.type() == DataType::Int8;
       return size_of(at.type()) == 1 &&
              (at.expected == (is_signed ? 127 : 255) || at.expected == (is_signed ? -128 : 0));
     }},
    {"index of -infinity",
     [](const GoldenElement& at) {
       return at.output.name == "OutputIndicesTensor" &&
              at.input_at(0, at.found) == -std::numeric_limits<double>::infinity() &&
              std::isnan(at.input_at(0, at.expected));
     }},
    {"lengths beyond the axis",
     [](const GoldenElement& at) {
       const auto axis = static_cast<std::size_t>(at.job.description.integer("Axis"));
       return at.input(1) > static_cast<double>(at.output.desc->sizes.at(axis));
     }},
};

const GoldenRule* find_rule(std::string_view difference) {
  const auto found = std::ranges::find(rules, difference, &GoldenRule::difference);
  return found == std::end(rules) ? nullptr : found;
}

}  // namespace

double GoldenElement::input(std::size_t i) const {
  const TensorDesc& desc = job.description.tensor(job.inputs.at(i).tensor);
  const Sizes& sizes = output.desc->sizes;
  if (desc.sizes.size() != sizes.size()) return std::nan("");
  const Strides strides = input_strides(desc);
  std::uint64_t rest = index, place = 0;
  for (std::size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis]) {
    if (desc.sizes[axis] == 1) continue;
    if (desc.sizes[axis] != sizes[axis]) return std::nan("");
    place += rest % sizes[axis] * strides[axis];
  }
  return input_at(i, static_cast<double>(place));
}

double GoldenElement::input_at(std::size_t i, double place) const {
  const BoundInput& bound = job.inputs.at(i);
  const DataType type = *job.description.tensor(bound.tensor).data_type;
  return element_value(type, &bound.file.data()[static_cast<std::size_t>(place) * size_of(type)]);
}

std::vector<std::uint64_t> GoldenException::listed(std::string_view output) const {
  std::istringstream words(elements);
  std::string listed_output;
  words >> listed_output;
  std::vector<std::uint64_t> indices;
  if (listed_output != output) return indices;
  for (std::uint64_t index = 0; words >> index;) indices.push_back(index);
  return indices;
}

std::size_t GoldenException::fewest() const {
  const std::string_view text = elements;
  return text.empty() || is_refusal() ? 1 : listed(text.substr(0, text.find(' '))).size();
}

bool GoldenException::allows(const GoldenElement& at) const {
  if (*elements == '\0') return has_golden_rule(difference) && find_rule(difference)->applies(at);
  const std::vector<std::uint64_t> indices = listed(at.output.name);
  return std::ranges::find(indices, at.index) != indices.end();
}

bool has_golden_rule(std::string_view difference) {
  return find_rule(difference) != nullptr;
}

}  // namespace dmlop::test
