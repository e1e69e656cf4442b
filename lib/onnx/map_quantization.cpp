// Operators of ONNX that quantize.
#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

/// A scale or zero point: one number, or one for each place along the axis.
View along_axis(Mapping& node, std::size_t input, const Sizes& sizes, std::size_t axis) {
  View view = node.view(input);
  const std::uint64_t count = element_count(view.sizes).value_or(0);
  if (count == 1) {
    view.sizes = Sizes(sizes.size(), 1);
  } else if (view.sizes.size() == 1 && axis < sizes.size() && count == sizes[axis]) {
    view.sizes = Sizes(sizes.size(), 1);
    view.sizes[axis] = count;
  } else {
    Mapping::refuse("its input " + std::to_string(input) + " " + list_of(view.sizes) +
                        " is neither one number nor one for each place along its axis",
                    "quantization in blocks is not read yet");
  }
  return view;
}

void quantize(Mapping& node, const std::string& type, const View& to) {
  const Sizes& sizes = to.sizes;
  if (node.integer("block_size", 0) != 0) Mapping::refuse("quantization in blocks is not read yet");
  const std::int64_t written = node.integer("axis", 1);
  const std::size_t axis =
      element_count(node.in(1).sizes) == 1 ? 0 : Mapping::axis_of(written, sizes.size());
  const View from = padded(node.view(0));
  DmlOperator operation(type);
  operation.input("InputTensor", from)
      .input("ScaleTensor", padded(broadcast(along_axis(node, 1, sizes, axis), sizes)));
  if (node.has(2))
    operation.input("ZeroPointTensor", padded(broadcast(along_axis(node, 2, sizes, axis), sizes)));
  node.add(operation.output("OutputTensor", padded(to)));
}

/// The type that output_dtype chooses, or another one without it.
DataType chosen_type(const Mapping& node, DataType other) {
  const std::int64_t written = node.integer("output_dtype", 0);
  if (written == 0) return other;
  const auto type = data_type_of(written);
  if (!type)
    Mapping::refuse("its output_dtype is " + name_of_type(written) +
                    ", which DirectML does not have");
  return *type;
}

void map_quantize(Mapping& node) {
  const DataType zero_type = node.has(2) ? node.in(2).type : DataType::UInt8;
  const DataType type = chosen_type(node, zero_type);
  if (node.has(2) && type != zero_type)
    Mapping::refuse_invalid("its output_dtype is " + std::string(name_of(type)) +
                                ", but its zero point is " + std::string(name_of(zero_type)),
                            "a zero point has the type of the output");
  const Sizes& sizes = node.in(0).sizes;
  quantize(node, "ELEMENT_WISE_QUANTIZE_LINEAR", node.output(0, type, sizes));
}

void map_dequantize(Mapping& node) {
  const Sizes& sizes = node.in(0).sizes;
  const DataType scale_type = node.in(1).type;
  const View to = node.output(0, chosen_type(node, scale_type), sizes);
  if (to.type == scale_type) return quantize(node, "ELEMENT_WISE_DEQUANTIZE_LINEAR", to);
  // DirectML's output has the type of the scale.
  const View made = node.temporary(scale_type, sizes);
  quantize(node, "ELEMENT_WISE_DEQUANTIZE_LINEAR", made);
  node.add_unary("CAST", made, to);
}

void map_dynamic(Mapping& node) {
  const View from = padded(node.view(0));
  const std::size_t count = from.sizes.size();
  node.add(
      DmlOperator("DYNAMIC_QUANTIZE_LINEAR")
          .input("InputTensor", from)
          .output("OutputTensor", padded(node.output(0, DataType::UInt8, node.in(0).sizes)))
          .output("OutputScaleTensor", padded(node.output(1, DataType::Float32, {}), count))
          .output("OutputZeroPointTensor", padded(node.output(2, DataType::UInt8, {}), count)));
}

constexpr OnnxOperator quantization_table[]{
    {"QuantizeLinear", "", "ELEMENT_WISE_QUANTIZE_LINEAR", map_quantize},
    {"DequantizeLinear", "", "ELEMENT_WISE_DEQUANTIZE_LINEAR", map_dequantize},
    {"DynamicQuantizeLinear", "", "DYNAMIC_QUANTIZE_LINEAR", map_dynamic},
};

}  // namespace

std::span<const OnnxOperator> quantization_rows() {
  return quantization_table;
}

}  // namespace dmlop::onnx
