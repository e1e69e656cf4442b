#include "ops/kernel.hpp"

namespace dmlop {
namespace {

template <typename Axis>
std::uint64_t product_of_extents(const std::vector<Axis>& axes) {
  std::uint64_t count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  return count;
}

}  // namespace

std::uint64_t IndexMapKernel::output_elements() const {
  std::uint64_t count = 1;
  for (const IndexMapAxis& axis : axes) count *= axis.extent;
  return count;
}

std::uint64_t JoinKernel::output_elements() const {
  std::uint64_t count = 0;
  for (const IndexMapKernel& part : parts) count += part.output_elements();
  return count;
}

std::uint64_t ProductKernel::column_count() const {
  if (windows.empty()) return columns;
  std::uint64_t count = 1;
  for (const ProductWindow& window : windows) count *= window.output_extent;
  return count;
}

std::uint64_t ProductKernel::sum_length() const {
  std::uint64_t length = depth;
  for (const ProductWindow& window : windows) length *= window.taps;
  return length;
}

std::uint64_t ProductKernel::output_elements() const {
  std::uint64_t count = rows * column_count();
  for (const std::uint64_t extent : batches) count *= extent;
  return count;
}

std::uint64_t RecurrentKernel::gates() const {
  return cell == RecurrentCell::rnn ? 1 : cell == RecurrentCell::gru ? 3 : 4;
}

std::uint64_t RecurrentKernel::output_elements() const {
  return output_rows() * directions.size() * batch * hidden;
}

std::uint64_t ReduceKernel::output_elements() const {
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < kept; ++i) count *= extents[i];
  return count;
}

std::uint64_t TopKKernel::output_elements() const {
  return axes.sequences() * k;
}

std::uint64_t GatherKernel::output_elements() const {
  return elements_of(axes);
}

std::uint64_t ScatterKernel::output_elements() const {
  return elements_of(outer) * product_of_extents(coordinates) * elements_of(inner);
}

std::uint64_t ScanKernel::output_elements() const {
  return axes.sequences() * axes.along.extent;
}

std::uint64_t NonzeroCountKernel::output_elements() const {
  return (elements_of(axes) + block - 1) / block;
}

std::uint64_t NonzeroKernel::output_elements() const {
  return elements_of(count.axes) * extents.size();
}

std::uint64_t BandKernel::output_elements() const {
  return elements_of(lines) * columns.extent;
}

std::uint64_t FoldKernel::output_elements() const {
  return elements_of(batches) * product_of_extents(axes);
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
