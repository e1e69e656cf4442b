// Recurrent networks: RecurrentKernel (lib/ops/kernels/recurrent.hpp). States, cells and gates are in scratch, where
// states of one step are {direction, batch, hidden}, gates {direction, batch, gate, hidden}. Stages; BASE is the step of
// the sequence:
// 0 the first states and cells;
// 1 the products of states and weights, for each of which LANES threads add up;
// 2, 3 for a GRU that resets states before it multiplies them: the reset states, and their products;
// 4 the next states and cells;
// 5 the outputs, 16 bytes a thread.
#include "parameters/recurrent.hlsli"
#define PARAMETERS RecurrentParameters
#define WHOLE_GROUPS
#include "resident.hlsli"
#include "functions.hlsli"

SPECIALIZED(0, CELL)  // enum RecurrentCell
SPECIALIZED(1, RESETS_FIRST)
SPECIALIZED(2, LANE_BITS)
SPECIALIZED(3, OUTPUT_TYPE)
// Of the inputs, which have fixed places.
SPECIALIZED(4, WEIGHTS_TYPE)
SPECIALIZED(5, BIAS_TYPE)
SPECIALIZED(6, STATES_TYPE)
SPECIALIZED(7, CELLS_TYPE)
SPECIALIZED(8, PEEPHOLES_TYPE)
#define LANES (1u << LANE_BITS)

#define GATES_BUFFER 1
#define WEIGHTS_BUFFER 2
#define BIAS_BUFFER 3
#define STATES_BUFFER 4
#define CELLS_BUFFER 5
#define LENGTHS_BUFFER 6
#define PEEPHOLES_BUFFER 7

#define RNN 0
#define GRU 1
#define LSTM 2

// Where the strides of an input stand.
#define WEIGHTS 0
#define BIAS 3
#define STATES 6
#define CELLS 9
#define PEEPHOLES 12

uint states_count() { return parameters[0].directions * parameters[0].batch * parameters[0].hidden; }

// A hidden number of a sequence.
struct Unit {
  uint direction, sequence, hidden;
};

Unit unit_at(uint at) {
  Unit unit;
  const uint sequence = at / parameters[0].hidden;
  unit.hidden = at - sequence * parameters[0].hidden;
  unit.direction = sequence / parameters[0].batch;
  unit.sequence = sequence - unit.direction * parameters[0].batch;
  return unit;
}

uint steps_of(Unit unit) {
  if (parameters[0].has_lengths == 0) return parameters[0].steps;
  return min(parameters[0].steps, load_word(LENGTHS_BUFFER, unit.sequence * parameters[0].length_stride));
}

// The position in the sequence that a step reads and writes, and the other way round.
uint mirrored(Unit unit, uint i) {
  const uint steps = steps_of(unit);
  return parameters[0].is_backward[unit.direction] != 0 && i < steps ? steps - 1 - i : i;
}

// The states before a step; all of them are kept where they are an output.
uint states_at(uint i) { return parameters[0].has_sequence != 0 ? i * states_count() : 0; }

// --- functions

#define T float
#define EXPRESSION_NOTHING(expression)
#define EXPRESSION_SOMETHING(expression) \
  if (function == at) result = expression;
#define EXPRESSION_real EXPRESSION_SOMETHING
#define EXPRESSION_number EXPRESSION_SOMETHING
#define EXPRESSION_bits EXPRESSION_NOTHING
#define EXPRESSION_truth EXPRESSION_NOTHING
#define EXPRESSION_wide EXPRESSION_NOTHING
#define EXPRESSION_GROUP 4
#define IDENTITY 100
#define TANH 101

// Function f, g or h of a direction.
float activated(float a, uint direction, uint which) {
  const uint index = 3 * direction + which;
  const uint function = parameters[0].functions[index];
  const float p0 = parameters[0].numbers[4 * index], p1 = parameters[0].numbers[4 * index + 1];
  const float b = 0.0f;
  float result = function == TANH ? tanh_of(a) : a;
  uint at = 0;
#define EXPRESSION(name, inputs, number_class, store, expression) \
  EXPRESSION_##number_class(expression) ++at;
#include "expressions.def"
#undef EXPRESSION
  return result;
}

float clipped(float a) {
  if (parameters[0].has_clip == 0) return a;
  const float limit = parameters[0].clip;
  return a < -limit ? -limit : a > limit ? limit : a;
}

// --- stages

