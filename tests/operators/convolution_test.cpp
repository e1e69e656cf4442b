// DML_OPERATOR_CONVOLUTION, CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION. Numbers are so
// small that every sum is exact.
#include "reference/convolution.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "plan_case.hpp"
#include "small_numbers.hpp"
#include "sweep.hpp"

namespace dmlop::test::convolution_test {
namespace {

const std::vector<DataType> byte_types{DataType::Int8, DataType::UInt8};

PlanCase case_of(const std::string& name, const Convolution& use, const Tensor& expected) {
  PlanCase a_case{"DML_OPERATOR_" + name,
                  {{"DimensionCount", use.strides.size()},
                   {"Strides", use.strides},
                   {"Dilations", use.dilations},
                   {"StartPadding", use.start},
                   {"EndPadding", use.end},
                   {"GroupCount", use.groups}},
                  {{"InputTensor", use.input}, {"FilterTensor", use.filter}},
                  {{"OutputTensor", expected}}};
  if (name == "CONVOLUTION") {
    a_case.fields["OutputPadding"] = use.output_padding;
    a_case.fields["Mode"] = use.flips ? "CONVOLUTION" : "CROSS_CORRELATION";
    a_case.fields["Direction"] = use.is_backward ? "BACKWARD" : "FORWARD";
  }
  a_case.add_if("BiasTensor", use.bias);
  a_case.add_if("InputZeroPointTensor", use.input_zero);
  a_case.add_if("FilterZeroPointTensor", use.filter_zero);
  a_case.add_if("InputScaleTensor", use.input_scale);
  a_case.add_if("FilterScaleTensor", use.filter_scale);
  a_case.add_if("OutputScaleTensor", use.output_scale);
  a_case.add_if("OutputZeroPointTensor", use.output_zero);
  return a_case;
}

void check(const std::string& name, const Convolution& use, DataType type) {
  check_plan_case(case_of(name, use, use.result(type)));
}

/// One spatial axis, from which the others are made alike.
Convolution plain(const Tensor& input, const Tensor& filter) {
  const List ones(input.sizes.size() - 2, 1), zeros(ones.size(), 0);
  return {.input = input,
          .filter = filter,
          .strides = ones,
          .dilations = ones,
          .start = zeros,
          .end = zeros,
          .output_padding = zeros};
}

TEST_CASE("CONVOLUTION: an output is the sum of its window, and padding is 0") {
  Convolution use = plain(floats({1, 1, 4}, {1, 2, 3, 4}), floats({1, 1, 3}, {1, 10, 100}));
  check_plan_case(case_of("CONVOLUTION", use, floats({1, 1, 2}, {321, 432})));
  use.flips = true;
  check_plan_case(case_of("CONVOLUTION", use, floats({1, 1, 2}, {123, 234})));
  use.flips = false;
  use.start = use.end = {1};
  use.bias = floats({1, 1, 1}, {0.5});
  check_plan_case(case_of("CONVOLUTION", use, floats({1, 1, 4}, {210.5, 321.5, 432.5, 43.5})));
}

TEST_CASE("CONVOLUTION: backward an input is spread over a window, and output padding is 0") {
  Convolution use = plain(floats({1, 1, 2}, {1, 2}), floats({1, 1, 3}, {1, 10, 100}));
  use.is_backward = true;
  use.strides = {2};
  check_plan_case(case_of("CONVOLUTION", use, floats({1, 1, 5}, {1, 10, 102, 20, 200})));
  use.flips = true;
  check_plan_case(case_of("CONVOLUTION", use, floats({1, 1, 5}, {100, 10, 201, 20, 2})));
  use.flips = false;
  use.start = {1};
  use.output_padding = {1};
  use.bias = floats({1, 1, 1}, {0.5});
  check_plan_case(case_of("CONVOLUTION", use, floats({1, 1, 5}, {10.5, 102.5, 20.5, 200.5, 0})));
}

/// The result for one channel of `width` numbers of 1 and a filter of an infinity and a 0 in each
/// of `outputs` channels: NaN where the infinity lies at padding or in a gap, because 0 x infinity
/// is.
void check_infinite_filter(Convolution use, std::uint64_t outputs,
                           const std::vector<bool>& is_nan) {
  const std::size_t n = is_nan.size();
  Tensor expected = Tensor::packed(DataType::Float32, {1, outputs, n});
  for_each_index(expected.sizes, [&](const Index& at) {
    set_value(expected, at, is_nan[at[2]] ? std::nan("") : HUGE_VAL);
  });
  use.filter = Tensor::packed(DataType::Float32,
                              use.is_backward ? List{1, outputs, 2} : List{outputs, 1, 2});
  for_each_index(use.filter.sizes,
                 [&](const Index& at) { set_value(use.filter, at, at[2] == 0 ? HUGE_VAL : 0); });
  PlanCase a_case = case_of("CONVOLUTION", use, expected);
  a_case.outputs[0].has_any_nan = true;
  check_plan_case(a_case);
}

// With few outputs, with many, and with images as large as their outputs or not.
TEST_CASE("CONVOLUTION: padding is zeros that are multiplied, by infinite filters, too") {
  for (const std::uint64_t outputs : {1, 2, 5}) {
    CAPTURE(outputs);
    Convolution use = plain(floats({1, 1, 4}, {1, 1, 1, 1}), floats({1, 1, 2}, {0, 0}));
    use.start = {1};
    check_infinite_filter(use, outputs, {true, false, false, false});
    use.end = {1};
    check_infinite_filter(use, outputs, {true, false, false, false, false});
    use.strides = {2};
    check_infinite_filter(use, outputs, {true, false, false});
    use = plain(floats({1, 1, 2}, {1, 1}), floats({1, 1, 2}, {0, 0}));
    use.is_backward = true;
    use.strides = {2};
    check_infinite_filter(use, outputs, {false, true, false, true});
  }
}

struct Shape {
  std::size_t spatial_max = 3;
  bool may_be_backward = true;
  double unit = 0.5;
};

/// Sizes for which at least one output is left.
Convolution random_convolution(DataType type, DataType filter_type, const Shape& shape,
                               Random& random) {
  for (;;) {
    const std::size_t spatial = random.from_to(1, shape.spatial_max);
    Convolution use;
    use.flips = shape.may_be_backward && random.one_in(2);
    use.is_backward = shape.may_be_backward && random.one_in(2);
    use.groups = random.one_in(2) ? 1 : random.from_to(1, 3);
    const std::uint64_t channels = random.from_to(1, 3), filters = random.from_to(1, 3);
    List input{random.from_to(1, 2), use.groups * channels};
    List filter{use.groups * (use.is_backward ? channels : filters),
                use.is_backward ? filters : channels};
    bool fits = true;
    for (std::size_t i = 0; i < spatial; ++i) {
      const std::uint64_t n = random.from_to(1, spatial == 1 ? 20 : spatial == 2 ? 7 : 4);
      const std::uint64_t taps = random.one_in(4) ? 1 : random.from_to(1, 3);
      use.strides.push_back(random.from_to(1, 3));
      use.dilations.push_back(random.from_to(1, 2));
      use.start.push_back(random.below(3));
      use.end.push_back(random.below(3));
      use.output_padding.push_back(shape.may_be_backward && random.one_in(4) ? 1 : 0);
      input.push_back(n);
      filter.push_back(taps);
      const std::uint64_t window = (taps - 1) * use.dilations[i] + 1;
      const std::uint64_t padding = use.start[i] + use.end[i];
      fits = fits && (use.is_backward ? padding < (n - 1) * use.strides[i] + window
                                      : window <= n + padding);
    }
    if (!fits) continue;
    use.input = small_numbers(type, input, random, shape.unit);
    use.filter = small_numbers(filter_type, filter, random, shape.unit);
    return use;
  }
}

/// {1, channels, 1...}, or one element.
List channel_sizes(const Convolution& use, bool is_one) {
  List sizes(use.input.sizes.size(), 1);
  if (!is_one) sizes[1] = use.output_sizes()[1];
  return sizes;
}

TEST_CASE("CONVOLUTION: random convolutions of all kinds") {
  Random random(61);
  for (int i = 0; i < 400; ++i) {
    const DataType type = random.one_in(2) ? DataType::Float32 : DataType::Float16;
    Convolution use = random_convolution(type, type, {}, random);
    if (random.one_in(2)) use.bias = small_numbers(type, channel_sizes(use, false), random, 0.25);
    check("CONVOLUTION", use, type);
  }
}

// More positions, channels and taps than are packed at once.
TEST_CASE("CONVOLUTION: large images, filters and channels") {
  Random random(62);
  const auto tensor = [&](const List& sizes) {
    return small_numbers(DataType::Float32, sizes, random);
  };
  for (const bool is_backward : {false, true}) {
    Convolution use = plain(tensor({1, 2, 30, 41}), tensor({2, 2, 3, 3}));
    use.is_backward = is_backward;
    use.strides = {2, 1};
    use.start = {1, 2};
    check("CONVOLUTION", use, DataType::Float32);
    use = plain(tensor({1, 70, 5, 4}), tensor({70, 70, 2, 2}));
    use.is_backward = is_backward;
    check("CONVOLUTION", use, DataType::Float32);
    use = plain(tensor({1, 40, 6, 7}), tensor({40, 40, 1, 1}));  // a product of matrices
    use.is_backward = is_backward;
    check("CONVOLUTION", use, DataType::Float32);
  }
}

// A product of matrices, if the rows of the image follow each other without a gap.
TEST_CASE("CONVOLUTION: filters of one tap, images with and without gaps") {
  Random random(70);
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const std::uint64_t filters : {2, 4, 9}) {
      // Between elements, rows, channels and images.
      for (const List& gaps :
           {List{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 5, 0}, {0, 0, 0, 3}}) {
        const std::uint64_t column = 1 + gaps[0], row = 7 * column + gaps[1];
        const std::uint64_t channel = 5 * row + gaps[2], image = 3 * channel + gaps[3];
        const Tensor input = Tensor::strided(type, {2, 3, 5, 7}, {image, channel, row, column});
        Convolution use = plain(with_small_numbers(input, random),
                                small_numbers(type, {filters, 3, 1, 1}, random));
        use.bias = small_numbers(type, {1, filters, 1, 1}, random, 0.25);
        check("CONVOLUTION", use, type);
      }
    }
  }
}

