// The rows of specs/directml.json, embedded one by one when the program is built.
#pragma once

#include <span>
#include <string_view>

namespace dmlop {

struct EmbeddedFact {
  std::string_view section;  // "operators"
  std::string_view name;     // the row's first member: "PADDING"
  std::string_view text;     // the row as JSON: ["PADDING", 46, "1_0"]
};

/// In the order of the file, section by section.
std::span<const EmbeddedFact> embedded_facts();

}  // namespace dmlop
