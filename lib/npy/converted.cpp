#include "npy/converted.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "npy/elements.hpp"
#include "tensor/element.hpp"

namespace dmlop {

void convert_elements(DataType from_type, std::span<const std::byte> from, DataType to_type,
                      std::span<std::byte> to) {
  const std::size_t from_size = size_of(from_type), to_size = size_of(to_type);
  in_pieces(to.size() / to_size, to_size, [&](std::uint64_t i, std::uint64_t end) {
    for (; i < end; ++i) {
      const double value = element_value(from_type, &from[i * from_size]);
      const auto element = element_from(to_type, value);
      std::copy_n(element.begin(), to_size, &to[i * to_size]);
    }
  });
}

NpyFile converted(const NpyFile& file, DataType type) {
  const DataType own = file.header().data_type;
  const Elements elements(file);
  Buffer native(file.data().size(), "the elements of a file");
  copy_elements(elements, native.data());
  file.require_intact();
  Buffer numbers(elements.count() * size_of(type), "converted elements");
  convert_elements(own, native.bytes(), type, numbers.bytes());
  return NpyFile::holding(type, file.header().sizes, std::move(numbers));
}

}  // namespace dmlop
