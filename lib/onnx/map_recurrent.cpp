// Recurrent networks of ONNX.
#include <array>

#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

struct RecurrentParameter {
  const char* field;  // null: none
  float other;
};

struct RecurrentActivation {
  const char* onnx;
  const char* dml;
  RecurrentParameter alpha;
  RecurrentParameter beta;
  RecurrentParameter constant = {};  // a field that ONNX has no parameter for
};

constexpr std::array<RecurrentActivation, 10> recurrent_activations{{
    {"Relu", "RELU", {}, {}},
    {"LeakyRelu", "LEAKY_RELU", {"Alpha", 0.01F}, {}},
    {"ThresholdedRelu", "THRESHOLDED_RELU", {"Alpha", 1}, {}},
    {"Tanh", "TANH", {}, {}},
    {"ScaledTanh", "SCALED_TANH", {"Alpha", 1}, {"Beta", 1}},
    {"Sigmoid", "SIGMOID", {}, {}},
    {"HardSigmoid", "HARD_SIGMOID", {"Alpha", 0.2F}, {"Beta", 0.5F}},
    {"Elu", "ELU", {"Alpha", 1}, {}},
    {"Softsign", "SOFTSIGN", {}, {}},
    {"Softplus", "SOFTPLUS", {}, {}, {"Steepness", 1}},
}};

struct Network {
  const char* type;
  std::uint64_t gates;
  std::vector<std::string> activations;
};

/// The activations of all directions. Parameters are given in the order of those that take them.
std::vector<GraphActivation> activations_of(const Mapping& node, const Network& network,
                                            std::size_t directions) {
  std::vector<std::string> names = node.texts("activations");
  for (std::size_t i = 0; names.size() < directions * network.activations.size(); ++i)
    names.push_back(network.activations[i % network.activations.size()]);
  names.resize(directions * network.activations.size());
  const auto alphas = node.reals("activation_alpha"), betas = node.reals("activation_beta");
  std::size_t next_alpha = 0, next_beta = 0;
  const auto take = [](const std::vector<float>& list, std::size_t& next, float other) {
    return next < list.size() ? list[next++] : other;
  };
  std::vector<GraphActivation> made;
  for (const std::string& name : names) {
    const RecurrentActivation* found = nullptr;
    for (const RecurrentActivation& activation : recurrent_activations) {
      if (lower_case(name) == lower_case(activation.onnx)) found = &activation;
    }
    if (found == nullptr)
      Mapping::refuse("its activation \"" + printable(name) + "\" is none of DirectML's");
    GraphActivation& activation = made.emplace_back(
        GraphActivation{"DML_OPERATOR_ACTIVATION_" + std::string(found->dml), {}});
    if (found->constant.field != nullptr)
      activation.attributes.push_back({found->constant.field, found->constant.other});
    if (found->alpha.field != nullptr)
      activation.attributes.push_back(
          {found->alpha.field, take(alphas, next_alpha, found->alpha.other)});
    if (found->beta.field != nullptr)
      activation.attributes.push_back(
          {found->beta.field, take(betas, next_beta, found->beta.other)});
  }
  return made;
}

void add_network(Mapping& node, const Network& network) {
  if (node.integer("layout", 0) != 0)
    Mapping::refuse("its batch comes first (layout 1)", "the provider takes layout 0");
  const std::string direction = node.text("direction", "forward");
  const bool is_both = direction == "bidirectional";
  if (!is_both && direction != "forward" && direction != "reverse")
    Mapping::refuse_invalid("its direction is \"" + printable(direction) + "\"");
  const Sizes& input = node.in(0).sizes;
  const Sizes& recurrence = node.in(2).sizes;
  if (input.size() != 3 || recurrence.size() != 3)
    Mapping::refuse_invalid("its input and weights must have 3 dimensions");
  const std::uint64_t directions = is_both ? 2 : 1, hidden = recurrence[2];
  if (const std::int64_t size = node.integer("hidden_size", std::int64_t(hidden));
      size != std::int64_t(hidden))
    Mapping::refuse_invalid("its hidden_size is " + std::to_string(size) +
                                ", but its recurrence weights have the sizes " +
                                list_of(recurrence),
                            "their last dimension is hidden_size");
  const DataType type = node.in(0).type;
  const bool is_lstm = network.gates == 4;
  DmlOperator operation(network.type);
  const auto add = [&](const char* field, std::size_t at) {
    if (node.has(at)) operation.input(field, padded(node.view(at)));
  };
  add("InputTensor", 0);
  add("WeightTensor", 1);
  add("RecurrenceTensor", 2);
  add("BiasTensor", 3);
  if (node.has(4)) {
    View lengths = padded(node.view(4));
    if (lengths.type == DataType::Int32) lengths.type = DataType::UInt32;
    operation.input("SequenceLengthsTensor", lengths);
  }
  add("HiddenInitTensor", 5);
  if (is_lstm) add("CellMemInitTensor", 6);
  if (is_lstm) add("PeepholeTensor", 7);
  const Sizes single{directions, input[1], hidden};
  if (node.wants(0))
    operation.output("OutputSequenceTensor",
                     node.output(0, type, {input[0], directions, input[1], hidden}));
  if (node.wants(1)) operation.output("OutputSingleTensor", padded(node.output(1, type, single)));
  if (is_lstm && node.wants(2))
    operation.output("OutputCellSingleTensor", padded(node.output(2, type, single)));
  operation.choose("Direction", is_both                  ? "BIDIRECTIONAL"
                                : direction == "forward" ? "FORWARD"
                                                         : "BACKWARD");
  operation.set("ActivationDescs", activations_of(node, network, directions));
  if (network.gates == 3)
    operation.flag("LinearBeforeReset", node.integer("linear_before_reset", 0) != 0);
  if (is_lstm) {
    operation.set("ClipThreshold", node.real("clip", 0))
        .flag("UseClipThreshold", node.has_attribute("clip"))
        .flag("CoupleInputForget", node.integer("input_forget", 0) != 0);
  } else if (node.has_attribute("clip")) {
    Mapping::refuse("it clips its state (clip)", "DirectML's LSTM does, its RNN and GRU do not");
  }
  node.add(operation);
}

void map_rnn(Mapping& node) {
  add_network(node, {"RNN", 1, {"Tanh"}});
}

void map_gru(Mapping& node) {
  add_network(node, {"GRU", 3, {"Sigmoid", "Tanh"}});
}

void map_lstm(Mapping& node) {
  add_network(node, {"LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}});
}

constexpr OnnxOperator recurrent_table[]{
    {"RNN", "", "RNN", map_rnn},
    {"GRU", "", "GRU", map_gru},
    {"LSTM", "", "LSTM", map_lstm},
};

}  // namespace

std::span<const OnnxOperator> recurrent_rows() {
  return recurrent_table;
}

}  // namespace dmlop::onnx
