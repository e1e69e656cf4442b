// Operators of ONNX that quantize.
#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

/// A scale or zero point: one number, or one for each place along the axis.
View along_axis(View view, std::size_t input, const Sizes& sizes, std::size_t axis) {
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

void quantize(Mapping& node, const std::string& type, const View& from, const View& scale,
              const View& to) {
  const Sizes& sizes = to.sizes;
  if (node.integer("block_size", 0) != 0) Mapping::refuse("quantization in blocks is not read yet");
  const std::int64_t written = node.integer("axis", 1);
  const std::size_t axis =
      element_count(node.in(1).sizes) == 1 ? 0 : Mapping::axis_of(written, sizes.size());
  const auto factor = [&](const View& view, std::size_t input) {
    return padded(broadcast(along_axis(view, input, sizes, axis), sizes));
  };
  DmlOperator operation(type);
  operation.input("InputTensor", padded(from)).input("ScaleTensor", factor(scale, 1));
  if (node.has(2)) operation.input("ZeroPointTensor", factor(node.view(2), 2));
  node.add(operation.output("OutputTensor", padded(to)));
}

/// The type that an attribute chooses, or another one without it.
DataType chosen_type(const Mapping& node, const char* attribute, DataType other) {
  const std::int64_t written = node.integer(attribute, 0);
  if (written == 0) return other;
  const auto type = data_type_of(written);
  if (!type)
    Mapping::refuse("its " + std::string(attribute) + " is " + name_of_type(written) +
                    ", which DirectML does not have");
  return *type;
}

/// The input and the scale. Since version 23 their types may differ; both are divided in one.
std::pair<View, View> divided(Mapping& node) {
  View from = node.view(0), scale = node.view(1);
  if (node.version() < 23) return {from, scale};
  const DataType precision = chosen_type(node, "precision", scale.type);
  // DirectML takes INT32 as it is, with a scale of FLOAT32.
  const bool is_taken = from.type == DataType::Int32 && precision == DataType::Float32;
  if (!is_taken) from = node.converted(from, precision);
  return {from, node.converted(scale, precision)};
}

void map_quantize(Mapping& node) {
  const DataType zero_type = node.has(2) ? node.in(2).type : DataType::UInt8;
  const DataType type = chosen_type(node, "output_dtype", zero_type);
  if (node.has(2) && type != zero_type)
    Mapping::refuse_invalid("its output_dtype is " + std::string(name_of(type)) +
                                ", but its zero point is " + std::string(name_of(zero_type)),
                            "a zero point has the type of the output");
  const auto [from, scale] = divided(node);
  quantize(node, "ELEMENT_WISE_QUANTIZE_LINEAR", from, scale,
           node.output(0, type, node.in(0).sizes));
}

void map_dequantize(Mapping& node) {
  const Sizes& sizes = node.in(0).sizes;
  const DataType scale_type = node.in(1).type;
  const View to = node.output(0, chosen_type(node, "output_dtype", scale_type), sizes);
  // DirectML's output has the type of the scale.
  const bool is_converted = to.type != scale_type;
  const View made = is_converted ? node.temporary(scale_type, sizes) : to;
  quantize(node, "ELEMENT_WISE_DEQUANTIZE_LINEAR", node.view(0), node.view(1), made);
  if (is_converted) node.add_unary("CAST", made, to);
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
