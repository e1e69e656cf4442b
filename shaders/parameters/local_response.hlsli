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

// Numbers that both sides know.
#define WINDOW_MOST 8

// The specialization constants of local_response.hlsl.
#define LOCAL_RESPONSE_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE)   /* FLOAT32 or FLOAT16 */ \
  VALUE(1, BEFORE) /* channels of a window before that of the output */ \
  VALUE(2, WINDOW) /* all of them, at most WINDOW_MOST */
