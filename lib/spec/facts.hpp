// What DirectML.h says about all operators: their names and feature levels, the enumerations, and
// which operators may be fused. The facts come from specs/directml.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/feature_level.hpp"

namespace dmlop {

struct EnumValue {
  std::string name;  // without the enum's prefix: "CONSTANT"
  std::int64_t value;
  FeatureLevel introduced;
};

/// An operator that may be fused into another one.
struct FusedActivation {
  std::string name;  // "ACTIVATION_RELU"
  FeatureLevel from;
  std::vector<std::string> into;  // empty: all operators that take a fused activation
};

/// A folder of specs/ and its title.
struct Family {
  std::string name;   // "data_movement"
  std::string title;  // "Data movement"
  /// Folders of samples/ with an operator of this family.
  std::vector<std::string> samples;
};

/// What DirectML.h puts before the name of an operator.
inline constexpr std::string_view operator_prefix = "DML_OPERATOR_";
/// The name without the prefix, which it may have.
constexpr std::string_view without_operator_prefix(std::string_view name) {
  if (name.starts_with(operator_prefix)) name.remove_prefix(operator_prefix.size());
  return name;
}

/// All operators of DirectML.h without DML_OPERATOR_, in its order.
const std::vector<std::string>& known_operators();
std::optional<FeatureLevel> operator_introduced(std::string_view name);
/// The operator's value of DML_OPERATOR_TYPE.
std::optional<std::int64_t> operator_value(std::string_view name);
/// The operator that an alias of DirectML.h stands for (SCATTER), or the name itself.
std::string_view without_alias(std::string_view name);
/// The aliases of an operator: SCATTER of SCATTER_ELEMENTS.
std::vector<std::string> aliases_of(std::string_view name);

/// The values of an enumeration; those of DML_TENSOR_DATA_TYPE are the data types.
/// Errors: std::logic_error for a name that DirectML.h does not have.
const std::vector<EnumValue>& enum_values(std::string_view enum_name);

/// The operators that a field FusedActivation or ActivationDescs may name.
const std::vector<FusedActivation>& fused_activations();
/// Those of them that one operator takes.
std::vector<FusedActivation> activations_fused_into(std::string_view operator_name);
/// Whether the operator is an activation or another one that DirectML fuses into some operator.
bool is_activation(std::string_view operator_name);

/// The families in the order in which lists show them.
const std::vector<Family>& families();

/// The folder of samples/ that shows best how to run this operator: its own, that of an older or
/// newer version of it, or another one of its family.
std::string_view sample_of(std::string_view operator_name, std::string_view family);

}  // namespace dmlop
