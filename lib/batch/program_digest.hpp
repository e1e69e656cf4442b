// Which program runs, down to its last bit.
#pragma once

#include <string>

namespace dmlop {

/// A digest of the running program: the linker's build ID on Linux, a digest of the file on
/// Windows. Two builds of the same sources by the same compiler have the same one; "" where the
/// system tells none.
std::string program_digest();

}  // namespace dmlop
