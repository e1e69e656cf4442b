// Copies 16 bytes per thread. Other kernels are measured against its rate.
#include "common.hlsli"

void run(uint thread) { output0[thread] = input2[thread]; }
