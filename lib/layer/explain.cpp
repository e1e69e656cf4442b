#include "layer/explain.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "fixes/fixes.hpp"
#include "graph/lower.hpp"
#include "layer/hresults.hpp"
#include "model/convert_json.hpp"

namespace dmlop::layer {
namespace {

constexpr std::size_t findings_shown = 16;

/// What a code says of a failure that is no refusal of arguments; null for others.
const HResult* other_failure(std::uint32_t code) {
  constexpr std::array arguments{0x80070057U, 0x80004003U};  // E_INVALIDARG, E_POINTER
  return std::ranges::find(arguments, code) == arguments.end() ? find_hresult(code) : nullptr;
}

void append_line(std::string& text, std::string_view indentation, std::string_view line) {
  text += indentation;
  text += one_line(line);
  text += '\n';
}

void append_finding(std::string& text, const Diagnostic& finding) {
  append_line(text, "  ", finding.message);
  if (!finding.rule.empty()) append_line(text, "    ", "rule: " + finding.rule);
  if (!finding.feature_level.empty())
    append_line(text, "    ", "feature level: " + finding.feature_level);
  if (!finding.suggestion.empty()) append_line(text, "    ", "help: " + finding.suggestion.text());
  if (!finding.note.empty()) append_line(text, "    ", "note: " + finding.note);
}

/// Of a failure that no finding explains.
void append_unexplained(std::string& text, const Refusal& refusal) {
  const HResult* const failure = other_failure(refusal.code);
  append_line(text, "  ",
              failure != nullptr
                  ? failure->meaning
                  : "the rules of DirectML 1.15.4 that dmlop knows find nothing wrong");
  if (!refusal.description.empty()) append_line(text, "  ", refusal.description);
  if (failure != nullptr) append_line(text, "  ", "help: " + std::string(failure->help));
  if (!refusal.help.empty()) append_line(text, "  ", "help: " + refusal.help);
}

/// Findings are about what DirectML refuses; what only dmlop cannot do is none of them.
void add_refusals(const Diagnostics& found, Diagnostics& findings) {
  for (const Diagnostic& one : found) {
    if (one.kind != ErrorKind::invalid_input) continue;
    findings.push_back(one);
    // A struct leaves nothing out.
    findings.back().suggestion.prefer_others_to(Alternative::Kind::leave_out);
  }
}

}  // namespace

std::string text_of(const Refusal& refusal) {
  std::string text;
  append_line(text, "",
              refusal.call + ": " + (refusal.subject.empty() ? "" : refusal.subject + " ") +
                  (other_failure(refusal.code) != nullptr ? "failed" : "refused") + " (" +
                  name_of_hresult(refusal.code) + ")");
  std::size_t shown = 0;
  for (const Diagnostic& finding : refusal.findings) {
    if (shown++ == findings_shown) break;
    append_finding(text, finding);
  }
  if (refusal.findings.size() > findings_shown)
    append_line(text, "  ",
                "and " + std::to_string(refusal.findings.size() - findings_shown) + " more");
  if (refusal.findings.empty()) append_unexplained(text, refusal);
  return text;
}

void explain_operator(const ReadOperator& operation, FeatureLevel level, Refusal& refusal) {
  refusal.subject = "DML_OPERATOR_" + operation.spec->name;
  const nlohmann::ordered_json json = operation.description_at(level);
  refusal.description = json.dump();
  Diagnostics found;
  auto description = read_description("", readable_text(json), level, found);
  if (description) {
    description->judge = Judge::directml;
    check_and_mend(*description, found);
  }
  add_refusals(found, refusal.findings);
}

void explain_graph(const Graph& graph, FeatureLevel level, Refusal& refusal) {
  Diagnostics found, warnings;
  const GraphRequest request{.checking = {.feature_level = level, .judge = Judge::directml}};
  lower_graph(graph, request, found, warnings);
  add_refusals(found, refusal.findings);
  refusal.help =
      "DMLOP_CAPTURE=FOLDER writes the graph, which dmlop check and dmlop run take; it has " +
      counted(graph.nodes.size(), "node");
}

}  // namespace dmlop::layer
