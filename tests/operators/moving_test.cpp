// SLICE, PADDING1, TILE, SLICE_GRAD, SPACE_TO_DEPTH(1), DEPTH_TO_SPACE(1), UNFOLD, FOLD and TOP_K.
#include "reference/moving.hpp"

#include <doctest/doctest.h>

#include <numeric>

#include "plan_case.hpp"
#include "reference/padding.hpp"
#include "reference/sorting.hpp"
#include "simd_targets.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::moving_test {
namespace {

using Json = nlohmann::ordered_json;

Tensor numbers(const List& sizes, const std::vector<std::uint32_t>& values) {
  return Tensor::of(DataType::UInt32, sizes, values);
}

Tensor counted(const List& sizes) {
  const std::uint64_t count =
      std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1}, std::multiplies<>());
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), 0U);
  return numbers(sizes, values);
}

PlanCase one_to_one(const std::string& name, Json fields, const Tensor& input, const Tensor& output,
                    std::uint64_t ulp = 0) {
  return {"DML_OPERATOR_" + name,
          std::move(fields),
          {{"InputTensor", input}},
          {{"OutputTensor", output, {}, ulp}}};
}

// --- SLICE

TEST_CASE("SLICE: the page's example") {
  check_plan_case(one_to_one(
      "SLICE", {{"Offsets", {0, 0, 1, 0}}, {"Sizes", {1, 1, 2, 2}}, {"Strides", {1, 1, 2, 3}}},
      counted({1, 1, 4, 4}), numbers({1, 1, 2, 2}, {4, 7, 12, 15})));
}

TEST_CASE("SLICE: random slices of all types and strides") {
  Random random(50);
  for (int i = 0; i < 300; ++i) {
    const Tensor input =
        random_tensor(random.one_of(A11), random_sizes(random.from_to(1, 8), random), random);
    List offsets, sizes, strides;
    for (const std::uint64_t size : input.sizes) {
      offsets.push_back(random.below(size));
      sizes.push_back(random.from_to(1, size - offsets.back()));
      const std::uint64_t most = sizes.back() == 1
                                     ? std::uint64_t{4294967295}
                                     : (size - 1 - offsets.back()) / (sizes.back() - 1);
      strides.push_back(random.from_to(1, most));
    }
    check_plan_case(one_to_one("SLICE",
                               {{"Offsets", offsets}, {"Sizes", sizes}, {"Strides", strides}},
                               input, sliced(input, offsets, sizes, strides)));
  }
}

// --- PADDING1

TEST_CASE("PADDING1: the value has the tensors' own type, all of its bits") {
  const std::vector<std::int64_t> large{9007199254740993, -1};
  check_plan_case(one_to_one("PADDING1",
                             {{"PaddingMode", "CONSTANT"},
                              {"PaddingValueDataType", "INT64"},
                              {"PaddingValue", 9007199254740993},
                              {"StartPadding", {1}},
                              {"EndPadding", {0}}},
                             Tensor::of(DataType::Int64, {1}, std::vector<std::int64_t>{-1}),
                             Tensor::of(DataType::Int64, {2}, large)));
}

TEST_CASE("PADDING1: random paddings in all modes are those of PADDING") {
  Random random(51);
  for (int i = 0; i < 300; ++i) {
    const DataType type = random.one_of(A11);
    const Tensor input = random_tensor(type, random_sizes(random.from_to(1, 8), random), random);
    Padding padding{
        .mode = random.one_of<std::string>({"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"}),
        .start = {},
        .end = {}};
    for (std::size_t d = 0; d < input.sizes.size(); ++d) {
      const bool stays = random.below(input.sizes.size()) > 1;
      padding.start.push_back(stays ? 0 : random.below(4));
      padding.end.push_back(stays ? 0 : random.below(3));
    }
    const std::uint64_t value = random.below(100);
    if (padding.mode == "CONSTANT") padding.value = static_cast<double>(value);
    Json fields = padding.fields();
    if (padding.value) fields["PaddingValue"] = value;
    fields["PaddingValueDataType"] = name_of(type);
    check_plan_case(one_to_one("PADDING1", fields, input, padding.result({input})));
  }
}

// --- TILE

TEST_CASE("TILE: copies stand side by side") {
  check_plan_case(one_to_one("TILE", {{"Repeats", {2, 2}}}, numbers({1, 2}, {1, 2}),
                             numbers({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2})));
}

