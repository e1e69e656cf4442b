// NpyFile of a file without a header.
#include <algorithm>
#include <limits>
#include <string>

#include "base/text.hpp"
#include "npy/npy.hpp"
#include "npy/refuse.hpp"
#include "tensor/element.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

using npy::refuse;

constexpr std::uint64_t padding_max = 3;  // a buffer of DirectML is a multiple of 4 bytes

std::uint64_t bits_of(DataType type) {
  return info(type).bits;
}

std::string text_of_form(const RawForm& form) {
  return std::string(name_of(*form.data_type)) + " " + list_of(form.sizes);
}

/// Bytes that the elements of known sizes take.
std::uint64_t bytes_needed(const RawForm& form) {
  const auto count = element_count(form.sizes);
  constexpr std::uint64_t most = max_file_bytes;
  if (!count || *count > most / 64)
    refuse(text_of_form(form) + " has more bytes than a file can have");
  return (*count * bits_of(*form.data_type) + 7) / 8;
}

// A file that is read from its first byte on and has a header was meant as .npy.
void require_no_header(const RawForm& form, std::span<const std::byte> bytes) {
  constexpr std::string_view magic = "\x93NUMPY";
  const auto start = std::as_bytes(std::span(magic));
  const bool is_npy =
      bytes.size() >= start.size() && std::equal(start.begin(), start.end(), bytes.begin());
  if (is_npy && !form.offset) refuse("the file is .npy: leave out what stands behind its name");
}

/// Where the elements are in the file.
struct Extent {
  std::uint64_t offset;
  std::uint64_t bytes;
};

Extent extent_of(const RawForm& form, std::uint64_t held, bool is_whole) {
  const std::uint64_t offset = form.offset.value_or(0);
  const std::string has =
      "the file has " + std::string(is_whole ? "" : "more than ") + counted(held, "byte");
  if (offset >= held)
    refuse(has + (offset == 0 ? "" : ", and nothing is at offset " + std::to_string(offset)) +
           ": write it again, or name another");
  const std::uint64_t present = held - offset;
  const std::uint64_t size = size_of(*form.data_type);
  if (form.sizes.empty()) {
    if (present % size != 0)
      refuse(has + ", which is not a whole number of elements of " +
             std::string(name_of(*form.data_type)) + " from byte " + std::to_string(offset) +
             " on: write another type, or the sizes behind it");
    return {offset, present};
  }
  const std::uint64_t needed = bytes_needed(form);
  const std::string needs = has + ", but " + text_of_form(form) + " needs " +
                            std::to_string(needed) +
                            (offset == 0 ? "" : " from byte " + std::to_string(offset) + " on");
  if (present < needed) refuse(needs + ": write it again, or write another type or other sizes");
  const bool is_padded = present - needed <= padding_max && held % (padding_max + 1) == 0;
  if (present != needed && !is_padded && !form.offset)
    refuse(needs +
           ": write another type or other sizes; if they are only a part of the file, write " +
           "where they begin behind its name, :offset=0");
  return {offset, needed};
}

Buffer unpacked(std::span<const std::byte> packed, DataType type, std::uint64_t count) {
  Buffer elements(count, "unpacked elements");
  unpack_4_bits(type, packed, elements.bytes());
  return elements;
}

Buffer copy_of(std::span<const std::byte> elements) {
  Buffer copy(elements.size(), "a copy of elements");
  std::copy(elements.begin(), elements.end(), copy.data());
  return copy;
}

}  // namespace

NpyFile::NpyFile(InputFile file, const RawForm& form) : file_(std::move(file)) {
  const DataType type = *form.data_type;
  file_->read_intact([&](std::span<const std::byte> bytes) {
    require_no_header(form, bytes);
    const Extent extent = extent_of(form, bytes.size(), file_->is_whole());
    const auto elements = bytes.subspan(extent.offset, extent.bytes);
    const bool is_packed = bits_of(type) == 4;
    header_ = {.data_type = stored_as(type),
               .big_endian = form.big_endian,
               .sizes = form.sizes,
               .data_offset = extent.offset};
    if (header_.sizes.empty())
      header_.sizes = {is_packed ? 2 * extent.bytes : extent.bytes / size_of(type)};
    raw_bytes_ = extent.bytes;
    // Kernels read elements where an element may begin.
    if (is_packed)
      owned_ = std::make_shared<const Buffer>(
          unpacked(elements, type, *dmlop::element_count(header_.sizes)));
    else if (extent.offset % size_of(type) != 0)
      owned_ = std::make_shared<const Buffer>(copy_of(elements));
    if (owned_) memory_ = owned_->bytes();
    return true;
  });
}

NpyFile NpyFile::open_raw(const PinnedFile& file, const RawForm& form) {
  constexpr std::uint64_t more = padding_max + 1;  // reveals a file that is too long
  if (form.sizes.empty()) return {InputFile::open(file), form};
  const std::uint64_t offset = form.offset.value_or(0), needed = bytes_needed(form);
  if (offset > max_file_bytes - needed - more)
    refuse("offset=" + std::to_string(offset) + " is beyond the end of any file");
  return {InputFile::open(file, [&](std::span<const std::byte>) { return offset + needed + more; }),
          form};
}

}  // namespace dmlop
