// Where dmlop differs from DirectML 1.15.4 or from an operator's page, one row for each kind, from
// specs/differences.json. Users see them in specs/README.md and `dmlop ops`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

struct Difference {
  std::string name;                    // "integers divided by 0"
  std::string reason;                  // a sentence: why dmlop differs
  std::vector<std::string> operators;  // "ELEMENT_WISE_DIVIDE"; empty: all
  std::string text;                    // what dmlop does, then what DirectML does
};

/// All of them, in the file's order. Errors: std::logic_error for a reason that the file lacks.
const std::vector<Difference>& differences();

/// Those that name an operator.
std::vector<const Difference*> differences_of(std::string_view operator_name);

}  // namespace dmlop
