// Products of FLOAT16 by cooperative matrices (shaders/product_matrices.comp): which kernels get
// them, and that tiles, edges and parts are right. Devices of tests have none, so a variant
// computes their matrices in loops. Numbers are so small that every sum is exact.
#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <vector>

#include "gpu/dispatch.hpp"
#include "gpu_device.hpp"
#include "ops/operator.hpp"
#include "plan_case.hpp"
#include "reference/matrix_products.hpp"
#include "small_numbers.hpp"
#include "spec/validate.hpp"

namespace dmlop::test {
namespace {

Plan plan_of(const MatrixProduct& product, const Tensor& output) {
  PlanCase a_case{"DML_OPERATOR_GEMM",
                  {{"TransA", product.transposes_a ? "TRANSPOSE" : "NONE"},
                   {"TransB", product.transposes_b ? "TRANSPOSE" : "NONE"},
                   {"Alpha", product.alpha},
                   {"Beta", product.beta}},
                  {{"ATensor", product.a}, {"BTensor", product.b}},
                  {{"OutputTensor", output}}};
  if (product.c) a_case.inputs.push_back({"CTensor", *product.c});
  Diagnostics diagnostics;
  const auto description =
      read_description("op.json", a_case.description().dump(), newest_feature_level, diagnostics);
  REQUIRE(description);
  return make_plan(*description);
}

/// The dispatch for devices with cooperative matrices.
std::vector<gpu::ResidentDispatch> with_matrices(const Plan& plan) {
  REQUIRE(plan.passes.size() == 1);
  return gpu::make_resident_dispatches(plan.passes[0].kernel).front().with_matrices;
}

/// What the variant without cooperative matrices computes.
Tensor computed(const gpu::ResidentDispatch& dispatch, const MatrixProduct& product,
                const Tensor& like) {
  static const std::unique_ptr<gpu::Device> device = open_gpu();
  const std::unique_ptr<gpu::Stream> stream = device->make_stream();
  std::vector<std::unique_ptr<gpu::ResidentBuffer>> buffers;
  const auto range_of = [&](const std::vector<std::byte>& bytes) {
    buffers.push_back(device->make_resident_buffer((bytes.size() + 15) / 16 * 16));
    return gpu::ResidentRange{buffers.back().get(), 0, bytes.size()};
  };
  std::vector<gpu::ResidentRange> inputs;
  for (const Tensor* tensor :
       {&product.a, &product.b, product.c ? &*product.c : static_cast<const Tensor*>(nullptr)}) {
    if (tensor == nullptr) continue;
    inputs.push_back(range_of(tensor->bytes));
    stream->write(inputs.back(), tensor->bytes);
  }
  Tensor output = Tensor::packed(like.type, like.sizes);
  const std::array outputs{range_of(output.bytes)};
  gpu::ResidentDispatch emulated = dispatch;
  emulated.kernel += "_emulated";
  stream->run(emulated, inputs, outputs);
  stream->finish();
  stream->read(outputs[0], output.bytes);
  return output;
}

void check_product(const MatrixProduct& product) {
  const Tensor expected = product.result(DataType::Float16);
  const auto dispatches = with_matrices(plan_of(product, expected));
  REQUIRE(dispatches.size() == 1);
  CHECK(computed(dispatches[0], product, expected).bytes == expected.bytes);
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
  check_product({.a = halves({64, 64}, random), .b = halves({64, 72}, random)});
}

TEST_CASE("product matrices: transposes of odd sizes, and something to add") {
  if (!has_gpu()) return;
  Random random(62);
  check_product({.a = halves({45, 67}, random),
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
  const auto dispatches = with_matrices(plan_of(product, product.result(DataType::Float16)));
  REQUIRE(dispatches.size() == 1);
  CHECK(dispatches[0].stages.size() == 2);
  check_product(product);
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
  check_product(
      {.a = with_nan({32, 33}, {40, 1}), .b = with_nan({32, 33}, {40, 1}), .transposes_b = true});
}

TEST_CASE("product matrices: large products get large tiles, and small ones none") {
  Random random(65);
  const auto dispatches_of = [&](std::uint64_t side, DataType type) {
    const Tensor matrix{type, {side, side}, {side, 1}, {}};
    return with_matrices(plan_of({.a = matrix, .b = matrix}, matrix));
  };
  CHECK(dispatches_of(31, DataType::Float16).empty());
  CHECK(dispatches_of(4096, DataType::Float32).empty());
  REQUIRE(dispatches_of(1024, DataType::Float16).size() == 1);
  CHECK(dispatches_of(1024, DataType::Float16)[0].kernel == "product_matrices_64");
  CHECK(dispatches_of(4096, DataType::Float16)[0].kernel == "product_matrices_128");
  CHECK(dispatches_of(4096, DataType::Float16)[0].scratch_bytes == 0);
}

}  // namespace
}  // namespace dmlop::test
