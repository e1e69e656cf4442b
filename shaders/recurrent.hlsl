// Recurrent networks: RecurrentKernel (lib/ops/kernels/recurrent.hpp). Weights, states and cells are in scratch, where
// fours of neighboring states stand together, zeros behind the last ones: {direction, four, sequence} for states and
// cells of a step, {direction, four, gate, hidden} for the weights that multiply them. Stages; BASE is the step of the
// sequence:
// 0 the weights as fours;
// 1 the first states and cells;
// 2 for a GRU that resets states before it multiplies them: gate z and the reset states;
// 3 the next states and cells;
// 4 the outputs, 16 bytes a thread.
// In stages 2 and 3 a group owns all gates of some hidden numbers of some sequences, and SLICES threads share each sum.
#include "parameters/recurrent.hlsli"
#define PARAMETERS RecurrentParameters
#define WHOLE_GROUPS
#include "elements.hlsli"
#include "functions.hlsli"

RECURRENT_SPECIALIZATION(SPECIALIZED)

// A thread adds up the gates of one hidden number for some sequences.
#ifdef DMLOP_VULKAN
#define DEPTH 4  // fours of states that are under way together; Direct3D's compiler takes too long for several
#endif
#define COLUMNS (1u << COLUMN_BITS)
#define SLICES (GROUP_SIZE / UNITS >> COLUMN_BITS)
#define PAIRS (4 * FOURS * COLUMNS * UNITS)  // of hidden numbers and sequences in a group
#define GATES (CELL == RNN ? 1u : CELL == GRU ? 3u : 4u)

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

uint states_count() { return parameters[0].directions * parameters[0].batch * 4 * parameters[0].fours; }

// A hidden number of a sequence.
struct Unit {
  uint direction, sequence, hidden;
};

// Where states and cells of a step have it.
uint place_of(Unit unit) {
  const uint four = unit.direction * parameters[0].fours + unit.hidden / 4;
  return (four * parameters[0].batch + unit.sequence) * 4 + unit.hidden % 4;
}

