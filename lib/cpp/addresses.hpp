// How debuggers show addresses.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cpp/tokens.hpp"

namespace dmlop::cpp {

bool is_hexadecimal(const Token& token);

/// Whether it is an address for sure: debuggers show pointers with all their digits, or with more
/// than an int has.
bool is_long_address(const Token& token);

/// An address of 32 bits looks like an int, but what is there is shown behind it.
bool has_content_behind(const std::vector<Token>& tokens, std::size_t at);

/// "0x0000007ffe1230" and "0x7ffe1230" are the same address.
std::string plain_address(std::string_view text);

}  // namespace dmlop::cpp
