#include "npy/elements.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "tensor/cast.hpp"
#include "tensor/element.hpp"

namespace dmlop {

Elements::Elements(const NpyFile& file)
    : data_type_(file.header().data_type),
      stored_type_(data_type_),
      sizes_(file.header().sizes),
      count_(file.element_count()),
      bytes_(file.data()),
      data_offset_(file.header().data_offset),
      swapped_(file.header().big_endian && size_of(file.header().data_type) > 1),
      fortran_order_(file.header().fortran_order && sizes_.size() > 1) {}

Elements::Elements(DataType data_type, Sizes sizes, std::span<const std::byte> bytes)
    : data_type_(stored_as(data_type)),
      stored_type_(data_type_),
      sizes_(std::move(sizes)),
      count_(bytes.size() / size_of(data_type)),
      bytes_(bytes) {}

std::uint64_t Elements::position(std::uint64_t index) const {
  if (!fortran_order_) return index;
  std::uint64_t position = 0;
  std::uint64_t stride = count_;
  for (std::size_t i = sizes_.size(); i-- > 0;) {
    stride /= sizes_[i];
    position += index % sizes_[i] * stride;
    index /= sizes_[i];
  }
  return position;
}

std::uint64_t Elements::byte_offset(std::uint64_t index) const {
  return data_offset_ + position(index) * size_of(stored_type_);
}

Elements Elements::cast(DataType type) const {
  Elements other = *this;
  other.data_type_ = type;
  return other;
}

std::span<const std::byte> Elements::read(std::uint64_t first, std::uint64_t count,
                                          std::vector<std::byte>& scratch) const {
  if (data_type_ == stored_type_) return read_stored(first, count, scratch);
  std::vector<std::byte> stored_scratch;
  const auto stored = read_stored(first, count, stored_scratch);
  scratch.resize(count * size_of(data_type_));
  const auto changed = cast_elements(stored_type_, stored, data_type_, scratch);
  if (changed)
    throw Error(ErrorKind::invalid_input,
                "element " + list_of(indices_of(first + *changed, sizes_)) + " is " +
                    element_text(stored_type_, &stored[*changed * size_of(stored_type_)]) +
                    ", which " + std::string(name_of(data_type_)) +
                    " does not hold exactly: compare files of the same type");
  return scratch;
}

std::span<const std::byte> Elements::read_stored(std::uint64_t first, std::uint64_t count,
                                                 std::vector<std::byte>& scratch) const {
  const std::size_t size = size_of(stored_type_);
  if (!swapped_ && !fortran_order_) return bytes_.subspan(first * size, count * size);
  scratch.resize(count * size);
  in_pieces(count, fortran_order_ ? far_steps : 1, [&](std::uint64_t k, std::uint64_t end) {
    for (; k < end; ++k) {
      const auto element = bytes_.subspan(position(first + k) * size, size);
      std::byte* to = scratch.data() + k * size;
      swapped_ ? std::reverse_copy(element.begin(), element.end(), to)
               : std::copy(element.begin(), element.end(), to);
    }
  });
  return scratch;
}

DataType common_type(DataType a, DataType b) {
  if (a == b) return a;
  const NumberKind kind_a = info(a).kind, kind_b = info(b).kind;
  if (kind_a != kind_b && (kind_a == NumberKind::floating || kind_b == NumberKind::floating))
    return DataType::Float64;
  // Of two floating types, the larger has all numbers of the other.
  if (kind_a == NumberKind::floating && size_of(a) == size_of(b)) return DataType::Float64;
  if (kind_a == NumberKind::floating) return size_of(a) > size_of(b) ? a : b;
  const bool are_unsigned =
      kind_a == NumberKind::unsigned_integer && kind_b == NumberKind::unsigned_integer;
  return are_unsigned ? DataType::UInt64 : DataType::Int64;
}

void copy_elements(const Elements& elements, std::byte* to) {
  const std::size_t size = size_of(elements.data_type());
  std::vector<std::byte> scratch;
  in_pieces(elements.count(), size, [&](std::uint64_t begin, std::uint64_t end) {
    const auto from = elements.read(begin, end - begin, scratch);
    std::copy(from.begin(), from.end(), to + begin * size);
  });
}

std::vector<std::uint64_t> indices_of(std::uint64_t index, std::span<const std::uint64_t> sizes) {
  std::vector<std::uint64_t> indices(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    indices[i] = index % sizes[i];
    index /= sizes[i];
  }
  return indices;
}

}  // namespace dmlop
