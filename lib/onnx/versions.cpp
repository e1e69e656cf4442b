#include "onnx/versions.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace dmlop::onnx {
namespace {

// What docs/Changelog.md of ONNX says, without what only versions before the oldest one have. More
// than there: LayerNormalization and ThresholdedRelu, which ONNX Runtime had before ONNX, its other
// operators without a domain, and GroupNormalization from version 18 on, though 21 replaces it.
constexpr Signature signatures[]{
    {"Abs", "X", ""},
    {"Acos", "input", ""},
    {"Acosh", "input", "", 9},
    {"Add", "A, B", ""},
    {"Affine", "X", "alpha, beta"},
    {"And", "A, B", ""},
    {"ArgMax", "data", "axis, keepdims, select_last_index 12.."},
    {"ArgMin", "data", "axis, keepdims, select_last_index 12.."},
    {"Asin", "input", ""},
    {"Asinh", "input", "", 9},
    {"Atan", "input", ""},
    {"Atanh", "input", "", 9},
    {"Attention", "Q, K, V, attn_mask, past_key, past_value, nonpad_kv_seqlen 24..",
     "is_causal, kv_num_heads, q_num_heads, qk_matmul_output_mode, scale, softcap, "
     "softmax_precision, left_window_size 25.., right_window_size 25..",
     23},
    {"AveragePool", "X",
     "auto_pad, count_include_pad, kernel_shape, pads, strides, ceil_mode 10.., dilations 19.."},
    {"BatchNormalization", "X, scale, B, mean, var",
     "epsilon, momentum, spatial ..8, training_mode 14.."},
    {"BitShift", "X, Y", "direction", 11},
    {"BitwiseAnd", "A, B", "", 18},
    {"BitwiseNot", "X", "", 18},
    {"BitwiseOr", "A, B", "", 18},
    {"BitwiseXor", "A, B", "", 18},
    {"Cast", "input", "to, saturate 19.., round_mode 24.."},
    {"CastLike", "input, target_type", "saturate 19.., round_mode 24..", 15},
    {"Ceil", "X", ""},
    {"Celu", "X", "alpha", 12},
    {"Clip", "input, min 11.., max 11..", "max ..10, min ..10"},
    {"Col2Im", "input, image_shape, block_shape", "dilations, pads, strides", 18},
    {"Concat", "inputs...", "axis"},
    {"Constant", "",
     "value, sparse_value 11.., value_float 12.., value_floats 12.., value_int 12.., value_ints "
     "12.., value_string 12.., value_strings 12.."},
    {"ConstantOfShape", "input", "value", 9},
    {"Conv", "X, W, B", "auto_pad, dilations, group, kernel_shape, pads, strides"},
    {"ConvInteger", "x, w, x_zero_point, w_zero_point",
     "auto_pad, dilations, group, kernel_shape, pads, strides", 10},
    {"ConvTranspose", "X, W, B",
     "auto_pad, dilations, group, kernel_shape, output_padding, output_shape, pads, strides"},
    {"Cos", "input", ""},
    {"Cosh", "input", "", 9},
    {"Crop", "input", "border, scale"},
    {"CumProd", "x, axis", "exclusive, reverse", 26},
    {"CumSum", "x, axis", "exclusive, reverse", 11},
    {"DepthToSpace", "input", "blocksize, mode 11.."},
    {"DequantizeLinear", "x, x_scale, x_zero_point",
     "axis 13.., block_size 21.., output_dtype 23..", 10},
    {"Div", "A, B", ""},
    {"Dropout", "data, ratio 12.., training_mode 12..", "ratio ..11, seed 12.."},
    {"DynamicQuantizeLinear", "x", "", 11},
    {"Einsum", "inputs...", "equation", 12},
    {"Elu", "X", "alpha"},
    {"Equal", "A, B", ""},
    {"Erf", "input", "", 9},
    {"Exp", "input", ""},
    {"Expand", "input, shape", "", 8},
    {"EyeLike", "input", "dtype, k", 9},
    {"Flatten", "input", "axis"},
    {"Floor", "X", ""},
    {"GRU", "X, W, R, B, sequence_lens, initial_h",
     "activation_alpha, activation_beta, activations, clip, direction, hidden_size, "
     "linear_before_reset, layout 14.."},
    {"Gather", "data, indices", "axis"},
    {"GatherElements", "data, indices", "axis", 11},
    {"GatherND", "data, indices", "batch_dims 12..", 11},
    {"Gelu", "X", "approximate", 20},
    {"Gemm", "A, B, C", "alpha, beta, transA, transB"},
    {"GlobalAveragePool", "X", ""},
    {"GlobalLpPool", "X", "p"},
    {"GlobalMaxPool", "X", ""},
    {"Greater", "A, B", ""},
    {"GreaterOrEqual", "A, B", "", 12},
    {"GroupNormalization", "X, scale, bias", "epsilon, num_groups, stash_type 21..", 18},
    {"HardSigmoid", "X", "alpha, beta"},
    {"HardSwish", "X", "", 14},
    {"Hardmax", "input", "axis"},
    {"Identity", "input", ""},
    {"If", "cond", "else_branch, then_branch"},
    {"ImageScaler", "input", "bias, scale"},
    {"InstanceNormalization", "input, scale, B", "epsilon"},
    {"IsInf", "X", "detect_negative, detect_positive", 10},
    {"IsNaN", "X", "", 9},
    {"LRN", "X", "alpha, beta, bias, size"},
    {"LSTM", "X, W, R, B, sequence_lens, initial_h, initial_c, P",
     "activation_alpha, activation_beta, activations, clip, direction, hidden_size, input_forget, "
     "layout 14.."},
    {"LayerNormalization", "X, Scale, B", "axis, epsilon, stash_type"},
    {"LeakyRelu", "X", "alpha"},
    {"Less", "A, B", ""},
    {"LessOrEqual", "A, B", "", 12},
    {"Log", "input", ""},
    {"LogSoftmax", "input", "axis"},
    {"LpNormalization", "input", "axis, p"},
    {"LpPool", "X", "auto_pad, kernel_shape, p, pads, strides, ceil_mode 18.., dilations 18.."},
    {"MatMul", "A, B", ""},
    {"MatMulInteger", "A, B, a_zero_point, b_zero_point", "", 10},
    {"Max", "data...", ""},
    {"MaxPool", "X",
     "auto_pad, kernel_shape, pads, strides, storage_order 8.., ceil_mode 10.., dilations 10.."},
    {"MaxRoiPool", "X, rois", "pooled_shape, spatial_scale"},
    {"MaxUnpool", "X, I, output_shape", "kernel_shape, pads, strides", 9},
    {"Mean", "data...", ""},
    {"MeanVarianceNormalization", "X", "axes", 9},
    {"Min", "data...", ""},
    {"Mish", "X", "", 18},
    {"Mod", "A, B", "fmod", 10},
    {"Mul", "A, B", ""},
    {"Neg", "X", ""},
    {"NonZero", "X", "", 9},
    {"Not", "X", ""},
    {"OneHot", "indices, depth, values", "axis", 9},
    {"Or", "A, B", ""},
    {"PRelu", "X, slope", ""},
    {"Pad", "data, pads 11.., constant_value 11.., axes 18..", "mode, pads ..10, value ..10"},
    {"ParametricSoftplus", "X", "alpha, beta"},
    {"Pow", "X, Y", ""},
    {"QLinearConv", "x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B",
     "auto_pad, dilations, group, kernel_shape, pads, strides", 10},
    {"QLinearMatMul", "a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point",
     "", 10},
    {"QuantizeLinear", "x, y_scale, y_zero_point",
     "axis 13.., saturate 19.., block_size 21.., output_dtype 21.., precision 23..", 10},
    {"RMSNormalization", "X, scale", "axis, epsilon, stash_type", 23},
    {"RNN", "X, W, R, B, sequence_lens, initial_h",
     "activation_alpha, activation_beta, activations, clip, direction, hidden_size, layout 14.."},
    {"Range", "start, limit, delta", "", 11},
    {"Reciprocal", "X", ""},
    {"ReduceL1", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"ReduceL2", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"ReduceLogSum", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"ReduceLogSumExp", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"ReduceMax", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"ReduceMean", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"ReduceMin", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"ReduceProd", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"ReduceSum", "data, axes 13..", "axes ..12, keepdims, noop_with_empty_axes 13.."},
    {"ReduceSumSquare", "data, axes 18..", "axes ..17, keepdims, noop_with_empty_axes 18.."},
    {"Relu", "X", ""},
    {"Reshape", "data, shape", "allowzero 14.."},
    {"Resize", "X, scales ..10, roi 11.., scales 11.., sizes 11..",
     "mode, coordinate_transformation_mode 11.., cubic_coeff_a 11.., exclude_outside 11.., "
     "extrapolation_value 11.., nearest_mode 11.., antialias 18.., axes 18.., "
     "keep_aspect_ratio_policy 18..",
     10},
    {"ReverseSequence", "input, sequence_lens", "batch_axis, time_axis", 10},
    {"RoiAlign", "X, rois, batch_indices",
     "mode, output_height, output_width, sampling_ratio, spatial_scale, "
     "coordinate_transformation_mode 16..",
     10},
    {"RotaryEmbedding", "X, cos_cache, sin_cache, position_ids",
     "interleaved, num_heads, rotary_embedding_dim", 23},
    {"Round", "X", "", 11},
    {"ScaledTanh", "X", "alpha, beta"},
    {"Scatter", "data, indices, updates", "axis", 9, 10, "ScatterElements"},
    {"ScatterElements", "data, indices, updates", "axis, reduction 16..", 11},
    {"ScatterND", "data, indices, updates", "reduction 16..", 11},
    {"Selu", "X", "alpha, gamma"},
    {"Shape", "data", "end 15.., start 15.."},
    {"Shrink", "input", "bias, lambd", 9},
    {"Sigmoid", "X", ""},
    {"Sign", "input", "", 9},
    {"SimplifiedLayerNormalization", "X, scale", "axis, epsilon, stash_type"},
    {"Sin", "input", ""},
    {"Sinh", "input", "", 9},
    {"Size", "data", ""},
    {"Slice", "data, starts 10.., ends 10.., axes 10.., steps 10..",
     "axes ..9, ends ..9, starts ..9"},
    {"Softmax", "input", "axis"},
    {"Softplus", "X", ""},
    {"Softsign", "input", ""},
    {"SpaceToDepth", "input", "blocksize"},
    {"Split", "input, split 13..", "axis, split ..12, num_outputs 18.."},
    {"Sqrt", "X", ""},
    {"Squeeze", "data, axes 13..", "axes ..12"},
    {"Sub", "A, B", ""},
    {"Sum", "data...", ""},
    {"Swish", "X", "alpha", 24},
    {"Tan", "input", ""},
    {"Tanh", "input", ""},
    {"ThresholdedRelu", "X", "alpha"},
    {"Tile", "input, repeats", ""},
    {"TopK", "X, K 10..", "axis, k ..9, largest 11.., sorted 11.."},
    {"Transpose", "data", "perm"},
    {"Trilu", "input, k", "upper", 14},
    {"Unsqueeze", "data, axes 13..", "axes ..12"},
    {"Upsample", "X, scales 9..", "mode, scales ..8", 1, 9, "Resize"},
    {"Where", "condition, X, Y", "", 9},
    {"Xor", "A, B", ""},
};

/// An input or attribute, and the versions that have it.
struct Part {
  std::string_view name;
  std::int64_t since = oldest_version;
  std::int64_t until = newest_version;

