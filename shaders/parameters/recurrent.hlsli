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
