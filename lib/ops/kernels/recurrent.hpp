// Recurrent networks: RNN, GRU and LSTM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/kernels/element_wise.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// The gates of a cell, in the order in which tensors hold them: RNN i; GRU z, r, h; LSTM i, o, f,
/// c.
enum class RecurrentCell : std::uint8_t { rnn, gru, lstm };

struct RecurrentDirection {
  bool is_backward = false;
  std::vector<NumberFunction> activations;  // f; f and g; f, g and h
};

struct RecurrentInput {
  DataType data_type;
  std::vector<std::uint64_t> strides;  // elements
};

/// The states of a network, step by step. Inputs are those of the gates, FLOAT32 and packed as
/// {direction, step, batch, gate, hidden}, the weights, and those of the others that are there, in
/// the order of the fields.
///
/// The output holds states {direction, batch, hidden}: those of every step if has_sequence, 0
/// behind the end of a sequence, then the last ones if has_final, then the last cells if has_cell.
struct RecurrentKernel {
  RecurrentCell cell = RecurrentCell::rnn;
  DataType output_type = DataType::Float32;
  std::uint64_t steps = 1, batch = 1, hidden = 1;
  std::vector<RecurrentDirection> directions;

  RecurrentInput weights;                      // {direction, gate and hidden, hidden}
  std::optional<RecurrentInput> bias;          // {direction, hidden}: of the gates' states
  std::uint64_t bias_offset = 0;               // of the first of them
  std::optional<RecurrentInput> first_states;  // {direction, batch, hidden}
  std::optional<RecurrentInput> first_cells;   // likewise
  std::optional<RecurrentInput> lengths;       // {batch}, UINT32
  std::optional<RecurrentInput> peepholes;     // {direction, gates i, o, f and hidden}

  std::optional<float> clip;
  bool couples_input_forget = false;
  bool is_linear_before_reset = false;
  bool has_sequence = false, has_final = false, has_cell = false;

  std::uint64_t gates() const;
  std::uint64_t output_rows() const { return (has_sequence ? steps : 0) + has_final + has_cell; }
  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {size_of(output_type)}; }
};

}  // namespace dmlop
