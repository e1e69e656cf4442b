// For index_map.hlsl and lib/gpu/kernels/index_map.cpp: the same words in HLSL and C++. Of an axis: x the extent, y the
// stride of the source, z the start padding, w the extent of the input.
struct IndexMapConstants {
  uint elements;       // of the output
  int offset;          // of the source's first element
  uint length_words;   // of a length of a reversal
  uint rank;
  uint reversed_axis;
  uint unused;
  uint fill_low, fill_high;  // one element
  uint4 axis0, axis1, axis2, axis3;  // outermost first
  uint4 axis4;                       // or the strides of the lengths along axes 0 to 3
};
// More axes stand here.
struct IndexMapAxes {
  uint4 axes[8];
  uint lengths_strides[8];
};