void begin(uint thread) {
  const Unit unit = unit_at(thread);
  float state = 0.0f, cell = 0.0f;
  if (parameters[0].has_states != 0)
    state = load_real(STATES_BUFFER, unit.direction * parameters[0].strides[STATES] +
                      unit.sequence * parameters[0].strides[STATES + 1] +
                      unit.hidden * parameters[0].strides[STATES + 2], STATES_TYPE);
  if (parameters[0].has_cells != 0)
    cell = load_real(CELLS_BUFFER, unit.direction * parameters[0].strides[CELLS] +
                     unit.sequence * parameters[0].strides[CELLS + 1] +
                     unit.hidden * parameters[0].strides[CELLS + 2], CELLS_TYPE);
  scratch[thread] = asuint(state);
  if (CELL == LSTM) scratch[parameters[0].cells_at + thread] = asuint(cell);
}

groupshared float partial_sums[GROUP_SIZE];

// `rows` of the weights from `first_row` on, times the states from `from` on.
void multiply(uint thread, uint lane, uint from, uint to, uint first_row, uint rows, uint pitch) {
  const uint hidden = parameters[0].hidden;
  const uint product = thread / LANES;
  const uint sequence = product / rows;  // of all directions
  const uint row = product - sequence * rows;
  const bool is_there = sequence < parameters[0].directions * parameters[0].batch;
  const uint weights = sequence / parameters[0].batch * parameters[0].strides[WEIGHTS] +
                       (first_row + row) * parameters[0].strides[WEIGHTS + 1];
  float sum = 0.0f;
  if (is_there) {
    for (uint k = lane % LANES; k < hidden; k += LANES)
      sum += asfloat(scratch[from + sequence * hidden + k]) *
             load_real(WEIGHTS_BUFFER, weights + k * parameters[0].strides[WEIGHTS + 2], WEIGHTS_TYPE);
  }
  if (LANES > 1) {
    partial_sums[lane] = sum;
    GroupMemoryBarrierWithGroupSync();
    for (uint half_size = LANES / 2; half_size > 0; half_size /= 2) {
      if (lane % LANES < half_size) partial_sums[lane] += partial_sums[lane + half_size];
      GroupMemoryBarrierWithGroupSync();
    }
    sum = partial_sums[lane];
  }
  if (is_there && lane % LANES == 0) scratch[to + sequence * pitch + row] = asuint(sum);
}

// The product of states and weights for a gate, with its bias.
float recurrent_sum(Unit unit, uint gate, uint at) {
  float bias = 0.0f;
  if (parameters[0].has_bias != 0)
    bias = load_real(BIAS_BUFFER, unit.direction * parameters[0].strides[BIAS] + parameters[0].bias_offset +
                     (gate * parameters[0].hidden + unit.hidden) * parameters[0].strides[BIAS + 1], BIAS_TYPE);
  return asfloat(scratch[at]) + bias;
}

uint gate_at(Unit unit, uint gate) {
  return parameters[0].gates_at +
         ((unit.direction * parameters[0].batch + unit.sequence) * parameters[0].gates + gate) * parameters[0].hidden +
         unit.hidden;
}

float input_of(Unit unit, uint gate) {
  const uint position = mirrored(unit, BASE);
  const uint sequence =
      (unit.direction * parameters[0].steps + position) * parameters[0].batch + unit.sequence;
  return asfloat(load_word(GATES_BUFFER, (sequence * parameters[0].gates + gate) * parameters[0].hidden + unit.hidden));
}

float gate_number(Unit unit, uint gate) { return input_of(unit, gate) + recurrent_sum(unit, gate, gate_at(unit, gate)); }

void reset(uint thread) {
  const Unit unit = unit_at(thread);
  float result = 0.0f;
  if (BASE < steps_of(unit))
    result = activated(clipped(gate_number(unit, 1)), unit.direction, 0) * asfloat(scratch[states_at(BASE) + thread]);
  scratch[parameters[0].reset_at + thread] = asuint(result);
}

float peephole(Unit unit, uint gate, float cell) {
  if (parameters[0].has_peepholes == 0) return 0.0f;
  return cell * load_real(PEEPHOLES_BUFFER, unit.direction * parameters[0].strides[PEEPHOLES] +
                          (gate * parameters[0].hidden + unit.hidden) * parameters[0].strides[PEEPHOLES + 1],
                          PEEPHOLES_TYPE);
}

float next_of_rnn(Unit unit) { return activated(clipped(gate_number(unit, 0)), unit.direction, 0); }

