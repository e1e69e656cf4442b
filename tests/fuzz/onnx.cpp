// Any bytes as an ONNX model: refused with a reason, or read and mapped to a graph whose nodes are
// checked.
#include "base/error.hpp"
#include "fuzz/files.hpp"
#include "fuzz/target.hpp"
#include "graph/lower.hpp"
#include "onnx/import.hpp"
#include "paths.hpp"

namespace dmlop::test {

void fuzz_onnx(std::span<const std::byte> bytes) {
  Diagnostics findings, notes;
  const auto model = onnx::read_onnx("no_such_folder/x.onnx", bytes, findings);
  require(model.has_value() == findings.empty(), "a model without findings is read, no other");
  if (model) {
    require(model->nodes.size() <= onnx::nodes_max, "a model has no more nodes than may be");
    const auto imported = onnx::import_onnx(*model, {.fuses = true}, findings);
    require(imported.has_value() == findings.empty(), "a graph without findings is made, no other");
    if (imported) lower_graph(imported->graph, {}, findings, notes);
  }
  for (const Diagnostic& finding : findings)
    require(!finding.message.empty() && !to_text(finding).empty(), "a finding says what is wrong");
}

std::vector<std::string> onnx_seeds() {
  std::vector<std::string> seeds;
  constexpr std::size_t large = 16'384;
  for (const auto& path : files_below(conformance_path("onnx"), ".onnx")) {
    std::string bytes = read_file(path);
    if (bytes.size() <= large) seeds.push_back(std::move(bytes));
  }
  return seeds;
}

}  // namespace dmlop::test
