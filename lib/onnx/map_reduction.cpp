// Operators of ONNX that work along axes: reductions, softmax, sums and sorting.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/text.hpp"
#include "onnx/rows.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {
namespace {

std::vector<std::uint64_t> as_counts(const std::vector<std::size_t>& axes, std::size_t more = 0) {
  std::vector<std::uint64_t> list;
  for (const std::size_t axis : axes) list.push_back(axis + more);
  return list;
}

/// The sizes with 1 for each axis, and those that the output has.
struct Reduced {
  Sizes kept;
  Sizes output;
};

Reduced reduce(const Sizes& sizes, const std::vector<std::size_t>& axes, bool keeps) {
  Reduced reduced;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    reduced.kept.push_back(is_reduced ? 1 : sizes[i]);
    if (!is_reduced || keeps) reduced.output.push_back(reduced.kept.back());
  }
  return reduced;
}

struct ReduceFunction {
  const char* onnx;
  const char* dml;
  bool changes_one = false;               // what it makes of one element may be another
  std::optional<double> of_nothing = {};  // what it makes of no elements
};

const ReduceFunction& function_of(const Mapping& node) {
  static constexpr std::array<ReduceFunction, 10> functions{
      {{"ReduceL1", "L1", true, 0},
       {"ReduceL2", "L2", true, 0},
       {"ReduceLogSum", "LOG_SUM", true},
       {"ReduceLogSumExp", "LOG_SUM_EXP"},
       {"ReduceMax", "MAX"},
       {"ReduceMean", "AVERAGE"},
       {"ReduceMin", "MIN"},
       {"ReduceProd", "MULTIPLY", false, 1},
       {"ReduceSum", "SUM", false, 0},
       {"ReduceSumSquare", "SUM_SQUARE", true, 0}}};
  return *std::ranges::find(functions, std::string_view(node.row().name), &ReduceFunction::onnx);
}

/// Without axes it is all of them, or none. A scalar has none, but its axis 0 may be named.
std::vector<std::size_t> axes_of_reduction(Mapping& node, std::size_t dimensions) {
  const auto written = node.has(1) ? node.known_integers(1) : node.integers("axes");
  const bool reduces_without_axes = node.integer("noop_with_empty_axes", 0) == 0;
  auto axes = Mapping::axes_of(written, std::max<std::size_t>(1, dimensions));
  if (dimensions == 0) return {};
  if (axes.empty() && reduces_without_axes) {
    axes.resize(dimensions);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
  }
  return axes;
}

/// The number that a sum or a product of no elements is.
void map_empty_reduce(Mapping& node, const Sizes& output, double number) {
  const DataType type = node.in(0).type;
  const auto element = element_from(type, number);
  node.constant_output(
      0, new_data(type, output,
                  {element.begin(), element.begin() + static_cast<std::ptrdiff_t>(size_of(type))}));
}

void map_reduce(Mapping& node) {
  const Value& value = node.in(0);
  const std::size_t dimensions = value.sizes.size();
  std::vector<std::size_t> axes = axes_of_reduction(node, dimensions);
  Reduced reduced = reduce(value.sizes, axes, node.integer("keepdims", 1) != 0);
  const ReduceFunction& function = function_of(node);
  if (element_count(value.sizes) == 0 && element_count(reduced.output) == 1 && function.of_nothing)
    return map_empty_reduce(node, reduced.output, *function.of_nothing);
  View from = node.view(0);
  const View to = node.output(0, value, reduced.output);
  if (axes.empty()) {
    if (!function.changes_one) return node.add_identity(from, to);
    // Each element is reduced alone, along an axis of its own.
    axes = {dimensions};
    from.sizes.push_back(1);
    reduced.kept.push_back(1);
  }
  node.add(DmlOperator("REDUCE")
               .input("InputTensor", from)
               .output("OutputTensor", reshaped(to, reduced.kept))
               .counts("Axes", as_counts(axes))
               .choose("Function", function.dml));
}

void map_arg(Mapping& node) {
  const Value& value = node.in(0);
  const std::size_t axis = Mapping::axis_of(node.integer("axis", 0), value.sizes.size());
  const Reduced reduced = reduce(value.sizes, {axis}, node.integer("keepdims", 1) != 0);
  const View from = node.view(0);
  const View to = node.output(0, DataType::Int64, reduced.output);
  node.add(DmlOperator(node.row().becomes)
               .input("InputTensor", from)
               .output("OutputTensor", reshaped(to, reduced.kept))
               .counts("Axes", {axis})
               .choose("AxisDirection",
                       node.integer("select_last_index", 0) != 0 ? "DECREASING" : "INCREASING"));
}