TEST_CASE("CONVOLUTION: filters of one tap, images that repeat elements, rows or channels") {
  Random random(71);
  for (unsigned repeated = 0; repeated < 32; ++repeated) {
    CAPTURE(repeated);
    for (const List& sizes : {List{2, 3, 4, 5, 6}, {2, 3, 4, 1, 1}, {1, 2, 1, 5, 1}}) {
      List strides(sizes.size());
      std::uint64_t stride = 1;
      for (std::size_t i = sizes.size(); i-- > 0;) {
        const bool is_repeated = (repeated >> i & 1) != 0;
        strides[i] = is_repeated ? 0 : stride;
        if (!is_repeated) stride *= sizes[i];
      }
      const Tensor input = Tensor::strided(DataType::Float32, sizes, strides);
      check("CONVOLUTION",
            plain(with_small_numbers(input, random),
                  small_numbers(DataType::Float32, {3, sizes[1], 1, 1, 1}, random)),
            DataType::Float32);
    }
  }
}

// So many positions and filters that a GPU gives each group of threads a part of them.
TEST_CASE("CONVOLUTION: windows of 32 taps at most, in tiles of positions") {
  Random random(63);
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    const auto tensor = [&](const List& sizes) { return small_numbers(type, sizes, random, 0.5); };
    for (const bool is_backward : {false, true}) {
      Convolution use = plain(tensor({2, 6, 9, 13}), tensor({6, 6, 3, 3}));
      use.is_backward = is_backward;
      use.flips = is_backward;
      use.start = {2, 1};
      use.end = {0, 1};
      use.dilations = {2, 1};
      use.bias = tensor({1, 6, 1, 1});
      check("CONVOLUTION", use, type);
    }
    Convolution use = plain(tensor({1, 60, 70}), tensor({7, 60, 9}));  // sums in parts
    check("CONVOLUTION", use, type);
    use = plain(tensor({1, 2, 5, 6, 9}), tensor({70, 2, 2, 3, 2}));
    use.strides = {1, 1, 2};
    use.start = use.end = {1, 0, 1};
    check("CONVOLUTION", use, type);
  }
}

