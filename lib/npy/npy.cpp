#include "npy/npy.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "npy/dictionary.hpp"
#include "npy/header_extent.hpp"
#include "npy/refuse.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

using npy::refuse;
using npy::refuse_truncated;

static_assert(std::endian::native == std::endian::little, "'=' in a header means little-endian");

constexpr std::size_t max_dimensions = 64;  // NumPy's own limit

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A shape as Python writes a tuple: "(3,)", "(2, 3)".
std::string tuple_text(std::span<const std::uint64_t> sizes) {
  std::string text = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(sizes[i]);
  }
  return text + (sizes.size() == 1 ? ",)" : ")");
}

void check_dimensions(std::size_t count) {
  if (count <= max_dimensions) return;
  refuse("the array has " + std::to_string(count) + " dimensions; at most " +
         std::to_string(max_dimensions) + " can be read");
}

void require_elements(std::span<const std::uint64_t> sizes) {
  const auto zero = std::find(sizes.begin(), sizes.end(), 0u);
  if (zero != sizes.end()) {
    refuse("the shape " + tuple_text(sizes) + " has size 0 in dimension " +
           std::to_string(zero - sizes.begin()) +
           "; a tensor has at least one element, so every size is at least 1");
  }
}

/// The product of `sizes` and the element's size, if it fits 64 bits.
std::optional<std::uint64_t> byte_count(std::span<const std::uint64_t> sizes, DataType type) {
  const std::optional<std::uint64_t> elements = dmlop::element_count(sizes);
  if (!elements || *elements > std::numeric_limits<std::uint64_t>::max() / size_of(type))
    return std::nullopt;
  return *elements * size_of(type);
}

void check_data(const NpyHeader& header, std::uint64_t present, bool is_whole) {
  const std::string array = "shape " + tuple_text(header.sizes) + " of '" +
                            std::string(info(header.data_type).numpy) + "'";
  const std::optional<std::uint64_t> needed = byte_count(header.sizes, header.data_type);
  if (!needed) refuse("an array of " + array + " has more bytes than 64 bits can count");
  if (present == *needed) return;
  const std::string counts = "the header says " + array + ", " + std::to_string(*needed) +
                             " bytes, and " + (is_whole ? "" : "at least ") +
                             std::to_string(present) + " bytes follow it";
  if (present < *needed) refuse_truncated(counts);
  refuse("the file is longer than its array: " + counts +
         "; it must hold one array, from one call of numpy.save");
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> file, bool is_whole, EmptyArrays empty) {
  const std::string_view bytes = text_of(file);
  const npy::HeaderExtent extent = npy::find_header(bytes);
  npy::Dictionary fields = npy::read_dictionary(bytes.substr(extent.offset, extent.length));
  check_dimensions(fields.sizes.size());
  if (empty == EmptyArrays::refused) require_elements(fields.sizes);
  if (fields.sizes.empty()) fields.sizes = {1};  // a scalar: a tensor has at least 1 dimension
  NpyHeader header{.data_type = fields.element.data_type,
                   .big_endian = fields.element.big_endian,
                   .fortran_order = fields.fortran_order,
                   .sizes = std::move(fields.sizes),
                   .data_offset = extent.offset + extent.length};
  check_data(header, bytes.size() - header.data_offset, is_whole);
  return header;
}

std::uint64_t npy_bytes_wanted(std::span<const std::byte> first) {
  if (first.size() < npy::max_header_offset) return npy::max_header_offset;
  const std::string_view bytes = text_of(first);
  const npy::HeaderExtent extent = npy::header_extent(bytes);
  const std::uint64_t end = extent.offset + extent.length;
  if (first.size() < end) return end;
  const auto fields = npy::read_dictionary(bytes.substr(extent.offset, extent.length));
  check_dimensions(fields.sizes.size());
  const auto needed = byte_count(fields.sizes, fields.element.data_type);
  // A size that no file can have is refused when the whole header is parsed.
  if (!needed || *needed >= max_file_bytes - end) return first.size();
  return end + *needed + 1;  // one more byte reveals a file that is longer than its array
}

