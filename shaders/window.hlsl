// Sums and maxima of what outputs reach, and the places of the maxima: WindowKernel (lib/ops/kernels/window.hpp) and
// MaxPlacesKernel (lib/ops/kernels/max_places.hpp). A thread computes the outputs of 16 bytes, or as many as fill 16
// bytes of both outputs. Where windows are cut into parts, stage 0 leaves what each part gives in scratch, and stage 1
// puts the parts together.
//
// Input 1 is the tensor; inputs 2 to 5 are the scale and zero point of the input, and those of the output.
#include "parameters/window.hlsli"
#define PARAMETERS uint
#include "elements.hlsli"

WINDOW_SPECIALIZATION(SPECIALIZED)

// enum Divisor
#define DIVISOR_NONE 0
#define DIVISOR_INSIDE 1

// Of an element's last word; without it signed integers are in the order of unsigned ones.
#define SIGN_BIT (!is_signed(TYPE) ? 0 : size_of(TYPE) == 1 ? 0x80u : size_of(TYPE) == 2 ? 0x8000u : 0x80000000u)
#define PARTIAL_WORDS (IS_MAXIMUM != 0 ? 4 : 1)

// --- taps

// Elements first, first + step, ... of an axis; weights is where theirs stand, 0 where they are all 1.
struct Taps {
  uint first;
  uint count;
  uint step;
  uint weights;
  float divisor;
};

// How many elements of a window that begins at `begin` lie before `position`, both counted with the padding.
uint elements_before(uint axis, uint begin, uint position) {
  const uint dilation = parameters[axis + axis_dilation];
  uint reached = position <= begin ? 0 : position - begin;
  if (dilation != 1) reached = (reached + dilation - 1) / dilation;
  return min(parameters[axis + axis_size], reached);
}

uint index_along(uint axis, uint at) {
  return at / parameters[axis + axis_output_stride] % parameters[axis + axis_output_extent];
}

Taps taps_of(uint axis, uint index) {
  const uint table = parameters[axis + axis_table];
  Taps taps;
  taps.weights = 0;
  taps.divisor = 1.0f;
  taps.step = 1;
  if (HAS_TABLES != 0 && table != 0) {
    const uint row = table + tap_words * index;
    taps.first = parameters[row];
    taps.count = parameters[row + 1];
    taps.weights = parameters[row + 2];
  } else {
    const uint begin = index * parameters[axis + axis_stride];
    const uint skipped = elements_before(axis, begin, parameters[axis + axis_start]);
    taps.step = parameters[axis + axis_dilation];
    taps.count = elements_before(axis, begin, parameters[axis + axis_end]) - skipped;
    taps.first = taps.count == 0 ? 0 : begin + skipped * taps.step - parameters[axis + axis_start];
    const uint divisor = parameters[axis + axis_divisor];
    if (divisor == DIVISOR_INSIDE) {
      taps.divisor = float(taps.count);
    } else if (divisor != DIVISOR_NONE) {
      taps.divisor = float(parameters[axis + axis_size]);
    }
  }
  return taps;
}

Taps taps_at(uint axis, uint at) { return taps_of(axis, index_along(axis, at)); }

float weight_of(Taps taps, uint k) {
  if (HAS_TABLES == 0 || taps.weights == 0) return 1.0f;
  return asfloat(parameters[taps.weights + k]);
}

uint windowed_axis(uint i) { return at_windows + i * window_words; }

// --- numbers

// What elements are.
#define NONE 0        // there are none
#define ONLY_NAN 1    // for a maximum
#define SOME_NUMBER 2

// What is known of a window: the sum, or the largest number, as a float or as bits in the order of unsigned integers.
// Of NaN alone that is minus infinity, at the place of the first one.
struct Found {
  float real;
  uint low;
  uint high;
  uint place;
  uint elements;
};

Found nothing() {
  Found found;
  found.real = IS_MAXIMUM != 0 ? -infinity() : 0.0f;
  found.low = found.high = found.place = 0;
  found.elements = NONE;
  return found;
}

