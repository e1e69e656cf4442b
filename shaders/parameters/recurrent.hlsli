// The parameters of shaders/recurrent.hlsl. Inputs are the weights, bias, first states, first cells and peepholes: for
// each of these its strides.
struct RecurrentParameters {
  uint steps, batch, hidden, directions;
  uint fours;                 // how many fours hold the states of a sequence
  uint rows;                  // of the output
  uint strides[15];           // 3 for each input
  uint bias_offset, length_stride;
  uint is_backward[2];        // of each direction
  uint has_bias, has_states, has_cells, has_lengths, has_peepholes;
  uint has_sequence, has_final, has_clip, couples_input_forget;
  uint functions[6];          // 3 for each direction: where they stand in the table of activations
  float numbers[24];          // 4 for each function
  float clip;
  uint cells_at, weights_at, gate_at, reset_at;  // in scratch
};

// Numbers that both sides know.
#define PACK 0     // steps
#define BEGIN 1
#define RESET 2
#define ADVANCE 3
#define FINISH 4
#define UNITS 8
#define FOURS 2  // of sequences
#define IDENTITY 100
#define TANH 101
#define SIGMOID 102

// The specialization constants of recurrent.hlsl.
#define RECURRENT_SPECIALIZATION(VALUE) \
  VALUE(0, CELL)           /* enum RecurrentCell */ \
  VALUE(1, RESETS_FIRST) \
  VALUE(2, COLUMN_BITS) \
  VALUE(3, OUTPUT_TYPE) \
  /* Of the inputs, which have fixed places. */ \
  VALUE(4, WEIGHTS_TYPE) \
  VALUE(5, BIAS_TYPE) \
  VALUE(6, STATES_TYPE) \
  VALUE(7, CELLS_TYPE) \
  VALUE(8, PEEPHOLES_TYPE) \
  VALUE(9, IS_PACKED)      /* weights are in scratch; for few steps, they are not worth it */
