#include "ops/kernel.hpp"

namespace dmlop {
namespace {

// The answers of each kind, under names that no function of a whole Kernel has: a kind without one
// does not compile.
std::uint64_t elements_of(const IndexMapKernel& map) {
  std::uint64_t count = 1;
  for (const IndexMapAxis& axis : map.axes) count *= axis.extent;
  return count;
}
std::uint64_t elements_of(const LpPoolingKernel& pooling) {
  std::uint64_t count = pooling.batch_extents[0] * pooling.batch_extents[1];
  for (const PoolingAxis& axis : pooling.axes) count *= axis.output_extent;
  return count;
}

std::uint64_t elements_of(const JoinKernel& join) {
  std::uint64_t count = 0;
  for (std::size_t part = 0; part < join.parts.size(); ++part) count += join.part_elements(part);
  return count;
}
std::uint64_t elements_of(const TopKKernel& top) {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < top.axes.size(); ++i)
    count *= i == top.axis ? top.k : top.axes[i].extent;
  return count;
}

std::vector<std::size_t> element_sizes_of(const IndexMapKernel& map) {
  return {map.element_size};
}
std::vector<std::size_t> element_sizes_of(const LpPoolingKernel& pooling) {
  return {size_of(pooling.data_type)};
}
std::vector<std::size_t> element_sizes_of(const JoinKernel& join) {
  return {join.parts.front().element_size};
}
std::vector<std::size_t> element_sizes_of(const TopKKernel& top) {
  return {size_of(top.data_type), size_of(top.index_type)};
}

}  // namespace

std::uint64_t JoinKernel::part_elements(std::size_t part) const {
  return elements_of(parts[part]);
}

std::uint64_t output_elements(const Kernel& kernel) {
  return std::visit([](const auto& kind) { return elements_of(kind); }, kernel);
}

std::size_t output_count(const Kernel& kernel) {
  return std::visit([](const auto& kind) { return element_sizes_of(kind).size(); }, kernel);
}

std::size_t output_element_size(const Kernel& kernel, std::size_t output) {
  return std::visit([&](const auto& kind) { return element_sizes_of(kind).at(output); }, kernel);
}

}  // namespace dmlop