// A GPU reads filters of such sums by fours, and windows of four positions of a row together.
TEST_CASE("CONVOLUTION: sums of whole vectors, in rows of any length") {
  Random random(67);
  const auto packed = [&](const List& sizes) {
    return with_small_numbers(Tensor::packed(DataType::Float32, sizes), random);
  };
  const auto tensor = [&](const List& sizes) {
    return small_numbers(DataType::Float32, sizes, random);
  };
  for (const std::uint64_t width : {16, 13}) {
    Convolution use = plain(tensor({2, 8, 9, width}), packed({14, 4, 3, 3}));
    // A GPU reads the first element in place of those outside.
    const float first = 3;
    std::memcpy(use.input.bytes.data(), &first, sizeof first);
    use.groups = 2;
    use.start = use.end = {1, 1};
    use.bias = tensor({1, 14, 1, 1});
    check("CONVOLUTION", use, DataType::Float32);
    use.strides = {1, 3};
    use.dilations = {2, 1};
    use.start = {2, 2};
    use.output_padding = {1, 1};
    check("CONVOLUTION", use, DataType::Float32);
  }
  check("CONVOLUTION", plain(tensor({2, 60, 47}), packed({7, 60, 9})),
        DataType::Float32);  // in parts
  check("CONVOLUTION", plain(tensor({1, 2, 4, 5, 9}), packed({70, 2, 2, 3, 2})), DataType::Float32);
}

