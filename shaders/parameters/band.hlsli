// For band.hlsl and lib/gpu/kernels/band.cpp: the same words in HLSL and C++.
struct BandParameters {
  uint elements;       // of the output
  uint rows;           // of a matrix
  uint columns;
  uint column_stride;  // of the input, in elements
  int begin;           // the band's first diagonal
  int end;             // and the one behind it
  uint value[2];       // one element, in its first bytes
  WalkParameters walk;  // through the rows of all matrices; tensor 0 the input
};
