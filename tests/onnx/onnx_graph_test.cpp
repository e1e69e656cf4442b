// ONNX models whose graphs ONNX Runtime serialized: the graph that is made of a model here has the
// same operators with the same fields, and the same outputs come out.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "graph.hpp"
#include "graph/describe.hpp"
#include "graph/lower.hpp"
#include "model/outputs.hpp"
#include "model/runtime.hpp"
#include "onnx/import.hpp"
#include "onnx/skip_copies.hpp"
#include "paths.hpp"

namespace dmlop::test::onnx_graph_test {
namespace {

/// Models whose serialized graph has other operators, and why.
const std::map<std::string, std::string> other_operators{
    {"attention_plain", "ONNX Runtime turns a matrix with TransB, and adds the mask by itself"},
    {"groupnorm_silu", "the provider computes x * sigmoid(x) by two operators"},
    {"gru_forward", "GRU runs outside of the graph"},
    {"layernorm_ffn", "ONNX Runtime's Gemm takes the matrices of a batch as one"},
    {"matmul_broadcast", "ONNX Runtime makes Gemm of two matrices and Add, but not of many"},
    {"many_inputs_sum", "Sum of six inputs runs outside of the graph"},
    {"opset18_reduce_axes", "the provider computes x * sigmoid(x) by two operators"},
    {"split_branches", "Mean of three inputs runs outside of the graph"},
};

/// Models with a node that the provider does not have, and what is said about it.
const std::map<std::string, std::string> refused{{"two_partitions", "(Det): "}};

/// An operator with its fields, as text. Names and edges are left out.
std::string text_of(const GraphNode& node, const GraphOperator& operation) {
  std::vector<std::string> messages;
  auto description = describe(node, operation, messages).description;
  std::string type = operation.type;
  if (type == "DML_OPERATOR_SCATTER") type = "DML_OPERATOR_SCATTER_ELEMENTS";
  description["type"] = type;
  return description.dump();
}

std::multiset<std::string> operators_of(const Graph& graph) {
  std::multiset<std::string> operators;
  for (const GraphNode& node : graph.nodes) {
    const auto* operation = std::get_if<GraphOperator>(&node.content);
    // ONNX Runtime copies what Reshape reads.
    if (operation != nullptr && !onnx::is_plain_copy(*operation))
      operators.insert(text_of(node, *operation));
  }
  return operators;
}

Tolerance tolerance_for(const GraphCase& a_case, DataType type) {
  Tolerance tolerance{.allow_trivial = true};
  if (info(type).kind != NumberKind::floating) return tolerance;
  if (type == DataType::Float16 && a_case.has_tag("no_native16")) tolerance.ulp = 2;
  tolerance.rtol = tolerance.atol = type == DataType::Float16 ? 2e-2 : 1e-4;
  return tolerance;
}

std::string path_of_model(const GraphCase& a_case) {
  return conformance_path("onnx/") + a_case.name() + "/model.onnx";
}

class ModelCase {
 public:
  explicit ModelCase(const GraphCase& a_case) : case_(a_case) {}

  std::string findings(bool fuses) {
    Diagnostics findings;
    const auto model = onnx::open_onnx(path_of_model(case_), findings);
    if (model)
      imported_ = onnx::import_onnx(*model, {.files = files(*model), .fuses = fuses}, findings);
    std::vector<std::string> texts;
    for (const Diagnostic& finding : findings) texts.push_back(to_text(finding));
    return join(texts, "\n");
  }

  /// Operators that only one side has: "- " is ONNX Runtime's, "+ " is that of this import.
  std::string differences() const {
    std::multiset<std::string> theirs;
    for (const std::string& path : case_.graphs()) theirs.merge(operators_of(valid_graph(path)));
    const std::multiset<std::string> ours = operators_of(imported_->graph);
    std::vector<std::string> lines, missing, added;
    std::ranges::set_difference(theirs, ours, std::back_inserter(missing));
    std::ranges::set_difference(ours, theirs, std::back_inserter(added));
    for (const std::string& one : missing) lines.push_back("- " + one);
    for (const std::string& one : added) lines.push_back("+ " + one);
    return join(lines, "\n");
  }

  /// Runs it, and compares with what the provider computed.
  void run() const {
    Diagnostics findings, notes;
    const auto lowered = lower_graph(imported_->graph, {}, findings, notes);
    CHECK_MESSAGE(findings.empty(), to_text(findings.front()));
    if (!lowered) return;
    dmlop::Backend cpu;
    Runtime runtime(lowered->model, cpu, {});
    for (const ModelCommand& command : lowered->model.commands)
      runtime.dispatch(std::get<DispatchCommand>(command));
    for (const std::size_t output : lowered->model.outputs) {
      std::string name = lowered->model.resources[output].name;
      const ResourceTensor tensor = tensor_of(lowered->model, output);
      const std::string golden = case_.file("output." + name + ".npy");
      if (!std::filesystem::exists(to_path(golden))) continue;
      const auto result =
          compare_resource(lowered->model, {output, golden, NpyFile::open(golden)},
                           runtime.contents(output), tolerance_for(case_, tensor.data_type));
      CHECK_MESSAGE(result.comparison.verdict() == Verdict::passed,
                    name << ": " << result.comparison.summary());
    }
  }

 private:
  std::map<std::string, onnx::TensorData> files(const onnx::OnnxModel& model) const {
    std::map<std::string, onnx::TensorData> files;
    for (const onnx::ValueInfo* input : onnx::inputs_to_give(model)) {
      const std::string path = case_.file("input." + std::string(input->name) + ".npy");
      if (std::filesystem::exists(to_path(path)))
        files.emplace(input->name, onnx::read_npy_file(path));
    }
    return files;
  }

  const GraphCase& case_;
  std::optional<onnx::Imported> imported_;
};

}  // namespace

TEST_CASE("onnx: models become the graphs that ONNX Runtime makes of them") {
  std::size_t equal = 0;
  for (const GraphCase& a_case : graph_cases()) {
    CAPTURE(a_case.name());
    ModelCase model(a_case);
    const std::string findings = model.findings(true);
    const auto expected = refused.find(a_case.name());
    if (expected != refused.end()) {
      CHECK(findings.find(expected->second) != std::string::npos);
      continue;
    }
    REQUIRE_MESSAGE(findings.empty(), findings);
    const std::string differences = model.differences();
    const bool is_listed = other_operators.contains(a_case.name());
    CHECK_MESSAGE(differences.empty() != is_listed, differences);
    equal += differences.empty() ? 1 : 0;
    model.run();
  }
  CHECK(equal == 38);
}

TEST_CASE("onnx: without fusion the same outputs come out") {
  for (const GraphCase& a_case : graph_cases()) {
    CAPTURE(a_case.name());
    ModelCase model(a_case);
    if (model.findings(false).empty()) model.run();
  }
}

}  // namespace dmlop::test::onnx_graph_test
