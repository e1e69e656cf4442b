// Recurrent networks on the CPU: the products of inputs and weights are there, so that each step
// multiplies the states of a block of the batch with the recurrent weights, which are packed once.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/element_wise.hpp"
#include "cpu/kinds.hpp"
#include "cpu/packing.hpp"
#include "cpu/panels.hpp"

namespace dmlop::cpu {
namespace {

using Floats = std::vector<float>;

std::uint64_t whole(std::uint64_t count, std::uint64_t width) {
  return (count + width - 1) / width * width;
}

/// states x weights^T for some of the weights' rows, packed for many steps.
class PackedWeights {
 public:
  PackedWeights(const RecurrentInput& weights, const std::byte* data, std::uint64_t rows,
                std::uint64_t hidden)
      : rows_(rows), hidden_(hidden), width_(panel_columns<float>()) {
    std::vector<std::uint64_t> depth;
    Floats line;
    for (std::uint64_t k = 0; k < hidden; k += sum_block) {
      const std::uint64_t count = std::min<std::uint64_t>(sum_block, hidden - k);
      depth.resize(count);
      for (std::uint64_t i = 0; i < count; ++i) depth[i] = (k + i) * weights.strides[2];
      blocks_.emplace_back(whole(rows, width_) * count);
      // Some panels at a time, because the whole may take long.
      in_pieces(
          (rows + width_ - 1) / width_, width_ * count, [&](std::uint64_t i, std::uint64_t e) {
            const std::uint64_t first = i * width_, lines = std::min(rows, e * width_) - first;
            const std::byte* from = data + first * weights.strides[1] * size_of(weights.data_type);
            pack_lines<float>({weights.data_type, from, weights.strides[1], depth}, lines, width_,
                              line, blocks_.back().data() + first * count);
          });
    }
  }

  /// The row of sums for each of `batch` states, `pitch()` apart.
  void multiply(const Floats& states, std::uint64_t batch, std::vector<double>& sums) {
    sums.resize(whole(batch, panel_rows) * pitch());
    for (std::uint64_t k = 0; k < hidden_; k += sum_block)
      multiply_in_pieces(states, k, std::min<std::uint64_t>(sum_block, hidden_ - k), batch, sums);
  }

  std::uint64_t pitch() const { return whole(rows_, width_); }

 private:
  void multiply_in_pieces(const Floats& states, std::uint64_t k, std::uint64_t count,
                          std::uint64_t batch, std::vector<double>& sums) {
    const Floats& right = blocks_[k / sum_block];
    in_pieces(pitch() / width_, width_ * count * batch / 8,
              [&](std::uint64_t begin, std::uint64_t end) {
                const std::uint64_t first = begin * width_;
                multiply_panels<float>({.left = states.data() + k,
                                        .rows = batch,
                                        .right = right.data() + first * count,
                                        .columns = (end - begin) * width_,
                                        .depth = count,
                                        .sums = sums.data() + first,
                                        .pitch = pitch(),
                                        .is_first = k == 0,
                                        .left_stride = hidden_});
              });
  }

  std::uint64_t rows_, hidden_, width_;
  std::vector<Floats> blocks_;  // of the sum
};

/// Sequences [begin, end) of the batch in one direction.
struct Sequences {
  std::uint64_t direction, begin, end;
  std::byte* to;        // the states of the first one, in the first row of outputs
  std::uint64_t pitch;  // bytes from row to row
};

class Recurrence {
 public:
  Recurrence(const RecurrentKernel& kernel, Inputs inputs, const Sequences& sequences)
      : kernel_(kernel),
        direction_(kernel.directions[sequences.direction]),
        sequences_(sequences),
        batch_(sequences.end - sequences.begin),
        hidden_(kernel.hidden),
        gates_(kernel.gates()),
        size_(size_of(kernel.output_type)) {
    std::size_t next = 2;
    const auto take = [&](bool is_there) { return is_there ? inputs[next++].data() : nullptr; };
    bias_ = take(kernel.bias.has_value());
    first_states_ = take(kernel.first_states.has_value());
    first_cells_ = take(kernel.first_cells.has_value());
    lengths_ = take(kernel.lengths.has_value());
    peepholes_ = take(kernel.peepholes.has_value());
    inputs_ = inputs[0].data() +
              sequences.direction * kernel.steps * kernel.batch * gates_ * hidden_ * sizeof(float);
    read_vectors();
    pack_weights(inputs[1].data());
  }

