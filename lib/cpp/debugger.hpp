// Reads what debuggers print about a DML_*_OPERATOR_DESC: rows of Visual Studio's watch window,
// and the values that gdb and lldb print.
#pragma once

#include <string_view>

#include "cpp/value.hpp"

namespace dmlop::cpp {

/// Whether a text is a debugger's, and not C++.
bool is_of_debugger(std::string_view text);

/// Reads all values that the text shows. Values at the same address are one.
void read_debugger(std::string_view text, Memory& memory);

}  // namespace dmlop::cpp
