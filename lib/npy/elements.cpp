#include "npy/elements.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"

namespace dmlop {

Elements::Elements(const NpyFile& file)
    : data_type_(file.header().data_type),
      sizes_(file.header().sizes),
      count_(file.element_count()),
      bytes_(file.data()),
      data_offset_(file.header().data_offset),
      swapped_(file.header().big_endian && size_of(file.header().data_type) > 1),
      fortran_order_(file.header().fortran_order && sizes_.size() > 1) {}

Elements::Elements(DataType data_type, Sizes sizes, std::span<const std::byte> bytes)
    : data_type_(data_type),
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
  return data_offset_ + position(index) * size_of(data_type_);
}

std::span<const std::byte> Elements::read(std::uint64_t first, std::uint64_t count,
                                          std::vector<std::byte>& scratch) const {
  const std::size_t size = size_of(data_type_);
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
