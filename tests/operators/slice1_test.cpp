// DML_OPERATOR_SLICE1.
#include "reference/slice1.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::slice1_test {
namespace {

// clang-format off
const Tensor page_input = floats({1, 1, 4, 4}, {
     1,  2,  3,  4,
     5,  6,  7,  8,
     9, 10, 11, 12,
    13, 14, 15, 16,
});

TEST_CASE("SLICE1: the page's first example") {
  const Slice1 slice{.offsets = {0, 0, 0, 1}, .window = {1, 1, 4, 3}, .strides = {1, 1, 2, 2}};
  check_known(slice, {page_input}, floats({1, 1, 2, 2}, {
       2,  4,
      10, 12,
  }));
}

TEST_CASE("SLICE1: the page's second example, a negative stride starts at the window's end") {
  const Slice1 slice{.offsets = {0, 0, 0, 1}, .window = {1, 1, 4, 3}, .strides = {1, 1, -2, 2}};
  check_known(slice, {page_input}, floats({1, 1, 2, 2}, {
      14, 16,
       6,  8,
  }));
}

TEST_CASE("SLICE1: negative strides start at the last element of the window, not of the input") {
  const Slice1 slice{.offsets = {1, 0}, .window = {2, 3}, .strides = {-1, -2}};
  check_known(slice, {floats({4, 4}, {
       1,  2,  3,  4,
       5,  6,  7,  8,
       9, 10, 11, 12,
      13, 14, 15, 16,
  })}, floats({2, 2}, {
      11,  9,
       7,  5,
  }));
}

TEST_CASE("SLICE1: a shortened output takes the first elements") {
  // DirectML 1.15.4 gives 0 1 2 3 here: it merges the dimensions. The page's formula is right.
  const Slice1 slice{.offsets = {0, 0}, .window = {2, 3}, .strides = {1, 1},
                     .output_sizes = {2, 2}};
  check_known(slice, {floats({2, 3}, {
      0, 1, 2,
      3, 4, 5,
  })}, floats({2, 2}, {
      0, 1,
      3, 4,
  }));
}

TEST_CASE("SLICE1: a shortened output with negative strides takes the last elements backwards") {
  const Slice1 slice{.offsets = {0, 0}, .window = {2, 3}, .strides = {-1, -1},
                     .output_sizes = {1, 2}};
  check_known(slice, {floats({2, 3}, {
      0, 1, 2,
      3, 4, 5,
  })}, floats({1, 2}, {
      5, 4,
  }));
}

TEST_CASE("SLICE1: a stride beyond the window leaves one element, at either end") {
  constexpr std::int64_t int_min = -2147483648LL, int_max = 2147483647;
  const Tensor input = floats({4}, {1, 2, 3, 4});
  const auto check = [&](std::int64_t stride, float expected) {
    check_known(Slice1{{1}, {3}, {stride}}, {input}, floats({1}, {expected}));
  };
  check(3, 2);
  check(int_max, 2);
  check(-3, 4);
  check(int_min, 4);
}

TEST_CASE("SLICE1: the largest stride with the largest tensor stride") {
  nlohmann::ordered_json description =
      case_of(Slice1{{0, 0}, {2, 1}, {-2147483648LL, 2147483647}}, {floats({2, 1}, {1, 2})})
          .description;
  description["desc"]["InputTensor"]["Strides"] = {4294967295, 4294967295};
  CHECK(messages(description) == "");
  CHECK(std::get<IndexMapKernel>(kernel_of(description)).offset == 4294967295);
}

TEST_CASE("SLICE1: copies are bit for bit") {
  const std::vector<std::uint64_t> bits{0x7FF0000000000001, 0x8000000000000000, 1,
                                        0xFFFFFFFFFFFFFFFF};
  const std::vector<std::uint64_t> backwards(bits.rbegin(), bits.rend());
  check_known(Slice1{{0}, {4}, {-1}}, {Tensor::of(DataType::Float64, {4}, bits)},
              Tensor::of(DataType::Float64, {4}, backwards));
}
// clang-format on

TEST_CASE("SLICE1: what the window and the output must keep to") {
  const Tensor input = Tensor::packed(DataType::UInt8, {8});
  const auto refused = [&](const char* field, const nlohmann::ordered_json& value) {
    nlohmann::ordered_json description = case_of(Slice1{{2}, {6}, {-4}}, {input}).description;
    REQUIRE(messages(description) == "");
    if (std::string(field) == "OutputTensor") {
      description["desc"][field]["Sizes"] = value;
    } else {
      description["desc"][field] = value;
      description["desc"].erase("OutputTensor");
    }
    return messages(description) != "";
  };
  CHECK(refused("InputWindowOffsets", {3}));           // 3 + 6 > 8
  CHECK(refused("InputWindowOffsets", {4294967295}));  // 2^32 - 1 + 6 is not 5
  CHECK(refused("InputWindowSizes", {0}));
  CHECK(refused("InputWindowSizes", {7}));
  CHECK(refused("InputWindowSizes", {6, 1}));
  CHECK(refused("InputWindowStrides", {0}));
  CHECK(refused("InputWindowStrides", {2147483648}));   // no INT
  CHECK(refused("InputWindowStrides", {-2147483649}));  // no INT
  CHECK(refused("OutputTensor", {0}));
  CHECK(refused("OutputTensor", {3}));  // 1 + (6 - 1) / 4 = 2 is the most
  CHECK_FALSE(refused("OutputTensor", {1}));
  CHECK_FALSE(refused("InputWindowStrides", {-2147483648}));
}

TEST_CASE("SLICE1: an output that is left out is the largest") {
  Case a_case = case_of(Slice1{{0, 1}, {5, 6}, {2, -4}}, {Tensor::packed(DataType::Int8, {5, 7})});
  a_case.description["desc"].erase("OutputTensor");
  Random random(3);
  check_case(a_case, random);
  CHECK(a_case.expected.sizes == List{3, 2});
}

Slice1 random_slice(const List& sizes, Random& random) {
  Slice1 slice;
  for (const std::uint64_t size : sizes) {
    const std::uint64_t window = random.one_in(2) ? size : random.from_to(1, size);
    slice.window.push_back(window);
    slice.offsets.push_back(random.below(size - window + 1));
    const auto step = static_cast<std::int64_t>(random.one_in(2) ? 1 : random.from_to(1, 4));
    slice.strides.push_back(random.one_in(2) ? -step : step);
    if (random.one_in(16)) slice.strides.back() = -2147483648LL;
  }
  return slice;
}

Case random_case(DataType type, std::size_t dimensions, Random& random) {
  const Tensor input = random_tensor(type, random_sizes(dimensions, random), random);
  Slice1 slice = random_slice(input.sizes, random);
  const bool shortened = random.one_in(3);
  if (shortened) {
    slice.output_sizes = slice.largest_sizes();
    for (std::uint64_t& size : slice.output_sizes) {
      if (random.one_in(2)) size = random.from_to(1, size);
    }
  }
  Case a_case = case_of(slice, {input});
  if (!shortened && random.one_in(4)) a_case.description["desc"].erase("OutputTensor");
  return a_case;
}

const RandomOperator random_slice1("SLICE1", [](Random& random) {
  return random_case(random.one_of(A11), random.from_to(1, 8), random);
});

// A type for each size of an element.
const Types sizes_of_elements{DataType::UInt8, DataType::Float16, DataType::Int32,
                              DataType::UInt64};

TEST_CASE("SLICE1: rows that are long, of odd sizes, within whole vectors and at their ends") {
  Random random(31);
  for (const DataType type : sizes_of_elements) {
    for (const std::vector<std::int64_t>& steps :
         {std::vector<std::int64_t>{1, 1}, {1, -1}, {2, 2}, {1, 3}}) {
      for (std::uint64_t offset = 0; offset < 6; ++offset) {
        Tensor input = Tensor::packed(type, {5, 1025});
        random.fill(input.bytes);
        check_one_of_many(case_of(Slice1{{0, offset}, {5, 1019}, steps}, {input}), random);
      }
    }
  }
}

TEST_CASE("SLICE1: every element, every second and every third one in many dimensions") {
  Random random(32);
  for (const DataType type : sizes_of_elements) {
    for (std::size_t dimensions = 1; dimensions <= 6; ++dimensions) {
      List sizes(dimensions, 3);
      sizes.back() = 70;
      Tensor input = Tensor::packed(type, sizes);
      random.fill(input.bytes);
      for (const std::int64_t innermost : {1, 2, 3}) {
        Slice1 slice{List(dimensions, 0), sizes, std::vector<std::int64_t>(dimensions, 2)};
        slice.strides.back() = innermost;
        check_case(case_of(slice, {input}), random);
      }
    }
  }
}

// A GPU's tiles copy their inputs together, so that they never meet these orders of dimensions.
// Strides of 1 and -1 are those of the window, which is the whole input.
void check_whole(const Tensor& input, std::vector<std::int64_t> strides = {}) {
  const List& sizes = input.sizes;
  if (strides.empty()) strides.assign(sizes.size(), 1);
  const Slice1 all{List(sizes.size(), 0), sizes, strides};
  const Case a_case = case_of(all, {input});
  CAPTURE(a_case.description.dump());
  const Kernel kernel = kernel_of(a_case.description);
  for (const SweptBackend& backend : available_backends()) {
    if (backend.name == "gpu in tiles") continue;
    const auto found = execute_guarded(backend, kernel, a_case.inputs, 0, output_elements(kernel));
    CHECK(difference(input.type, found, a_case.expected.bytes) == "");
  }
}

// A tensor of random bytes with `others` dimensions of two in front of two more of these sizes and
// strides. None of them continues another one.
Tensor with_dimensions(DataType type, std::size_t others, const List& sizes, const List& strides,
                       Random& random) {
  Tensor input = Tensor::strided(type, sizes, strides);
  std::uint64_t stride = (input.bytes.size() / size_of(type) + 31) / 16 * 16;
  List all_sizes(others, 2), all_strides;
  for (std::size_t i = 0; i < others; ++i, stride *= 2) all_strides.push_back(stride + 16 * i);
  all_sizes.insert(all_sizes.end(), sizes.begin(), sizes.end());
  all_strides.insert(all_strides.end(), strides.begin(), strides.end());
  input = Tensor::strided(type, all_sizes, all_strides);
  random.fill(input.bytes);
  return input;
}

// Direct3D compiles each shape for itself: one for each size of an element.
#ifdef _WIN32
constexpr bool has_all_shapes = false;
#else
constexpr bool has_all_shapes = true;
#endif

TEST_CASE("SLICE1: columns of an input become rows of the output, tile by tile") {
  Random random(33);
  std::size_t others = 0;
  for (const DataType type : sizes_of_elements) {
    const std::uint64_t size = size_of(type), per_vector = 16 / size;
    // A little more than a tile in either direction; columns begin with words, or do not.
    const std::uint64_t rows = (size == 8 ? 32 : 128 / size) + 4;
    const std::uint64_t length = (size == 8 ? 64 : 128) + 3 * per_vector;
    for (std::uint64_t gap = 0; gap < (has_all_shapes && size < 4 ? 2 : 1); ++gap) {
      check_whole(with_dimensions(type, others, {rows, length}, {1, rows + gap}, random));
      others = (others + 1) % 5;
    }
  }
}

TEST_CASE("SLICE1: rows of an input take turns in a row of the output, and the other way round") {
  Random random(34);
  for (std::size_t i = 0; i < (has_all_shapes ? 12 : 4); ++i) {
    const std::size_t combination = i / 2, others = combination % 5;
    const DataType type = sizes_of_elements[(combination + i % 2 * 2) % 4];
    const std::uint64_t few = 2 + combination / 2, per_vector = 16 / size_of(type);
    // Once more than a group of threads moves.
    const std::uint64_t length = (others == 0 ? 1100 : 3) * per_vector;
    if (combination % 2 == 0) {
      check_whole(with_dimensions(type, others, {few, length}, {1, few}, random));
    } else {
      // Words, pairs of them, or whole vectors.
      const std::uint64_t turns =
          few == 3 ? length : length + std::max<std::uint64_t>(per_vector / few, 1);
      check_whole(with_dimensions(type, others, {turns, few}, {1, turns}, random));
    }
  }
}

TEST_CASE("SLICE1: rows of an input take turns, beginning with the last one") {
  Random random(35);
  const std::uint64_t length = 1100;
  for (const DataType type : sizes_of_elements) {
    for (std::uint64_t few = 2; few <= (has_all_shapes ? 4 : 2); ++few) {
      const std::uint64_t turns = (length + 15) / 16 * 16;
      Tensor input = with_dimensions(type, 0, {turns, few}, {1, turns}, random);
      check_whole(input, {1, -1});
    }
  }
}

TEST_CASE("SLICE1: sweep over types and dimensions") {
  Random random(30);
  for (const DataType type : A11) {
    for (std::size_t dimensions = 1; dimensions <= 8; ++dimensions) {
      for (int repeat = 0; repeat < 200; ++repeat)
        check_one_of_many(random_case(type, dimensions, random), random);
    }
  }
}

}  // namespace
}  // namespace dmlop::test::slice1_test
