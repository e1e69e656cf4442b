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
#include "gpu/steps.hpp"
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
TEST_CASE("product matrices: larger tiles, of sums of whole slices") {
  if (!has_gpu()) return;
  Random random(72);
  // Rows, columns, depth, rows and columns of a subgroup, slices and vectors in shared memory,
  // threads.
  constexpr std::array<std::array<std::uint32_t, 8>, 4> tiles{{
      {256, 128, 32, 64, 32, 1, 2304, 512},
      {128, 128, 32, 64, 32, 1, 1344, 256},
      {64, 128, 32, 64, 32, 1, 1024, 128},
      {64, 128, 32, 32, 32, 1, 1152, 256},
  }};
  for (const bool transposes : {false, true}) {
    const MatrixProduct product{.a = halves(transposes ? List{96, 60} : List{60, 96}, random,
                                            transposes ? List{61, 1} : List{97, 1}),
                                .b = halves(transposes ? List{56, 96} : List{96, 56}, random),
                                .transposes_a = transposes,
                                .transposes_b = transposes};
    const Tensor expected = product.result(DataType::Float16);
    auto dispatches = with_matrices(plan_of(case_of(product, expected)));
    REQUIRE(dispatches.size() == 1);
    constexpr std::size_t first = 9, has_rest = 17;  // among the kernel's constants
    CHECK(dispatches[0].specialization[has_rest] == 0);
    for (const auto& tile : tiles) {
      CAPTURE(tile[0]);
      std::copy(tile.begin(), tile.end(), dispatches[0].specialization.begin() + first);
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

/// What a device with cooperative matrices runs for a product whose elements do not matter.
std::vector<gpu::Dispatch> dispatches_of(std::uint64_t rows, std::uint64_t depth,
                                         std::uint64_t columns, DataType type) {
  const Tensor a{type, {rows, depth}, {depth, 1}, {}}, b{type, {depth, columns}, {columns, 1}, {}};
  const Tensor output{type, {rows, columns}, {columns, 1}, {}};
  return with_matrices(plan_of(case_of(MatrixProduct{.a = a, .b = b}, output)));
}

TEST_CASE("product matrices: products get the tiles that keep most of a device busy") {
  struct Row {
    std::uint64_t rows, depth, columns;
    std::string kernel;
    bool divides_sums = false;
  };
  const std::vector<Row> rows{
      {512, 512, 512, "product_matrices", true},
      {1024, 1024, 1024, "product_matrices"},
      {4096, 4096, 4096, "product_matrices_256"},
      {2048, 2048, 2048, "product_matrices_256"},  // a round of 128 groups
      {2048, 2056, 2048, "product_matrices_128"},  // no whole slices of the largest tiles
      {3072, 3072, 3072, "product_matrices_64"},   // of 256 rows, the third round would be short
      {128, 512, 32768, "product_matrices_128"},
      {64, 512, 65536, "product_matrices_64"},
      {128, 4096, 4096, "product_matrices_long", true},
      {128, 1024, 4096, "product_matrices", true},
      {32, 4096, 4096, "product_matrices", true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.rows);
    CAPTURE(row.depth);
    const auto dispatches = dispatches_of(row.rows, row.depth, row.columns, DataType::Float16);
    REQUIRE(dispatches.size() == 1);
    CHECK(dispatches[0].kernel == row.kernel);
    CHECK((dispatches[0].scratch_bytes != 0) == row.divides_sums);
  }
  CHECK(dispatches_of(31, 31, 31, DataType::Float16).empty());
  CHECK(dispatches_of(4096, 4096, 4096, DataType::Float32).empty());
}

TEST_CASE("product matrices: a device with matrices needs the scratch of what it runs") {
  gpu::Dispatch usual;
  usual.scratch_bytes = 16;
  usual.with_matrices.emplace_back().scratch_bytes = 64;
  const std::vector<gpu::Dispatch> dispatches{usual};
  CHECK(gpu::scratch_bytes(dispatches, {.has_matrices = true}) == 64);
  CHECK(gpu::scratch_bytes(dispatches, {.has_matrices = false}) == 16);
}

TEST_CASE("product matrices: convolutions get the tiles that keep most of a device busy") {
  struct Row {
    std::uint64_t batch, channels, side, filters;
    std::uint32_t tile_rows, tile_columns;
  };
  const std::vector<Row> rows{
      {8, 128, 64, 128, 128, 128},
      {2, 1280, 16, 1280, 128, 128},  // 40 tiles, whose sums are divided
      {2, 320, 64, 320, 128, 64},     // 192 larger ones are too few, and too many to divide sums
      {32, 64, 56, 64, 64, 64},       // no more rows
      {1, 256, 14, 256, 64, 64},
  };
  constexpr std::size_t rows_at = 9, columns_at = 10;  // among the kernel's constants
  for (const Row& row : rows) {
    CAPTURE(row.channels);
    CAPTURE(row.side);
    const auto tensor = [](List sizes) {
      const Tensor packed = Tensor::packed(DataType::Float16, sizes);
      return Tensor{DataType::Float16, sizes, packed.strides, {}};
    };
    const Convolution use{.input = tensor({row.batch, row.channels, row.side, row.side}),
                          .filter = tensor({row.filters, row.channels, 3, 3}),
                          .strides = {1, 1},
                          .dilations = {1, 1},
                          .start = {1, 1},
                          .end = {1, 1},
                          .output_padding = {0, 0}};
    const auto dispatches =
        with_matrices(plan_of(case_of(use, tensor({row.batch, row.filters, row.side, row.side}))));
    REQUIRE(dispatches.size() == 1);
    CHECK(dispatches[0].specialization[rows_at] == row.tile_rows);
    CHECK(dispatches[0].specialization[columns_at] == row.tile_columns);
  }
}

}  // namespace
}  // namespace dmlop::test::product_matrices_test