// So many outputs that threads of a GPU walk down the images.
TEST_CASE("CONVOLUTION: single channels with small filters, whose sides differ") {
  Random random(66);
  for (int i = 0; i < 10; ++i) {
    const DataType type = random.one_in(2) ? DataType::Float32 : DataType::Float16;
    const auto tensor = [&](const List& sizes) { return small_numbers(type, sizes, random, 0.5); };
    const std::uint64_t filters = random.from_to(1, 2);
    const List taps{random.from_to(2, 5), random.from_to(1, 5)};
    Convolution use = plain(tensor({2, 3, random.from_to(45, 55), random.from_to(66, 76)}),
                            tensor({3 * filters, 1, taps[0], taps[1]}));
    use.groups = 3;
    use.flips = random.one_in(2);
    use.start = {random.below(3), random.below(3)};
    use.end = {random.below(3), random.below(3)};
    if (random.one_in(3)) {
      use.is_backward = true;
      use.filter = tensor({3, filters, taps[0], taps[1]});
      use.start = use.end = {0, 1};
    } else {
      use.strides = {1, random.from_to(1, filters)};
    }
    if (random.one_in(2)) use.bias = tensor({1, 3 * filters, 1, 1});
    check("CONVOLUTION", use, type);
  }
}

// Images as large as their outputs, several of which are packed at once; and what is like them.
TEST_CASE("CONVOLUTION: windows that reach over the ends of rows") {
  Random random(65);
  for (const std::uint64_t taps : {3, 5}) {
    for (const std::uint64_t dilation : {1, 3}) {
      for (const std::uint64_t outputs : {1, 4}) {
        const std::uint64_t side = (taps - 1) * dilation / 2;
        Convolution use = plain(small_numbers(DataType::Float32, {2, 2, 29, 37}, random),
                                small_numbers(DataType::Float32, {outputs, 2, taps, taps}, random));
        use.dilations = {dilation, dilation};
        use.start = use.end = {side, side};
        check("CONVOLUTION", use, DataType::Float32);
        use.start = {2 * side, 0};
        use.end = {0, 2 * side};
        use.flips = true;
        check("CONVOLUTION", use, DataType::Float32);
        use.input = random_tensor(DataType::UInt8, {1, 3, 29, 37}, random);
        use.filter = random_tensor(DataType::Int8, {outputs, 3, taps, taps}, random);
        use.input_zero = random_tensor(DataType::UInt8, {1, 1, 1, 1}, random);
        use.flips = false;
        check("CONVOLUTION_INTEGER", use, DataType::Int32);
      }
    }
  }
}

