// Files of tensors that commands read: .npy, raw, and the .pb files of ONNX's tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/job.hpp"
#include "npy/npy.hpp"
#include "npy/raw_form.hpp"

namespace dmlop::app {

/// Errors: those of reading the file, which name it.
NpyFile open_tensor(const std::string& path, const std::optional<RawForm>& form = {});

/// Reads the .pb files among golden files. What it returns has their elements, and must outlive the
/// files. Errors: as open_tensor.
std::vector<NpyFile> read_tensor_protos(std::vector<NamedFile>& golden);

}  // namespace dmlop::app
