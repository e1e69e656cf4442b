// Recurrent networks on the CPU: the products of inputs and weights are there, so that each step
// multiplies the states of a block of the batch with the recurrent weights, which are packed once.
// Where the blocks are too few for all threads, each takes a slice of the states, and all wait for
// each other at every step.
#include <algorithm>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_wise.hpp"
#include "cpu/kinds.hpp"
#include "cpu/packing.hpp"
#include "cpu/panels.hpp"
#include "cpu/preparation.hpp"

namespace dmlop::cpu {
namespace {

using Floats = std::vector<float>;

std::uint64_t whole(std::uint64_t count, std::uint64_t width) {
  return (count + width - 1) / width * width;
}

/// Outputs [begin, begin + width) of every gate, which a thread computes at a time.
struct Slice {
  std::uint64_t begin, width;
};

/// states x weights^T for a slice of some gates, packed for many steps.
class PackedWeights {
 public:
  PackedWeights(const RecurrentInput& weights, const std::byte* data, std::uint64_t gates,
                std::uint64_t hidden, const Slice& slice)
      : hidden_(hidden), width_(panel_columns<float>()) {
    // Whole gates follow each other; slices of them begin panels of their own.
    const bool is_whole = slice.width == hidden;
    const std::uint64_t groups = is_whole ? 1 : gates;
    const std::uint64_t lines = is_whole ? gates * hidden : slice.width;
    gate_pitch_ = is_whole ? hidden : whole(slice.width, width_);
    pitch_ = groups * whole(lines, width_);
    const std::uint64_t row_bytes = weights.strides[1] * size_of(weights.data_type);
    std::vector<std::uint64_t> depth;
    for (std::uint64_t k = 0; k < hidden; k += sum_block) {
      const std::uint64_t count = std::min<std::uint64_t>(sum_block, hidden - k);
      depth.resize(count);
      for (std::uint64_t i = 0; i < count; ++i) depth[i] = (k + i) * weights.strides[2];
      blocks_.emplace_back(pitch_ * count);
      for (std::uint64_t g = 0; g < groups; ++g)
        pack({weights.data_type, data + (g * hidden + slice.begin) * row_bytes, weights.strides[1],
              depth},
             lines, blocks_.back().data() + g * whole(lines, width_) * count);
    }
  }

  /// The row of sums for each of `batch` states, `pitch()` apart.
  void multiply(const Floats& states, std::uint64_t batch, std::vector<double>& sums) const {
    sums.resize(whole(batch, panel_rows()) * pitch());
    for (std::uint64_t k = 0; k < hidden_; k += sum_block)
      multiply_in_pieces(states, k, std::min<std::uint64_t>(sum_block, hidden_ - k), batch, sums);
  }

  std::uint64_t pitch() const { return pitch_; }
  /// From gate to gate of a row.
  std::uint64_t gate_pitch() const { return gate_pitch_; }

 private:
  // Some panels at a time, because the whole may take long.
  void pack(const PackedLines<float>& lines, std::uint64_t count, float* to) const {
    const std::uint64_t depth = lines.depth.size();
    Floats line;
    in_pieces(divided_up(count, width_), width_ * depth, [&](std::uint64_t i, std::uint64_t e) {
      const std::uint64_t first = i * width_;
      PackedLines<float> some = lines;
      some.data += first * lines.line_stride * size_of(lines.type);
      pack_lines<float>(some, std::min(count, e * width_) - first, width_, line,
                        to + first * depth);
    });
  }

