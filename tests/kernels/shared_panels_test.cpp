// Parts of a product that share panels (cpu/shared_panels.hpp) compute the same bytes as parts of
// which each packs its own.
#include "cpu/shared_panels.hpp"

#include "simd_targets.hpp"
//

#include <doctest/doctest.h>

#include <algorithm>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

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
      CHECK(shared.left() != nullptr);
      CHECK(shared.right() != nullptr);
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

/// The panels of a side that prepare() gives; null: each part packs its own.
const float* panels_of(const cpu::Prepared& prepared, bool is_left) {
  if (!prepared) return nullptr;
  const auto& shared = static_cast<const cpu::SharedPanels<float>&>(*prepared);
  const cpu::SidePanels<float>* side = is_left ? shared.left() : shared.right();
  return side != nullptr ? side->at(0, 0, 0, 1) : nullptr;
}

/// A product of two packed matrices, the right one transposed or not.
ProductKernel small_product(std::uint64_t rows, std::uint64_t columns, std::uint64_t depth,
                            bool is_transposed = false) {
  ProductKernel kernel{.batches = {1}, .rows = rows, .columns = columns, .depth = depth};
  kernel.left = {.data_type = DataType::Float32, .batch_strides = {0}, .row_stride = depth};
  kernel.left_depth_stride = 1;
  kernel.right = {.data_type = DataType::Float32,
                  .batch_strides = {0},
                  .column_stride = is_transposed ? depth : 1};
  kernel.right_depth_stride = is_transposed ? 1 : columns;
  return kernel;
}

/// The two inputs of such a product.
struct Matrices {
  Matrices(const ProductKernel& kernel, Random& random)
      : left(rough_numbers<float>(kernel.rows * kernel.depth, random)),
        right(rough_numbers<float>(kernel.columns * kernel.depth, random)) {}
  std::vector<std::span<const std::byte>> inputs() const {
    return {std::as_bytes(std::span(left)), std::as_bytes(std::span(right))};
  }

  std::vector<float> left, right;
};

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

TEST_CASE("shared panels: those of constant inputs are packed in the first run, and used in all") {
  Random random(74);
  for (const bool is_left : {true, false}) {
    for (const std::uint64_t rows : {std::uint64_t{7}, std::uint64_t{400}}) {
      CAPTURE(is_left);
      CAPTURE(rows);
      const ProductKernel kernel = small_product(rows, 1100, 300);
      const Matrices first(kernel, random), second(kernel, random);
      cpu::ConstantInputs constants({is_left, !is_left});
      const auto prepare = [&](const Matrices& matrices) {
        return cpu::prepare(Kernel(kernel), matrices.inputs(), 2, &constants);
      };
      const cpu::Prepared prepared = prepare(first), again = prepare(second);
      REQUIRE(panels_of(prepared, is_left) != nullptr);
      CHECK(panels_of(again, is_left) == panels_of(prepared, is_left));
      // The constant of the first run, and what the second run gives it.
      Matrices both = second;
      (is_left ? both.left : both.right) = is_left ? first.left : first.right;
      CHECK((outputs_of<float>(kernel, second.inputs(), again.get()) ==
             outputs_of<float>(kernel, both.inputs(), nullptr)));
    }
  }
}

TEST_CASE("shared panels: a small product keeps those of its weights, and no others") {
  Random random(75);
  const ProductKernel kernel = small_product(9, 20, 30);
  const Matrices matrices(kernel, random);
  cpu::ConstantInputs constants({true, false}), none({false, false});
  const cpu::Prepared prepared = cpu::prepare(Kernel(kernel), matrices.inputs(), 2, &constants);
  CHECK(panels_of(prepared, true) != nullptr);
  CHECK(panels_of(prepared, false) == nullptr);
  CHECK(cpu::prepare(Kernel(kernel), matrices.inputs(), 2, &none) == nullptr);
  CHECK(cpu::prepare(Kernel(kernel), matrices.inputs(), 2) == nullptr);
}

