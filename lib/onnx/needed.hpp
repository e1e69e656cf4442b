// What the outputs of a graph need. Exporters leave outputs behind that nothing reads, such as the
// mask of a Dropout, and nodes that only training used. They are not read.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

class Needed {
 public:
  /// `nodes` stand in the order in which they run; `outputs` are values of their graph.
  Needed(const std::vector<Node>& nodes, const std::vector<std::string_view>& outputs);

  bool has(std::string_view value) const { return values_.contains(value); }
  /// Whether a node writes a value that is needed.
  bool has(const Node& node) const;
  /// The node without the names of outputs that are not needed.
  Node without_others(Node node) const;
  /// The size of all names that were looked at, in bytes.
  std::uint64_t bytes() const { return bytes_; }

 private:
  void add(std::string_view value);
  void add_inputs(const Node& node);

  std::unordered_set<std::string_view> values_;
  std::uint64_t bytes_ = 0;
};

}  // namespace dmlop::onnx
