// DML_OPERATOR_JOIN.
#include <doctest/doctest.h>

#include "plan_case.hpp"
#include "reference/joining.hpp"
#include "sweep.hpp"

namespace dmlop::test::join_test {
namespace {

PlanCase join_case(const std::vector<Tensor>& inputs, std::size_t axis, const Tensor& output) {
  PlanCase a_case{"DML_OPERATOR_JOIN", {{"InputCount", inputs.size()}, {"Axis", axis}}, {}, {}};
  for (std::size_t j = 0; j < inputs.size(); ++j)
    a_case.inputs.push_back({"InputTensors", inputs[j], j});
  a_case.outputs.push_back({"OutputTensor", output});
  return a_case;
}

TEST_CASE("JOIN: columns of one tensor stand beside those of the other") {
  check_plan_case(join_case({floats({2, 2}, {1, 2, 3, 4}), floats({2, 1}, {5, 6})}, 1,
                            floats({2, 3}, {1, 2, 5, 3, 4, 6})));
}

TEST_CASE("JOIN: rows follow one another, and one tensor is a copy") {
  check_plan_case(join_case({floats({1, 2}, {1, 2}), floats({2, 2}, {3, 4, 5, 6})}, 0,
                            floats({3, 2}, {1, 2, 3, 4, 5, 6})));
  check_plan_case(join_case({floats({2}, {1, 2})}, 0, floats({2}, {1, 2})));
}

TEST_CASE("JOIN: random tensors of all types and strides along every axis") {
  Random random(41);
  for (int i = 0; i < 400; ++i) {
    const DataType type = random.one_of<DataType>(
        {DataType::Float64, DataType::Float32, DataType::Float16, DataType::Int64, DataType::Int32,
         DataType::Int16, DataType::Int8, DataType::UInt64, DataType::UInt32, DataType::UInt16,
         DataType::UInt8});
    List sizes = random_sizes(random.from_to(1, 8), random);
    const std::size_t axis = random.below(sizes.size());
    std::vector<Tensor> inputs;
    for (std::uint64_t j = random.from_to(1, random.one_in(8) ? 12 : 4); j > 0; --j) {
      sizes[axis] = random.from_to(1, 5);
      inputs.push_back(random_tensor(type, sizes, random));
    }
    check_plan_case(join_case(inputs, axis, joined(inputs, axis)));
  }
}

// A kernel of a GPU takes 8 of them.
TEST_CASE("JOIN: as many tensors as several kernels take, each of another size") {
  Random random(42);
  for (const std::uint64_t count : {8U, 9U, 16U, 17U, 25U}) {
    for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
      std::vector<Tensor> inputs;
      for (std::uint64_t j = 0; j < count; ++j) {
        List sizes{2, 2};
        sizes[axis] = 1 + j % 8 + j / 8;
        inputs.push_back(random_tensor(DataType::Int16, sizes, random));
      }
      PlanCase a_case = join_case(inputs, axis, joined(inputs, axis));
      a_case.is_for_every_gpu = true;
      check_plan_case(a_case);
    }
  }
}

TEST_CASE("JOIN: sizes must agree but for those along Axis") {
  nlohmann::ordered_json description =
      join_case({floats({2, 2}, {1, 2, 3, 4}), floats({2, 1}, {5, 6})}, 1,
                floats({2, 3}, {1, 2, 5, 3, 4, 6}))
          .description();
  CHECK(messages(description) == "");
  description["desc"]["InputTensors"][1]["Sizes"] = {1, 1};
  CHECK(messages(description) == "InputTensors[1].Sizes[0] is 1, must be 2");
}

}  // namespace
}  // namespace dmlop::test::join_test
