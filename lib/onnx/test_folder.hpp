// A folder of an ONNX test: model.onnx, and test_data_set_N with input_I.pb and output_I.pb.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/lower.hpp"
#include "job/job.hpp"
#include "onnx/import.hpp"

namespace dmlop::onnx {

/// Whether a folder has a model.onnx.
bool is_test_folder(const std::string& folder);
std::string model_in(const std::string& folder);
/// The folders of the data sets of a test, in their order.
std::vector<std::string> data_sets_in(const std::string& folder);

/// ONNX's own tolerance: rtol 1e-3, atol 1e-7.
Tolerance default_tolerance();

/// The files of a data set such as input_0.pb, in the order of their numbers.
std::vector<std::string> tensors_in(const std::string& data_set, const std::string& stem);

/// The files of a data set as those of the model's inputs. Errors: as read_tensor_file.
std::map<std::string, TensorData> inputs_of(const OnnxModel& model, const std::string& data_set,
                                            const SharedConfinement& confinement = {});

/// A model with the inputs of a data set, and the outputs that are expected.
struct DataSet {
  LoweredGraph lowered;
  std::vector<Port> outputs;
  std::vector<std::string> expected;   // files
  SharedConfinement confinement = {};  // of these
};

/// Reads the inputs of a data set and checks the model for them. The dimensions come from the
/// files. Returns nothing if there are findings. Errors: as read_tensor_file; invalid_input if the
/// data set has another number of outputs than the model.
std::optional<DataSet> prepare_data_set(const OnnxModel& model, const std::string& folder,
                                        const ImportRequest& request, const Checking& checking,
                                        Diagnostics& diagnostics, Diagnostics& warnings);

/// Calls the function that runs a node.
using AroundNode = std::function<void(const Dispatchable&, const std::function<void()>&)>;

/// Runs a data set and compares its outputs. `device`, if given, gets what ran it; `around`, if
/// given, runs each node. Errors: as Runtime, and read_tensor_file.
std::vector<OutputComparison> run_data_set(const DataSet& set, const Tolerance& tolerance,
                                           Backend& backend, const ExecutionOptions& options,
                                           std::string* device = nullptr,
                                           const AroundNode& around = {});

}  // namespace dmlop::onnx
