#include "ops/kernel.hpp"

namespace dmlop {

std::uint64_t IndexMapKernel::output_elements() const {
  std::uint64_t count = 1;
  for (const IndexMapAxis& axis : axes) count *= axis.extent;
  return count;
}

std::uint64_t LpPoolingKernel::output_elements() const {
  std::uint64_t count = batch_extents[0] * batch_extents[1];
  for (const PoolingAxis& axis : axes) count *= axis.output_extent;
  return count;
}

std::uint64_t JoinKernel::output_elements() const {
  std::uint64_t count = 0;
  for (const IndexMapKernel& part : parts) count += part.output_elements();
  return count;
}

std::uint64_t ReduceKernel::output_elements() const {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < kept; ++i) count *= extents[i];
  return count;
}

std::uint64_t TopKKernel::output_elements() const {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) count *= i == axis ? k : axes[i].extent;
  return count;
}

std::uint64_t output_elements(const Kernel& kernel) {
  return std::visit([](const auto& kind) { return kind.output_elements(); }, kernel);
}

std::size_t output_count(const Kernel& kernel) {
  return std::visit([](const auto& kind) { return kind.output_element_sizes().size(); }, kernel);
}

std::size_t output_element_size(const Kernel& kernel, std::size_t output) {
  return std::visit([&](const auto& kind) { return kind.output_element_sizes().at(output); },
                    kernel);
}

}  // namespace dmlop
