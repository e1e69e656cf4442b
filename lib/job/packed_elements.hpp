// Files of elements of 4 bits that have two in a byte. Everywhere else, each has a byte.
#pragma once

#include <cstdint>

#include "npy/npy.hpp"
#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

/// Whether a file of so many elements of a type has them packed: it has half as many bytes.
bool is_packed(DataType type, std::uint64_t elements, const NpyHeader& header);

/// The elements of such a file in C order, a byte each, as an array of the sizes. Errors:
/// run_failed without memory; io_failed if the file changed meanwhile.
NpyFile unpacked(const NpyFile& file, DataType type, const Sizes& sizes);

}  // namespace dmlop