  bool is_in(std::int64_t version) const { return since <= version && version <= until; }
};

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  for (const char digit : text) number = 10 * number + (digit - '0');
  return number;
}

/// "axes 13..", "axes ..12" or "axes".
Part part_in(std::string_view text) {
  const std::size_t space = text.find(' ');
  Part part{text.substr(0, space)};
  if (space == std::string_view::npos) return part;
  const std::string_view versions = text.substr(space + 1);
  const std::size_t dots = versions.find("..");
  if (dots > 0) part.since = number_in(versions.substr(0, dots));
  if (dots + 2 < versions.size()) part.until = number_in(versions.substr(dots + 2));
  return part;
}

std::vector<Part> parts_in(std::string_view list) {
  std::vector<Part> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(", ");
    parts.push_back(part_in(list.substr(0, comma)));
    list = comma == std::string_view::npos ? "" : list.substr(comma + 2);
  }
  return parts;
}

/// The inputs that a version has, in their order.
std::vector<Part> inputs_in(const Signature& signature, std::int64_t version) {
  std::vector<Part> inputs = parts_in(signature.inputs);
  std::erase_if(inputs, [&](const Part& input) { return !input.is_in(version); });
  return inputs;
}

/// Whether an input is what an attribute was, or the other way round: "K" and "k", "constant_value"
/// and "value".
bool say_the_same(std::string_view input, std::string_view attribute) {
  const std::string a = lower_case(std::string(input)), b = lower_case(std::string(attribute));
  return a == b || a.ends_with("_" + b);
}

