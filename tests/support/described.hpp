// The descriptions that DirectML 1.15.4 ran or refused (conformance/README.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "spec/description.hpp"

namespace dmlop::test {

using OrderedJson = nlohmann::ordered_json;

/// The rows of golden.jsonl: "case" ("OPERATOR/000"), "ran", "type" and "desc".
const std::vector<OrderedJson>& golden_descriptions();

/// The desc of every case of the operator that DirectML ran, the shortest text first.
std::vector<const OrderedJson*> golden_descs_of(const std::string& operator_name);

/// A desc without everything that follows from the rest: outputs and counts. Optional outputs stay
/// as {}.
OrderedJson with_outputs_left_out(const OperatorSpec& spec, OrderedJson desc);

struct Checked {
  std::optional<Description> description;
  Diagnostics diagnostics;
};

/// Reads a description of the operator and, if that gives no findings, checks it.
Checked check_desc(const std::string& operator_name, const OrderedJson& desc,
                   Judge judge = Judge::page);

/// What findings say, one after the other.
inline std::string messages_of(const Diagnostics& findings) {
  std::vector<std::string> messages;
  for (const Diagnostic& finding : findings) messages.push_back(finding.message);
  return join(messages, "; ");
}

}  // namespace dmlop::test