TEST_CASE("TILE: random repetitions of all types and strides") {
  Random random(52);
  for (int i = 0; i < 300; ++i) {
    DataType type = random.one_of(A11);
    if (type == DataType::Float64) type = DataType::Int64;
    const Tensor input = random_tensor(type, random_sizes(random.from_to(1, 8), random), random);
    List repeats;
    std::uint64_t most = 12;
    for (std::size_t d = 0; d < input.sizes.size(); ++d) {
      repeats.push_back(random.one_in(2) ? 1 : random.from_to(1, std::min<std::uint64_t>(most, 3)));
      most /= repeats.back();
    }
    check_plan_case(one_to_one("TILE", {{"Repeats", repeats}}, input, tiled(input, repeats)));
  }
}

// --- SLICE_GRAD

PlanCase slice_grad_case(const Tensor& gradients, const List& sizes, const List& offsets,
                         const List& windows, const std::vector<std::int64_t>& strides) {
  return {"DML_OPERATOR_SLICE_GRAD",
          {{"InputWindowOffsets", offsets},
           {"InputWindowSizes", windows},
           {"InputWindowStrides", strides}},
          {{"InputGradientTensor", gradients}},
          {{"OutputGradientTensor", slice_gradient(gradients, sizes, offsets, windows, strides)}}};
}

TEST_CASE("SLICE_GRAD: gradients go where the slice was copied from, and zeros elsewhere") {
  const PlanCase a_case =
      slice_grad_case(numbers({2, 2}, {1, 2, 3, 4}), {4, 5}, {0, 1}, {4, 4}, {2, -3});
  CHECK(a_case.outputs[0].tensor == numbers({4, 5}, {0, 2, 0, 0, 1,  //
                                                     0, 0, 0, 0, 0,  //
                                                     0, 4, 0, 0, 3,  //
                                                     0, 0, 0, 0, 0}));
  check_plan_case(a_case);
}

TEST_CASE("SLICE_GRAD: random windows of all types, strides and steps in up to 8 dimensions") {
  Random random(53);
  for (int i = 0; i < 400; ++i) {
    const List sizes = random_sizes(random.from_to(1, 8), random);
    List offsets, windows, counts;
    std::vector<std::int64_t> strides;
    for (const std::uint64_t size : sizes) {
      windows.push_back(random.one_in(2) ? size : random.from_to(1, size));
      offsets.push_back(random.below(size - windows.back() + 1));
      const std::uint64_t step = random.one_in(3) ? 1 : random.from_to(1, 4);
      strides.push_back(random.one_in(2) ? -static_cast<std::int64_t>(step)
                                         : static_cast<std::int64_t>(step));
      if (random.one_in(16)) strides.back() = -2147483648LL;
      const auto distance = static_cast<std::uint64_t>(std::abs(strides.back()));
      counts.push_back(1 + (windows.back() - 1) / distance);
      if (random.one_in(4)) counts.back() = random.from_to(1, counts.back());
    }
    const Tensor gradients = random_tensor(random.one_of(A11), counts, random);
    check_plan_case(slice_grad_case(gradients, sizes, offsets, windows, strides));
  }
}

// --- depth and space

TEST_CASE("DEPTH_TO_SPACE1: the page's examples") {
  std::vector<std::uint32_t> values;
  for (std::uint32_t channel = 0; channel < 8; ++channel) {
    for (std::uint32_t i = 0; i < 6; ++i) values.push_back(channel * 9 + i);
  }
  const Tensor deep = numbers({1, 8, 2, 3}, values);
  const Tensor by_depth =
      numbers({1, 2, 4, 6}, {0,  18, 1,  19, 2,  20, 36, 54, 37, 55, 38, 56, 3,  21, 4,  22,
                             5,  23, 39, 57, 40, 58, 41, 59, 9,  27, 10, 28, 11, 29, 45, 63,
                             46, 64, 47, 65, 12, 30, 13, 31, 14, 32, 48, 66, 49, 67, 50, 68});
  const Tensor by_block =
      numbers({1, 2, 4, 6}, {0,  9,  1,  10, 2,  11, 18, 27, 19, 28, 20, 29, 3,  12, 4,  13,
                             5,  14, 21, 30, 22, 31, 23, 32, 36, 45, 37, 46, 38, 47, 54, 63,
                             55, 64, 56, 65, 39, 48, 40, 49, 41, 50, 57, 66, 58, 67, 59, 68});
  for (const bool depth_first : {true, false}) {
    const Tensor& wide = depth_first ? by_depth : by_block;
    const Json fields{{"BlockSize", 2},
                      {"Order", depth_first ? "DEPTH_COLUMN_ROW" : "COLUMN_ROW_DEPTH"}};
    CHECK(depth_to_space(deep, 2, depth_first) == wide);
    CHECK(space_to_depth(wide, 2, depth_first) == deep);
    check_plan_case(one_to_one("DEPTH_TO_SPACE1", fields, deep, wide));
    check_plan_case(one_to_one("SPACE_TO_DEPTH1", fields, wide, deep));
  }
  check_plan_case(one_to_one("DEPTH_TO_SPACE", {{"BlockSize", 2}}, deep, by_depth));
  check_plan_case(one_to_one("SPACE_TO_DEPTH", {{"BlockSize", 2}}, by_depth, deep));
}

