// What to write instead of a token that JSON does not have at its place.
#pragma once

#include <string>
#include <string_view>

namespace dmlop::json {

/// What JSON has at a place.
enum class Expected {
  value,        // a value
  name,         // a field's name
  colon,        // the colon behind a name
  next_member,  // a comma, or the end of an object
  next_item,    // a comma, or the end of an array
  end,          // nothing more
};

/// The remedy for a token; "" is the end of the file. `open` has the brackets that are open there,
/// the outermost first: "{[".
std::string remedy_of(Expected expected, std::string_view token, std::string_view open);

/// The remedy for a string that is not closed, or that nlohmann/json refuses for `reason`.
std::string remedy_of_string(std::string_view reason);

}  // namespace dmlop::json
