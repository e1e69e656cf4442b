#include "onnx/whole_model.hpp"

#include <string>

#include "onnx/versions.hpp"

namespace dmlop::onnx {
namespace {

Diagnostic of_model(const OnnxModel& model, std::string message) {
  return {.kind = ErrorKind::unavailable, .file = model.path, .message = std::move(message)};
}

void check_version(const OnnxModel& model, const std::vector<OperatorSet>& sets,
                   Diagnostics& diagnostics) {
  const std::int64_t version = version_of("", sets);
  if (version == 0 || (version >= oldest_version && version <= newest_version)) return;
  diagnostics.push_back(of_model(
      model, "the model uses version " + std::to_string(version) + " of ONNX's operators"));
  diagnostics.back().rule = "versions " + std::to_string(oldest_version) + " to " +
                            std::to_string(newest_version) + " are read";
  // What the converter of ONNX reaches from the oldest versions, and what is read here.
  const std::int64_t other = version < oldest_version ? 13 : newest_version;
  diagnostics.back().suggestion =
      "export it with one of these, or convert it: onnx.version_converter.convert_version(model, " +
      std::to_string(other) + ")";
}

}  // namespace

void check_whole_model(const OnnxModel& model, Diagnostics& diagnostics) {
  check_version(model, model.operator_sets, diagnostics);
  for (const Function& function : model.functions)
    check_version(model, function.operator_sets, diagnostics);
  if (model.has_sparse_initializers)
    diagnostics.push_back(of_model(model, "the model: " + std::string(no_sparse)));
  if (!model.outputs.empty()) return;
  diagnostics.push_back(of_model(model, "the model has no outputs"));
  diagnostics.back().kind = ErrorKind::invalid_input;
  diagnostics.back().rule = "what no output needs is not read";
  diagnostics.back().suggestion = "declare the values that are wanted as outputs of its graph";
}

}  // namespace dmlop::onnx
