// Parts of a product that share panels (cpu/shared_panels.hpp) compute the same bytes as parts of
// which each packs its own.
#include "cpu/shared_panels.hpp"

#include "simd_targets.hpp"
//

#include <doctest/doctest.h>

#include <algorithm>

#include "cpu/execute.hpp"
#include "cpu/parts.hpp"
#include "random.hpp"
#include "rough_numbers.hpp"

namespace dmlop::test::shared_panels_test {
namespace {

/// Of a side, whether it has the same elements at every batch.
struct SameAtBatches {
  bool left, right;
};

/// A product of random extents that are large enough for several parts along both sides, or along
/// the one that is not said to be short.
ProductKernel random_product(DataType type, const SameAtBatches& same, Random& random) {
  ProductKernel kernel{.output_type = type,
                       .batches = {2, 1 + random.below(2)},
                       .rows = 385 + random.below(40),
                       .columns = 513 + random.below(100),
                       .depth = 257 + random.below(40)};
  const auto strides = [&](bool is_same, std::uint64_t elements) {
    if (is_same) return std::vector<std::uint64_t>{0, 0};
    return std::vector<std::uint64_t>{elements * kernel.batches[1], elements};
  };
  kernel.left = {.data_type = type,
                 .batch_strides = strides(same.left, kernel.rows * kernel.depth),
                 .row_stride = kernel.depth};
  kernel.right = {.data_type = type,
                  .batch_strides = strides(same.right, kernel.depth * kernel.columns),
                  .column_stride = 1};
  kernel.left_depth_stride = 1;
  kernel.right_depth_stride = kernel.columns;
  return kernel;
}

/// A convolution of two images in two groups, whose windows reach too far to be read in place.
ProductKernel random_convolution(Random& random) {
  const std::uint64_t extent = 40 + random.below(9), channels = 60 + random.below(9);
  ProductKernel kernel{.batches = {2, 2}, .rows = 385 + random.below(40), .depth = channels};
  const std::uint64_t image = extent * extent;
  for (const std::uint64_t stride : {extent, std::uint64_t{1}})
    kernel.windows.push_back({.output_extent = extent,
                              .computed = extent,
                              .taps = 2,
                              .left_stride = stride == 1 ? 1U : 2U,
                              .input_extent = extent,
                              .input_stride = stride,
                              .tap_step = 33,
                              .offset = -17});
  kernel.left = {.data_type = DataType::Float32,
                 .batch_strides = {0, kernel.rows * channels * 4},
                 .row_stride = channels * 4};
  kernel.right = {.data_type = DataType::Float32,
                  .batch_strides = {2 * channels * image, channels * image}};
  kernel.left_depth_stride = 4;
  kernel.right_depth_stride = image;
  return kernel;
}

/// The outputs with what prepare() gives, or without.
template <typename T>
std::vector<T> outputs_of(const ProductKernel& product, cpu::Inputs inputs,
                          const cpu::Preparation* prepared) {
  const Kernel kernel(product);
  std::vector<T> outputs(product.output_elements(), T{1000});
  const cpu::Parts parts(kernel, cpu::part_bytes);
  for (std::uint64_t i = 0; i < parts.count(); ++i) {
    const cpu::Part part = parts[i];
    const cpu::Destination to{reinterpret_cast<std::byte*>(&outputs[part.begin]),
                              part.step * sizeof(T)};
    cpu::execute_part(kernel, inputs, prepared, part, cpu::Stores::cached, {&to, 1});
  }
  return outputs;
}

/// Number is what elements are multiplied as.
template <typename T, typename Number>
void check_shared(const ProductKernel& kernel, Random& random) {
  const auto elements = [&](const ProductInput& side, std::uint64_t of_batch) {
    std::uint64_t count = of_batch;
    for (std::size_t i = 0; i < kernel.batches.size(); ++i)
      count += (kernel.batches[i] - 1) * side.batch_strides[i];
    return count;
  };
  const auto left =
      rough_numbers<T>(elements(kernel.left, kernel.rows * kernel.left.row_stride), random);
  const auto right =
      rough_numbers<T>(elements(kernel.right, kernel.depth * kernel.right_depth_stride), random);
  const std::vector<std::span<const std::byte>> inputs{std::as_bytes(std::span(left)),
                                                       std::as_bytes(std::span(right))};
  on_every_target([&] {
    const auto alone = outputs_of<T>(kernel, inputs, nullptr);
    for (const unsigned threads : {1U, 3U}) {
      const cpu::Prepared prepared = cpu::prepare(Kernel(kernel), inputs, threads);
      REQUIRE(prepared != nullptr);
      const auto& shared = static_cast<const cpu::SharedPanels<Number>&>(*prepared);
      CHECK(shared.left().are_shared());
      CHECK(shared.right().are_shared());
      CHECK((outputs_of<T>(kernel, inputs, prepared.get()) == alone));
    }
    // A part that begins within a panel.
    const std::uint64_t columns = kernel.column_count(), begin = columns + random.below(columns);
    std::vector<T> some(2 * columns, T{1000});
    cpu::execute(Kernel(kernel), inputs, begin, begin + some.size(),
                 reinterpret_cast<std::byte*>(some.data()));
    CHECK(std::equal(some.begin(), some.end(), alone.begin() + static_cast<std::ptrdiff_t>(begin)));
  });
}

}  // namespace

TEST_CASE("shared panels: products, whose batches have one side or none of their own") {
  Random random(71);
  for (const SameAtBatches same : {SameAtBatches{true, false}, {false, true}, {false, false}}) {
    CAPTURE(same.left);
    CAPTURE(same.right);
    check_shared<float, float>(random_product(DataType::Float32, same, random), random);
  }
  check_shared<std::int32_t, double>(random_product(DataType::Int32, {true, false}, random),
                                     random);
}

TEST_CASE("shared panels: convolutions of several images and groups") {
  Random random(72);
  check_shared<float, float>(random_convolution(random), random);
}

TEST_CASE("shared panels: nothing is shared where only one part reads it") {
  Random random(73);
  ProductKernel kernel = random_product(DataType::Float32, {false, false}, random);
  kernel.rows = 1;
  const auto left = rough_numbers<float>(kernel.batches[0] * kernel.batches[1] * 500, random);
  const auto right = rough_numbers<float>(4 * 300 * 620, random);
  const std::vector<std::span<const std::byte>> inputs{std::as_bytes(std::span(left)),
                                                       std::as_bytes(std::span(right))};
  kernel.columns = 32;
  CHECK(cpu::prepare(Kernel(kernel), inputs, 2) == nullptr);
}

}  // namespace dmlop::test::shared_panels_test
