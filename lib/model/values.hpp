// Initial values of resources: JSON numbers as elements, and the four forms of initializers that
// need no file; and the values of files.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/model.hpp"
#include "spec/field_reader.hpp"

namespace dmlop {

/// One element as bytes, converted as DxDispatch does: FLOAT16 through FLOAT, then rounded toward
/// zero. Integers must be written as integers and fit. Floats may also be "nan", "inf" and "-inf";
/// an integer given for a float must be exact as a double. Otherwise adds a finding and returns
/// nothing.
std::optional<std::array<std::byte, 8>> read_element(FieldReader& reader, const json::Value& value,
                                                     const std::string& name, DataType type);

/// [1, 2, 3]
std::optional<InitialValues> read_list(FieldReader& reader, const json::Value& array,
                                       const std::string& name, DataType type);
/// [{"type": "UINT32", "value": 6}, …]: packed, one after another.
std::optional<InitialValues> read_mixed_list(FieldReader& reader, const json::Value& array,
                                             const std::string& name);
/// {"valueCount": n, "value": v}
std::optional<InitialValues> read_constant(FieldReader& reader, const json::Value& object,
                                           const std::string& name, DataType type);
/// {"valueCount": n, "valueStart": a, "valueDelta": d}: a running sum in the data type. It rounds
/// for floats and wraps for integers.
std::optional<InitialValues> read_sequence(FieldReader& reader, const json::Value& object,
                                           const std::string& name, DataType type);

/// The elements of a .npy file, in C order and native byte order. `path` is for errors.
InitialValues values_of_file(std::shared_ptr<const NpyFile> file, const std::string& path);
/// The bytes of a file as elements of a type.
InitialValues values_of_file(std::shared_ptr<const InputFile> file, const std::string& path,
                             DataType type);

/// A float as FLOAT16, rounded toward zero; infinity from 65536 on.
std::uint16_t half_toward_zero(float value);

}  // namespace dmlop