// What an element is as a Found.
Found element_at(uint offset, uint place) {
  Found found;
  found.place = place;
  found.elements = SOME_NUMBER;
  found.real = 0.0f;
  found.low = found.high = 0;
  if (size_of(TYPE) == 8) {
    const uint2 bits = load_bits64(1, offset);
    found.low = bits.x;
    found.high = bits.y ^ SIGN_BIT;
  } else {
    const uint bits = load_bits(1, offset, size_of(TYPE));
    if (is_floating(TYPE) || IS_MAXIMUM == 0) {
      found.real = real_of(bits, TYPE);
      if (IS_MAXIMUM != 0 && is_nan(found.real)) {
        found.real = -infinity();
        found.elements = ONLY_NAN;
      }
    } else {
      found.low = bits ^ SIGN_BIT;
    }
  }
  return found;
}

// The larger one; NaN is less than any number, and of equal ones the first.
Found larger_of(Found most, Found x) {
  bool is_larger, is_equal;
  if (is_floating(TYPE)) {
    is_larger = x.real > most.real;
    is_equal = x.real == most.real;
  } else {
    is_larger = x.high > most.high || (x.high == most.high && x.low > most.low);
    is_equal = x.high == most.high && x.low == most.low;
  }
  if (is_larger || (is_equal && x.elements > most.elements)) return x;
  return most;
}

// --- windows

// Where the windows of an output begin.
struct Window {
  uint offset;
  uint place;
  uint outer_count;  // taps of the outer axes
  Taps a, b, c;      // of the last three
  uint column;       // along the last one
};

Window window_at(uint at) {
  Window window;
  window.offset = window.place = 0;
  const uint copied = parameters[at_copied_axes];
  [loop]
  for (uint i = 0; i < copied; ++i) {
    const uint axis = at_copied + i * copied_words;
    const uint index = index_along(axis, at);
    window.offset += index * parameters[axis + axis_input_stride];
    window.place += index * parameters[axis + axis_place_stride];
  }
  window.a = taps_at(windowed_axis(last_windows), at);
  window.b = taps_at(windowed_axis(last_windows + 1), at);
  window.column = index_along(windowed_axis(last_windows + 2), at);
  window.c = taps_of(windowed_axis(last_windows + 2), window.column);
  window.outer_count = 1;
  if (HAS_OUTER != 0) {
    const uint outer = parameters[at_outer_axes];
    [loop]
    for (uint k = 0; k < outer; ++k) window.outer_count *= taps_at(windowed_axis(k), at).count;
  }
  return window;
}

// The window of the next output, which is in the same row but for the first one of a row.
Window next_window(Window window, uint at) {
  const uint axis = windowed_axis(last_windows + 2);
  if (parameters[axis + axis_output_stride] != 1 || window.column + 1 == parameters[axis + axis_output_extent])
    return window_at(at);
  ++window.column;
  window.c = taps_of(axis, window.column);
  return window;
}

uint rows_of(Window window) { return window.outer_count * window.a.count * window.b.count; }

float divisor_at(uint at, Window window) {
  float divisor = window.a.divisor * window.b.divisor * window.c.divisor;
  if (HAS_OUTER != 0) {
    const uint outer = parameters[at_outer_axes];
    [loop]
    for (uint k = 0; k < outer; ++k) divisor *= taps_at(windowed_axis(k), at).divisor;
  }
  return divisor;
}

// What taps add up to.
struct Place {
  uint offset;
  uint place;
  float weight;
};

Place moved(Place from, uint axis, Taps taps, uint k) {
  const uint index = taps.first + k * taps.step;
  from.offset += index * parameters[axis + axis_input_stride];
  from.place += index * parameters[axis + axis_place_stride];
  from.weight *= weight_of(taps, k);
  return from;
}

// Where combination `number` of the taps of the outer axes lies.
Place outer_place(uint at, Window window, uint number) {
  Place place;
  place.offset = window.offset;
  place.place = window.place;
  place.weight = 1.0f;
  if (HAS_OUTER != 0) {
    const uint outer = parameters[at_outer_axes];
    [loop]
    for (uint k = 0; k < outer; ++k) {
      const uint axis = windowed_axis(outer - 1 - k);
      const Taps taps = taps_at(axis, at);
      const uint count = max(taps.count, 1);
      place = moved(place, axis, taps, number % count);
      number /= count;
    }
  }
  return place;
}