TEST_CASE("DEPTH_TO_SPACE and SPACE_TO_DEPTH: random tensors of all types and strides") {
  Random random(54);
  for (int i = 0; i < 300; ++i) {
    const DataType type = random.one_of(A11);
    const std::uint64_t block = random.from_to(1, 4);
    const List small = random_sizes(4, random);
    const bool depth_first = random.one_in(2), has_order = !depth_first || random.one_in(2);
    Json fields{{"BlockSize", block}};
    if (has_order) fields["Order"] = depth_first ? "DEPTH_COLUMN_ROW" : "COLUMN_ROW_DEPTH";
    const std::string suffix = has_order ? "1" : "";
    if (random.one_in(2)) {
      const Tensor deep =
          random_tensor(type, {small[0], small[1] * block * block, small[2], small[3]}, random);
      check_plan_case(one_to_one("DEPTH_TO_SPACE" + suffix, fields, deep,
                                 depth_to_space(deep, block, depth_first)));
    } else {
      const Tensor wide =
          random_tensor(type, {small[0], small[1], small[2] * block, small[3] * block}, random);
      check_plan_case(one_to_one("SPACE_TO_DEPTH" + suffix, fields, wide,
                                 space_to_depth(wide, block, depth_first)));
    }
  }
}

// Rows that are long enough for vectors, and for what is left behind the last one.
TEST_CASE("DEPTH_TO_SPACE and SPACE_TO_DEPTH: wide rows on every instruction set") {
  Random random(76);
  on_every_target([&] {
    for (const DataType type :
         {DataType::UInt8, DataType::Float16, DataType::Float32, DataType::Float64}) {
      for (const std::uint64_t block : {2, 3, 4}) {
        const bool depth_first = random.one_in(2);
        const Json fields{{"BlockSize", block},
                          {"Order", depth_first ? "DEPTH_COLUMN_ROW" : "COLUMN_ROW_DEPTH"}};
        const std::uint64_t width = 128 / size_of(type) + random.below(8);
        const Tensor deep = random_tensor(type, {1, block * block, 2, width}, random);
        const Tensor wide = depth_to_space(deep, block, depth_first);
        check_plan_case(one_to_one("DEPTH_TO_SPACE1", fields, deep, wide));
        check_plan_case(
            one_to_one("SPACE_TO_DEPTH1", fields, wide, space_to_depth(wide, block, depth_first)));
      }
    }
  });
}

// --- UNFOLD and FOLD

Json fields_of(const ImageWindows& windows) {
  return {{"WindowSizes", windows.sizes},
          {"Strides", windows.strides},
          {"Dilations", windows.dilations},
          {"StartPadding", windows.start},
          {"EndPadding", windows.end}};
}

/// Small windows that fit into an image.
ImageWindows random_windows(const List& image, bool has_padding, Random& random) {
  ImageWindows windows;
  for (std::size_t i = 2; i < image.size(); ++i) {
    windows.start.push_back(has_padding ? random.below(3) : 0);
    windows.end.push_back(has_padding ? random.below(3) : 0);
    const std::uint64_t padded = image[i] + windows.start.back() + windows.end.back();
    windows.sizes.push_back(random.from_to(1, std::min<std::uint64_t>(3, padded)));
    const std::uint64_t most =
        windows.sizes.back() == 1 ? 1000000 : (padded - 1) / (windows.sizes.back() - 1);
    windows.dilations.push_back(random.from_to(1, std::min<std::uint64_t>(most, 3)));
    if (windows.sizes.back() == 1) windows.dilations.back() = random.one_in(2) ? 1 : 4294967295;
    windows.strides.push_back(random.from_to(1, 3));
  }
  return windows;
}

List random_image(Random& random) {
  const std::uint64_t spatial = random.from_to(1, 6);
  List image = random_sizes(spatial + 2, random);
  for (std::size_t i = 0; i < image.size(); ++i) {
    const std::uint64_t most = i < 2 ? 2 : spatial > 3 ? 2 : 5;
    image[i] = std::min(image[i], most);
  }
  return image;
}

