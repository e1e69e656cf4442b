// What commands do with a DxDispatch model or a serialized graph, once it is a model.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "command.hpp"
#include "device_options.hpp"
#include "graph/files.hpp"
#include "model/model.hpp"
#include "model/open.hpp"
#include "model/print.hpp"

namespace dmlop::app {

/// Options that only models have.
struct ModelOptions {
  std::optional<std::string> input_folder;
  std::optional<std::string> output_folder;
  bool compatible = false;

  /// Declares all options, or only --input-path.
  void add_to(OptionList& command);
  void add_input_path(OptionList& command);
  ModelRequest request(const Checking& checking) const;
  /// The same for the model `path`. Its files are confined to --confine, --input-path or its
  /// folder.
  ModelRequest request(const Checking& checking, const ConfineOption& confine,
                       const std::string& path) const;
  Fidelity fidelity() const { return compatible ? Fidelity::compatible : Fidelity::mended; }
};

/// What run needs for a model.
struct ModelRun {
  ModelOptions model;
  const ConfineOption& confine;
  std::vector<NamedFile> inputs;             // of a graph
  std::vector<NamedFile> constants = {};     // files that became constants of an ONNX model
  std::optional<RandomNumbers> random = {};  // for a graph's inputs without a file
  FolderFiles found = {};                    // what lies beside a graph
  std::vector<NamedFile> outputs;            // resources to write as .npy files at the end
  std::vector<NamedFile> expected;           // golden files by resource
  std::optional<Tolerance> tolerance;
  Checking checking;
  const DeviceOptions& device;
  const ExecutionOptions& execution;
  Format format = Format::text;
  bool timings = false;
  bool quiet = false;
  std::string kept_edges = {};           // the folder for the edges of a graph; "": none
  std::string expected_edges = {};       // the folder with golden files of edges; "": none
  std::optional<DataType> as_type = {};  // of a graph, for all that is in floating point
  std::string against = {};              // the device whose edges are to be the same; "": none
};

/// Runs a model or a graph and returns the exit code. `diagnostics` are what was found when the
/// graph was opened.
int run_model(const OpenedFile& file, const ModelRun& options);
int run_graph(const std::optional<Graph>& graph, const ModelRun& options, Diagnostics diagnostics);

/// "model of 3 resources, 1 dispatchable (PADDING) and 3 commands".
std::string model_summary(const Model& model);

}  // namespace dmlop::app
