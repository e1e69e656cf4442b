// DML_OPERATOR_RNN, GRU and LSTM: a product of all inputs with the weights of the input, then the
// states step by step. Then the outputs are cut out of the states.
#include <array>
#include <stdexcept>
#include <string>

#include "ops/activation.hpp"
#include "ops/operator.hpp"
#include "ops/products.hpp"

namespace dmlop {
namespace {

/// A tensor {1, ...}, without its first dimension.
RecurrentInput recurrent_input(const TensorDesc& tensor) {
  const Strides strides = input_strides(tensor);
  return {*tensor.data_type, {strides.begin() + 1, strides.end()}};
}

/// A tensor {1, 1, ...}, without its first two dimensions.
RecurrentInput vector_input(const TensorDesc& tensor) {
  const Strides strides = input_strides(tensor);
  return {*tensor.data_type, {strides.begin() + 2, strides.end()}};
}

class RecurrentPlanner {
 public:
  RecurrentPlanner(const Description& description, RecurrentCell cell)
      : description_(description), plan_(description) {
    const TensorDesc& input = description.tensor("InputTensor");
    kernel_.cell = cell;
    kernel_.output_type = *input.data_type;
    kernel_.steps = input.sizes[1];
    kernel_.batch = input.sizes[2];
    kernel_.hidden = description.tensor("RecurrenceTensor").sizes[3];
    add_directions();
  }

  RecurrentKernel& kernel() { return kernel_; }

  Plan plan() {
    std::vector<std::size_t> reads{gates(), plan_.tensor("RecurrenceTensor")};
    kernel_.weights = recurrent_input(description_.tensor("RecurrenceTensor"));
    const auto add = [&](const char* field, auto&& describe) {
      std::optional<RecurrentInput> input;
      if (const auto slot = plan_.find(field)) {
        reads.push_back(*slot);
        input = describe(description_.tensor(field));
      }
      return input;
    };
    kernel_.bias = add("BiasTensor", vector_input);
    if (kernel_.bias)
      kernel_.bias_offset = kernel_.gates() * kernel_.hidden * kernel_.bias->strides[1];
    kernel_.first_states = add("HiddenInitTensor", recurrent_input);
    kernel_.first_cells = add("CellMemInitTensor", recurrent_input);
    kernel_.lengths = add("SequenceLengthsTensor", [](const TensorDesc& tensor) {
      return RecurrentInput{*tensor.data_type, {input_strides(tensor)[3]}};
    });
    kernel_.peepholes = add("PeepholeTensor", vector_input);
    add_outputs(reads);
    return plan_.take();
  }

 private:
  void add_directions() {
    constexpr std::int64_t backward = 1, bidirectional = 2;  // DML_RECURRENT_NETWORK_DIRECTION
    const std::int64_t direction = description_.integer("Direction");
    const auto activations = activations_of(description_, "ActivationDescs");
    const std::size_t count = direction == bidirectional ? 2 : 1;
    const std::size_t each = activations.size() / count;
    for (std::size_t i = 0; i < count; ++i) {
      const auto first = activations.begin() + static_cast<std::ptrdiff_t>(i * each);
      kernel_.directions.push_back(
          {.is_backward = direction == backward || i == 1,
           .activations = {first, first + static_cast<std::ptrdiff_t>(each)}});
    }
  }

  // X x W^T + Wb for all directions and steps.
  std::size_t gates() {
    const TensorDesc& input = description_.tensor("InputTensor");
    const TensorDesc& weights = description_.tensor("WeightTensor");
    const Strides x = input_strides(input), w = input_strides(weights);
    const std::uint64_t directions = kernel_.directions.size(), columns = weights.sizes[2];
    ProductKernel product{
        .batches = {directions, kernel_.steps},
        .rows = kernel_.batch,
        .columns = columns,
        .left = {.data_type = *input.data_type, .batch_strides = {0, x[1]}, .row_stride = x[2]},
        .right = {.data_type = *weights.data_type,
                  .batch_strides = {w[1], 0},
                  .column_stride = w[2]},
        .depth = input.sizes[3],
        .left_depth_stride = x[3],
        .right_depth_stride = w[3]};
    std::vector<std::size_t> reads{plan_.tensor("InputTensor"), plan_.tensor("WeightTensor")};
    const auto of_input = [](const TensorDesc& bias) {
      const Strides b = input_strides(bias);
      return ProductInput{
          .data_type = *bias.data_type, .batch_strides = {b[2], 0}, .column_stride = b[3]};
    };
    product.added = optional_input(plan_, description_, "BiasTensor", reads, of_input);
    const std::size_t gates = plan_.temporary("the gates of the inputs", product.output_elements(),
                                              size_of(product.output_type));
    plan_.add(simplified(std::move(product)), reads, {gates});
    return gates;
  }

  struct Part {
    std::size_t slot;
    std::uint64_t first_row, rows;
  };

  void add_outputs(const std::vector<std::size_t>& reads) {
    std::vector<Part> parts;
    const auto add = [&](const char* field, bool& has, std::uint64_t rows) {
      const auto slot = plan_.find(field);
      has = slot.has_value();
      if (slot) parts.push_back({*slot, kernel_.output_rows() - rows, rows});
    };
    add("OutputSequenceTensor", kernel_.has_sequence, kernel_.steps);
    add("OutputSingleTensor", kernel_.has_final, 1);
    if (kernel_.cell == RecurrentCell::lstm) add("OutputCellSingleTensor", kernel_.has_cell, 1);
    if (parts.size() == 1) return plan_.add(kernel_, reads, {parts.front().slot});
    const std::size_t size = size_of(kernel_.output_type);
    const std::size_t states = plan_.temporary("the states", kernel_.output_elements(), size);
    const std::uint64_t row = kernel_.output_elements() / kernel_.output_rows();
    plan_.add(kernel_, reads, {states});
    for (const Part& part : parts)
      plan_.add(IndexMapKernel{.element_size = size,
                               .offset = static_cast<std::int64_t>(part.first_row * row),
                               .axes = {{.extent = part.rows * row, .stride = 1}}},
                {states}, {part.slot});
  }

  const Description& description_;
  PlanBuilder plan_;
  RecurrentKernel kernel_;
};

}  // namespace

Plan plan_rnn(const Description& description) {
  return RecurrentPlanner(description, RecurrentCell::rnn).plan();
}

Plan plan_gru(const Description& description) {
  RecurrentPlanner planner(description, RecurrentCell::gru);
  planner.kernel().is_linear_before_reset = description.integer("LinearBeforeReset") != 0;
  return planner.plan();
}

Plan plan_lstm(const Description& description) {
  RecurrentPlanner planner(description, RecurrentCell::lstm);
  planner.kernel().couples_input_forget = description.integer("CoupleInputForget") != 0;
  if (description.integer("UseClipThreshold") != 0)
    planner.kernel().clip = static_cast<float>(description.number("ClipThreshold", 0));
  return planner.plan();
}

}  // namespace dmlop
