#include "onnx/tensor_file.hpp"

#include "base/path.hpp"
#include "base/text.hpp"
#include "onnx/onnx_model.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {

bool is_named_tensor(const std::string& path) {
  return lower_extension(path) == ".pb";
}

Buffer elements_of(const TensorData& data, const std::string& name) {
  Buffer elements(data.count() * size_of(data.type), name);
  if (has_4_bits(data.type))
    unpack_4_bits(data.type, data.bytes, elements.bytes());
  else
    copy_in_pieces(data.bytes, elements.data());
  return elements;
}

NpyFile open_tensor_file(const std::string& path, const SharedConfinement& confinement) {
  const TensorData data = read_tensor_file(path, confinement);
  if (data.count() == 0)
    throw Error(ErrorKind::invalid_input, "reading " + path + ": it has the sizes " +
                                              list_of(data.sizes) + ", and so no elements");
  // As .npy files are read: four bits are one byte, and a number is an array with one element.
  return NpyFile::holding(stored_as(data.type), data.sizes.empty() ? Sizes{1} : data.sizes,
                          elements_of(data, "the elements of " + path));
}

}  // namespace dmlop::onnx
