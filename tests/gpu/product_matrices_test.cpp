// Products and convolutions of FLOAT16 by cooperative matrices (shaders/product_matrices.comp):
// which kernels get them, and that tiles, edges, windows and parts are right. Devices of tests have
// none, so a variant computes their matrices in loops. Numbers are so small that every sum is
// exact.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "emulated_matrices.hpp"
#include "gemm_case.hpp"
#include "gpu/dispatch.hpp"
#include "ops/operator.hpp"
#include "plan_case.hpp"
#include "reference/convolution.hpp"
#include "reference/matrix_products.hpp"
#include "small_numbers.hpp"
#include "spec/validate.hpp"

namespace dmlop::test::product_matrices_test {
namespace {

Plan plan_of(const PlanCase& a_case) {
  Diagnostics diagnostics;
  const auto description =
      read_description("op.json", a_case.description().dump(), newest_feature_level, diagnostics);
  REQUIRE(description);
  return make_plan(*description);
}

PlanCase case_of(const MatrixProduct& product, const Tensor& output) {
  return gemm_case(product, output);
}

PlanCase case_of(const Convolution& use, const Tensor& output) {
  PlanCase a_case{"DML_OPERATOR_CONVOLUTION",
                  {{"Mode", use.flips ? "CONVOLUTION" : "CROSS_CORRELATION"},
                   {"Direction", use.is_backward ? "BACKWARD" : "FORWARD"},
                   {"DimensionCount", use.strides.size()},
                   {"Strides", use.strides},
                   {"Dilations", use.dilations},
                   {"StartPadding", use.start},
                   {"EndPadding", use.end},
                   {"OutputPadding", use.output_padding},
                   {"GroupCount", use.groups}},
                  {{"FilterTensor", use.filter}, {"InputTensor", use.input}},
                  {{"OutputTensor", output}}};
  a_case.add_if("BiasTensor", use.bias);
  return a_case;
}

/// The dispatch for devices with cooperative matrices.
std::vector<gpu::Dispatch> with_matrices(const Plan& plan) {
  REQUIRE(plan.passes.size() == 1);
  return gpu::make_dispatches(plan.passes[0].kernel).dispatches.front().with_matrices;
}

template <typename Use>
void check_product(const Use& use) {
  const Tensor expected = use.result(DataType::Float16);
  const PlanCase a_case = case_of(use, expected);
  const auto dispatches = with_matrices(plan_of(a_case));
  REQUIRE(dispatches.size() == 1);
  // Inputs stand in the kernel's order.
  std::vector<const Tensor*> inputs;
  for (const NamedTensor& input : a_case.inputs) inputs.push_back(&input.tensor);
  CHECK(emulated(dispatches[0], inputs, expected).bytes == expected.bytes);
}

Tensor halves(const List& sizes, Random& random, List strides = {}) {
  Tensor tensor = Tensor::packed(DataType::Float16, sizes);
  if (!strides.empty()) tensor = Tensor::strided(DataType::Float16, sizes, std::move(strides));
  for_each_index(sizes, [&](const Index& at) {
    set_value(tensor, at, static_cast<double>(random.below(9)) / 2 - 2);
  });
  return tensor;
}

TEST_CASE("product matrices: tiles that are full, and outputs of whole vectors") {
  if (!has_gpu()) return;
  Random random(61);
  check_product(MatrixProduct{.a = halves({64, 64}, random), .b = halves({64, 72}, random)});
}

TEST_CASE("product matrices: transposes of odd sizes, and something to add") {
  if (!has_gpu()) return;
  Random random(62);
  check_product(MatrixProduct{.a = halves({45, 67}, random),
                              .b = halves({33, 45}, random),
                              .transposes_a = true,
                              .transposes_b = true,
                              .alpha = 0.5,
                              .c = halves({67, 33}, random),
                              .beta = 2});
}

TEST_CASE("product matrices: batches, of which one matrix is repeated, and sums in parts") {
  if (!has_gpu()) return;
  Random random(63);
  MatrixProduct product{.a = halves({2, 34, 520}, random),
                        .b = halves({2, 40, 520}, random, {0, 528, 1}),
                        .transposes_b = true,
                        .c = halves({2, 34, 40}, random, {0, 0, 1}),
                        .beta = 1};
  const auto dispatches =
      with_matrices(plan_of(case_of(product, product.result(DataType::Float16))));
  REQUIRE(dispatches.size() == 1);
  CHECK(dispatches[0].stages.size() == 2);
  check_product(product);
}

// One tile of any size has these products.
TEST_CASE("product matrices: the largest tiles, of sums of whole slices") {
  if (!has_gpu()) return;
  Random random(72);
  for (const bool transposes_a : {false, true}) {
    for (const bool transposes_b : {false, true}) {
      const MatrixProduct product{.a = halves(transposes_a ? List{96, 60} : List{60, 96}, random,
                                              transposes_a ? List{61, 1} : List{97, 1}),
                                  .b = halves(transposes_b ? List{56, 96} : List{96, 56}, random),
                                  .transposes_a = transposes_a,
                                  .transposes_b = transposes_b};
      const Tensor expected = product.result(DataType::Float16);
      const PlanCase a_case = case_of(product, expected);
      auto dispatches = with_matrices(plan_of(a_case));
      REQUIRE(dispatches.size() == 1);
      constexpr std::array<std::uint32_t, 8> largest{256, 128, 32, 64, 32, 1, 2304, 512};
      constexpr std::size_t first = 9, has_rest = 17;  // among the kernel's constants
      std::copy(largest.begin(), largest.end(), dispatches[0].specialization.begin() + first);
      CHECK(dispatches[0].specialization[has_rest] == 0);
      CHECK(emulated(dispatches[0], {&product.a, &product.b}, expected).bytes == expected.bytes);
    }
  }
}

TEST_CASE("product matrices: numbers behind the end of a sum count for nothing") {
  if (!has_gpu()) return;
  Random random(64);
  // Rows of 33 elements with others between them, all of which are NaN.
  const auto with_nan = [&](List sizes, List strides) {
    Tensor tensor = Tensor::strided(DataType::Float16, sizes, strides);
    for (std::byte& byte : tensor.bytes) byte = std::byte{0x7E};
    for_each_index(sizes, [&](const Index& at) {
      set_value(tensor, at, static_cast<double>(random.below(5)) - 2);
    });
    return tensor;
  };
  check_product(MatrixProduct{
      .a = with_nan({32, 33}, {40, 1}), .b = with_nan({32, 33}, {40, 1}), .transposes_b = true});
}

Convolution convolution(const List& input, const List& filter, Random& random) {
  const List ones(input.size() - 2, 1), zeros(ones.size(), 0);
  return {.input = halves(input, random),
          .filter = halves(filter, random),
          .strides = ones,
          .dilations = ones,
          .start = zeros,
          .end = zeros,
          .output_padding = zeros};
}

// Each new set of constants costs a test device more than a second: most have a bias, sums that are
// no multiples of 8, and rows that are no whole vectors.
TEST_CASE("product matrices: convolutions of images whose rows are whole vectors, or are not") {
  if (!has_gpu()) return;
  Random random(66);
  for (const std::uint64_t width : {8, 14}) {
    Convolution use = convolution({2, 5, 9, width}, {34, 5, 3, 3}, random);
    use.start = use.end = {1, 1};
    use.bias = halves({1, 34, 1, 1}, random);
    check_product(use);
  }
}

TEST_CASE("product matrices: convolutions whose sums are whole slices") {
  if (!has_gpu()) return;
  Random random(71);
  Convolution use = convolution({1, 32, 5, 14}, {34, 32, 1, 3}, random);
  use.start = use.end = {0, 1};
  check_product(use);
}

TEST_CASE("product matrices: convolutions with strides, dilations, groups and flipped filters") {
  if (!has_gpu()) return;
  Random random(67);
  for (const std::uint64_t stride : {1, 3}) {
    Convolution use = convolution({1, 6, 13, 31}, {66, 3, 3, 5}, random);
    use.groups = 2;
    use.strides = {2, stride};
    use.dilations = {1, 2};
    use.start = {0, 3};
    use.end = {2, 2};
    use.flips = true;
    use.bias = halves({1, 66, 1, 1}, random);
    check_product(use);
  }
}

TEST_CASE("product matrices: convolutions along one axis and three, with sums in parts") {
  if (!has_gpu()) return;
  Random random(68);
  Convolution use = convolution({1, 9, 90}, {32, 9, 59}, random);
  use.bias = halves({1, 32, 1}, random);
  check_product(use);
  use = convolution({1, 5, 4, 5, 11}, {32, 5, 2, 3, 2}, random);
  use.bias = halves({1, 32, 1, 1, 1}, random);
  use.start = {1, 0, 1};
  use.end = {0, 2, 0};
  check_product(use);
}

TEST_CASE("product matrices: convolutions whose sums or rows are no lines of elements get none") {
  Random random(69);
  const auto dispatches_of = [&](const Convolution& use) {
    return with_matrices(plan_of(case_of(use, use.result(DataType::Float16))));
  };
  Convolution use = convolution({1, 8, 8, 9}, {32, 8, 3, 3}, random);
  CHECK(dispatches_of(use).size() == 1);
  use.output_padding = {0, 1};
  CHECK(dispatches_of(use).empty());
  use.output_padding = {0, 0};
  use.filter = halves({8, 32, 3, 3}, random);  // the filter's taps and channels lie apart
  use.is_backward = true;
  CHECK(dispatches_of(use).empty());
}

TEST_CASE("product matrices: large products get large tiles, and small ones none") {
  Random random(65);
  const auto dispatches_of = [&](std::uint64_t side, DataType type) {
    const Tensor matrix{type, {side, side}, {side, 1}, {}};
    return with_matrices(plan_of(case_of(MatrixProduct{.a = matrix, .b = matrix}, matrix)));
  };
  CHECK(dispatches_of(31, DataType::Float16).empty());
  CHECK(dispatches_of(4096, DataType::Float32).empty());
  REQUIRE(dispatches_of(1024, DataType::Float16).size() == 1);
  constexpr std::size_t rows = 9;  // of a tile, among the kernel's constants
  CHECK(dispatches_of(1024, DataType::Float16)[0].specialization[rows] == 64);
  CHECK(dispatches_of(2056, DataType::Float16)[0].specialization[rows] == 128);
  CHECK(dispatches_of(4096, DataType::Float16)[0].specialization[rows] == 256);
  CHECK(dispatches_of(1024, DataType::Float16)[0].kernel == "product_matrices");
  // 2056 are no whole slices of the largest tiles.
  CHECK(dispatches_of(2056, DataType::Float16)[0].kernel == "product_matrices_128");
  CHECK(dispatches_of(4096, DataType::Float16)[0].kernel == "product_matrices_256");
  CHECK(dispatches_of(4096, DataType::Float16)[0].scratch_bytes == 0);
}

}  // namespace
}  // namespace dmlop::test::product_matrices_test
