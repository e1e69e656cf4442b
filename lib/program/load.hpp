// Reads a program into memory, to run it many times. Whatever loads, checks or runs programs
// without files of their own starts here.
#pragma once

#include "program/open.hpp"

namespace dmlop {

/// Whether this is a program by its structure, and not an op description. Errors: io_failed.
bool is_program(const ProgramSource& source);

/// Reads and checks a graph of any kind, or a DxDispatch model, which has no inputs. Mistakes
/// become findings; `warnings` gets warnings. Errors: io_failed, usage for an op description.
std::optional<LoweredGraph> load_program(const ProgramSource& source, const GraphRequest& request,
                                         Diagnostics& diagnostics, Diagnostics& warnings);

}  // namespace dmlop
