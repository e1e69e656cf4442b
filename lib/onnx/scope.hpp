// The names that the nodes of one graph see. Values of the model's graph keep their names. Those of
// a graph inside a node, or of a function, get names that no other value has, so that a graph may
// be read more than once. Nothing here knows what a value is.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/mapping.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// Where names are made. It must outlive all scopes, and the nodes that they make.
struct MadeNames {
  EdgeNames edges;
  std::deque<std::string> kept;
  std::uint64_t copied_bytes = 0;  // of names and attributes

  std::string_view free(const std::string& wanted) {
    count(wanted.size());
    return kept.emplace_back(edges.free(wanted));
  }
  /// A few bytes of a model could have many copies, so these have a bound.
  void count(std::uint64_t bytes);
};

class Scope {
 public:
  /// The model's graph.
  Scope(const OnnxModel& model, MadeNames& names)
      : names_(names), operator_sets_(model.operator_sets) {}
  /// A graph inside a node. Its nodes see the values around it as well.
  explicit Scope(const Scope& around)
      : around_(&around),
        names_(around.names_),
        prefix_(around.prefix_),
        operator_sets_(around.operator_sets_) {}
  /// The function that a node calls. Its nodes see its inputs and attributes only. `call` is the
  /// node as `seen` made it, and must outlive this. If the model does not have the function, its
  /// nodes have the name of the call.
  Scope(const Function& function, const Node& call, MadeNames& names, bool is_of_file = true);

  /// The node whose function this is, if the model does not have that function; otherwise null.
  const Node* stands_for() const { return is_of_file_ ? nullptr : call_; }

  bool is_of_model() const { return around_ == nullptr && call_ == nullptr; }
  std::int64_t version_of(std::string_view domain) const {
    return onnx::version_of(domain, operator_sets_);
  }

  /// Gives a value of this graph a name.
  void bind(std::string_view written, std::string_view name) { bound_.emplace(written, name); }
  /// The name of a value that this graph writes.
  std::string_view written(std::string_view written);
  /// The name of a value that a node reads. "" stays "". A name that nothing has written gets one
  /// that no value has, so that the reader can be refused.
  std::string_view read(std::string_view written) const;

  /// The node with the names and attributes that it has outside of this graph.
  Node seen(const Node& node);

 private:
  const Attribute* argument(std::string_view name) const;

  const Scope* around_ = nullptr;
  const Node* call_ = nullptr;
  const Function* function_ = nullptr;
  bool is_of_file_ = true;
  MadeNames& names_;
  std::string prefix_;
  const std::vector<OperatorSet>& operator_sets_;
  std::map<std::string_view, std::string_view> bound_;
};

}  // namespace dmlop::onnx
