// What DxDispatch prints of a resource, byte for byte.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/model.hpp"

namespace dmlop {

/// How DxDispatch's output is kept where it is at fault: as it should be, or as it is.
enum class Fidelity { mended, compatible };

/// "Resource 'Out': 1, 2.5, inf" and a newline; with `verbose` a line for each element, with its
/// index and bits, and an empty line. `contents` are the buffer's bytes; padding is not printed.
/// Compatible: 8-bit values are characters.
std::string print_text(const Resource& resource, std::span<const std::byte> contents, bool verbose,
                       Fidelity fidelity);

/// One element as a C++ stream writes it: floats with six significant digits.
std::string stream_text(DataType type, const std::byte* element, Fidelity fidelity);

}  // namespace dmlop