// Depthwise ones of all steps; their tiles are cut at columns, and at rows.
TEST_CASE("CONVOLUTION: one or two outputs of few channels") {
  Random random(66);
  for (const auto& [height, width] :
       {std::array<std::uint64_t, 2>{1, 2500}, {60, 150}, {250, 9}, {7, 7}}) {
    for (const std::uint64_t step : {1, 2, 3}) {
      for (const DataType type : {DataType::Float32, DataType::Float16}) {
        Convolution use = plain(small_numbers(type, {1, 3, height, width}, random),
                                small_numbers(type, {6, 1, height > 1 ? 3U : 1U, 4}, random));
        use.groups = 3;
        use.strides = {step, step};
        use.dilations = {2, 1 + step % 2};
        use.start = {height > 1 ? 2U : 0U, 3};
        use.end = {height > 1 ? 3U : 0U, 1};
        if (random.one_in(2)) use.bias = small_numbers(type, {1, 6, 1, 1}, random, 0.25);
        check("CONVOLUTION", use, type);
      }
    }
  }
}

TEST_CASE("CONVOLUTION: a fused activation is applied to the output padding too") {
  Convolution use = plain(floats({1, 1, 2}, {1, -2}), floats({1, 1, 1}, {2}));
  use.is_backward = true;
  use.output_padding = {1};
  PlanCase a_case = case_of("CONVOLUTION", use, floats({1, 1, 3}, {7, -5, 3}));
  a_case.fields["FusedActivation"] = {{"Type", "ACTIVATION_LINEAR"},
                                      {"Desc", {{"Alpha", 2}, {"Beta", 3}}}};
  check_plan_case(a_case);
}

TEST_CASE("CONVOLUTION: the filter must fit into the padded input") {
  const Convolution use = plain(floats({1, 1, 2}, {1, 2}), floats({1, 1, 2}, {1, 1}));
  nlohmann::ordered_json description =
      case_of("CONVOLUTION", use, floats({1, 1, 1}, {3})).description();
  CHECK(messages(description) == "");
  description["desc"]["FilterTensor"]["Sizes"] = {1, 1, 3};
  CHECK(messages(description) != "");
}

/// With outputs of other sizes than the formula's, as DirectML takes them.
void check_other_sizes(Convolution use, DataType type, Random& random) {
  const List sizes = use.output_sizes();
  for (std::size_t i = 0; i < use.strides.size(); ++i) {
    const std::uint64_t size = random.from_to(1, sizes[i + 2] + 6);
    use.outputs.push_back(std::max(size, use.output_padding[i] + 1));
  }
  PlanCase a_case = case_of("CONVOLUTION", use, use.result(type));
  a_case.judge = Judge::directml;
  check_plan_case(a_case);
}

TEST_CASE("CONVOLUTION: outputs of any sizes, as DirectML takes them") {
  Random random(71);
  for (int i = 0; i < 400; ++i) {
    const DataType type = random.one_in(2) ? DataType::Float32 : DataType::Float16;
    Convolution use = random_convolution(type, type, {}, random);
    if (random.one_in(2)) use.bias = small_numbers(type, channel_sizes(use, false), random, 0.25);
    check_other_sizes(use, type, random);
  }
}

