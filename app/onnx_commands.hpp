// What commands do with an ONNX model, and with a folder of an ONNX test.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "command.hpp"
#include "model_commands.hpp"
#include "onnx/size_source.hpp"

namespace dmlop::app {

/// Options that only ONNX models have.
struct OnnxOptions {
  std::vector<std::string> dimensions;  // "batch=2"
  bool fuses = false;
  onnx::SizeSource size_source = onnx::SizeSource::files;

  void add_to(OptionList& command);
  /// The sizes of --dim by their names. Errors: usage.
  std::map<std::string, std::uint64_t> sizes() const;
};

/// Runs the data sets of an ONNX test, compares the outputs, and returns the exit code.
int run_onnx_folder(const std::string& folder, const OnnxOptions& onnx, const ModelRun& options);

/// Whether an operator of ONNX models has this name, in any domain and however it is capitalized.
bool is_onnx_operator(const std::string& name);

/// The table of ONNX's operators, of `dmlop ops --onnx`: all, or those of one name. Errors: usage
/// if there is none.
void print_onnx_operators(Format format, const std::string& name);

}  // namespace dmlop::app
