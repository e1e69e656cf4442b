// The .npy format, versions 1 to 3 (NumPy's numpy.lib.format), and files of elements without a
// header. This file knows bytes and headers, not operators. It checks everything that a header says
// against the size of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "base/file.hpp"
#include "npy/raw_form.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

struct NpyHeader {
  DataType data_type;
  bool big_endian = false;     // elements need their bytes swapped
  bool fortran_order = false;  // first dimension fastest
  std::vector<std::uint64_t> sizes;
  std::uint64_t data_offset = 0;  // bytes before the first element
};

/// What to do with an array without elements: DirectML has no such tensor, but ONNX has.
enum class EmptyArrays { refused, allowed };

/// Reads and checks the header of a .npy file. If not `is_whole`, the file continues after these
/// bytes. Errors: invalid_input with the reason and, if there is one, the remedy.
NpyHeader parse_npy_header(std::span<const std::byte> file, bool is_whole = true,
                           EmptyArrays empty = EmptyArrays::refused);

/// How many bytes of a .npy file to read, given the first ones: all that its header asks for, and
/// one more. Errors: invalid_input as soon as the first bytes are wrong.
std::uint64_t npy_bytes_wanted(std::span<const std::byte> first);

/// Elements that a program has in memory, in native byte order. Strides count elements; without any
/// the elements are packed. With the null pointer for bytes, they are not known yet.
struct MemoryTensor {
  DataType data_type;
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> strides;
  std::span<const std::byte> bytes;
};

/// An open .npy or raw file, or elements in memory that take its place. Its header has been checked
/// and its elements are mapped.
class NpyFile {
 public:
  /// "-" is standard input. Errors: as InputFile::open and parse_npy_header.
  static NpyFile open(const std::string& path);
  static NpyFile open(const PinnedFile& file, EmptyArrays empty = EmptyArrays::refused);
  /// A file without a header; the form must have a data type. Without sizes, all elements of the
  /// file are one dimension. Elements of 4 bits are packed, two in a byte, the lower bits first;
  /// they are unpacked. Up to 3 bytes may follow, as DirectML's buffers are multiples of 4 bytes.
  /// Errors: as InputFile::open, and invalid_input if the file has another size.
  static NpyFile open_raw(const PinnedFile& file, const RawForm& form);
  /// As open_raw() or, without a form, open().
  static NpyFile open(const PinnedFile& file, const std::optional<RawForm>& form);
  /// Elements that it keeps: packed, in native byte order.
  static NpyFile holding(DataType data_type, std::vector<std::uint64_t> sizes, Buffer elements);
  /// The bytes must outlive it. Errors: invalid_input unless they are exactly the elements or, with
  /// strides, as many as these reach.
  static NpyFile in_memory(const MemoryTensor& tensor);

  const NpyHeader& header() const { return header_; }
  /// Whether it is a .npy file that others can read, too.
  bool is_npy() const { return file_ && !raw_bytes_; }
  /// Errors: io_failed if the file was changed since it was opened. Call it after reading the
  /// elements and before relying on the result.
  void require_intact() const {
    if (file_) file_->require_intact();
  }
  /// The elements in file order and the file's byte order.
  std::span<const std::byte> data() const;
  std::uint64_t element_count() const;

 private:
  NpyFile(InputFile file, EmptyArrays empty);
  explicit NpyFile(const MemoryTensor& tensor);
  NpyFile(InputFile file, const RawForm& form);

  std::optional<InputFile> file_;
  std::span<const std::byte> memory_;       // where no file is mapped
  std::shared_ptr<const Buffer> owned_;     // what memory_ is of, where it is kept here
  std::optional<std::uint64_t> raw_bytes_;  // of the elements, where others may follow in the file
  NpyHeader header_;
};

/// Calls file.require_intact(). Its errors name `path`.
void require_intact(const NpyFile& file, const std::string& path);

/// The bytes before the elements, as numpy.save writes them for a C-ordered little-endian array.
/// All versions of NumPy write these for up to 8 dimensions; for more, only versions that leave
/// room for growth do.
std::string npy_header_bytes(DataType data_type, std::span<const std::uint64_t> sizes);

}  // namespace dmlop
