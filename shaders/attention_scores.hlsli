// Where the rows of attention stand, and scores of products, for kernels in HLSL and attention_matrices.comp in GLSL.
ATTENTION_SPECIALIZATION(SPECIALIZED)

#define QUERY 0
#define KEY 1
#define VALUE 2
#define BIAS 3

#define MASK_LENGTHS 1
#define MASK_ENDS_STARTS 2
#define MASK_PACKED_LENGTHS 3
#define MASK_BOOLEANS 4

// A query of a head.
struct Row {
  uint batch, head, query;
};

Row row_at(uint row) {
  Row at;
  const uint position = row / parameters[0].heads;
  at.head = row - position * parameters[0].heads;
  at.batch = position / parameters[0].queries;
  at.query = position - at.batch * parameters[0].queries;
  return at;
}

// The first element of a row of a head.
uint offset_at(uint tensor, uint batch, uint head, uint row) {
  return parameters[0].offsets[tensor] + batch * parameters[0].batch_strides[tensor] +
         head * parameters[0].head_strides[tensor] + row * parameters[0].row_strides[tensor];
}

// How many keys count for a query: all, or with lengths the earlier ones and the new ones up to its own.
uint counted_keys(uint batch, uint query) {
  uint counted = parameters[0].keys;
  if (LENGTHS_BUFFER != 0) {
    const int length = int(load_word(LENGTHS_BUFFER, batch * parameters[0].length_stride));
    const uint past = length <= 0 ? 0 : min(uint(length), parameters[0].past_rows);
    counted = min(past + query + 1, counted);
  }
  return counted;
}

// --- scores

int mask_at(uint offset) { return int(input4[offset]); }

bool is_kept(Row at, uint key) {
  const uint stride = parameters[0].mask_strides[MASK == MASK_PACKED_LENGTHS ? 0 : 1];
  if (MASK == MASK_LENGTHS) return int(key) < mask_at(at.batch * stride);
  if (MASK == MASK_ENDS_STARTS)
    return int(key) >= mask_at(parameters[0].mask_strides[0] + at.batch * stride) &&
           int(key) < mask_at(at.batch * stride);
  if (MASK == MASK_PACKED_LENGTHS) {
    // The starts of the queries of all batches, one after the other, and of the keys.
    const uint query_starts = parameters[0].batch + at.batch;
    const uint key_starts = 2 * parameters[0].batch + 1 + at.batch;
    const int query = int(at.batch * parameters[0].queries + at.query);
    if (query < mask_at(query_starts * stride) || query >= mask_at((query_starts + 1) * stride)) return false;
    const int whole_key = int(at.batch * parameters[0].keys + key);
    return whole_key >= mask_at(key_starts * stride) && whole_key < mask_at((key_starts + 1) * stride) &&
           int(key) < mask_at(at.batch * stride);
  }
  if (MASK == MASK_BOOLEANS)
    return mask_at(at.batch * parameters[0].mask_strides[0] + at.head * parameters[0].mask_strides[1] +
                   at.query * parameters[0].mask_strides[2] + key * parameters[0].mask_strides[3]) != 0;
  return true;
}

// A score from the product of query and key.
float score_of(float product, Row at, uint key) {
  float sum = product;
  if (IS_BIAS_SCALED == 0) sum *= parameters[0].scale;
  if (BIAS_TYPE != 0)
    sum += load_real(BIAS_BUFFER, offset_at(BIAS, at.batch, at.head, at.query) +
                     key * parameters[0].element_strides[BIAS], BIAS_TYPE);
  if (IS_BIAS_SCALED != 0) sum *= parameters[0].scale;
  return is_kept(at, key) ? sum : sum + parameters[0].filter_value;
}
