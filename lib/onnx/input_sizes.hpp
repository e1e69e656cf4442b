// The sizes of a model's inputs: what the model says, what the user names, and what files have.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "onnx/import.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// The size that the model says, or else `named`; nothing if neither does.
std::optional<std::uint64_t> size_of(const Dimension& dimension, const NamedSizes& named);

/// How the caller gives a dimension of this name a size: "write --dim batch=SIZE".
std::string way_to_name_size(SizeSource source, const std::string& name);

class InputSizes {
 public:
  /// All of them must outlive this.
  InputSizes(const OnnxModel& model, const ImportRequest& request, Diagnostics& diagnostics,
             Diagnostics& warnings)
      : model_(model), request_(request), diagnostics_(diagnostics), warnings_(warnings) {}

  /// A size for a name that no input has would change nothing, and is a finding.
  void require_known_dimensions();
  /// How messages call what gives an input its elements: "its file", or "its array" of a call.
  const char* source_of_elements() const {
    return request_.size_source == SizeSource::call ? "its array" : "its file";
  }
  /// What gives an input elements that must be known before anything runs.
  std::string way_to_give(const std::string& input) const;
  /// The sizes of an input. Nothing, with a finding, if they are not known or differ from those of
  /// its file, which may be null.
  std::optional<Sizes> of(const ValueInfo& input, const std::string& title, const TensorData* data);

 private:
  std::string remedy_of_sizes(const std::string& input) const;
  std::string remedy_of_size(const std::string& name) const;
  void refuse(Diagnostic finding);
  void refuse_unknown(const Dimension& dimension, const std::string& place);
  void remember(const Dimension& dimension, std::uint64_t size, const std::string& title);

  const OnnxModel& model_;
  const ImportRequest& request_;
  Diagnostics& diagnostics_;
  Diagnostics& warnings_;
  std::set<std::string> refused_;  // names of dimensions that have a finding
  /// Sizes that files give dimensions, by their names, and where.
  std::map<std::string, std::pair<std::uint64_t, std::string>> from_files_;
};

}  // namespace dmlop::onnx
