// The elements of a file as numbers of another type.
#pragma once

#include <cstddef>
#include <span>

#include "npy/npy.hpp"

namespace dmlop {

/// Elements of one type as those of another, which holds their values or rounds them; `to` has room
/// for as many. Errors: as check_for_stop().
void convert_elements(DataType from_type, std::span<const std::byte> from, DataType to_type,
                      std::span<std::byte> to);

/// A file's elements in C order, in memory. Errors: io_failed if the file was changed meanwhile; as
/// check_for_stop().
NpyFile converted(const NpyFile& file, DataType type);

}  // namespace dmlop
