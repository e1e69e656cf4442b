#include "cpu/execute.hpp"

#include <algorithm>

#include "base/parallel.hpp"

namespace dmlop::cpu {
namespace {

// A thread takes so much output at a time: enough for the taking not to matter.
constexpr std::uint64_t part_bytes = std::uint64_t{1} << 20;

}  // namespace

void execute(const Plan& plan, Inputs inputs, std::uint64_t begin, std::uint64_t end,
             std::byte* output) {
  if (const auto* map = std::get_if<IndexMapPlan>(&plan)) {
    execute_index_map(*map, inputs, begin, end, output);
  } else if (const auto* pooling = std::get_if<LpPoolingPlan>(&plan)) {
    execute_lp_pooling(*pooling, inputs, begin, end, output);
  }
}

void execute_all(const Plan& plan, Inputs inputs, unsigned threads, std::byte* output) {
  const std::uint64_t size = output_element_size(plan);
  const std::uint64_t count = output_elements(plan);
  const std::uint64_t per_part = part_bytes / size;
  parallel_for(threads, (count + per_part - 1) / per_part, [&](unsigned, std::uint64_t part) {
    const std::uint64_t begin = part * per_part;
    execute(plan, inputs, begin, std::min(count, begin + per_part), output + begin * size);
  });
}

}  // namespace dmlop::cpu