// Rows [row, row_end) and columns [column, column_end) of a window.
Found reduced(uint at, Window window, uint row, uint row_end, uint column, uint column_end, float zero) {
  Found found = nothing();
  row_end = min(row_end, rows_of(window));
  column_end = min(column_end, window.c.count);
  if (column >= column_end || row >= row_end) return found;
  const uint axis_a = windowed_axis(last_windows), axis_b = windowed_axis(last_windows + 1);
  const uint axis_c = windowed_axis(last_windows + 2);
  const uint input_stride = parameters[axis_c + axis_input_stride], place_stride = parameters[axis_c + axis_place_stride];
  uint j = 0, i = 0, number = 0;
  if (IS_IN_PARTS != 0) {
    j = row % window.b.count;
    i = row / window.b.count % window.a.count;
    number = row / window.b.count / window.a.count;
  }
  Place outer = outer_place(at, window, number);
  for (; row < row_end; ++row) {
    const Place here = moved(moved(outer, axis_a, window.a, i), axis_b, window.b, j);
    if (here.weight != 0.0f) {
      float sum = 0.0f;
      for (uint k = column; k < column_end; ++k) {
        const uint index = window.c.first + k * window.c.step;
        const float weight = weight_of(window.c, k);
        if (weight != 0.0f) {
          const Found x = element_at(here.offset + index * input_stride, here.place + index * place_stride);
          if (IS_MAXIMUM != 0) {
            found = larger_of(found, x);
          } else {
            sum += weight * (x.real - zero);
          }
        }
      }
      if (IS_MAXIMUM == 0) found.real += here.weight * sum;
    }
    if (++j == window.b.count) {
      j = 0;
      if (++i == window.a.count) {
        i = 0;
        if (HAS_OUTER != 0) outer = outer_place(at, window, ++number);
      }
    }
  }
  return found;
}

// --- results

// An element's bits: low word, high word.
uint2 maximum_bits(Found found) {
  if (TYPE == FLOAT16) return uint2(half_bits(found.real), 0);
  if (TYPE == FLOAT32) {
    // A maximum without a place is minus infinity where all elements are NaN.
    const bool is_found = INDEX_TYPE == 0 ? found.elements != NONE : found.elements == SOME_NUMBER;
    return uint2(is_found ? asuint(found.real) : 0xFF7FFFFFu, 0);
  }
  // Without elements all bits are 0, which is the lowest integer.
  if (size_of(TYPE) == 8) return uint2(found.low, found.high ^ SIGN_BIT);
  return uint2(found.low ^ SIGN_BIT, 0);
}

// a / b, rounded to the nearest whole number, halves to even. A quotient that is near to a half is compared with it
// exactly.
float rounded_quotient(float a, float b) {
  const float quotient = a / b;
  const float low = floor(quotient), half = low + 0.5f;
  if (!(abs(quotient) < 4194304.0f) || abs(quotient - half) > 0.001f) return nearest_even(quotient);
  precise const float rest = a - half * b;
  if (rest == 0.0f) return nearest_even(half);
  return (rest > 0.0f) == (b > 0.0f) ? low + 1.0f : low;
}

uint channel_of(uint at) { return at / parameters[at_channel_stride] % parameters[at_channels]; }

float zero_point(uint at) {
  if ((QUANTIZATION & HAS_INPUT_ZERO) == 0) return 0.0f;
  return load_real(3, channel_of(at) * parameters[at_input_zero_stride], TYPE);
}

uint quantized_bits(float sum, float divisor, uint at) {
  const uint channel = channel_of(at);
  const float input_scale = load_real(2, channel * parameters[at_input_scale_stride], FLOAT32);
  const float output_scale = load_real(4, channel * parameters[at_output_scale_stride], FLOAT32);
  float units = rounded_quotient(sum * input_scale, divisor * output_scale);
  if (is_nan(units)) units = -infinity();
  if ((QUANTIZATION & HAS_OUTPUT_ZERO) != 0)
    units += load_real(5, channel * parameters[at_output_zero_stride], TYPE);
  return saturated(units, TYPE);
}

uint sum_bits(float sum, float divisor, uint at) {
  if ((QUANTIZATION & IS_QUANTIZED) != 0) return quantized_bits(sum, divisor, at);
  const float mean = divisor == 1.0f ? sum : sum / divisor;
  if (is_floating(TYPE)) return bits_of_real(mean, TYPE);
  // Weights that add up to 1 give an integer but for what float rounds.
  const float whole = nearest_even(mean);
  return saturated(abs(mean - whole) < 1e-4f ? whole : trunc(mean), TYPE);
}

