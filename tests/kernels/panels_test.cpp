// The SIMD parts of products and of softmax on every instruction set that this machine has.
#include "simd_targets.hpp"
//
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu/exponentials.hpp"
#include "cpu/panels.hpp"
#include "cpu/rounding.hpp"
#include "random.hpp"
#include "reference/number.hpp"
#include "rough_numbers.hpp"

namespace dmlop::test::panels_test {
namespace {

std::size_t whole(std::size_t count, std::size_t width) {
  return (count + width - 1) / width * width;
}

/// Panels of `width` lines of small whole numbers; element k of line i is at(i, k).
template <typename T>
struct Panels {
  std::size_t width, depth;
  std::vector<T> numbers;

  Panels(std::size_t lines, std::size_t panel_width, std::size_t sum, Random& random)
      : width(panel_width), depth(sum), numbers(whole(lines, panel_width) * sum) {
    for (T& number : numbers) number = static_cast<T>(random.below(17)) - 8;
  }
  T at(std::size_t line, std::size_t k) const {
    return numbers[line / width * width * depth + k * width + line % width];
  }
};

template <typename T>
void check_panels(std::size_t rows, std::size_t columns, std::size_t depth, Random& random) {
  const Panels<T> left(rows, cpu::panel_rows(), depth, random);
  const Panels<T> right(columns, cpu::panel_columns<T>(), depth, random);
  const std::size_t pitch = whole(columns, right.width) + right.width;
  std::vector<double> sums(whole(rows, cpu::panel_rows()) * pitch, 1000);
  cpu::PanelProduct<T> product{.left = left.numbers.data(),
                               .rows = rows,
                               .right = right.numbers.data(),
                               .columns = columns,
                               .depth = depth,
                               .sums = sums.data(),
                               .pitch = pitch};
  cpu::multiply_panels(product);
  product.is_first = false;
  cpu::multiply_panels(product);
  bool are_right = true;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < depth; ++k) sum += left.at(r, k) * right.at(c, k);
      are_right = are_right && sums[r * pitch + c] == 2 * sum;
    }
    // Behind the last panel nothing is written.
    are_right = are_right && sums[(r + 1) * pitch - 1] == 1000;
  }
  CHECK(are_right);
}

TEST_CASE("panels: all numbers of rows and columns") {
  Random random(91);
  on_every_target([&] {
    for (std::size_t rows = 1; rows <= 2 * cpu::panel_rows(); ++rows) {
      for (const std::size_t columns : {1, 7, 16, 33, 70}) {
        for (const std::size_t depth : {1, 5, 256}) {
          CAPTURE(rows);
          CAPTURE(columns);
          CAPTURE(depth);
          check_panels<float>(rows, columns, depth, random);
          check_panels<double>(rows, columns, depth, random);
        }
      }
    }
  });
}

TEST_CASE("panels: rows that are no panels, and sums that are rounded") {
  Random random(92);
  on_every_target([&] {
    for (std::size_t rows = 1; rows <= 2 * cpu::panel_rows(); ++rows) {
      for (const std::size_t columns : {1, 16, 33, 70}) {
        constexpr std::size_t depth = 19, stride = 23;
        const Panels<float> left(stride * rows, 1, 1, random);
        const Panels<float> right(columns, cpu::panel_columns<float>(), depth, random);
        const std::size_t pitch = whole(columns, right.width);
        std::vector<double> earlier(rows * pitch, 0.25), added(rows);
        std::iota(added.begin(), added.end(), 0.75);
        for (const bool is_first : {true, false}) {
          for (const bool has_added : {true, false}) {
            std::vector<float> rounded(rows * (columns + 1), 1000);
            cpu::multiply_panels<float>({.left = left.numbers.data(),
                                         .rows = rows,
                                         .right = right.numbers.data(),
                                         .columns = columns,
                                         .depth = depth,
                                         .sums = earlier.data(),
                                         .pitch = pitch,
                                         .is_first = is_first,
                                         .left_stride = stride,
                                         .rounded = rounded.data(),
                                         .rounded_pitch = columns + 1,
                                         .factor = 0.5,
                                         .added = has_added ? added.data() : nullptr});
            bool are_right = true;
            for (std::size_t r = 0; r < rows; ++r) {
              for (std::size_t c = 0; c < columns; ++c) {
                double sum = is_first ? 0 : 0.25;
                for (std::size_t k = 0; k < depth; ++k)
                  sum += left.numbers[r * stride + k] * right.at(c, k);
                sum = sum * 0.5 + (has_added ? added[r] : 0);
                are_right = are_right && rounded[r * (columns + 1) + c] == static_cast<float>(sum);
              }
              are_right = are_right && rounded[r * (columns + 1) + columns] == 1000;
            }
            CHECK(are_right);
          }
        }
      }
    }
  });
}

