// Reads a DML_OPERATOR_DESC from memory by the operator's spec. Its pointers may point anywhere and
// its counts may be any number: what cannot be read becomes a finding.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/diagnostic.hpp"
#include "graph/graph.hpp"
#include "layer/structs.hpp"
#include "spec/spec.hpp"

namespace dmlop::layer {

/// What a description has of a tensor and a serialized graph has not.
struct TensorExtras {
  std::string field;
  std::optional<std::size_t> element;
  bool is_owned_by_dml = false;
  std::uint32_t alignment = 0;  // GuaranteedBaseOffsetAlignment
};

/// An operator as an application describes it.
struct ReadOperator {
  const OperatorSpec* spec = nullptr;
  /// As a node of a graph. An input or output that is there has an edge, its index as text.
  GraphNode node;
  std::vector<TensorExtras> extras;

  const GraphOperator& operation() const { return std::get<GraphOperator>(node.content); }
  /// In the form of op.json.
  nlohmann::ordered_json description() const;
  /// The same, with the level of its device and DirectML as the judge.
  nlohmann::ordered_json description_at(FeatureLevel level) const;
};

/// Nothing, with findings, if a part of the desc cannot be read or is no part of such a struct.
/// Those about memory that is not there are of kind io_failed. What can be read is not checked by
/// the operator's rules.
std::optional<ReadOperator> read_operator(Address desc, Diagnostics& findings);

}  // namespace dmlop::layer
