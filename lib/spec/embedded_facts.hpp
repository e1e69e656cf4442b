// The rows of specs/directml.json, differences.json and measurements.json, embedded one by one when
// the program is built.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

namespace dmlop {

struct EmbeddedFact {
  std::string_view section;  // "operators"
  std::string_view name;     // the row's first member: "PADDING"
  std::string_view text;     // the row as JSON: ["PADDING", 46, "1_0"]
};

/// In the order of the files; the sections of a file are in the order of their names.
std::span<const EmbeddedFact> embedded_facts();

/// Calls action(row) for the rows of a section.
template <typename Action>
void for_each_row(std::string_view section, Action&& action) {
  for (const EmbeddedFact& fact : embedded_facts()) {
    if (fact.section == section) action(nlohmann::ordered_json::parse(fact.text));
  }
}

}  // namespace dmlop
