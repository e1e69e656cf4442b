// The kinds of computation: one struct of parameters each (ops/kernels/), free of operators, files
// and devices. The CPU and every GPU execute the same kernels. Outputs are packed; inputs have any
// strides, in elements. A kernel with several outputs has as many elements in each.
//
// A new kind is a header in ops/kernels/, a row in kernels.def, and an answer to each question that
// the layers ask of every kind:
// - how many outputs of how many elements it has: output_elements() and output_element_sizes();
// - whether an input holds indices, and into what: index_read() (ops/indexed_inputs.cpp);
// - how the CPU runs it: part_shape() and run_part() (cpu/kinds.hpp), in a file of cpu/;
// - how a GPU runs it, or why none does: dispatches_of() (gpu/kernels/kinds.hpp), in a file of
//   gpu/kernels/ and one of shaders/.
// All of these visit Kernel without a default: a kind that forgets one does not compile or link.
// A kind of which a box of outputs needs boxes of inputs also says which (ops/tiles.hpp): a GPU can
// then run it on tensors larger than its memory. A kind with few long rows may let all threads of
// the CPU prepare what its parts share (cpu/preparation.hpp). A kind that a backend may lack, or
// have for some layouts only, has passes of other kinds that compute the same (ops/expand.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "ops/kernels/attention.hpp"
#include "ops/kernels/band.hpp"
#include "ops/kernels/element_wise.hpp"
#include "ops/kernels/fold.hpp"
#include "ops/kernels/gather.hpp"
#include "ops/kernels/index_map.hpp"
#include "ops/kernels/join.hpp"
#include "ops/kernels/local_response.hpp"
#include "ops/kernels/max_places.hpp"
#include "ops/kernels/nonzero.hpp"
#include "ops/kernels/product.hpp"
#include "ops/kernels/random_bits.hpp"
#include "ops/kernels/recurrent.hpp"
#include "ops/kernels/reduce.hpp"
#include "ops/kernels/regions.hpp"
#include "ops/kernels/rows.hpp"
#include "ops/kernels/scan.hpp"
#include "ops/kernels/scatter.hpp"
#include "ops/kernels/sequence.hpp"
#include "ops/kernels/top_k.hpp"
#include "ops/kernels/unpool.hpp"
#include "ops/kernels/window.hpp"

namespace dmlop {

template <typename None, typename... Kinds>
struct KernelOf {
  using Variant = std::variant<Kinds...>;
};
#define DMLOP_KERNEL(Kind) , Kind
using Kernel = KernelOf<void
#include "ops/kernels.def"
                        >::Variant;
#undef DMLOP_KERNEL

/// How many outputs the kernel writes.
std::size_t output_count(const Kernel& kernel);

/// Elements of each of its outputs; bytes of an element of one of them.
std::uint64_t output_elements(const Kernel& kernel);
std::size_t output_element_size(const Kernel& kernel, std::size_t output = 0);

}  // namespace dmlop
