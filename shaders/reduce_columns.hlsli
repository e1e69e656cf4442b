// For reduce.hlsl: rows that stand side by side, the columns. A lane has an element of each of 4 or 8 columns with every
// vector that it loads. Neighboring lanes take neighboring vectors, and those that share columns have others between.

#define COLUMNS_MOST 8
#ifdef DMLOP_VULKAN
#define EACH_COLUMN [unroll] for (uint c = 0; c < COLUMNS_MOST; ++c) if (c < per_vector())
#else
#define EACH_COLUMN [loop] for (uint c = 0; c < per_vector(); ++c)
#endif

static uint4 column_cells[COLUMNS_MOST];
static int column_levels[COLUMNS_MOST];
static uint4 column_vectors[VECTOR_LOADS];

float number_of_column(uint load, uint column) { return number_of_vector(column_vectors[load], column); }

// The terms of FLOAT16 are added before they come to the pair; vectors that a lane does not have are zeros.
uint4 added_terms(uint4 cell, uint column, float down, float up) {
  float terms[VECTOR_LOADS];
  [unroll]
  for (uint load = 0; load < VECTOR_LOADS; ++load)
    terms[load] = term_of(number_of_column(load, column), 0.0f, 0.0f, down, up);
  if (plain_type(TYPE_0) == FLOAT16)
    return added(cell, uint2(asuint((terms[0] + terms[1]) + (terms[2] + terms[3])), 0), 0);
  [unroll]
  for (uint e = 0; e < VECTOR_LOADS; ++e) cell = added(cell, uint2(asuint(terms[e]), 0), 0);
  return cell;
}

uint4 added_column(uint4 cell, uint column, uint index, uint lanes, uint loads) {
  const float down = has_levels() && column_levels[column] < 0 ? power_of_two(-UNIT_EXPONENT) : 1.0f;
  const float up = has_levels() && column_levels[column] > 0 ? power_of_two(UNIT_EXPONENT) : 1.0f;
  if (!finds_extreme()) return added_terms(cell, column, down, up);
  [unroll]
  for (uint load = 0; load < VECTOR_LOADS; ++load) {
    if (load < loads) cell = added_number(cell, number_of_column(load, column), index + load * lanes, down, up);
  }
  return cell;
}

// Elements [begin, begin + count) of columns, every `lanes`-th from the first on.
void gather_columns(Row row, uint begin, uint count, uint first, uint lanes) {
  uint4 first_vector = uint4(0, 0, 0, 0);
  if (finds_index()) first_vector = load_vector(1, row.offsets.x / per_vector());
  {
    EACH_COLUMN {
      column_cells[c] = empty_cell(row);
      if (finds_index()) column_cells[c] = begun_cell(number_of_vector(first_vector, c));
    }
  }
  const Place start = place_at(min(begin + first, parameters[0].length - 1));
  Place place = start;
  for (uint i = first; i < count; i += VECTOR_LOADS * lanes) {
    // Loads go together.
    const uint loads = (count - i + lanes - 1) >> BASE;
    [unroll]
    for (uint load = 0; load < VECTOR_LOADS; ++load) {
      Place inside = start;
      if (load < loads) inside = place;
      column_vectors[load] = load_vector(1, offsets_at(row, inside).x / per_vector());
      if (load >= loads) column_vectors[load] = uint4(0, 0, 0, 0);
      place = next_place(place);
    }
    EACH_COLUMN column_cells[c] = added_column(column_cells[c], c, begin + i, lanes, loads);
  }
  if (finds_index()) {
    EACH_COLUMN column_cells[c] = found_cell(column_cells[c], number_of_vector(first_vector, c));
  }
}

void gather_columns_of_inputs(uint first_column, uint part, uint first, uint lanes) {
  const Row row = row_at(first_column);
  const uint begin = part * parameters[0].part_length;
  const uint count = min(parameters[0].part_length, parameters[0].length - begin);
  for (uint attempt = 0; attempt < 2; ++attempt) {
    gather_columns(row, begin, count, first, lanes);
    if (!has_levels()) return;
    bool is_right = true;
    EACH_COLUMN {
      column_cells[c].z = uint(column_levels[c]);
      if (attempt == 0) column_levels[c] = level_for(asfloat(column_cells[c].x));
      is_right = is_right && column_levels[c] == int(column_cells[c].z);
    }
    if (is_right) break;
  }
  EACH_COLUMN column_cells[c] = in_range(column_cells[c]);
}

// The cells of lanes with the same columns become those of the first one.
void join_columns(uint in_group) {
  EACH_COLUMN {
    shared_cells[in_group] = column_cells[c];
    GroupMemoryBarrierWithGroupSync();
    for (uint half_ = GROUP_SIZE >> 1; half_ >= GROUP_SIZE >> BASE; half_ >>= 1) {
      if (in_group < half_) shared_cells[in_group] = joined(shared_cells[in_group], shared_cells[in_group + half_]);
      GroupMemoryBarrierWithGroupSync();
    }
    column_cells[c] = shared_cells[in_group];
    GroupMemoryBarrierWithGroupSync();
  }
}

void store_columns(uint first_cell) {
  EACH_COLUMN {
    const uint4 cell = column_cells[c];
    const uint at = 4 * (first_cell + c);
    scratch[at] = cell.x;
    scratch[at + 1] = cell.y;
    scratch[at + 2] = cell.z;
    scratch[at + 3] = cell.w;
  }
}

// The results of the columns of a vector are whole vectors.
void write_columns(uint first_column) {
  const uint size = size_of(OUTPUT_TYPE), per_output = 16 / size;
  const uint at = first_column / per_output;
  uint4 vector_ = uint4(0, 0, 0, 0);
  EACH_COLUMN {
    const uint2 result = finished(column_cells[c]);
    const uint place = c & (per_output - 1);
    if (size == 8) {
      vector_ = place == 0 ? uint4(result, 0, 0) : uint4(vector_.xy, result);
    } else {
      vector_ = with_element(place == 0 ? uint4(0, 0, 0, 0) : vector_, place, result.x, size);
    }
    if (place == per_output - 1) output0[at + c / per_output] = vector_;
  }
}

void run_columns(uint thread, uint in_group) {
  const uint lanes = 1u << BASE, beside = GROUP_SIZE >> BASE;
  const uint first = (in_group << BASE) / GROUP_SIZE;
  const uint task = ((thread - in_group) >> BASE) + (in_group & (beside - 1));
  const uint vectors = parameters[0].outputs / per_vector();
  const uint part = task / vectors, first_column = (task - part * vectors) * per_vector();
  const bool is_active = task < (END_OF_THREADS >> BASE);
  {
    EACH_COLUMN {
      column_cells[c] = uint4(0, 0, 0, 0);
      column_levels[c] = 0;
    }
  }
  if (is_active) gather_columns_of_inputs(first_column, part, first, lanes);
  if (lanes > 1) join_columns(in_group);
  if (is_active && first == 0) {
    if ((STEP & WRITES_OUTPUTS) != 0) {
      write_columns(first_column);
    } else {
      store_columns(part * parameters[0].outputs + first_column);
    }
  }
}