Found found_in_scratch(uint at, uint part) {
  const uint from = (at * parameters[at_parts] + part) * PARTIAL_WORDS;
  Found found = nothing();
  if (IS_MAXIMUM == 0) {
    found.real = asfloat(scratch[from]);
    return found;
  }
  found.low = scratch[from];
  found.real = asfloat(found.low);
  found.high = scratch[from + 1];
  found.place = scratch[from + 2];
  found.elements = scratch[from + 3];
  return found;
}

void leave_part(uint thread) {
  const uint parts = parameters[at_parts];
  const uint at = thread / parts, part = thread - at * parts;
  const uint column_parts = parameters[at_column_parts];
  const uint row = part / column_parts * parameters[at_part_rows];
  const uint column = part % column_parts * parameters[at_part_columns];
  const Found found = reduced(at, window_at(at), row, row + parameters[at_part_rows], column,
                              column + parameters[at_part_columns], zero_point(at));
  const uint to = thread * PARTIAL_WORDS;
  if (IS_MAXIMUM == 0) {
    scratch[to] = asuint(found.real);
    return;
  }
  scratch[to] = is_floating(TYPE) ? asuint(found.real) : found.low;
  scratch[to + 1] = found.high;
  scratch[to + 2] = found.place;
  scratch[to + 3] = found.elements;
}

Found result_at(uint at, Window window) {
  if (IS_IN_PARTS == 0) return reduced(at, window, 0, 0xFFFFFFFFu, 0, 0xFFFFFFFFu, zero_point(at));
  Found found = nothing();
  const uint parts = parameters[at_parts];
  [loop]
  for (uint part = 0; part < parts; ++part) {
    const Found next = found_in_scratch(at, part);
    if (IS_MAXIMUM == 0) {
      found.real += next.real;
    } else {
      found = larger_of(found, next);
    }
  }
  return found;
}

// Puts element i of those side by side into the vector that it is part of.
void put(inout uint4 vector_, uint i, uint2 bits, uint size) {
  const uint offset = i * size & 15;
  if (offset == 0) vector_ = uint4(0, 0, 0, 0);
  const uint w = offset >> 2;
  if (size == 8) {
    vector_ = w == 0 ? uint4(bits, 0, 0) : uint4(vector_.xy, bits);
  } else {
    const uint word = placed(bits.x, size == 2 ? (offset >> 1) & 1 : offset & 3, size);
    vector_ |= uint4(w == 0 ? word : 0, w == 1 ? word : 0, w == 2 ? word : 0, w == 3 ? word : 0);
  }
}

// --- short windows over floats in rows

// Element x of a row, or what changes nothing where there is none; NaN is never a maximum.
float quick_element(uint row, int x) {
  const int extent = int(parameters[windowed_axis(last_windows + 2) + axis_end] -
                         parameters[windowed_axis(last_windows + 2) + axis_start]);
  const float value = load_real(1, row + uint(clamp(x, 0, extent - 1)), TYPE);
  const bool is_number = IS_MAXIMUM == 0 || value > nothing().real;
  return x >= 0 && x < extent && is_number ? value : nothing().real;
}

float4 quick_elements(uint row, int x, int stride) {
  return float4(quick_element(row, x), quick_element(row, x + stride), quick_element(row, x + 2 * stride),
                quick_element(row, x + 3 * stride));
}

float4 combined(float4 a, float4 b) {
  if (IS_MAXIMUM == 0) return a + b;
  return float4(b.x > a.x ? b.x : a.x, b.y > a.y ? b.y : a.y, b.z > a.z ? b.z : a.z, b.w > a.w ? b.w : a.w);
}

// Four results of windows of which so many elements are in the input along the last axis. `rows` and `row_divisor` are
// those of the other axes.
float4 quick_results(float4 values, int4 begins, uint rows, float row_divisor) {
  const uint axis = windowed_axis(last_windows + 2);
  const int4 counts =
      max(min(begins + int(QUICK_WIDTH), int(parameters[axis + axis_end])) - max(begins, int(parameters[axis + axis_start])), 0);
  if (IS_MAXIMUM != 0) {
    const float lowest = asfloat(0xFF7FFFFFu);
    return float4(rows != 0 && counts.x != 0 ? values.x : lowest, rows != 0 && counts.y != 0 ? values.y : lowest,
                  rows != 0 && counts.z != 0 ? values.z : lowest, rows != 0 && counts.w != 0 ? values.w : lowest);
  }
  const uint divisor = parameters[axis + axis_divisor];
  if (divisor == DIVISOR_NONE) return values / row_divisor;
  if (divisor == DIVISOR_INSIDE) return values / (row_divisor * float4(counts));
  return values / (row_divisor * float(QUICK_WIDTH));
}