void map_softmax(Mapping& node) {
  const Value& value = node.in(0);
  const std::size_t dimensions = value.sizes.size();
  const bool is_old = node.version() < 13;
  // A scalar counts as one dimension of one element.
  const std::size_t axis = Mapping::axis_of(node.integer("axis", is_old ? 1 : -1),
                                            std::max<std::size_t>(1, dimensions), is_old);
  const View from = padded(node.view(0));
  const View to = padded(node.output(0, value, value.sizes));
  const std::size_t more = to.sizes.size() - dimensions;
  std::vector<std::uint64_t> axes{axis + more};
  // Before version 13 all dimensions from the axis on are one.
  for (std::size_t i = axis + 1; is_old && i < dimensions; ++i) axes.push_back(i + more);
  if (axis >= dimensions) axes = {to.sizes.size() - 1};
  node.add(DmlOperator(node.row().becomes)
               .input("InputTensor", from)
               .output("OutputTensor", to)
               .counts("Axes", axes));
}

void map_top_k(Mapping& node) {
  node.ignore({"sorted"});  // without it, any order will do
  const Value& value = node.in(0);
  const std::size_t axis = Mapping::axis_of(node.integer("axis", -1), value.sizes.size());
  std::int64_t k = node.integer("k", 0);
  if (node.version() >= 10) {
    const auto values = node.known_integers(1);
    if (values.size() != 1)
      Mapping::refuse_invalid("its k, " + node.title_of_input(1) + ", must be one number");
    k = values.front();
  }
  if (k < 1 || static_cast<std::uint64_t>(k) > value.sizes[axis])
    Mapping::refuse_invalid("its k" + (node.has(1) ? ", " + node.title_of_input(1) + "," : "") +
                                " is " + std::to_string(k) + ", but dimension " +
                                std::to_string(axis) + " has " +
                                counted(value.sizes[axis], "element"),
                            "k is from 1 to the size of the dimension");
  Sizes sizes = value.sizes;
  sizes[axis] = static_cast<std::uint64_t>(k);
  const View from = padded(node.view(0));
  const View values = padded(node.output(0, value, sizes));
  View indices = padded(node.output(1, DataType::Int64, sizes));
  indices.type = DataType::UInt64;
  node.add(
      DmlOperator("TOP_K1")
          .input("InputTensor", from)
          .output("OutputValueTensor", values)
          .output("OutputIndexTensor", indices)
          .count("Axis", axis + from.sizes.size() - sizes.size())
          .count("K", sizes[axis])
          .choose("AxisDirection", node.integer("largest", 1) != 0 ? "DECREASING" : "INCREASING"));
}

void map_cumulative(Mapping& node) {
  const Value& value = node.in(0);
  const auto axes = node.known_integers(1);
  if (axes.size() != 1) Mapping::refuse_invalid("its axis must be one number");
  const std::size_t axis = Mapping::axis_of(axes.front(), value.sizes.size());
  const View from = padded(node.view(0));
  const View to = padded(node.output(0, value, value.sizes));
  const bool is_sum = std::string_view(node.row().name) == "CumSum";
  node.add(
      DmlOperator(is_sum ? "CUMULATIVE_SUMMATION" : "CUMULATIVE_PRODUCT")
          .input("InputTensor", from)
          .output("OutputTensor", to)
          .count("Axis", axis + to.sizes.size() - value.sizes.size())
          .choose("AxisDirection", node.integer("reverse", 0) != 0 ? "DECREASING" : "INCREASING")
          .flag(is_sum ? "HasExclusiveSum" : "HasExclusiveProduct",
                node.integer("exclusive", 0) != 0));
}

constexpr OnnxOperator reduction_table[]{
    {"ReduceL1", "", "REDUCE", map_reduce},
    {"ReduceL2", "", "REDUCE", map_reduce},
    {"ReduceLogSum", "", "REDUCE", map_reduce},
    {"ReduceLogSumExp", "", "REDUCE", map_reduce},
    {"ReduceMax", "", "REDUCE", map_reduce},
    {"ReduceMean", "", "REDUCE", map_reduce},
    {"ReduceMin", "", "REDUCE", map_reduce},
    {"ReduceProd", "", "REDUCE", map_reduce},
    {"ReduceSum", "", "REDUCE", map_reduce},
    {"ReduceSumSquare", "", "REDUCE", map_reduce},
    {"ArgMax", "", "ARGMAX", map_arg},
    {"ArgMin", "", "ARGMIN", map_arg},
    {"Softmax", "", "ACTIVATION_SOFTMAX1", map_softmax},
    {"LogSoftmax", "", "ACTIVATION_LOG_SOFTMAX1", map_softmax},
    {"Hardmax", "", "ACTIVATION_HARDMAX1", map_softmax},
    {"TopK", "", "TOP_K1", map_top_k},
    {"CumSum", "", "CUMULATIVE_SUMMATION", map_cumulative},
    {"CumProd", "", "CUMULATIVE_PRODUCT", map_cumulative},
};

}  // namespace

std::span<const OnnxOperator> reduction_rows() {
  return reduction_table;
}

}  // namespace dmlop::onnx
