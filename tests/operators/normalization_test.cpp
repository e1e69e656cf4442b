// The operators that normalize rows, their gradients, and the Adam optimizer.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan_case.hpp"
#include "reference/rows.hpp"
#include "sweep.hpp"

namespace dmlop::test::normalization_test {
namespace {

using Axes = std::vector<std::size_t>;
using rows::Numbers;

/// A case that grows tensor by tensor; outputs may be off by the tolerance of their type.
class Builder {
 public:
  Builder(const std::string& name, nlohmann::ordered_json fields)
      : case_{"DML_OPERATOR_" + name, std::move(fields), {}, {}} {}

  Builder& input(const std::string& field, const Tensor& tensor) {
    case_.inputs.push_back({field, tensor});
    return *this;
  }
  Builder& output(const std::string& field, DataType type, const List& sizes,
                  const Numbers& numbers) {
    case_.outputs.push_back({field,
                             rows::tensor_of(type, sizes, numbers),
                             {},
                             0,
                             type == DataType::Float16 ? 2e-3 : 4e-6});
    return *this;
  }
  const PlanCase& done() const { return case_; }

 private:
  PlanCase case_;
};

DataType random_type(Random& random) {
  return random.one_in(2) ? DataType::Float32 : DataType::Float16;
}

/// Numbers from `least` to `least` + 2, of any strides.
Tensor random_between(double least, DataType type, const List& sizes, Random& random) {
  Tensor tensor = random_tensor(type, sizes, random);
  for (std::size_t at = 0; at < tensor.bytes.size(); at += tensor.element_size()) {
    const double value = least + static_cast<double>(random.below(1 << 10)) / (1 << 9);
    std::memcpy(&tensor.bytes[at], element(type, value).data(), tensor.element_size());
  }
  return tensor;
}

/// The same sizes with some made 1.
List random_broadcast(List sizes, Random& random) {
  for (std::uint64_t& size : sizes) {
    if (random.one_in(2)) size = 1;
  }
  return sizes;
}

Axes axes_of_size_one(const List& sizes) {
  Axes axes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) axes.push_back(i);
  }
  return axes;
}

/// What the kernels are given: parameters are FLOATs.
double single(double value) {
  return static_cast<float>(value);
}

/// (x - mean) / sqrt(variance + epsilon) * scale + bias.
Numbers normalized(const Numbers& x, const Numbers& mean, const Numbers& variance, double epsilon,
                   const Numbers& scale, const Numbers& bias) {
  Numbers y;
  for (std::size_t i = 0; i < x.size(); ++i)
    y.push_back((x[i] - mean[i]) / std::sqrt(variance[i] + epsilon) * scale[i] + bias[i]);
  return y;
}

/// The first element of each row.
Numbers firsts(const Numbers& x, const std::vector<rows::Row>& rows) {
  Numbers result;
  for (const rows::Row& row : rows) result.push_back(x[row.front()]);
  return result;
}

TEST_CASE("MEAN_VARIANCE_NORMALIZATION: channels by themselves or together") {
  const Tensor input = floats({1, 2, 1, 2}, {1, 3, 5, 9});
  const auto check = [&](bool is_cross_channel, bool is_divided, const Numbers& expected) {
    check_plan_case(Builder("MEAN_VARIANCE_NORMALIZATION", {{"CrossChannel", is_cross_channel},
                                                            {"NormalizeVariance", is_divided},
                                                            {"Epsilon", 0}})
                        .input("InputTensor", input)
                        .output("OutputTensor", DataType::Float32, input.sizes, expected)
                        .done());
  };
  check(false, false, {-1, 1, -2, 2});
  check(false, true, {-1, 1, -1, 1});
  check(true, false, {-3.5, -1.5, 0.5, 4.5});
}