// Four outputs of the row of output `at`, from `column` on. Those in front of the row or behind it mean nothing.
float4 quick_outputs(uint at, int column) {
  const uint axis = windowed_axis(last_windows + 2);
  const Window window = window_at(at);
  const uint stride_a = parameters[windowed_axis(last_windows) + axis_input_stride];
  const uint stride_b = parameters[windowed_axis(last_windows + 1) + axis_input_stride];
  const int stride = QUICK_STRIDE == 1 ? 1 : int(parameters[axis + axis_stride]);
  const int first = column * stride - int(parameters[axis + axis_start]);
  const float neutral = nothing().real;
  float4 result = float4(neutral, neutral, neutral, neutral);
  [loop]
  for (uint i = 0; i < window.a.count; ++i) {
    const uint slice = window.offset + (window.a.first + i * window.a.step) * stride_a;
    [loop]
    for (uint j = 0; j < window.b.count; ++j) {
      const uint row = slice + (window.b.first + j * window.b.step) * stride_b;
      float4 elements = quick_elements(row, first, stride);
      float4 sum = elements;
      [unroll]
      for (int k = 1; k < int(QUICK_WIDTH); ++k) {
        // Windows that move by one element share all but one column.
        if (QUICK_STRIDE == 1) {
          elements = float4(elements.yzw, quick_element(row, first + k + 3));
        } else {
          elements = quick_elements(row, first + k, stride);
        }
        sum = combined(sum, elements);
      }
      result = combined(result, sum);
    }
  }
  const int begin = column * stride;
  return quick_results(result, int4(begin, begin + stride, begin + 2 * stride, begin + 3 * stride),
                       window.a.count * window.b.count, window.a.divisor * window.b.divisor);
}

// The taps of four outputs: a table of at most two elements each, and their weights.
struct FourTaps {
  uint4 first;
  uint4 second;
  float4 first_weight;
  float4 second_weight;
};

FourTaps four_taps(int column) {
  const uint axis = windowed_axis(last_windows + 2);
  const int last = int(parameters[axis + axis_output_extent]) - 1;
  const uint stride = parameters[axis + axis_input_stride];
  const uint4 rows = parameters[axis + axis_table] + tap_words * uint4(clamp(column + int4(0, 1, 2, 3), 0, last));
  FourTaps taps;
  taps.first = uint4(parameters[rows.x], parameters[rows.y], parameters[rows.z], parameters[rows.w]);
  taps.first_weight = asfloat(
      uint4(parameters[rows.x + 1], parameters[rows.y + 1], parameters[rows.z + 1], parameters[rows.w + 1]));
  taps.second_weight = asfloat(
      uint4(parameters[rows.x + 2], parameters[rows.y + 2], parameters[rows.z + 2], parameters[rows.w + 2]));
  taps.second = uint4(taps.first.x + (taps.second_weight.x != 0.0f ? 1 : 0), taps.first.y + (taps.second_weight.y != 0.0f ? 1 : 0),
                      taps.first.z + (taps.second_weight.z != 0.0f ? 1 : 0), taps.first.w + (taps.second_weight.w != 0.0f ? 1 : 0));
  taps.first *= stride;
  taps.second *= stride;
  return taps;
}

float4 loaded(uint row, uint4 at) {
  return float4(load_real(1, row + at.x, TYPE), load_real(1, row + at.y, TYPE), load_real(1, row + at.z, TYPE),
                load_real(1, row + at.w, TYPE));
}

float4 weighted_elements(uint row, FourTaps taps) {
  const float4 sum = taps.first_weight * loaded(row, taps.first);
  if (QUICK_WIDTH == 1) return sum;
  // An element of weight 0 has no part, whatever it is.
  const float4 second = taps.second_weight * loaded(row, taps.second);
  return sum + float4(taps.second_weight.x != 0.0f ? second.x : 0.0f, taps.second_weight.y != 0.0f ? second.y : 0.0f,
                      taps.second_weight.z != 0.0f ? second.z : 0.0f, taps.second_weight.w != 0.0f ? second.w : 0.0f);
}

