// What a value of the wrong kind probably means: "9,3,5,3" where a list is wanted, [4] or "4" or
// true where a number is; which name a text that is none means.
#pragma once

#include <string>
#include <vector>

#include "json/document.hpp"
#include "spec/setting_value.hpp"

namespace dmlop {

/// JSON of what a value of the document may mean where one of this form is wanted, the likeliest
/// first. Nobody has looked whether the field takes it.
std::vector<std::string> meant_by(const json::Document& document, const json::Value& value,
                                  Form form);

/// The one of some names that a value means, with or without the prefix, in other letters,
/// abbreviated or misspelt, also as a flag where the other choice is NONE; "" if it means none.
std::string meant_name(const json::Value& value, const std::vector<std::string>& names,
                       const std::string& prefix);

}  // namespace dmlop
