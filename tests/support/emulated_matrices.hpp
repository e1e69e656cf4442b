// Runs what a device with cooperative matrices would run, which devices of tests have not: a
// variant of the kernel computes the matrices in loops.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "gpu/stream.hpp"
#include "gpu_device.hpp"
#include "reference/values.hpp"

namespace dmlop::test {

/// What the variant of a dispatch's kernel makes of inputs; `like` has the output's type and sizes.
inline Tensor emulated(const gpu::Dispatch& dispatch, const std::vector<const Tensor*>& tensors,
                       const Tensor& like) {
  static const std::unique_ptr<gpu::Device> device = open_gpu();
  gpu::Stream stream(*device);
  std::vector<std::unique_ptr<gpu::ResidentBuffer>> buffers;
  const auto range_of = [&](const std::vector<std::byte>& bytes) {
    buffers.push_back(device->make_resident_buffer((bytes.size() + 15) / 16 * 16));
    return gpu::ResidentRange{buffers.back().get(), 0, bytes.size()};
  };
  std::vector<gpu::ResidentRange> inputs;
  for (const Tensor* tensor : tensors) {
    inputs.push_back(range_of(tensor->bytes));
    stream.write(inputs.back(), tensor->bytes);
  }
  Tensor output = Tensor::packed(like.type, like.sizes);
  const std::array outputs{range_of(output.bytes)};
  gpu::Dispatch variant = dispatch;
  // Modules for large tiles have their constants as macros; the one that tests run takes them.
  const bool is_product = variant.kernel.starts_with("product_matrices");
  variant.kernel = is_product ? "product_matrices_emulated" : "attention_matrices_emulated";
  stream.run({.kernels = {{&variant, inputs, {outputs.begin(), outputs.end()}}}});
  stream.finish();
  stream.read(outputs[0], output.bytes);
  return output;
}

}  // namespace dmlop::test