template <typename T>
void check_streamed(std::size_t rows, std::size_t columns, std::size_t depth, Random& random) {
  const std::size_t width = cpu::panel_columns<T>(), stride = columns + 3;
  const std::vector<T> left = rough_numbers<T>(cpu::panel_rows() * depth, random);
  const std::vector<T> right = rough_numbers<T>((depth - 1) * stride + columns, random);
  std::vector<T> panels(whole(columns, width) * depth);
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t c = 0; c < columns; ++c)
      panels[c / width * width * depth + k * width + c % width] = right[k * stride + c];
  }
  const std::size_t pitch = whole(columns, width);
  std::vector<double> packed(cpu::panel_rows() * pitch, 1), streamed = packed;
  cpu::PanelProduct<T> product{.left = left.data(),
                               .rows = rows,
                               .right = panels.data(),
                               .columns = columns,
                               .depth = depth,
                               .sums = packed.data(),
                               .pitch = pitch,
                               .is_first = false};
  cpu::multiply_panels(product);
  product.right = right.data();
  product.right_stride = stride;
  product.sums = streamed.data();
  cpu::multiply_panels(product);
  bool are_same = true;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c)
      are_same = are_same && packed[r * pitch + c] == streamed[r * pitch + c];
  }
  CHECK(are_same);
}

TEST_CASE("panels: columns that are read where they are have the same sums, bit for bit") {
  Random random(93);
  on_every_target([&] {
    for (std::size_t rows = 1; rows <= cpu::streamed_rows; ++rows) {
      for (const std::size_t columns : {1, 7, 16, 33, 511, 512}) {
        for (const std::size_t depth : {1, 3, 4, 5, 256}) {
          CAPTURE(rows);
          CAPTURE(columns);
          CAPTURE(depth);
          check_streamed<float>(rows, columns, depth, random);
          check_streamed<double>(rows, columns, depth, random);
        }
      }
    }
  });
}

TEST_CASE("panels: numbers are quantized: halves to even, NaN to 0, others saturated") {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const std::vector<double> numbers{0,    1,    1.5,  2.5,     -2.5,     1e9,  -1e9, infinity, nan,
                                    -127, 63.5, 64.5, -0.4999, 127.4999, 1e18, 12,   -1,       200};
  on_every_target([&] {
    for (const double scale : {1.0, 0.5, -3.0, 0.0}) {
      for (std::size_t count = 1; count <= numbers.size(); ++count) {
        CAPTURE(scale);
        CAPTURE(count);
        std::vector<double> quantized(numbers.begin(), numbers.begin() + count);
        quantized.push_back(1000);
        cpu::quantize_doubles(quantized.data(), scale, 3, count);
        CHECK(quantized.back() == 1000);
        std::vector<std::byte> bytes(count + 1), signed_bytes(count + 1);
        cpu::saturate_doubles(quantized.data(), count, false, bytes.data());
        cpu::saturate_doubles(quantized.data(), count, true, signed_bytes.data());
        CHECK(bytes.back() == std::byte{0});
        CHECK(signed_bytes.back() == std::byte{0});
        for (std::size_t i = 0; i < count; ++i) {
          double number = std::nearbyint(numbers[i] / scale) + 3;
          if (std::isnan(number)) number = 0;
          CHECK(quantized[i] == number);
          CHECK(static_cast<int>(bytes[i]) == std::clamp(number, 0.0, 255.0));
          CHECK(static_cast<std::int8_t>(signed_bytes[i]) == std::clamp(number, -128.0, 127.0));
        }
      }
    }
  });
}

