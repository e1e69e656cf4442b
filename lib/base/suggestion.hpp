// What to write instead of a wrong word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

/// `did you mean "NAME"?` of the nearest candidate; "" where none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace dmlop
