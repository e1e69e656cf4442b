// What the parts of a kernel share: as a rule nothing. A kernel with few long rows has too few
// parts for many threads. All threads then first compute, a block of a row each, what the parts
// need. Blocks depend on the kernel alone. So results do not depend on the number of threads. The
// parts of a product share the panels that more than one of them reads.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>

#include "cpu/execute.hpp"

namespace dmlop::cpu {

class Preparation {
 public:
  Preparation() = default;
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
  virtual ~Preparation() = default;
};

/// Kinds whose parts may share work.
template <typename Kind>
concept Prepares = std::same_as<Kind, ReduceKernel> || std::same_as<Kind, ScanKernel> ||
    std::same_as<Kind, TopKKernel> || std::same_as<Kind, UnpoolKernel> ||
    std::same_as<Kind, RecurrentKernel> || std::same_as<Kind, ProductKernel>;

/// Kinds that keep what they made of constant inputs (cpu/constant_inputs.hpp).
template <typename Kind>
concept KeepsConstants = std::same_as<Kind, ProductKernel>;

/// Computes what the parts of a kernel share; nothing where they share nothing.
std::unique_ptr<const Preparation> prepare(const ReduceKernel& kernel, Inputs inputs,
                                           unsigned threads);

/// The same, with constant inputs; null: none are known.
std::unique_ptr<const Preparation> prepare(const ProductKernel& kernel, Inputs inputs,
                                           unsigned threads, ConstantInputs* constants);

std::unique_ptr<const Preparation> prepare(const TopKKernel& kernel, Inputs inputs,
                                           unsigned threads);

std::unique_ptr<const Preparation> prepare(const RecurrentKernel& kernel, Inputs inputs,
                                           unsigned threads);

std::unique_ptr<const Preparation> prepare(const ScanKernel& kernel, Inputs inputs,
                                           unsigned threads);

std::unique_ptr<const Preparation> prepare(const UnpoolKernel& kernel, Inputs inputs,
                                           unsigned threads);

/// Elements of a block of a long row.
std::uint64_t block_elements();
/// So many rows keep all threads busy, each as a whole.
std::uint64_t enough_rows();

/// While one lives, blocks have so many elements, and any number of rows is cut into them: tests
/// see blocks in small tensors. Only one may exist at a time, and none while kernels run.
class SmallBlocks {
 public:
  explicit SmallBlocks(std::uint64_t elements);
  SmallBlocks(const SmallBlocks&) = delete;
  SmallBlocks& operator=(const SmallBlocks&) = delete;
  ~SmallBlocks();
};

}  // namespace dmlop::cpu
