// Recurrent networks: shaders/recurrent.hlsl.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "base/threshold.hpp"
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/recurrent.hlsli"

DMLOP_SPECIALIZATION(RecurrentSpecialization, RECURRENT_SPECIALIZATION)

constexpr std::uint64_t scratch_bytes_most = std::uint64_t{1} << 31;

#define EXPRESSION(name, inputs, class, store, expression) Expression::name,
constexpr std::array activations{
#undef EXPRESSION_GROUP
#define EXPRESSION_GROUP 4
#include "../../../shaders/expressions.def"
#undef EXPRESSION_GROUP
};
#undef EXPRESSION

uint number_of(Expression expression) {
  if (expression == Expression::identity) return IDENTITY;
  if (expression == Expression::tanh) return TANH;
  if (expression == Expression::sigmoid) return SIGMOID;
  const auto found = std::find(activations.begin(), activations.end(), expression);
  if (found == activations.end()) throw std::logic_error("an activation is not in the table");
  return static_cast<uint>(found - activations.begin());
}

// Hidden numbers that a group owns, and sequences of a thread.
constexpr std::uint64_t units_of_group = UNITS, sequences_of_thread = 4 * FOURS;

/// The stages of the kernel.
enum Step : uint { pack = PACK, begin = BEGIN, reset = RESET, advance = ADVANCE, finish = FINISH };

/// Where scratch holds what, in words: weights and states in fours that lie along a sum.
struct Places {
  std::uint64_t fours = 0;    // of the states of a sequence
  std::uint64_t states = 0;   // elements of one step
  std::uint64_t weights = 0;  // fours
  std::uint64_t cells_at = 0, gate_at = 0, reset_at = 0, weights_at = 0, end = 0;

  /// Whether weights are packed before the first step; otherwise they are read where they are.
  bool are_packed() const { return weights != 0; }
  std::uint64_t bytes() const { return end * sizeof(uint); }
};

bool resets_first(const RecurrentKernel& kernel) {
  return kernel.cell == RecurrentCell::gru && !kernel.is_linear_before_reset;
}

Places places_of(const RecurrentKernel& kernel) {
  constexpr Threshold few_steps{2, 0};  // for which packing weights is not worth it
  const std::uint64_t directions = kernel.directions.size();
  Places places{.fours = divided_up(kernel.hidden, 4)};
  places.states = directions * places.fours * kernel.batch * 4;
  places.cells_at = (kernel.has_sequence ? kernel.steps + 1 : 2) * places.states;
  places.gate_at = places.cells_at + places.states;
  places.reset_at = places.gate_at + (resets_first(kernel) ? places.states : 0);
  places.weights_at = places.reset_at + (resets_first(kernel) ? places.states : 0);
  places.end = places.weights_at;
  const std::uint64_t weights = directions * places.fours * kernel.gates() * kernel.hidden;
  const std::uint64_t words = kernel.weights.data_type == DataType::Float16 ? 2 : 4;
  if (kernel.steps > few_steps &&
      (places.end + weights * words) * sizeof(uint) <= scratch_bytes_most) {
    places.weights = weights;
    places.end += weights * words;
  }
  return places;
}

/// Threads of a group that take other sequences, as a power of two; the others share their sums.
unsigned column_bits_of(const RecurrentKernel& kernel) {
  constexpr unsigned most = 2;
  unsigned bits = 0;
  while (bits < most && sequences_of_thread << bits < kernel.batch) ++bits;
  return bits;
}

std::uint64_t groups_of(const RecurrentKernel& kernel, const Places& places) {
  const std::uint64_t sequences = sequences_of_thread << column_bits_of(kernel);
  return kernel.directions.size() * divided_up(kernel.batch, sequences) *
         divided_up(places.fours * 4, units_of_group);
}

