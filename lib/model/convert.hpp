// Converts an op description with its .npy files to a DxDispatch model, and back. The result is
// text and files in memory; only write_conversion writes anything.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "job/job.hpp"
#include "model/model.hpp"

namespace dmlop {

struct ConvertedFile {
  std::string path;
  std::string header;
  Buffer elements;
};

struct Conversion {
  std::string path;  // of the JSON file
  std::string text;
  std::vector<ConvertedFile> files;  // .npy files that are to be written beside it
  Diagnostics warnings;              // what changes, and what the other tool will not accept

  void warn(const std::string& message) { warnings.push_back({.file = path, .message = message}); }
};

/// A model for `path` with a resource for each tensor, one dispatch and one writeFile. Every input
/// of the job has a file; a file that DxDispatch would misread is copied. The output goes to the
/// job's file or else to one named after the tensor. Errors: invalid_input for tensors that no
/// model can have.
Conversion model_of(const Job& job, const std::string& path);

/// An op description for `path` of a model with one dispatch. Inputs that are .npy files stay the
/// same files; others become new ones. Errors: invalid_input for any other number of dispatches.
Conversion op_of(const Model& model, const std::string& path);

/// Writes the files, and the JSON file last. Errors: io_failed; usage if a file would replace one
/// named in `read`.
void write_conversion(const Conversion& conversion, const std::vector<std::string>& read);

}  // namespace dmlop
