// DML_OPERATOR_RNN, GRU and LSTM.
#include "reference/recurrent.hpp"

#include <doctest/doctest.h>

#include "plan_case.hpp"
#include "small_numbers.hpp"
#include "sweep.hpp"

namespace dmlop::test::recurrent_test {
namespace {

enum : unsigned { sequence = 1, last = 2, last_cell = 4 };  // outputs

PlanCase case_of(const Recurrent& use, const Recurrent::Outputs& expected, unsigned asked,
                 double tolerance) {
  PlanCase a_case{"DML_OPERATOR_" + use.cell, {}, {}, {}};
  nlohmann::ordered_json activations = nlohmann::ordered_json::array();
  for (const std::string& name : use.activations)
    activations.push_back(
        {{"Type", "ACTIVATION_" + name}, {"Desc", nlohmann::ordered_json::object()}});
  a_case.fields["ActivationDescCount"] = use.activations.size();
  a_case.fields["ActivationDescs"] = activations;
  a_case.fields["Direction"] = use.is_backward.size() == 2 ? "BIDIRECTIONAL"
                               : use.is_backward.front()   ? "BACKWARD"
                                                           : "FORWARD";
  if (use.cell == "GRU") a_case.fields["LinearBeforeReset"] = use.is_linear_before_reset;
  if (use.cell == "LSTM") {
    a_case.fields["UseClipThreshold"] = use.clip.has_value();
    a_case.fields["ClipThreshold"] = use.clip.value_or(0);
    a_case.fields["CoupleInputForget"] = use.couples;
  }
  a_case.inputs = {{"InputTensor", use.input},
                   {"WeightTensor", use.weight},
                   {"RecurrenceTensor", use.recurrence}};
  a_case.add_if("BiasTensor", use.bias);
  a_case.add_if("HiddenInitTensor", use.hidden_init);
  a_case.add_if("CellMemInitTensor", use.cell_init);
  a_case.add_if("SequenceLengthsTensor", use.lengths);
  a_case.add_if("PeepholeTensor", use.peephole);
  const auto expect = [&](const char* field, const Tensor& tensor) {
    a_case.outputs.push_back({.field = field, .tensor = tensor, .tolerance = tolerance});
  };
  if ((asked & sequence) != 0) expect("OutputSequenceTensor", expected.sequence);
  if ((asked & last) != 0) expect("OutputSingleTensor", expected.last);
  if ((asked & last_cell) != 0) expect("OutputCellSingleTensor", expected.last_cell);
  return a_case;
}

struct Sizes {
  std::uint64_t steps, batch, input, hidden;
};

/// Numbers from -1 to 1, and any of what may be left out. Lengths may be 0 or longer than all
/// steps.
Recurrent random_network(const std::string& cell, DataType type, const Sizes& sizes,
                         Random& random) {
  const std::uint64_t gates = cell == "RNN" ? 1 : cell == "GRU" ? 3 : 4;
  const std::uint64_t n = sizes.hidden;
  const std::uint64_t directions = random.one_in(3) ? 2 : 1;
  const auto tensor = [&](const List& shape) { return small_numbers(type, shape, random, 0.25); };
  Recurrent use{.cell = cell,
                .input = tensor({1, sizes.steps, sizes.batch, sizes.input}),
                .weight = tensor({1, directions, gates * n, sizes.input}),
                .recurrence = tensor({1, directions, gates * n, n})};
  use.is_backward =
      directions == 2 ? std::vector<bool>{false, true} : std::vector<bool>{random.one_in(2)};
  if (random.one_in(2)) use.bias = tensor({1, 1, directions, 2 * gates * n});
  if (random.one_in(2)) use.hidden_init = tensor({1, directions, sizes.batch, n});
  if (random.one_in(2)) {
    use.lengths = Tensor::packed(DataType::UInt32, {1, 1, 1, sizes.batch});
    for (std::uint64_t b = 0; b < sizes.batch; ++b)
      set_value(*use.lengths, {0, 0, 0, b},
                static_cast<double>(random.one_in(8) ? 0 : random.from_to(1, sizes.steps + 2)));
  }
  for (std::uint64_t d = 0; d < directions; ++d) {
    if (cell != "RNN") use.activations.push_back("SIGMOID");
    use.activations.push_back(random.one_in(4) ? "RELU" : "TANH");
    if (cell == "LSTM") use.activations.push_back("TANH");
  }
  use.is_linear_before_reset = random.one_in(2);
  if (cell == "LSTM") {
    if (random.one_in(2)) use.cell_init = tensor({1, directions, sizes.batch, n});
    if (random.one_in(2)) use.peephole = tensor({1, 1, directions, 3 * n});
    if (random.one_in(2)) use.clip = 0.75;
    use.couples = random.one_in(3);
  }
  return use;
}

void check_random(const std::string& cell, std::uint64_t seed) {
  Random random(seed);
  for (int i = 0; i < 150; ++i) {
    const bool is_half = random.one_in(3);
    const Sizes sizes{random.from_to(1, 5), random.from_to(1, 8), random.from_to(1, 5),
                      random.from_to(1, 9)};
    const Recurrent use =
        random_network(cell, is_half ? DataType::Float16 : DataType::Float32, sizes, random);
    const auto asked = static_cast<unsigned>(random.from_to(1, cell == "LSTM" ? 7 : 3));
    check_plan_case(case_of(use, use.result(), asked, is_half ? 4e-2 : 1e-4));
  }
}

TEST_CASE("RNN: a state is the activation of the input and of the state before") {
  Recurrent use{.cell = "RNN",
                .input = floats({1, 3, 1, 1}, {1, 2, -9}),
                .weight = floats({1, 1, 1, 1}, {2}),
                .recurrence = floats({1, 1, 1, 1}, {10}),
                .bias = floats({1, 1, 1, 2}, {0.25, 0.5}),
                .is_backward = {false},
                .activations = {"RELU"}};
  const Recurrent::Outputs expected{floats({3, 1, 1, 1}, {2.75, 32.25, 305.25}),
                                    floats({1, 1, 1, 1}, {305.25}), floats({1, 1, 1, 1}, {0})};
  check_plan_case(case_of(use, expected, sequence | last, 0));
}

TEST_CASE("RNN: sequences end at their lengths, and backward they start there") {
  Recurrent use{.cell = "RNN",
                .input = floats({1, 3, 2, 1}, {1, 1, 2, 2, 4, 4}),
                .weight = floats({1, 2, 1, 1}, {1, 1}),
                .recurrence = floats({1, 2, 1, 1}, {10, 10}),
                .lengths = Tensor::of<std::uint32_t>(DataType::UInt32, {1, 1, 1, 2}, {2, 3}),
                .is_backward = {false, true},
                .activations = {"RELU", "RELU"}};
  const Recurrent::Outputs expected{
      floats({3, 2, 2, 1}, {1, 1, 21, 421, 12, 12, 2, 42, 0, 124, 0, 4}),
      floats({1, 2, 2, 1}, {12, 124, 21, 421}), floats({1, 2, 2, 1}, {0, 0, 0, 0})};
  check_plan_case(case_of(use, expected, sequence | last, 0));
  // The lengths lie apart, with zeros between.
  Tensor apart = Tensor::strided(DataType::UInt32, {1, 1, 1, 2}, {3, 3, 3, 3});
  for (const std::uint64_t b : {0, 1})
    std::copy_n(use.lengths->at({0, 0, 0, b}), 4, apart.at({0, 0, 0, b}));
  use.lengths = apart;
  check_plan_case(case_of(use, expected, sequence | last, 0));
}

TEST_CASE("RNN: sequences end at their lengths, and may be empty or too long") {
  const Recurrent use{.cell = "RNN",
                      .input = floats({1, 3, 2, 1}, {1, 1, 2, 2, 4, 4}),
                      .weight = floats({1, 1, 1, 1}, {1}),
                      .recurrence = floats({1, 1, 1, 1}, {10}),
                      .hidden_init = floats({1, 1, 2, 1}, {7, 0}),
                      .lengths = Tensor::of<std::uint32_t>(DataType::UInt32, {1, 1, 1, 2}, {0, 9}),
                      .is_backward = {false},
                      .activations = {"RELU"}};
  const Recurrent::Outputs expected{floats({3, 1, 2, 1}, {0, 1, 0, 12, 0, 124}),
                                    floats({1, 1, 2, 1}, {7, 124}), floats({1, 1, 2, 1}, {0, 0})};
  check_plan_case(case_of(use, expected, sequence | last, 0));
}

TEST_CASE("RNN: random networks") {
  check_random("RNN", 71);
}

TEST_CASE("GRU: random networks") {
  check_random("GRU", 72);
}

TEST_CASE("LSTM: the peephole of gate o takes the new cell") {
  // i = 1, f = 2, c = 3, so that the cell goes from 10 to 2 * 10 + 1 * 3, and o is 5 times that.
  const Recurrent use{.cell = "LSTM",
                      .input = floats({1, 1, 1, 1}, {0}),
                      .weight = floats({1, 1, 4, 1}, {0, 0, 0, 0}),
                      .recurrence = floats({1, 1, 4, 1}, {0, 0, 0, 0}),
                      .bias = floats({1, 1, 1, 8}, {1, 0, 2, 3, 0, 0, 0, 0}),
                      .cell_init = floats({1, 1, 1, 1}, {10}),
                      .peephole = floats({1, 1, 1, 3}, {0, 5, 0}),
                      .is_backward = {false},
                      .activations = {"RELU", "RELU", "RELU"}};
  const Recurrent::Outputs expected{floats({1, 1, 1, 1}, {115 * 23}),
                                    floats({1, 1, 1, 1}, {115 * 23}), floats({1, 1, 1, 1}, {23})};
  check_plan_case(case_of(use, expected, sequence | last | last_cell, 0));
}

TEST_CASE("LSTM: random networks") {
  check_random("LSTM", 73);
}

// More states than are summed at once, and more sequences than are worked on together; numbers of
// them for which threads share sums differently.
TEST_CASE("recurrent networks: many states and sequences") {
  Random random(74);
  for (const std::string cell : {"RNN", "GRU", "LSTM"}) {
    for (const Sizes& sizes : {Sizes{3, 2, 3, 300},
                               {2, 20, 2, 70},
                               {3, 37, 2, 141},
                               {4, 70, 2, 33},
                               {3, 12, 2, 277},
                               {3, 3, 2, 530},
                               {1, 34, 2, 139}}) {
      const bool is_half = random.one_in(3);
      Recurrent use =
          random_network(cell, is_half ? DataType::Float16 : DataType::Float32, sizes, random);
      use.activations.assign(use.activations.size(), "SIGMOID");
      check_plan_case(case_of(use, use.result(), sequence | last, is_half ? 4e-2 : 1e-4));
    }
  }
}

// The CPU works on so many sequences together that their sums are no more than 2^18.
TEST_CASE("recurrent networks: as many sequences as the CPU takes together, and one more") {
  if (is_gpu_asked_for()) return;
  Random random(76);
  constexpr std::uint64_t sums = std::uint64_t{1} << 18, hidden = 16;
  for (const std::string cell : {"RNN", "GRU", "LSTM"}) {
    const std::uint64_t gates = cell == "RNN" ? 1 : cell == "GRU" ? 3 : 4;
    const DataType type = cell == "GRU" ? DataType::Float16 : DataType::Float32;
    const std::uint64_t together = sums / (gates * hidden);
    Recurrent use;
    do {
      use = random_network(cell, type, {2, together + 1, 1, hidden}, random);
    } while (!use.lengths || !use.hidden_init || !use.bias || (cell == "LSTM" && !use.cell_init));
    use.activations.assign(use.activations.size(), "SIGMOID");
    const double tolerance = type == DataType::Float16 ? 4e-2 : 1e-4;
    check_plan_case(case_of(use, use.result(), sequence | last, tolerance));
  }
}

TEST_CASE("LSTM: without outputs there is nothing to compute") {
  Random random(75);
  const Recurrent use = random_network("LSTM", DataType::Float32, {1, 1, 1, 1}, random);
  CHECK(messages(case_of(use, use.result(), last_cell, 0).description()) == "");
  CHECK(messages(case_of(use, use.result(), 0, 0).description()) != "");
}

}  // namespace
}  // namespace dmlop::test::recurrent_test