TEST_CASE("MEAN_VARIANCE_NORMALIZATION, 1 and 2: random tensors, axes, scales and activations") {
  Random random(67);
  for (int i = 0; i < 300; ++i) {
    const int version = static_cast<int>(random.below(3));
    const DataType type = random_type(random);
    const List sizes = random_sizes(version == 0 ? 4 : random.from_to(1, 8), random);
    nlohmann::ordered_json fields{{"Epsilon", 0.25}};
    Axes axes{2, 3};
    const bool is_first = random.one_in(2), uses_variance = !random.one_in(4);
    const bool uses_mean = version < 2 || is_first;
    if (version == 0) {
      fields["CrossChannel"] = is_first;
      if (is_first) axes = {1, 2, 3};
    } else {
      axes.clear();
      for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        if (random.one_in(2)) axes.push_back(axis);
      }
      if (axes.empty()) axes.push_back(random.below(sizes.size()));
      fields["Axes"] = axes;
    }
    fields[version == 2 ? "UseVariance" : "NormalizeVariance"] = uses_variance;
    if (version == 2) fields["UseMean"] = uses_mean;
    const bool is_rectified = random.one_in(4);
    if (is_rectified)
      fields["FusedActivation"] = {{"Type", "ACTIVATION_RELU"}, {"Desc", nlohmann::json::object()}};

    Builder builder("MEAN_VARIANCE_NORMALIZATION" + (version == 0 ? "" : std::to_string(version)),
                    fields);
    const Tensor input = random_between(-1, type, sizes, random);
    builder.input("InputTensor", input);
    const Numbers x = rows::numbers_of(input);
    Numbers scale(x.size(), 1), bias(x.size(), 0);
    const bool has_both = random.one_in(2);
    if (has_both || random.one_in(2)) {
      const Tensor tensor = random_between(-1, type, random_broadcast(sizes, random), random);
      builder.input("ScaleTensor", tensor);
      scale = rows::numbers_of(tensor, sizes);
    }
    if (has_both) {
      const Tensor tensor = random_between(-1, type, random_broadcast(sizes, random), random);
      builder.input("BiasTensor", tensor);
      bias = rows::numbers_of(tensor, sizes);
    }
    auto [mean, variance] = rows::statistics(x, rows::rows_of(sizes, axes), uses_mean);
    if (!uses_variance) variance.assign(x.size(), 0.75);
    Numbers expected = normalized(x, mean, variance, 0.25, scale, bias);
    if (is_rectified) {
      for (double& value : expected) value = std::max(value, 0.0);
    }
    check_plan_case(builder.output("OutputTensor", type, sizes, expected).done());
  }
}

TEST_CASE(
    "MEAN_VARIANCE_NORMALIZATION1: a row of one element is 0, and a far mean takes no digits") {
  const auto check = [](const Tensor& input, const Numbers& expected) {
    check_plan_case(Builder("MEAN_VARIANCE_NORMALIZATION1",
                            {{"Axes", {0}}, {"NormalizeVariance", true}, {"Epsilon", 1e-5}})
                        .input("InputTensor", input)
                        .output("OutputTensor", DataType::Float32, input.sizes, expected)
                        .done());
  };
  check(floats({1, 3}, {-4, 0, 5}), {0, 0, 0});
  check(floats({4, 1}, {4096, 4097, 4098, 4099}), {-1.3416354, -0.44721181, 0.44721181, 1.3416354});
}

/// A packed tensor of numbers from -1 to 1 about `middle`, as the kernel takes it that reads a row
/// once on a GPU.
Tensor packed_about(double middle, DataType type, const List& sizes, Random& random) {
  Numbers numbers;
  for_each_index(sizes, [&](const Index&) {
    numbers.push_back(middle + static_cast<double>(random.below(1 << 11)) / (1 << 10) - 1);
  });
  return rows::tensor_of(type, sizes, numbers);
}

/// The same elements with so many behind each row, so that rows begin anywhere in a GPU's vectors.
Tensor with_gaps(const Tensor& tensor, std::uint64_t gap) {
  List pitches = tensor.sizes;
  pitches.back() += gap;
  Tensor copy = Tensor::strided(tensor.type, tensor.sizes, Tensor::packed_strides(pitches));
  for_each_index(tensor.sizes, [&](const Index& index) {
    std::copy_n(tensor.at(index), tensor.element_size(), copy.at(index));
  });
  return copy;
}

/// MEAN_VARIANCE_NORMALIZATION2 of a packed tensor, with a scale and a bias of sizes that repeat.
struct PackedCase {
  List sizes;
  Axes axes;
  List scale = {}, bias = {};  // empty: left out
  DataType type = DataType::Float32;
  bool uses_mean = true, uses_variance = true;
  bool is_rectified = false;
  double middle = 0.25;
  std::uint64_t gap = 0;  // behind rows of scale and bias
};

