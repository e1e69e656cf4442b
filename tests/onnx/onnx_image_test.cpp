// Operators of ONNX on images: those that models for Windows ML begin with, regions, and windows
// that become an image again. Compared with plain loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_image_test {
namespace {

using namespace onnx_bytes;

const Sizes image_sizes{2, 3, 5, 4};

/// The index of a row of a matrix.
double row_of(const Numbers& matrix, std::uint64_t row, std::uint64_t column) {
  return at(matrix, {row, column});
}

/// The first row or column of a cell of a grid over [first, first + size), and the one behind it.
std::pair<std::uint64_t, std::uint64_t> cell(double first, double size, std::uint64_t index,
                                             std::uint64_t cells, std::uint64_t end) {
  const double step = size / static_cast<double>(cells);
  const double begin = std::floor(static_cast<double>(index) * step) + first;
  const double behind = std::ceil(static_cast<double>(index + 1) * step) + first;
  const auto limit = static_cast<double>(end);
  return {static_cast<std::uint64_t>(std::clamp(begin, 0.0, limit)),
          static_cast<std::uint64_t>(std::clamp(behind, 0.0, limit))};
}

}  // namespace

TEST_CASE("onnx image: ImageScaler has a factor for all and a number for each channel") {
  const Numbers x = some_numbers(image_sizes);
  const std::vector<float> bias{0.5F, -2, 3};
  const auto expected = [&](double scale) {
    return numbers_at(image_sizes, [&](const Sizes& place) {
      return at(x, place) * scale + static_cast<double>(bias[place[1]]);
    });
  };
  CHECK(difference({"ImageScaler", {x}, {reals("bias", bias), real("scale", 0.25F)}},
                   {expected(0.25)}) == "");
  CHECK(difference({"ImageScaler", {x}, {reals("bias", bias)}}, {expected(1)}) == "");
  check_refused(
      {"ImageScaler", {x}, {reals("bias", {1, 2})}},
      "its bias has 2 numbers, but its input has 3 channels\n  rule: each channel has one");
  check_refused({"ImageScaler", {some_numbers({3, 5, 4})}, {reals("bias", bias)}},
                "its input [3, 5, 4] must have 4 dimensions");
  check_refused({"ImageScaler", {some_numbers({2, 3, 5, 4, 1})}, {reals("bias", bias)}},
                "its input [2, 3, 5, 4, 1] must have 4 dimensions");
  check_refused({"ImageScaler", {x}, {reals("bias", {1, 2, 3, 4})}}, "its bias has 4 numbers");
}

TEST_CASE("onnx image: Affine has a factor and a number for all") {
  const Numbers x = some_numbers({3, 5});
  const auto expected = [&](double alpha, double beta) {
    return numbers_at(x.sizes, [&](const Sizes& place) { return at(x, place) * alpha + beta; });
  };
  CHECK(difference({"Affine", {x}, {real("alpha", 150), real("beta", -3)}}, {expected(150, -3)}) ==
        "");
  CHECK(difference({"Affine", {x}}, {expected(1, 0)}) == "");
}

TEST_CASE("onnx image: Crop takes borders away, or keeps rows and columns behind the first ones") {
  const Numbers x = some_numbers(image_sizes);
  const auto expected = [&](const Sizes& sizes) {
    return numbers_at(sizes, [&](const Sizes& place) {
      return at(x, {place[0], place[1], place[2] + 2, place[3] + 1});
    });
  };
  const std::string border = integers("border", {1, 2, 0, 1});  // left, top, right, bottom
  CHECK(difference({"Crop", {x}, {border}}, {expected({2, 3, 2, 3})}) == "");
  CHECK(difference({"Crop", {x}, {border, integers("scale", {3, 2})}}, {expected({2, 3, 3, 2})}) ==
        "");
  check_refused({"Crop", {x}, {border, integers("scale", {4, 2})}},
                "leaves no such image: its input has 5 rows");
  check_refused({"Crop", {x}, {border, integers("scale", {3, 4})}}, "its input has 4 columns");
  check_refused({"Crop", {x}, {integers("border", {2, 0, 2, 0})}}, "its input has 4 columns");
  check_refused({"Crop", {x}, {integers("border", {1, 2})}}, "it has 2 borders and 0 numbers");
  check_refused({"Crop", {x}, {border, integers("scale", {3})}}, "it has 4 borders and 1 number");
  check_refused({"Crop", {x}, {border, integers("scale", {0, 2})}}, "its input has 5 rows");
  check_refused({"Crop", {x}, {integers("border", {0, -1, 0, 0})}}, "its input has 5 rows");
  check_refused({"Crop", {x}, {integers("border", {0, 0, -1, 0})}}, "its input has 4 columns");
}

