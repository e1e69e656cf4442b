// Recurrent networks: shaders/recurrent.hlsl.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "gpu/resident/kinds.hpp"
#include "gpu/resident/parameters.hpp"

namespace dmlop::gpu::resident {
namespace {

#include "../../../shaders/parameters/recurrent.hlsli"

constexpr std::uint64_t scratch_bytes_most = std::uint64_t{1} << 31;

#define EXPRESSION(name, inputs, class, store, expression) Expression::name,
constexpr std::array activations{
#undef EXPRESSION_GROUP
#define EXPRESSION_GROUP 4
#include "../../../shaders/expressions.def"
#undef EXPRESSION_GROUP
};
#undef EXPRESSION

// As in the kernel.
uint number_of(Expression expression) {
  constexpr uint identity = 100, tanh = 101;
  if (expression == Expression::identity) return identity;
  if (expression == Expression::tanh) return tanh;
  const auto found = std::find(activations.begin(), activations.end(), expression);
  if (found == activations.end()) throw std::logic_error("an activation is not in the table");
  return static_cast<uint>(found - activations.begin());
}

/// The stages of the kernel.
enum Step : std::uint32_t { begin, multiply, reset, multiply_reset, advance, finish };

/// Where scratch holds what, in words.
struct Places {
  std::uint64_t states = 0;  // elements of one step
  std::uint64_t cells_at = 0, gates_at = 0, reset_at = 0, reset_gates_at = 0, end = 0;
};

bool resets_first(const RecurrentKernel& kernel) {
  return kernel.cell == RecurrentCell::gru && !kernel.is_linear_before_reset;
}

Places places_of(const RecurrentKernel& kernel) {
  Places places{.states = kernel.directions.size() * kernel.batch * kernel.hidden};
  places.cells_at = (kernel.has_sequence ? kernel.steps + 1 : 1) * places.states;
  places.gates_at = places.cells_at + places.states;
  places.reset_at = places.gates_at + kernel.gates() * places.states;
  places.reset_gates_at = places.reset_at + places.states;
  places.end = places.reset_gates_at + places.states;
  return places;
}

/// Threads that add up one sum: several where they read neighbouring weights. As a power of two.
unsigned lane_bits_of(const RecurrentKernel& kernel) {
  constexpr unsigned most = 5, long_sum = 64;
  return kernel.hidden >= long_sum ? most : 0;
}
std::uint64_t lanes_of(const RecurrentKernel& kernel) {
  return std::uint64_t{1} << lane_bits_of(kernel);
}

std::uint64_t work_of_product(const RecurrentKernel& kernel) {
  constexpr std::uint64_t reduction = 16;
  return divided_up(kernel.hidden, lanes_of(kernel)) + reduction;
}

/// The inputs behind those of the gates, in the kernel's order; null for those that are not there.
std::array<const RecurrentInput*, 6> inputs_of(const RecurrentKernel& kernel) {
  const auto pointer = [](const std::optional<RecurrentInput>& input) {
    return input ? &*input : nullptr;
  };
  return {&kernel.weights,
          pointer(kernel.bias),
          pointer(kernel.first_states),
          pointer(kernel.first_cells),
          pointer(kernel.lengths),
          pointer(kernel.peepholes)};
}
constexpr std::size_t lengths_place = 4;

void set_functions(const RecurrentKernel& kernel, RecurrentParameters& parameters) {
  constexpr std::size_t functions_most = 3, numbers_most = 4;
  for (std::size_t d = 0; d < kernel.directions.size(); ++d) {
    const RecurrentDirection& direction = kernel.directions[d];
    parameters.is_backward[d] = direction.is_backward ? 1 : 0;
    for (std::size_t i = 0; i < direction.activations.size(); ++i) {
      const NumberFunction& function = direction.activations[i];
      const std::size_t at = functions_most * d + i;
      parameters.functions[at] = number_of(function.expression);
      for (std::size_t p = 0; p < numbers_most; ++p)
        parameters.numbers[numbers_most * at + p] = static_cast<float>(function.parameters[p].real);
    }
  }
}

RecurrentParameters parameters_of(const RecurrentKernel& kernel) {
  const Places places = places_of(kernel);
  RecurrentParameters parameters{};
  parameters.steps = word(kernel.steps);
  parameters.batch = word(kernel.batch);
  parameters.hidden = word(kernel.hidden);
  parameters.gates = word(kernel.gates());
  parameters.directions = word(kernel.directions.size());
  parameters.rows = word(kernel.output_rows());
  std::size_t at = 0;
  const auto inputs = inputs_of(kernel);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i == lengths_place) continue;
    if (inputs[i] != nullptr)
      std::transform(inputs[i]->strides.begin(), inputs[i]->strides.end(), parameters.strides + at,
                     word);
    at += 3;
  }
  parameters.bias_offset = word(kernel.bias_offset);
  if (kernel.lengths) parameters.length_stride = word(kernel.lengths->strides[0]);
  parameters.has_bias = kernel.bias ? 1 : 0;
  parameters.has_states = kernel.first_states ? 1 : 0;
  parameters.has_cells = kernel.first_cells ? 1 : 0;
  parameters.has_lengths = kernel.lengths ? 1 : 0;
  parameters.has_peepholes = kernel.peepholes ? 1 : 0;
  parameters.has_sequence = kernel.has_sequence ? 1 : 0;
  parameters.has_final = kernel.has_final ? 1 : 0;
  parameters.has_clip = kernel.clip ? 1 : 0;
  parameters.couples_input_forget = kernel.couples_input_forget ? 1 : 0;
  set_functions(kernel, parameters);
  parameters.clip = kernel.clip.value_or(0);
  parameters.cells_at = word(places.cells_at);
  parameters.gates_at = word(places.gates_at);
  parameters.reset_at = word(places.reset_at);
  parameters.reset_gates_at = word(places.reset_gates_at);
  return parameters;
}