TEST_CASE("panels: whole numbers of any size keep their low 32 bits") {
  const std::vector<double> numbers{0,      1,       -1,      0x1p31,        -0x1p31, 0x1p32 + 5,
                                    -5,     0x1p51,  -0x1p51, 0x1p52 + 3,    -7,      0x1p40 - 9,
                                    0x1p53, -0x1p33, 255,     -0x1p50 - 1.0, 12,      13};
  on_every_target([&] {
    for (std::size_t count = 1; count <= numbers.size(); ++count) {
      std::vector<std::byte> bytes(1 + 4 * (count + 1));  // at an odd address
      cpu::wrap_doubles(numbers.data(), count, &bytes[1]);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t found;
        std::memcpy(&found, &bytes[1 + 4 * i], sizeof found);
        CHECK(found == static_cast<std::uint32_t>(static_cast<std::int64_t>(numbers[i])));
      }
      CHECK(bytes.back() == std::byte{0});
    }
  });
}

TEST_CASE("panels: numbers whose mask is set are copied into panels") {
  on_every_target([&] {
    const std::size_t width = cpu::panel_columns<float>(), panels = 3, stride = 2 * width;
    std::vector<float> from(panels * width), to(panels * stride, -1);
    std::vector<std::uint32_t> mask(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i] = static_cast<float>(i + 1);
      mask[i] = i % 3 == 0 ? 0 : 0xFFFFFFFF;
    }
    cpu::copy_masked(from.data(), mask.data(), panels, stride, to.data());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t source = i / stride * width + i % stride;
      CHECK(to[i] == (i % stride >= width ? -1 : source % 3 == 0 ? 0 : from[source]));
    }
  });
}

TEST_CASE("exponentials: the largest number, which NaN is never") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  on_every_target([&] {
    CHECK(cpu::largest_of({}) == -infinity);
    for (std::size_t count = 1; count < 80; count += 3) {
      std::vector<float> numbers(count, std::nanf(""));
      CHECK(cpu::largest_of(numbers) == -infinity);
      for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = static_cast<float>(i) - 100;
        CHECK(cpu::largest_of(numbers) == numbers[i]);
      }
      numbers[count / 2] = infinity;
      CHECK(cpu::largest_of(numbers) == infinity);
    }
  });
}

TEST_CASE("panels: every half becomes the float of its value") {
  std::vector<std::byte> halves(1 + 2 * 65536);  // at an odd address
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    std::memcpy(&halves[1 + 2 * i], &half, sizeof half);
  }
  on_every_target([&] {
    for (const std::size_t count : {std::size_t{65536}, std::size_t{65533}, std::size_t{1}}) {
      std::vector<float> floats(count + 1, -1);
      cpu::widen_halves(&halves[1], count, floats.data());
      bool are_right = floats.back() == -1;
      for (std::uint32_t i = 0; i < count; ++i) {
        const double value = half_value(static_cast<std::uint16_t>(i));
        are_right = are_right && (std::isnan(value) ? std::isnan(floats[i]) : floats[i] == value);
      }
      CHECK(are_right);
    }
  });
}

// Without a fused multiplication an argument loses more digits the larger it is.
TEST_CASE("exponentials: the smaller, the fewer digits they need, and their sum") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  on_every_target([&] {
    for (const std::size_t count : {1, 3, 16, 1000}) {
      std::vector<float> numbers(count);
      for (std::size_t i = 0; i < count; ++i)
        numbers[i] = -80.0F * static_cast<float>(i) / static_cast<float>(count);
      const std::vector<float> before = numbers;
      double must_be = 0;
      const double sum = cpu::exponentials(numbers, 0.5F);
      for (std::size_t i = 0; i < count; ++i) {
        const double argument = static_cast<double>(before[i]) - 0.5;
        const double exact = std::exp(argument);
        CHECK(std::abs(numbers[i] - exact) <= exact * (4 - argument) * 0x1p-23);
        must_be += exact;
      }
      CHECK(sum == doctest::Approx(must_be).epsilon(1e-6));
    }
    std::vector<float> special{-infinity, -200, std::nanf(""), infinity};
    cpu::exponentials(special, 0);
    CHECK(special[0] == 0);
    CHECK(special[1] == 0);
    CHECK(std::isnan(special[2]));
    CHECK(special[3] == infinity);
  });
}

}  // namespace
}  // namespace dmlop::test::panels_test
