// Kinds without a GPU kernel.
#include <stdexcept>

#include "gpu/resident/kinds.hpp"

namespace dmlop::gpu::resident {

#define DMLOP_NO_GPU_KERNEL(Kind)                                                   \
  std::string refusal_of(const Kind&) { return "it has no GPU kernel yet"; }        \
  std::vector<ResidentDispatch> dispatches_of(const Kind&) {                        \
    throw std::logic_error("a kernel that only the CPU runs has no dispatch");      \
  }

DMLOP_NO_GPU_KERNEL(AttentionKernel)
DMLOP_NO_GPU_KERNEL(RecurrentKernel)
DMLOP_NO_GPU_KERNEL(ScanKernel)
DMLOP_NO_GPU_KERNEL(TopKKernel)

#undef DMLOP_NO_GPU_KERNEL

}  // namespace dmlop::gpu::resident
