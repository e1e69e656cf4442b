// DML_OPERATOR_SPLIT.
#include <doctest/doctest.h>

#include "plan_case.hpp"
#include "reference/joining.hpp"
#include "sweep.hpp"

namespace dmlop::test::split_test {
namespace {

PlanCase split_case(const Tensor& input, std::size_t axis, const List& sizes) {
  PlanCase a_case{"DML_OPERATOR_SPLIT",
                  {{"OutputCount", sizes.size()}, {"Axis", axis}},
                  {{"InputTensor", input}},
                  {}};
  std::uint64_t begin = 0;
  for (std::size_t j = 0; j < sizes.size(); begin += sizes[j++])
    a_case.outputs.push_back({"OutputTensors", part_of(input, axis, begin, sizes[j]), j});
  return a_case;
}

TEST_CASE("SPLIT: columns go to the output that they belong to") {
  const PlanCase a_case = split_case(floats({2, 3}, {1, 2, 3, 4, 5, 6}), 1, {1, 2});
  CHECK(a_case.outputs[0].tensor == floats({2, 1}, {1, 4}));
  CHECK(a_case.outputs[1].tensor == floats({2, 2}, {2, 3, 5, 6}));
  check_plan_case(a_case);
}

TEST_CASE("SPLIT: random tensors of all types and strides along every axis") {
  Random random(42);
  for (int i = 0; i < 400; ++i) {
    const DataType type =
        random.one_of<DataType>({DataType::Float64, DataType::Float32, DataType::Float16,
                                 DataType::Int64, DataType::Int8, DataType::UInt16});
    List sizes = random_sizes(random.from_to(1, 8), random);
    const std::size_t axis = random.below(sizes.size());
    List parts;
    sizes[axis] = 0;
    for (std::uint64_t j = random.from_to(1, random.one_in(8) ? 12 : 4); j > 0; --j) {
      parts.push_back(random.from_to(1, 5));
      sizes[axis] += parts.back();
    }
    check_plan_case(split_case(random_tensor(type, sizes, random), axis, parts));
  }
}

TEST_CASE("SPLIT: the parts must be the whole input") {
  nlohmann::ordered_json description =
      split_case(floats({2, 3}, {1, 2, 3, 4, 5, 6}), 1, {1, 2}).description();
  CHECK(messages(description) == "");
  description["desc"]["OutputTensors"][1]["Sizes"] = {2, 1};
  CHECK(messages(description) != "");
}

}  // namespace
}  // namespace dmlop::test::split_test
