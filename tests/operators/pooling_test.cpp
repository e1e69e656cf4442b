// The pooling operators over windows, max unpooling, and the gradients.
#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>

#include "plan_case.hpp"
#include "reference/windows.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::pooling_test {
namespace {

const Types max_types{DataType::Float32, DataType::Float16, DataType::Int64,  DataType::Int32,
                      DataType::Int16,   DataType::Int8,    DataType::UInt64, DataType::UInt32,
                      DataType::UInt16,  DataType::UInt8};

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Any strides, and eighths from `low` to 8, so that sums are exact.
Tensor random_eighths(DataType type, const List& sizes, Random& random, int low = -8) {
  Tensor tensor = random_tensor(type, sizes, random);
  for_each_index(sizes, [&](const Index& i) {
    const double value =
        low + static_cast<double>(random.from_to(1, static_cast<std::uint64_t>(8 - low) * 8)) / 8;
    std::memcpy(tensor.at(i), element(type, value).data(), tensor.element_size());
  });
  return tensor;
}

struct RandomPooling {
  Pooling pooling;
  List input;
};

/// Sizes of 4 or 5 dimensions and windows over them; some lie in padding alone.
RandomPooling random_pooling(Random& random, bool is_dilated) {
  RandomPooling made;
  const std::size_t spatial = random.from_to(2, 3);
  made.input = {random.from_to(1, 3), random.from_to(1, 3)};
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::uint64_t window = random.from_to(1, 4);
    const std::uint64_t dilation = is_dilated ? random.from_to(1, 3) : 1;
    const std::uint64_t reach = (window - 1) * dilation + 1;
    const std::uint64_t size = random.from_to(1, random.one_in(4) ? 40 : 6);
    const std::uint64_t start = random.one_in(2) ? random.below(4) : 0;
    const std::uint64_t least = size + start >= reach ? 0 : reach - size - start;
    made.input.push_back(size);
    made.pooling.window.push_back(window);
    made.pooling.dilations.push_back(dilation);
    made.pooling.strides.push_back(random.from_to(1, 3));
    made.pooling.start.push_back(start);
    made.pooling.end.push_back(least + (random.one_in(2) ? random.below(4) : 0));
  }
  return made;
}

PlanCase average_case(const Pooling& pooling, bool is_dilated, bool includes_padding,
                      const Tensor& input, const Tensor& output) {
  auto fields = pooling.fields(is_dilated);
  fields["IncludePadding"] = includes_padding;
  return {is_dilated ? "DML_OPERATOR_AVERAGE_POOLING1" : "DML_OPERATOR_AVERAGE_POOLING",
          fields,
          {{"InputTensor", input}},
          {{"OutputTensor", output, std::nullopt, 1}}};
}

