// An op description with its .npy files as a DxDispatch model, and back. The result is text and
// files in memory: nothing is written here but by write_conversion.
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
  std::vector<ConvertedFile> files;  // .npy files beside it
  std::vector<std::string> remarks;  // what became different, and what the other tool will not take
};

/// A model for `path`: a resource for each tensor, one dispatch, one writeFile. Every input of the
/// job has a file; one that DxDispatch would misread is copied. The output goes to the job's file,
/// else to one of the tensor's name. Errors: invalid_input for tensors that no model can have.
Conversion model_of(const Job& job, const std::string& path);

/// An op description for `path` of a model with one dispatch. Inputs stay the .npy files that they
/// are, or become some. Errors: invalid_input for any other number of dispatches.
Conversion op_of(const Model& model, const std::string& path);

/// Writes the files, the JSON file last. Errors: io_failed, usage where one would replace a file
/// named in `read`.
void write_conversion(const Conversion& conversion, const std::vector<std::string>& read);

}  // namespace dmlop
