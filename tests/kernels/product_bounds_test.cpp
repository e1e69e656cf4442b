// Products of FLOAT32 stay within the bound that a sum of products has in any order, on every
// instruction set of this machine.
#include "simd_targets.hpp"
//
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "job/host_plan.hpp"
#include "ops/operator.hpp"
#include "plan_case.hpp"
#include "random.hpp"
#include "reference/convolution.hpp"
#include "reference/matrix_products.hpp"
#include "spec/validate.hpp"
#include "sweep.hpp"

namespace dmlop::test::product_bounds_test {
namespace {

/// Of magnitudes between 2^-12 and 2^12, so that sums cancel and lose digits.
Tensor rough_numbers(const List& sizes, Random& random) {
  Tensor tensor = Tensor::packed(DataType::Float32, sizes);
  for_each_index(sizes, [&](const Index& at) {
    const double mantissa = static_cast<double>(random.below(1 << 24)) / (1 << 23) - 1;
    set_value(tensor, at, std::ldexp(mantissa, static_cast<int>(random.below(25)) - 12));
  });
  return tensor;
}

Tensor magnitudes(Tensor tensor) {
  for_each_index(tensor.sizes,
                 [&](const Index& at) { set_value(tensor, at, std::abs(value_at(tensor, at))); });
  return tensor;
}

std::vector<float> run(const PlanCase& a_case) {
  Diagnostics diagnostics;
  const auto description =
      read_description("op.json", a_case.description().dump(), newest_feature_level, diagnostics);
  REQUIRE(description);
  const Plan plan = make_plan(*description);
  std::vector<std::span<const std::byte>> inputs(plan.slots.size());
  for (const NamedTensor& input : a_case.inputs)
    inputs[plan.find(input.field).value()] = input.tensor.bytes;
  std::vector<float> output(a_case.outputs[0].tensor.bytes.size() / sizeof(float));
  run_on_host(plan, inputs, 1,
              [&](std::size_t, std::uint64_t offset, std::span<const std::byte> bytes) {
                std::memcpy(reinterpret_cast<std::byte*>(output.data()) + offset, bytes.data(),
                            bytes.size());
              });
  return output;
}

/// `exact` and `sizes`, the sums of magnitudes, are FLOAT64. A sum of n products is off by at most
/// n units of rounding times the sum of their magnitudes, and by one more for what is stored.
void check_bound(const PlanCase& a_case, const Tensor& exact, const Tensor& sizes, double terms) {
  constexpr double unit = 0x1p-24;
  on_every_target([&] {
    const std::vector<float> found = run(a_case);
    std::size_t i = 0, outside = 0, inexact = 0;
    for_each_index(exact.sizes, [&](const Index& at) {
      const double error = std::abs(found[i++] - value_at(exact, at));
      const double bound = terms * unit / (1 - terms * unit) * value_at(sizes, at) +
                           unit * std::abs(value_at(exact, at));
      if (!(error <= bound)) ++outside;
      if (error > 0) ++inexact;
    });
    CHECK(i == found.size());
    CHECK(outside == 0);
    CHECK(inexact > 0);
  });
}

TEST_CASE("products: GEMM of FLOAT32 is within the bound of its sums") {
  Random random(93);
  for (const auto& [rows, columns, depth] :
       {std::array<std::uint64_t, 3>{7, 40, 1000}, {250, 3, 17}, {1, 530, 300}, {13, 37, 256}}) {
    for (const bool transposes : {false, true}) {
      CAPTURE(depth);
      MatrixProduct product{
          .a = rough_numbers(transposes ? List{depth, rows} : List{rows, depth}, random),
          .b = rough_numbers(transposes ? List{columns, depth} : List{depth, columns}, random),
          .transposes_a = transposes,
          .transposes_b = transposes};
      const Tensor exact = product.result(DataType::Float64);
      const PlanCase a_case{"DML_OPERATOR_GEMM",
                            {{"TransA", transposes ? "TRANSPOSE" : "NONE"},
                             {"TransB", transposes ? "TRANSPOSE" : "NONE"},
                             {"Alpha", 1},
                             {"Beta", 0}},
                            {{"ATensor", product.a}, {"BTensor", product.b}},
                            {{"OutputTensor", product.result(DataType::Float32)}}};
      product.a = magnitudes(product.a);
      product.b = magnitudes(product.b);
      check_bound(a_case, exact, product.result(DataType::Float64), static_cast<double>(depth));
    }
  }
}

// Depthwise ones of all widths, which have a way of their own, and one that has not.
TEST_CASE("products: CONVOLUTION of FLOAT32 is within the bound of its sums") {
  Random random(94);
  struct Row {
    std::uint64_t width, groups, outputs, padding;  // of each group
    std::uint64_t step = 1, dilation = 1;
  };
  for (const Row& row : {Row{1, 2, 1, 1},
                         {5, 3, 1, 1},
                         {18, 2, 2, 0},
                         {19, 2, 1, 2},
                         {35, 2, 1, 1},
                         {70, 1, 1, 1},
                         {150, 2, 1, 1},
                         {150, 2, 2, 1, 2},
                         {71, 1, 1, 3, 3, 2},
                         {40, 1, 5, 1},
                         {41, 1, 5, 2, 2, 2}}) {
    CAPTURE(row.width);
    Convolution use{.input = rough_numbers({1, 2 * row.groups, 6, row.width}, random),
                    .filter = rough_numbers({row.outputs * row.groups, 2, 3, 3}, random),
                    .strides = {1, row.step},
                    .dilations = {1, row.dilation},
                    .start = {1, row.padding},
                    .end = {0, row.padding},
                    .output_padding = {0, 0},
                    .groups = row.groups};
    const Tensor exact = use.result(DataType::Float64);
    const PlanCase a_case{"DML_OPERATOR_CONVOLUTION",
                          {{"DimensionCount", 2},
                           {"Strides", use.strides},
                           {"Dilations", use.dilations},
                           {"StartPadding", use.start},
                           {"EndPadding", use.end},
                           {"OutputPadding", use.output_padding},
                           {"GroupCount", use.groups},
                           {"Mode", "CROSS_CORRELATION"},
                           {"Direction", "FORWARD"}},
                          {{"InputTensor", use.input}, {"FilterTensor", use.filter}},
                          {{"OutputTensor", use.result(DataType::Float32)}}};
    use.input = magnitudes(use.input);
    use.filter = magnitudes(use.filter);
    check_bound(a_case, exact, use.result(DataType::Float64), 18);
  }
}

}  // namespace
}  // namespace dmlop::test::product_bounds_test