// The other way round.
Unit unit_at(uint place) {
  Unit unit;
  const uint four = place / 4 / parameters[0].batch;
  unit.sequence = place / 4 - four * parameters[0].batch;
  unit.direction = four / parameters[0].fours;
  unit.hidden = (four - unit.direction * parameters[0].fours) * 4 + place % 4;
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
uint states_at(uint i) { return (parameters[0].has_sequence != 0 ? i : i % 2) * states_count(); }

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

// Function f, g or h of a direction.
float activated(float a, uint direction, uint which) {
  const uint index = 3 * direction + which;
  const uint function = parameters[0].functions[index];
  const float p0 = parameters[0].numbers[4 * index], p1 = parameters[0].numbers[4 * index + 1];
  const float b = 0.0f;
  float result = a;
  if (function == TANH) {
    result = tanh_of(a);
  } else if (function == SIGMOID) {
    result = sigmoid_of(a);
  } else if (function != IDENTITY) {  // the others take longer to find
    uint at = 0;
#define EXPRESSION(name, inputs, number_class, store, expression) \
    EXPRESSION_##number_class(expression) ++at;
#include "expressions.def"
#undef EXPRESSION
  }
  return result;
}

float clipped(float a) {
  if (parameters[0].has_clip == 0) return a;
  const float limit = parameters[0].clip;
  return a < -limit ? -limit : a > limit ? limit : a;
}

// --- fours

#ifdef DMLOP_VULKAN
DMLOP_BUFFER(12) RWStructuredBuffer<uint2> scratch_pairs;
DMLOP_BUFFER(12) RWStructuredBuffer<uint4> scratch_vectors;
float4 load_states(uint four) { return asfloat(scratch_vectors[four]); }
uint2 load_pair(uint pair) { return scratch_pairs[pair]; }
#else
float4 load_states(uint four) {
  return asfloat(uint4(scratch[4 * four], scratch[4 * four + 1], scratch[4 * four + 2], scratch[4 * four + 3]));
}
uint2 load_pair(uint pair) { return uint2(scratch[2 * pair], scratch[2 * pair + 1]); }
#endif

uint words_of_four() { return WEIGHTS_TYPE == FLOAT16 ? 2 : 4; }

// Four number `at` in scratch; unpacked, the elements of the input from `at` on, of which `count` are left.
float4 load_weights(uint at, uint count) {
  if (IS_PACKED == 0) {
    const uint stride = parameters[0].strides[WEIGHTS + 2];
    const uint last = count - 1;
    const float4 weights = float4(load_real(WEIGHTS_BUFFER, at, WEIGHTS_TYPE),
                                  load_real(WEIGHTS_BUFFER, at + min(1, last) * stride, WEIGHTS_TYPE),
                                  load_real(WEIGHTS_BUFFER, at + min(2, last) * stride, WEIGHTS_TYPE),
                                  load_real(WEIGHTS_BUFFER, at + min(3, last) * stride, WEIGHTS_TYPE));
    return float4(weights.x, last < 1 ? 0.0f : weights.y, last < 2 ? 0.0f : weights.z, last < 3 ? 0.0f : weights.w);
  }
  if (WEIGHTS_TYPE != FLOAT16) return load_states(parameters[0].weights_at / 4 + at);
  const uint2 pair = load_pair(parameters[0].weights_at / 2 + at);
  return float4(f16tof32(pair.x), f16tof32(pair.x >> 16), f16tof32(pair.y), f16tof32(pair.y >> 16));
}

// A four of weights a thread.
void pack(uint thread) {
  const uint hidden = parameters[0].hidden;
  const uint row = thread / hidden;
  const uint unit = thread - row * hidden;
  const uint four = row / GATES;
  const uint direction = four / parameters[0].fours;
  const uint first = (four - direction * parameters[0].fours) * 4;
  const uint from = direction * parameters[0].strides[WEIGHTS] +
                    ((row - four * GATES) * hidden + unit) * parameters[0].strides[WEIGHTS + 1];
  const uint size = words_of_four();
  const uint to = parameters[0].weights_at + thread * size;
  uint before = 0;
  for (uint i = 0; i < 4; ++i) {
    const uint k = min(first + i, hidden - 1);
    const float weight = load_real(WEIGHTS_BUFFER, from + k * parameters[0].strides[WEIGHTS + 2], WEIGHTS_TYPE);
    const uint bits = first + i < hidden ? bits_of_real(weight, WEIGHTS_TYPE == FLOAT16 ? FLOAT16 : FLOAT32) : 0;
    if (size == 4) scratch[to + i] = bits;
    if (size == 2 && i % 2 != 0) scratch[to + i / 2] = before | bits << 16;
    before = bits;
  }
}

void begin(uint place) {
  const Unit unit = unit_at(place);
  float state = 0.0f, cell = 0.0f;
  if (parameters[0].has_states != 0 && unit.hidden < parameters[0].hidden)
    state = load_real(STATES_BUFFER, unit.direction * parameters[0].strides[STATES] +
                      unit.sequence * parameters[0].strides[STATES + 1] +
                      unit.hidden * parameters[0].strides[STATES + 2], STATES_TYPE);
  if (parameters[0].has_cells != 0 && unit.hidden < parameters[0].hidden)
    cell = load_real(CELLS_BUFFER, unit.direction * parameters[0].strides[CELLS] +
                     unit.sequence * parameters[0].strides[CELLS + 1] +
                     unit.hidden * parameters[0].strides[CELLS + 2], CELLS_TYPE);
  scratch[place] = asuint(state);
  if (CELL == LSTM) scratch[parameters[0].cells_at + place] = asuint(cell);
}

// --- sums

// What a group owns.
struct Tile {
  uint direction, sequence, hidden;  // the first ones
  uint fours;                        // 0 for a group behind the last tile
};

Tile tile_at(uint thread, uint lane) {
  const uint across = (parameters[0].batch + 4 * FOURS * COLUMNS - 1) / (4 * FOURS * COLUMNS);
  const uint down = (4 * parameters[0].fours + UNITS - 1) / UNITS;
  const uint index = thread / GROUP_SIZE;
  const uint row = index / across;
  Tile tile;
  tile.sequence = (index - row * across) * 4 * FOURS * COLUMNS;
  tile.direction = row / down;
  tile.hidden = (row - tile.direction * down) * UNITS;
  tile.fours = thread - lane < END_OF_THREADS ? parameters[0].fours : 0;
  return tile;
}

// The sums of some gates, each for fours of sequences.
struct Sums {
  float4 gates[4 * FOURS];
};

struct Sequences {
  uint4 fours[FOURS];
};

// Adds the products of a four of states and those of `count` gates, which stand `pitch` from one to the next. `rest`
// weights of each gate are left.
void add_products(inout Sums sums, uint weights, uint pitch, uint rest, uint states, Sequences sequences, uint count) {
  float4 a[FOURS], b[FOURS], c[FOURS], d[FOURS];
  [unroll]
  for (uint i = 0; i < FOURS; ++i) {
    a[i] = load_states(states + sequences.fours[i].x);
    b[i] = load_states(states + sequences.fours[i].y);
    c[i] = load_states(states + sequences.fours[i].z);
    d[i] = load_states(states + sequences.fours[i].w);
  }
  [unroll]
  for (uint gate = 0; gate < 4; ++gate) {
    if (gate < count) {
      const float4 w = load_weights(weights + gate * pitch, rest);
      [unroll]
      for (uint n = 0; n < FOURS; ++n) {
        sums.gates[gate * FOURS + n] += w.x * float4(a[n].x, b[n].x, c[n].x, d[n].x);
        sums.gates[gate * FOURS + n] += w.y * float4(a[n].y, b[n].y, c[n].y, d[n].y);
        sums.gates[gate * FOURS + n] += w.z * float4(a[n].z, b[n].z, c[n].z, d[n].z);
        sums.gates[gate * FOURS + n] += w.w * float4(a[n].w, b[n].w, c[n].w, d[n].w);
      }
    }
  }
}

groupshared float partial_sums[4 * 4 * FOURS * GROUP_SIZE];  // {slice, gate, sequence, hidden}

// Products of the weights and the states from `from` on.
void multiply(Tile tile, uint lane, uint from, uint first_gate, uint count) {
  const uint slice = lane / (UNITS * COLUMNS);
  const uint column = lane / UNITS % COLUMNS;
  const uint hidden = min(tile.hidden + lane % UNITS, parameters[0].hidden - 1);
  Sequences sequences;
  Sums sums;
  [unroll]
  for (uint i = 0; i < FOURS; ++i)
    sequences.fours[i] = min(tile.sequence + column + COLUMNS * (4 * i + uint4(0, 1, 2, 3)), parameters[0].batch - 1);
  [unroll]
  for (uint j = 0; j < 4 * FOURS; ++j) sums.gates[j] = float4(0, 0, 0, 0);
  const uint four = tile.direction * parameters[0].fours + slice;
  uint states = from / 4 + four * parameters[0].batch;
  const uint states_step = SLICES * parameters[0].batch;
  uint weights = (four * GATES + first_gate) * parameters[0].hidden + hidden;
  uint pitch = parameters[0].hidden;
  uint weights_step = SLICES * GATES * parameters[0].hidden;
  if (IS_PACKED == 0) {
    weights = tile.direction * parameters[0].strides[WEIGHTS] + 4 * slice * parameters[0].strides[WEIGHTS + 2] +
              (first_gate * parameters[0].hidden + hidden) * parameters[0].strides[WEIGHTS + 1];
    pitch *= parameters[0].strides[WEIGHTS + 1];
    weights_step = 4 * SLICES * parameters[0].strides[WEIGHTS + 2];
  }
  uint k = slice;
#ifdef DEPTH
  for (; k + (DEPTH - 1) * SLICES < tile.fours; k += DEPTH * SLICES) {
    [unroll]
    for (uint d = 0; d < DEPTH; ++d) {
      const uint rest = parameters[0].hidden - 4 * (k + d * SLICES);
      add_products(sums, weights + d * weights_step, pitch, rest, states + d * states_step, sequences, count);
    }
    weights += DEPTH * weights_step;
    states += DEPTH * states_step;
  }
#endif
  [loop]
  for (; k < tile.fours; k += SLICES) {
    add_products(sums, weights, pitch, parameters[0].hidden - 4 * k, states, sequences, count);
    weights += weights_step;
    states += states_step;
  }
  [unroll]
  for (uint gate = 0; gate < 4; ++gate) {
    [unroll]
    for (uint n = 0; n < FOURS; ++n) {
      const uint at = (slice * 4 + gate) * PAIRS + lane % (UNITS * COLUMNS) + n * 4 * UNITS * COLUMNS;
      if (gate < count) {
        partial_sums[at] = sums.gates[gate * FOURS + n].x;
        partial_sums[at + UNITS * COLUMNS] = sums.gates[gate * FOURS + n].y;
        partial_sums[at + 2 * UNITS * COLUMNS] = sums.gates[gate * FOURS + n].z;
        partial_sums[at + 3 * UNITS * COLUMNS] = sums.gates[gate * FOURS + n].w;
      }
    }
  }
  GroupMemoryBarrierWithGroupSync();
}

// A sum that multiply() left for a pair.
float sum_of(uint pair, uint gate) {
  float sum = 0.0f;
  for (uint slice = 0; slice < SLICES; ++slice) sum += partial_sums[(slice * 4 + gate) * PAIRS + pair];
  return sum;
}

// --- cells

// What the next state of a unit is made of: for each gate its input, its bias, and its sum of states.
struct Numbers {
  float4 inputs, biases, sums;
  float state, cell;
};

float of_gate(float4 numbers, uint gate) {
  return gate == 0 ? numbers.x : gate == 1 ? numbers.y : gate == 2 ? numbers.z : numbers.w;
}

float input_of(Unit unit, uint gate) {
  if (gate >= GATES) return 0.0f;
  const uint position = mirrored(unit, BASE);
  const uint sequence = (unit.direction * parameters[0].steps + position) * parameters[0].batch + unit.sequence;
  return asfloat(load_word(GATES_BUFFER, (sequence * GATES + gate) * parameters[0].hidden + unit.hidden));
}

float bias_of(Unit unit, uint gate) {
  if (gate >= GATES || parameters[0].has_bias == 0) return 0.0f;
  return load_real(BIAS_BUFFER, unit.direction * parameters[0].strides[BIAS] + parameters[0].bias_offset +
                   (gate * parameters[0].hidden + unit.hidden) * parameters[0].strides[BIAS + 1], BIAS_TYPE);
}

float recurrent_sum(Numbers numbers, uint gate) { return of_gate(numbers.sums, gate) + of_gate(numbers.biases, gate); }
float gate_number(Numbers numbers, uint gate) { return of_gate(numbers.inputs, gate) + recurrent_sum(numbers, gate); }

float peephole(Unit unit, uint gate, float cell) {
  if (parameters[0].has_peepholes == 0) return 0.0f;
  return cell * load_real(PEEPHOLES_BUFFER, unit.direction * parameters[0].strides[PEEPHOLES] +
                          (gate * parameters[0].hidden + unit.hidden) * parameters[0].strides[PEEPHOLES + 1],
                          PEEPHOLES_TYPE);
}

float next_of_rnn(Unit unit, Numbers numbers) { return activated(clipped(gate_number(numbers, 0)), unit.direction, 0); }

// Gate z, or the reset state.
float before_reset(Unit unit, Numbers numbers, uint gate) {
  const float result = activated(clipped(gate_number(numbers, gate)), unit.direction, 0);
  return gate == 0 ? result : result * numbers.state;
}

// For RESETS_FIRST, the input of gate 0 is z.
float next_of_gru(Unit unit, Numbers numbers) {
  float z = numbers.inputs.x, r = 0.0f, h = 0.0f;
  [loop]
  for (uint gate = RESETS_FIRST != 0 ? 2 : 0; gate < 3; ++gate) {
    float number = gate_number(numbers, gate);
    if (gate == 2 && RESETS_FIRST == 0) number = numbers.inputs.z + r * recurrent_sum(numbers, 2);
    const float result = activated(clipped(number), unit.direction, gate / 2);
    if (gate == 0) z = result;
    if (gate == 1) r = result;
    if (gate == 2) h = result;
  }
  return (1.0f - z) * h + z * numbers.state;
}

float next_of_lstm(Unit unit, Numbers numbers, inout float cell) {
  float i = 0.0f, f = 0.0f, o = 0.0f, result = 0.0f;
  // The gates i, f and c, then the cell; gate o, and the function of the cell.
  [loop]
  for (uint phase = 0; phase < 5; ++phase) {
    float number = cell;
    if (phase == 0) number = clipped(gate_number(numbers, 0) + peephole(unit, 0, cell));
    if (phase == 1) number = clipped(gate_number(numbers, 2) + peephole(unit, 2, cell));
    if (phase == 2) number = clipped(gate_number(numbers, 3));
    if (phase == 3) number = clipped(gate_number(numbers, 1) + peephole(unit, 1, cell));
    result = activated(number, unit.direction, phase == 2 ? 1 : phase == 4 ? 2 : 0);
    if (phase == 0) i = result;
    if (phase == 1) f = parameters[0].couples_input_forget != 0 ? 1.0f - i : result;
    if (phase == 2) cell = f * cell + i * result;
    if (phase == 3) o = result;
  }
  return o * result;
}

// Stages 2 and 3. What the sums do not need is read before them, because it takes long.
void advance(uint thread, uint lane) {
  const bool resets = RESETS_FIRST != 0 && STEP == RESET;
  const Tile tile = tile_at(thread, lane);
  Unit unit;
  unit.direction = tile.direction;
  unit.sequence = tile.sequence + lane / UNITS;
  unit.hidden = tile.hidden + lane % UNITS;
  const bool is_there = tile.fours != 0 && lane < PAIRS && unit.sequence < parameters[0].batch &&
                        unit.hidden < 4 * parameters[0].fours;
  // Threads without a unit read what belongs to the last one.
  unit.direction = min(unit.direction, parameters[0].directions - 1);
  unit.sequence = min(unit.sequence, parameters[0].batch - 1);
  unit.hidden = min(unit.hidden, 4 * parameters[0].fours - 1);
  const uint place = place_of(unit);
  const bool has_number = unit.hidden < parameters[0].hidden;
  unit.hidden = min(unit.hidden, parameters[0].hidden - 1);
  const bool advances = is_there && has_number && BASE < steps_of(unit);
  Numbers numbers;
  numbers.sums = float4(0, 0, 0, 0);
  numbers.state = asfloat(scratch[states_at(BASE) + place]);
  numbers.cell = 0.0f;
  if (CELL == LSTM) numbers.cell = asfloat(scratch[parameters[0].cells_at + place]);
  numbers.inputs = float4(input_of(unit, 0), input_of(unit, 1), input_of(unit, 2), input_of(unit, 3));
  numbers.biases = float4(bias_of(unit, 0), bias_of(unit, 1), bias_of(unit, 2), bias_of(unit, 3));
  if (RESETS_FIRST != 0 && !resets) numbers.inputs.x = asfloat(scratch[parameters[0].gate_at + place]);
  const uint first_gate = RESETS_FIRST != 0 && !resets ? 2 : 0;
  const uint count = RESETS_FIRST == 0 ? GATES : resets ? 2 : 1;
  multiply(tile, lane, first_gate == 2 ? parameters[0].reset_at : states_at(BASE), first_gate, count);
  float state = numbers.state, cell = numbers.cell;
  if (advances) {
    numbers.sums.x = sum_of(lane, 0);
    if (count > 1) numbers.sums.y = sum_of(lane, 1);
    if (count > 2) numbers.sums.z = sum_of(lane, 2);
    if (count > 3) numbers.sums.w = sum_of(lane, 3);
    if (first_gate == 2) numbers.sums.z = numbers.sums.x;
    if (CELL == RNN) state = next_of_rnn(unit, numbers);
    if (CELL == GRU && !resets) state = next_of_gru(unit, numbers);
    if (CELL == LSTM) state = next_of_lstm(unit, numbers, cell);
    if (resets) {
      scratch[parameters[0].gate_at + place] = asuint(before_reset(unit, numbers, 0));
      state = before_reset(unit, numbers, 1);
    }
  }
  if (is_there) {
    scratch[(resets ? parameters[0].reset_at : states_at(BASE + 1)) + place] = asuint(state);
    if (CELL == LSTM) scratch[parameters[0].cells_at + place] = asuint(cell);
  }
}

// --- outputs

float output_number(uint at) {
  const uint count = parameters[0].directions * parameters[0].batch * parameters[0].hidden;
  const uint row = at / count;
  const uint state = at - row * count;
  const uint sequence = state / parameters[0].hidden;
  Unit unit;
  unit.hidden = state - sequence * parameters[0].hidden;
  unit.direction = sequence / parameters[0].batch;
  unit.sequence = sequence - unit.direction * parameters[0].batch;
  const uint place = place_of(unit);
  const uint sequence_rows = parameters[0].has_sequence != 0 ? parameters[0].steps : 0;
  if (row < sequence_rows) {
    if (row >= steps_of(unit)) return 0.0f;
    return asfloat(scratch[states_at(mirrored(unit, row) + 1) + place]);
  }
  if (parameters[0].has_final != 0 && row == sequence_rows)
    return asfloat(scratch[states_at(parameters[0].steps) + place]);
  return asfloat(scratch[parameters[0].cells_at + place]);
}

void finish(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint per_word = 4 / size;
  const uint last =
      parameters[0].rows * parameters[0].directions * parameters[0].batch * parameters[0].hidden - 1;
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
  if (STEP == RESET || STEP == ADVANCE) {
    advance(thread, lane);
  } else if (thread < END_OF_THREADS) {
    if (STEP == PACK) pack(thread);
    if (STEP == BEGIN) begin(thread);
    if (STEP == FINISH) finish(thread);
  }
}
