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

std::string refusal_of(const MaxPlacesKernel& kernel) {
  return refusal_of(search_of(kernel));
}

std::vector<Dispatch> dispatches_of(const MaxPlacesKernel& kernel) {
  Dispatch dispatch = dispatch_of(search_of(kernel));
  dispatch.parameters[at_place_of_nothing] = static_cast<uint>(kernel.place_of_nothing);
  dispatch.parameters[at_place_of_nothing + 1] = static_cast<uint>(kernel.place_of_nothing >> 32);
  return {dispatch};
}

}  // namespace dmlop::gpu::kernels
