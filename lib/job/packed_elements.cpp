#include "job/packed_elements.hpp"

#include "base/buffer.hpp"
#include "npy/elements.hpp"
#include "tensor/element.hpp"

namespace dmlop {

bool is_packed(DataType type, std::uint64_t elements, const NpyHeader& header) {
  return has_4_bits(type) && size_of(header.data_type) == 1 && elements > 1 &&
         element_count(header.sizes) == (elements + 1) / 2;
}

NpyFile unpacked(const NpyFile& file, DataType type, const Sizes& sizes) {
  const Elements packed(file);
  Buffer bytes(packed.count(), "packed elements");
  Buffer elements(*element_count(sizes), "unpacked elements");
  copy_elements(packed, bytes.data());
  unpack_4_bits(type, bytes.bytes(), elements.bytes());
  file.require_intact();
  return NpyFile::holding(stored_as(type), sizes, std::move(elements));
}

}  // namespace dmlop
