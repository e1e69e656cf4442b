// For transpose.hlsl, interleave.hlsl and lib/gpu/kernels/transpose.cpp: the same words in HLSL and C++. Of another axis,
// outermost first: x the extent, y the elements of the source and z those of the output from one index to the next.
struct TransposeConstants {
  int offset;           // of the source's first element
  uint columns;         // elements of a source row
  uint column_stride;   // elements of the output from one of them to the next
  uint column_tiles;
  uint rows;            // of the source, which are the elements of a row of the output
  uint row_stride;      // elements of the source
  uint row_tiles;
  uint unused;
  uint4 axis0, axis1, axis2, axis3;
};
struct InterleaveConstants {
  int offset;           // of the source's first element
  uint units;           // of all rows together
  uint row_units;
  uint source_stride;   // elements from one of the few rows to the next
  uint output_stride;
  uint unused0, unused1, unused2;
  uint4 axis0, axis1, axis2, axis3;
};

// The specialization constants of interleave.hlsl.
#define INTERLEAVE_SPECIALIZATION(VALUE) \
  VALUE(0, ELEMENT_SIZE) \
  VALUE(1, FEW)          /* rows: 2 to 4 */ \
  VALUE(2, IS_APART)     /* in the output */ \
  VALUE(3, OTHER_AXES)   /* at most 4 */

// The specialization constants of transpose.hlsl.
#define TRANSPOSE_SPECIALIZATION(VALUE) \
  VALUE(0, ELEMENT_SIZE) \
  VALUE(1, IS_ALIGNED)   /* source rows begin with a word */ \
  VALUE(2, OTHER_AXES)   /* at most 4 */
