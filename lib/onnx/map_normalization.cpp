// Operators of ONNX that normalize.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string_view>

#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

constexpr float default_epsilon = 1e-5F;

/// One number for each channel, for an input with so many dimensions.
View channels(Mapping& node, std::size_t input, std::size_t dimensions) {
  View view = node.view(input);
  if (view.sizes.size() != 1)
    Mapping::refuse(
        "its " + node.title_of_input(input) + " has " + counted(view.sizes.size(), "dimension"),
        "the provider takes one number for each channel");
  const std::uint64_t count = view.sizes[0];
  view.sizes = Sizes(dimensions, 1);
  view.sizes[std::min<std::size_t>(1, dimensions - 1)] = count;
  return view;
}

void map_batch_normalization(Mapping& node) {
  if (node.integer("training_mode", 0) != 0 || node.wants(1) || node.wants(2))
    Mapping::refuse("it computes mean and variance itself (training_mode)",
                    "the provider normalizes with those that are given");
  node.ignore({"momentum"});  // of training only
  const Value& value = node.in(0);
  if (value.sizes.size() < 2) Mapping::refuse_invalid("its input must have 2 dimensions and more");
  const View from = padded_behind(node.view(0));
  const std::size_t dimensions = from.sizes.size();
  node.add(DmlOperator("BATCH_NORMALIZATION")
               .input("InputTensor", from)
               .input("MeanTensor", channels(node, 3, dimensions))
               .input("VarianceTensor", channels(node, 4, dimensions))
               .input("ScaleTensor", channels(node, 1, dimensions))
               .input("BiasTensor", channels(node, 2, dimensions))
               .output("OutputTensor", padded_behind(node.output(0, value, value.sizes)))
               .flag("Spatial", node.integer("spatial", 1) != 0)
               .set("Epsilon", node.real("epsilon", default_epsilon)));
}

std::vector<std::uint64_t> axes_from(std::size_t first, std::size_t dimensions) {
  std::vector<std::uint64_t> axes;
  for (std::size_t i = first; i < dimensions; ++i) axes.push_back(i);
  return axes;
}

void map_instance_normalization(Mapping& node) {
  const Value& value = node.in(0);
  if (value.sizes.size() < 3) Mapping::refuse_invalid("its input must have 3 dimensions and more");
  const View from = padded_behind(node.view(0));
  const std::size_t dimensions = from.sizes.size();
  node.add(DmlOperator("MEAN_VARIANCE_NORMALIZATION1")
               .input("InputTensor", from)
               .input("ScaleTensor", channels(node, 1, dimensions))
               .input("BiasTensor", channels(node, 2, dimensions))
               .output("OutputTensor", padded_behind(node.output(0, value, value.sizes)))
               .counts("Axes", axes_from(2, dimensions))
               .flag("NormalizeVariance", true)
               .set("Epsilon", node.real("epsilon", default_epsilon)));
}

void map_layer_normalization(Mapping& node) {
  if (node.wants(1) || node.wants(2))
    Mapping::refuse("its outputs Mean and InvStdDev are used", "the provider makes the first only");
  node.ignore({"stash_type"});  // a device computes as it does
  const Value& value = node.in(0);
  const std::size_t axis = Mapping::axis_of(node.integer("axis", -1), value.sizes.size());
  const View from = padded_behind(node.view(0));
  const auto factors = [&](std::size_t input) {
    return padded_behind(padded(node.view(input), value.sizes.size()));
  };
  DmlOperator operation("MEAN_VARIANCE_NORMALIZATION2");
  operation.input("InputTensor", from).input("ScaleTensor", factors(1));
  if (node.has(2)) operation.input("BiasTensor", factors(2));
  node.add(operation.output("OutputTensor", padded_behind(node.output(0, value, value.sizes)))
               .counts("Axes", axes_from(axis, from.sizes.size()))
               .flag("UseMean", std::string_view(node.row().name) == "LayerNormalization")
               .flag("UseVariance", true)
               .set("Epsilon", node.real("epsilon", default_epsilon)));
}

