// Tables of refused descriptions. A row marks each place that a finding names with a ^, which is
// not part of the text; findings without a mark are at the brace before the fields.
#pragma once

#include <string>
#include <vector>

namespace dmlop::test {

struct Refused {
  std::string fields;                 // of `desc`, with marks
  std::vector<std::string> findings;  // in the order of their places: message, rule and help
  std::string level = "6_4";
};

/// Checks each row's findings, places and all.
void check_refused(const std::string& operator_name, const std::vector<Refused>& rows);

/// The same for whole descriptions; findings without a mark are at the first character.
void check_refused_texts(const std::vector<Refused>& rows);

}  // namespace dmlop::test
