// The order in which nodes run, and what the outputs of a graph need. Exporters leave outputs
// behind that nothing reads, such as the mask of a Dropout, and nodes that only training used. They
// are not read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// The places of the nodes in an order in which each stands behind those that write what it reads.
/// ONNX asks models for that order, but ONNX Runtime runs them in any. Nodes of a cycle have none.
std::vector<std::size_t> running_order(const std::vector<Node>& nodes);

class Needed {
 public:
  /// `order` is that of the nodes; `outputs` are values of their graph.
  Needed(const std::vector<Node>& nodes, const std::vector<std::size_t>& order,
         const std::vector<std::string_view>& outputs);

  bool has(std::string_view value) const { return values_.contains(value); }
  /// Whether a node writes a value that is needed.
  bool has(const Node& node) const;
  /// The node without the names of outputs that are not needed.
  Node without_others(Node node) const;
  /// The size of all names that were looked at, in bytes.
  std::uint64_t bytes() const { return bytes_; }

 private:
  void add(std::string_view value);

  std::unordered_set<std::string_view> values_;
  std::uint64_t bytes_ = 0;
};

}  // namespace dmlop::onnx
