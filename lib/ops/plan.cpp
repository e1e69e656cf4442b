#include "ops/plan.hpp"

namespace dmlop {
namespace {

template <typename... Actions>
struct Overloaded : Actions... {
  using Actions::operator()...;
};
// Clang before 17 does not deduce this by itself.
template <typename... Actions>
Overloaded(Actions...) -> Overloaded<Actions...>;

}  // namespace

std::uint64_t output_elements(const Plan& plan) {
  return std::visit(Overloaded{
                        [](const IndexMapPlan& map) {
                          std::uint64_t count = 1;
                          for (const IndexMapAxis& axis : map.axes) count *= axis.extent;
                          return count;
                        },
                        [](const LpPoolingPlan& pooling) {
                          std::uint64_t count = pooling.batch_extents[0] * pooling.batch_extents[1];
                          for (const PoolingAxis& axis : pooling.axes) count *= axis.output_extent;
                          return count;
                        },
                    },
                    plan);
}

std::size_t output_element_size(const Plan& plan) {
  return std::visit(Overloaded{
                        [](const IndexMapPlan& map) { return map.element_size; },
                        [](const LpPoolingPlan& pooling) { return size_of(pooling.data_type); },
                    },
                    plan);
}

}  // namespace dmlop
