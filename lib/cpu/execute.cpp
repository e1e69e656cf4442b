#include "cpu/execute.hpp"

namespace dmlop::cpu {

void execute(const Plan& plan, Inputs inputs, std::uint64_t begin, std::uint64_t end,
             std::byte* output) {
  if (const auto* map = std::get_if<IndexMapPlan>(&plan)) {
    execute_index_map(*map, inputs, begin, end, output);
  } else if (const auto* pooling = std::get_if<LpPoolingPlan>(&plan)) {
    execute_lp_pooling(*pooling, inputs, begin, end, output);
  }
}

}  // namespace dmlop::cpu
