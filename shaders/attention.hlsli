// What the kernels of attention in HLSL share: attention.hlsl and attention_tiles.hlsl.
#include "parameters/attention.hlsli"
#define PARAMETERS AttentionParameters
#define WHOLE_GROUPS
#include "elements.hlsli"
#include "attention_scores.hlsli"

// How many keys count for a query: all, or with lengths the earlier ones and the new ones up to its own.
uint counted_keys(uint batch, uint query) {
  if (LENGTHS_BUFFER == 0) return parameters[0].keys;
  const int length = int(load_word(LENGTHS_BUFFER, batch * parameters[0].length_stride));
  const uint past = length <= 0 ? 0 : min(uint(length), parameters[0].past_rows);
  return min(past + query + 1, parameters[0].keys);
}

// NaN is no larger number.
float larger_number(float a, float b) { return b > a ? b : a; }
