// The files that a user names for the inputs of an ONNX model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "job/job.hpp"
#include "onnx/import.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// Reads .npy and .pb files as the tensors of the model's inputs, by their names. Files have the
/// name of an input in front of the first or a later "="; without a name, the only input is meant.
/// A raw file has the sizes that the model says, some of them by names that the request has. Adds
/// a finding for each file that is not read or has no input.
std::map<std::string, TensorData> read_inputs(const OnnxModel& model,
                                              const std::vector<NamedFile>& inputs,
                                              const ImportRequest& request,
                                              Diagnostics& diagnostics);

/// Those of `files` that have the name of an input of the model, and whose elements are not made
/// up.
std::vector<NamedFile> files_of_inputs(const OnnxModel& model, const std::vector<NamedFile>& files);

}  // namespace dmlop::onnx