// Four outputs of the row of output `at`, from `column` on, as quick_outputs.
float4 weighted_outputs(uint at, int column) {
  const Window window = window_at(at);
  const FourTaps taps = four_taps(column);
  const uint stride_a = parameters[windowed_axis(last_windows) + axis_input_stride];
  const uint stride_b = parameters[windowed_axis(last_windows + 1) + axis_input_stride];
  float4 result = float4(0, 0, 0, 0);
  [loop]
  for (uint i = 0; i < window.a.count; ++i) {
    const uint slice = window.offset + (window.a.first + i * window.a.step) * stride_a;
    const float slice_weight = weight_of(window.a, i);
    [loop]
    for (uint j = 0; j < window.b.count; ++j) {
      const float weight = slice_weight * weight_of(window.b, j);
      if (weight != 0.0f)
        result += weight * weighted_elements(slice + (window.b.first + j * window.b.step) * stride_b, taps);
    }
  }
  const float divisor = window.a.divisor * window.b.divisor;
  return divisor == 1.0f ? result : result / divisor;
}

// Four outputs from `at` on, which may lie in several rows.
float4 quick_four(uint at) {
  const uint last = parameters[at_elements] - 1;
  at = min(at, last);
  const int width = int(parameters[windowed_axis(last_windows + 2) + axis_output_extent]);
  float4 outputs = float4(0, 0, 0, 0);
  // Each row begins at one of the four, the first one in front of them.
  [loop]
  for (int begin = -int(at % uint(width)); begin < 4; begin += width) {
    const uint first = min(at + uint(max(begin, 0)), last);
    float4 next;
    if (QUICK_TAPS != 0) {
      next = weighted_outputs(first, -begin);
    } else {
      next = quick_outputs(first, -begin);
    }
    outputs = float4(begin <= 0 ? next.x : outputs.x, begin <= 1 ? next.y : outputs.y, begin <= 2 ? next.z : outputs.z, next.w);
  }
  return outputs;
}

void run_quickly(uint thread) {
  const uint per_thread = 16 / size_of(TYPE);
  uint4 result = uint4(0, 0, 0, 0);
  [loop]
  for (uint i = 0; i < per_thread; i += 4) {
    const float4 four = quick_four(thread * per_thread + i);
    if (TYPE == FLOAT32) {
      result = asuint(four);
    } else {
      const uint2 words = uint2(half_bits(four.x) | half_bits(four.y) << 16, half_bits(four.z) | half_bits(four.w) << 16);
      result = i == 0 ? uint4(words, 0, 0) : uint4(result.xy, words);
    }
  }
  output0[thread] = result;
}

void run(uint thread) {
  if (QUICK_WIDTH != 0) {
    run_quickly(thread);
    return;
  }
  if (IS_IN_PARTS != 0 && STEP == 0) {
    leave_part(thread);
    return;
  }
  const uint size = size_of(TYPE), index_size = INDEX_TYPE == 0 ? 16 : size_of(INDEX_TYPE);
  const uint per_thread = 16 / min(size, index_size);
  const uint elements = parameters[at_elements];
  uint4 values = uint4(0, 0, 0, 0), places = uint4(0, 0, 0, 0);
  Window window = window_at(min(thread * per_thread, elements - 1));
  [loop]
  for (uint i = 0; i < per_thread; ++i) {
    const uint at = thread * per_thread + i;
    const uint here = min(at, elements - 1);
    if (i > 0) window = next_window(window, here);
    const Found found = result_at(here, window);
    put(values, i, IS_MAXIMUM != 0 ? maximum_bits(found) : uint2(sum_bits(found.real, divisor_at(here, window), here), 0),
        size);
    // A vector of which any element is in the output.
    const bool is_full = ((i + 1) * size & 15) == 0;
    if (is_full && at + 1 - 16 / size < elements) output0[at * size >> 4] = values;
    if (INDEX_TYPE != 0) {
      const uint2 nowhere = uint2(parameters[at_place_of_nothing], parameters[at_place_of_nothing + 1]);
      put(places, i, found.elements != NONE ? uint2(found.place, 0) : nowhere, index_size);
      const bool is_index_full = ((i + 1) * index_size & 15) == 0;
      if (is_index_full && at + 1 - 16 / index_size < elements) output1[at * index_size >> 4] = places;
    }
  }
}
