// The CPU's kernels on every instruction set that this machine has: whole vectors, their ends, and
// the bytes after the inputs, checked against the references. The sweeps of the operators' own
// tests use only the best instruction set.
#include "cpu/simd.hpp"
//
#include <doctest/doctest.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "base/parallel.hpp"
#include "cpu/elements.hpp"
#include "cpu/execute.hpp"
#include "cpu/halves.hpp"
#include "end_of_page.hpp"
#include "reference/moving.hpp"
#include "reference/padding.hpp"
#include "reference/reverse_subsequences.hpp"
#include "reference/slice1.hpp"
#include "reference/windows.hpp"
#include "simd_targets.hpp"
#include "sweep.hpp"
#include "tensor/half.hpp"
#include "types.hpp"

namespace dmlop::test::cpu_kernels_test {
namespace {

constexpr std::uint64_t promise = 4;

// What a case gives when it is computed with `compute`; checks that nothing else is written.
template <typename Compute>
std::vector<std::byte> guarded(std::uint64_t size, std::uint64_t misalignment, Compute&& compute) {
  constexpr std::uint64_t guard_size = 128;
  constexpr std::byte guard{0x5A};
  std::vector<std::byte> output(size + 2 * guard_size + misalignment, guard);
  const std::uint64_t at = guard_size + misalignment;
  compute(output.data() + at);
  for (std::uint64_t i = 0; i < at; ++i) REQUIRE(output[i] == guard);
  for (std::uint64_t i = at + size; i < output.size(); ++i) REQUIRE(output[i] == guard);
  const auto first = output.begin() + static_cast<std::ptrdiff_t>(at);
  return {first, first + static_cast<std::ptrdiff_t>(size)};
}

/// Checks a case on every instruction set: whole, in its parts, in stretches cut anywhere, and past
/// the caches.
void check_on_every_target(const Case& a_case, Random& random) {
  const Kernel kernel = kernel_of(a_case.description);
  std::vector<std::unique_ptr<EndOfPage>> pages;
  std::vector<std::span<const std::byte>> inputs;
  for (const Tensor& tensor : a_case.inputs) {
    pages.push_back(std::make_unique<EndOfPage>(tensor.bytes));
    inputs.push_back(pages.back()->bytes());
  }
  const Tensor& expected = a_case.expected;
  const std::uint64_t count = output_elements(kernel), size = output_element_size(kernel);
  const auto check = [&](const char* what, auto&& compute) {
    CAPTURE(std::string(what));
    const auto found = guarded(count * size, random.below(65), compute);
    CHECK(difference(expected.type, found, expected.bytes, a_case.ulp) == "");
    return found;
  };
  CAPTURE(a_case.description.dump());
  on_every_target([&] {
    const auto whole =
        check("whole", [&](std::byte* to) { cpu::execute(kernel, inputs, 0, count, to); });
    const auto same = [&](const std::vector<std::byte>& other) { CHECK(other == whole); };
    same(check("in stretches", [&](std::byte* to) {
      for (std::uint64_t begin = 0; begin < count;) {
        const std::uint64_t end = std::min(count, begin + random.from_to(1, 1 + count / 3));
        cpu::execute(kernel, inputs, begin, end, to + begin * size);
        begin = end;
      }
    }));
    for (const cpu::Stores stores : {cpu::Stores::cached, cpu::Stores::streaming}) {
      const cpu::Parts parts(kernel, random.from_to(1, 2 * count * size));
      same(check("in parts", [&](std::byte* to) {
        for (std::uint64_t i = 0; i < parts.count(); ++i) {
          const cpu::Part part = parts[i];
          const cpu::Destination output{to + part.begin * size, part.step * size};
          cpu::execute_part(kernel, inputs, part, stores, {&output, 1});
        }
      }));
    }
  });
}

// Sizes about those of vectors (1 to 64 elements), and one that is cut.
std::uint64_t extent_about_vectors(Random& random) {
  const std::uint64_t power = std::uint64_t{1} << random.below(8);
  return random.one_in(8) ? random.from_to(1000, 2100) : power + random.below(power + 1);
}

List shape(Random& random) {
  return {random.from_to(1, 2), random.from_to(1, 3), random.from_to(1, 4),
          extent_about_vectors(random)};
}

TEST_CASE("cpu kernels: SLICE1") {
  Random random(60);
  for (const DataType type :
       {DataType::UInt8, DataType::Int16, DataType::Float32, DataType::Int64}) {
    for (int repeat = 0; repeat < 60; ++repeat) {
      const Tensor input = random_tensor(type, shape(random), random);
      Slice1 slice;
      for (const std::uint64_t size : input.sizes) {
        slice.window.push_back(random.one_in(2) ? size : random.from_to(1, size));
        slice.offsets.push_back(random.below(size - slice.window.back() + 1));
        const auto step = static_cast<std::int64_t>(random.from_to(1, 3));
        slice.strides.push_back(random.one_in(2) ? step : -step);
      }
      check_on_every_target(case_of(slice, {input}), random);
    }
  }
}

TEST_CASE("cpu kernels: PADDING") {
  Random random(61);
  for (const DataType type :
       {DataType::UInt8, DataType::Int16, DataType::Float32, DataType::Int64}) {
    for (const char* mode : {"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"}) {
      for (int repeat = 0; repeat < 12; ++repeat) {
        const Tensor input = random_tensor(type, shape(random), random);
        Padding padding{.mode = mode, .start = {}, .end = {}, .value = 7};
        for (std::size_t i = 0; i < input.sizes.size(); ++i) {
          padding.start.push_back(random.one_in(2) ? 0 : random.below(7));
          padding.end.push_back(random.one_in(2) ? 0 : random.below(7));
        }
        check_on_every_target(case_of(padding, {input}), random);
      }
    }
  }
}

Tensor random_lengths(DataType type, const List& sizes, std::uint64_t longest, Random& random) {
  Tensor lengths = random_tensor(type, sizes, random);
  for (std::size_t at = 0; at < lengths.bytes.size(); at += lengths.element_size()) {
    std::uint64_t length = random.below(longest + 2);
    if (random.one_in(16)) length = ~std::uint64_t{0};
    std::memcpy(&lengths.bytes[at], &length, lengths.element_size());
  }
  return lengths;
}

TEST_CASE("cpu kernels: REVERSE_SUBSEQUENCES") {
  Random random(62);
  for (const DataType type :
       {DataType::UInt8, DataType::Int16, DataType::Float32, DataType::Int64}) {
    for (std::size_t axis = 0; axis < 4; ++axis) {
      for (const DataType lengths_type : {DataType::UInt32, DataType::UInt64}) {
        for (int repeat = 0; repeat < 6; ++repeat) {
          const Tensor input = random_tensor(type, shape(random), random);
          List sizes = input.sizes;
          sizes[axis] = 1;
          const Tensor lengths = random_lengths(lengths_type, sizes, input.sizes[axis], random);
          check_on_every_target(case_of(ReverseSubsequences{axis}, {input, lengths}), random);
        }
      }
    }
  }
}

// Parts of these are blocks of columns, as they stand in memory or copied. Heights about powers of
// two, and more rows than the numbers of a byte.
TEST_CASE("cpu kernels: REVERSE_SUBSEQUENCES of columns of any height") {
  Random random(68);
  for (const DataType type :
       {DataType::UInt8, DataType::Int16, DataType::Float32, DataType::Int64}) {
    for (const std::uint64_t height :
         {2U, 3U, 4U, 5U, 7U, 8U, 9U, 16U, 31U, 33U, 127U, 128U, 260U}) {
      for (int repeat = 0; repeat < 4; ++repeat) {
        const std::uint64_t bytes = random.one_in(2) ? 512 : 2100;  // 2100: several parts
        const List sizes{2, height, bytes / size_of(type) + random.below(80)};
        const Tensor input = random_tensor(type, sizes, random);
        const DataType lengths_type = random.one_in(2) ? DataType::UInt32 : DataType::UInt64;
        const Tensor lengths = random_lengths(lengths_type, {2, 1, sizes[2]}, height, random);
        check_on_every_target(case_of(ReverseSubsequences{1}, {input, lengths}), random);
      }
    }
  }
}

// Parts of these have all indices that take elements of the same cache lines in turns, where an
// index has 32 KiB.
TEST_CASE("cpu kernels: SPACE_TO_DEPTH") {
  Random random(71);
  for (const DataType type : {DataType::UInt8, DataType::Float32}) {
    for (const std::uint64_t block : {2U, 4U}) {
      for (const std::uint64_t bytes : {1U << 15, 1U << 12}) {
        const std::uint64_t width = 31 + random.below(70);
        const std::uint64_t height = bytes / size_of(type) / width + 1;
        Tensor wide = Tensor::packed(type, {1, 1, height * block, width * block});
        random.fill(wide.bytes);
        const nlohmann::ordered_json description{
            {"type", "DML_OPERATOR_SPACE_TO_DEPTH"},
            {"desc", {{"InputTensor", tensor_desc(wide)}, {"BlockSize", block}}}};
        const cpu::Parts parts(kernel_of(description), 1 << 10);
        CHECK((parts[0].count == block) == (bytes == 1U << 15));
        check_on_every_target({description, {wide}, space_to_depth(wide, block, true)}, random);
      }
    }
  }
}

/// The elements of a tensor whose two axes changed places in memory, packed.
Case transposed_case(DataType type, const List& sizes, List strides, Random& random) {
  Tensor input = Tensor::packed(type, sizes);
  input.strides = std::move(strides);
  random.fill(input.bytes);
  return {{{"type", "DML_OPERATOR_ELEMENT_WISE_IDENTITY"},
           {"desc", {{"InputTensor", tensor_desc(input)}}}},
          {input},
          moved(input, sizes, [](const Index& index) { return index; })};
}

// Blocks of 512 bytes on either side, and what is left of them.
TEST_CASE("cpu kernels: rows that were columns") {
  Random random(72);
  for (const DataType type :
       {DataType::UInt8, DataType::Float16, DataType::Float32, DataType::Int64}) {
    const std::uint64_t size = size_of(type);
    for (const std::uint64_t row_bytes : {2U, 24U, 511U, 512U, 513U, 600U}) {
      for (const std::uint64_t column_bytes : {64U, 80U, 512U, 513U, 1300U}) {
        const std::uint64_t width = row_bytes / size + 2, height = column_bytes / size + 1;
        const auto columns =
            transposed_case(type, {2, height, width}, {height * width, 1, height}, random);
        CHECK(cpu::Parts(kernel_of(columns.description), 1)[0].count > 1);
        check_on_every_target(columns, random);
        // Axes that do not lie between each other as they do in the output.
        check_on_every_target(
            transposed_case(type, {height, 3, width}, {1, height, 3 * height}, random), random);
      }
    }
  }
}

// Numbers such as infinity are computed a second time, from inputs that must still be there.
TEST_CASE("cpu kernels: element-wise kernels may write over their input") {
  std::vector<float> numbers;
  for (int i = 0; i < 1024; ++i)
    numbers.push_back(i % 50 == 7 ? 200.0F : 0.001F * static_cast<float>(i));
  const std::uint64_t count = numbers.size(), size = count * sizeof(float);
  for (const char* name : {"ELEMENT_WISE_EXP", "ELEMENT_WISE_LOG", "ACTIVATION_SIGMOID"}) {
    const Kernel kernel =
        kernel_of({{"type", std::string("DML_OPERATOR_") + name},
                   {"desc", {{"InputTensor", {{"DataType", "FLOAT32"}, {"Sizes", {count}}}}}}});
    on_every_target([&] {
      std::vector<float> in_place = numbers, beside(count);
      const auto run = [&](std::vector<float>& to) {
        const std::span<const std::byte> from =
            std::as_bytes(std::span(&to == &beside ? numbers : in_place));
        cpu::execute(kernel, {&from, 1}, 0, count, reinterpret_cast<std::byte*>(to.data()));
      };
      run(in_place);
      run(beside);
      CHECK(std::memcmp(in_place.data(), beside.data(), size) == 0);
    });
  }
}

// Windows of two columns at their distance, under paddings and of several rows.
TEST_CASE("cpu kernels: LP_POOLING of pairs") {
  Random random(69);
  for (const DataType type : F2) {
    for (const std::uint64_t p : {1U, 2U, 3U, 4U, 5U}) {
      for (int repeat = 0; repeat < 24; ++repeat) {
        const List sizes{1, random.from_to(1, 2), random.from_to(4, 24),
                         extent_about_vectors(random)};
        const std::uint64_t start = random.below(3), end = random.below(3);
        const std::uint64_t height = random.one_in(4) ? random.from_to(1, sizes[2]) : 2;
        if (sizes[3] + start + end < 2) continue;
        const Tensor input = random_numbers(type, sizes, repeat % 4 == 0, random);
        const LpPooling pooling{
            .p = p, .window = {height, 2}, .strides = {2, 2}, .start = {0, start}, .end = {0, end}};
        check_on_every_target(case_of(pooling, {input}, promise), random);
      }
    }
  }
}

TEST_CASE("cpu kernels: LP_POOLING") {
  Random random(63);
  for (const DataType type : F2) {
    for (const std::uint64_t p : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 1000U}) {
      for (int repeat = 0; repeat < 24; ++repeat) {
        List sizes = shape(random);
        if (random.one_in(3)) sizes.insert(sizes.begin() + 2, random.from_to(1, 3));
        const Tensor input = random_numbers(type, sizes, repeat % 4 == 0, random);
        LpPooling pooling{.p = p, .window = {}, .strides = {}, .start = {}, .end = {}};
        for (std::size_t i = 2; i < sizes.size(); ++i) {
          pooling.start.push_back(random.one_in(2) ? 0 : random.below(5));
          pooling.end.push_back(random.one_in(2) ? 0 : random.below(5));
          const std::uint64_t padded = sizes[i] + pooling.start.back() + pooling.end.back();
          pooling.window.push_back(random.from_to(1, std::min<std::uint64_t>(padded, 8)));
          pooling.strides.push_back(random.from_to(1, 3));
        }
        check_on_every_target(case_of(pooling, {input}, promise), random);
      }
    }
  }
}

TEST_CASE("cpu kernels: LP_POOLING gives infinity beyond the range of FLOAT32, and of infinity") {
  Random random(70);
  for (const std::uint64_t p : {1U, 2U, 3U, 5U, 7U}) {
    for (const float value : {3e38F, std::numeric_limits<float>::infinity()}) {
      Tensor input = Tensor::packed(DataType::Float32, {1, 1, 2, 67});
      for (std::size_t at = 0; at < input.bytes.size(); at += sizeof value)
        std::memcpy(&input.bytes[at], &value, sizeof value);
      for (const std::uint64_t stride : {1U, 2U}) {
        check_on_every_target(
            case_of(LpPooling{p, {2, 2}, {stride, stride}, {0, 0}, {0, 0}}, {input}, 0), random);
      }
    }
  }
}

TEST_CASE("cpu kernels: LP_POOLING with windows larger than are summed at once") {
  Random random(64);
  for (const DataType type : F2) {
    for (const std::uint64_t p : {1U, 2U, 3U, 5U, 9U}) {
      const Tensor wide = random_numbers(type, {1, 1, 2, 2500}, false, random);
      check_on_every_target(
          case_of(LpPooling{p, {2, 2300}, {1, 7}, {0, 90}, {0, 3}}, {wide}, promise), random);
      const Tensor high = random_numbers(type, {1, 1, 1100, 5}, false, random);
      check_on_every_target(
          case_of(LpPooling{p, {1050, 2}, {20, 1}, {0, 1}, {10, 0}}, {high}, promise), random);
      const Tensor apart = random_numbers(type, {1, 1, 3, 2000}, false, random);
      check_on_every_target(
          case_of(LpPooling{p, {1, 3}, {1, 50}, {0, 0}, {0, 0}}, {apart}, promise), random);
      // More rows than are listed, of several slices.
      const Tensor slices = random_numbers(type, {1, 2, 9, 31, 11}, false, random);
      check_on_every_target(
          case_of(LpPooling{p, {7, 23, 3}, {2, 3, 2}, {1, 2, 1}, {3, 1, 0}}, {slices}, promise),
          random);
    }
  }
}

TEST_CASE("cpu kernels: LP_POOLING1 of elements that stand apart along each axis") {
  Random random(71);
  for (const DataType type : F2) {
    for (const std::uint64_t p : {1U, 2U, 3U, 5U, 9U}) {
      for (int repeat = 0; repeat < 24; ++repeat) {
        List sizes = shape(random);
        if (random.one_in(3)) sizes.insert(sizes.begin() + 2, random.from_to(1, 5));
        LpPooling1 norms{.p = p, .pooling = {}};
        Pooling& pooling = norms.pooling;
        for (std::size_t i = 2; i < sizes.size(); ++i) {
          pooling.start.push_back(random.one_in(2) ? 0 : random.below(7));
          pooling.end.push_back(random.one_in(2) ? 0 : random.below(7));
          const std::uint64_t padded = sizes[i] + pooling.start.back() + pooling.end.back();
          pooling.dilations.push_back(random.from_to(1, 4));
          const std::uint64_t most = (padded - 1) / pooling.dilations.back() + 1;
          pooling.window.push_back(random.from_to(1, std::min<std::uint64_t>(most, 6)));
          pooling.strides.push_back(random.from_to(1, 4));
        }
        const Tensor input = random_numbers(type, sizes, repeat % 4 == 0, random);
        check_on_every_target(case_of(norms, {input}, promise), random);
      }
    }
  }
}

TEST_CASE("cpu kernels: LP_POOLING1 of elements farther apart than are summed at once") {
  struct Row {
    std::uint64_t window, stride, dilation, start, end, width;
  };
  // As many columns between elements as outputs use, fewer, and more; windows far apart, and more
  // elements than are summed at once.
  const std::vector<Row> rows{
      {3, 1, 512, 0, 0, 3000},  {3, 1, 513, 7, 600, 3000}, {5, 1, 1500, 0, 900, 6000},
      {4, 2, 300, 5, 0, 2600},  {3, 3, 341, 0, 0, 2400},   {3, 3, 342, 400, 0, 2400},
      {9, 50, 7, 20, 20, 900},  {2, 700, 600, 0, 0, 6000}, {1100, 300, 2, 30, 0, 3000},
      {1030, 1, 2, 0, 0, 2100}, {2, 1, 90, 0, 0, 95},      {7, 1, 33, 0, 0, 199}};
  Random random(72);
  for (const Row& row : rows) {
    for (const DataType type : F2) {
      for (const std::uint64_t p : {2U, 3U, 9U}) {
        const Tensor input = random_numbers(type, {1, 1, 3, row.width}, false, random);
        const Pooling pooling{
            {2, row.window}, {1, row.stride}, {2, row.dilation}, {0, row.start}, {1, row.end}};
        check_on_every_target(case_of(LpPooling1{p, pooling}, {input}, promise), random);
      }
    }
  }
}

/// Every half, as a row that is pooled one by one with P 1: what comes out is its magnitude.
TEST_CASE("cpu kernels: FLOAT16 is read and written exactly") {
  Tensor halves = Tensor::packed(DataType::Float16, {1, 1, 1, 1 << 16});
  for (std::uint32_t bits = 0; bits < 1 << 16; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    std::memcpy(&halves.bytes[2 * bits], &half, sizeof half);
  }
  Random random(65);
  Tensor expected = halves;
  for (std::size_t at = 1; at < expected.bytes.size(); at += 2)
    expected.bytes[at] &= std::byte{0x7F};
  const LpPooling each{.p = 1, .window = {1, 1}, .strides = {1, 1}, .start = {0, 0}, .end = {0, 0}};
  const Kernel kernel = kernel_of(description_of(each, {halves}, expected));
  on_every_target([&] {
    std::vector<std::byte> found(expected.bytes.size());
    const std::vector<std::span<const std::byte>> inputs{halves.bytes};
    cpu::execute(kernel, inputs, 0, 1 << 16, found.data());
    std::size_t wrong = 0;
    for (std::size_t at = 0; at < found.size(); at += 2) {
      const double value = number(DataType::Float16, &expected.bytes[at]);
      const bool same = std::memcmp(&found[at], &expected.bytes[at], 2) == 0;
      if (std::isnan(value) ? !std::isnan(number(DataType::Float16, &found[at])) : !same) ++wrong;
    }
    CHECK(wrong == 0);
  });
}

// Sums of two halves not too far from one another are exact before they are rounded to the nearest
// half, ties to even: denormals, the largest, and what is beyond these.
TEST_CASE("cpu kernels: FLOAT16 results are rounded to nearest even") {
  Random random(66);
  Tensor pairs = Tensor::packed(DataType::Float16, {1, 1, 1, 1 << 14});
  std::uint64_t lowest = 0;
  for (std::size_t at = 0; at < pairs.bytes.size(); at += 2) {
    if (at % 4 == 0) lowest = random.one_of<std::uint64_t>({0, 0x2000, 0x5400});
    const auto half = static_cast<std::uint16_t>(lowest + random.below(0x2800));
    std::memcpy(&pairs.bytes[at], &half, sizeof half);
  }
  Tensor expected = Tensor::packed(DataType::Float16, {1, 1, 1, 1 << 13});
  for (std::size_t at = 0; at < expected.bytes.size(); at += 2) {
    const std::byte* pair = &pairs.bytes[2 * at];
    const double sum = number(DataType::Float16, pair) + number(DataType::Float16, pair + 2);
    const std::uint16_t half = nearest_half(sum);
    std::memcpy(&expected.bytes[at], &half, sizeof half);
  }
  const LpPooling sums{.p = 1, .window = {1, 2}, .strides = {1, 2}, .start = {0, 0}, .end = {0, 0}};
  check_on_every_target(case_of(sums, {pairs}, expected, 0), random);
}

// All of them, and numbers just beside what lies between two.
TEST_CASE("cpu kernels: rows of FLOAT16 are read and written as one element is") {
  std::vector<std::uint16_t> halves(1 << 16);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < halves.size(); ++i) {
    halves[i] = static_cast<std::uint16_t>(i);
    const double number = half_to_float(halves[i]);
    const double next = half_to_float(static_cast<std::uint16_t>(i ^ 1));
    for (const double one : {number, (number + next) / 2})
      numbers.insert(numbers.end(), {one, one * (1 + 0x1p-50), one * (1 - 0x1p-50)});
  }
  numbers.insert(numbers.end(), {1e300, -1e300, 1e-300, -1e-300, 65519.999999999, 65520.0});
  const auto from = std::as_bytes(std::span(halves));
  on_every_target([&] {
    for (const std::size_t begin : {0U, 1U}) {
      std::vector<float> floats(halves.size() - begin);
      cpu::floats_of_halves(from.data() + 2 * begin, floats);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < floats.size(); ++i) {
        const float one = half_to_float(halves[begin + i]);
        wrong += std::isnan(one)
                     ? !std::isnan(floats[i])
                     : std::bit_cast<std::uint32_t>(one) != std::bit_cast<std::uint32_t>(floats[i]);
      }
      CHECK(wrong == 0);
      const auto rest = std::span<const double>(numbers).subspan(begin);
      std::vector<std::uint16_t> written(rest.size());
      cpu::halves_of_doubles(rest, reinterpret_cast<std::byte*>(written.data()));
      for (std::size_t i = 0; i < rest.size(); ++i)
        wrong += written[i] != half_from_double(rest[i]);
      CHECK(wrong == 0);
    }
  });
}