void check_packed(const PackedCase& a_case) {
  Random random(75);
  nlohmann::ordered_json fields{{"Epsilon", 0.25}, {"Axes", a_case.axes}};
  fields["UseVariance"] = a_case.uses_variance;
  fields["UseMean"] = a_case.uses_mean;
  if (a_case.is_rectified)
    fields["FusedActivation"] = {{"Type", "ACTIVATION_LEAKY_RELU"}, {"Desc", {{"Alpha", 0.5}}}};
  Builder builder("MEAN_VARIANCE_NORMALIZATION2", fields);
  const Tensor input = packed_about(a_case.middle, a_case.type, a_case.sizes, random);
  builder.input("InputTensor", input);
  const Numbers x = rows::numbers_of(input);
  Numbers scale(x.size(), 1), bias(x.size(), 0);
  const auto operand = [&](const char* field, const List& sizes, Numbers& numbers) {
    if (sizes.empty()) return;
    const Tensor tensor = with_gaps(packed_about(1, a_case.type, sizes, random), a_case.gap);
    builder.input(field, tensor);
    numbers = rows::numbers_of(tensor, a_case.sizes);
  };
  operand("ScaleTensor", a_case.scale, scale);
  operand("BiasTensor", a_case.bias, bias);
  auto [mean, variance] =
      rows::statistics(x, rows::rows_of(a_case.sizes, a_case.axes), a_case.uses_mean);
  if (!a_case.uses_variance) variance.assign(x.size(), 0.75);
  Numbers expected = normalized(x, mean, variance, 0.25, scale, bias);
  if (a_case.is_rectified) {
    for (double& value : expected) value = std::max(value, 0.5 * value);
  }
  check_plan_case(builder.output("OutputTensor", a_case.type, a_case.sizes, expected).done());
}

TEST_CASE("MEAN_VARIANCE_NORMALIZATION2: packed rows, with scales of each kind") {
  constexpr DataType half = DataType::Float16;
  check_packed({{3, 4, 16}, {2}, {1, 1, 16}, {3, 4, 16}});
  check_packed({{3, 4, 16}, {2}, {1, 4, 1}, {3, 1, 1}, half, true, true, true});
  check_packed({{3, 2000}, {1}, {3, 2000}, {1, 2000}, half});
  check_packed({{2, 4, 6, 8}, {2, 3}, {1, 4, 1, 1}, {}, DataType::Float32, true, false});
  check_packed({{3, 1000}, {1}, {}, {}, DataType::Float32, false, true, true});
}

TEST_CASE("MEAN_VARIANCE_NORMALIZATION2: packed rows, with rows of scales between vectors") {
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const std::uint64_t gap : {1, 2, 4, 8}) {
      PackedCase a_case{{2, 5, 16}, {2}, {2, 5, 16}, {1, 5, 16}, type};
      a_case.gap = gap;
      check_packed(a_case);
    }
  }
}

TEST_CASE("MEAN_VARIANCE_NORMALIZATION2: packed columns, with scales of each kind") {
  constexpr DataType half = DataType::Float16;
  check_packed({{3, 9, 16}, {1}, {1, 9, 16}, {1, 9, 1}});
  check_packed({{3, 16, 16}, {1}, {3, 1, 16}, {1, 16, 1}, half});
  check_packed({{2, 70, 8}, {1}, {1, 1, 1}, {}, half, true, true, true});
  check_packed({{2, 70, 8}, {1}, {}, {}, DataType::Float32, true, false});
}

TEST_CASE("MEAN_VARIANCE_NORMALIZATION2: packed rows and columns, activations of two parameters") {
  const auto check = [](const Tensor& input, std::size_t axis, const char* type,
                        const nlohmann::ordered_json& desc, const Numbers& expected) {
    check_plan_case(Builder("MEAN_VARIANCE_NORMALIZATION2",
                            {{"Axes", {axis}},
                             {"UseMean", true},
                             {"UseVariance", false},
                             {"Epsilon", 0},
                             {"FusedActivation", {{"Type", type}, {"Desc", desc}}}})
                        .input("InputTensor", input)
                        .output("OutputTensor", DataType::Float32, input.sizes, expected)
                        .done());
  };
  // Less their means, the row and each column are -3, -1, 1, 3.
  const Tensor rows = floats({1, 4}, {1, 3, 5, 7});
  const Tensor columns = floats({4, 4}, {1, 2, 3, 4, 3, 4, 5, 6, 5, 6, 7, 8, 7, 8, 9, 10});
  const auto check_both = [&](const char* type, const nlohmann::ordered_json& desc,
                              const Numbers& expected) {
    check(rows, 1, type, desc, expected);
    Numbers repeated;
    for (const double number : expected) repeated.insert(repeated.end(), 4, number);
    check(columns, 0, type, desc, repeated);
  };
  check_both("ACTIVATION_LINEAR", {{"Alpha", 2}, {"Beta", 5}}, {-1, 3, 7, 11});
  check_both("ACTIVATION_SHRINK", {{"Bias", 0.5}, {"Threshold", 2}}, {-2.5, 0, 0, 2.5});
}