// Inputs that are not there have the type of the output, so that few variants serve all networks.
std::vector<uint> specialization_of(const RecurrentKernel& kernel) {
  std::vector<uint> numbers{static_cast<uint>(kernel.cell), resets_first(kernel) ? 1U : 0U,
                            lane_bits_of(kernel), static_cast<uint>(kernel.output_type)};
  const auto inputs = inputs_of(kernel);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const DataType type = inputs[i] == nullptr ? kernel.output_type : inputs[i]->data_type;
    if (i != lengths_place) numbers.push_back(static_cast<uint>(type));
  }
  return numbers;
}

std::vector<Stage> stages_of(const RecurrentKernel& kernel) {
  constexpr std::uint64_t few = 64;  // iterations of a thread that has no sums
  const Places places = places_of(kernel);
  const std::uint64_t lanes = lanes_of(kernel), product = work_of_product(kernel);
  std::vector<Stage> stages;
  const auto add = [&](Step step, std::uint64_t threads, std::uint64_t work, std::uint64_t i = 0) {
    Stage& stage = stages.emplace_back(0, threads, work);
    stage.step = step;
    stage.base = word(i);
  };
  const std::uint64_t together = resets_first(kernel) ? 2 : kernel.gates();
  add(begin, places.states, few);
  for (std::uint64_t i = 0; i < kernel.steps; ++i) {
    add(multiply, together * places.states * lanes, product, i);
    if (resets_first(kernel)) {
      add(reset, places.states, few, i);
      add(multiply_reset, places.states * lanes, product, i);
    }
    add(advance, places.states, few, i);
  }
  const std::uint64_t elements = bytes_per_thread / size_of(kernel.output_type);
  add(finish, divided_up(kernel.output_elements(), elements), few);
  return stages;
}

}  // namespace

std::string refusal_of(const RecurrentKernel& kernel) {
  const auto inputs = inputs_of(kernel);
  const bool has_64_bits = std::any_of(inputs.begin(), inputs.end(), [](const auto* input) {
    return input != nullptr && size_of(input->data_type) > 4;
  });
  if (has_64_bits) return "GPU kernels compute with at most 32 bits";
  const bool is_too_large = places_of(kernel).end * sizeof(uint) > scratch_bytes_most ||
                            work_of_product(kernel) > thread_work_limit;
  return is_too_large ? "its states do not fit the memory that a GPU kernel may have for them" : "";
}

std::vector<ResidentDispatch> dispatches_of(const RecurrentKernel& kernel) {
  ResidentDispatch dispatch;
  dispatch.kernel = "recurrent";
  dispatch.specialization = specialization_of(kernel);
  set_parameters(dispatch, parameters_of(kernel));
  dispatch.inputs.push_back(0);
  std::size_t next = 1;
  for (const RecurrentInput* input : inputs_of(kernel))
    dispatch.inputs.push_back(input == nullptr ? 0 : next++);  // so that the next has its place
  dispatch.stages = stages_of(kernel);
  dispatch.scratch_bytes = places_of(kernel).end * sizeof(uint);
  return {dispatch};
}

}  // namespace dmlop::gpu::resident
