// Attention of FLOAT16 by cooperative matrices (shaders/attention_matrices.comp): which kernels get
// it, and that tiles, edges and sums are right. Devices of tests have no such matrices, so a
// variant computes them in loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "emulated_matrices.hpp"
#include "gpu/dispatch.hpp"
#include "ops/kernels/attention.hpp"
#include "reference/attention.hpp"
#include "sweep.hpp"

namespace dmlop::test::attention_matrices_test {
namespace {

/// Heads in a tensor {batch, length, heads * size}.
AttentionInput heads_of(const Tensor& tensor, std::uint64_t heads) {
  return {tensor.type,     0, tensor.sizes[1] * tensor.sizes[2], tensor.sizes[2] / heads,
          tensor.sizes[2], 1};
}

/// Heads in a tensor {batch, heads, length, size}.
AttentionInput present_heads(const Tensor& tensor) {
  const std::uint64_t head = tensor.sizes[2] * tensor.sizes[3];
  return {tensor.type, 0, tensor.sizes[1] * head, head, tensor.sizes[3], 1};
}

AttentionKernel kernel_of(const MultiheadAttention& use) {
  AttentionKernel kernel{.output_type = use.query.type,
                         .batch = use.batch(),
                         .heads = use.heads,
                         .group = use.heads / use.key_heads,
                         .queries = use.queries(),
                         .keys = use.keys(),
                         .size = use.size(),
                         .value_size = use.value_size(),
                         .query = heads_of(use.query, use.heads),
                         .key = heads_of(use.key, use.key_heads),
                         .value = heads_of(use.value, use.key_heads),
                         .scale = use.scale};
  if (use.mask) {
    kernel.mask = AttentionMask::lengths;
    kernel.mask_strides = {use.batch(), 1};
    kernel.filter = use.filter;
  }
  if (use.past_lengths) {
    kernel.key = present_heads(use.present_key());
    kernel.value = present_heads(use.present_value());
    kernel.past_lengths =
        PastLengths{.stride = 1, .rows = use.past(), .new_rows = use.key.sizes[1]};
  }
  if (use.position_bias)
    kernel.position_bias = AttentionInput{
        use.position_bias->type,    0,          use.heads * use.queries() * use.keys(),
        use.queries() * use.keys(), use.keys(), 1};
  return kernel;
}

std::vector<gpu::Dispatch> with_matrices(const AttentionKernel& kernel) {
  return gpu::make_dispatches(kernel).dispatches.front().with_matrices;
}

Tensor emulated_result(const MultiheadAttention& use) {
  const auto dispatches = with_matrices(kernel_of(use));
  REQUIRE(dispatches.size() == 1);
  const Tensor key = use.past_lengths ? use.present_key() : use.key;
  const Tensor value = use.past_lengths ? use.present_value() : use.value;
  std::vector<const Tensor*> inputs{&use.query, &key, &value};
  if (use.mask) inputs.push_back(&*use.mask);
  if (use.position_bias) inputs.push_back(&*use.position_bias);
  if (use.past_lengths) inputs.push_back(&*use.past_lengths);
  return emulated(
      dispatches[0], inputs,
      Tensor::packed(use.query.type, {use.batch(), use.queries(), use.heads * use.value_size()}));
}

/// The largest difference from the reference.
double error_of(const MultiheadAttention& use) {
  const Tensor expected = use.result(), result = emulated_result(use);
  double error = 0;
  for_each_index(expected.sizes, [&](const Index& at) {
    const double difference = std::abs(value_at(result, at) - value_at(expected, at));
    error = difference <= error ? error : difference;  // NaN stays
  });
  return error;
}

Tensor halves(const List& sizes, Random& random) {
  Tensor tensor = Tensor::packed(DataType::Float16, sizes);
  for_each_index(sizes, [&](const Index& at) {
    set_value(tensor, at, static_cast<double>(random.below(9)) / 4 - 1);
  });
  return tensor;
}

MultiheadAttention random_heads(const List& query, const List& key, const List& value,
                                Random& random) {
  return {
      .query = halves(query, random), .key = halves(key, random), .value = halves(value, random)};
}

TEST_CASE("attention matrices: several tiles of queries and keys, and heads that share keys") {
  if (!has_gpu()) return;
  Random random(71);
  MultiheadAttention use = random_heads({2, 130, 2 * 24}, {2, 70, 24}, {2, 70, 16}, random);
  use.heads = 2;
  CHECK(error_of(use) <= 2e-3);
}

TEST_CASE("attention matrices: weights are not rounded to FLOAT16") {
  if (!has_gpu()) return;
  // Large values of both signs, little of which is left: the weights of FLOAT16 would leave 0.05.
  Random random(72);
  MultiheadAttention use = random_heads({1, 40, 8}, {1, 64, 8}, {1, 64, 8}, random);
  for_each_index(use.value.sizes,
                 [&](const Index& at) { set_value(use.value, at, at[1] % 2 == 0 ? 512 : -512); });
  // Pairs of keys are alike but for a hair.
  for_each_index(use.key.sizes, [&](const Index& at) {
    if (at[1] % 2 == 1)
      set_value(use.key, at,
                value_at(use.key, {at[0], at[1] - 1, at[2]}) + (at[2] == 0 ? 0.00390625 : 0));
  });
  CHECK(error_of(use) <= 2e-3);
}

TEST_CASE("attention matrices: ever larger scores, a mask and a position bias") {
  if (!has_gpu()) return;
  Random random(73);
  MultiheadAttention use = random_heads({1, 33, 16}, {1, 100, 16}, {1, 100, 32}, random);
  use.position_bias = halves({1, 1, 33, 100}, random);
  for_each_index(use.position_bias->sizes, [&](const Index& at) {
    const double slope = at[2] % 3 == 0 ? 1 : at[2] % 3 == 1 ? -1 : 0;
    set_value(*use.position_bias, at, slope * static_cast<double>(at[3]));
  });
  use.mask_type = "KEY_SEQUENCE_LENGTH";
  use.mask = Tensor::of<std::int32_t>(DataType::Int32, {1, 1}, {90});
  use.filter = -10000;
  CHECK(error_of(use) <= 4e-3);
}

TEST_CASE("attention matrices: infinite values stay infinite, and those behind the end are none") {
  if (!has_gpu()) return;
  Random random(74);
  MultiheadAttention use = random_heads({1, 32, 8}, {1, 20, 8}, {1, 20, 8}, random);
  use.mask_type = "KEY_SEQUENCE_LENGTH";
  use.mask = Tensor::of<std::int32_t>(DataType::Int32, {1, 1}, {20});
  use.position_bias = halves({1, 1, 32, 20}, random);
  set_value(use.value, {0, 7, 3}, HUGE_VAL);
  const Tensor result = emulated_result(use);
  CHECK(value_at(result, {0, 5, 3}) == HUGE_VAL);
  CHECK(std::isfinite(value_at(result, {0, 5, 2})));
}

/// Two sequences with other numbers of earlier keys: one query more than a group has, and keys that
/// begin within a tile.
MultiheadAttention heads_with_lengths(Random& random) {
  MultiheadAttention use = random_heads({2, 130, 2 * 16}, {2, 130, 16}, {2, 130, 24}, random);
  use.heads = 2;
  use.past_key = halves({2, 1, 45, 16}, random);
  use.past_value = halves({2, 1, 45, 24}, random);
  use.past_lengths = Tensor::of<std::int32_t>(DataType::Int32, {2}, {37, 20});
  use.total = 175;
  return use;
}

TEST_CASE("attention matrices: with lengths, a query counts the keys up to its own") {
  if (!has_gpu()) return;
  Random random(77);
  MultiheadAttention use = heads_with_lengths(random);
  CHECK(error_of(use) <= 2e-3);
  use.position_bias = halves({2, 2, 130, 175}, random);
  CHECK(error_of(use) <= 2e-3);
  use.mask_type = "KEY_SEQUENCE_LENGTH";
  use.mask = Tensor::of<std::int32_t>(DataType::Int32, {1, 2}, {120, 31});
  use.filter = -10000;
  CHECK(error_of(use) <= 2e-3);
}

TEST_CASE("attention matrices: what is infinite or NaN reaches no query that does not count it") {
  if (!has_gpu()) return;
  Random random(78);
  MultiheadAttention use = heads_with_lengths(random);
  // Keys 37 + 4, which is in the first tile that not all queries count, and 37 + 70 of the first
  // sequence are infinite, key 50 of the second is NaN.
  set_value(use.value, {0, 4, 7}, HUGE_VAL);
  set_value(use.value, {0, 70, 3}, HUGE_VAL);
  set_value(use.value, {0, 70, 20}, -HUGE_VAL);
  set_value(use.value, {1, 50, 11}, std::nan(""));
  set_value(use.key, {1, 90, 5}, std::nan(""));
  const Tensor result = emulated_result(use), expected = use.result();
  std::uint64_t specials = 0;
  for_each_index(expected.sizes, [&](const Index& at) {
    const double wanted = value_at(expected, at), got = value_at(result, at);
    specials += std::isfinite(wanted) ? 0 : 1;
    INFO(at[0], ", ", at[1], ", ", at[2]);
    if (std::isfinite(wanted)) CHECK(std::abs(got - wanted) <= 2e-3);
    if (!std::isfinite(wanted)) CHECK((got == wanted || (std::isnan(got) && std::isnan(wanted))));
  });
  CHECK(specials == 2 * 126 + 2 * 2 * 60 + 2 * 40 + 2 * 23 * 40 + 2 * 40);
}

TEST_CASE("attention matrices: a filter may be the least number, of all keys or some") {
  if (!has_gpu()) return;
  Random random(76);
  for (const std::int32_t length : {0, 9}) {
    MultiheadAttention use = random_heads({1, 32, 8}, {1, 20, 8}, {1, 20, 8}, random);
    use.mask_type = "KEY_SEQUENCE_LENGTH";
    use.mask = Tensor::of<std::int32_t>(DataType::Int32, {1, 1}, {length});
    use.position_bias = halves({1, 1, 32, 20}, random);
    use.filter = std::numeric_limits<float>::lowest();
    CHECK(error_of(use) <= 2e-3);
  }
}

TEST_CASE("attention matrices: heads of FLOAT16 whose eights stand at multiples of 16 bytes") {
  Random random(75);
  const AttentionKernel usual =
      kernel_of(random_heads({1, 64, 64}, {1, 64, 64}, {1, 64, 64}, random));
  const auto is_run = [&](auto&& change) {
    AttentionKernel kernel = usual;
    change(kernel);
    return !with_matrices(kernel).empty();
  };
  CHECK(is_run([](AttentionKernel&) {}));
  CHECK(with_matrices(usual)[0].kernel == "attention_matrices_64");
  CHECK(is_run([](AttentionKernel& kernel) { kernel.value_size = 8; }));
  AttentionKernel longer = usual;
  longer.value_size = 72;
  CHECK(with_matrices(longer)[0].kernel == "attention_matrices_128");
  CHECK_FALSE(is_run([](AttentionKernel& kernel) { kernel.value_size = 136; }));
  CHECK_FALSE(is_run([](AttentionKernel& kernel) { kernel.size = 60; }));
  CHECK_FALSE(is_run([](AttentionKernel& kernel) { kernel.key.offset = 4; }));
  CHECK_FALSE(is_run([](AttentionKernel& kernel) { kernel.key.row_stride = 68; }));
  CHECK_FALSE(is_run([](AttentionKernel& kernel) { kernel.value.element_stride = 2; }));
  CHECK_FALSE(is_run([](AttentionKernel& kernel) { kernel.query.data_type = DataType::Float32; }));
  CHECK_FALSE(is_run([](AttentionKernel& kernel) { kernel.queries = 31; }));
}

}  // namespace
}  // namespace dmlop::test::attention_matrices_test