/// Channels in groups: batch, group, channel in the group, and all that follows as one.
void map_group_normalization(Mapping& node) {
  node.ignore({"stash_type"});  // a device computes as it does
  const Value& value = node.in(0);
  if (value.sizes.size() < 2) Mapping::refuse_invalid("its input must have 2 dimensions and more");
  const std::int64_t written = node.required_integer("num_groups");
  const std::uint64_t channels = value.sizes[1];
  if (written < 1 || channels % static_cast<std::uint64_t>(written) != 0)
    Mapping::refuse_invalid("its num_groups is " + std::to_string(written) + ", but it has " +
                            counted(channels, "channel"));
  const auto groups = static_cast<std::uint64_t>(written);
  const std::uint64_t behind = std::accumulate(value.sizes.begin() + 2, value.sizes.end(),
                                               std::uint64_t{1}, std::multiplies<>());
  const Sizes sizes{value.sizes[0], groups, channels / groups, behind};
  // Before version 21 there is a factor for each group.
  const Sizes factors{1, groups, node.version() >= 21 ? channels / groups : 1, 1};
  const auto factor = [&](std::size_t input) {
    if (element_count(node.in(input).sizes) != element_count(factors))
      Mapping::refuse_invalid("its " + node.title_of_input(input) + " has the sizes " +
                              list_of(node.in(input).sizes) + ", must have " +
                              counted(element_count(factors).value_or(0), "element"));
    return reshaped(node.view(input), factors);
  };
  const View from = reshaped(node.view(0), sizes);
  node.add(DmlOperator("MEAN_VARIANCE_NORMALIZATION2")
               .input("InputTensor", from)
               .input("ScaleTensor", factor(1))
               .input("BiasTensor", factor(2))
               .output("OutputTensor", reshaped(node.output(0, value, value.sizes), sizes))
               .counts("Axes", {2, 3})
               .flag("UseMean", true)
               .flag("UseVariance", true)
               .set("Epsilon", node.real("epsilon", default_epsilon)));
}

void map_mean_variance(Mapping& node) {
  const Value& value = node.in(0);
  std::vector<std::int64_t> written{0, 2, 3};
  if (node.has_attribute("axes")) written = node.integers("axes");
  const View from = padded(node.view(0));
  const std::size_t more = from.sizes.size() - value.sizes.size();
  std::vector<std::uint64_t> axes;
  for (const std::size_t axis : Mapping::axes_of(written, value.sizes.size()))
    axes.push_back(axis + more);
  node.add(DmlOperator("MEAN_VARIANCE_NORMALIZATION1")
               .input("InputTensor", from)
               .output("OutputTensor", padded(node.output(0, value, value.sizes)))
               .counts("Axes", axes)
               .flag("NormalizeVariance", true)
               .set("Epsilon", default_epsilon));
}

void map_local_response(Mapping& node) {
  const Value& value = node.in(0);
  const std::int64_t size = node.required_integer("size");
  if (size < 1 || size > 0x7FFFFFFF) Mapping::refuse_invalid("its size must be from 1 on");
  if (value.sizes.size() < 2) Mapping::refuse_invalid("its input must have 2 dimensions and more");
  // DirectML has 4 dimensions. Sums go over the channels only, so all behind them may be one.
  Sizes sizes = value.sizes;
  if (sizes.size() != 4) {
    const std::uint64_t behind =
        std::accumulate(sizes.begin() + 2, sizes.end(), std::uint64_t{1}, std::multiplies<>());
    sizes.resize(2);
    sizes.insert(sizes.end(), {behind, 1});
  }
  const View from = reshaped(node.view(0), sizes);
  const View to = reshaped(node.output(0, value, value.sizes), sizes);
  node.add(DmlOperator("LOCAL_RESPONSE_NORMALIZATION")
               .input("InputTensor", from)
               .output("OutputTensor", to)
               .flag("CrossChannel", true)
               .count("LocalSize", static_cast<std::uint64_t>(size))
               .set("Alpha", node.real("alpha", 1e-4F))
               .set("Beta", node.real("beta", 0.75F))
               .set("Bias", node.real("bias", 1)));
}

void map_lp_normalization(Mapping& node) {
  const Value& value = node.in(0);
  const std::size_t axis = Mapping::axis_of(node.integer("axis", -1), value.sizes.size());
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) Mapping::refuse_invalid("its p must be 1 or 2");
  const View from = padded(node.view(0));
  node.add(DmlOperator("LP_NORMALIZATION")
               .input("InputTensor", from)
               .output("OutputTensor", padded(node.output(0, value, value.sizes)))
               .count("Axis", axis + from.sizes.size() - value.sizes.size())
               .set("Epsilon", default_epsilon)
               .count("P", static_cast<std::uint64_t>(p)));
}

constexpr OnnxOperator normalization_table[]{
    {"BatchNormalization", "", "BATCH_NORMALIZATION", map_batch_normalization},
    {"InstanceNormalization", "", "MEAN_VARIANCE_NORMALIZATION1", map_instance_normalization},
    {"LayerNormalization", "", "MEAN_VARIANCE_NORMALIZATION2", map_layer_normalization},
    {"SimplifiedLayerNormalization", "", "MEAN_VARIANCE_NORMALIZATION2", map_layer_normalization},
    {"RMSNormalization", "", "MEAN_VARIANCE_NORMALIZATION2", map_layer_normalization},
    {"GroupNormalization", "", "MEAN_VARIANCE_NORMALIZATION2", map_group_normalization},
    {"MeanVarianceNormalization", "", "MEAN_VARIANCE_NORMALIZATION1", map_mean_variance},
    {"LRN", "", "LOCAL_RESPONSE_NORMALIZATION", map_local_response},
    {"LpNormalization", "", "LP_NORMALIZATION", map_lp_normalization},
};

}  // namespace

std::span<const OnnxOperator> normalization_rows() {
  return normalization_table;
}

}  // namespace dmlop::onnx
