// The sizes of a model's inputs: what the model says, what the user names, and what files have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "onnx/import.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

class InputSizes {
 public:
  /// All three must outlive this.
  InputSizes(const OnnxModel& model, const ImportRequest& request, Diagnostics& diagnostics)
      : model_(model), request_(request), diagnostics_(diagnostics) {}

  /// A size for a name that no input has would change nothing, and is a finding.
  void require_known_dimensions();
  /// The sizes of an input. Nothing, with a finding, if they are not known or differ from those of
  /// its file, which may be null.
  std::optional<Sizes> of(const ValueInfo& input, const std::string& title, const TensorData* data);

 private:
  /// The size that the model or the user says; nothing if neither does.
  std::optional<std::uint64_t> wanted_size(const Dimension& dimension) const;
  std::string remedy_of_sizes(const std::string& input) const;
  std::string remedy_of_size(const std::string& name) const;
  void refuse(Diagnostic finding);

  const OnnxModel& model_;
  const ImportRequest& request_;
  Diagnostics& diagnostics_;
};

}  // namespace dmlop::onnx
