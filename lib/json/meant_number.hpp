// Numbers as people write them, and as JSON does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dmlop::json {

/// The JSON of a number that may begin with + or a point or zeros, or end with a point: +1, .5, 007
/// and 1. are numbers. Nothing for other text.
std::optional<std::string> decimal_number(std::string_view text);

/// The same for numbers as programming languages write them, too: 0x10, 1.5f, 1_000 and (3). What
/// it finds may be proposed, and is not what the text says.
std::optional<std::string> meant_number(std::string_view text);

}  // namespace dmlop::json