  void run() {
    states_ = first(kernel_.first_states, first_states_);
    cells_ = first(kernel_.first_cells, first_cells_);
    for (std::uint64_t i = 0; i < kernel_.steps; ++i) step(i);
    std::uint64_t row = kernel_.has_sequence ? kernel_.steps : 0;
    if (kernel_.has_final) write(states_, row++);
    if (kernel_.has_cell) write(cells_, row);
  }

 private:
  // One row of `count` numbers for the direction.
  Floats vector_of(const RecurrentInput& input, const std::byte* data, std::uint64_t offset,
                   std::uint64_t count) const {
    Floats numbers(count);
    const std::uint64_t at = sequences_.direction * input.strides[0] + offset;
    read_elements(input.data_type, data + at * size_of(input.data_type), input.strides[1], count,
                  numbers.data());
    return numbers;
  }

  void read_vectors() {
    biases_.assign(gates_ * hidden_, 0);
    if (bias_ != nullptr)
      biases_ = vector_of(*kernel_.bias, bias_, kernel_.bias_offset, gates_ * hidden_);
    if (peepholes_ != nullptr)
      peephole_weights_ = vector_of(*kernel_.peepholes, peepholes_, 0, 3 * hidden_);
    step_counts_.assign(batch_, kernel_.steps);
    if (lengths_ == nullptr) return;
    const std::uint64_t stride = kernel_.lengths->strides[0];
    for (std::uint64_t b = 0; b < batch_; ++b) {
      std::uint32_t length;
      std::memcpy(&length, lengths_ + (sequences_.begin + b) * stride * sizeof length,
                  sizeof length);
      step_counts_[b] = std::min<std::uint64_t>(kernel_.steps, length);
    }
  }

  // Gate h of a GRU multiplies states that the other gates have to reset first.
  void pack_weights(const std::byte* data) {
    const std::size_t size = size_of(kernel_.weights.data_type);
    data += sequences_.direction * kernel_.weights.strides[0] * size;
    const bool is_reset_first =
        kernel_.cell == RecurrentCell::gru && !kernel_.is_linear_before_reset;
    const std::uint64_t together = (is_reset_first ? 2 : gates_) * hidden_;
    weights_.emplace_back(kernel_.weights, data, together, hidden_);
    if (is_reset_first)
      weights_.emplace_back(kernel_.weights, data + together * kernel_.weights.strides[1] * size,
                            hidden_, hidden_);
  }

  Floats first(const std::optional<RecurrentInput>& input, const std::byte* data) const {
    Floats states(batch_ * hidden_, 0);
    if (data == nullptr) return states;
    for (std::uint64_t b = 0; b < batch_; ++b) {
      const std::uint64_t at =
          sequences_.direction * input->strides[0] + (sequences_.begin + b) * input->strides[1];
      read_elements(input->data_type, data + at * size_of(input->data_type), input->strides[2],
                    hidden_, states.data() + b * hidden_);
    }
    return states;
  }

  // Step i of each sequence, which is another place in it where it is read from its end.
  void step(std::uint64_t i) {
    check_for_stop();
    weights_.front().multiply(states_, batch_, sums_);
    if (weights_.size() > 1) reset_states(i);
    for (std::uint64_t b = 0; b < batch_; ++b) {
      if (i >= step_counts_[b]) continue;
      const std::span<float> state(states_.data() + b * hidden_, hidden_);
      const std::span<float> gates = gates_of(b, i);
      if (kernel_.cell == RecurrentCell::rnn) activate(0, gates), copy(gates, state);
      if (kernel_.cell == RecurrentCell::gru) finish_gru(b, gates, state);
      if (kernel_.cell == RecurrentCell::lstm)
        finish_lstm(gates, state, std::span(cells_).subspan(b * hidden_, hidden_));
    }
    if (kernel_.has_sequence) write_step(i);
  }

