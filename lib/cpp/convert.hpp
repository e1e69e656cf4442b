// From C++ to JSON: text that fills a DML_*_OPERATOR_DESC, or a debugger's view of one, becomes an
// op description. Whatever the text does not say is a finding, never a guess.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"

namespace dmlop {

struct CppDescription {
  std::string text;     // of the JSON file
  Diagnostics remarks;  // what is left out, or not certain
};

/// The description that a text of C++ fills, or that a debugger shows. Nothing, with all findings,
/// if a part is not known. Errors: invalid_input for a text that is too large or nested too deeply.
std::optional<CppDescription> description_of_cpp(const std::string& file, const std::string& text,
                                                 Diagnostics& diagnostics);

}  // namespace dmlop
