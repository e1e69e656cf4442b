// Comes in the place of simd.hpp where a kernel's code is large.
#pragma once

#define DMLOP_WITHOUT_SSE4
#include "cpu/simd.hpp"
