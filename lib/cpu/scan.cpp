// Running sums and products on the CPU. Sequences that stand alone are computed a few at a time
// (cpu/scan_alone-inl.hpp): where machines have vectors of four doubles, with an element of each of
// four sequences in one. Those that stand beside each other are computed all together
// (cpu/scan_beside-inl.hpp).
//
// The order is that of the elements, so that every instruction set gives the same bits. Few long
// sequences are cut into blocks (cpu/scan_blocks.hpp), each of which begins with what those before
// it come to.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/elements.hpp"
#include "cpu/kinds.hpp"
#include "cpu/scan_blocks.hpp"
#include "cpu/simd_small.hpp"
#include "cpu/walk.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/scan.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/scan_alone-inl.hpp"
#include "cpu/scan_beside-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

template <typename Value, bool is_product>
void scan_part(const ScanKernel& kernel, Inputs inputs, const Part& part, Stores stores,
               Destinations outputs) {
  const std::uint64_t extent = kernel.axes.along.extent, inner = elements_of(kernel.axes.inner);
  if (inner == 1 && extent > 1) {
    AloneScan<Value, is_product> scan(kernel, inputs, stores);
    return scan.run(part.begin / extent, part.length / extent, outputs.front().to);
  }
  BesideScan<Value, is_product> scan(kernel, inputs, stores);
  for_each_sequences(part, extent, inner, std::array{size_of(kernel.data_type)}, outputs,
                     [&](std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                         Destinations to) { scan.run(outer, begin, end, to.front()); });
}

/// Calls run(outer, column, columns, block, count, to) for blocks [block, block + count) of
/// sequences side by side: those of a part, or of each of its outer indices.
template <typename Run>
void for_each_run_of_blocks(const ScanKernel& kernel, const ScanTask& task, Run&& run) {
  const ScanBlocks& blocks = *task.blocks;
  const std::uint64_t extent = kernel.axes.along.extent, size = size_of(kernel.data_type);
  const Part& part = task.part;
  const std::uint64_t whole = extent * blocks.inner, outer = part.begin / whole;
  if (part.count == 1 && part.length > blocks.inner) {
    for (std::uint64_t i = 0; i < part.length / whole; ++i)
      run(outer + i, 0, blocks.inner, 0, blocks.count,
          Destination{task.to.to + i * whole * size, blocks.inner * size});
    return;
  }
  const std::uint64_t first = part.begin % whole / blocks.inner / blocks.length;
  run(outer, part.begin % blocks.inner, part.length, first, divided_up(part.count, blocks.length),
      task.to);
}

template <typename Value, bool is_product>
HWY_NOINLINE void scan_blocks_alone(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  const ScanBlocks& blocks = *task.blocks;
  AloneScan<Value, is_product> scan(kernel, inputs, task.stores);
  for_each_run_of_blocks(kernel, task,
                         [&](std::uint64_t sequence, std::uint64_t, std::uint64_t,
                             std::uint64_t block, std::uint64_t count, const Destination& to) {
                           scan.run_blocks(sequence, blocks, block, count,
                                           task.starts + sequence * blocks.count, to.to);
                         });
}

template <typename Value, bool is_product>
HWY_NOINLINE void scan_blocks_beside(const ScanKernel& kernel, Inputs inputs,
                                     const ScanTask& task) {
  const ScanBlocks& blocks = *task.blocks;
  const std::uint64_t sequences = blocks.inner * blocks.outer;
  BesideScan<Value, is_product> scan(kernel, inputs, task.stores);
  for_each_run_of_blocks(kernel, task,
                         [&](std::uint64_t outer, std::uint64_t column, std::uint64_t columns,
                             std::uint64_t block, std::uint64_t count, Destination to) {
                           for (std::uint64_t b = block; b < block + count; ++b) {
                             scan.run_block(
                                 outer, column, column + columns, blocks, b,
                                 task.starts + b * sequences + outer * blocks.inner + column, to);
                             to.to += blocks.length * to.pitch;
                           }
                         });
}

template <typename Value, bool is_product>
void add_up_block(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  if (task.blocks->inner == 1) {
    *task.totals = AloneScan<Value, is_product>(kernel, inputs, task.stores)
                       .add_up(task.outer, *task.blocks, task.block);
  } else {
    BesideScan<Value, is_product>(kernel, inputs, task.stores)
        .add_up(task.outer, task.begin, task.end, *task.blocks, task.block, task.totals);
  }
}