const Pooling two_by_two{{2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
const Pooling padded{{2, 2}, {2, 2}, {1, 1}, {1, 1}, {1, 1}};

TEST_CASE("AVERAGE_POOLING: the mean of each window, with padding as zeros or left out") {
  const Tensor input = floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const bool is_dilated : {false, true}) {
    check_plan_case(
        average_case(two_by_two, is_dilated, false, input, floats({1, 1, 2, 2}, {3, 4, 6, 7})));
    check_plan_case(
        average_case(padded, is_dilated, false, input, floats({1, 1, 2, 2}, {1, 2.5, 5.5, 7})));
    check_plan_case(
        average_case(padded, is_dilated, true, input, floats({1, 1, 2, 2}, {0.25, 1.25, 2.75, 7})));
  }
}

TEST_CASE("AVERAGE_POOLING: a window in padding alone is 0 / 0, or 0 of the padding") {
  const Pooling outside{{1, 1}, {1, 1}, {1, 1}, {0, 1}, {0, 0}};
  const Tensor input = floats({1, 1, 1, 1}, {5});
  check_plan_case(average_case(outside, false, false, input, floats({1, 1, 1, 2}, {nan, 5})));
  check_plan_case(average_case(outside, false, true, input, floats({1, 1, 1, 2}, {0, 5})));
}

TEST_CASE("AVERAGE_POOLING: NaN and infinity stay in their windows") {
  const Tensor input = floats({1, 1, 1, 6}, {nan, 1, 2, infinity, 3, 4});
  const Pooling pairs{{1, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  check_plan_case(average_case(pairs, false, false, input,
                               floats({1, 1, 1, 5}, {nan, 1.5, infinity, infinity, 3.5})));
}

TEST_CASE("AVERAGE_POOLING1: the CPU's sum may leave the range of FLOAT32 on the way") {
  const Pooling row{{1, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  const PlanCase large = average_case(row, true, false, floats({1, 1, 1, 4}, {3e38F, 3e38F, 0, 0}),
                                      floats({1, 1, 1, 1}, {1.5e38F}));
  if (std::getenv("DMLOP_TEST_BACKENDS") == nullptr) check_plan_case(large);  // a GPU's may not
}

TEST_CASE("AVERAGE_POOLING: random windows, also with dilations") {
  Random random(61);
  for (int i = 0; i < 200; ++i) {
    const bool is_dilated = random.one_in(2), includes_padding = random.one_in(2);
    const auto [pooling, sizes] = random_pooling(random, is_dilated);
    const Tensor input = random_eighths(random.one_of(F2), sizes, random);
    check_plan_case(average_case(pooling, is_dilated, includes_padding, input,
                                 pooling.average(input, includes_padding)));
  }
}

TEST_CASE("AVERAGE_POOLING: rows and windows longer than what is summed at once") {
  Random random(62);
  const Tensor input = random_eighths(DataType::Float32, {1, 1, 2, 9000}, random);
  for (const Pooling& pooling : {Pooling{{2, 5000}, {1, 3}, {1, 1}, {0, 100}, {0, 100}},
                                 Pooling{{1, 3}, {1, 1000}, {1, 1}, {0, 0}, {0, 0}},
                                 Pooling{{1, 3}, {1, 1}, {1, 4000}, {0, 0}, {0, 0}},
                                 Pooling{{2, 3}, {1, 1}, {1, 2}, {1, 1}, {0, 1}}}) {
    check_plan_case(average_case(pooling, true, true, input, pooling.average(input, true)));
  }
}

TEST_CASE("AVERAGE_POOLING: windows of many rows") {
  Random random(69);
  const Tensor image = random_eighths(DataType::Float32, {1, 2, 260, 250}, random);
  const Pooling whole{{260, 250}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  check_plan_case(average_case(whole, false, false, image, whole.average(image, false)));
  const Tensor halves = random_eighths(DataType::Float16, {1, 3, 40, 9}, random);
  const Pooling large{{30, 9}, {1, 1}, {1, 1}, {5, 0}, {0, 2}};
  check_plan_case(average_case(large, false, true, halves, large.average(halves, true)));
}

PlanCase average_gradient_case(const Pooling& pooling, bool includes_padding,
                               const Tensor& gradient, const Tensor& output) {
  auto fields = pooling.fields(false);
  fields["IncludePadding"] = includes_padding;
  return {"DML_OPERATOR_AVERAGE_POOLING_GRAD",
          fields,
          {{"InputGradientTensor", gradient}},
          {{"OutputGradientTensor", output, std::nullopt, 1}}};
}

TEST_CASE("AVERAGE_POOLING_GRAD: each element gets its share of every window that it was in") {
  check_plan_case(
      average_gradient_case(two_by_two, false, floats({1, 1, 2, 2}, {1, 2, 3, 4}),
                            floats({1, 1, 3, 3}, {0.25, 0.75, 0.5, 1, 2.5, 1.5, 0.75, 1.75, 1})));
}

TEST_CASE("AVERAGE_POOLING_GRAD: random windows") {
  Random random(63);
  for (int i = 0; i < 200; ++i) {
    const auto [pooling, sizes] = random_pooling(random, false);
    const bool includes_padding = random.one_in(2);
    const Tensor gradient =
        random_eighths(random.one_of(F2), pooling.output_sizes(sizes), random, 0);
    check_plan_case(
        average_gradient_case(pooling, includes_padding, gradient,
                              pooling.average_gradient(gradient, sizes, includes_padding)));
  }
}

PlanCase max_case(const std::string& suffix, const Pooling& pooling, const Tensor& input,
                  const Tensor& values, const std::optional<Tensor>& places) {
  PlanCase a_case{"DML_OPERATOR_MAX_POOLING" + suffix,
                  pooling.fields(suffix == "2"),
                  {{"InputTensor", input}},
                  {{"OutputTensor", values}}};
  if (places) a_case.outputs.push_back({"OutputIndicesTensor", *places});
  return a_case;
}

TEST_CASE("MAX_POOLING: the page's maxima, and the first place of each in the whole input") {
  const Tensor input = floats({1, 1, 3, 3}, {1, 2, 3, 2, 4, 2, 5, 6, 7});
  const Tensor values = floats({1, 1, 2, 2}, {4, 4, 6, 7});
  const Tensor places = Tensor::of<std::uint32_t>(DataType::UInt32, {1, 1, 2, 2}, {4, 4, 7, 8});
  check_plan_case(max_case("", two_by_two, input, values, std::nullopt));
  check_plan_case(max_case("1", two_by_two, input, values, places));
  check_plan_case(max_case("2", two_by_two, input, values, places));
}

TEST_CASE("MAX_POOLING: NaN and padding are never the maximum, and -infinity is one") {
  const Tensor input = floats({1, 1, 1, 5}, {nan, nan, -infinity, nan, 2});
  const Pooling pairs{{1, 2}, {1, 1}, {1, 1}, {0, 2}, {0, 0}};
  constexpr float lowest = -std::numeric_limits<float>::max();
  const Tensor values = floats({1, 1, 1, 6}, {lowest, lowest, lowest, -infinity, -infinity, 2});
  check_plan_case(max_case("2", pairs, input, values, pairs.places(input, DataType::UInt64)));
}

TEST_CASE("MAX_POOLING1 and 2: the index of NaN alone is that of the window's first element") {
  const Pooling pairs{{1, 2}, {1, 2}, {1, 1}, {0, 0}, {0, 0}};
  constexpr float lowest = -std::numeric_limits<float>::max();
  for (const char* suffix : {"1", "2"}) {
    check_plan_case(max_case(suffix, pairs, floats({1, 1, 1, 4}, {nan, nan, nan, nan}),
                             floats({1, 1, 1, 2}, {lowest, lowest}),
                             Tensor::of<std::uint32_t>(DataType::UInt32, {1, 1, 1, 2}, {0, 2})));
  }
}

/// The same with NaN in place of half of its elements.
Tensor half_nan(Tensor tensor, Random& random) {
  const std::vector<std::byte> not_a_number = element(tensor.type, std::nan(""));
  for_each_index(tensor.sizes, [&](const Index& i) {
    if (random.one_in(2)) std::memcpy(tensor.at(i), not_a_number.data(), not_a_number.size());
  });
  return tensor;
}

TEST_CASE("MAX_POOLING1 and 2: places in random windows where half of the elements are NaN") {
  Random random(77);
  for (int i = 0; i < 100; ++i) {
    const std::string suffix = random.one_of<std::string>({"1", "2"});
    const auto [pooling, sizes] = random_pooling(random, suffix == "2");
    const Tensor input = half_nan(random_eighths(random.one_of(F2), sizes, random), random);
    check_plan_case(max_case(suffix, pooling, input, pooling.maximum(input),
                             pooling.places(input, DataType::UInt32)));
  }
}

TEST_CASE("MAX_POOLING: NaN in front of a number in a row that is found four at once") {
  const Tensor input = floats({1, 1, 1, 6}, {nan, 1, nan, nan, 3, nan});
  const Pooling pairs{{1, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  check_plan_case(
      max_case("", pairs, input, floats({1, 1, 1, 5}, {1, 1, -infinity, 3, 3}), std::nullopt));
}

/// Windows, and an image with so many of them that a GPU walks down.
struct Walked {
  Pooling pooling;
  std::uint64_t height, width;
};
const std::vector<Walked> walked{{{{3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, 68, 128},
                                 {{{7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}}, 65, 127},
                                 {{{3, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, 140, 249},
                                 {{{4, 5}, {3, 2}, {1, 1}, {1, 0}, {2, 3}}, 200, 250},
                                 {{{2, 6}, {1, 3}, {1, 1}, {3, 2}, {1, 7}}, 64, 386},
                                 {{{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, 131, 260}};

Tensor walked_image(DataType type, const Walked& walk, Random& random) {
  const List sizes{1, 2, walk.height, walk.width};
  const Tensor packed = Tensor::packed(type, sizes);
  for (;;) {
    Tensor tensor = random_eighths(type, sizes, random);
    if (tensor.strides != packed.strides) continue;
    if (type == DataType::Float32) {
      for (int i = 0; i < 20; ++i)
        std::memcpy(&tensor.bytes[4 * random.below(tensor.bytes.size() / 4)], &nan, 4);
    }
    return tensor;
  }
}

TEST_CASE("MAX_POOLING: FLOAT32 images that a GPU walks down, with NaN") {
  Random random(74);
  for (const Walked& walk : walked) {
    const Tensor input = walked_image(DataType::Float32, walk, random);
    check_plan_case(max_case("", walk.pooling, input, walk.pooling.maximum(input), std::nullopt));
  }
}

TEST_CASE("MAX_POOLING: FLOAT16 images that a GPU walks down") {
  Random random(75);
  for (const Walked& walk : walked) {
    const Tensor input = walked_image(DataType::Float16, walk, random);
    check_plan_case(max_case("", walk.pooling, input, walk.pooling.maximum(input), std::nullopt));
  }
}

TEST_CASE("AVERAGE_POOLING: images that a GPU walks down") {
  Random random(76);
  for (std::size_t i = 0; i < walked.size(); ++i) {
    const Walked& walk = walked[i];
    const Tensor input = walked_image(F2[i % 2], walk, random);
    for (const bool includes_padding : {false, true}) {
      check_plan_case(average_case(walk.pooling, false, includes_padding, input,
                                   walk.pooling.average(input, includes_padding)));
    }
  }
}

TEST_CASE("MAX_POOLING: random windows of all types") {
  Random random(64);
  for (int i = 0; i < 300; ++i) {
    const std::string suffix = random.one_of<std::string>({"", "1", "2"});
    const auto [pooling, sizes] = random_pooling(random, suffix == "2");
    const DataType type = random.one_of(max_types);
    const bool is_float = info(type).kind == NumberKind::floating;
    const Tensor input =
        is_float ? random_eighths(type, sizes, random) : random_tensor(type, sizes, random);
    std::optional<Tensor> places;
    if (suffix != "" && random.one_in(2))
      places = pooling.places(input, random.one_in(2) ? DataType::UInt64 : DataType::UInt32);
    check_plan_case(max_case(suffix, pooling, input, pooling.maximum(input), places));
  }
}

TEST_CASE(
    "MAX_POOLING: windows of many rows, and of one long row, with the first of equal maxima") {
  Random random(70);
  const Pooling whole{{260, 250}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  const Pooling row{{1, 40000}, {1, 1}, {1, 1}, {0, 5}, {0, 0}};
  for (const DataType type : {DataType::Float32, DataType::Int8, DataType::Int64}) {
    const Tensor image = Tensor::packed(type, {1, 2, 260, 250});
    Tensor few = image;
    // The last byte of an element, because a FLOAT32 with another one would be a denormal.
    const std::size_t size = few.bytes.size() / (2 * 260 * 250);
    for (int i = 0; i < 5; ++i)
      few.bytes[random.below(2 * 260 * 250) * size + size - 1] = std::byte{1};
    for (const Tensor& input : {image, few})
      check_plan_case(
          max_case("2", whole, input, whole.maximum(input), whole.places(input, DataType::UInt32)));
    const Tensor line = random_tensor(type, {1, 1, 1, 40000}, random);
    check_plan_case(
        max_case("2", row, line, row.maximum(line), row.places(line, DataType::UInt64)));
    check_plan_case(max_case("", row, line, row.maximum(line), std::nullopt));
  }
  const Tensor unknown =
      floats({1, 2, 260, 250}, std::vector<float>(std::size_t{2 * 260 * 250}, nan));
  check_plan_case(max_case("2", whole, unknown, whole.maximum(unknown),
                           whole.places(unknown, DataType::UInt32)));
}

/// Outputs of any sizes, and windows, strides and sizes that only DirectML accepts.
RandomPooling beyond_the_page(Random& random, bool is_dilated) {
  RandomPooling made = random_pooling(random, is_dilated);
  Pooling& pooling = made.pooling;
  const List sizes = pooling.output_sizes(made.input);
  for (std::size_t i = 0; i < pooling.window.size(); ++i) {
    const std::uint64_t formula = sizes[i + 2];
    pooling.outputs.push_back(random.from_to(1, formula + 4));
    if (random.one_in(6)) pooling.window[i] += random.from_to(1, 50);
    if (random.one_in(12)) pooling.window[i] = 0;
    if (random.one_in(8)) pooling.strides[i] = 0;
    if (random.one_in(12)) pooling.strides[i] = 4'000'000'000;
  }
  return made;
}

void check_as_directml(PlanCase a_case, bool is_for_every_gpu = false) {
  a_case.judge = Judge::directml;
  a_case.is_for_every_gpu = is_for_every_gpu;
  check_plan_case(a_case);
}

TEST_CASE("AVERAGE_POOLING: outputs and windows of any sizes, as DirectML takes them") {
  Random random(81);
  for (int i = 0; i < 200; ++i) {
    const bool is_dilated = random.one_in(2), includes_padding = random.one_in(2);
    const auto [pooling, sizes] = beyond_the_page(random, is_dilated);
    const Tensor input = random_eighths(random.one_of(F2), sizes, random);
    check_as_directml(average_case(pooling, is_dilated, includes_padding, input,
                                   pooling.average(input, includes_padding)));
  }
}

TEST_CASE("MAX_POOLING: outputs and windows of any sizes, as DirectML takes them") {
  Random random(82);
  for (int i = 0; i < 300; ++i) {
    const std::string suffix = random.one_of<std::string>({"", "1", "2"});
    const auto [pooling, sizes] = beyond_the_page(random, suffix == "2");
    const Tensor input = random_tensor(random.one_of(max_types), sizes, random);
    std::optional<Tensor> places;
    if (suffix != "" && random.one_in(2)) places = pooling.places(input, DataType::UInt32);
    if (info(input.type).kind == NumberKind::floating) continue;
    check_as_directml(max_case(suffix, pooling, input, pooling.maximum(input), places));
  }
  for (int i = 0; i < 100; ++i) {
    const auto [pooling, sizes] = beyond_the_page(random, true);
    const Tensor input = random_eighths(random.one_of(F2), sizes, random);
    check_as_directml(max_case("2", pooling, input, pooling.maximum(input),
                               pooling.places(input, DataType::UInt32)));
  }
}

PlanCase norm_case(const Pooling& pooling, std::uint64_t p, const Tensor& input, bool is_dilated) {
  PlanCase a_case{is_dilated ? "DML_OPERATOR_LP_POOLING1" : "DML_OPERATOR_LP_POOLING",
                  pooling.fields(is_dilated),
                  {{"InputTensor", input}},
                  {{"OutputTensor", pooling.norm(input, p), std::nullopt, 4}}};
  a_case.fields["P"] = p;
  return a_case;
}

TEST_CASE("LP_POOLING: outputs and windows of any sizes, and a P of 0, as DirectML takes them") {
  Random random(83);
  for (int i = 0; i < 300; ++i) {
    const bool is_dilated = random.one_in(2);
    const auto [pooling, sizes] = beyond_the_page(random, is_dilated);
    const Tensor input = random_eighths(random.one_of(F2), sizes, random);
    check_as_directml(norm_case(pooling, random.below(6), input, is_dilated));
  }
}

TEST_CASE("pooling: outputs behind the end of images that a GPU walks down") {
  Random random(84);
  for (std::size_t i = 0; i < walked.size(); ++i) {
    Walked walk = walked[i];
    const Tensor input = walked_image(F2[i % 2], walk, random);
    const List sizes = walk.pooling.output_sizes(input.sizes);
    for (std::size_t a = 0; a < 2; ++a)
      walk.pooling.outputs.push_back(sizes[a + 2] + (i % 2 == a ? 3 : 17));
    const Tensor numbers = random_eighths(F2[i % 2], {1, 2, walk.height, walk.width}, random);
    for (const PlanCase& a_case :
         {average_case(walk.pooling, false, true, input, walk.pooling.average(input, true)),
          average_case(walk.pooling, false, false, input, walk.pooling.average(input, false)),
          max_case("", walk.pooling, input, walk.pooling.maximum(input), std::nullopt),
          norm_case(walk.pooling, 1 + i % 4, numbers, i % 2 == 0)})
      check_as_directml(a_case, /*is_for_every_gpu=*/true);
  }
}

TEST_CASE("pooling: many windows that are all the first one") {
  Random random(85);
  for (const List& strides : {List{0, 1}, List{1, 0}, List{0, 0}}) {
    const Pooling pooling{{3, 3}, strides, {1, 1}, {1, 1}, {0, 0}, {130, 130}};
    const Tensor input = walked_image(DataType::Float16, {pooling, 128, 128}, random);
    for (const PlanCase& a_case :
         {average_case(pooling, false, true, input, pooling.average(input, true)),
          max_case("", pooling, input, pooling.maximum(input), std::nullopt),
          norm_case(pooling, 2, input, false)})
      check_as_directml(a_case, /*is_for_every_gpu=*/true);
  }
}

TEST_CASE("pooling: as its page says, outputs have the formula's sizes, and windows fit") {
  const Tensor input = floats({1, 1, 1, 4}, {1, 2, 3, 4});
  Pooling pooling{{1, 2}, {1, 2}, {1, 1}, {0, 0}, {0, 0}};
  const auto said = [&](const Pooling& use) {
    return messages(norm_case(use, 2, input, false).description());
  };
  CHECK(said(pooling) == "");
  pooling.outputs = {1, 3};
  CHECK(said(pooling) != "");
  CHECK(said({{1, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}}) != "");
  CHECK(said({{1, 0}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}}) != "");
  CHECK(said({{1, 2}, {1, 0}, {1, 1}, {0, 0}, {0, 0}, {1, 1}}) != "");
}

PlanCase max_gradient_case(const Pooling& pooling, const Tensor& input, const Tensor& gradient,
                           const Tensor& output) {
  return {"DML_OPERATOR_MAX_POOLING_GRAD",
          pooling.fields(),
          {{"InputTensor", input}, {"InputGradientTensor", gradient}},
          {{"OutputGradientTensor", output}}};
}

TEST_CASE(
    "MAX_POOLING_GRAD: a gradient goes to the first largest element, and those that meet add") {
  check_plan_case(max_gradient_case(two_by_two, floats({1, 1, 3, 3}, {1, 2, 3, 2, 4, 2, 5, 6, 7}),
                                    floats({1, 1, 2, 2}, {1, 2, 4, 5}),
                                    floats({1, 1, 3, 3}, {0, 0, 0, 0, 3, 0, 0, 4, 5})));
}

TEST_CASE("MAX_POOLING_GRAD: random windows, with many equal elements") {
  Random random(65);
  for (int i = 0; i < 200; ++i) {
    const auto [pooling, sizes] = random_pooling(random, true);
    const DataType type = random.one_of(F2);
    const Tensor input = random_eighths(type, sizes, random);
    const Tensor gradient = random_eighths(type, pooling.output_sizes(sizes), random);
    check_plan_case(
        max_gradient_case(pooling, input, gradient, pooling.maximum_gradient(input, gradient)));
  }
}

// As TensorFlow's tests of this operator on DirectML say.
TEST_CASE("MAX_POOLING_GRAD: NaN alone passes a gradient on, to the window's first element") {
  const Pooling pairs{{1, 2}, {1, 2}, {1, 1}, {0, 0}, {0, 0}};
  check_plan_case(max_gradient_case(pairs, floats({1, 1, 1, 4}, {nan, nan, nan, nan}),
                                    floats({1, 1, 1, 2}, {3, 5}),
                                    floats({1, 1, 1, 4}, {3, 0, 5, 0})));
}

TEST_CASE("MAX_POOLING_GRAD: random windows where half of the elements are NaN") {
  Random random(78);
  for (int i = 0; i < 100; ++i) {
    const auto [pooling, sizes] = random_pooling(random, true);
    const DataType type = random.one_of(F2);
    const Tensor input = half_nan(random_eighths(type, sizes, random), random);
    const Tensor gradient = random_eighths(type, pooling.output_sizes(sizes), random);
    check_plan_case(
        max_gradient_case(pooling, input, gradient, pooling.maximum_gradient(input, gradient)));
  }
}

TEST_CASE("MAX_POOLING_GRAD: many windows that share their only element") {
  constexpr std::uint64_t count = 20001;
  const Pooling around{{1, count}, {1, 1}, {1, 1}, {0, count - 1}, {0, count - 1}};
  std::vector<float> gradients(count);
  double sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    gradients[i] = static_cast<float>(i % 7) / 8;
    sum += static_cast<double>(gradients[i]);
  }
  check_plan_case(max_gradient_case(around, floats({1, 1, 1, 1}, {5}),
                                    floats({1, 1, 1, count}, gradients),
                                    floats({1, 1, 1, 1}, {static_cast<float>(sum)})));
}

PlanCase unpooling_case(const Tensor& input, const Tensor& places, const Tensor& output) {
  return {"DML_OPERATOR_MAX_UNPOOLING",
          {},
          {{"InputTensor", input}, {"IndicesTensor", places}},
          {{"OutputTensor", output}}};
}

TEST_CASE("MAX_UNPOOLING: elements stand at their indices among zeros; those beyond are left out") {
  const Tensor input = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  check_plan_case(
      unpooling_case(input, Tensor::of<std::uint32_t>(DataType::UInt32, {1, 1, 2, 2}, {5, 0, 2, 6}),
                     floats({1, 1, 2, 3}, {2, 0, 3, 0, 0, 1})));
  check_plan_case(unpooling_case(
      input,
      Tensor::of<std::uint64_t>(DataType::UInt64, {1, 1, 2, 2}, {std::uint64_t{1} << 32, 3, 3, 1}),
      floats({1, 1, 1, 4}, {0, 4, 0, 3})));
}

TEST_CASE("MAX_UNPOOLING: undoes random max pooling of all types") {
  Random random(66);
  for (int i = 0; i < 200; ++i) {
    auto [pooling, sizes] = random_pooling(random, true);
    if (sizes.size() == 5) continue;
    const DataType type = random.one_of(max_types);
    const Tensor pooled = random_tensor(type, pooling.output_sizes(sizes), random);
    const Tensor places = pooling.places(random_tensor(DataType::UInt8, sizes, random),
                                         random.one_in(2) ? DataType::UInt64 : DataType::UInt32);
    Tensor output = Tensor::packed(type, sizes);
    for_each_index(pooled.sizes, [&](const Index& index) {
      const auto place = static_cast<std::uint64_t>(exact_number(places.type, places.at(index)));
      std::memcpy(&output.bytes[place * size_of(type)], pooled.at(index), size_of(type));
    });
    check_plan_case(unpooling_case(pooled, places, output));
  }
}

PlanCase norm_case(const Pooling& pooling, std::uint64_t p, const Tensor& input,
                   const Tensor& output) {
  auto fields = pooling.fields();
  fields["P"] = p;
  return {"DML_OPERATOR_LP_POOLING1",
          fields,
          {{"InputTensor", input}},
          {{"OutputTensor", output, std::nullopt, input.type == DataType::Float16 ? 1U : 4U}}};
}

TEST_CASE("LP_POOLING1: norms of elements that stand apart") {
  const Tensor input = floats({1, 1, 1, 5}, {3, 100, -4, 100, 12});
  check_plan_case(norm_case({{1, 2}, {1, 2}, {1, 2}, {0, 0}, {0, 0}}, 2, input,
                            floats({1, 1, 1, 2}, {5, std::sqrt(160.0F)})));
  check_plan_case(norm_case({{1, 3}, {1, 2}, {1, 2}, {0, 2}, {0, 2}}, 1, input,
                            floats({1, 1, 1, 3}, {7, 19, 16})));
}

TEST_CASE("LP_POOLING1: random windows, with and without dilations along each axis") {
  Random random(67);
  for (int i = 0; i < 200; ++i) {
    const auto [pooling, sizes] = random_pooling(random, !random.one_in(4));
    const Tensor input = random_eighths(random.one_of(F2), sizes, random);
    const auto p = random.one_of<std::uint64_t>({1, 2, 3, 5, 9});
    check_plan_case(norm_case(pooling, p, input, pooling.norm(input, p)));
  }
}

TEST_CASE(
    "LP_POOLING1: elements that stand apart, in windows that a GPU takes whole and in parts") {
  Random random(69);
  for (const DataType type : F2) {
    for (const std::uint64_t p : {1U, 2U, 3U, 5U, 9U}) {
      for (const auto& [pooling, sizes] :
           {RandomPooling{{{2, 3}, {1, 1}, {2, 3}, {0, 4}, {1, 0}}, {2, 3, 9, 21}},
            RandomPooling{{{2, 17}, {1, 3}, {3, 3}, {0, 0}, {0, 9}}, {1, 1, 7, 90}},
            RandomPooling{{{3, 19}, {2, 2}, {1, 5}, {1, 30}, {0, 20}}, {1, 2, 8, 77}},
            RandomPooling{{{2, 3, 2}, {1, 1, 2}, {3, 2, 4}, {2, 1, 3}, {0, 0, 1}}, {1, 2, 6, 5, 9}},
            RandomPooling{{{80, 60}, {3, 2}, {2, 3}, {9, 0}, {0, 20}}, {1, 2, 155, 165}},
            RandomPooling{{{30, 8, 20}, {1, 9, 1}, {2, 4, 1}, {0, 20, 5}, {1, 10, 0}},
                          {1, 1, 59, 7, 20}},
            RandomPooling{{{1, 2100}, {1, 40}, {1, 2}, {0, 30}, {0, 50}}, {1, 1, 2, 4200}}}) {
        const Tensor input = random_eighths(type, sizes, random);
        PlanCase a_case = norm_case(pooling, p, input, pooling.norm(input, p));
        a_case.is_for_every_gpu = true;
        check_plan_case(a_case);
      }
    }
  }
}

// A GPU refuses numbers as large.
TEST_CASE("LP_POOLING1: windows of one element have no dilation") {
  const LpPooling1 use{2, {{1, 2}, {1, 1}, {4'000'000'000, 1}, {0, 0}, {0, 0}}};
  const Case a_case = case_of(use, {floats({1, 1, 1, 3}, {3, -4, 3})});
  const WindowKernel kernel = std::get<WindowKernel>(kernel_of(a_case.description));
  CHECK(std::get<Windows>(kernel.axes[2].reach).dilation == 1);
}

// --- QUANTIZED_LINEAR_AVERAGE_POOLING

struct Quantized {
  Pooling pooling;
  bool includes_padding;
  Tensor input, input_scale, output_scale;
  std::optional<Tensor> input_zero, output_zero;

  static double of_channel(const Tensor& tensor, std::uint64_t channel) {
    Index index(tensor.sizes.size(), 0);
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = tensor.sizes[i] > 1 ? channel : 0;
    return static_cast<double>(exact_number(tensor.type, tensor.at(index)));
  }

  Tensor result() const {
    Tensor output = Tensor::packed(input.type, pooling.output_sizes(input.sizes));
    const double low = input.type == DataType::Int8 ? -128 : 0;
    for_each_index(output.sizes, [&](const Index& o) {
      const double zero = input_zero ? of_channel(*input_zero, o[1]) : 0;
      const std::vector<Index> inside = pooling.under(o, input.sizes);
      double sum = 0;
      for (const Index& i : inside)
        sum += (static_cast<double>(exact_number(input.type, input.at(i))) - zero) *
               of_channel(input_scale, o[1]);
      const auto count = static_cast<double>(includes_padding ? pooling.elements() : inside.size());
      const double units = std::nearbyint(sum / count / of_channel(output_scale, o[1])) +
                           (output_zero ? of_channel(*output_zero, o[1]) : 0);
      const double cut = std::isnan(units) ? low : std::clamp(units, low, low + 255);
      std::memcpy(output.at(o), element(input.type, cut).data(), 1);
    });
    return output;
  }

  PlanCase plan_case() const {
    auto fields = pooling.fields();
    fields["IncludePadding"] = includes_padding;
    PlanCase a_case{"DML_OPERATOR_QUANTIZED_LINEAR_AVERAGE_POOLING",
                    fields,
                    {{"InputTensor", input},
                     {"InputScaleTensor", input_scale},
                     {"OutputScaleTensor", output_scale}},
                    {{"OutputTensor", result()}}};
    a_case.add_if("InputZeroPointTensor", input_zero);
    a_case.add_if("OutputZeroPointTensor", output_zero);
    return a_case;
  }
};

TEST_CASE("QUANTIZED_LINEAR_AVERAGE_POOLING: means of dequantized elements, halves to even") {
  const auto bytes = [](const List& sizes, const std::vector<std::uint8_t>& values) {
    return Tensor::of(DataType::UInt8, sizes, values);
  };
  const Quantized pairs{{{1, 2}, {1, 2}, {1, 1}, {0, 0}, {0, 0}},
                        false,
                        bytes({1, 1, 1, 6}, {10, 11, 12, 13, 250, 255}),
                        floats({1, 1, 1, 1}, {0.5}),
                        floats({1, 1, 1, 1}, {0.5}),
                        std::nullopt,
                        bytes({1, 1, 1, 1}, {100})};
  CHECK(pairs.result() == bytes({1, 1, 1, 3}, {110, 112, 255}));
  check_plan_case(pairs.plan_case());
}

TEST_CASE("QUANTIZED_LINEAR_AVERAGE_POOLING: random windows, values for all or for each channel") {
  Random random(68);
  for (int i = 0; i < 200; ++i) {
    const auto [pooling, sizes] = random_pooling(random, true);
    const DataType type = random.one_in(2) ? DataType::Int8 : DataType::UInt8;
    const auto channel_sizes = [&random, &sizes = sizes] {
      List some(sizes.size(), 1);
      if (random.one_in(2)) some[1] = sizes[1];
      return some;
    };
    const auto scale = [&] {
      Tensor tensor = Tensor::packed(DataType::Float32, channel_sizes());
      for_each_index(tensor.sizes, [&](const Index& at) {
        const auto value = static_cast<float>(random.from_to(1, 8)) / 4;
        std::memcpy(tensor.at(at), &value, sizeof value);
      });
      return tensor;
    };
    const auto zero = [&] {
      return random.one_in(2) ? std::nullopt
                              : std::optional(random_tensor(type, channel_sizes(), random));
    };
    const Quantized quantized{pooling, random.one_in(2), random_tensor(type, sizes, random),
                              scale(), scale(),          zero(),
                              zero()};
    check_plan_case(quantized.plan_case());
  }
}

}  // namespace
}  // namespace dmlop::test::pooling_test