  std::uint64_t place(std::uint64_t b, std::uint64_t i) const {
    return direction_.is_backward && i < step_counts_[b] ? step_counts_[b] - 1 - i : i;
  }

  // What the activations get, without what follows from other gates: those that are multiplied
  // together, and the inputs of the last one.
  std::span<float> gates_of(std::uint64_t b, std::uint64_t i) {
    const std::uint64_t count = gates_ * hidden_;
    const std::uint64_t together = weights_.size() > 1 ? 2 * hidden_ : count;
    const bool is_gru = kernel_.cell == RecurrentCell::gru;
    const double* sums = sums_.data() + b * weights_.front().pitch();
    const std::byte* inputs =
        inputs_ + ((place(b, i) * kernel_.batch + sequences_.begin + b) * count * sizeof(float));
    numbers_.resize(count);
    std::memcpy(numbers_.data(), inputs, count * sizeof(float));
    const std::uint64_t added = is_gru ? 2 * hidden_ : together;
    for (std::uint64_t j = 0; j < added; ++j)
      numbers_[j] = static_cast<float>(numbers_[j] + (sums[j] + biases_[j]));
    return numbers_;
  }

  void activate(std::size_t which, std::span<float> numbers) const {
    if (kernel_.clip) {
      for (float& number : numbers) number = std::clamp(number, -*kernel_.clip, *kernel_.clip);
    }
    apply(direction_.activations[which], numbers);
  }

  static void copy(std::span<const float> from, std::span<float> to) {
    std::copy(from.begin(), from.end(), to.begin());
  }

  // r * H for every sequence, and its product.
  void reset_states(std::uint64_t i) {
    reset_.resize(batch_ * hidden_);
    for (std::uint64_t b = 0; b < batch_; ++b) {
      const std::span<float> r = gates_of(b, i).subspan(hidden_, hidden_);
      activate(0, r);
      for (std::uint64_t j = 0; j < hidden_; ++j)
        reset_[b * hidden_ + j] = r[j] * states_[b * hidden_ + j];
    }
    weights_.back().multiply(reset_, batch_, reset_sums_);
  }

  void finish_gru(std::uint64_t b, std::span<float> gates, std::span<float> state) {
    const std::span<float> z = gates.first(hidden_), r = gates.subspan(hidden_, hidden_);
    const std::span<float> h = gates.last(hidden_);
    activate(0, gates.first(2 * hidden_));
    const bool is_reset = weights_.size() > 1;
    const double* sums = is_reset ? reset_sums_.data() + b * weights_.back().pitch()
                                  : sums_.data() + b * weights_.front().pitch() + 2 * hidden_;
    for (std::uint64_t j = 0; j < hidden_; ++j) {
      const double recurrent = sums[j] + biases_[2 * hidden_ + j];
      h[j] = static_cast<float>(h[j] + (is_reset ? recurrent : r[j] * recurrent));
    }
    activate(1, h);
    for (std::uint64_t j = 0; j < hidden_; ++j) state[j] = (1 - z[j]) * h[j] + z[j] * state[j];
  }

  void add_peephole(std::size_t which, std::span<const float> cell, std::span<float> gate) const {
    if (peephole_weights_.empty()) return;
    for (std::uint64_t j = 0; j < hidden_; ++j)
      gate[j] += peephole_weights_[which * hidden_ + j] * cell[j];
  }