TEST_CASE("MEAN_VARIANCE_NORMALIZATION2: packed rows in parts, about 0 and 4") {
  check_packed({{2, 20004}, {1}, {1, 20004}, {2, 1}});
  check_packed({{2, 20008}, {1}, {}, {}, DataType::Float16, false});
  check_packed({{1, 20004}, {1}, {}, {}, DataType::Float32, true, true, false, 4});
  check_packed({{1, 20008}, {1}, {}, {}, DataType::Float16, true, true, false, 4});
}

// Lanes of a GPU have different means, which they join.
TEST_CASE("MEAN_VARIANCE_NORMALIZATION1: a packed row in parts whose numbers differ everywhere") {
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    const List sizes{1, 20008};
    Numbers x;
    for (std::size_t k = 0; k < sizes[1]; ++k)
      x.push_back(static_cast<double>(k / 8 % 64 + k / 4096 * 16) + static_cast<double>(k % 8) / 8);
    const auto [mean, variance] = rows::statistics(x, rows::rows_of(sizes, {1}), true);
    const Numbers ones(x.size(), 1), zeros(x.size(), 0);
    check_plan_case(
        Builder("MEAN_VARIANCE_NORMALIZATION1",
                {{"Axes", {1}}, {"NormalizeVariance", true}, {"Epsilon", 0.25}})
            .input("InputTensor", rows::tensor_of(type, sizes, x))
            .output("OutputTensor", type, sizes, normalized(x, mean, variance, 0.25, ones, zeros))
            .done());
  }
}

// Sums and squares of these leave the range of FLOAT32.
TEST_CASE("MEAN_VARIANCE_NORMALIZATION1: packed rows of very large and of very small numbers") {
  const auto check = [](const Tensor& input, bool is_divided, const Numbers& expected) {
    check_plan_case(Builder("MEAN_VARIANCE_NORMALIZATION1",
                            {{"Axes", {1}}, {"NormalizeVariance", is_divided}, {"Epsilon", 0}})
                        .input("InputTensor", input)
                        .output("OutputTensor", DataType::Float32, input.sizes, expected)
                        .done());
  };
  check(floats({1, 4}, {3e38F, 3e38F, 3e38F, 1e38F}), false, {5e37, 5e37, 5e37, -1.5e38});
  check(floats({2, 4}, {1e-18F, -1e-18F, 1e-18F, -1e-18F, 1e19F, -1e19F, 1e19F, -1e19F}), true,
        {1, -1, 1, -1, 1, -1, 1, -1});
}

TEST_CASE("BATCH_NORMALIZATION: random tensors, each operand broadcast as it likes") {
  Random random(68);
  for (int i = 0; i < 150; ++i) {
    const DataType type = random_type(random);
    const List sizes = random_sizes(random.from_to(1, 8), random);
    Builder builder("BATCH_NORMALIZATION", {{"Spatial", true}, {"Epsilon", 0.25}});
    const auto operand = [&](const char* field, double least, const List& own_sizes) {
      const Tensor tensor = random_between(least, type, own_sizes, random);
      builder.input(field, tensor);
      return rows::numbers_of(tensor, sizes);
    };
    const Numbers x = operand("InputTensor", -1, sizes);
    const Numbers mean = operand("MeanTensor", -1, random_broadcast(sizes, random));
    const Numbers variance = operand("VarianceTensor", 0, random_broadcast(sizes, random));
    const Numbers scale = operand("ScaleTensor", -1, random_broadcast(sizes, random));
    const Numbers bias = operand("BiasTensor", -1, random_broadcast(sizes, random));
    const Numbers expected = normalized(x, mean, variance, 0.25, scale, bias);
    check_plan_case(builder.output("OutputTensor", type, sizes, expected).done());
  }
}

