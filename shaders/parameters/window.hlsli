// For window.hlsl, lib/gpu/kernels/window_search.cpp and those that call it: where the words of the parameters stand.
static const uint at_elements = 0;          // of the output
static const uint at_copied_axes = 1;       // how many
static const uint at_outer_axes = 2;        // windowed axes in front of the last three
static const uint at_place_of_nothing = 3;  // low word, high word
static const uint at_parts = 5;             // of a window; 1 where it is whole
static const uint at_part_rows = 6;
static const uint at_part_columns = 7;
static const uint at_column_parts = 8;
static const uint at_channel_stride = 9;    // of the output's index, from one channel to the next
static const uint at_channels = 10;
static const uint at_input_scale_stride = 11;
static const uint at_input_zero_stride = 12;
static const uint at_output_scale_stride = 13;
static const uint at_output_zero_stride = 14;

// Axes that are copied: 8 times four words.
static const uint at_copied = 16;
static const uint copied_words = 4;
static const uint axis_output_stride = 0;  // of the output's index
static const uint axis_output_extent = 1;
static const uint axis_input_stride = 2;   // elements
static const uint axis_place_stride = 3;   // of the index into the packed input

// Axes with windows: 8 times twelve words, of which the first four are those of a copied axis. The last three axes are
// always there.
static const uint at_windows = 48;
static const uint window_words = 12;
static const uint last_windows = 5;
static const uint axis_table = 4;     // where the table of taps stands; 0 without one
static const uint axis_size = 5;
static const uint axis_stride = 6;
static const uint axis_dilation = 7;
static const uint axis_start = 8;     // padding in front of the input
static const uint axis_end = 9;       // of the input, counted with that padding
static const uint axis_divisor = 10;  // enum Divisor

// Tables of taps: for each output the first element, how many, and where their weights stand.
static const uint at_tables = 144;
static const uint tap_words = 3;

// Numbers that both sides know.
#define IS_QUANTIZED 1
#define HAS_INPUT_ZERO 2
#define HAS_OUTPUT_ZERO 4

// The specialization constants of window.hlsl.
#define WINDOW_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE) \
  VALUE(1, INDEX_TYPE)   /* of the places; 0 without them */ \
  VALUE(2, IS_MAXIMUM)   /* or a sum */ \
  VALUE(3, HAS_TABLES)   /* some axis has a table of taps */ \
  VALUE(4, HAS_OUTER)    /* there are more than three axes with windows */ \
  VALUE(5, IS_IN_PARTS) \
  VALUE(6, QUANTIZATION) /* bits */ \
  VALUE(7, QUICK_WIDTH)  /* of short windows over floats in rows, or the most taps; 0 where they are not that */ \
  VALUE(8, QUICK_STRIDE) /* 1 where windows move by one element */ \
  VALUE(9, QUICK_TAPS)   /* rows have taps with weights instead of windows */
