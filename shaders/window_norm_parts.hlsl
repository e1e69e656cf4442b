// Norms of windows (lib/ops/kernels/window.hpp) for windows too large for one thread. It takes a window part by
// part and keeps the intermediate result in a state for each output. With n parts, a dispatch has 2n + 1 steps:
//   0 to n - 1     each adds up the powers of a part and finds the largest magnitude;
//   n to 2n - 1    repeat this with scaled elements if the sum came near the limits of float32;
//   2n             turns the states into norms.
//
// Variants: those of lp_norm.hlsli. The states are in scratch, the first one that of output element BASE.
#include "parameters/window_norm.hlsli"
#define CONSTANTS WindowNormConstants
#include "bindings.hlsli"

WINDOW_NORM_SPECIALIZATION(SPECIALIZED)

// A sum may miss up to 2^30 powers that float32 cannot hold, each below 1.2e-38.
#define LEAST_SUM 1e-20
#include "lp_norm.hlsli"

#define PART_ROWS constants.row_blocks
#define PART_COLUMNS constants.column_blocks

struct State {
  float sum;
  float lost;
  uint largest_bits;
  uint is_scaled;
};

State unpacked(uint4 words) {
  State state;
  state.sum = asfloat(words.x);
  state.lost = asfloat(words.y);
  state.largest_bits = words.z;
  state.is_scaled = words.w;
  return state;
}
State loaded_state(uint element) {
  const uint at = 4 * (element - BASE);
  return unpacked(uint4(scratch[at], scratch[at + 1], scratch[at + 2], scratch[at + 3]));
}
void store_state(uint element, State state) {
  const uint at = 4 * (element - BASE);
  scratch[at] = asuint(state.sum);
  scratch[at + 1] = asuint(state.lost);
  scratch[at + 2] = state.largest_bits;
  scratch[at + 3] = state.is_scaled;
}

// The most elements of a window that are in the input, along each axis.
uint3 covered_most() { return uint3(min(window_size(), elements_before(input_extents()))); }

uint parts_per_row() { return (covered_most().z + PART_COLUMNS - 1) / PART_COLUMNS; }
uint part_count() { return (covered_most().x * covered_most().y + PART_ROWS - 1) / PART_ROWS * parts_per_row(); }

Window window_of(uint element) {
  const uint row = element / constants.width.y;
  return window_at(row, int(element - row * constants.width.y));
}

// Adds a part's sum. The rounding error goes back into the sum as far as it fits, so it never gets
// large.
void add_part(inout State state, float sum, float lost) {
  add_exactly(state.sum, state.lost, sum);
  precise const float all_lost = state.lost + lost;
  precise const float total = state.sum + all_lost;
  precise const float rest = all_lost - (total - state.sum);
  if (is_nan(rest) || is_infinite(rest)) return;
  state.sum = total;
  state.lost = rest;
}

// Adds one part of the window. Parts count rows and columns from where the window enters the input.
// There are as many rows as in a whole window, so some may lie beyond the input.
void add_part_of(Window window, uint part, bool scaled, inout State state) {
  const int3 first = first_inside(window);
  const int3 last = last_inside(window);
  const uint3 covered = covered_most();
  const uint first_row = part / parts_per_row() * PART_ROWS;
  const uint last_row = min(first_row + PART_ROWS, covered.x * covered.y);
  const int first_column = first.z + int(part % parts_per_row() * PART_COLUMNS);
  const int last_column = min(first_column + int(PART_COLUMNS), last.z);
  const int apart = DILATIONS.z * input_strides().z;
  const Scale scale = scale_of(max(state.largest_bits, 1));
  float sum = 0;
  float lost = 0;
  for (uint row = first_row; row < last_row; ++row) {
    const uint plane = row / covered.y;
    const int d = first.x + int(plane);
    const int h = first.y + int(row - plane * covered.y);
    if (d >= last.x || h >= last.y) continue;
    const int begin = row_at(window, d, h) + column_at(window, 0);
    for (int column = first_column; column < last_column; ++column) {
      // Not begin += apart: loads whose places wait for each other take a fifth longer on an H200.
      const uint bits = load_bits(begin + column * apart);
      if (scaled) {
        add_exactly(sum, lost, scaled_power(scale, bits));
      } else {
        state.largest_bits = max(state.largest_bits, bits);
        add_exactly(sum, lost, raised(asfloat(bits)));
      }
    }
  }
  add_part(state, sum, lost);
}

void add_up(uint element) {
  const uint parts = part_count();
  const bool scaled = STEP >= parts;
  const uint part = scaled ? STEP - parts : STEP;
  State state = unpacked(uint4(0, 0, 0, 0));
  if (STEP != 0) state = loaded_state(element);
  if (STEP == parts) {
    state.is_scaled = is_extreme(state.sum + state.lost) && !needs_no_sum(state.largest_bits) ? 1 : 0;
    if (state.is_scaled != 0) {
      state.sum = 0;
      state.lost = 0;
    }
  }
  if (!scaled || state.is_scaled != 0) add_part_of(window_of(element), part, scaled, state);
  store_state(element, state);
}

float norm_of(uint element) {
  const State state = loaded_state(min(element, constants.elements - 1));
  if (needs_no_sum(state.largest_bits)) return norm_without_sum(state.largest_bits);
  const float sum = state.sum + state.lost;
  if (state.is_scaled == 0) return root(sum);
  return norm_of_scaled(scale_of(state.largest_bits), sum);
}

void store_norms(uint thread) {
  uint4 words = uint4(0, 0, 0, 0);
  for (uint i = 0; i < 4; ++i) {
#if IS_FLOAT16
    const uint element = thread * PER_THREAD + 2 * i;
    const uint word = half_bits(norm_of(element)) | (half_bits(norm_of(element + 1)) << 16);
#else
    const uint word = asuint(norm_of(thread * PER_THREAD + i));
#endif
    words = uint4(words.yzw, word);
  }
  output0[thread] = words;
}

void run(uint thread) {
  if (STEP == 2 * part_count()) {
    store_norms(thread);
  } else {
    add_up(thread);
  }
}
