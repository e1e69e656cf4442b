// What the files of this folder share: how a dispatch over whole tensors is filled.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "gpu/device.hpp"
#include "gpu/words.hpp"

namespace dmlop::gpu::resident {

/// As HLSL calls it, for the structs in shaders/parameters/.
using uint = std::uint32_t;

/// A thread owns so many bytes of an output.
inline constexpr std::uint64_t bytes_per_thread = 16;

/// A number of a kernel, whose arithmetic has 32 bits. Errors: std::logic_error for one that does
/// not fit.
inline uint word(std::uint64_t value) {
  if (value > 0xFFFFFFFF) throw std::logic_error("a kernel's number does not fit 32 bits");
  return static_cast<uint>(value);
}

/// The axes of a kernel beside the one that its sequences lie along, and the elements inside of that.
template <typename Parameters, typename Kernel>
void set_other_axes(Parameters& parameters, const Kernel& kernel) {
  parameters.inner = 1;
  for (std::size_t i = 0; i < kernel.axes.size(); ++i) {
    if (i == kernel.axis) continue;
    if (i > kernel.axis) parameters.inner = word(parameters.inner * kernel.axes[i].extent);
    parameters.extents[parameters.axes] = word(kernel.axes[i].extent);
    parameters.strides[parameters.axes++] = word(kernel.axes[i].stride);
  }
}

/// Gives the dispatch its struct of parameters, which consists of words.
template <typename Parameters>
void set_parameters(ResidentDispatch& dispatch, const Parameters& parameters) {
  static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) % 4 == 0);
  dispatch.parameters.resize(sizeof(Parameters) / 4);
  std::memcpy(dispatch.parameters.data(), &parameters, sizeof(Parameters));
}

}  // namespace dmlop::gpu::resident
