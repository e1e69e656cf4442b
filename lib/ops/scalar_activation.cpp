#include "ops/scalar_activation.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace dmlop {
namespace {

struct Row {
  std::string_view name;  // of the operator, without ACTIVATION_
  ActivationKind kind;
  const char* first = nullptr;
  const char* second = nullptr;
};

constexpr std::array rows{
    Row{"CELU", ActivationKind::celu, "Alpha"},
    Row{"ELU", ActivationKind::elu, "Alpha"},
    Row{"GELU", ActivationKind::gelu},
    Row{"HARD_SIGMOID", ActivationKind::hard_sigmoid, "Alpha", "Beta"},
    Row{"IDENTITY", ActivationKind::identity},
    Row{"LEAKY_RELU", ActivationKind::leaky_relu, "Alpha"},
    Row{"LINEAR", ActivationKind::linear, "Alpha", "Beta"},
    Row{"PARAMETRIC_SOFTPLUS", ActivationKind::parametric_softplus, "Alpha", "Beta"},
    Row{"RELU", ActivationKind::relu},
    Row{"SCALED_ELU", ActivationKind::scaled_elu, "Alpha", "Gamma"},
    Row{"SCALED_TANH", ActivationKind::scaled_tanh, "Alpha", "Beta"},
    Row{"SHRINK", ActivationKind::shrink, "Bias", "Threshold"},
    Row{"SIGMOID", ActivationKind::sigmoid},
    Row{"SOFTPLUS", ActivationKind::softplus, "Steepness"},
    Row{"SOFTSIGN", ActivationKind::softsign},
    Row{"TANH", ActivationKind::tanh},
    Row{"THRESHOLDED_RELU", ActivationKind::thresholded_relu, "Alpha"},
};

ScalarActivation scalar_activation(const NestedOperator& activation) {
  constexpr std::string_view prefix = "ACTIVATION_";
  const std::string_view name = activation.spec->name;
  const auto is_it = [&](const Row& row) {
    return name.starts_with(prefix) && name.substr(prefix.size()) == row.name;
  };
  const auto row = std::find_if(rows.begin(), rows.end(), is_it);
  if (row == rows.end()) throw std::logic_error(std::string(name) + " is no activation of numbers");
  const auto parameter = [&](const char* field) {
    return field == nullptr ? 0.0F : static_cast<float>(activation.number(field, 0));
  };
  return {row->kind, parameter(row->first), parameter(row->second)};
}

}  // namespace

std::vector<ScalarActivation> scalar_activations(const Description& description,
                                                 std::string_view field) {
  std::vector<ScalarActivation> activations;
  const Field* found = description.find(field);
  for (const NestedOperator& nested : std::get<std::vector<NestedOperator>>(found->value))
    activations.push_back(scalar_activation(nested));
  return activations;
}

}  // namespace dmlop