TEST_CASE("UNFOLD: windows become columns") {
  const ImageWindows windows{
      .sizes = {2, 2}, .strides = {1, 1}, .dilations = {1, 1}, .start = {0, 1}, .end = {0, 0}};
  check_plan_case(one_to_one("UNFOLD", fields_of(windows), numbers({1, 1, 2, 2}, {1, 2, 3, 4}),
                             numbers({1, 4, 2}, {0, 1, 1, 2, 0, 3, 3, 4})));
}

TEST_CASE("FOLD: values of windows that overlap are added up, and those in the padding dropped") {
  const ImageWindows windows{
      .sizes = {2, 2}, .strides = {1, 1}, .dilations = {1, 1}, .start = {0, 1}, .end = {0, 0}};
  check_plan_case(one_to_one("FOLD", fields_of(windows),
                             numbers({1, 4, 2}, {9, 1, 2, 3, 9, 4, 5, 6}),
                             numbers({1, 1, 2, 2}, {3, 3, 9, 6})));
}

TEST_CASE("UNFOLD and FOLD: random windows of all types and strides over 1 to 6 dimensions") {
  Random random(55);
  for (int i = 0; i < 250; ++i) {
    DataType type = random.one_of(A11);
    if (type == DataType::Float64) type = DataType::Int64;
    const List image = random_image(random);
    const ImageWindows windows = random_windows(image, random.one_in(2), random);
    if (random.one_in(2)) {
      const Tensor input = random_tensor(type, image, random);
      check_plan_case(one_to_one("UNFOLD", fields_of(windows), input, windows.unfolded(input)));
      continue;
    }
    const List sizes = windows.column_sizes(image);
    const bool is_float = info(type).kind == NumberKind::floating;
    const Tensor columns = is_float ? random_numbers(type, sizes, random.one_in(4), random)
                                    : random_tensor(type, sizes, random);
    check_plan_case(one_to_one("FOLD", fields_of(windows), columns, windows.folded(columns, image),
                               is_float ? 1 : 0));
  }
}

TEST_CASE("FOLD: a long row, with windows far larger than their steps") {
  Random random(56);
  const ImageWindows windows{
      .sizes = {70}, .strides = {3}, .dilations = {2}, .start = {50}, .end = {31}};
  const List image{2, 3, 5000};
  const Tensor columns =
      random_numbers(DataType::Float32, windows.column_sizes(image), false, random);
  check_plan_case(
      one_to_one("FOLD", fields_of(windows), columns, windows.folded(columns, image), 1));
}

// Beyond a number of elements, which depends on the type, a GPU keeps the sums in between.
TEST_CASE("FOLD: windows of more elements than a GPU adds at once, with infinities") {
  Random random(59);
  for (const DataType type :
       {DataType::Float32, DataType::Float16, DataType::Int8, DataType::UInt32, DataType::Int64}) {
    CAPTURE(std::string(name_of(type)));
    const std::uint64_t added = 20'000 / (16 / size_of(type)) - 2;
    // Elements around that one meet the image.
    const ImageWindows windows{.sizes = {added + 100},
                               .strides = {1},
                               .dilations = {1},
                               .start = {added - 4},
                               .end = {104}};
    const List image{1, 1, 8};
    const List sizes = windows.column_sizes(image);
    const bool is_float = info(type).kind == NumberKind::floating;
    const Tensor columns =
        is_float ? random_numbers(type, sizes, true, random) : random_tensor(type, sizes, random);
    PlanCase a_case = one_to_one("FOLD", fields_of(windows), columns,
                                 windows.folded(columns, image), is_float ? 1 : 0);
    a_case.is_for_every_gpu = true;
    check_plan_case(a_case);
  }
}

// --- TOP_K

TEST_CASE("TOP_K: the largest come first, with where they stood") {
  Random random(57);
  for (int i = 0; i < 200; ++i) {
    const DataType type = random.one_of(A8);
    const List sizes = random_sizes(random.from_to(1, 8), random);
    const std::size_t axis = random.below(sizes.size());
    const TopK top{axis, random.from_to(1, sizes[axis]), true};
    const bool is_float = info(type).kind == NumberKind::floating;
    const Tensor input =
        is_float ? random_numbers(type, sizes, true, random) : random_tensor(type, sizes, random);
    const auto [values, indices] =
        top.result(input, random.one_in(2) ? DataType::UInt32 : DataType::UInt64);
    check_plan_case({"DML_OPERATOR_TOP_K",
                     {{"Axis", axis}, {"K", top.k}},
                     {{"InputTensor", input}},
                     {{"OutputValueTensor", values}, {"OutputIndexTensor", indices}}});
  }
}

}  // namespace
}  // namespace dmlop::test::moving_test
