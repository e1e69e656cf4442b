// For fold.hlsl and lib/gpu/kernels/fold.cpp: the same words in HLSL and C++.
struct FoldParameters {
  uint elements;         // of the output
  uint image;            // of these, those of one batch and channel
  uint window_elements;  // of a whole window
  uint rank;             // spatial axes, at most 8
  // By axis, outermost first; lib/ops/kernels/fold.hpp says what they mean.
  uint extents[8];
  uint paddings[8];
  uint windows[8];
  uint window_strides[8];
  uint dilations[8];
  uint places[8];
  uint element_strides[8];
  uint place_strides[8];
  WalkParameters walk;  // through the batches and channels; tensor 0 the input
};

// Numbers that both sides know.
#define SUM_WORDS 5

// The specialization constants of fold.hlsl.
#define FOLD_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE)
