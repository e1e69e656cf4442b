// An ONNX model as a graph of DirectML operators, as ONNX Runtime's DirectML provider makes it.
// Sizes are inferred from node to node, and what sizes depend on is computed on the way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "onnx/onnx_model.hpp"
#include "onnx/size_source.hpp"
#include "spec/feature_level.hpp"

namespace dmlop::onnx {

struct ImportRequest {
  NamedSizes dimensions = {};
  std::map<std::string, TensorData> files = {};  // of the model's inputs
  SharedConfinement confinement = {};            // of external data
  bool fuses = false;                            // fuses and joins operators as ONNX Runtime does
  FeatureLevel feature_level = newest_feature_level;  // which the operators may need
  SizeSource size_source = SizeSource::files;
};

/// An input or output of the model.
struct Port {
  std::string name;
  DataType type = DataType::Float32;
  Sizes sizes;
};

struct Imported {
  Graph graph;
  std::vector<Port> inputs;  // that files give
  std::vector<Port> outputs;
};

/// What cannot be mapped becomes a finding that names the node; then it returns nothing. The model
/// may end before the graph: constants keep their file.
std::optional<Imported> import_onnx(const OnnxModel& model, const ImportRequest& request,
                                    Diagnostics& diagnostics);

/// The inputs that are no initializers, in their order.
std::vector<const ValueInfo*> inputs_to_give(const OnnxModel& model);

}  // namespace dmlop::onnx
