// The parameters of shaders/attention.hlsl. Inputs are query, key, value and the position bias: for each of these its
// offset and its strides by batch, head, row and element.
struct AttentionParameters {
  uint batch, heads, group;  // heads of queries that share one of keys
  uint queries, keys, size, value_size;
  uint rows_at_once;         // queries of heads that are in scratch
  uint offsets[4];
  uint batch_strides[4];
  uint head_strides[4];
  uint row_strides[4];
  uint element_strides[4];
  uint mask_strides[4];
  uint part_keys, parts;     // of the sums of values; attention_parts.hlsl computes scores by parts, too
  float scale, filter_value;
  uint past_rows, length_stride;  // of the lengths of earlier keys
};

// The specialization constants of attention_scores.hlsli.
#define ATTENTION_SPECIALIZATION(VALUE) \
  VALUE(0, OUTPUT_TYPE) \
  VALUE(1, QUERY_TYPE) \
  VALUE(2, KEY_TYPE) \
  VALUE(3, VALUE_TYPE) \
  VALUE(4, BIAS_TYPE)      /* 0: there is none */ \
  VALUE(5, BIAS_BUFFER) \
  VALUE(6, MASK)           /* enum AttentionMask */ \
  VALUE(7, IS_BIAS_SCALED) \
  VALUE(8, IS_VECTORS)  /* queries, keys and values are FLOAT32, and attention_tiles.hlsl reads them by fours */ \
  VALUE(9, LENGTHS_BUFFER) /* 0: there are no lengths of earlier keys */ \
  VALUE(10, IS_KEY_VECTORS)   /* attention_parts.hlsl reads 16 bytes at once */ \
  VALUE(11, IS_VALUE_VECTORS) /* likewise */
