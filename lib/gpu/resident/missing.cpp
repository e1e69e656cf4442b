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
DMLOP_NO_GPU_KERNEL(BandKernel)
DMLOP_NO_GPU_KERNEL(FoldKernel)
DMLOP_NO_GPU_KERNEL(GatherKernel)
DMLOP_NO_GPU_KERNEL(HeadRowsKernel)
DMLOP_NO_GPU_KERNEL(JoinKernel)
DMLOP_NO_GPU_KERNEL(MaxPlacesKernel)
DMLOP_NO_GPU_KERNEL(NonzeroCountKernel)
DMLOP_NO_GPU_KERNEL(NonzeroKernel)
DMLOP_NO_GPU_KERNEL(ProductKernel)
DMLOP_NO_GPU_KERNEL(RandomBitsKernel)
DMLOP_NO_GPU_KERNEL(RecurrentKernel)
DMLOP_NO_GPU_KERNEL(RegionBoxGradientKernel)
DMLOP_NO_GPU_KERNEL(RegionGradientKernel)
DMLOP_NO_GPU_KERNEL(RegionMaximumKernel)
DMLOP_NO_GPU_KERNEL(RegionSampleKernel)
DMLOP_NO_GPU_KERNEL(ScatterKernel)
DMLOP_NO_GPU_KERNEL(SequenceKernel)
DMLOP_NO_GPU_KERNEL(UnpoolKernel)
DMLOP_NO_GPU_KERNEL(WindowKernel)

#undef DMLOP_NO_GPU_KERNEL

}  // namespace dmlop::gpu::resident
