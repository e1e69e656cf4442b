// DML_OPERATOR_RNN, GRU and LSTM by their definitions (those of ONNX), one sequence at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "reference/values.hpp"

namespace dmlop::test {

struct Recurrent {
  std::string cell;                  // "RNN", "GRU" or "LSTM"
  Tensor input, weight, recurrence;  // {1, steps, batch, size}, {1, directions, gates, ...}
  std::optional<Tensor> bias, hidden_init, cell_init, lengths, peephole;
  std::vector<bool> is_backward;         // by direction
  std::vector<std::string> activations;  // of all directions, without ACTIVATION_
  std::optional<double> clip;
  bool couples = false, is_linear_before_reset = false;

  struct Outputs {
    Tensor sequence, last, last_cell;
  };

  Outputs result() const {
    const std::uint64_t directions = is_backward.size();
    const auto states = [&](std::uint64_t rows) {
      return Tensor::packed(input.type, {rows, directions, batch(), hidden()});
    };
    Outputs outputs{states(steps()), states(1), states(1)};
    for (std::uint64_t d = 0; d < directions; ++d) {
      for (std::uint64_t b = 0; b < batch(); ++b) run(d, b, outputs);
    }
    return outputs;
  }

 private:
  using Vector = std::vector<double>;

  std::uint64_t steps() const { return input.sizes[1]; }
  std::uint64_t batch() const { return input.sizes[2]; }
  std::uint64_t hidden() const { return recurrence.sizes[3]; }
  std::uint64_t gates() const { return recurrence.sizes[2] / hidden(); }

  static double activation(const std::string& name, double x) {
    if (name == "SIGMOID") return 1 / (1 + std::exp(-x));
    if (name == "TANH") return std::tanh(x);
    if (name == "RELU") return x > 0 ? x : 0;
    throw std::logic_error("no activation " + name);
  }

  double clipped(double x) const { return clip ? std::min(std::max(x, -*clip), *clip) : x; }

  /// Gate g of element j: what the input, its bias and, if asked for, the states contribute.
  double from_input(std::uint64_t d, std::uint64_t t, std::uint64_t b, std::uint64_t row) const {
    double sum = bias ? value_at(*bias, {0, 0, d, row}) : 0;
    for (std::uint64_t k = 0; k < input.sizes[3]; ++k)
      sum += value_at(input, {0, t, b, k}) * value_at(weight, {0, d, row, k});
    return sum;
  }
  double from_states(std::uint64_t d, const Vector& states, std::uint64_t row) const {
    double sum = bias ? value_at(*bias, {0, 0, d, gates() * hidden() + row}) : 0;
    for (std::uint64_t k = 0; k < hidden(); ++k)
      sum += states[k] * value_at(recurrence, {0, d, row, k});
    return sum;
  }
  double peep(std::uint64_t d, std::uint64_t gate, std::uint64_t j, double c) const {
    return peephole ? value_at(*peephole, {0, 0, d, gate * hidden() + j}) * c : 0;
  }

  void run(std::uint64_t d, std::uint64_t b, Outputs& outputs) const {
    const std::uint64_t asked =
        lengths ? static_cast<std::uint64_t>(value_at(*lengths, {0, 0, 0, b})) : steps();
    const std::uint64_t length = std::min(asked, steps());
    Vector h(hidden(), 0), c(hidden(), 0);
    for (std::uint64_t j = 0; j < hidden(); ++j) {
      if (hidden_init) h[j] = value_at(*hidden_init, {0, d, b, j});
      if (cell_init) c[j] = value_at(*cell_init, {0, d, b, j});
    }
    for (std::uint64_t i = 0; i < length; ++i) {
      const std::uint64_t t = is_backward[d] ? length - 1 - i : i;
      if (cell == "RNN") step_rnn(d, t, b, h);
      if (cell == "GRU") step_gru(d, t, b, h);
      if (cell == "LSTM") step_lstm(d, t, b, h, c);
      for (std::uint64_t j = 0; j < hidden(); ++j) set_value(outputs.sequence, {t, d, b, j}, h[j]);
    }
    for (std::uint64_t j = 0; j < hidden(); ++j) {
      set_value(outputs.last, {0, d, b, j}, h[j]);
      set_value(outputs.last_cell, {0, d, b, j}, c[j]);
    }
  }

  void step_rnn(std::uint64_t d, std::uint64_t t, std::uint64_t b, Vector& h) const {
    const Vector before = h;
    for (std::uint64_t j = 0; j < hidden(); ++j)
      h[j] = activation(activations[d], from_input(d, t, b, j) + from_states(d, before, j));
  }

  void step_gru(std::uint64_t d, std::uint64_t t, std::uint64_t b, Vector& h) const {
    const std::uint64_t n = hidden();
    const std::string f = activations[2 * d], g = activations[2 * d + 1];
    const Vector before = h;
    Vector z(n), r(n), reset(n);
    for (std::uint64_t j = 0; j < n; ++j) {
      z[j] = activation(f, from_input(d, t, b, j) + from_states(d, before, j));
      r[j] = activation(f, from_input(d, t, b, n + j) + from_states(d, before, n + j));
      reset[j] = r[j] * before[j];
    }
    for (std::uint64_t j = 0; j < n; ++j) {
      const double states = is_linear_before_reset ? r[j] * from_states(d, before, 2 * n + j)
                                                   : from_states(d, reset, 2 * n + j);
      h[j] = (1 - z[j]) * activation(g, from_input(d, t, b, 2 * n + j) + states) + z[j] * before[j];
    }
  }

  void step_lstm(std::uint64_t d, std::uint64_t t, std::uint64_t b, Vector& h, Vector& c) const {
    const std::string f = activations[3 * d], g = activations[3 * d + 1],
                      last = activations[3 * d + 2];
    const Vector before = h;
    for (std::uint64_t j = 0; j < hidden(); ++j) {
      const auto gate = [&](std::uint64_t k) {
        return from_input(d, t, b, k * hidden() + j) + from_states(d, before, k * hidden() + j);
      };
      const double input_gate = activation(f, clipped(gate(0) + peep(d, 0, j, c[j])));
      const double forget =
          couples ? 1 - input_gate : activation(f, clipped(gate(2) + peep(d, 2, j, c[j])));
      c[j] = forget * c[j] + input_gate * activation(g, clipped(gate(3)));
      h[j] = activation(f, clipped(gate(1) + peep(d, 1, j, c[j]))) * activation(last, c[j]);
    }
  }
};

}  // namespace dmlop::test
