// For reverse_columns.hlsl and lib/gpu/kernels/index_map.cpp: the same words in HLSL and C++. Of an outer axis: x the
// extent, y the words of the source and z the lengths from one index to the next.
struct ReverseColumnsConstants {
  uint length_words;  // of a length
  int offset;         // of the source's first word
  uint columns;       // of words of a row
  uint rows;
  uint thread_rows;
  uint parts;         // of a column
  int row_stride;     // words of the source
  uint block_columns;
  uint blocks;        // of a row
  uint length_stride;  // columns of a word from length to length
  uint unused0, unused1;
  uint4 outermost, outer;
};

// Numbers that both sides know.
#define STAGED_MOST 16

// The specialization constants of reverse_columns.hlsl.
#define REVERSE_COLUMNS_SPECIALIZATION(VALUE) \
  VALUE(0, ELEMENT_SIZE) \
  VALUE(1, STAGED_ROWS)  /* all rows, with STAGED */
