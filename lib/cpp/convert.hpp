// From C++ to JSON: text that fills a DML_*_OPERATOR_DESC, or a debugger's view of one, becomes an
// op description. Whatever the text does not say is a finding, never a guess.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "spec/judge.hpp"

namespace dmlop {

struct CppDescription {
  std::string text;      // of the JSON file
  Diagnostics warnings;  // what is left out, or not certain

  std::string cpp_file, cpp_text;             // what it was made of
  std::map<std::string, std::size_t> places;  // "OutputTensor.Sizes[2]": where the C++ sets it

  /// Moves findings about `text` to where the C++ sets what they are about, and orders them by
  /// that. Their JSON pointers stay.
  void place_in_cpp(Diagnostics& findings) const;
};

/// The description that a text of C++ fills, or that a debugger shows; it names the judge that is
/// given. `defined` gives values to names whose value the text does not say: "batch=2". Nothing,
/// with all findings, if a part is not known. Errors: invalid_input for a text that is too large or
/// nested too deeply, usage for a definition that is none.
std::optional<CppDescription> description_of_cpp(const std::string& file, const std::string& text,
                                                 Diagnostics& diagnostics,
                                                 std::optional<Judge> judge = {},
                                                 const std::vector<std::string>& defined = {});

}  // namespace dmlop