template <typename Value, bool is_product>
void scan_task(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  switch (task.kind) {
    case ScanTask::Kind::whole:
      return scan_part<Value, is_product>(kernel, inputs, task.part, task.stores, {&task.to, 1});
    case ScanTask::Kind::add_up:
      return add_up_block<Value, is_product>(kernel, inputs, task);
    case ScanTask::Kind::blocks:
      if (task.blocks->inner == 1)
        return scan_blocks_alone<Value, is_product>(kernel, inputs, task);
      return scan_blocks_beside<Value, is_product>(kernel, inputs, task);
  }
}

template <typename Value>
void scan_values(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  if (kernel.is_product) return scan_task<Value, true>(kernel, inputs, task);
  scan_task<Value, false>(kernel, inputs, task);
}

void RunScan(const ScanKernel& kernel, Inputs inputs, const ScanTask& task) {
  if (is_floating(kernel.data_type)) return scan_values<double>(kernel, inputs, task);
  if (size_of(kernel.data_type) < 8) return scan_values<std::uint32_t>(kernel, inputs, task);
  scan_values<std::uint64_t>(kernel, inputs, task);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

namespace {

// What each block of each sequence begins with. Those of a sequence that stands alone follow each
// other; sequences beside each other do in a block.
struct ScanStarts : Preparation {
  ScanStarts(const ScanBlocks& cut)
      : blocks(cut),
        memory(cut.count * cut.inner * cut.outer * sizeof(ScanStart), "the blocks of sequences") {}

  ScanStart* starts() { return reinterpret_cast<ScanStart*>(memory.data()); }
  const ScanStart* starts() const { return reinterpret_cast<const ScanStart*>(memory.data()); }

  ScanBlocks blocks;
  Buffer memory;
};

}  // namespace

PartShape part_shape(const ScanKernel& scan, std::uint64_t bytes) {
  const std::uint64_t extent = scan.axes.along.extent;
  if (const auto blocks = blocks_of(scan))
    return {.blocks = Blocks{.ranges = blocks->length * blocks->together,
                             .inner = blocks->inner,
                             .length = blocks->columns,
                             .of = extent}};
  return sequences_shape(extent, elements_of(scan.axes.inner), size_of(scan.data_type), bytes);
}

std::unique_ptr<const Preparation> prepare(const ScanKernel& kernel, Inputs inputs,
                                           unsigned threads) {
  const auto blocks = blocks_of(kernel);
  if (!blocks) return nullptr;
  auto all = std::make_unique<ScanStarts>(*blocks);
  ScanStart* starts = all->starts();
  const bool is_alone = blocks->inner == 1;
  const std::uint64_t sequences = blocks->inner * blocks->outer;
  parallel_for(threads, blocks->outer * blocks->count, [&](unsigned, std::uint64_t index) {
    const std::uint64_t outer = index / blocks->count, block = index % blocks->count;
    DMLOP_BEST_SIMD(RunScan)
    (kernel, inputs,
     {.kind = ScanTask::Kind::add_up,
      .blocks = &*blocks,
      .outer = outer,
      .end = blocks->inner,
      .block = block,
      .totals = starts + (is_alone ? index : block * sequences + outer * blocks->inner)});
  });
  // What all before a block come to, in place of what it comes to itself.
  in_pieces(sequences, blocks->count * 16, [&](std::uint64_t s, std::uint64_t end) {
    for (; s < end; ++s) {
      ScanStart so_far = nothing_of(kernel);
      for (std::uint64_t i = 0; i < blocks->count; ++i) {
        const std::uint64_t block = kernel.from_end ? blocks->count - 1 - i : i;
        ScanStart& start = starts[is_alone ? s * blocks->count + block : block * sequences + s];
        const ScanStart next = joined(kernel, so_far, start);
        start = std::exchange(so_far, next);
      }
    }
  });
  return all;
}

void run_part(const ScanKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores stores, Destinations outputs) {
  ScanTask task{.part = part, .stores = stores, .to = outputs.front()};
  if (const auto* all = static_cast<const ScanStarts*>(prepared)) {
    task.kind = ScanTask::Kind::blocks;
    task.blocks = &all->blocks;
    task.starts = all->starts();
  }
  DMLOP_BEST_SIMD(RunScan)(kernel, inputs, task);
}

}  // namespace dmlop::cpu
#endif
