// For local_response.hlsl and lib/gpu/kernels/local_response.cpp: the same words in HLSL and C++.
struct LocalResponseParameters {
  uint channels;
  uint stride;    // from one channel to the next, in vectors
  uint segments;  // of the channels
  uint length;    // channels of a segment; the last one may have fewer
  float bias;
  float factor;
  float beta;
};
