// For resample_walk.hlsl and lib/gpu/kernels/resample_walk.cpp: the same words in HLSL and C++.
struct ResampleWalkConstants {
  uint column_blocks, row_blocks;
  uint block_rows;                // the rows of a block
  uint last_word;                 // of the input
  uint row_stride, column_stride; // of the input, elements
  uint output_height, output_width;
  uint plane_axes;                // as planes.hlsli has them
  uint unused0, unused1, unused2;
  uint4 axes01, axes23, axes45;
};

// What an output is made of along one axis. A parameter for each row of the output, then one for each column.
struct ResampleTaps {
  uint first;         // element
  float weight;
  float next_weight;  // of the next element; 0 where it has no part
};

// The specialization constants of resample_walk.hlsl.
#define RESAMPLE_WALK_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE)      /* FLOAT32 or FLOAT16 */ \
  VALUE(1, COLUMNS)   /* that a thread owns: whole words */ \
  VALUE(2, STORED)    /* words of the output at once: 1, 2 or 4 */ \
  VALUE(3, HAS_PAIRS) /* some column has two elements */ \
  VALUE(4, WORDS)     /* that hold the elements of a thread's columns; 0 where it loads those of each column */ \
  VALUE(5, BEFORE)    /* how many elements in front of its row the first thread begins */ \
  VALUE(6, ADVANCE)   /* elements from one thread to the next */ \
  VALUE(7, OFFSETS)   /* where the first elements of columns stand among a thread's: four bits each */
