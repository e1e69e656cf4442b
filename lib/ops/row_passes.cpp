#include "ops/row_passes.hpp"

#include <algorithm>
#include <array>

namespace dmlop {
namespace {

const ReduceKernel* reduction_at(const Plan& plan, std::size_t pass) {
  return pass < plan.passes.size() ? std::get_if<ReduceKernel>(&plan.passes[pass].kernel) : nullptr;
}
const ElementWiseKernel* element_wise_at(const Plan& plan, std::size_t pass) {
  return pass < plan.passes.size() ? std::get_if<ElementWiseKernel>(&plan.passes[pass].kernel)
                                   : nullptr;
}

/// The first and second reduction of rows, and what an element becomes by them.
struct Pattern {
  RowOperation operation;
  Expression expression;
  ReduceFunction function = ReduceFunction::sum;
  ReduceTerm term = ReduceTerm::value;
  ReduceFinish finish = ReduceFinish::none;
  bool has_second = false;
  ReduceTerm second_term = ReduceTerm::value;
  ReduceFinish second_finish = ReduceFinish::none;
};

constexpr std::array patterns{
    Pattern{RowOperation::softmax, Expression::softmax, ReduceFunction::maximum, ReduceTerm::value,
            ReduceFinish::none, true, ReduceTerm::exponential, ReduceFinish::none},
    Pattern{RowOperation::log_softmax, Expression::log_softmax, ReduceFunction::maximum,
            ReduceTerm::value, ReduceFinish::none, true, ReduceTerm::exponential,
            ReduceFinish::softmax_logarithm},
    Pattern{RowOperation::normalize, Expression::normalize, ReduceFunction::sum, ReduceTerm::value,
            ReduceFinish::mean, true, ReduceTerm::squared_difference, ReduceFinish::mean},
    Pattern{RowOperation::center, Expression::normalize, ReduceFunction::sum, ReduceTerm::value,
            ReduceFinish::mean},
    Pattern{RowOperation::normalize_about_0, Expression::normalize, ReduceFunction::sum,
            ReduceTerm::square, ReduceFinish::mean},
    Pattern{RowOperation::by_norm_1, Expression::divide_by_norm, ReduceFunction::sum,
            ReduceTerm::magnitude, ReduceFinish::none},
    Pattern{RowOperation::by_norm_2, Expression::divide_by_norm, ReduceFunction::sum,
            ReduceTerm::square, ReduceFinish::root},
};

bool is_constant(const ElementWiseInput& input, float value) {
  return input.constant && *input.constant == value;
}

bool is_reduction(const ReduceKernel* kernel, ReduceFunction function, ReduceTerm term,
                  ReduceFinish finish) {
  return kernel != nullptr && kernel->function == function && kernel->term == term &&
         kernel->finish == finish && kernel->output_type == DataType::Float32 &&
         !kernel->operands.front().is_position;
}

// Whether an element-wise pass reads x, its row's values and nothing else but constants, a scale
// and a bias.
bool reads_rows(const Pattern& pattern, const ElementWiseKernel& map, const Pass& pass,
                const std::vector<std::size_t>& slots) {
  if (map.input_scale || pass.reads.size() < slots.size()) return false;
  if (!std::equal(slots.begin(), slots.end(), pass.reads.begin())) return false;
  if (pattern.expression != Expression::normalize) return pass.reads.size() == slots.size();
  const bool has_mean = pattern.operation != RowOperation::normalize_about_0;
  const bool has_variance = pattern.operation != RowOperation::center;
  return (has_mean ? !map.inputs[1].constant : is_constant(map.inputs[1], 0)) &&
         (has_variance ? !map.inputs[2].constant : is_constant(map.inputs[2], 1)) &&
         is_constant(map.inputs[5], 0);
}

std::optional<RowPasses> match_of(const Pattern& pattern, const Plan& plan, std::size_t first) {
  const ReduceKernel* reduction = reduction_at(plan, first);
  if (!is_reduction(reduction, pattern.function, pattern.term, pattern.finish)) return {};
  const std::size_t map_pass = first + (pattern.has_second ? 2 : 1);
  const ElementWiseKernel* map = element_wise_at(plan, map_pass);
  if (map == nullptr || map->expression != pattern.expression) return {};
  const std::size_t x = plan.passes[first].reads.front();
  std::vector<std::size_t> slots{x, plan.passes[first].writes.front()};
  if (pattern.has_second) {
    const ReduceKernel* second = reduction_at(plan, first + 1);
    if (!is_reduction(second, ReduceFunction::sum, pattern.second_term, pattern.second_finish) ||
        plan.passes[first + 1].reads != slots)
      return {};
    slots.push_back(plan.passes[first + 1].writes.front());
  }
  if (!reads_rows(pattern, *map, plan.passes[map_pass], slots)) return {};
  for (std::size_t i = 1; i < slots.size(); ++i) {
    if (!is_forgotten(plan, slots[i], map_pass)) return {};
  }
  return RowPasses{pattern.operation, reduction, map, map_pass - first + 1};
}

}  // namespace

std::optional<RowPasses> row_passes(const Plan& plan, std::size_t first) {
  for (const Pattern& pattern : patterns) {
    if (const auto match = match_of(pattern, plan, first)) return match;
  }
  return {};
}

}  // namespace dmlop
