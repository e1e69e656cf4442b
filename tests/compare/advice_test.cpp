// What a comparison says beside its numbers: where elements differ, how they are related, and which
// tolerance is advised.
#include "compare/advice.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"
#include "reference/tensor.hpp"

namespace dmlop::test::advice_test {
namespace {

constexpr float NaN = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Comparison compared(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance = {}) {
  return compare(Elements(actual.type, actual.sizes, actual.bytes),
                 Elements(expected.type, expected.sizes, expected.bytes), tolerance, 1);
}

Comparison compared(const std::vector<float>& actual, const std::vector<float>& expected,
                    const Tolerance& tolerance = {}) {
  return compared(floats({actual.size()}, actual), floats({expected.size()}, expected), tolerance);
}

}  // namespace

TEST_CASE("text and JSON say where elements differ, and how they are related") {
  const auto found = compared(floats({2, 4}, {1, 0, 3, 0, 5, 6, 7, 8}),
                              floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), {.ulp = 4});
  CHECK(difference_lines(found) ==
        std::vector<std::string>{"where: only [0, 1::2] differs (every 2nd index of axis 1)",
                                 "relation: actual is 0 where it differs"});
  CHECK(
      to_text(found).starts_with("  tolerance: 4 ULP\n"
                                 "  where: only [0, 1::2] differs (every 2nd index of axis 1)\n"
                                 "  relation: actual is 0 where it differs\n"
                                 "  first mismatches:\n"));
  const nlohmann::json json = nlohmann::json::parse(to_json(found).dump());
  CHECK(json.at("relation") == "actual is 0 where it differs");
  CHECK(json.at("region") ==
        nlohmann::json::parse(R"({"slices": "[0, 1::2]", "elements": 2, "isFull": true, "axes": [
          {"first": 0, "last": 0, "step": 1, "indices": 1},
          {"first": 1, "last": 3, "step": 2, "indices": 2}]})"));
  // The table has the place of a single element.
  CHECK(difference_lines(compared(std::vector<float>{1, 7}, {1, 2})).empty());
  CHECK(difference_lines(compared({1, 2}, {1, 2})).empty());
}

TEST_CASE("no tolerance is advised that would let wrong elements pass") {
  const auto advice = [](const std::vector<float>& actual, const std::vector<float>& expected,
                         const Tolerance& tolerance = {}) {
    return advice_text(compared(actual, expected, tolerance));
  };
  const std::string none = "the differences are too large for a tolerance";
  CHECK(advice({7, 2}, {1, 2}) == none);
  CHECK(advice({NaN, 2}, {1, 2}) == "no tolerance would pass");
  CHECK(advice({inf, 100}, {inf, 2}) == none);
  // A tenth of the element by rtol; of the largest by atol; of the numbers between 1 and 2 by ULP.
  CHECK(advice({1.09375F, 1}, {1, 1}) ==
        "would pass with --rtol 0.09375, --atol 0.09375 or "
        "--ulp 786432");
  CHECK(advice({1.125F, 1}, {1, 1}) == none);
  CHECK(advice({1.125F, 2}, {1, 2}) == "would pass with --atol 0.125");
  CHECK(advice({0x1p-10F, 1}, {0, 1}) == "would pass with --atol 0.0009765625");
  // Or 1000 times what is given.
  CHECK(advice({1.5F, 1}, {1, 1}, {.rtol = 0.0005}) == "would pass with --rtol 0.5");
  CHECK(advice({1.5F, 1}, {1, 1}, {.rtol = 0.0004}) == none);
  CHECK(advice({1.5F, 1}, {1, 1}, {.atol = 0.0005}) == "would pass with --atol 0.5");
  CHECK(advice({1.5F, 1}, {1, 1}, {.ulp = 4195}) == "would pass with --ulp 4194304");
  CHECK(advice({1.5F, 1}, {1, 1}, {.ulp = 4194}) == none);
  const auto integers = [](std::int32_t actual, std::int32_t expected) {
    return advice_text(compared(Tensor::of<std::int32_t>(DataType::Int32, {1}, {actual}),
                                Tensor::of<std::int32_t>(DataType::Int32, {1}, {expected})));
  };
  CHECK(integers(3, 2) == "would pass with --atol 1 or --ulp 1");
  CHECK(integers(4, 2) == none);
  CHECK(integers(136, 128) == "would pass with --rtol 0.0625, --atol 8 or --ulp 8");
  CHECK(integers(141, 128) == none);
}

}  // namespace dmlop::test::advice_test