/// "a, b and c".
std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return join(names);
  return join(std::span(names).first(names.size() - 1)) + " and " + names.back();
}

/// What a node has that its version does not have.
struct Foreign {
  Part part;
  std::string title;                 // "the attribute "axes""
  std::optional<std::size_t> input;  // that the version has in its place
  std::string attribute;             // the same; "" if there is none
};

class Check {
 public:
  Check(const Mapping& mapping, const Signature& signature)
      : node_(mapping.node()),
        signature_(signature),
        version_(mapping.version()),
        inputs_(inputs_in(signature, version_)) {
    for (const Attribute& attribute : node_.attributes) check_attribute(attribute.name);
    const bool takes_all = !inputs_.empty() && inputs_.back().name.ends_with("...");
    for (std::size_t i = inputs_.size(); i < node_.inputs.size() && !takes_all; ++i) {
      if (!node_.inputs[i].empty()) check_input(i, mapping.title_of_input(i));
    }
  }

  void require() const {
    if (found_.empty()) return;
    const Part& first = found_.front().part;
    std::vector<Foreign> group;  // of the same versions; the others can wait
    for (const Foreign& foreign : found_) {
      if (foreign.part.since == first.since && foreign.part.until == first.until)
        group.push_back(foreign);
    }
    std::vector<std::string> titles, names;
    for (const Foreign& foreign : group) {
      titles.push_back(foreign.title);
      names.emplace_back(foreign.part.name);
    }
    const bool is_later = first.since > version_;
    const std::string other = std::to_string(is_later ? first.since : first.until);
    throw Refusal{"it has " + join(titles, " and ") + ", which version " +
                      std::to_string(version_) + " of ONNX's operators does not have",
                  std::string(signature_.name) + " has " + listed(names) +
                      (is_later ? " from version " + other + " on" : " up to version " + other),
                  remedy_of(group) + ", or declare version " + other, ErrorKind::invalid_input};
  }

