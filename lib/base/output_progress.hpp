// How far outputs are written, for those who show it.
#pragma once

#include <cstdint>

namespace dmlop {

/// The bytes that this process has written to output files so far.
std::uint64_t output_bytes_written();

}  // namespace dmlop
