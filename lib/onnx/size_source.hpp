// Who gives the sizes that an ONNX model leaves open.
#pragma once

namespace dmlop::onnx {

/// What a finding about such a size advises: what the caller can do.
enum class SizeSource {
  files,    // a command with --dim and -i
  options,  // a command with --dim alone
  job,      // a job of a batch, with its "dimensions" and "bindings"
  call      // of a library, which has `dimensions`
};

}  // namespace dmlop::onnx
