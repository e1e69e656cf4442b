// The kinds of computation: one struct of parameters each (ops/kernels/), free of operators, files
// and devices. The CPU and every GPU execute the same kernels. Outputs are packed; inputs have any
// strides, in elements. A kernel with several outputs has as many elements in each.
//
// A new kind is a header in ops/kernels/, a row in kernels.def, and an answer to each question that
// the layers ask of every kind:
// - how many outputs of how many elements it has: its own members output_elements() and
//   output_element_sizes();
// - how the CPU runs it: part_shape() and run_part() (cpu/kinds.hpp), in a file of cpu/;
// - how it is cut into tiles (ops/tiles.hpp) and how a GPU launches it (gpu/dispatch.cpp). A kind
//   without a GPU kernel says `static constexpr bool only_on_cpu = true` instead.
// All of these visit Kernel without a default: a kind that forgets one does not compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "ops/kernels/element_wise.hpp"
#include "ops/kernels/index_map.hpp"
#include "ops/kernels/join.hpp"
#include "ops/kernels/lp_pooling.hpp"
#include "ops/kernels/max_places.hpp"
#include "ops/kernels/regions.hpp"
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

/// A kind that no GPU runs yet.
template <typename Kind>
concept OnlyOnCpu = requires { requires Kind::only_on_cpu; };

/// How many outputs the kernel writes.
std::size_t output_count(const Kernel& kernel);

/// Elements of each of its outputs; bytes of an element of one of them.
std::uint64_t output_elements(const Kernel& kernel);
std::size_t output_element_size(const Kernel& kernel, std::size_t output = 0);

}  // namespace dmlop
