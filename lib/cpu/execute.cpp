#include "cpu/execute.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "cpu/elements.hpp"
#include "cpu/sequences.hpp"

namespace dmlop::cpu {
namespace {

// A thread takes so much output at a time: enough for the taking not to matter.
constexpr std::uint64_t part_bytes = std::uint64_t{1} << 20;

// Outputs from this size on are not kept in the caches, however large these are.
constexpr std::uint64_t streamed_bytes = std::uint64_t{16} << 20;

void execute_with(Stores stores, const Plan& plan, Inputs inputs, std::uint64_t begin,
                  std::uint64_t end, std::byte* to) {
  Output output(to, stores, output_element_size(plan));
  if (const auto* map = std::get_if<IndexMapPlan>(&plan)) {
    execute_index_map(*map, inputs, begin, end, output);
  } else if (const auto* pooling = std::get_if<LpPoolingPlan>(&plan)) {
    execute_lp_pooling(*pooling, inputs, begin, end, output);
  }
  output.finish();
}

}  // namespace

void execute(const Plan& plan, Inputs inputs, std::uint64_t begin, std::uint64_t end,
             std::byte* output) {
  execute_with(Stores::cached, plan, inputs, begin, end, output);
}

void execute_part(const Plan& plan, Inputs inputs, const Part& part, Stores stores,
                  std::byte* output, std::uint64_t pitch) {
  if (part.count > 1) {
    execute_sequences(std::get<IndexMapPlan>(plan), inputs, part, stores, output, pitch);
  } else {
    execute_with(stores, plan, inputs, part.begin, part.begin + part.length, output);
  }
  if (stores == Stores::streaming) finish_streams();
}

void execute_all(const Plan& plan, Inputs inputs, unsigned threads, std::byte* output) {
  const std::uint64_t size = output_element_size(plan);
  const Parts parts(plan, part_bytes);
  const Stores stores =
      output_elements(plan) * size < streamed_bytes ? Stores::cached : Stores::streaming;
  parallel_for(threads, parts.count(), [&](unsigned, std::uint64_t index) {
    const Part part = parts[index];
    execute_part(plan, inputs, part, stores, output + part.begin * size, part.step * size);
  });
}

}  // namespace dmlop::cpu