TEST_CASE("onnx image: MaxRoiPool takes the maximum of each cell of a region") {
  const Numbers x = some_numbers({2, 3, 7, 6});
  const Numbers regions{{3, 5}, {0, 1, 2, 4, 6, 1, 0, 0, 5, 6, 1, 2, 1, 3, 4}};
  const std::uint64_t rows = 2, columns = 3;
  const Numbers expected = numbers_at({3, 3, rows, columns}, [&](const Sizes& place) {
    const auto corner = [&](std::uint64_t i) { return row_of(regions, place[0], i); };
    const auto [top, bottom] =
        cell(corner(2), corner(4) - corner(2) + 1, place[2], rows, x.sizes[2]);
    const auto [left, right] =
        cell(corner(1), corner(3) - corner(1) + 1, place[3], columns, x.sizes[3]);
    double maximum = -1e9;
    for (std::uint64_t row = top; row < bottom; ++row) {
      for (std::uint64_t column = left; column < right; ++column)
        maximum = std::max(maximum,
                           at(x, {static_cast<std::uint64_t>(corner(0)), place[1], row, column}));
    }
    return maximum;
  });
  const std::string cells = integers("pooled_shape", {2, 3});
  CHECK(difference({"MaxRoiPool", {x, regions}, {cells}}, {expected}) == "");
  Numbers doubled = regions;
  for (std::size_t i = 0; i < doubled.values.size(); ++i) doubled.values[i] *= i % 5 == 0 ? 1 : 2;
  CHECK(difference({"MaxRoiPool", {x, doubled}, {cells, real("spatial_scale", 0.5F)}},
                   {expected}) == "");
  check_refused({"MaxRoiPool", {x, some_numbers({3, 4})}, {cells}}, "its rois are [3, 4]");
  check_refused({"MaxRoiPool", {x, regions}, {integers("pooled_shape", {2, 0})}},
                "its pooled_shape is wrong");
  const std::vector<std::vector<std::int64_t>> wrong_grids{{2, 0x8000}, {2, 3, 1}, {2}};
  for (const std::vector<std::int64_t>& wrong : wrong_grids)
    check_refused({"MaxRoiPool", {x, regions}, {integers("pooled_shape", wrong)}},
                  "its pooled_shape is wrong");
  check_refused({"MaxRoiPool", {x, regions}}, "its attribute pooled_shape is missing");
  for (const Sizes& wrong : {Sizes{5}, Sizes{3, 5, 1}, Sizes{3, 6}})
    check_refused({"MaxRoiPool", {x, some_numbers(wrong)}, {cells}}, "its rois are [");
}

TEST_CASE("onnx image: Col2Im adds windows up where they overlap") {
  const std::uint64_t batch = 2, channels = 2, height = 5, width = 4;
  const std::uint64_t top = 1, left = 2;  // pads; 0 rows below, 1 column to the right
  const std::uint64_t rows = 3, columns = 2, row_step = 2, column_dilation = 2;
  const std::uint64_t down = (height + top + 0 - rows) / row_step + 1;
  const std::uint64_t across = width + left + 1 - (column_dilation * (columns - 1) + 1) + 1;
  const Numbers x = some_numbers({batch, channels * rows * columns, down * across});
  Numbers expected = numbers_at({batch, channels, height, width}, [](const Sizes&) { return 0; });
  for (const Sizes& place : places_of(x.sizes)) {
    const std::uint64_t channel = place[1] / (rows * columns);
    const std::uint64_t row = place[1] / columns % rows + place[2] / across * row_step;
    const std::uint64_t column = place[1] % columns * column_dilation + place[2] % across;
    if (row < top || row - top >= height || column < left || column - left >= width) continue;
    expected
        .values[((place[0] * channels + channel) * height + row - top) * width + column - left] +=
        at(x, place);
  }
  const Numbers image = whole_numbers({5, 4}), window = whole_numbers({3, 2});
  const std::vector<std::string> attributes{
      integers("pads", {1, 2, 0, 1}), integers("strides", {2, 1}), integers("dilations", {1, 2})};
  CHECK(difference({"Col2Im", {x, image, window}, attributes, 1, 18}, {expected}) == "");
  check_refused({"Col2Im", {x, image, whole_numbers({5, 2})}, attributes, 1, 18},
                "does not fit its block_shape [5, 2]");
  check_refused({"Col2Im", {x, image, whole_numbers({3, 2, 1})}, attributes, 1, 18},
                "its block_shape has 3 elements, but its image_shape has 2");
  check_refused({"Col2Im", {x, image, window}, {integers("pads", {1, 2})}, 1, 18}, "it has 2 pads");
}

TEST_CASE("onnx image: Col2Im moves by one, without dilations and pads, unless it says so") {
  const Numbers x{{1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const OneNode node{"Col2Im", {x, whole_numbers({3, 2}), whole_numbers({2, 2})}, {}, 1, 18};
  CHECK(difference(node, {{{1, 1, 3, 2}, {1, 3, 2 + 5, 4 + 7, 6, 8}}}) == "");
  OneNode earlier = node;
  earlier.version = 17;
  check_refused(earlier, "it is there from version 18 on");
}

TEST_CASE("onnx image: Col2Im refuses numbers out of range, and inputs that do not fit") {
  const Numbers x = some_numbers({2, 12, 8}), image = whole_numbers({5, 4});
  const auto check = [&](const Numbers& input, const Numbers& shape, const Numbers& block,
                         const std::vector<std::string>& attributes, const std::string& words) {
    check_refused({"Col2Im", {input, shape, block}, attributes, 1, 18}, words);
  };
  const Numbers window = whole_numbers({3, 2});
  check(x, whole_numbers({5, 0}), window, {}, "its image_shape has 0\n");
  check(x, image, whole_numbers({3, 1LL << 31}), {}, "its block_shape has 2147483648\n");
  check(x, image, window, {integers("strides", {0, 1})}, "its strides has 0\n");
  check(x, image, window, {integers("pads", {0, 0, 0, 0, 0})}, "it has 5 pads");
  check(x, image, window, {integers("pads", {0, 0, -1, 0})}, "its pads have -1\n");
  check(x, image, window, {integers("pads", {0, 0, 1LL << 31, 0})}, "its pads have 2147483648\n");
  check(some_numbers({2, 12, 8, 1}), image, window, {}, "its input [2, 12, 8, 1] does not fit");
  const std::int64_t most = 0x7FFFFFFF;
  check(x, whole_numbers({5, 4, 3}), whole_numbers({most, most, most}), {}, "does not fit");
}

}  // namespace dmlop::test::onnx_image_test
