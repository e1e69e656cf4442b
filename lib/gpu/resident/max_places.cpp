// Maxima of windows and where they stand: shaders/window.hlsl.
#include "gpu/resident/kinds.hpp"
#include "gpu/resident/parameters.hpp"
#include "gpu/resident/window_search.hpp"

namespace dmlop::gpu::resident {
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

std::vector<ResidentDispatch> dispatches_of(const MaxPlacesKernel& kernel) {
  ResidentDispatch dispatch = dispatch_of(search_of(kernel));
  dispatch.parameters[at_place_of_nothing] = static_cast<uint>(kernel.place_of_nothing);
  dispatch.parameters[at_place_of_nothing + 1] = static_cast<uint>(kernel.place_of_nothing >> 32);
  return {dispatch};
}

}  // namespace dmlop::gpu::resident