/// Iterations of a thread, as if no loop were unrolled: its products, and what makes states of the
/// sums of several threads.
std::uint64_t work_of_advance(const RecurrentKernel& kernel, const Places& places) {
  constexpr std::uint64_t product = 24, others = 96;
  const std::uint64_t slices = group_threads / units_of_group >> column_bits_of(kernel);
  return (divided_up(places.fours, slices) + 1) * product + (slices + 1) * kernel.gates() + others;
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

RecurrentParameters parameters_of(const RecurrentKernel& kernel, const Places& places) {
  RecurrentParameters parameters{};
  parameters.steps = word(kernel.steps);
  parameters.batch = word(kernel.batch);
  parameters.hidden = word(kernel.hidden);
  parameters.fours = word(places.fours);
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
  parameters.weights_at = word(places.weights_at);
  parameters.gate_at = word(places.gate_at);
  parameters.reset_at = word(places.reset_at);
  return parameters;
}

// Inputs that are not there have the type of the output, so that few variants serve all networks.
RecurrentSpecialization specialization_of(const RecurrentKernel& kernel, const Places& places) {
  const auto type_of = [&](const std::optional<RecurrentInput>& input) {
    return any_type(input ? input->data_type : kernel.output_type);
  };
  return {.CELL = kernel.cell,
          .RESETS_FIRST = resets_first(kernel),
          .COLUMN_BITS = column_bits_of(kernel),
          .OUTPUT_TYPE = any_type(kernel.output_type),
          .WEIGHTS_TYPE = any_type(kernel.weights.data_type),
          .BIAS_TYPE = type_of(kernel.bias),
          .STATES_TYPE = type_of(kernel.first_states),
          .CELLS_TYPE = type_of(kernel.first_cells),
          .PEEPHOLES_TYPE = type_of(kernel.peepholes),
          .IS_PACKED = places.are_packed()};
}

std::vector<Stage> stages_of(const RecurrentKernel& kernel, const Places& places,
                             std::uint64_t work) {
  constexpr std::uint64_t few = 64;  // iterations of a thread that has no sums
  const std::uint64_t threads = groups_of(kernel, places) * group_threads;
  std::vector<Stage> stages;
  const auto add = [&](Step step, std::uint64_t end, std::uint64_t most, std::uint64_t i = 0) {
    Stage& stage = stages.emplace_back(0, end, most);
    stage.step = step;
    stage.base = word(i);
  };
  if (places.are_packed()) add(pack, places.weights, few);
  add(begin, places.states, few);
  for (std::uint64_t i = 0; i < kernel.steps; ++i) {
    if (resets_first(kernel)) add(reset, threads, work, i);
    add(advance, threads, work, i);
  }
  const std::uint64_t elements = bytes_per_thread / size_of(kernel.output_type);
  add(finish, divided_up(kernel.output_elements(), elements), few);
  return stages;
}

}  // namespace

Dispatches dispatches_of(const RecurrentKernel& kernel) {
  const auto inputs = inputs_of(kernel);
  const bool has_64_bits = std::any_of(inputs.begin(), inputs.end(), [](const auto* input) {
    return input != nullptr && size_of(input->data_type) > 4;
  });
  if (has_64_bits) return refused("GPU kernels compute with at most 32 bits");
  const Places places = places_of(kernel);
  const std::uint64_t work = work_of_advance(kernel, places);
  if (places.bytes() > scratch_bytes_most || work > thread_work_limit)
    return refused("its states do not fit the memory that a GPU kernel may have for them");
  Dispatch dispatch;
  dispatch.kernel = "recurrent";
  set_specialization(dispatch, specialization_of(kernel, places));
  set_parameters(dispatch, parameters_of(kernel, places));
  dispatch.inputs.push_back(0);
  std::size_t next = 1;
  for (const RecurrentInput* input : inputs)
    dispatch.inputs.push_back(input == nullptr ? 0 : next++);  // so that the next has its place
  dispatch.stages = stages_of(kernel, places, work);
  dispatch.scratch_bytes = places.bytes();
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
