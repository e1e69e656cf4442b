// DML_OPERATOR_LP_POOLING. The promise: within 4 units in the last place of the exact norm.
#include "reference/lp_pooling.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <span>

#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::lp_pooling_test {
namespace {

constexpr std::uint64_t promise = 4;
constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();
const std::vector<std::uint64_t> exponents{1, 2, 3, 4, 5, 7, 1000};

Tensor halves(const List& sizes, const std::vector<std::uint16_t>& bits) {
  return Tensor::of(DataType::Float16, sizes, bits);
}

/// A window over one row of elements.
LpPooling row_of(std::uint64_t p, std::uint64_t count) {
  return {.p = p, .window = {1, count}, .strides = {1, 1}, .start = {0, 0}, .end = {0, 0}};
}

/// The norm of a row of floats, which must be this very float.
void check_norm(std::uint64_t p, const std::vector<float>& row, float expected) {
  CAPTURE(p);
  check_known(row_of(p, row.size()), {floats({1, 1, 1, row.size()}, row)},
              floats({1, 1, 1, 1}, {expected}));
}

TEST_CASE("LP_POOLING: one window, worked by hand") {
  // clang-format off
  const Tensor input = floats({1, 1, 2, 2}, {
      1, -2,
      3, -4,
  });
  // clang-format on
  const auto check = [&](std::uint64_t p, float expected) {
    const LpPooling pooling{
        .p = p, .window = {2, 2}, .strides = {1, 1}, .start = {0, 0}, .end = {0, 0}};
    check_known(pooling, {input}, floats({1, 1, 1, 1}, {expected}), p <= 2 ? 0 : 1);
  };
  check(1, 10);
  check(2, 5.4772256F);
  check(3, 4.6415888F);
}

TEST_CASE("LP_POOLING: windows over padding and stride, worked by hand") {
  // clang-format off
  const LpPooling pooling{.p = 2, .window = {2, 2}, .strides = {2, 2}, .start = {1, 1}, .end = {1, 1}};
  check_known(pooling, {floats({1, 1, 3, 3}, {
      1, 2, 3,
      4, 5, 6,
      7, 8, 9,
  })}, floats({1, 1, 2, 2}, {
      1,          3.6055513F,
      8.0622577F, 14.3527001F,
  }), 1);
  // clang-format on
}

TEST_CASE("LP_POOLING: the absolute value is taken, also for odd P") {
  check_norm(1, {-1, 2}, 3);
  check_known(row_of(3, 2), {floats({1, 1, 1, 2}, {-1, 2})}, floats({1, 1, 1, 1}, {2.0800838F}), 1);
  for (const std::uint64_t p : exponents) check_norm(p, {-7, 0, 0}, 7);
}

TEST_CASE("LP_POOLING: three spatial dimensions") {
  const LpPooling pooling{
      .p = 1, .window = {2, 2, 2}, .strides = {1, 1, 1}, .start = {0, 0, 0}, .end = {1, 0, 0}};
  // clang-format off
  check_known(pooling, {floats({1, 1, 2, 2, 3}, {
       1,  2,  3,
       4,  5,  6,

      -1, -2, -3,
      -4, -5, -6,
  })}, floats({1, 1, 2, 1, 2}, {
      24, 32,

      12, 16,
  }));
  // clang-format on
}

TEST_CASE("LP_POOLING: batches and channels do not mix") {
  // clang-format off
  check_known(row_of(1, 2), {floats({2, 2, 1, 3}, {
         1,    2,    4,     10,   20,   40,
       100,  200,  400,   1000, 2000, 4000,
  })}, floats({2, 2, 1, 2}, {
         3,    6,           30,   60,
       300,  600,         3000, 6000,
  }));
  // clang-format on
}

TEST_CASE("LP_POOLING: the last rows and columns that no whole window covers are left out") {
  const LpPooling pooling{
      .p = 1, .window = {1, 2}, .strides = {1, 2}, .start = {0, 0}, .end = {0, 0}};
  check_known(pooling, {floats({1, 1, 1, 5}, {1, 2, 3, 4, 5})}, floats({1, 1, 1, 2}, {3, 7}));
}

TEST_CASE("LP_POOLING: a window wholly in padding gives 0") {
  for (const std::uint64_t p : exponents) {
    const LpPooling pooling{
        .p = p, .window = {1, 2}, .strides = {1, 2}, .start = {0, 4}, .end = {0, 3}};
    check_known(pooling, {floats({1, 1, 1, 1}, {5})}, floats({1, 1, 1, 4}, {0, 0, 5, 0}));
  }
}

TEST_CASE("LP_POOLING: NaN gives NaN, infinity gives infinity, -0 gives 0") {
  for (const std::uint64_t p : exponents) {
    const auto check = [p](const std::vector<float>& row, float expected) {
      CAPTURE(p);
      check_known(row_of(p, 3), {floats({1, 1, 1, 3}, row)}, floats({1, 1, 1, 1}, {expected}), 1);
    };
    check({1, nan, 2}, nan);
    check({nan, 0, 0}, nan);
    check({infinity, nan, 0}, nan);
    check({1, infinity, 2}, infinity);
    check({-infinity, 0, infinity}, infinity);
    check_norm(p, {-0.0F, -0.0F}, 0.0F);  // the bytes of 0, not of -0
    check_known(row_of(p, 2), {halves({1, 1, 1, 2}, {0x8000, 0xFC00})},
                halves({1, 1, 1, 1}, {0x7C00}));
  }
}

TEST_CASE("LP_POOLING: powers beyond the range of FLOAT32 are exact where the norm is in it") {
  check_norm(2, {1e30F}, 1e30F);
  check_norm(2, {3e30F, 4e30F}, 5e30F);
  check_norm(2, {3e-30F, -4e-30F}, 5e-30F);
  for (const std::uint64_t p : exponents) {
    check_known(row_of(p, 1), {floats({1, 1, 1, 1}, {3e38F})}, floats({1, 1, 1, 1}, {3e38F}), 1);
    check_known(row_of(p, 1), {floats({1, 1, 1, 1}, {1e-45F})}, floats({1, 1, 1, 1}, {1e-45F}));
  }
  check_norm(1, {3e38F, 3e38F}, infinity);
  // For a large P the norm is that of the maximum.
  check_norm(1000, {3, -40, 5}, 40);
  check_norm(4294967295, {3, -40, 5}, 40);
}

TEST_CASE("LP_POOLING: FLOAT16 sums are not rounded on the way") {
  constexpr std::uint16_t one = 0x3C00, value_4096 = 0x6C00, value_64 = 0x5400;
  const Tensor ones = halves({1, 1, 64, 64}, std::vector<std::uint16_t>(4096, one));
  const auto check = [&](std::uint64_t p, std::uint16_t expected) {
    const LpPooling pooling{
        .p = p, .window = {64, 64}, .strides = {1, 1}, .start = {0, 0}, .end = {0, 0}};
    check_known(pooling, {ones}, halves({1, 1, 1, 1}, {expected}));
  };
  check(1, value_4096);
  check(2, value_64);
  // 300^2 is beyond FLOAT16; the norm is not.
  check_known(row_of(2, 1), {halves({1, 1, 1, 1}, {0x5CB0})}, halves({1, 1, 1, 1}, {0x5CB0}));
  // 65504 + 65504 is infinity in the result, and only there.
  check_known(row_of(1, 2), {halves({1, 1, 1, 2}, {0x7BFF, 0xFBFF})},
              halves({1, 1, 1, 1}, {0x7C00}));
}

TEST_CASE("LP_POOLING: FLOAT32 sums keep what single additions would lose") {
  std::vector<float> row(1 << 15, 1.0F);
  row[0] = 16777216;  // 2^24, to which a FLOAT32 sum could add no 1
  check_norm(1, row, 16777216.0F + 32767.0F);
}

// Windows of thousands of elements: more than a thread of a GPU may take (gpu/device.hpp).

/// A tensor whose only element is repeated everywhere.
Tensor repeated(DataType type, double value, const List& sizes) {
  Tensor tensor = Tensor::strided(type, sizes, List(sizes.size(), 0));
  tensor.bytes = element(type, value);
  return tensor;
}

Tensor one_element(DataType type, double value) {
  Tensor tensor = Tensor::packed(type, {1, 1, 1, 1});
  tensor.bytes = element(type, value);
  return tensor;
}

TEST_CASE("LP_POOLING: large windows of ones") {
  const auto check_ones = [](DataType type, std::uint64_t p, std::uint64_t size, double norm) {
    CAPTURE(name_of(type));
    CAPTURE(p);
    CAPTURE(size);
    const LpPooling pooling{
        .p = p, .window = {size, size}, .strides = {1, 1}, .start = {0, 0}, .end = {0, 0}};
    Random random(1);
    check_case(
        case_of(pooling, {repeated(type, 1, {1, 1, size, size})}, one_element(type, norm), 0),
        random);
  };
  check_ones(DataType::Float16, 4, 64, 8);
  check_ones(DataType::Float32, 2, 256, 256);
  check_ones(DataType::Float32, 1, 256, 65536);
  check_ones(DataType::Float32, 3, 512, 64);
  check_ones(DataType::Float32, 1, 8192, 67108864);  // FLOAT32 sums of ones end at 2^24
  check_ones(DataType::Float16, 2, 4096, 4096);
}

TEST_CASE("LP_POOLING: large windows of numbers whose powers leave FLOAT32") {
  Random random(52);
  for (const std::uint64_t p : exponents) {
    for (const double scale : {3e32, 1e-30, 1e-42, 0.0}) {
      CAPTURE(p);
      CAPTURE(scale);
      Tensor input = Tensor::packed(DataType::Float32, {1, 1, 3, 5000});
      for (std::size_t at = 0; at < input.bytes.size(); at += sizeof(float)) {
        const double value = scale * static_cast<double>(random.from_to(1, 100));
        const auto bytes = element(input.type, random.one_in(2) ? value : -value);
        std::copy(bytes.begin(), bytes.end(), &input.bytes[at]);
      }
      const LpPooling pooling{
          .p = p, .window = {2, 4500}, .strides = {1, 100}, .start = {0, 200}, .end = {0, 300}};
      check_case(case_of(pooling, {input}, promise), random);
    }
  }
}

TEST_CASE("LP_POOLING: many outputs with large windows") {
  Random random(53);
  for (const DataType type : F2) {
    // Little memory holds one element and 8 x 8 outputs, and not what is known of all their
    // windows.
    const LpPooling pooling{
        .p = 2, .window = {60, 60}, .strides = {1, 1}, .start = {1, 0}, .end = {0, 0}};
    check_case(case_of(pooling, {repeated(type, 0.5, {1, 1, 66, 67})}, promise), random);
    const LpPooling wide{
        .p = 4, .window = {40, 41}, .strides = {1, 1}, .start = {0, 5}, .end = {3, 0}};
    check_case(case_of(wide, {random_numbers(type, {2, 1, 45, 60}, false, random)}, promise),
               random);
  }
}

TEST_CASE("LP_POOLING: rows longer than are computed together") {
  Random random(50);
  for (const std::uint64_t p : exponents) {
    const LpPooling pooling{
        .p = p, .window = {2, 3}, .strides = {1, 2}, .start = {1, 1}, .end = {0, 2}};
    const Tensor input = random_numbers(DataType::Float32, {1, 2, 2, 4200}, false, random);
    check_case(case_of(pooling, {input}, promise), random);
  }
}

TEST_CASE("LP_POOLING: what the fields must keep to") {
  const LpPooling pooling{
      .p = 2, .window = {2, 3}, .strides = {1, 1}, .start = {0, 1}, .end = {0, 1}};
  const nlohmann::ordered_json good =
      case_of(pooling, {Tensor::packed(DataType::Float32, {2, 3, 4, 5})}).description;
  REQUIRE(messages(good) == "");
  const auto refused = [&](const char* field, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json description = good;
    description["desc"].erase("OutputTensor");
    description["desc"][field] = value;
    return messages(description) != "";
  };
  CHECK(refused("P", 0));
  CHECK(refused("P", -1));
  CHECK(refused("P", 1.5));
  CHECK(refused("Strides", {0, 1}));
  CHECK(refused("WindowSize", {2, 0}));
  CHECK(refused("WindowSize", {5, 3}));  // 4 + 0 + 0 < 5
  CHECK_FALSE(refused("WindowSize", {4, 7}));
  CHECK(refused("DimensionCount", 3));
  CHECK(refused("StartPadding", {0, 1, 0}));
  nlohmann::ordered_json output = good["desc"]["OutputTensor"];
  CHECK_FALSE(refused("OutputTensor", output));
  for (const List& sizes :
       {List{1, 3, 3, 5}, List{2, 2, 3, 5}, List{2, 3, 4, 5}, List{2, 3, 3, 4}}) {
    output["Sizes"] = sizes;
    CHECK(refused("OutputTensor", output));
  }
}

LpPooling random_pooling(std::uint64_t p, const List& sizes, Random& random) {
  LpPooling pooling{.p = p};
  for (std::size_t i = 2; i < sizes.size(); ++i) {
    const std::uint64_t start = random.one_in(2) ? 0 : random.below(8);
    const std::uint64_t end = random.one_in(2) ? 0 : random.below(8);
    pooling.start.push_back(start);
    pooling.end.push_back(end);
    pooling.window.push_back(random.from_to(1, std::min<std::uint64_t>(sizes[i] + start + end, 9)));
    pooling.strides.push_back(random.from_to(1, 4));
  }
  return pooling;
}

Case random_case(DataType type, std::size_t dimensions, std::uint64_t p, bool special,
                 Random& random) {
  const List sizes = random_sizes(dimensions, random);
  const LpPooling pooling = random_pooling(p, sizes, random);
  Case a_case = case_of(pooling, {random_numbers(type, sizes, special, random)}, promise);
  if (random.one_in(4)) a_case.description["desc"].erase("OutputTensor");
  return a_case;
}

// At least one window size is large, and some reach far into the padding.
Case random_large_case(Random& random) {
  const DataType type = random.one_of(F2);
  const std::size_t spatial = random.from_to(2, 3);
  const std::uint64_t size_max = spatial == 2 ? 150 : 30;
  LpPooling pooling{.p = random.one_of(exponents)};
  List sizes{random.from_to(1, 2), random.from_to(1, 2)};
  for (std::size_t i = 0; i < spatial; ++i) {
    sizes.push_back(random.one_in(4) ? random.from_to(1, 8)
                                     : random.from_to(size_max / 2, size_max));
    const std::uint64_t padding = random.one_in(2) ? 0 : random.below(2 * sizes.back());
    pooling.start.push_back(random.below(padding + 1));
    pooling.end.push_back(padding - pooling.start.back());
    const std::uint64_t padded = sizes.back() + padding;
    pooling.window.push_back(random.one_in(2)
                                 ? padded - random.below(std::min<std::uint64_t>(padded, 3))
                                 : random.from_to(padded / 2 + 1, padded));
    pooling.strides.push_back(random.from_to(padded / 8 + 1, padded));
  }
  return case_of(pooling, {random_numbers(type, sizes, random.one_in(8), random)}, promise);
}

TEST_CASE("LP_POOLING: sweep over large windows") {
  Random random(54);
  for (int repeat = 0; repeat < 150; ++repeat) check_one_of_many(random_large_case(random), random);
}

const RandomOperator random_lp_pooling("LP_POOLING", [](Random& random) {
  return random_case(random.one_of(F2), random.from_to(4, 5), random.one_of(exponents),
                     random.one_in(8), random);
});

/// Numbers side by side.
Tensor packed_numbers(DataType type, const List& sizes, bool special, Random& random) {
  const Tensor packed = Tensor::packed(type, sizes);
  for (;;) {
    Tensor tensor = random_numbers(type, sizes, special, random);
    if (tensor.strides == packed.strides) return tensor;
  }
}

TEST_CASE("LP_POOLING: so many outputs that a GPU walks down the windows") {
  struct Walked {
    List window, strides, start, end;
    std::uint64_t height, width;
  };
  // Output widths are odd and even, those of the input, too. Some windows end one element behind
  // the input. Threads take an even number of rows, but for the last shape.
  const std::vector<Walked> shapes{
      {{3, 3}, {1, 1}, {0, 0}, {0, 0}, 68, 128},  {{7, 7}, {1, 1}, {3, 3}, {3, 3}, 66, 126},
      {{3, 2}, {2, 2}, {0, 0}, {0, 0}, 136, 248}, {{4, 5}, {3, 2}, {1, 0}, {2, 3}, 200, 251},
      {{2, 6}, {1, 3}, {0, 2}, {0, 0}, 66, 386},  {{2, 2}, {2, 2}, {0, 0}, {0, 0}, 130, 260},
      {{3, 3}, {1, 1}, {0, 0}, {0, 1}, 68, 128},  {{3, 3}, {1, 1}, {0, 0}, {1, 0}, 69, 129},
      {{3, 3}, {1, 1}, {0, 0}, {0, 0}, 27, 386}};
  Random random(55);
  for (const DataType type : F2) {
    std::uint64_t p = type == DataType::Float32 ? 1 : 0;
#ifdef _WIN32  // Direct3D compiles each shape for itself, and larger windows take long: one, with
               // every exponent
    const std::vector<Walked> some(std::size(exponents), shapes.front());
#else
    const std::vector<Walked>& some = shapes;
#endif
    for (const Walked& shape : some) {
      const LpPooling pooling{.p = exponents[p++ % 5],
                              .window = shape.window,
                              .strides = shape.strides,
                              .start = shape.start,
                              .end = shape.end};
      for (const bool special : {false, true}) {
        const Tensor input =
            packed_numbers(type, {1, 2, shape.height, shape.width + p % 2}, special, random);
        check_case(case_of(pooling, {input}, promise), random);
      }
    }
  }
}

TEST_CASE("LP_POOLING: a GPU walks down with every exponent where rows are whole vectors") {
  Random random(56);
  for (const DataType type : F2) {
    for (const std::uint64_t p : exponents) {
      const LpPooling pooling{
          .p = p, .window = {2, 2}, .strides = {2, 2}, .start = {0, 0}, .end = {0, 0}};
      const Tensor input = packed_numbers(type, {1, 2, 130, 256}, true, random);
      check_case(case_of(pooling, {input}, promise), random);
    }
  }
}

TEST_CASE("LP_POOLING: exponents on both sides of those whose powers leave float32 and double") {
  // The largest of the numbers makes the norm, and the others still count.
  for (const std::uint64_t p : std::initializer_list<std::uint64_t>{
           8,   15,  16,  17,  31,  32,  33,  63,  64,   65,   126,  127,
           128, 149, 150, 200, 255, 256, 257, 320, 1023, 1024, 1025, 4294967295}) {
    for (const double scale : {1.0, 1e-30, 1e30}) {
      CAPTURE(p);
      CAPTURE(scale);
      const auto at = [&](double x) { return static_cast<float>(x * scale); };
      const Tensor input = floats({1, 1, 1, 4}, {at(1.9), at(-1.899), at(0.1), at(1.5)});
      Random random(1);
      check_case(case_of(row_of(p, 3), {input}, promise), random);
    }
  }
}

TEST_CASE("LP_POOLING: sweep over types, dimensions and exponents") {
  Random random(51);
  for (const DataType type : F2) {
    for (const std::size_t dimensions : {std::size_t{4}, std::size_t{5}}) {
      for (const std::uint64_t p : exponents) {
        for (int repeat = 0; repeat < 200; ++repeat)
          check_one_of_many(random_case(type, dimensions, p, repeat % 8 == 0, random), random);
      }
    }
  }
}

}  // namespace
}  // namespace dmlop::test::lp_pooling_test