NpyFile::NpyFile(InputFile file, EmptyArrays empty)
    : file_(std::move(file)), header_(file_->read_intact([&](auto bytes) {
        return parse_npy_header(bytes, file_->is_whole(), empty);
      })) {}

NpyFile::NpyFile(const MemoryTensor& tensor)
    : memory_(tensor.bytes), header_{.data_type = tensor.data_type, .sizes = tensor.sizes} {}

NpyFile NpyFile::open(const std::string& path) {
  return NpyFile(InputFile::open(path, npy_bytes_wanted), EmptyArrays::refused);
}

NpyFile NpyFile::open(const PinnedFile& file, EmptyArrays empty) {
  return NpyFile(InputFile::open(file, npy_bytes_wanted), empty);
}

NpyFile NpyFile::open(const PinnedFile& file, const std::optional<RawForm>& form) {
  return form ? open_raw(file, *form) : open(file);
}

NpyFile NpyFile::holding(DataType data_type, std::vector<std::uint64_t> sizes, Buffer elements) {
  const auto owned = std::make_shared<const Buffer>(std::move(elements));
  NpyFile file(MemoryTensor{data_type, std::move(sizes), {}, owned->bytes()});
  file.owned_ = owned;
  return file;
}

NpyFile NpyFile::in_memory(const MemoryTensor& tensor) {
  const bool is_strided = !tensor.strides.empty();
  if (is_strided && tensor.strides.size() != tensor.sizes.size())
    throw Error(ErrorKind::invalid_input, "it has " + counted(tensor.sizes.size(), "size") +
                                              " and " + counted(tensor.strides.size(), "stride") +
                                              ": give a stride for each size, or none");
  const std::size_t size = size_of(tensor.data_type);
  const bool is_empty = std::ranges::find(tensor.sizes, 0U) != tensor.sizes.end();
  const auto elements = is_strided && !is_empty ? reached_elements(tensor.sizes, tensor.strides)
                                                : dmlop::element_count(tensor.sizes);
  const std::uint64_t held = tensor.bytes.size();
  if (tensor.bytes.data() == nullptr && elements) return NpyFile(tensor);
  const bool fits =
      elements && *elements <= held / size && (is_strided || held == *elements * size);
  if (fits) return NpyFile(tensor);
  throw Error(ErrorKind::invalid_input,
              "it has " + counted(held, "byte") + ", but " +
                  std::string(name_of(tensor.data_type)) + " " + list_of(tensor.sizes) +
                  (is_strided ? " with strides " + list_of(tensor.strides) : "") + " needs " +
                  (elements ? std::to_string(*elements) + " elements of " + counted(size, "byte")
                            : "more than memory can have") +
                  ": give other sizes or another buffer");
}

std::span<const std::byte> NpyFile::data() const {
  if (!file_ || owned_) return memory_;
  const auto bytes = file_->bytes().subspan(header_.data_offset);
  return raw_bytes_ ? bytes.first(*raw_bytes_) : bytes;
}

void require_intact(const NpyFile& file, const std::string& path) {
  with_context("reading " + path, [&] { file.require_intact(); });
}

std::uint64_t NpyFile::element_count() const {
  return data().size() / size_of(header_.data_type);
}

std::string npy_header_bytes(DataType data_type, std::span<const std::uint64_t> sizes) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t growth_digits =
      21;  // NumPy leaves room for the first size to grow to this many digits
  const DataTypeInfo& type = info(data_type);
  std::string text = "{'descr': '" + std::string(type.size == 1 ? "|" : "<") +
                     std::string(type.numpy) +
                     "', 'fortran_order': False, 'shape': " + tuple_text(sizes) + ", }";
  if (!sizes.empty()) text.append(growth_digits - std::to_string(sizes[0]).size(), ' ');
  const std::size_t prefix_size = npy::magic.size() + 4;
  // From 1 to 64 spaces. NumPy adds 64 if none would be needed.
  text.append(alignment - (prefix_size + text.size() + 1) % alignment, ' ');
  text += '\n';
  const std::string length{static_cast<char>(text.size() & 0xff),
                           static_cast<char>(text.size() >> 8)};
  return std::string(npy::magic) + std::string("\x01\x00", 2) + length + text;
}

}  // namespace dmlop
