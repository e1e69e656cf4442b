// What commands do with an ONNX model, and with a folder of an ONNX test.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "graph/files.hpp"
#include "model_commands.hpp"

namespace dmlop::app {

/// Options that only ONNX models have.
struct OnnxOptions {
  std::vector<std::string> dimensions;  // "batch=2"
  bool fuses = false;

  void add_to(OptionList& command);
};

/// Opens an ONNX model, by its name *.onnx, as the graph that ONNX Runtime's DirectML provider
/// makes of it. `inputs` are files of the model's inputs, .npy or .pb, which become constants of
/// the graph. Returns nothing for other files. Errors: usage, and those of the files.
std::optional<OpenedGraph> open_onnx_graph(const std::string& path, const OnnxOptions& options,
                                           const std::vector<NamedFile>& inputs,
                                           const ConfineOption& confine, Diagnostics& diagnostics);

/// Whether a name is a folder with a model.onnx, and with no description of another kind.
bool is_onnx_folder(const std::string& name);
/// Runs the data sets of an ONNX test, compares the outputs, and returns the exit code.
int run_onnx_folder(const std::string& folder, const OnnxOptions& onnx, const ModelRun& options);

/// The table of ONNX's operators, of `dmlop ops --onnx`.
void print_onnx_operators(Format format);

}  // namespace dmlop::app
