// What no GPU runs, whatever the device: kernels that are refused for what they compute.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "built_kernels.hpp"
#include "gpu/device.hpp"
#include "gpu/dispatch.hpp"
#include "gpu/steps.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "program.hpp"
#include "spec/description.hpp"

namespace dmlop::test::refusals_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The plan of a description; nothing where it is not valid.
std::optional<Plan> plan_of(const std::string& text) {
  Diagnostics diagnostics;
  auto description = read_description("op.json", text, newest_feature_level, diagnostics);
  if (description) check_description(*description, diagnostics);
  if (!diagnostics.empty()) return std::nullopt;
  return make_plan(*description);
}

/// Why no GPU runs a plan; "" where one can.
std::string refusal_of(const Plan& plan) {
  const gpu::Steps found = gpu::steps_of(plan);
  for (const gpu::Step& step : found.steps) {
    for (const gpu::Dispatch& dispatch : step.dispatches) {
      if (dispatch.inputs.size() > gpu::inputs_most) return "it has too many inputs";
      if (!has_kernel(dispatch.kernel)) return "no kernel is built as " + dispatch.kernel;
    }
  }
  return found.refusal;
}

TEST_CASE("refusals: a GPU runs every stored case") {
  std::size_t cases = 0;
  for (const auto& entry : fs::recursive_directory_iterator(conformance_path())) {
    if (entry.path().filename() != "op.json") continue;
    const auto plan = plan_of(text_of(entry.path()));
    if (!plan) continue;
    ++cases;
    const std::string refusal = refusal_of(*plan);
    CHECK_MESSAGE(refusal.empty(), entry.path() << ": " << refusal);
  }
  MESSAGE(cases << " cases");
  CHECK(cases > 5900);
}

std::string in_quotes(std::string_view text) {
  return "\"" + std::string(text) + "\"";
}

std::string with_type(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST_CASE("refusals: a GPU runs the example of every operator with every data type") {
  std::size_t plans = 0;
  for (const std::string& name : specified_operators()) {
    const std::string example =
        R"({"type": )" + in_quotes(name) + R"(, "desc": )" + find_spec(name)->example + "}";
    for (const DataTypeInfo& from : data_types) {
      for (const DataTypeInfo& to : data_types) {
        const auto plan = plan_of(with_type(example, in_quotes(from.name), in_quotes(to.name)));
        if (!plan) continue;
        ++plans;
        CHECK_MESSAGE(refusal_of(*plan) == "", name << ": " << to.name << " for " << from.name);
      }
    }
  }
  CHECK(plans > 1000);
}

TEST_CASE("refusals: ops says whose tensors must fit the buffers of a device") {
  const auto is_told = [](const std::string& name) {
    return dmlop_program({"ops", name})
               .output.find(
                   "\nOn the CPU alone: with tensors larger than the buffers of a device\n") !=
           std::string::npos;
  };
  for (const std::string name :
       {"PADDING", "SLICE1", "REVERSE_SUBSEQUENCES", "LP_POOLING", "JOIN", "ELEMENT_WISE_ADD",
        "CAST", "GEMM", "REDUCE", "MAX_POOLING", "ACTIVATION_SOFTMAX", "CUMULATIVE_SUMMATION"})
    CHECK_MESSAGE(!is_told(name), name);
  for (const std::string name : {"GATHER", "LSTM"}) CHECK_MESSAGE(is_told(name), name);
}

}  // namespace
}  // namespace dmlop::test::refusals_test
