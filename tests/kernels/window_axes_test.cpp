// Windows and interpolations on every instruction set of this machine. Many outputs of a row are
// computed together and with vectors, one alone is computed in plain loops: the bits must be the
// same.
#include "cpu/simd.hpp"
//
#include <doctest/doctest.h>

#include <cstring>
#include <limits>

#include "cpu/execute.hpp"
#include "end_of_page.hpp"
#include "random.hpp"
#include "simd_targets.hpp"
#include "tensor/half.hpp"

namespace dmlop::test::window_axes_test {
namespace {

constexpr std::uint64_t rows = 7;

std::uint64_t extent_about_vectors(Random& random) {
  const std::uint64_t power = std::uint64_t{1} << random.below(8);
  return random.one_in(8) ? random.from_to(1000, 2100) : power + random.below(power + 1);
}

Windows random_windows(Random& random, bool is_sum) {
  Windows windows;
  windows.size = random.from_to(1, 5);
  windows.stride = random.from_to(1, 3);
  windows.dilation = random.one_in(4) ? 2 : 1;
  windows.start_padding = random.below(3);
  if (is_sum) {
    windows.divisor = random.one_of<Divisor>(
        {Divisor::none, Divisor::elements_inside, Divisor::elements_and_padding});
  }
  return windows;
}

WindowAxis with_windows(std::uint64_t extent, std::uint64_t stride, const Windows& windows) {
  // Windows at the end reach beyond the input, and a few may lie behind it.
  const std::uint64_t outputs = (extent + windows.start_padding + 3) / windows.stride;
  return {
      .input_extent = extent, .output_extent = outputs, .input_stride = stride, .reach = windows};
}

WindowAxis with_interpolation(std::uint64_t extent, std::uint64_t stride, Random& random,
                              Sampling sampling) {
  const bool is_centered = random.one_in(2);
  const Interpolation interpolation{
      .sampling = sampling,
      .scale = random.one_of<float>({2, 2, 2, 3, 4, 1.5F, 1, 0.5F, 0.3F}),
      .input_offset = is_centered ? 0.5F : 0,
      .output_offset = is_centered ? -0.5F : 0};
  const auto outputs = static_cast<std::uint64_t>(static_cast<float>(extent) * interpolation.scale);
  return {.input_extent = extent,
          .output_extent = std::max<std::uint64_t>(1, outputs),
          .input_stride = stride,
          .reach = interpolation};
}

/// Rows of FLOAT32 or FLOAT16, with both zeros and infinity among their elements.
std::vector<std::byte> random_elements(DataType type, std::uint64_t count, bool has_nan,
                                       Random& random) {
  std::vector<std::byte> bytes(count * size_of(type));
  for (std::uint64_t i = 0; i < count; ++i) {
    double value = (static_cast<double>(random.below(1 << 20)) - 500000) / 999;
    if (random.one_in(16)) value = random.one_in(2) ? 0.0 : -0.0;
    if (random.one_in(64)) value = std::numeric_limits<double>::infinity();
    if (has_nan && random.one_in(8)) value = std::numeric_limits<double>::quiet_NaN();
    if (type == DataType::Float16) {
      const std::uint16_t half = half_from_double(value);
      std::memcpy(&bytes[i * sizeof half], &half, sizeof half);
    } else {
      const auto number = static_cast<float>(value);
      std::memcpy(&bytes[i * sizeof number], &number, sizeof number);
    }
  }
  return bytes;
}

/// Checks on every instruction set that all outputs together are what each of them is alone.
void check_together_and_alone(const WindowKernel& kernel, bool has_nan, Random& random) {
  const std::uint64_t elements = rows * kernel.axes.back().input_extent;
  const EndOfPage input(random_elements(kernel.data_type, elements, has_nan, random));
  const std::span<const std::byte> bytes = input.bytes();
  const std::uint64_t count = kernel.output_elements(), size = size_of(kernel.data_type);
  std::vector<std::byte> alone(count * size);
  for (std::uint64_t i = 0; i < count; ++i)
    cpu::execute(kernel, {&bytes, 1}, i, i + 1, &alone[i * size]);
  on_every_target([&] {
    std::vector<std::byte> together(count * size);
    cpu::execute(kernel, {&bytes, 1}, 0, count, together.data());
    CHECK(together == alone);
    cpu::execute_all(kernel, {&bytes, 1}, 1, together.data());
    CHECK(together == alone);
  });
}

TEST_CASE("windows: sums and maxima have the same bits, together and alone") {
  Random random(90);
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const WindowFunction function : {WindowFunction::sum, WindowFunction::maximum}) {
      const bool is_sum = function == WindowFunction::sum;
      for (int repeat = 0; repeat < 60; ++repeat) {
        const std::uint64_t width = extent_about_vectors(random);
        const WindowKernel kernel{
            .data_type = type,
            .function = function,
            .axes = {with_windows(rows, width, random_windows(random, is_sum)),
                     with_windows(width, 1, random_windows(random, is_sum))}};
        CAPTURE(width);
        check_together_and_alone(kernel, !is_sum, random);
      }
    }
  }
}

TEST_CASE("windows: interpolations have the same bits, together and alone") {
  Random random(91);
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const Sampling sampling : {Sampling::linear, Sampling::nearest, Sampling::ceiling}) {
      for (int repeat = 0; repeat < 60; ++repeat) {
        const std::uint64_t width = extent_about_vectors(random);
        const WindowKernel kernel{.data_type = type,
                                  .axes = {with_interpolation(rows, width, random, sampling),
                                           with_interpolation(width, 1, random, sampling)}};
        CAPTURE(width);
        check_together_and_alone(kernel, sampling != Sampling::linear, random);
      }
    }
  }
}

}  // namespace
}  // namespace dmlop::test::window_axes_test
