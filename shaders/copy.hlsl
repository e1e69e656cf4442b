// Copies 16 bytes per thread. Other kernels are measured against its rate.
#define LOADS_VECTORS
#include "bindings.hlsli"

void run(uint thread) { output0[thread] = load_vector(1, thread); }
