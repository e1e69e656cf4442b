// Why a call of DirectML failed: by the rules that --as directml-1.15.4 keeps, or by its code.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/diagnostic.hpp"
#include "layer/read_operator.hpp"
#include "spec/feature_level.hpp"

namespace dmlop::layer {

/// A call that failed, and what is known of it.
struct Refusal {
  std::string call;        // "CreateOperator"
  std::string subject;     // "DML_OPERATOR_CONVOLUTION"; "" if it is not known
  std::uint32_t code = 0;  // the HRESULT
  Diagnostics findings;    // empty: no rule is broken
  // Printed if there are no findings, with what the code means unless it is about arguments:
  std::string description = {};  // of the operator, as JSON
  std::string help = {};
};

/// The lines that report it, each with its end.
std::string text_of(const Refusal& refusal);

/// What the rules say of an operator at a feature level, and what its description is.
void explain_operator(const ReadOperator& operation, FeatureLevel level, Refusal& refusal);

/// The operator that an IDMLOperator is; null if it is none that is known.
using FindOperator = std::function<std::shared_ptr<const ReadOperator>(Address)>;

/// A DML_GRAPH_DESC as a graph whose nodes stand in the order in which they run. Constants refer to
/// the application's memory. Nothing, with findings, where it cannot be read.
std::optional<Graph> read_graph_desc(Address desc, const FindOperator& find, Diagnostics& findings);

/// What the rules say of a graph.
void explain_graph(const Graph& graph, FeatureLevel level, Refusal& refusal);

}  // namespace dmlop::layer