// A GPU reads the input by vectors, also where other operands repeat.
TEST_CASE("BATCH_NORMALIZATION: packed tensors of several channels") {
  Random random(67);
  const List sizes{2, 3, 5, 16}, channels{1, 3, 1, 1};
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    Builder builder("BATCH_NORMALIZATION", {{"Spatial", true}, {"Epsilon", 0.25}});
    const auto operand = [&](const char* field, double middle, const List& own_sizes) {
      const Tensor tensor = packed_about(middle, type, own_sizes, random);
      builder.input(field, tensor);
      return rows::numbers_of(tensor, sizes);
    };
    const Numbers x = operand("InputTensor", 0, sizes);
    const Numbers mean = operand("MeanTensor", 0, sizes);
    const Numbers variance = operand("VarianceTensor", 1, channels);
    const Numbers scale = operand("ScaleTensor", 0, {1, 1, 1, 16});
    const Numbers bias = operand("BiasTensor", 0, channels);
    const Numbers expected = normalized(x, mean, variance, 0.25, scale, bias);
    check_plan_case(builder.output("OutputTensor", type, sizes, expected).done());
  }
}

TEST_CASE(
    "BATCH_NORMALIZATION_TRAINING: its mean, variance and result, with and without an addend") {
  Random random(69);
  for (int i = 0; i < 150; ++i) {
    const DataType type = random_type(random);
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const List values = random_broadcast(sizes, random);
    const std::vector<rows::Row> rows = rows::rows_of(sizes, axes_of_size_one(values));
    Builder builder("BATCH_NORMALIZATION_TRAINING", {{"Epsilon", 0.25}});
    const auto operand = [&](const char* field, const List& own_sizes) {
      const Tensor tensor = random_between(-1, type, own_sizes, random);
      builder.input(field, tensor);
      return rows::numbers_of(tensor, sizes);
    };
    const Numbers x = operand("InputTensor", sizes);
    const Numbers scale = operand("ScaleTensor", values), bias = operand("BiasTensor", values);
    const auto [mean, variance] = rows::statistics(x, rows);
    Numbers expected = normalized(x, mean, variance, 0.25, scale, bias);
    if (random.one_in(2)) {
      const Numbers addend = operand("FusedAddTensor", sizes);
      for (std::size_t k = 0; k < x.size(); ++k) expected[k] += addend[k];
    }
    check_plan_case(builder.output("OutputTensor", type, sizes, expected)
                        .output("OutputMeanTensor", type, values, firsts(mean, rows))
                        .output("OutputVarianceTensor", type, values, firsts(variance, rows))
                        .done());
  }
}

// The gradient of sum(gradient * output), by its formula; in training mean and variance follow from
// the input.
TEST_CASE("BATCH_NORMALIZATION_GRAD and TRAINING_GRAD: the gradients of input, scale and bias") {
  Random random(70);
  for (int i = 0; i < 200; ++i) {
    const bool is_training = random.one_in(2);
    const DataType type = random_type(random);
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const List values = random_broadcast(sizes, random);
    const std::vector<rows::Row> rows = rows::rows_of(sizes, axes_of_size_one(values));
    Builder builder(is_training ? "BATCH_NORMALIZATION_TRAINING_GRAD" : "BATCH_NORMALIZATION_GRAD",
                    {{"Epsilon", 0.25}});
    const auto operand = [&](const char* field, double least, const List& own_sizes) {
      const Tensor tensor = random_between(least, type, own_sizes, random);
      builder.input(field, tensor);
      return rows::numbers_of(tensor, sizes);
    };
    const Numbers x = operand("InputTensor", -1, sizes);
    const Numbers gradient = operand("InputGradientTensor", -1, sizes);
    const Numbers mean = operand("MeanTensor", -1, values);
    const Numbers variance = operand("VarianceTensor", 0, values);
    const Numbers scale = operand("ScaleTensor", -1, values);
    const auto unit = [&](std::size_t k) {  // the normalized element
      return (x[k] - mean[k]) / std::sqrt(variance[k] + 0.25);
    };
    const Numbers sums =
        rows::row_sums(rows, x.size(), [&](std::uint64_t k) { return gradient[k]; });
    const Numbers products =
        rows::row_sums(rows, x.size(), [&](std::uint64_t k) { return gradient[k] * unit(k); });
    const auto count = static_cast<double>(rows.front().size());
    Numbers expected;
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double through_row = is_training ? (sums[k] + unit(k) * products[k]) / count : 0;
      expected.push_back(scale[k] / std::sqrt(variance[k] + 0.25) * (gradient[k] - through_row));
    }
    check_plan_case(builder.output("OutputGradientTensor", type, sizes, expected)
                        .output("OutputScaleGradientTensor", type, values, firsts(products, rows))
                        .output("OutputBiasGradientTensor", type, values, firsts(sums, rows))
                        .done());
  }
}

