// Reads the nodes of an ONNX model one after the other, and makes the graph. Only the files that
// define it include this.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/import.hpp"
#include "onnx/input_sizes.hpp"
#include "onnx/mapping.hpp"
#include "onnx/scope.hpp"

namespace dmlop::onnx {

/// Names of inputs or outputs.
std::vector<std::string_view> names_of(const std::vector<ValueInfo>& values);

class Importer {
 public:
  Importer(const OnnxModel& model, const ImportRequest& request, Diagnostics& diagnostics);
  /// Nothing if there are findings.
  std::optional<Imported> import();

 private:
  void collect_names();
  /// The edge of a constant. An output of the model leaves its name to the operator that copies it.
  std::string edge_of_constant(const std::string& name);

  // Findings.
  /// A finding about no value alone.
  void refuse(Diagnostic finding);
  /// A value that is refused, here or by what made it: what follows from it has no finding.
  void lose(std::string_view name) { lost_.emplace(name); }
  void lose(std::string_view name, Diagnostic finding);
  /// The same of all that a node writes. The finding is counted where there are too many to list.
  void lose(const Node& node);
  void lose(const Node& node, Diagnostic finding);
  bool is_lost(std::string_view name) const { return lost_.contains(name); }

  // Values.
  /// A new value; null, with a finding, if there is one of this name.
  Value* add_value(std::string_view name, const std::string& writer);
  /// An initializer with the name of an input is what the input is unless a file is given.
  bool is_replaced(const Tensor& tensor) const;
  void add_initializer(const Tensor& tensor, std::string_view unique_name);
  void add_input(const ValueInfo& input);
  /// An input whose elements a file has is a constant of the graph.
  void give(Value& value, const TensorData& data, const std::string& title);
  Diagnostic of_other_type(const std::string& title, const TensorData& data, DataType type) const;

  // Nodes.
  /// Adds the nodes of a graph that these outputs of it need.
  void add_nodes(const std::vector<Node>& nodes, const std::vector<std::string_view>& outputs,
                 Scope& scope);
  void add_node(const Node& node, std::size_t index, Scope& scope);
  void map_node(const Node& node, const std::string& title, Scope& scope);
  /// What a value that is not there may mean: that of a later node, or another name. Names inside
  /// functions and branches are not those of the file.
  std::string remedy_of_missing(std::string_view name, const Node& reader,
                                const Scope& scope) const;

  // Nodes that stand for others: inline.cpp.
  const Function* function_of(const Node& node) const;
  void call(const Function& function, const Node& node, const std::string& title);
  /// Nodes take the place of one that stands for them. An activation among them is fused, as it was
  /// in that node.
  void expand(const Function& function, const Node& node, const std::string& title);
  void inline_graph(const OnnxGraph& graph, const Node& node, const std::string& title,
                    const Scope& around);
  /// Nodes take the place of one, and write its outputs.
  void inline_nodes(const std::vector<Node>& nodes, const std::vector<std::string_view>& outputs,
                    const Node& node, const std::string& title, Scope& scope);
  /// Another name of a value.
  void add_alias(std::string_view name, std::string_view other, const std::string& title);

  // The graph, and the constants in it.
  /// What lies in the model stays after it ends.
  void keep(TensorData& data) const;
  /// The bytes of constants stay after the model ends, and those that are made have a bound.
  void keep_constants(Mapping& mapping);
  void append(Mapping& mapping);
  void add_constant(const std::string& edge, const TensorData& data);
  void compare_declaration(const std::string& role, const ValueInfo& declared, const Value& value);
  void add_output(const ValueInfo& output);
  /// An output is that of an operator, so what is none becomes one. It keeps its name, unless it is
  /// an input that no file gives, which has the name already.
  std::string copy_of(const Value& value, const std::string& name);
  /// Inputs that operators read are those of the graph; the others have no name there. Those that
  /// files give are constants.
  void name_inputs();

  const OnnxModel& model_;
  const ImportRequest& request_;
  Diagnostics& diagnostics_;
  Imported imported_;
  InputSizes input_sizes_;
  std::unordered_map<std::string, Value> values_;
  std::set<std::string, std::less<>> lost_;  // values that follow from what has a finding
  std::set<std::string> fused_;      // edges between an operator and an activation in one node
  std::set<std::string> constants_;  // edges of constants in the graph
  MadeNames names_;
  std::set<std::string> output_names_;
  std::map<std::string, std::string> copies_;  // edges of outputs that are copied, by their names
  std::vector<std::string> inputs_;
  std::size_t refused_ = 0;
  std::size_t depth_ = 0;  // of functions and branches
  std::size_t nodes_read_ = 0;
  std::uint64_t made_bytes_ = 0;  // of constants that no file has
};

}  // namespace dmlop::onnx
