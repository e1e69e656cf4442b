// Which rows are computed at once (ops/kernels/rows.hpp), on the CPU and on GPUs: rows as networks
// have them are never computed in passes without a test that says so.
#include <doctest/doctest.h>

#include <array>

#include "cpu/plan.hpp"
#include "described.hpp"
#include "gpu/steps.hpp"
#include "ops/expand.hpp"
#include "ops/operator.hpp"

namespace dmlop::test::rows_test {
namespace {

using Json = nlohmann::ordered_json;

struct Work {
  std::string type;
  Sizes sizes;
  Json fields = {};
  Sizes scale_sizes = {};  // of scale and bias
};

Plan plan_of(const Work& work, DataType type, bool has_activation = false) {
  Json fields = work.fields;
  const auto set = [&](const char* field, const Sizes& sizes) {
    fields[field] = {{"DataType", name_of(type)}, {"Sizes", sizes}};
  };
  set("InputTensor", work.sizes);
  set("OutputTensor", work.sizes);
  if (!work.scale_sizes.empty()) {
    set("ScaleTensor", work.scale_sizes);
    set("BiasTensor", work.scale_sizes);
  }
  if (has_activation) fields["FusedActivation"] = {{"Type", "ACTIVATION_RELU"}};
  const Checked checked = check_desc(work.type, fields);
  REQUIRE_MESSAGE(checked.description, work.type);
  return make_plan(*checked.description);
}

Json normalized(const Sizes& axes, bool uses_mean = true, bool uses_variance = true) {
  return {
      {"Axes", axes}, {"UseMean", uses_mean}, {"UseVariance", uses_variance}, {"Epsilon", 1e-5}};
}

/// As in networks: classifiers, attention, and the normalizations of layers, instances and groups.
const std::vector<Work>& usual_works() {
  static const std::vector<Work> works{
      {"ACTIVATION_SOFTMAX", {8, 1000}},
      {"ACTIVATION_SOFTMAX1", {1, 12, 384, 384}, {{"Axes", {3}}}},
      {"ACTIVATION_LOG_SOFTMAX", {8, 1000}},
      {"ACTIVATION_LOG_SOFTMAX1", {1, 1, 4, 50000}, {{"Axes", {3}}}},
      {"LP_NORMALIZATION", {32, 512}, {{"Axis", 1}, {"P", 1}, {"Epsilon", 0}}},
      {"LP_NORMALIZATION", {32, 512}, {{"Axis", 1}, {"P", 2}, {"Epsilon", 0}}},
      {"MEAN_VARIANCE_NORMALIZATION2", {8, 384, 768}, normalized({2}), {1, 1, 768}},
      {"MEAN_VARIANCE_NORMALIZATION2", {1, 1, 77, 1024}, normalized({3}, false), {1, 1, 1, 1024}},
      {"MEAN_VARIANCE_NORMALIZATION2", {1, 1, 77, 1024}, normalized({3}, true, false)},
      {"MEAN_VARIANCE_NORMALIZATION2", {4, 64, 56, 56}, normalized({2, 3}), {1, 64, 1, 1}},
      {"MEAN_VARIANCE_NORMALIZATION2", {1, 32, 10, 64, 64}, normalized({2, 3, 4})},
      {"MEAN_VARIANCE_NORMALIZATION1",
       {2, 3, 64, 64},
       {{"Axes", {1, 2, 3}}, {"NormalizeVariance", true}, {"Epsilon", 1e-5}}},
      {"MEAN_VARIANCE_NORMALIZATION",
       {4, 64, 56, 56},
       {{"CrossChannel", false}, {"NormalizeVariance", true}, {"Epsilon", 1e-5}},
       {1, 64, 1, 1}},
  };
  return works;
}

constexpr std::array types{DataType::Float32, DataType::Float16};

TEST_CASE("rows: the CPU and GPUs compute usual ones at once") {
  for (const Work& work : usual_works()) {
    for (const DataType type : types) {
      CAPTURE(work.type);
      CAPTURE(work.fields.dump());
      const Plan plan = plan_of(work, type);
      CHECK(plan.passes.size() == 1);
      CHECK_FALSE(cpu::plan_for_cpu(plan));
      CHECK(gpu::steps_of(plan).steps.size() == 1);
      CHECK(as_passes(plan).passes.size() > 1);
    }
  }
}

TEST_CASE("rows: an activation has a pass of its own on the CPU, and none on GPUs") {
  std::size_t count = 0;
  for (const Work& work : usual_works()) {
    if (!work.type.starts_with("MEAN_VARIANCE")) continue;
    ++count;
    for (const DataType type : types) {
      CAPTURE(work.fields.dump());
      const Plan plan = plan_of(work, type, true);
      CHECK(plan.passes.size() == 1);
      CHECK(cpu::plan_for_cpu(plan).value().passes.size() == 2);
      CHECK(gpu::steps_of(plan).steps.size() == 1);
      CHECK(as_passes(plan).passes.size() == as_passes(plan_of(work, type)).passes.size() + 1);
    }
  }
  CHECK(count == 7);
}

TEST_CASE("rows: columns are computed at once on GPUs, and in passes on the CPU") {
  for (const Work& work :
       {Work{"ACTIVATION_SOFTMAX1", {2, 21, 128, 128}, {{"Axes", {1}}}},
        Work{"LP_NORMALIZATION", {1, 256, 32, 32}, {{"Axis", 1}, {"P", 2}}},
        Work{"MEAN_VARIANCE_NORMALIZATION2", {1, 64, 32, 32}, normalized({1}), {1, 64, 1, 1}}}) {
    CAPTURE(work.type);
    const Plan plan = plan_of(work, DataType::Float32);
    CHECK(gpu::steps_of(plan).steps.size() == 1);
    CHECK(cpu::plan_for_cpu(plan).value().passes.size() > 1);
  }
}

// Their bytes count, however they are computed.
TEST_CASE("rows: the temporaries of passes stand behind the slots of the plan") {
  const Plan plan = plan_of(usual_works()[6], DataType::Float32, true), passes = as_passes(plan);
  CHECK(plan.temporary_bytes() == 0);
  CHECK(passes.temporary_bytes() == (8 * 384 * 768 + 2 * 8 * 384) * sizeof(float));
  std::string fields;
  for (const Slot& slot : passes.slots) fields += (fields.empty() ? "" : ", ") + slot.field;
  CHECK(fields ==
        "InputTensor, ScaleTensor, BiasTensor, OutputTensor, the values before the activation, "
        "the means, the variances");
}

}  // namespace
}  // namespace dmlop::test::rows_test
