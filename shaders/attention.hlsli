// What the kernels of attention in HLSL share: attention.hlsl and attention_tiles.hlsl.
#include "parameters/attention.hlsli"
#define PARAMETERS AttentionParameters
#define WHOLE_GROUPS
#include "elements.hlsli"
#include "attention_scores.hlsli"

// NaN is no larger number.
float larger_number(float a, float b) { return b > a ? b : a; }
