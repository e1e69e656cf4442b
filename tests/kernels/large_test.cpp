// Outputs of more than 2^32 elements, which 32-bit arithmetic would break. The outputs are never
// held in memory; parts near their ends are computed and compared with the definition.
#include <doctest/doctest.h>

#include <algorithm>

#include "reference/lp_pooling.hpp"
#include "reference/number.hpp"
#include "reference/padding.hpp"
#include "reference/reverse_subsequences.hpp"
#include "reference/slice1.hpp"
#include "sweep.hpp"

namespace dmlop::test::large_test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t two_to_32 = std::uint64_t{1} << 32;

/// {"type": …, "desc": …} without the output, which the library infers.
template <typename Operator>
Json described(const Operator& use, const std::vector<Tensor>& inputs) {
  Json description = description_of(use, inputs, inputs[0]);
  description["desc"].erase("OutputTensor");
  return description;
}

/// Checks 300 elements at the start, the end, the middle and on both sides of the 2^32nd against
/// value(index), byte by byte.
template <typename Value>
void check_parts(const Json& description, const std::vector<Tensor>& inputs,
                 std::uint64_t expected_count, Value&& value) {
  constexpr std::uint64_t part = 300;
  const Kernel kernel = kernel_of(description);
  const std::uint64_t count = output_elements(kernel);
  REQUIRE(count == expected_count);
  const std::size_t size = output_element_size(kernel);
  for (const SweptBackend& backend : available_backends()) {
    if (!backend.computes_parts) continue;
    for (const std::uint64_t begin :
         {std::uint64_t{0}, count / 2, std::min(two_to_32, count) - part / 2, count - part}) {
      const std::uint64_t end = std::min(begin + part, count);
      CAPTURE(begin);
      const auto found = execute_guarded(backend, kernel, inputs, begin, end);
      std::vector<std::byte> expected;
      for (std::uint64_t index = begin; index < end; ++index) {
        const auto* element = value(index);
        expected.insert(expected.end(), element, element + size);
      }
      CHECK(found == expected);
    }
  }
}

TEST_CASE("large: PADDING in two dimensions, all modes") {
  constexpr std::uint64_t start = 40000, n = 3, width = 2 * start + n;
  static_assert(width * width > two_to_32);
  const Tensor input =
      Tensor::of<std::uint8_t>(DataType::UInt8, {n, n}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  for (const char* mode : {"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"}) {
    CAPTURE(mode);
    const Padding padding{mode, {start, start}, {start, start}, 77};
    static constexpr std::byte fill{77};
    check_parts(described(padding, {input}), {input}, width * width, [&](std::uint64_t index) {
      const auto along = [&](std::uint64_t o) {
        return padding.source(static_cast<std::int64_t>(o) - static_cast<std::int64_t>(start), n);
      };
      const auto row = along(index / width), column = along(index % width);
      if (!row || !column) return &fill;
      return input.at({static_cast<std::uint64_t>(*row), static_cast<std::uint64_t>(*column)});
    });
  }
}

TEST_CASE("large: PADDING of one dimension up to the largest size") {
  constexpr std::uint64_t start = 4294967290, n = 3, size = start + n + 2;
  static_assert(size == two_to_32 - 1);
  const Tensor input = Tensor::of<std::uint16_t>(DataType::UInt16, {n}, {10, 20, 30});
  for (const char* mode : {"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"}) {
    CAPTURE(mode);
    const Padding padding{mode, {start}, {2}, 0};
    static constexpr std::byte fill[2]{};
    check_parts(described(padding, {input}), {input}, size, [&](std::uint64_t index) {
      const auto from =
          padding.source(static_cast<std::int64_t>(index) - static_cast<std::int64_t>(start), n);
      return from ? input.at({static_cast<std::uint64_t>(*from)}) : fill;
    });
  }
}

TEST_CASE("large: SLICE1 of a broadcast input") {
  constexpr std::uint64_t rows = 70001, columns = 70003;
  static_assert(rows * columns > two_to_32);
  Tensor input = Tensor::strided(DataType::UInt32, {rows, columns}, {0, 1});
  Random random(80);
  for (std::byte& byte : input.bytes) byte = static_cast<std::byte>(random.below(256));
  const Slice1 slice{.offsets = {0, 0}, .window = {rows, columns}, .strides = {-1, -1}};
  check_parts(described(slice, {input}), {input}, rows * columns, [&](std::uint64_t index) {
    return input.at({0, columns - 1 - index % columns});
  });
}

TEST_CASE("large: REVERSE_SUBSEQUENCES of a broadcast input with broadcast lengths") {
  constexpr std::uint64_t rows = 70001, columns = 70003, length = 60000;
  Tensor input = Tensor::strided(DataType::Int16, {rows, columns}, {0, 1});
  Random random(81);
  for (std::byte& byte : input.bytes) byte = static_cast<std::byte>(random.below(256));
  Tensor lengths = Tensor::strided(DataType::UInt64, {rows, 1}, {0, 0});
  lengths.bytes = element_bytes(length);
  check_parts(described(ReverseSubsequences{1}, {input, lengths}), {input, lengths}, rows * columns,
              [&](std::uint64_t index) {
                const std::uint64_t column = index % columns;
                return input.at({0, column < length ? length - 1 - column : column});
              });
}

TEST_CASE("large: LP_POOLING of a broadcast input") {
  constexpr std::uint64_t rows = 70001, columns = 70003;
  Tensor input = Tensor::strided(DataType::Float32, {1, 1, rows, columns}, {0, 0, 0, 1});
  for (std::uint64_t i = 0; i < columns; ++i) {
    const auto value = static_cast<float>(i % 1000);
    std::memcpy(input.at({0, 0, 0, i}), &value, sizeof value);
  }
  const LpPooling pooling{
      .p = 1, .window = {1, 1}, .strides = {1, 1}, .start = {0, 0}, .end = {0, 0}};
  check_parts(described(pooling, {input}), {input}, rows * columns, [&](std::uint64_t index) {
    return input.at({0, 0, 0, index % columns});
  });
}

TEST_CASE("large: what 63 bits cannot count in bytes is refused") {
  const auto padded_to = [](DataType type, std::uint64_t rows, std::uint64_t columns) {
    const Padding padding{"EDGE", {rows - 1, columns - 1}, {0, 0}};
    return messages(described(padding, {Tensor::packed(type, {1, 1})}));
  };
  constexpr std::uint64_t two_to_31 = two_to_32 / 2;
  CHECK(padded_to(DataType::UInt8, two_to_32 - 1, two_to_31) == "");
  CHECK(padded_to(DataType::UInt8, two_to_32 - 1, two_to_32 - 1) != "");
  CHECK(padded_to(DataType::Int64, two_to_31, two_to_31 / 4 - 1) == "");
  CHECK(padded_to(DataType::Int64, two_to_31, two_to_31) != "");
  const List far(3, two_to_32 - 2);
  const Padding padding{"EDGE", far, {0, 0, 0}};
  CHECK(messages(described(padding, {Tensor::packed(DataType::UInt8, {1, 1, 1})})) != "");
}

}  // namespace
}  // namespace dmlop::test::large_test
