// Operators of ONNX that pick and place elements by indices.
#include <algorithm>

#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

void map_gather(Mapping& node) {
  const Value& value = node.in(0);
  const Value& indices = node.in(1);
  const std::size_t axis = Mapping::axis_of(node.integer("axis", 0), value.sizes.size());
  Sizes sizes(value.sizes.begin(), value.sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  sizes.insert(sizes.end(), indices.sizes.begin(), indices.sizes.end());
  sizes.insert(sizes.end(), value.sizes.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
               value.sizes.end());
  // All three have the same number of dimensions in DirectML.
  const std::size_t count =
      std::max({value.sizes.size(), indices.sizes.size(), sizes.size(), std::size_t{1}});
  const View from = padded(node.view(0), count);
  const View places = padded(node.view(1), count);
  const View to = padded(node.output(0, value, sizes), count);
  node.add(DmlOperator("GATHER")
               .input("InputTensor", from)
               .input("IndicesTensor", places)
               .output("OutputTensor", to)
               .count("Axis", axis + count - value.sizes.size())
               .count("IndexDimensions", indices.sizes.size()));
}

/// The part of a tensor that indices along an axis reach. DirectML takes indices that have its
/// sizes everywhere else, ONNX also smaller ones.
Sizes reached_sizes(const Sizes& tensor, const Sizes& indices, std::size_t axis) {
  Sizes sizes = indices;
  if (sizes.size() == tensor.size()) sizes[axis] = tensor[axis];
  const bool fits =
      sizes.size() == tensor.size() &&
      std::ranges::equal(sizes, tensor, [](std::uint64_t a, std::uint64_t b) { return a <= b; });
  if (!fits)
    Mapping::refuse_invalid(
        "its indices " + list_of(indices) + " do not fit its input " + list_of(tensor),
        "indices have as many dimensions as the input, and none is larger except the axis");
  return sizes;
}

void map_gather_elements(Mapping& node) {
  const Value& value = node.in(0);
  const std::size_t axis = Mapping::axis_of(node.integer("axis", 0), value.sizes.size());
  const Sizes& indices = node.in(1).sizes;
  const View from = padded(cropped(node.view(0), reached_sizes(value.sizes, indices, axis)));
  const View places = padded(node.view(1));
  const View to = padded(node.output(0, value, indices));
  node.add(DmlOperator("GATHER_ELEMENTS")
               .input("InputTensor", from)
               .input("IndicesTensor", places)
               .output("OutputTensor", to)
               .count("Axis", axis + to.sizes.size() - value.sizes.size()));
}

void refuse_reduction(const Mapping& node, const char* gather) {
  const std::string_view reduction = node.choice("reduction", {"none", "add", "mul", "max", "min"});
  if (reduction == "none") return;
  const char* const operation = reduction == "add"   ? "Add"
                                : reduction == "mul" ? "Mul"
                                : reduction == "max" ? "Max"
                                                     : "Min";
  throw Refusal{"its reduction is \"" + std::string(reduction) + "\"",
                "DirectML's scatter replaces elements only",
                "if no place is named twice, scatter what " + std::string(operation) +
                    " makes of the updates and of " + gather + " with the same indices"};
}

void map_scatter_elements(Mapping& node) {
  refuse_reduction(node, "GatherElements");
  const Value& value = node.in(0);
  const std::size_t axis = Mapping::axis_of(node.integer("axis", 0), value.sizes.size());
  const Sizes& indices = node.in(1).sizes;
  if (reached_sizes(value.sizes, indices, axis) != value.sizes)
    throw Refusal{"its indices " + list_of(indices) + " reach a part of its input " +
                      list_of(value.sizes) + " only",
                  "DirectML takes indices that differ from the input in the axis only",
                  "use ScatterND, whose indices name every dimension"};
  const View from = padded(node.view(0));
  const View places = padded(node.view(1));
  const View updates = padded(node.view(2));
  const View to = padded(node.output(0, value, value.sizes));
  node.add(DmlOperator("SCATTER_ELEMENTS")
               .input("InputTensor", from)
               .input("IndicesTensor", places)
               .input("UpdatesTensor", updates)
               .output("OutputTensor", to)
               .count("Axis", axis + to.sizes.size() - value.sizes.size()));
}

void map_gather_nd(Mapping& node) {
  const Value& value = node.in(0);
  const Value& indices = node.in(1);
  const std::int64_t batch = node.integer("batch_dims", 0);
  if (indices.sizes.empty() || batch < 0 ||
      static_cast<std::size_t>(batch) >= std::min(value.sizes.size(), indices.sizes.size()))
    Mapping::refuse_invalid("its batch_dims or its indices are wrong");
  const auto batches = static_cast<std::size_t>(batch);
  const std::size_t picked = batches + static_cast<std::size_t>(indices.sizes.back());
  if (picked > value.sizes.size())
    Mapping::refuse_invalid("its indices have more coordinates than its input has dimensions");
  Sizes sizes(indices.sizes.begin(), indices.sizes.end() - 1);
  sizes.insert(sizes.end(), value.sizes.begin() + static_cast<std::ptrdiff_t>(picked),
               value.sizes.end());
  const std::size_t count =
      std::max({value.sizes.size(), indices.sizes.size(), sizes.size(), std::size_t{1}});
  const View from = padded(node.view(0), count);
  const View places = padded(node.view(1), count);
  const View to = padded(node.output(0, value, sizes), count);
  DmlOperator operation(batches == 0 ? "GATHER_ND" : "GATHER_ND1");
  operation.input("InputTensor", from)
      .input("IndicesTensor", places)
      .output("OutputTensor", to)
      .count("InputDimensionCount", value.sizes.size())
      .count("IndicesDimensionCount", indices.sizes.size());
  if (batches > 0) operation.count("BatchDimensionCount", batches);
  node.add(operation);
}

void map_scatter_nd(Mapping& node) {
  refuse_reduction(node, "GatherND");
  const Value& value = node.in(0);
  const Value& indices = node.in(1);
  const std::size_t count =
      std::max({value.sizes.size(), indices.sizes.size(), node.in(2).sizes.size(), std::size_t{1}});
  const View from = padded(node.view(0), count);
  const View places = padded(node.view(1), count);
  const View updates = padded(node.view(2), count);
  const View to = padded(node.output(0, value, value.sizes), count);
  node.add(DmlOperator("SCATTER_ND")
               .input("InputTensor", from)
               .input("IndicesTensor", places)
               .input("UpdatesTensor", updates)
               .output("OutputTensor", to)
               .count("InputDimensionCount", value.sizes.size())
               .count("IndicesDimensionCount", indices.sizes.size()));
}

void map_one_hot(Mapping& node) {
  const Value& indices = node.in(0);
  const auto depths = node.known_reals(1);
  if (depths.size() != 1 || depths.front() < 1 || depths.front() > 0x7FFFFFFF)
    Mapping::refuse_invalid("its depth must be one number from 1 on");
  const std::size_t axis = Mapping::axis_of(node.integer("axis", -1), indices.sizes.size() + 1);
  Sizes sizes = indices.sizes;
  const auto place = static_cast<std::ptrdiff_t>(axis);
  sizes.insert(sizes.begin() + place, static_cast<std::uint64_t>(depths.front()));
  Sizes places = indices.sizes;
  places.insert(places.begin() + place, 1);
  const View from = reshaped(node.view(0), places);
  const View values = padded(node.view(2), std::max<std::size_t>(4, sizes.size()));
  const View to = node.output(0, node.in(2), sizes);
  node.add(DmlOperator("ONE_HOT")
               .input("IndicesTensor", from)
               .input("ValuesTensor", values)
               .output("OutputTensor", to)
               .count("Axis", axis));
}

void map_reverse_sequence(Mapping& node) {
  const Value& value = node.in(0);
  const std::size_t dimensions = value.sizes.size();
  const std::size_t time = Mapping::axis_of(node.integer("time_axis", 0), dimensions);
  const std::size_t batch = Mapping::axis_of(node.integer("batch_axis", 1), dimensions);
  if (time == batch) Mapping::refuse_invalid("its time_axis is its batch_axis");
  const View from = padded(node.view(0));
  View lengths = node.view(1);
  if (lengths.sizes != Sizes{value.sizes[batch]})
    Mapping::refuse_invalid("its lengths do not fit its batch");
  lengths.sizes = Sizes(dimensions, 1);
  lengths.sizes[batch] = value.sizes[batch];
  // DirectML has a length for each line along the axis, ONNX for each of the batch.
  Sizes lines = value.sizes;
  lines[time] = 1;
  lengths = broadcast(lengths, lines);
  if (lengths.type == DataType::Int64) lengths.type = DataType::UInt64;
  const View to = padded(node.output(0, value, value.sizes));
  node.add(DmlOperator("REVERSE_SUBSEQUENCES")
               .input("InputTensor", from)
               .input("SequenceLengthsTensor", padded(lengths))
               .output("OutputTensor", to)
               .count("Axis", time + to.sizes.size() - dimensions));
}

constexpr OnnxOperator gather_table[]{
    {"Gather", "", "GATHER", map_gather},
    {"GatherElements", "", "GATHER_ELEMENTS", map_gather_elements},
    {"GatherND", "", "GATHER_ND, or GATHER_ND1 with batches", map_gather_nd},
    {"Scatter", "", "SCATTER_ELEMENTS", map_scatter_elements},
    {"ScatterElements", "", "SCATTER_ELEMENTS", map_scatter_elements},
    {"ScatterND", "", "SCATTER_ND", map_scatter_nd},
    {"OneHot", "", "ONE_HOT", map_one_hot},
    {"ReverseSequence", "", "REVERSE_SUBSEQUENCES", map_reverse_sequence},
};

}  // namespace

std::span<const OnnxOperator> gather_rows() {
  return gather_table;
}

}  // namespace dmlop::onnx
