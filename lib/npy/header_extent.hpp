// The first bytes of a .npy file, before its header: magic bytes, version, length.
#pragma once

#include <cstddef>
#include <string_view>

namespace dmlop::npy {

constexpr std::string_view magic = "\x93NUMPY";

/// The most bytes that can stand before the header.
constexpr std::size_t max_header_offset = magic.size() + 6;

/// Where the header's dictionary lies in the file.
struct HeaderExtent {
  std::size_t offset;
  std::size_t length;
};

/// Where the first bytes of the file say that the header is, whether or not all of it has been
/// read. Errors: invalid_input, naming what the file seems to be instead.
HeaderExtent header_extent(std::string_view file);
/// The same of a file whose header must have been read. Errors: also where it is cut short.
HeaderExtent find_header(std::string_view file);

}  // namespace dmlop::npy