TEST_CASE("CONVOLUTION: large outputs that end elsewhere than the formula says") {
  Random random(72);
  for (int i = 0; i < 12; ++i) {
    const DataType type = i % 2 == 0 ? DataType::Float32 : DataType::Float16;
    const auto tensor = [&](const List& sizes) { return small_numbers(type, sizes, random, 0.5); };
    // Single channels, of which threads of a GPU walk down the images; and tiles of many.
    const bool is_single = i % 4 < 2;
    Convolution use = is_single ? plain(tensor({2, 3, 50, 70}), tensor({3, 1, 3, 2}))
                                : plain(tensor({1, 8, 19, 23}), tensor({8, 8, 3, 3}));
    if (is_single) use.groups = 3;
    use.is_backward = i % 3 == 0;
    use.start = use.end = {1, 1};
    use.outputs = {use.output_sizes()[2] + 9, use.output_sizes()[3] + (i < 6 ? 5 : 0)};
    if (i >= 6) use.outputs[1] -= 4;
    use.bias = tensor({1, is_single ? 3U : 8U, 1, 1});
    PlanCase a_case = case_of("CONVOLUTION", use, use.result(type));
    a_case.judge = Judge::directml;
    a_case.is_for_every_gpu = true;
    check_plan_case(a_case);
  }
}

TEST_CASE("CONVOLUTION: an element is left before OutputPadding is added, also as DirectML") {
  Convolution use = plain(floats({1, 1, 2}, {1, 2}), floats({1, 1, 2}, {1, 1}));
  use.is_backward = true;
  use.output_padding = {1};
  use.outputs = {2};
  const auto found = [&](std::uint64_t size) {
    Tensor output = floats({1, 1, size}, std::vector<float>(size));
    PlanCase a_case = case_of("CONVOLUTION", use, output);
    a_case.judge = Judge::directml;
    return messages(a_case.description());
  };
  CHECK(found(2) == "");
  CHECK(found(1).find("OutputPadding[0] is 1") != std::string::npos);
}

void add_zero_points(Convolution& use, Random& random) {
  const List one(use.input.sizes.size(), 1);
  if (random.one_in(2)) use.input_zero = random_tensor(use.input.type, one, random);
  if (random.one_in(2))
    use.filter_zero = random_tensor(use.filter.type, channel_sizes(use, random.one_in(2)), random);
}

TEST_CASE("CONVOLUTION_INTEGER: random convolutions, padded with the zero point") {
  Random random(63);
  for (int i = 0; i < 200; ++i) {
    Convolution use =
        random_convolution(random.one_of(byte_types), random.one_of(byte_types),
                           {.spatial_max = 2, .may_be_backward = false, .unit = 1}, random);
    random.fill(use.input.bytes);
    random.fill(use.filter.bytes);
    add_zero_points(use, random);
    check("CONVOLUTION_INTEGER", use, DataType::Int32);
  }
}

TEST_CASE("QUANTIZED_LINEAR_CONVOLUTION: random convolutions, halves rounded to even") {
  Random random(64);
  for (int i = 0; i < 200; ++i) {
    Convolution use =
        random_convolution(random.one_of(byte_types), random.one_of(byte_types),
                           {.spatial_max = 2, .may_be_backward = false, .unit = 1}, random);
    const List one(use.input.sizes.size(), 1);
    add_zero_points(use, random);
    use.input_scale = powers_of_two(DataType::Float32, one, random);
    use.filter_scale =
        powers_of_two(DataType::Float32, channel_sizes(use, random.one_in(2)), random);
    if (random.one_in(2))
      use.bias = small_numbers(DataType::Int32, channel_sizes(use, false), random, 10);
    use.output_scale = Tensor::packed(DataType::Float32, one);
    set_value(*use.output_scale, Index(one.size(), 0),
              std::ldexp(1.0, static_cast<int>(random.below(8))));
    const DataType type = random.one_of(byte_types);
    use.output_zero = random_tensor(type, one, random);
    check("QUANTIZED_LINEAR_CONVOLUTION", use, type);
  }
}

}  // namespace
}  // namespace dmlop::test::convolution_test