TEST_CASE("LOCAL_RESPONSE_NORMALIZATION: an even window reaches one further up") {
  const Tensor input = floats({1, 3, 1, 1}, {1, 2, 3});
  check_plan_case(
      Builder("LOCAL_RESPONSE_NORMALIZATION",
              {{"CrossChannel", true}, {"LocalSize", 2}, {"Alpha", 2}, {"Beta", 1}, {"Bias", 1}})
          .input("InputTensor", input)
          .output("OutputTensor", DataType::Float32, input.sizes, {1.0 / 6, 2.0 / 14, 3.0 / 10})
          .done());
}

TEST_CASE("LOCAL_RESPONSE_NORMALIZATION and its gradient: random windows in both directions") {
  Random random(71);
  for (int i = 0; i < 200; ++i) {
    const DataType type = random_type(random);
    List sizes(4);
    for (std::uint64_t& size : sizes) size = random.from_to(1, 5);
    const bool is_cross_channel = random.one_in(2), is_gradient = random.one_in(2);
    const std::int64_t size =
        random.one_in(8) ? 0xFFFFFFFF : static_cast<std::int64_t>(random.from_to(1, 7));
    const double beta = 0.75, bias = 1.5;
    const double alpha = 0.5 * static_cast<double>(size), factor = 0.5;
    Builder builder(
        is_gradient ? "LOCAL_RESPONSE_NORMALIZATION_GRAD" : "LOCAL_RESPONSE_NORMALIZATION",
        {{"CrossChannel", is_cross_channel},
         {"LocalSize", size},
         {"Alpha", alpha},
         {"Beta", beta},
         {"Bias", bias}});
    const Tensor input = random_between(-1, type, sizes, random);
    builder.input("InputTensor", input);
    const Numbers x = rows::numbers_of(input);
    Numbers squares, expected;
    for (const double value : x) squares.push_back(value * value);
    Numbers base = rows::window_sums(squares, sizes, size, is_cross_channel);
    for (double& sum : base) sum = bias + factor * sum;
    if (!is_gradient) {
      for (std::size_t k = 0; k < x.size(); ++k)
        expected.push_back(x[k] * std::pow(base[k], -beta));
      check_plan_case(builder.output("OutputTensor", type, sizes, expected).done());
      continue;
    }
    const Tensor gradients = random_between(-1, type, sizes, random);
    builder.input("InputGradientTensor", gradients);
    const Numbers gradient = rows::numbers_of(gradients);
    Numbers terms;
    for (std::size_t k = 0; k < x.size(); ++k)
      terms.push_back(gradient[k] * x[k] * std::pow(base[k], -beta - 1));
    const Numbers sums = rows::window_sums(terms, sizes, size, is_cross_channel, true);
    for (std::size_t k = 0; k < x.size(); ++k)
      expected.push_back(gradient[k] * std::pow(base[k], -beta) -
                         2 * factor * beta * x[k] * sums[k]);
    check_plan_case(builder.output("OutputGradientTensor", type, sizes, expected).done());
  }
}

TEST_CASE("LOCAL_RESPONSE_NORMALIZATION: packed channels, in one segment and in several") {
  Random random(76);
  struct Row {
    List sizes;
    std::int64_t size;
    DataType type;
  };
  for (const Row& row :
       {Row{{2, 9, 2, 6}, 5, DataType::Float32}, Row{{2, 40, 2, 4}, 4, DataType::Float16},
        Row{{1, 3, 2, 4}, 7, DataType::Float32}}) {
    const double beta = 0.75, bias = 1.5, factor = 0.5;
    const Tensor input = packed_about(0, row.type, row.sizes, random);
    const Numbers x = rows::numbers_of(input);
    Numbers squares, expected;
    for (const double value : x) squares.push_back(value * value);
    const Numbers sums = rows::window_sums(squares, row.sizes, row.size, true);
    for (std::size_t k = 0; k < x.size(); ++k)
      expected.push_back(x[k] * std::pow(bias + factor * sums[k], -beta));
    check_plan_case(
        Builder("LOCAL_RESPONSE_NORMALIZATION", {{"CrossChannel", true},
                                                 {"LocalSize", row.size},
                                                 {"Alpha", factor * static_cast<double>(row.size)},
                                                 {"Beta", beta},
                                                 {"Bias", bias}})
            .input("InputTensor", input)
            .output("OutputTensor", row.type, row.sizes, expected)
            .done());
  }
}