  void finish_lstm(std::span<float> gates, std::span<float> state, std::span<float> cell) {
    const auto gate = [&](std::size_t k) { return gates.subspan(k * hidden_, hidden_); };
    const std::span<float> i = gate(0), o = gate(1), f = gate(2), c = gate(3);
    add_peephole(0, cell, i);
    activate(0, i);
    if (kernel_.couples_input_forget) {
      for (std::uint64_t j = 0; j < hidden_; ++j) f[j] = 1 - i[j];
    } else {
      add_peephole(2, cell, f);
      activate(0, f);
    }
    activate(1, c);
    for (std::uint64_t j = 0; j < hidden_; ++j) cell[j] = f[j] * cell[j] + i[j] * c[j];
    add_peephole(1, cell, o);
    activate(0, o);
    copy(cell, state);
    apply(direction_.activations[2], state);
    for (std::uint64_t j = 0; j < hidden_; ++j) state[j] *= o[j];
  }

  void write_step(std::uint64_t i) {
    for (std::uint64_t b = 0; b < batch_; ++b) {
      const bool is_behind = i >= step_counts_[b];
      row_.assign(hidden_, 0);
      if (!is_behind)
        std::copy_n(states_.begin() + static_cast<std::ptrdiff_t>(b * hidden_), hidden_,
                    row_.begin());
      write_row(place(b, i), b);
    }
  }

  void write(const Floats& states, std::uint64_t row) {
    for (std::uint64_t b = 0; b < batch_; ++b) {
      const auto first = states.begin() + static_cast<std::ptrdiff_t>(b * hidden_);
      row_.assign(first, first + static_cast<std::ptrdiff_t>(hidden_));
      write_row(row, b);
    }
  }

  void write_row(std::uint64_t row, std::uint64_t b) {
    write_elements(kernel_.output_type, row_,
                   sequences_.to + row * sequences_.pitch + b * hidden_ * size_);
  }

  const RecurrentKernel& kernel_;
  const RecurrentDirection& direction_;
  Sequences sequences_;
  std::uint64_t batch_, hidden_, gates_;
  std::size_t size_;
  const std::byte *inputs_, *bias_, *first_states_, *first_cells_, *lengths_, *peepholes_;
  Floats biases_, peephole_weights_, states_, cells_, numbers_, reset_;
  std::vector<double> sums_, reset_sums_, row_;
  std::vector<std::uint64_t> step_counts_;
  std::vector<PackedWeights> weights_;
};

}  // namespace

// Whole sequences; so many of a batch that their sums stay in a cache.
PartShape part_shape(const RecurrentKernel& kernel, std::uint64_t) {
  constexpr std::uint64_t sums_at_once = std::uint64_t{1} << 18;
  const std::uint64_t states = kernel.directions.size() * kernel.batch * kernel.hidden;
  const std::uint64_t batch = std::clamp<std::uint64_t>(
      sums_at_once / (kernel.gates() * kernel.hidden), panel_rows, kernel.batch + panel_rows);
  return {.blocks = Blocks{.ranges = kernel.output_rows(),
                           .inner = states,
                           .length = std::min(batch, kernel.batch) * kernel.hidden}};
}

void run_part(const RecurrentKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  const std::uint64_t states = kernel.directions.size() * kernel.batch * kernel.hidden;
  const std::uint64_t size = size_of(kernel.output_type);
  // One stretch may be all rows.
  const bool is_all = part.count == 1 && part.length > states;
  const std::uint64_t pitch = is_all ? states * size : outputs.front().pitch;
  std::uint64_t at = part.begin % states / kernel.hidden;
  const std::uint64_t first = at, end = at + std::min(part.length, states) / kernel.hidden;
  while (at < end) {
    const std::uint64_t begin = at % kernel.batch;
    const std::uint64_t count = std::min(kernel.batch - begin, end - at);
    std::byte* to = outputs.front().to + (at - first) * kernel.hidden * size;
    Recurrence(kernel, inputs, {at / kernel.batch, begin, begin + count, to, pitch}).run();
    at += count;
  }
}

}  // namespace dmlop::cpu
