#include "tensor_files.hpp"

#include "onnx/tensor_file.hpp"

namespace dmlop::app {

NpyFile open_tensor(const std::string& path, const std::optional<RawForm>& form) {
  if (!form && onnx::is_named_tensor(path)) return onnx::open_tensor_file(path);
  return with_context("reading " + path,
                      [&] { return NpyFile::open(PinnedFile(nullptr, path), form); });
}

std::vector<NpyFile> read_tensor_protos(std::vector<NamedFile>& golden) {
  std::vector<NpyFile> kept;
  for (NamedFile& file : golden) {
    if (file.raw || file.memory || !onnx::is_named_tensor(file.path)) continue;
    const NpyFile& tensor = kept.emplace_back(onnx::open_tensor_file(file.path, file.confinement));
    const NpyHeader& header = tensor.header();
    file.memory = MemoryTensor{header.data_type, header.sizes, {}, tensor.data()};
  }
  return kept;
}

}  // namespace dmlop::app
