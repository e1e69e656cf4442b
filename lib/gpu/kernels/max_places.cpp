// Maxima of windows and where they stand: shaders/window.hlsl.
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/window_search.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/window.hlsli"

WindowSearch search_of(const MaxPlacesKernel& kernel) {
  return {.axes = kernel.axes,
          .data_type = kernel.data_type,
          .index_type = kernel.index_type,
          .is_maximum = true};
}

}  // namespace

Dispatches dispatches_of(const MaxPlacesKernel& kernel) {
  Dispatches found = dispatches_of(search_of(kernel));
  for (Dispatch& dispatch : found.dispatches) {
    dispatch.parameters[at_place_of_nothing] = static_cast<uint>(kernel.place_of_nothing);
    dispatch.parameters[at_place_of_nothing + 1] = static_cast<uint>(kernel.place_of_nothing >> 32);
  }
  return found;
}

}  // namespace dmlop::gpu::kernels
