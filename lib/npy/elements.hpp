// A tensor's elements in C order and native byte order, whether they are in memory or in a .npy
// file of any order. It is for code that reads element by element; backends read files as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "npy/npy.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

class Elements {
 public:
  /// The file must outlive this.
  explicit Elements(const NpyFile& file);
  /// Packed elements in memory, which must outlive this. As in a file, those of 4 bits have a byte
  /// each.
  Elements(DataType data_type, Sizes sizes, std::span<const std::byte> bytes);

  /// The same elements as numbers of another type, which is FLOAT32, FLOAT64, INT64 or UINT64.
  Elements cast(DataType type) const;

  DataType data_type() const { return data_type_; }
  const Sizes& sizes() const { return sizes_; }
  std::uint64_t count() const { return count_; }

  /// The bytes of elements [first, first + count): either the source's own, or copied into
  /// `scratch`. Errors: as check_for_stop(); invalid_input for an integer that a cast would change.
  std::span<const std::byte> read(std::uint64_t first, std::uint64_t count,
                                  std::vector<std::byte>& scratch) const;
  /// Where the element is, in bytes from the beginning of the file or of the memory.
  std::uint64_t byte_offset(std::uint64_t index) const;

 private:
  std::uint64_t position(std::uint64_t index) const;
  std::span<const std::byte> read_stored(std::uint64_t first, std::uint64_t count,
                                         std::vector<std::byte>& scratch) const;

  DataType data_type_;
  DataType stored_type_;
  Sizes sizes_;
  std::uint64_t count_;
  std::span<const std::byte> bytes_;
  std::uint64_t data_offset_ = 0;
  bool swapped_ = false;
  bool fortran_order_ = false;
};

/// The type that holds every element of both types, but for integers of 64 bits that are too large:
/// of floats the wider, UINT64 of unsigned integers, INT64 of other integers, otherwise FLOAT64. Of
/// equal types it is that type.
DataType common_type(DataType a, DataType b);

/// Copies all elements, in C order and native byte order. Errors: as check_for_stop().
void copy_elements(const Elements& elements, std::byte* to);

/// The index of element `index` (C order) in each dimension.
std::vector<std::uint64_t> indices_of(std::uint64_t index, std::span<const std::uint64_t> sizes);

}  // namespace dmlop