TEST_CASE("shared panels: what does not pay is not kept") {
  Random random(76);
  const auto keeps = [&](ProductKernel kernel, bool is_left) {
    const Matrices matrices(kernel, random);
    const std::vector<float> zeros(std::max(kernel.rows, kernel.columns));
    auto inputs = matrices.inputs();
    if (kernel.left_zero || kernel.right_zero) inputs.push_back(std::as_bytes(std::span(zeros)));
    cpu::ConstantInputs constants({is_left, !is_left, false});
    const auto prepared = cpu::prepare(Kernel(kernel), inputs, 1, &constants);
    return constants.find(is_left ? 0 : 1) != nullptr;
  };
  // Rows of weights that are multiplied by many columns.
  CHECK(keeps(small_product(30, 4096, 5), true));
  CHECK_FALSE(keeps(small_product(30, 4097, 5), true));
  CHECK(keeps(small_product(4096, 30, 5), false));
  CHECK_FALSE(keeps(small_product(4097, 30, 5), false));
  // Columns that a few rows read where they are.
  CHECK_FALSE(keeps(small_product(4, 600, 50), false));
  CHECK(keeps(small_product(5, 600, 50), false));
  CHECK(keeps(small_product(4, 600, 50, true), false));
  ProductKernel halves = small_product(4, 600, 50);
  halves.right.data_type = DataType::Float16;
  CHECK(keeps(halves, false));
  // Panels from which zero points are subtracted.
  ProductKernel kernel = small_product(30, 40, 5);
  CHECK(keeps(kernel, true));
  kernel.left_zero = {.data_type = DataType::Float32, .batch_strides = {0}, .row_stride = 1};
  CHECK_FALSE(keeps(kernel, true));
  kernel.left_zero.reset();
  CHECK(keeps(kernel, false));
  kernel.right_zero = {.data_type = DataType::Float32, .batch_strides = {0}, .column_stride = 1};
  CHECK_FALSE(keeps(kernel, false));
}

TEST_CASE("shared panels: an element is used in each batch that reads it") {
  Random random(77);
  // Both batches have the same rows, and columns of their own.
  const auto kernel_of = [](std::uint64_t columns) {
    ProductKernel kernel = small_product(30, columns, 5);
    kernel.batches = {2};
    kernel.right.batch_strides = {5 * columns};
    return kernel;
  };
  const auto keeps = [&](std::uint64_t columns, bool is_left) {
    const ProductKernel kernel = kernel_of(columns);
    Matrices matrices(kernel, random);
    matrices.right = rough_numbers<float>(2 * 5 * columns, random);
    cpu::ConstantInputs constants({is_left, !is_left});
    const auto prepared = cpu::prepare(Kernel(kernel), matrices.inputs(), 1, &constants);
    return constants.find(is_left ? 0 : 1) != nullptr;
  };
  CHECK(keeps(2048, true));
  CHECK_FALSE(keeps(2049, true));
  CHECK(keeps(2049, false));
  // Of two batches, the second one finds what the first one packed.
  const ProductKernel kernel = kernel_of(40);
  CHECK(cpu::SidePanels<float>(kernel, kernel.left, 30, 8).batches() ==
        std::vector<std::uint64_t>{0});
  CHECK(cpu::SidePanels<float>(kernel, kernel.right, 40, 8).batches() ==
        std::vector<std::uint64_t>{0, 1});
  Matrices matrices(kernel, random);
  matrices.right = rough_numbers<float>(2 * 5 * 40, random);
  cpu::ConstantInputs none({false, false});
  const auto prepared = cpu::prepare(Kernel(kernel), matrices.inputs(), 1, &none);
  CHECK(panels_of(prepared, true) != nullptr);
  CHECK(panels_of(prepared, false) == nullptr);
}

TEST_CASE("shared panels: all that is kept has a gibibyte at most") {
  constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
  CHECK(cpu::KeptBytes::make(gibibyte + 1) == nullptr);
  auto most = cpu::KeptBytes::make(gibibyte - 100);
  REQUIRE(most != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(most->data()) % 64 == 0);
  auto rest = cpu::KeptBytes::make(100);
  CHECK(rest != nullptr);
  CHECK(cpu::KeptBytes::make(1) == nullptr);
  most.reset();
  CHECK(cpu::KeptBytes::make(gibibyte - 100) != nullptr);
}

#if !defined(_WIN32)
TEST_CASE("shared panels: a forked child may keep as much as its parent") {
  const auto most = cpu::KeptBytes::make(std::uint64_t{1} << 30);
  REQUIRE(most != nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(cpu::KeptBytes::make(1000) != nullptr ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(cpu::KeptBytes::make(1) == nullptr);
}
#endif

}  // namespace dmlop::test::shared_panels_test
