// Convolutions whose columns are read in the padded input (cpu/direct_columns.hpp), and those of
// few channels (cpu/window_sums.hpp), against plain loops over small whole numbers, whose sums have
// no error.
#include "simd_targets.hpp"
//

#include <doctest/doctest.h>

#include <algorithm>

#include "cpu/direct_columns.hpp"
#include "cpu/execute.hpp"
#include "cpu/window_sums.hpp"
#include "end_of_page.hpp"
#include "random.hpp"

namespace dmlop::test::direct_columns_test {
namespace {

std::vector<float> small_numbers(std::size_t count, Random& random) {
  std::vector<float> numbers(count);
  for (float& number : numbers) number = static_cast<float>(random.below(17)) - 8;
  return numbers;
}

/// A spatial axis of a convolution whose windows may reach beyond the input on both sides.
ProductWindow random_axis(Random& random, std::uint64_t extent_most) {
  ProductWindow axis{.input_extent = 1 + random.below(extent_most)};
  axis.taps = 1 + random.below(4);
  axis.tap_step = 1 + static_cast<std::int64_t>(random.below(3));
  axis.step = 1 + static_cast<std::int64_t>(random.below(3));
  axis.offset = -static_cast<std::int64_t>(random.below(5));
  if (random.below(4) == 0) {  // taps in the other order
    axis.offset += static_cast<std::int64_t>(axis.taps - 1) * axis.tap_step;
    axis.tap_step = -axis.tap_step;
  }
  axis.output_extent = axis.computed = 1 + random.below(extent_most);
  return axis;
}

ProductKernel random_kernel(Random& random) {
  ProductKernel kernel{.rows = 1 + random.below(20),
                       .left = {.data_type = DataType::Float32},
                       .right = {.data_type = DataType::Float32},
                       .depth = 1 + random.below(random.below(3) == 0 ? 80 : 5)};
  const std::size_t rank = 1 + random.below(3);
  std::uint64_t input = 1, taps = 1;
  for (std::size_t i = 0; i < rank; ++i)
    kernel.windows.push_back(random_axis(random, i + 1 == rank ? 40 : 9));
  for (std::size_t i = rank; i-- > 0;) {
    kernel.windows[i].input_stride = input;
    kernel.windows[i].left_stride = taps;
    input *= kernel.windows[i].input_extent;
    taps *= kernel.windows[i].taps;
  }
  kernel.right_depth_stride = input;
  kernel.left_depth_stride = taps;
  kernel.left.row_stride = taps * kernel.depth;
  if (random.below(2) == 0)
    kernel.added = ProductInput{.data_type = DataType::Float32, .row_stride = 1};
  return kernel;
}

/// The sum of a window: axes from `axis` on, with the weights and the input at these offsets.
double window_sum(const ProductKernel& kernel, std::size_t axis,
                  const std::vector<std::uint64_t>& at, const float* weights, const float* input) {
  if (axis == kernel.windows.size()) return double{*weights} * double{*input};
  const ProductWindow& window = kernel.windows[axis];
  double sum = 0;
  for (std::uint64_t tap = 0; tap < window.taps; ++tap) {
    const std::int64_t source = static_cast<std::int64_t>(at[axis]) * window.step +
                                static_cast<std::int64_t>(tap) * window.tap_step + window.offset;
    if (source < 0 || source >= static_cast<std::int64_t>(window.input_extent)) continue;
    sum += window_sum(kernel, axis + 1, at, weights + tap * window.left_stride,
                      input + static_cast<std::uint64_t>(source) * window.input_stride);
  }
  return sum;
}

std::vector<float> expected_outputs(const ProductKernel& kernel, const std::vector<float>& weights,
                                    const std::vector<float>& input,
                                    const std::vector<float>& added) {
  std::vector<float> outputs;
  for (std::uint64_t row = 0; row < kernel.rows; ++row) {
    for (std::uint64_t column = 0; column < kernel.column_count(); ++column) {
      std::vector<std::uint64_t> at(kernel.windows.size());
      for (std::uint64_t i = at.size(), rest = column; i-- > 0;
           rest /= kernel.windows[i].output_extent)
        at[i] = rest % kernel.windows[i].output_extent;
      double sum = kernel.added ? added[row] : 0;
      for (std::uint64_t c = 0; c < kernel.depth; ++c)
        sum += window_sum(kernel, 0, at,
                          &weights[row * kernel.left.row_stride + c * kernel.left_depth_stride],
                          &input[c * kernel.right_depth_stride]);
      outputs.push_back(static_cast<float>(sum));
    }
  }
  return outputs;
}

}  // namespace

TEST_CASE("direct columns: all steps, taps, paddings and dimensions, at the end of a page") {
  Random random(17);
  unsigned direct = 0, summed = 0, packed = 0;
  for (int i = 0; i < 400; ++i) {
    const ProductKernel kernel = random_kernel(random);
    CAPTURE(i);
    CAPTURE(kernel.rows);
    CAPTURE(kernel.depth);
    (cpu::sums_windows(kernel) ? summed : cpu::reads_columns_directly(kernel) ? direct : packed)++;
    const auto weights = small_numbers(kernel.rows * kernel.left.row_stride, random);
    const auto input = small_numbers(kernel.depth * kernel.right_depth_stride, random);
    const auto added = small_numbers(kernel.rows, random);
    const auto expected = expected_outputs(kernel, weights, input, added);
    const EndOfPage weights_at_end(std::as_bytes(std::span(weights)));
    const EndOfPage input_at_end(std::as_bytes(std::span(input)));
    std::vector<std::span<const std::byte>> inputs{weights_at_end.bytes(), input_at_end.bytes()};
    if (kernel.added) inputs.push_back(std::as_bytes(std::span(added)));
    std::vector<float> outputs(expected.size(), 1000);
    on_every_target([&] {
      cpu::execute_all(Kernel(kernel), inputs, 2, reinterpret_cast<std::byte*>(outputs.data()));
      CHECK((outputs == expected));
    });
    // A part that begins and ends within rows of windows.
    const std::uint64_t begin = random.below(expected.size());
    const std::uint64_t end = begin + 1 + random.below(expected.size() - begin);
    std::vector<float> part(end - begin, 1000);
    cpu::execute(Kernel(kernel), inputs, begin, end, reinterpret_cast<std::byte*>(part.data()));
    CHECK(std::equal(part.begin(), part.end(),
                     expected.begin() + static_cast<std::ptrdiff_t>(begin)));
  }
  CHECK(direct > 100);
  CHECK(summed > 20);
  CHECK(packed > 20);
}

TEST_CASE("direct columns: images that take several blocks of rows, and of weights") {
  Random random(18);
  for (const std::uint64_t width : {31, 130, 500}) {
    for (const std::uint64_t rows : {7, 500}) {
      ProductKernel kernel{.rows = rows,
                           .left = {.data_type = DataType::Float32, .row_stride = 9},
                           .right = {.data_type = DataType::Float32}};
      kernel.windows = {{.output_extent = 40,
                         .computed = 40,
                         .taps = 3,
                         .left_stride = 3,
                         .input_extent = 40,
                         .input_stride = width,
                         .offset = -1},
                        {.output_extent = width,
                         .computed = width,
                         .taps = 3,
                         .left_stride = 1,
                         .input_extent = width,
                         .input_stride = 1,
                         .offset = -1}};
      kernel.right_depth_stride = 40 * width;
      kernel.left_depth_stride = 9;
      CHECK((rows > 7 || cpu::reads_columns_directly(kernel)));
      const auto weights = small_numbers(rows * 9, random);
      const auto input = small_numbers(40 * width, random);
      const std::vector<std::span<const std::byte>> inputs{std::as_bytes(std::span(weights)),
                                                           std::as_bytes(std::span(input))};
      std::vector<float> outputs(rows * 40 * width);
      cpu::execute_all(Kernel(kernel), inputs, 3, reinterpret_cast<std::byte*>(outputs.data()));
      CHECK((outputs == expected_outputs(kernel, weights, input, {})));
    }
  }
}

}  // namespace dmlop::test::direct_columns_test
