#include "cpp/convert.hpp"

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "cpp/debugger.hpp"
#include "cpp/definitions.hpp"
#include "cpp/describer.hpp"
#include "cpp/layouts.hpp"
#include "cpp/limits.hpp"
#include "cpp/reader.hpp"
#include "cpp/tokens.hpp"
#include "model/convert_json.hpp"

namespace dmlop {
namespace {

using namespace cpp;

// A variable that is only assigned to here gets its type from the DML_OPERATOR_DESC that it is in.
void type_undeclared(Memory& memory) {
  for (const Variable& variable : memory.variables()) {
    if (variable.type != "DML_OPERATOR_DESC") continue;
    const Entry* desc = variable.value.find("Desc");
    const Entry* type = variable.value.find("Type");
    if (desc == nullptr || type == nullptr || desc->value.kind != Value::Kind::pointer) continue;
    Variable& target = memory.variables()[desc->value.target.variable];
    const bool is_operator = type->value.word.starts_with("DML_OPERATOR_");
    if (target.type.empty() && desc->value.target.path.empty() && is_operator)
      target.type = "DML_" + type->value.word.substr(13) + "_OPERATOR_DESC";
  }
}

Diagnostic unused(const std::string& file, const std::string& name) {
  Diagnostic diagnostic{.file = file, .argument = "-D " + name};
  diagnostic.message = "the text needs no value of " + name;
  diagnostic.suggestion =
      "leave it out, or give the name as the text writes it; a name that the "
      "text gives a value keeps that";
  return diagnostic;
}

// "/desc/FusedActivation/Desc/Alpha" as the describer calls it: "FusedActivation.Alpha".
std::string name_of_pointer(std::string_view pointer) {
  std::string name;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    if (step == "desc" || step == "Desc") continue;
    const bool is_index = step.find_first_not_of("0123456789") == step.npos;
    if (is_index) {
      name += "[" + std::string(step) + "]";
    } else {
      name += (name.empty() ? "" : ".") + std::string(step);
    }
  }
  return name;
}

}  // namespace

void CppDescription::place_in_cpp(Diagnostics& findings) const {
  for (Diagnostic& finding : findings) {
    std::string name = name_of_pointer(finding.pointer);
    auto place = places.find(name);
    // What the C++ does not give itself stands where it gives the whole.
    while (place == places.end() && !name.empty()) {
      const std::size_t end = name.find_last_of(".[");
      name.resize(end == name.npos ? 0 : end);
      place = places.find(name);
    }
    const LineColumn position = position_of(cpp_text, place == places.end() ? 0 : place->second);
    finding.file = cpp_file;
    finding.line = position.line;
    finding.column = position.column;
    // DirectML takes no struct that leaves something out.
    finding.suggestion.prefer_others_to(Alternative::Kind::leave_out);
  }
  sort_by_position(findings);
}

std::optional<CppDescription> description_of_cpp(const std::string& file, const std::string& given,
                                                 Diagnostics& diagnostics,
                                                 std::optional<Judge> judge,
                                                 const std::vector<std::string>& defined) {
  Definitions definitions;
  for (const std::string& definition : defined) definitions.add(definition);
  if (given.starts_with("\xFF\xFE") || given.starts_with("\xFE\xFF") ||
      given.find('\0') != std::string::npos)
    throw Error(ErrorKind::invalid_input,
                file + " is no UTF-8 text (perhaps it is UTF-16); save it as UTF-8");
  const std::string text = given.substr(given.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  if (text.size() > cpp::max_text_bytes)
    throw Error(ErrorKind::invalid_input, file + " has " + std::to_string(text.size()) +
                                              " bytes, must have at most " +
                                              std::to_string(cpp::max_text_bytes) +
                                              "; leave only the code of one description");
  Memory memory;
  std::vector<Warning> warnings;
  with_context(file, [&] {
    if (is_of_debugger(text)) {
      read_debugger(text, memory);
    } else {
      require_closed(text);
      Reader first(text, memory, warnings, definitions);
      first.read();
      // What functions change that the text may call at any time is known at the end only.
      if (first.changed_elsewhere().empty()) return;
      memory = {};
      warnings.clear();
      Reader(text, memory, warnings, definitions, first.changed_elsewhere()).read();
    }
  });
  type_undeclared(memory);
  CppDescription description;
  Diagnostics findings;
  Describer describer(file, text, memory, findings, description.warnings);
  nlohmann::ordered_json json = describer.describe();
  for (const Warning& warning : warnings)
    description.warnings.push_back(describer.at(warning.written, warning.message));
  for (const std::string& name : definitions.unused()) findings.push_back(unused(file, name));
  sort_by_position(findings);
  if (!is_of_debugger(text)) describer.add_other_ways(findings);
  sort_by_position(description.warnings);
  diagnostics.insert(diagnostics.end(), findings.begin(), findings.end());
  if (!findings.empty()) return std::nullopt;
  if (judge) json = {{"type", json["type"]}, {"as", name_of(*judge)}, {"desc", json["desc"]}};
  description.text = readable_text(json);
  description.cpp_file = file;
  description.cpp_text = text;
  description.places = describer.places();
  return description;
}

}  // namespace dmlop