  void multiply_in_pieces(const Floats& states, std::uint64_t k, std::uint64_t count,
                          std::uint64_t batch, std::vector<double>& sums) const {
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

  std::uint64_t hidden_, width_, pitch_, gate_pitch_;
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
  /// Computed in slices of so many outputs.
  Recurrence(const RecurrentKernel& kernel, Inputs inputs, const Sequences& sequences,
             std::uint64_t slice_width)
      : kernel_(kernel),
        direction_(kernel.directions[sequences.direction]),
        sequences_(sequences),
        batch_(sequences.end - sequences.begin),
        hidden_(kernel.hidden),
        gates_(kernel.gates()),
        size_(size_of(kernel.output_type)),
        is_reset_first_(kernel.cell == RecurrentCell::gru && !kernel.is_linear_before_reset) {
    std::size_t next = 2;
    const auto take = [&](bool is_there) { return is_there ? inputs[next++].data() : nullptr; };
    bias_ = take(kernel.bias.has_value());
    first_states_ = take(kernel.first_states.has_value());
    first_cells_ = take(kernel.first_cells.has_value());
    lengths_ = take(kernel.lengths.has_value());
    peepholes_ = take(kernel.peepholes.has_value());
    inputs_ = inputs[0].data() +
              sequences.direction * kernel.steps * kernel.batch * gates_ * hidden_ * sizeof(float);
    weights_ = inputs[1].data() +
               sequences.direction * kernel.weights.strides[0] * size_of(kernel.weights.data_type);
    read_vectors();
    states_ = first(kernel_.first_states, first_states_);
    next_states_.resize(states_.size());
    cells_ = first(kernel_.first_cells, first_cells_);
    if (is_reset_first_) reset_.resize(states_.size());
    for (std::uint64_t begin = 0; begin < hidden_; begin += slice_width)
      slices_.push_back({.slice = {begin, std::min(slice_width, hidden_ - begin)}});
  }

  std::uint64_t slices() const { return slices_.size(); }

  /// Phases of all slices each: the first packs the weights, then come those of each step.
  std::uint64_t phases() const { return 1 + kernel_.steps * phases_of_step(); }
  void run(std::uint64_t phase, std::uint64_t slice) {
    check_for_stop();
    Work& work = slices_[slice];
    if (phase == 0) return pack_weights(work);
    const std::uint64_t i = (phase - 1) / phases_of_step();
    if (is_reset_first_ && phase % 2 == 1) return reset_states(work, i);
    step(work, i);
  }

 private:
  // A slice, and what its thread needs for it.
  struct Work {
    Slice slice;
    std::vector<PackedWeights> weights = {};
    std::vector<double> sums = {}, reset_sums = {}, row = {};
    Floats numbers = {};
  };

  std::uint64_t phases_of_step() const { return is_reset_first_ ? 2 : 1; }
  // Those that a step reads, and those that it makes.
  const Floats& states_before(std::uint64_t i) const { return i % 2 == 0 ? states_ : next_states_; }
  Floats& states_after(std::uint64_t i) { return i % 2 == 0 ? next_states_ : states_; }

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
  void pack_weights(Work& work) const {
    const std::uint64_t together = is_reset_first_ ? 2 : gates_;
    work.weights.emplace_back(kernel_.weights, weights_, together, hidden_, work.slice);
    if (!is_reset_first_) return;
    const std::uint64_t skipped =
        together * hidden_ * kernel_.weights.strides[1] * size_of(kernel_.weights.data_type);
    work.weights.emplace_back(kernel_.weights, weights_ + skipped, 1, hidden_, work.slice);
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
  void step(Work& work, std::uint64_t i) {
    const Slice& slice = work.slice;
    const Floats& before = states_before(i);
    Floats& after = states_after(i);
    if (is_reset_first_)
      work.weights.back().multiply(reset_, batch_, work.reset_sums);
    else
      work.weights.front().multiply(before, batch_, work.sums);
    for (std::uint64_t b = 0; b < batch_; ++b) {
      const std::uint64_t at = b * hidden_ + slice.begin;
      const std::span<float> state(after.data() + at, slice.width);
      copy(std::span(before).subspan(at, slice.width), state);
      if (i >= step_counts_[b]) continue;
      const std::span<float> gates = gates_of(work, b, i);
      if (kernel_.cell == RecurrentCell::rnn) activate(0, gates), copy(gates, state);
      if (kernel_.cell == RecurrentCell::gru) finish_gru(work, b, gates, state);
      if (kernel_.cell == RecurrentCell::lstm)
        finish_lstm(slice, gates, state, std::span(cells_).subspan(at, slice.width));
    }
    if (kernel_.has_sequence) write_step(work, i);
    if (i + 1 == kernel_.steps) write_last(work);
  }

  std::uint64_t place(std::uint64_t b, std::uint64_t i) const {
    return direction_.is_backward && i < step_counts_[b] ? step_counts_[b] - 1 - i : i;
  }

  // What the activations get, without what follows from other gates: those that are multiplied
  // together, and the inputs of the last one.
  std::span<float> gates_of(Work& work, std::uint64_t b, std::uint64_t i) const {
    const std::uint64_t width = work.slice.width;
    const bool is_gru = kernel_.cell == RecurrentCell::gru;
    const PackedWeights& weights = work.weights.front();
    const std::byte* inputs =
        inputs_ + ((place(b, i) * kernel_.batch + sequences_.begin + b) * gates_ * hidden_ +
                   work.slice.begin) *
                      sizeof(float);
    work.numbers.resize(gates_ * width);
    for (std::uint64_t g = 0; g < gates_; ++g) {
      float* numbers = work.numbers.data() + g * width;
      std::memcpy(numbers, inputs + g * hidden_ * sizeof(float), width * sizeof(float));
      if (is_gru && g == 2) continue;
      const double* sums = work.sums.data() + b * weights.pitch() + g * weights.gate_pitch();
      const float* biases = biases_.data() + g * hidden_ + work.slice.begin;
      for (std::uint64_t j = 0; j < width; ++j)
        numbers[j] = static_cast<float>(numbers[j] + (sums[j] + biases[j]));
    }
    return work.numbers;
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

  // r * H for every sequence.
  void reset_states(Work& work, std::uint64_t i) {
    const Floats& states = states_before(i);
    const Slice& slice = work.slice;
    work.weights.front().multiply(states, batch_, work.sums);
    for (std::uint64_t b = 0; b < batch_; ++b) {
      const std::span<float> r = gates_of(work, b, i).subspan(slice.width, slice.width);
      activate(0, r);
      const std::uint64_t at = b * hidden_ + slice.begin;
      for (std::uint64_t j = 0; j < slice.width; ++j) reset_[at + j] = r[j] * states[at + j];
    }
  }

  void finish_gru(const Work& work, std::uint64_t b, std::span<float> gates,
                  std::span<float> state) const {
    const std::uint64_t width = work.slice.width;
    const std::span<float> z = gates.first(width), r = gates.subspan(width, width);
    const std::span<float> h = gates.last(width);
    activate(0, gates.first(2 * width));
    const PackedWeights& weights = work.weights.back();
    const double* sums = is_reset_first_
                             ? work.reset_sums.data() + b * weights.pitch()
                             : work.sums.data() + b * weights.pitch() + 2 * weights.gate_pitch();
    const float* biases = biases_.data() + 2 * hidden_ + work.slice.begin;
    for (std::uint64_t j = 0; j < width; ++j) {
      const double recurrent = sums[j] + biases[j];
      h[j] = static_cast<float>(h[j] + (is_reset_first_ ? recurrent : r[j] * recurrent));
    }
    activate(1, h);
    for (std::uint64_t j = 0; j < width; ++j) state[j] = (1 - z[j]) * h[j] + z[j] * state[j];
  }

  void add_peephole(std::size_t which, const Slice& slice, std::span<const float> cell,
                    std::span<float> gate) const {
    if (peephole_weights_.empty()) return;
    const float* weights = peephole_weights_.data() + which * hidden_ + slice.begin;
    for (std::uint64_t j = 0; j < slice.width; ++j) gate[j] += weights[j] * cell[j];
  }

  void finish_lstm(const Slice& slice, std::span<float> gates, std::span<float> state,
                   std::span<float> cell) const {
    const auto gate = [&](std::size_t k) { return gates.subspan(k * slice.width, slice.width); };
    const std::span<float> i = gate(0), o = gate(1), f = gate(2), c = gate(3);
    add_peephole(0, slice, cell, i);
    activate(0, i);
    if (kernel_.couples_input_forget) {
      for (std::uint64_t j = 0; j < slice.width; ++j) f[j] = 1 - i[j];
    } else {
      add_peephole(2, slice, cell, f);
      activate(0, f);
    }
    activate(1, c);
    for (std::uint64_t j = 0; j < slice.width; ++j) cell[j] = f[j] * cell[j] + i[j] * c[j];
    add_peephole(1, slice, cell, o);
    activate(0, o);
    copy(cell, state);
    apply(direction_.activations[2], state);
    for (std::uint64_t j = 0; j < slice.width; ++j) state[j] *= o[j];
  }

  void write_step(Work& work, std::uint64_t i) {
    const Floats& states = states_after(i);
    for (std::uint64_t b = 0; b < batch_; ++b) {
      if (i < step_counts_[b]) {
        write_row(work, states, place(b, i), b);
      } else {
        work.row.assign(work.slice.width, 0);
        put_row(work, place(b, i), b);
      }
    }
  }

  void write_last(Work& work) {
    std::uint64_t row = kernel_.has_sequence ? kernel_.steps : 0;
    for (std::uint64_t b = 0; b < batch_; ++b) {
      std::uint64_t next = row;
      if (kernel_.has_final) write_row(work, states_after(kernel_.steps - 1), next++, b);
      if (kernel_.has_cell) write_row(work, cells_, next, b);
    }
  }

  void write_row(Work& work, const Floats& states, std::uint64_t row, std::uint64_t b) const {
    const float* from = states.data() + b * hidden_ + work.slice.begin;
    work.row.assign(from, from + work.slice.width);
    put_row(work, row, b);
  }

  void put_row(const Work& work, std::uint64_t row, std::uint64_t b) const {
    write_elements(
        kernel_.output_type, work.row,
        sequences_.to + row * sequences_.pitch + (b * hidden_ + work.slice.begin) * size_);
  }

  const RecurrentKernel& kernel_;
  const RecurrentDirection& direction_;
  Sequences sequences_;
  std::uint64_t batch_, hidden_, gates_;
  std::size_t size_;
  bool is_reset_first_;
  const std::byte *inputs_, *weights_, *bias_, *first_states_, *first_cells_, *lengths_,
      *peepholes_;
  Floats biases_, peephole_weights_, states_, next_states_, cells_, reset_;
  std::vector<std::uint64_t> step_counts_;
  std::vector<Work> slices_;
};

std::uint64_t states_of(const RecurrentKernel& kernel) {
  return kernel.directions.size() * kernel.batch * kernel.hidden;
}

/// Sequences that are computed together: so many of a batch that their sums stay in a cache.
std::uint64_t batch_of_part(const RecurrentKernel& kernel) {
  constexpr Threshold sums_at_once{std::uint64_t{1} << 18, 40};
  const std::uint64_t batch = std::clamp<std::uint64_t>(
      sums_at_once / (kernel.gates() * kernel.hidden), panel_rows(), kernel.batch + panel_rows());
  return std::min(batch, kernel.batch);
}

/// Calls action(sequences) for those of a range of all batches, which go to `to`.
template <typename Action>
void for_each_sequences(const RecurrentKernel& kernel, std::uint64_t begin, std::uint64_t end,
                        std::uint64_t together, const Destination& to, Action&& action) {
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t first = at % kernel.batch;
    const std::uint64_t count = std::min({kernel.batch - first, end - at, together});
    std::byte* states = to.to + (at - begin) * kernel.hidden * size_of(kernel.output_type);
    action(Sequences{at / kernel.batch, first, first + count, states, to.pitch});
    at += count;
  }
}

// What few sequences become, computed by all threads.
struct ComputedStates : Preparation {
  explicit ComputedStates(std::uint64_t bytes) : states(bytes, "the states") {}

  Buffer states;
};

}  // namespace

PartShape part_shape(const RecurrentKernel& kernel, std::uint64_t) {
  return {.blocks = Blocks{.ranges = kernel.output_rows(),
                           .inner = states_of(kernel),
                           .length = batch_of_part(kernel) * kernel.hidden}};
}

// Slices of panels, where parts are too few for all threads and a step is worth the waiting.
std::unique_ptr<const Preparation> prepare(const RecurrentKernel& kernel, Inputs inputs,
                                           unsigned threads) {
  constexpr Threshold worthwhile{std::uint64_t{1} << 18, 8};
  const std::uint64_t together = batch_of_part(kernel);
  const std::uint64_t parts = kernel.directions.size() * divided_up(kernel.batch, together);
  const std::uint64_t products = kernel.gates() * kernel.hidden * kernel.hidden * together;
  const std::uint64_t panel = std::min<std::uint64_t>(panel_columns<float>(), block_elements());
  const bool is_small = products < worthwhile && block_elements() >= worthwhile / 2;
  if (parts >= threads || is_small || kernel.hidden <= panel) return nullptr;
  const std::uint64_t size = size_of(kernel.output_type), states = states_of(kernel);
  auto computed = std::make_unique<ComputedStates>(kernel.output_elements() * size);
  const std::uint64_t slices = divided_up(std::uint64_t{2} * threads, parts);
  const std::uint64_t width = whole(divided_up(kernel.hidden, slices), panel);
  std::deque<Recurrence> all;
  for_each_sequences(
      kernel, 0, states / kernel.hidden, together, {computed->states.data(), states * size},
      [&](const Sequences& sequences) { all.emplace_back(kernel, inputs, sequences, width); });
  const std::uint64_t each = all.front().slices();
  parallel_phases(threads, all.front().phases(), all.size() * each,
                  [&](std::uint64_t phase, std::uint64_t index) {
                    all[index / each].run(phase, index % each);
                  });
  return computed;
}

void run_part(const RecurrentKernel& kernel, Inputs inputs, const Preparation* prepared,
              const Part& part, Stores, Destinations outputs) {
  const std::uint64_t states = states_of(kernel), size = size_of(kernel.output_type);
  if (const auto* computed = static_cast<const ComputedStates*>(prepared)) {
    for (std::uint64_t i = 0; i < part.count; ++i)
      std::memcpy(outputs.front().to + i * outputs.front().pitch,
                  computed->states.data() + (part.begin + i * part.step) * size,
                  part.length * size);
    return;
  }
  // One stretch may be all rows.
  const bool is_all = part.count == 1 && part.length > states;
  const std::uint64_t pitch = is_all ? states * size : outputs.front().pitch;
  const std::uint64_t begin = part.begin % states / kernel.hidden;
  const std::uint64_t end = begin + std::min(part.length, states) / kernel.hidden;
  for_each_sequences(kernel, begin, end, kernel.batch, {outputs.front().to, pitch},
                     [&](const Sequences& sequences) {
                       Recurrence all(kernel, inputs, sequences, kernel.hidden);
                       for (std::uint64_t i = 0; i < all.phases(); ++i) all.run(i, 0);
                     });
}

}  // namespace dmlop::cpu