 private:
  void check_attribute(std::string_view name) {
    const std::vector<Part> attributes = parts_in(signature_.attributes);
    const auto part = std::ranges::find(attributes, name, &Part::name);
    if (part == attributes.end() || part->is_in(version_)) return;
    const auto input = std::ranges::find_if(
        inputs_, [&](const Part& candidate) { return say_the_same(candidate.name, name); });
    found_.push_back({*part, "the attribute \"" + std::string(name) + "\"", std::nullopt, ""});
    if (input != inputs_.end())
      found_.back().input = static_cast<std::size_t>(input - inputs_.begin());
  }

  void check_input(std::size_t index, const std::string& title) {
    const std::optional<Part> part = input_elsewhere(index);
    if (!part) return;
    found_.push_back({*part, "the " + title, std::nullopt, ""});
    for (const Part& attribute : parts_in(signature_.attributes)) {
      if (attribute.is_in(version_) && say_the_same(part->name, attribute.name))
        found_.back().attribute = attribute.name;
    }
  }

  /// "give axes as input 1, as version 13 has it".
  std::string remedy_of(const std::vector<Foreign>& group) const {
    std::vector<std::string> inputs, places, attributes;
    for (const Foreign& foreign : group) {
      if (foreign.input) {
        inputs.emplace_back(foreign.part.name);
        places.push_back(std::to_string(*foreign.input));
      } else if (!foreign.attribute.empty()) {
        attributes.push_back(foreign.attribute);
      }
    }
    const std::size_t placed = inputs.size() + attributes.size();
    std::vector<std::string> remedies;
    if (!inputs.empty())
      remedies.push_back("give " + listed(inputs) + " as input" + (inputs.size() > 1 ? "s " : " ") +
                         listed(places));
    if (!attributes.empty())
      remedies.push_back("give " + listed(attributes) +
                         (attributes.size() > 1 ? " as attributes" : " as an attribute"));
    if (placed > 0)
      remedies.back() +=
          ", as version " + std::to_string(version_) + " has " + (placed > 1 ? "them" : "it");
    if (placed == 0)
      remedies.emplace_back(group.size() > 1 ? "remove them if they change no output"
                                             : "remove it if it changes no output");
    return join(remedies, " and ");
  }

