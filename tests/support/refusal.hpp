// Tables of refused descriptions. In each row, a ^ marks the place of a finding and is removed from
// the text. Findings without a mark are at the brace before the fields.
#pragma once

#include <string>
#include <vector>

namespace dmlop::test {

struct Refused {
  std::string fields;                 // of `desc`, with marks
  std::vector<std::string> findings;  // in the order of their places: message, rule and help
  std::string level = "6_4";
};

/// "LINE:COLUMN" of an offset, in bytes: the tables are ASCII.
std::string place_of(const std::string& text, std::size_t offset);

/// Checks the findings of each row, including their places.
void check_refused(const std::string& operator_name, const std::vector<Refused>& rows);

/// The same for whole descriptions. Findings without a mark are at the first character.
void check_refused_texts(const std::vector<Refused>& rows);

}  // namespace dmlop::test
