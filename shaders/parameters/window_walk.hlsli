// For window_walk.hlsli and lib/gpu/kernels/window_walk.cpp.

// The specialization constants of window_walk.hlsli.
#define WINDOW_WALK_SPECIALIZATION(VALUE) \
  VALUE(0, IS_FLOAT16) /* 0: FLOAT32 */ \
  VALUE(1, OPERATION)    /* the kernel's */ \
  VALUE(2, WIDTH)        /* of a window */ \
  VALUE(3, HEIGHT) \
  VALUE(4, STRIDE_X) \
  VALUE(5, STRIDE_Y) \
  VALUE(6, COLUMNS)      /* that a thread owns of each row: 8 or 16 bytes, a vector */ \
  VALUE(7, LOADED)       /* words of the input at once: 1, 2 or 4 */ \
  VALUE(8, IS_PADDED)    /* windows reach beyond the input */ \
  VALUE(9, IS_SHIFTED)   /* what a thread needs of a row may begin within a word */ \
  VALUE(10, ALIGNMENT)   /* rows of the output begin at multiples of so many elements; at most COLUMNS */ \
  VALUE(11, AHEAD)       /* rows whose words are loaded before a row is used: bytes in flight, which hide latency */ \
  VALUE(12, SKIPPED)     /* elements that are loaded in front of those needed, so that loads begin where they should */
