#include "npy/header_extent.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "npy/refuse.hpp"

namespace dmlop::npy {
namespace {

// NumPy writes about 128 bytes and refuses to read more than 10000.
constexpr std::size_t max_header_length = 65536;

// Recognizes a file that does not start with .npy's magic bytes.

struct Lookalike {
  std::string_view start;
  std::string_view message;
};

constexpr std::array<Lookalike, 7> lookalikes{{
    {"version https://git-lfs.github.com/spec/",
     "the file is a Git LFS pointer, not the array itself; run 'git lfs pull' to fetch the array"},
    {"PK\x03\x04",
     "the file is a zip archive, probably .npz; take one array out of it with "
     "numpy.load and save that with numpy.save"},
    {"PK\x05\x06", "the file is an empty zip archive, probably .npz, and holds no array"},
    {"\x1f\x8b", "the file is compressed with gzip; decompress it with gunzip"},
    {"\x80",
     "the file is probably a Python pickle; load it in Python and save the array with "
     "numpy.save"},
    {"\xc2\x93NUMPY",
     "the file is .npy that was re-encoded as UTF-8 text; copy the original again "
     "as a binary file"},
    {"\xef\xbf\xbdNUMPY",
     "the file is .npy that was damaged by re-encoding it as UTF-8 text; copy "
     "the original again as a binary file"},
}};

[[noreturn]] void refuse_start(std::string_view file) {
  for (const Lookalike& lookalike : lookalikes) {
    if (file.starts_with(lookalike.start)) refuse(std::string(lookalike.message));
  }
  const std::string_view start = file.substr(0, 16);
  const bool is_text = std::all_of(start.begin(), start.end(), [](char c) {
    return (0x20 <= c && c < 0x7f) || whitespace.find(c) != std::string_view::npos;
  });
  const std::size_t first = start.find_first_not_of(whitespace);
  const std::string_view text = start.substr(std::min(first, start.size()));
  // A description that dmlop ops --example prints begins with comments.
  if (is_text && (text.starts_with('{') || text.starts_with('[') || text.starts_with("//"))) {
    refuse("the file is JSON that starts with \"" + printable(start) +
           "\", not .npy; name the .npy file of the array");
  }
  if (is_text) {
    refuse("the file is text that starts with \"" + printable(start) +
           "\", not .npy; load it with numpy.loadtxt and save it with numpy.save");
  }
  refuse(
      "the file is not .npy: it starts with \"" + printable(start) +
      "\", not with \"\\x93NUMPY\"; save the array with numpy.save or, if it is elements without a "
      "header, write the type behind the name, FILE:FLOAT32");
}

/// The size of the field that holds the header's length.
std::size_t length_field_size(unsigned major, unsigned minor) {
  if (minor == 0 && major == 1) return 2;
  if (minor == 0 && (major == 2 || major == 3)) return 4;
  refuse(".npy version " + std::to_string(major) + "." + std::to_string(minor) +
         " is unknown; versions 1.0, 2.0 and 3.0 can be read, and numpy.save writes them");
}

}  // namespace

HeaderExtent header_extent(std::string_view file) {
  if (file.empty()) refuse("the file is empty; save the array with numpy.save");
  if (!file.starts_with(magic.substr(0, file.size()))) refuse_start(file);
  const std::size_t version_end = magic.size() + 2;
  if (file.size() < version_end) {
    refuse_truncated("it has " + std::to_string(file.size()) + " bytes and ends in its first 8");
  }
  const auto byte_at = [file](std::size_t i) { return static_cast<unsigned char>(file[i]); };
  const std::size_t field = length_field_size(byte_at(magic.size()), byte_at(magic.size() + 1));
  const std::size_t offset = version_end + field;
  if (file.size() < offset) {
    refuse_truncated("it has " + std::to_string(file.size()) +
                     " bytes and ends before the length of its header");
  }
  std::size_t length = 0;
  for (std::size_t i = field; i-- > 0;) length = length << 8 | byte_at(version_end + i);
  if (length > max_header_length) {
    refuse("the header's length is " + std::to_string(length) + " bytes; at most " +
           std::to_string(max_header_length) +
           " are read, and a tensor needs about 128; save the array again with numpy.save");
  }
  return {offset, length};
}

HeaderExtent find_header(std::string_view file) {
  const auto [offset, length] = header_extent(file);
  if (length > file.size() - offset) {
    refuse_truncated("its header has " + std::to_string(length) + " bytes and only " +
                     std::to_string(file.size() - offset) + " follow");
  }
  return {offset, length};
}

}  // namespace dmlop::npy
