// For region_*.hlsl and lib/gpu/kernels/regions.cpp: the same words in HLSL and C++. Along two axes the first is y and
// the second x.
struct RegionsParameters {
  uint elements;  // of the output
  uint count;     // of boxes
  uint input_extents[4];
  uint input_strides[4];
  uint outputs[2];      // of a grid
  uint box_strides[2];  // from one box to the next, within a box
  uint batch_stride;
  uint gradient_strides[4];
  uint step;    // rows or boxes that a stage takes
  float scales[2];
  float input_offset;
  float output_offset;
  float outside_value;
  float samples_min;
  float samples_max;
};

// The specialization constants of regions.hlsli.
#define REGIONS_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE) \
  VALUE(1, BATCH_TYPE) \
  VALUE(2, REACHES_CORNERS) \
  VALUE(3, IS_NEAREST) \
  VALUE(4, TAKES_MAXIMUM)
