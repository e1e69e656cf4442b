// Operators of ONNX that compute each element from those at the same place.
#include <array>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "onnx/rows.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {
namespace {

std::string first_word(const char* text) {
  const std::string all = text;
  return all.substr(0, all.find_first_of(" ,"));
}

/// The DirectML operator that the row names.
std::string operator_of(const Mapping& node) {
  return first_word(node.row().becomes);
}

/// An operator with the same sizes on both sides, to which fields may be added.
DmlOperator unary(Mapping& node, const std::string& type) {
  const View from = padded(node.view(0));
  const Value& value = node.in(0);
  const View to = padded(node.output(0, value, value.sizes));
  return DmlOperator(type).input("InputTensor", from).output("OutputTensor", to);
}

void map_unary(Mapping& node) {
  node.add(unary(node, operator_of(node)));
}

void map_predicate(Mapping& node) {
  const View from = node.view(0);
  node.add_unary(operator_of(node), from, node.output(0, DataType::UInt8, node.in(0).sizes, true));
}

void map_is_infinity(Mapping& node) {
  const bool negative = node.integer("detect_negative", 1) != 0;
  const bool positive = node.integer("detect_positive", 1) != 0;
  if (!negative && !positive) Mapping::refuse("it detects neither infinity");
  const View from = padded(node.view(0));
  const View to = padded(node.output(0, DataType::UInt8, node.in(0).sizes, true));
  node.add(DmlOperator("ELEMENT_WISE_IS_INFINITY")
               .input("InputTensor", from)
               .output("OutputTensor", to)
               .choose("InfinityMode", negative && positive ? "EITHER"
                                       : negative           ? "NEGATIVE"
                                                            : "POSITIVE"));
}

/// A number of an activation: attribute, field and default.
struct Parameter {
  const char* attribute;
  const char* field;
  float other;
};

struct Activation {
  const char* name;
  std::array<Parameter, 2> parameters;
};

constexpr std::array<Activation, 10> activations{{
    {"Celu", {{{"alpha", "Alpha", 1}, {}}}},
    {"Elu", {{{"alpha", "Alpha", 1}, {}}}},
    {"HardSigmoid", {{{"alpha", "Alpha", 0.2F}, {"beta", "Beta", 0.5F}}}},
    {"LeakyRelu", {{{"alpha", "Alpha", 0.01F}, {}}}},
    {"ParametricSoftplus", {{{"alpha", "Alpha", 1}, {"beta", "Beta", 1}}}},
    {"ScaledTanh", {{{"alpha", "Alpha", 1}, {"beta", "Beta", 1}}}},
    {"Selu",
     {{{"alpha", "Alpha", 1.67326319217681884765625F},
       {"gamma", "Gamma", 1.05070102214813232421875F}}}},
    {"Shrink", {{{"bias", "Bias", 0}, {"lambd", "Threshold", 0.5F}}}},
    {"Softplus", {{{"", "Steepness", 1}, {}}}},
    {"ThresholdedRelu", {{{"alpha", "Alpha", 1}, {}}}},
}};

void map_activation(Mapping& node) {
  DmlOperator operation = unary(node, operator_of(node));
  for (const Activation& activation : activations) {
    if (std::string_view(activation.name) != node.row().name) continue;
    for (const Parameter& parameter : activation.parameters) {
      if (parameter.field != nullptr)
        operation.set(parameter.field, node.real(parameter.attribute, parameter.other));
    }
  }
  node.add(operation);
}

void map_hard_swish(Mapping& node) {
  const View from = node.view(0);
  const Sizes& sizes = node.in(0).sizes;
  const View gate = node.temporary(from.type, sizes);
  node.add(DmlOperator("ACTIVATION_HARD_SIGMOID")
               .input("InputTensor", padded(from))
               .output("OutputTensor", padded(gate))
               .set("Alpha", 1.0F / 6.0F)
               .set("Beta", 0.5F));
  node.add_binary("ELEMENT_WISE_MULTIPLY", from, gate, node.output(0, from.type, sizes));
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
void add_tanh_gelu(Mapping& node, const View& x, const View& to) {
  const auto scaled = [&](const View& from, float scale, float bias) {
    const View made = node.temporary(x.type, x.sizes);
    node.add(DmlOperator("ELEMENT_WISE_IDENTITY")
                 .input("InputTensor", padded(from))
                 .output("OutputTensor", padded(made))
                 .set("ScaleBias", GraphScaleBias{scale, bias}));
    return made;
  };
  const auto product = [&](const View& a, const View& b) {
    const View made = node.temporary(x.type, x.sizes);
    node.add_binary("ELEMENT_WISE_MULTIPLY", a, b, made);
    return made;
  };
  const View inner = product(x, scaled(product(x, x), 0.044715F, 1));
  const View curve = node.temporary(x.type, x.sizes);
  node.add(DmlOperator("ACTIVATION_SCALED_TANH")
               .input("InputTensor", padded(inner))
               .output("OutputTensor", padded(curve))
               .set("Alpha", 1.0F)
               .set("Beta", 0.7978845608F));
  node.add_binary("ELEMENT_WISE_MULTIPLY", x, scaled(curve, 0.5F, 0.5F), to);
}

void map_gelu(Mapping& node) {
  if (node.choice("approximate", {"none", "tanh"}) == "none") return map_unary(node);
  const View from = node.view(0);
  add_tanh_gelu(node, from, node.output(0, node.in(0), from.sizes));
}

void map_fast_gelu(Mapping& node) {
  View from = node.view(0);
  const View to = node.output(0, node.in(0), from.sizes);
  if (node.has(1)) {
    const View sum = node.temporary(from.type, from.sizes);
    node.add_binary("ELEMENT_WISE_ADD", from, node.view(1), sum);
    from = sum;
  }
  add_tanh_gelu(node, from, to);
}

/// x * tanh(softplus(x)).
void map_mish(Mapping& node) {
  const View from = node.view(0);
  const View to = node.output(0, node.in(0), from.sizes);
  const View softplus = node.temporary(from.type, from.sizes);
  node.add(DmlOperator("ACTIVATION_SOFTPLUS")
               .input("InputTensor", padded(from))
               .output("OutputTensor", padded(softplus))
               .set("Steepness", 1.0F));
  const View curve = node.temporary(from.type, from.sizes);
  node.add_unary("ACTIVATION_TANH", softplus, curve);
  node.add_binary("ELEMENT_WISE_MULTIPLY", from, curve, to);
}

void map_round(Mapping& node) {
  node.add(unary(node, "ELEMENT_WISE_ROUND").choose("RoundingMode", "HALVES_TO_NEAREST_EVEN"));
}

void map_binary(Mapping& node) {
  const View a = node.view(0);
  const View b = node.view(1);
  const Value& first = node.in(0);
  const Sizes sizes = broadcast_sizes({first.sizes, node.in(1).sizes});
  node.add_binary(operator_of(node), a, b, node.output(0, first, sizes));
}

void map_comparison(Mapping& node) {
  const View a = node.view(0);
  const View b = node.view(1);
  const Sizes sizes = broadcast_sizes({node.in(0).sizes, node.in(1).sizes});
  node.add_binary(operator_of(node), a, b, node.output(0, DataType::UInt8, sizes, true));
}

void map_mod(Mapping& node) {
  const View a = node.view(0);
  const View b = node.view(1);
  const Sizes sizes = broadcast_sizes({node.in(0).sizes, node.in(1).sizes});
  node.add_binary(
      node.integer("fmod", 0) != 0 ? "ELEMENT_WISE_MODULUS_TRUNCATE" : "ELEMENT_WISE_MODULUS_FLOOR",
      a, b, node.output(0, a.type, sizes));
}

void map_bit_shift(Mapping& node) {
  const std::string direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    Mapping::refuse_invalid("its direction must be LEFT or RIGHT");
  const View a = node.view(0);
  const View b = node.view(1);
  const Sizes sizes = broadcast_sizes({node.in(0).sizes, node.in(1).sizes});
  node.add_binary("ELEMENT_WISE_BIT_SHIFT_" + direction, a, b, node.output(0, a.type, sizes));
}

void map_slope(Mapping& node) {
  const View from = padded(node.view(0));
  const View slope = node.view(1);
  const Sizes& sizes = node.in(0).sizes;
  const View to = padded(node.output(0, from.type, sizes));
  if (try_broadcast_sizes({sizes, slope.sizes}) != sizes)
    Mapping::refuse_invalid("its slopes " + list_of(slope.sizes) + " do not fit its input " +
                            list_of(sizes));
  node.add(DmlOperator("ACTIVATION_PARAMETERIZED_RELU")
               .input("InputTensor", from)
               .input("SlopeTensor", padded(broadcast(slope, sizes)))
               .output("OutputTensor", to));
}

/// The type of an exponent that ELEMENT_WISE_POW takes. Those of 64 bits become others.
DataType exponent_type(DataType base, DataType exponent) {
  if (exponent == DataType::Float64) return DataType::Float32;
  const bool is_signed = exponent == DataType::Int64;
  if (!is_signed && exponent != DataType::UInt64) return exponent;
  if (is_floating(base)) return base;
  return is_signed ? DataType::Int32 : DataType::UInt32;
}

void map_power(Mapping& node) {
  const View base = node.view(0);
  const Value& exponent = node.in(1);
  const bool is_float = is_floating(base.type);
  if (exponent.constant && exponent.constant->count() == 1 && is_float &&
      is_floating(exponent.type)) {
    const double number = element_value(exponent.type, exponent.constant->bytes.data());
    const Sizes sizes = broadcast_sizes({node.in(0).sizes, exponent.sizes});
    const View to = padded(node.output(0, base.type, sizes));
    node.add(DmlOperator("ELEMENT_WISE_CONSTANT_POW")
                 .input("InputTensor", padded(broadcast(base, sizes)))
                 .output("OutputTensor", to)
                 .set("Exponent", static_cast<float>(number)));
    return;
  }
  const View power = node.converted(node.view(1), exponent_type(base.type, exponent.type));
  const Sizes sizes = broadcast_sizes({node.in(0).sizes, exponent.sizes});
  const View to = padded(node.output(0, base.type, sizes));
  node.add(DmlOperator("ELEMENT_WISE_POW")
               .input("InputTensor", padded(broadcast(base, sizes)))
               .input("ExponentTensor", padded(broadcast(power, sizes)))
               .output("OutputTensor", to));
}

/// The sizes of all inputs together. The first has the type of all.
Sizes common_sizes(Mapping& node) {
  std::vector<Sizes> all;
  for (std::size_t i = 0; i < node.input_count(); ++i) all.push_back(node.in(i).sizes);
  return broadcast_sizes(all);
}

/// Max, Min and Sum: one operator for each input after the first.
void chain(Mapping& node, const std::string& type, const View& to) {
  View sum = node.view(0);
  Sizes sizes = node.in(0).sizes;
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    const View next = node.view(i);
    sizes = broadcast_sizes({sizes, node.in(i).sizes});
    const View result = i + 1 == node.input_count() ? to : node.temporary(sum.type, sizes);
    node.add_binary(type, sum, next, result);
    sum = result;
  }
}

void map_variadic(Mapping& node) {
  const View to = node.output(0, node.in(0), common_sizes(node));
  if (node.input_count() == 1) return node.add_identity(node.view(0), to);
  chain(node, operator_of(node), to);
}

void map_mean(Mapping& node) {
  const Sizes sizes = common_sizes(node);
  const View to = node.output(0, node.in(0), sizes);
  if (node.input_count() == 1) return node.add_identity(node.view(0), to);
  if (node.input_count() == 2) return chain(node, "ELEMENT_WISE_MEAN", to);
  const View sum = node.temporary(to.type, sizes);
  chain(node, "ELEMENT_WISE_ADD", sum);
  node.add(
      DmlOperator("ELEMENT_WISE_IDENTITY")
          .input("InputTensor", padded(sum))
          .output("OutputTensor", padded(to))
          .set("ScaleBias", GraphScaleBias{1.0F / static_cast<float>(node.input_count()), 0.0F}));
}

void map_where(Mapping& node) {
  const View condition = node.view(0);
  const View a = node.view(1);
  const View b = node.view(2);
  const Value& first = node.in(1);
  const Sizes sizes = common_sizes(node);
  const View to = padded(node.output(0, first, sizes));
  node.add(DmlOperator("ELEMENT_WISE_IF")
               .input("ConditionTensor", padded(broadcast(condition, sizes)))
               .input("ATensor", padded(broadcast(a, sizes)))
               .input("BTensor", padded(broadcast(b, sizes)))
               .output("OutputTensor", to));
}

void map_clip(Mapping& node) {
  if (node.version() < 11) {
    constexpr float most = std::numeric_limits<float>::max();
    node.add(unary(node, "ELEMENT_WISE_CLIP")
                 .set("Min", node.real("min", -most))
                 .set("Max", node.real("max", most)));
    return;
  }
  DmlOperator operation = unary(node, "ELEMENT_WISE_CLIP1");
  const DataType type = node.in(0).type;
  const auto bound = [&](std::size_t input, const char* field, const std::byte* other) {
    const std::byte* element = other;
    if (node.has(input)) {
      const TensorData& data = node.known(input);
      if (data.count() != 1 || data.type != type)
        Mapping::refuse_invalid("its bounds must be one element of the input's type");
      element = data.bytes.data();
    }
    operation.scalar_bytes("MinMaxDataType", field, type, element);
  };
  const auto low = lowest_element(type);
  const auto high = highest_element(type);
  bound(1, "Min", low.data());
  bound(2, "Max", high.data());
  node.add(operation);
}

void cast(Mapping& node, std::int64_t element_type) {
  const auto type = data_type_of(element_type);
  if (!type)
    Mapping::refuse("it makes " + name_of_type(element_type) +
                    ", a type that DirectML does not have");
  const bool is_boolean = element_type == static_cast<int>(ElementType::boolean);
  const View from = node.view(0);
  const Sizes& sizes = node.in(0).sizes;
  const View to = node.output(0, *type, sizes, is_boolean);
  if (!is_boolean) return node.add_unary("CAST", from, to);
  const View number = node.temporary(DataType::UInt8, sizes);
  node.add_unary("CAST", from, number);
  GraphScalar zero, one;
  one.bytes[0] = std::byte{1};
  node.add(DmlOperator("ELEMENT_WISE_CLIP1")
               .input("InputTensor", padded(number))
               .output("OutputTensor", padded(to))
               .set("MinMaxDataType", std::uint32_t{0})
               .set("Min", zero)
               .set("Max", one));
}

void map_cast(Mapping& node) {
  node.ignore({"saturate", "round_mode"});  // for FLOAT8 only
  cast(node, node.required_integer("to"));
}

void map_cast_like(Mapping& node) {
  node.ignore({"saturate", "round_mode"});  // for FLOAT8 only
  const Value& like = node.in(1);
  for (std::int64_t number = 1; number <= 23; ++number) {
    const bool is_boolean = number == static_cast<int>(ElementType::boolean);
    if (data_type_of(number) == like.type && is_boolean == like.is_boolean)
      return cast(node, number);
  }
}

void map_dropout(Mapping& node) {
  if (node.wants(1)) Mapping::refuse("the provider does not make the mask of Dropout");
  node.ignore({"ratio", "seed"});  // of training only
  node.ignore_input(1);            // the ratio
  if (node.has(2)) {
    const TensorData& mode = node.known(2);
    if (mode.count() == 1 && mode.bytes[0] != std::byte{0})
      Mapping::refuse("it drops elements at random (training_mode)");
  }
  const View from = node.view(0);
  node.add_identity(from, node.output(0, node.in(0), node.in(0).sizes));
}

void map_identity(Mapping& node) {
  const View from = node.view(0);
  const Value& value = node.in(0);
  node.add_identity(from, node.output(0, value, value.sizes));
}

void map_affine(Mapping& node) {
  const View from = padded(node.view(0));
  const View to = padded(node.output(0, node.in(0), node.in(0).sizes));
  const float alpha = node.real("alpha", 1), beta = node.real("beta", 0);
  node.add(DmlOperator("ELEMENT_WISE_IDENTITY")
               .input("InputTensor", from)
               .output("OutputTensor", to)
               .set("ScaleBias", GraphScaleBias{alpha, beta}));
}

constexpr OnnxOperator element_wise_table[]{
    {"Affine", "", "ELEMENT_WISE_IDENTITY", map_affine},
    {"Abs", "", "ELEMENT_WISE_ABS", map_unary},
    {"Acos", "", "ELEMENT_WISE_ACOS", map_unary},
    {"Acosh", "", "ELEMENT_WISE_ACOSH", map_unary},
    {"Asin", "", "ELEMENT_WISE_ASIN", map_unary},
    {"Asinh", "", "ELEMENT_WISE_ASINH", map_unary},
    {"Atan", "", "ELEMENT_WISE_ATAN", map_unary},
    {"Atanh", "", "ELEMENT_WISE_ATANH", map_unary},
    {"Ceil", "", "ELEMENT_WISE_CEIL", map_unary},
    {"Cos", "", "ELEMENT_WISE_COS", map_unary},
    {"Cosh", "", "ELEMENT_WISE_COSH", map_unary},
    {"Erf", "", "ELEMENT_WISE_ERF", map_unary},
    {"Exp", "", "ELEMENT_WISE_EXP", map_unary},
    {"Floor", "", "ELEMENT_WISE_FLOOR", map_unary},
    {"Log", "", "ELEMENT_WISE_LOG", map_unary},
    {"Neg", "", "ELEMENT_WISE_NEGATE", map_unary},
    {"Not", "", "ELEMENT_WISE_LOGICAL_NOT", map_unary},
    {"Reciprocal", "", "ELEMENT_WISE_RECIP", map_unary},
    {"Sign", "", "ELEMENT_WISE_SIGN", map_unary},
    {"Sin", "", "ELEMENT_WISE_SIN", map_unary},
    {"Sinh", "", "ELEMENT_WISE_SINH", map_unary},
    {"Sqrt", "", "ELEMENT_WISE_SQRT", map_unary},
    {"Tan", "", "ELEMENT_WISE_TAN", map_unary},
    {"BitwiseNot", "", "ELEMENT_WISE_BIT_NOT", map_unary},
    {"Relu", "", "ACTIVATION_RELU", map_unary},
    {"Sigmoid", "", "ACTIVATION_SIGMOID", map_unary},
    {"Softsign", "", "ACTIVATION_SOFTSIGN", map_unary},
    {"Tanh", "", "ACTIVATION_TANH", map_unary},
    {"Gelu", "", "ACTIVATION_GELU, or ACTIVATION_SCALED_TANH and others if it is approximated",
     map_gelu},
    {"FastGelu", microsoft, "ACTIVATION_SCALED_TANH, ELEMENT_WISE_IDENTITY, ELEMENT_WISE_MULTIPLY",
     map_fast_gelu},
    {"Mish", "", "ACTIVATION_SOFTPLUS, ACTIVATION_TANH, ELEMENT_WISE_MULTIPLY", map_mish},
    {"Gelu", microsoft, "ACTIVATION_GELU", map_gelu},
    {"Identity", "", "ELEMENT_WISE_IDENTITY", map_identity},
    {"Dropout", "", "ELEMENT_WISE_IDENTITY", map_dropout},
    {"Celu", "", "ACTIVATION_CELU", map_activation},
    {"Elu", "", "ACTIVATION_ELU", map_activation},
    {"HardSigmoid", "", "ACTIVATION_HARD_SIGMOID", map_activation},
    {"HardSwish", "", "ACTIVATION_HARD_SIGMOID, ELEMENT_WISE_MULTIPLY", map_hard_swish},
    {"LeakyRelu", "", "ACTIVATION_LEAKY_RELU", map_activation},
    {"ParametricSoftplus", "", "ACTIVATION_PARAMETRIC_SOFTPLUS", map_activation},
    {"ScaledTanh", "", "ACTIVATION_SCALED_TANH", map_activation},
    {"Selu", "", "ACTIVATION_SCALED_ELU", map_activation},
    {"Shrink", "", "ACTIVATION_SHRINK", map_activation},
    {"Softplus", "", "ACTIVATION_SOFTPLUS", map_activation},
    {"ThresholdedRelu", "", "ACTIVATION_THRESHOLDED_RELU", map_activation},
    {"IsNaN", "", "ELEMENT_WISE_IS_NAN", map_predicate},
    {"IsInf", "", "ELEMENT_WISE_IS_INFINITY", map_is_infinity},
    {"Round", "", "ELEMENT_WISE_ROUND", map_round},
    {"Add", "", "ELEMENT_WISE_ADD", map_binary},
    {"Sub", "", "ELEMENT_WISE_SUBTRACT", map_binary},
    {"Mul", "", "ELEMENT_WISE_MULTIPLY", map_binary},
    {"Div", "", "ELEMENT_WISE_DIVIDE", map_binary},
    {"And", "", "ELEMENT_WISE_LOGICAL_AND", map_binary},
    {"Or", "", "ELEMENT_WISE_LOGICAL_OR", map_binary},
    {"Xor", "", "ELEMENT_WISE_LOGICAL_XOR", map_binary},
    {"BitwiseAnd", "", "ELEMENT_WISE_BIT_AND", map_binary},
    {"BitwiseOr", "", "ELEMENT_WISE_BIT_OR", map_binary},
    {"BitwiseXor", "", "ELEMENT_WISE_BIT_XOR", map_binary},
    {"Equal", "", "ELEMENT_WISE_LOGICAL_EQUALS", map_comparison},
    {"Greater", "", "ELEMENT_WISE_LOGICAL_GREATER_THAN", map_comparison},
    {"GreaterOrEqual", "", "ELEMENT_WISE_LOGICAL_GREATER_THAN_OR_EQUAL", map_comparison},
    {"Less", "", "ELEMENT_WISE_LOGICAL_LESS_THAN", map_comparison},
    {"LessOrEqual", "", "ELEMENT_WISE_LOGICAL_LESS_THAN_OR_EQUAL", map_comparison},
    {"Mod", "", "ELEMENT_WISE_MODULUS_FLOOR or ELEMENT_WISE_MODULUS_TRUNCATE", map_mod},
    {"BitShift", "", "ELEMENT_WISE_BIT_SHIFT_LEFT or ELEMENT_WISE_BIT_SHIFT_RIGHT", map_bit_shift},
    {"PRelu", "", "ACTIVATION_PARAMETERIZED_RELU", map_slope},
    {"Pow", "", "ELEMENT_WISE_CONSTANT_POW or ELEMENT_WISE_POW", map_power},
    {"Max", "", "ELEMENT_WISE_MAX", map_variadic},
    {"Min", "", "ELEMENT_WISE_MIN", map_variadic},
    {"Sum", "", "ELEMENT_WISE_ADD", map_variadic},
    {"Mean", "", "ELEMENT_WISE_MEAN, or ELEMENT_WISE_ADD and ELEMENT_WISE_IDENTITY", map_mean},
    {"Where", "", "ELEMENT_WISE_IF", map_where},
    {"Clip", "", "ELEMENT_WISE_CLIP1, or ELEMENT_WISE_CLIP before version 11", map_clip},
    {"Cast", "", "CAST, and ELEMENT_WISE_CLIP1 for BOOL", map_cast},
    {"CastLike", "", "CAST, and ELEMENT_WISE_CLIP1 for BOOL", map_cast_like},
};

}  // namespace

std::span<const OnnxOperator> element_wise_rows() {
  return element_wise_table;
}

}  // namespace dmlop::onnx