TEST_CASE("cpu kernels: all parts together, whether they are stretches or blocks of columns") {
  Random random(69);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    CAPTURE(axis);
    // Several parts of 1 MiB, each with columns of several rows.
    const Tensor input = random_tensor(DataType::Float32, {5, 140, 1100}, random);
    List sizes = input.sizes;
    sizes[axis] = 1;
    const Tensor lengths = random_lengths(DataType::UInt32, sizes, input.sizes[axis], random);
    const Kernel kernel =
        kernel_of(case_of(ReverseSubsequences{axis}, {input, lengths}).description);
    const std::vector<std::span<const std::byte>> inputs{input.bytes, lengths.bytes};
    const std::uint64_t count = output_elements(kernel);
    const auto part_wise =
        guarded(4 * count, 0, [&](std::byte* to) { cpu::execute(kernel, inputs, 0, count, to); });
    for (const unsigned threads : {1U, 3U}) {
      CAPTURE(threads);
      const auto all = guarded(
          4 * count, 13, [&](std::byte* to) { cpu::execute_all(kernel, inputs, threads, to); });
      CHECK((all == part_wise));
    }
  }
}

TEST_CASE("cpu kernels: outputs that no cache holds") {
  Random random(67);
  // 17 MiB and a part of a line: what execute_all writes past the caches.
  const Tensor input = random_tensor(DataType::UInt8, {4, 1100, 4099}, random);
  const Kernel kernel =
      kernel_of(case_of(Slice1{{0, 0, 0}, input.sizes, {1, 1, -1}}, {input}, input, 0).description);
  const std::vector<std::span<const std::byte>> inputs{input.bytes};
  const std::uint64_t size = output_elements(kernel);
  const auto part_wise =
      guarded(size, 0, [&](std::byte* to) { cpu::execute(kernel, inputs, 0, size, to); });
  const auto all = guarded(
      size, 13, [&](std::byte* to) { cpu::execute_all(kernel, inputs, hardware_threads(), to); });
  CHECK(all == part_wise);
}

}  // namespace
}  // namespace dmlop::test::cpu_kernels_test
