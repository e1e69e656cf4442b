// What stands behind the name of a file of elements that has no header, as programs dump buffers:
// "gpu.bin:FLOAT16:1,128,28,28". npy.hpp opens such files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop {

/// How the elements of a raw file are to be read. Whoever opens it fills in what is left open.
struct RawForm {
  std::optional<DataType> data_type;
  std::vector<std::uint64_t> sizes;     // empty: left open
  std::optional<std::uint64_t> offset;  // in bytes; where it is given, others may follow the tensor
  bool big_endian = false;

  /// Whether all is left open.
  bool is_open() const { return !data_type && sizes.empty() && !offset && !big_endian; }
  /// This one, with a type and sizes where it has none.
  RawForm completed(std::optional<DataType> type, const std::vector<std::uint64_t>& known) const;
};

/// The name of a file, and how to read it.
struct FileText {
  std::string path;
  std::optional<RawForm> raw;  // absent: it is a .npy file
};

/// Splits "gpu.bin:FLOAT16:1,128,28,28:offset=64:big" and "gpu.bin:raw". "FILE:npy" is the .npy
/// file FILE, whatever its name ends with. Errors: invalid_input with a remedy.
FileText parse_file_text(const std::string& text);

/// The same for the file of an output, which is FILE or "FILE:raw": type and sizes are the
/// tensor's.
FileText parse_output_text(const std::string& text);

/// The path in such a text, or all of it where it is wrong in a way that has its own finding.
std::string path_of(const std::string& text);

/// What the help and messages say of such names.
inline constexpr const char* raw_form_text = "FILE:TYPE:SIZES, such as x.bin:FLOAT16:1,3,224,224";

}  // namespace dmlop