  /// The input in this place in the nearest version that has one.
  std::optional<Part> input_elsewhere(std::size_t index) const {
    std::vector<std::int64_t> versions;
    for (std::int64_t other = version_ + 1; other <= newest_version; ++other)
      versions.push_back(other);
    for (std::int64_t other = version_; other-- > oldest_version;) versions.push_back(other);
    for (const std::int64_t other : versions) {
      const std::vector<Part> inputs = inputs_in(signature_, other);
      if (index < inputs.size()) return inputs[index];
    }
    return std::nullopt;
  }

  const Node& node_;
  const Signature& signature_;
  std::int64_t version_;
  std::vector<Part> inputs_;
  std::vector<Foreign> found_;
};

void require_operator(const Signature& signature, std::int64_t version) {
  if (signature.since <= version && version <= signature.until) return;
  const bool is_later = signature.since > version;
  const std::string successor = signature.successor;
  const std::string other = std::to_string(is_later ? signature.since : signature.until);
  throw Refusal{
      "version " + std::to_string(version) + " of ONNX's operators does not have it",
      is_later ? "it is there from version " + other + " on" : "it is there up to version " + other,
      (is_later || successor.empty() ? "" : "use " + successor + ", or ") +
          ("declare version " + other),
      ErrorKind::invalid_input};
}

}  // namespace

const Signature* find_signature(std::string_view name) {
  const auto found = std::ranges::find(signatures, name, &Signature::name);
  return found == std::end(signatures) ? nullptr : found;
}

std::string attribute_meant(const Mapping& node, std::string_view name) {
  const bool is_of_onnx = *node.row().domain == '\0';
  const Signature* const signature = is_of_onnx ? find_signature(node.row().name) : nullptr;
  if (signature == nullptr) return "";
  std::vector<std::string> names;
  for (const Part& attribute : parts_in(signature->attributes)) {
    const bool is_there = std::ranges::find(node.node().attributes, attribute.name,
                                            &Attribute::name) != node.node().attributes.end();
    if (!attribute.is_in(node.version())) continue;
    if (attribute.name == name) return "";  // it is no slip
    if (!is_there) names.emplace_back(attribute.name);
  }
  return nearest_name(name, names);
}

void require_signature(const Mapping& node) {
  const bool is_read = oldest_version <= node.version() && node.version() <= newest_version;
  if (*node.row().domain != '\0' || !is_read) return;
  const Signature* const signature = find_signature(node.row().name);
  if (signature == nullptr) return;
  require_operator(*signature, node.version());
  Check(node, *signature).require();
}

}  // namespace dmlop::onnx