// 0 / 0, and infinity / infinity, are no numbers; 1 / infinity is 0.
TEST_CASE("LOCAL_RESPONSE_NORMALIZATION: packed channels of zeros and of infinities") {
  const Numbers channels{0, 0, 1, 2, std::numeric_limits<double>::infinity(), 1, 3};
  const List sizes{1, channels.size(), 2, 4};
  Numbers x, squares, expected;
  for (const double channel : channels) x.insert(x.end(), sizes[2] * sizes[3], channel);
  for (const double value : x) squares.push_back(value * value);
  const Numbers sums = rows::window_sums(squares, sizes, 3, true);
  for (std::size_t k = 0; k < x.size(); ++k) expected.push_back(x[k] * std::pow(sums[k], -0.75));
  REQUIRE(std::isnan(expected.front()));
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    check_plan_case(
        Builder(
            "LOCAL_RESPONSE_NORMALIZATION",
            {{"CrossChannel", true}, {"LocalSize", 3}, {"Alpha", 3}, {"Beta", 0.75}, {"Bias", 0}})
            .input("InputTensor", rows::tensor_of(type, sizes, x))
            .output("OutputTensor", type, sizes, expected)
            .done());
  }
}

// x / infinity is 0. A kernel takes several of these rows at once.
TEST_CASE("LP_NORMALIZATION: infinity and NaN stay in their rows, which lie beside each other") {
  const List sizes{1, 5, 2, 16};
  const std::size_t beside = 32;
  Numbers x(5 * beside, 2.0);
  x[beside + 5] = std::numeric_limits<double>::infinity();
  x[3 * beside + 18] = std::numeric_limits<double>::quiet_NaN();
  const Numbers sums = rows::row_sums(rows::rows_of(sizes, {1}), x.size(),
                                      [&](std::uint64_t k) { return x[k] * x[k]; });
  Numbers expected;
  for (std::size_t k = 0; k < x.size(); ++k) expected.push_back(x[k] / std::sqrt(sums[k]));
  REQUIRE(std::ranges::count_if(expected, [](double y) { return std::isnan(y); }) == 1 + 5);
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    check_plan_case(Builder("LP_NORMALIZATION", {{"Axis", 1}, {"Epsilon", 0}, {"P", 2}})
                        .input("InputTensor", rows::tensor_of(type, sizes, x))
                        .output("OutputTensor", type, sizes, expected)
                        .done());
  }
}

TEST_CASE("LP_NORMALIZATION: random rows by both norms") {
  Random random(72);
  for (int i = 0; i < 100; ++i) {
    const DataType type = random_type(random);
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const std::size_t axis = random.below(sizes.size());
    const bool is_first = random.one_in(2);
    const Tensor input = random_between(-1, type, sizes, random);
    const Numbers x = rows::numbers_of(input);
    const Numbers sums =
        rows::row_sums(rows::rows_of(sizes, {axis}), x.size(),
                       [&](std::uint64_t k) { return is_first ? std::abs(x[k]) : x[k] * x[k]; });
    Numbers expected;
    for (std::size_t k = 0; k < x.size(); ++k)
      expected.push_back(x[k] / std::sqrt((is_first ? sums[k] * sums[k] : sums[k]) + 0.25));
    check_plan_case(
        Builder("LP_NORMALIZATION", {{"Axis", axis}, {"Epsilon", 0.25}, {"P", is_first ? 1 : 2}})
            .input("InputTensor", input)
            .output("OutputTensor", type, sizes, expected)
            .done());
  }
}

