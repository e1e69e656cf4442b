// Rows that the CPU normalizes in one go (cpu/fused_rows.hpp), on every instruction set: the same
// bits as the passes one after the other give.
#include "simd_targets.hpp"
//
#include <doctest/doctest.h>

#include <limits>

#include "cpu/execute.hpp"
#include "cpu/plan.hpp"
#include "described.hpp"
#include "ops/expand.hpp"
#include "ops/operator.hpp"
#include "reference/rows.hpp"
#include "sweep.hpp"

namespace dmlop::test::fused_rows_test {
namespace {

/// The output of a plan, pass for pass.
std::vector<std::byte> computed(const Plan& plan, std::vector<std::span<const std::byte>> slots,
                                unsigned threads) {
  slots.resize(plan.slots.size());
  std::vector<std::vector<std::byte>> written(plan.slots.size());
  for (const Pass& pass : plan.passes) {
    const std::size_t slot = pass.writes.front();
    written[slot].resize(plan.slots[slot].bytes());
    std::vector<std::span<const std::byte>> inputs;
    for (const std::size_t read : pass.reads) inputs.push_back(slots[read]);
    cpu::execute_all(pass.kernel, inputs, threads, written[slot].data());
    slots[slot] = written[slot];
  }
  return written[plan.slots_of(SlotKind::output).front()];
}

/// Numbers from -200 to 200, a few of which are infinite or not a number if asked for.
Tensor row_numbers(DataType type, const List& sizes, bool has_special, Random& random) {
  rows::Numbers numbers;
  for_each_index(sizes, [&](const Index&) {
    double value = (static_cast<double>(random.below(1 << 12)) / (1 << 11) - 1) * 200;
    if (has_special && random.one_in(300)) value = -std::numeric_limits<double>::infinity();
    if (has_special && random.one_in(3000)) value = std::numeric_limits<double>::quiet_NaN();
    numbers.push_back(value);
  });
  return rows::tensor_of(type, sizes, numbers);
}

struct Case {
  std::string type;
  nlohmann::ordered_json fields;
  bool has_scale = false;
};

const std::vector<Case> cases{
    {"ACTIVATION_SOFTMAX1", {{"Axes", {3}}}},
    {"ACTIVATION_LOG_SOFTMAX1", {{"Axes", {3}}}},
    {"MEAN_VARIANCE_NORMALIZATION2",
     {{"Axes", {3}}, {"UseMean", 1}, {"UseVariance", 1}, {"Epsilon", 0.25}}},
    {"MEAN_VARIANCE_NORMALIZATION2",
     {{"Axes", {3}}, {"UseMean", 1}, {"UseVariance", 1}, {"Epsilon", 0.25}},
     true},
    {"MEAN_VARIANCE_NORMALIZATION2",
     {{"Axes", {3}}, {"UseMean", 1}, {"UseVariance", 0}, {"Epsilon", 0.25}}},
    {"MEAN_VARIANCE_NORMALIZATION2",
     {{"Axes", {3}}, {"UseMean", 0}, {"UseVariance", 1}, {"Epsilon", 0.25}},
     true},
    {"LP_NORMALIZATION", {{"Axis", 3}, {"Epsilon", 0.25}, {"P", 1}}},
    {"LP_NORMALIZATION", {{"Axis", 3}, {"Epsilon", 0.25}, {"P", 2}}},
};

void check(const Case& a_case, DataType type, const List& sizes, Random& random) {
  CAPTURE(a_case.type);
  CAPTURE(sizes.back());
  nlohmann::ordered_json fields = a_case.fields;
  std::vector<std::pair<std::string, Tensor>> tensors{
      {"InputTensor", row_numbers(type, sizes, !a_case.has_scale, random)}};
  if (a_case.has_scale) {
    tensors.emplace_back("ScaleTensor", row_numbers(type, {1, 1, 1, sizes[3]}, false, random));
    tensors.emplace_back("BiasTensor", row_numbers(type, {1, sizes[1], 1, 1}, false, random));
  }
  for (const auto& [field, tensor] : tensors)
    fields[field] = {{"DataType", name_of(type)}, {"Sizes", tensor.sizes}};
  fields["OutputTensor"] = fields["InputTensor"];
  const Checked checked = check_desc(a_case.type, fields);
  REQUIRE(checked.description);
  const Plan plan = make_plan(*checked.description);
  std::vector<std::span<const std::byte>> inputs(plan.slots.size());
  for (const auto& [field, tensor] : tensors) inputs[*plan.find(field)] = tensor.bytes;
  const std::vector<std::byte> expected = computed(as_passes(plan), inputs, 1);
  CHECK_FALSE(cpu::plan_for_cpu(plan));
  on_every_target([&] { CHECK(computed(plan, inputs, 2) == expected); });
}

TEST_CASE("fused rows: every instruction set gives the bits of the passes one by one") {
  Random random(68);
  for (const Case& a_case : cases) {
    for (const DataType type : {DataType::Float32, DataType::Float16}) {
      for (const std::uint64_t length : {32, 65, 511, 512, 513, 1100})
        check(a_case, type, {2, 3, 5, length}, random);
    }
  }
}

// Written past the caches.
TEST_CASE("fused rows: outputs that no cache holds") {
  Random random(69);
  check(cases.front(), DataType::Float32, {1, 1, 2100, 2049}, random);
}

}  // namespace
}  // namespace dmlop::test::fused_rows_test