float next_of_gru(Unit unit, uint thread, float state) {
  float z = 0.0f, r = 0.0f, h = 0.0f;
  [loop]
  for (uint gate = 0; gate < 3; ++gate) {
    float number;
    if (gate < 2) {
      number = gate_number(unit, gate);
    } else if (RESETS_FIRST != 0) {
      number = input_of(unit, 2) + recurrent_sum(unit, 2, parameters[0].reset_gates_at + thread);
    } else {
      number = input_of(unit, 2) + r * recurrent_sum(unit, 2, gate_at(unit, 2));
    }
    const float result = activated(clipped(number), unit.direction, gate / 2);
    if (gate == 0) z = result;
    if (gate == 1) r = result;
    if (gate == 2) h = result;
  }
  return (1.0f - z) * h + z * state;
}

float next_of_lstm(Unit unit, inout float cell) {
  float i = 0.0f, f = 0.0f, o = 0.0f, result = 0.0f;
  // The gates i, f and c, then the cell; gate o, and the function of the cell.
  [loop]
  for (uint phase = 0; phase < 5; ++phase) {
    float number = cell;
    if (phase == 0) number = clipped(gate_number(unit, 0) + peephole(unit, 0, cell));
    if (phase == 1) number = clipped(gate_number(unit, 2) + peephole(unit, 2, cell));
    if (phase == 2) number = clipped(gate_number(unit, 3));
    if (phase == 3) number = clipped(gate_number(unit, 1) + peephole(unit, 1, cell));
    result = activated(number, unit.direction, phase == 2 ? 1 : phase == 4 ? 2 : 0);
    if (phase == 0) i = result;
    if (phase == 1) f = parameters[0].couples_input_forget != 0 ? 1.0f - i : result;
    if (phase == 2) cell = f * cell + i * result;
    if (phase == 3) o = result;
  }
  return o * result;
}

void advance(uint thread) {
  const Unit unit = unit_at(thread);
  float state = asfloat(scratch[states_at(BASE) + thread]);
  if (BASE < steps_of(unit)) {
    if (CELL == RNN) state = next_of_rnn(unit);
    if (CELL == GRU) state = next_of_gru(unit, thread, state);
    if (CELL == LSTM) {
      float cell = asfloat(scratch[parameters[0].cells_at + thread]);
      state = next_of_lstm(unit, cell);
      scratch[parameters[0].cells_at + thread] = asuint(cell);
    }
  }
  scratch[states_at(BASE + 1) + thread] = asuint(state);
}

float output_number(uint at) {
  const uint count = states_count();
  const uint row = at / count;
  const uint state = at - row * count;
  const uint sequence_rows = parameters[0].has_sequence != 0 ? parameters[0].steps : 0;
  if (row < sequence_rows) {
    const Unit unit = unit_at(state);
    if (row >= steps_of(unit)) return 0.0f;
    return asfloat(scratch[states_at(mirrored(unit, row) + 1) + state]);
  }
  if (parameters[0].has_final != 0 && row == sequence_rows) return asfloat(scratch[states_at(parameters[0].steps) + state]);
  return asfloat(scratch[parameters[0].cells_at + state]);
}

void finish(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint per_word = 4 / size;
  const uint last = parameters[0].rows * states_count() - 1;
  uint at = thread * 4 * per_word;
  uint4 result = uint4(0, 0, 0, 0);
  for (uint w = 0; w < 4; ++w) {
    uint word = 0;
    for (uint part = 0; part < per_word; ++part)
      word |= placed(bits_of_real(output_number(min(at++, last)), OUTPUT_TYPE), part, size);
    result = with_word(result, w, word);
  }
  output0[thread] = result;
}

void run(uint thread, uint lane) {
  const uint hidden = parameters[0].hidden;
  if (STEP == 1) {
    const uint pitch = parameters[0].gates * hidden;
    multiply(thread, lane, states_at(BASE), parameters[0].gates_at, 0, RESETS_FIRST != 0 ? 2 * hidden : pitch, pitch);
  } else if (STEP == 3) {
    multiply(thread, lane, parameters[0].reset_at, parameters[0].reset_gates_at, 2 * hidden, hidden, hidden);
  } else if (thread < END_OF_THREADS) {
    if (STEP == 0) begin(thread);
    if (STEP == 2) reset(thread);
    if (STEP == 4) advance(thread);
    if (STEP == 5) finish(thread);
  }
}