TEST_CASE("LP_NORMALIZATION: the norm of large numbers is finite") {
  check_plan_case(Builder("LP_NORMALIZATION", {{"Axis", 0}, {"Epsilon", 0}, {"P", 2}})
                      .input("InputTensor", floats({2}, {3e30F, 4e30F}))
                      .output("OutputTensor", DataType::Float32, {2}, {0.6, 0.8})
                      .done());
}

TEST_CASE("LP_NORMALIZATION: packed rows of large and of small numbers, by both norms") {
  struct Row {
    int p;
    double first, second;  // norms
  };
  for (const Row& row : {Row{1, 14, 7}, Row{2, std::sqrt(54.0), 5}}) {
    for (const double unit : {1e30, 1e-30}) {
      const Numbers numbers{3, -4, 2, -5, 4, 3, 0, 0};
      Numbers x, expected;
      for (const double number : numbers) {
        expected.push_back(number / (x.size() < 4 ? row.first : row.second));
        x.push_back(number * unit);
      }
      check_plan_case(Builder("LP_NORMALIZATION", {{"Axis", 1}, {"Epsilon", 0}, {"P", row.p}})
                          .input("InputTensor", rows::tensor_of(DataType::Float32, {2, 4}, x))
                          .output("OutputTensor", DataType::Float32, {2, 4}, expected)
                          .done());
    }
  }
}

TEST_CASE("VALUE_SCALE_2D: one scale, a bias for each of 1 or 3 channels") {
  Random random(73);
  for (int i = 0; i < 60; ++i) {
    const DataType type = random_type(random);
    List sizes(4);
    for (std::uint64_t& size : sizes) size = random.from_to(1, 5);
    sizes[1] = random.one_in(2) ? 1 : 3;
    Numbers bias, expected;
    for (std::uint64_t c = 0; c < sizes[1]; ++c)
      bias.push_back(static_cast<double>(random.below(8)));
    const Tensor input = random_between(-1, type, sizes, random);
    for (const double value : rows::numbers_of(input)) {
      const std::uint64_t channel = expected.size() / (sizes[2] * sizes[3]) % sizes[1];
      expected.push_back(value * 1.5 + bias[channel]);
    }
    check_plan_case(Builder("VALUE_SCALE_2D", {{"Scale", 1.5}, {"Bias", bias}})
                        .input("InputTensor", input)
                        .output("OutputTensor", type, sizes, expected)
                        .done());
  }
}

TEST_CASE("ADAM_OPTIMIZER: parameters and moments after a step, the first, a late one and none") {
  Random random(74);
  for (int i = 0; i < 100; ++i) {
    const DataType type = random_type(random);
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const double rate = single(0.1), beta1 = single(0.9), beta2 = single(0.999), epsilon = 0.125;
    const auto step = random.one_of<std::uint32_t>({0, 1, 2, 10, 100'000});
    Builder builder(
        "ADAM_OPTIMIZER",
        {{"LearningRate", rate}, {"Beta1", beta1}, {"Beta2", beta2}, {"Epsilon", epsilon}});
    const auto operand = [&](const char* field, double least) {
      const Tensor tensor = random_between(least, type, sizes, random);
      builder.input(field, tensor);
      return rows::numbers_of(tensor);
    };
    Numbers parameter = operand("InputParametersTensor", -1);
    Numbers first = operand("InputFirstMomentTensor", -1);
    Numbers second = operand("InputSecondMomentTensor", 0);
    const Numbers gradient = operand("GradientTensor", -1);
    builder.input("TrainingStepTensor",
                  Tensor::of<std::uint32_t>(DataType::UInt32, List(sizes.size(), 1), {step}));
    const double corrected =
        step == 0 ? rate
                  : rate * std::sqrt(1 - std::pow(beta2, step)) / (1 - std::pow(beta1, step));
    for (std::size_t k = 0; k < parameter.size(); ++k) {
      first[k] = beta1 * first[k] + (1 - beta1) * gradient[k];
      second[k] = beta2 * second[k] + (1 - beta2) * gradient[k] * gradient[k];
      parameter[k] -= corrected * first[k] / (std::sqrt(second[k]) + epsilon);
    }
    check_plan_case(builder.output("OutputParametersTensor", type, sizes, parameter)
                        .output("OutputFirstMomentTensor", type, sizes, first)
                        .output("OutputSecondMomentTensor", type, sizes, second)
                        .done());
  }
}

}  // namespace
}  // namespace dmlop::test::normalization_test
