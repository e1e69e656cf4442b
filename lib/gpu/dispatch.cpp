#include "gpu/dispatch.hpp"

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu {

Dispatches make_dispatches(const Kernel& kernel) {
  try {
    return std::visit([](const auto& kind) { return kernels::dispatches_of(kind); }, kernel);
  } catch (const kernels::NumberTooLarge&) {
    return refused("its numbers do not fit the 32 bits of a GPU kernel");
  } catch (const kernels::UnknownFloat&) {
    return refused("GPU kernels do not compute this with its floating-point type");
  }
}

Dispatch copy_dispatch(std::uint64_t bytes) {
  constexpr std::uint64_t bytes_per_thread = 16;
  Dispatch dispatch{.kernel = "copy", .inputs = {0}};
  dispatch.stages.emplace_back(0, bytes / bytes_per_thread, 1);
  return dispatch;
}

}  // namespace dmlop::gpu
