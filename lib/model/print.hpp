// The text that DxDispatch prints for a resource, byte for byte.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/model.hpp"

namespace dmlop {

/// What to do where DxDispatch's output is wrong: print what would be right, or the same as
/// DxDispatch.
enum class Fidelity { mended, compatible };

/// Returns "Resource 'Out': 1, 2.5, inf" and a newline. If `verbose`, there is a line for each
/// element with its index and bits, and an empty line. `contents` are the buffer's bytes; padding
/// is not printed. In compatible mode, 8-bit values are characters.
std::string print_text(const Resource& resource, std::span<const std::byte> contents, bool verbose,
                       Fidelity fidelity);

/// One element as a C++ stream writes it: floats with six significant digits.
std::string stream_text(DataType type, const std::byte* element, Fidelity fidelity);

}  // namespace dmlop
