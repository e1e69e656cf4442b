// Operators of ONNX that quantize.
#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

/// A scale or zero point: one number, or one for each place along the axis.
View along_axis(const Mapping& node, View view, std::size_t input, const Sizes& sizes,
                std::size_t axis) {
  const std::uint64_t count = element_count(view.sizes).value_or(0);
  if (count == 1) {
    view.sizes = Sizes(sizes.size(), 1);
  } else if (view.sizes.size() == 1 && axis < sizes.size() && count == sizes[axis]) {
    view.sizes = Sizes(sizes.size(), 1);
    view.sizes[axis] = count;
  } else {
    Mapping::refuse("its " + node.title_of_input(input) + " " + list_of(view.sizes) +
                    " is neither one number nor one for each place along its axis");
  }
  return view;
}

/// The sizes of a tensor of scales that has one for each block along an axis.
Sizes sizes_of_blocks(const Sizes& sizes, std::size_t axis, std::int64_t written) {
  const auto block = static_cast<std::uint64_t>(written);
  if (written < 1) Mapping::refuse_invalid("its block_size is " + std::to_string(written));
  if (sizes[axis] % block != 0)
    Mapping::refuse("its blocks of " + std::to_string(block) + " do not fill dimension " +
                        std::to_string(axis) + ", which is " + std::to_string(sizes[axis]),
                    "DirectML's blocks are all alike");
  Sizes blocks = sizes;
  blocks[axis] /= block;
  return blocks;
}

/// QUANTIZE and DEQUANTIZE have a scale for each block, and take 4 bits.
void quantize_in_blocks(Mapping& node, const std::string& type, const View& from, const View& scale,
                        const View& to, std::size_t axis) {
  const std::int64_t block = node.integer("block_size", 0);
  const Sizes blocks = block != 0 ? sizes_of_blocks(to.sizes, axis, block)
                                  : along_axis(node, scale, 1, to.sizes, axis).sizes;
  const auto of_blocks = [&](const View& view, std::size_t input) {
    if (element_count(view.sizes) != element_count(blocks))
      Mapping::refuse_invalid("its " + node.title_of_input(input) + " " + list_of(view.sizes) +
                              " does not have one number for each block, of sizes " +
                              list_of(blocks));
    return reshaped(view, blocks);
  };
  std::vector<View> tensors{of_blocks(scale, 1)};
  const DataType quantized =
      has_4_bits(from.type) || from.type == DataType::UInt8 || from.type == DataType::Int8
          ? from.type
          : to.type;
  const bool is_signed = quantized == DataType::Int4 || quantized == DataType::Int8;
  if (node.has(2)) {
    tensors.push_back(of_blocks(node.view(2), 2));
  } else if (!is_signed) {
    // Without a zero point ONNX takes 0, DirectML the middle of what the type holds.
    const std::uint64_t bytes = bytes_of(quantized, element_count(blocks).value_or(0));
    tensors.push_back(node.constant(quantized, blocks, std::vector<std::byte>(bytes)));
  }
  node.add(DmlOperator(type)
               .input("InputTensor", from)
               .choose("QuantizationType", tensors.size() == 1 ? "SCALE" : "SCALE_ZERO_POINT")
               .inputs("QuantizationTensors", tensors)
               .output("OutputTensor", to));
}

void quantize(Mapping& node, const std::string& type, const View& from, const View& scale,
              const View& to) {
  const Sizes& sizes = to.sizes;
  const std::int64_t written = node.integer("axis", 1);
  const bool has_blocks = node.integer("block_size", 0) != 0;
  const bool is_one = element_count(node.in(1).sizes) == 1 && !has_blocks;  // of the whole tensor
  const std::size_t axis = is_one ? 0 : Mapping::axis_of(written, sizes.size());
  if (has_blocks || has_4_bits(from.type) || has_4_bits(to.type))
    return quantize_in_blocks(node, type, from, scale, to, axis);
  const auto factor = [&](const View& view, std::size_t input) {
    return padded(broadcast(along_axis(node, view, input, sizes, axis), sizes));
  };
  DmlOperator operation("ELEMENT_WISE_" + type + "_LINEAR");
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
  node.ignore({"saturate"});  // for FLOAT8 only
  const DataType zero_type = node.has(2) ? node.in(2).type : DataType::UInt8;
  const DataType type = chosen_type(node, "output_dtype", zero_type);
  if (type == DataType::UInt16 || type == DataType::Int16)
    throw Refusal{"it quantizes to " + std::string(name_of(type)),
                  "DirectML quantizes to 4 and 8 bits", "quantize the model to UINT8 or INT8"};
  if (node.has(2) && type != zero_type)
    Mapping::refuse_invalid("its output_dtype is " + std::string(name_of(type)) +
                                ", but its zero point is " + std::string(name_of(zero_type)),
                            "a zero point has the type of the output");
  const auto [from, scale] = divided(node);
  quantize(node, "QUANTIZE", from, scale, node.output(0, type, node.in(0).sizes));
}

void map_dequantize(Mapping& node) {
  const Sizes& sizes = node.in(0).sizes;
  const DataType scale_type = node.in(1).type;
  const View to = node.output(0, chosen_type(node, "output_dtype", scale_type), sizes);
  // DirectML's output has the type of the scale.
  const bool is_converted = to.type != scale_type;
  const View made = is_converted ? node.temporary(scale_type, sizes) : to;
  quantize(node, "DEQUANTIZE", node.view(0), node.view(1), made);
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

// Operators of ONNX Runtime on quantized tensors. Each has a scale and, behind it, a zero point.

/// A scale or zero point of a whole tensor.
View only_number(Mapping& node, std::size_t input, std::size_t dimensions) {
  const View view = node.view(input);
  if (element_count(view.sizes) != 1)
    Mapping::refuse_invalid("its " + node.title_of_input(input) + " " + list_of(view.sizes) +
                            " is not one number");
  return reshaped(view, Sizes(dimensions, 1));
}

void add_conversion(Mapping& node, const std::string& type, const View& from, std::size_t scale,
                    const View& to) {
  const auto factor = [&](std::size_t input) {
    return padded(broadcast(only_number(node, input, to.sizes.size()), to.sizes));
  };
  DmlOperator operation(type);
  operation.input("InputTensor", padded(from)).input("ScaleTensor", factor(scale));
  if (node.has(scale + 1)) operation.input("ZeroPointTensor", factor(scale + 1));
  node.add(operation.output("OutputTensor", padded(to)));
}

View dequantized(Mapping& node, std::size_t input) {
  const View from = node.view(input);
  const View made = node.temporary(node.in(input + 1).type, from.sizes);
  add_conversion(node, "ELEMENT_WISE_DEQUANTIZE_LINEAR", from, input + 1, made);
  return made;
}

void map_quantized_add(Mapping& node) {
  const Sizes sizes = broadcast_sizes({node.in(0).sizes, node.in(3).sizes});
  const View a = node.view(0), b = node.view(3);
  const View to = padded(node.output(0, node.in(0), sizes));
  const std::size_t dimensions = to.sizes.size();
  DmlOperator operation("ELEMENT_WISE_QUANTIZED_LINEAR_ADD");
  operation.input("ATensor", padded(broadcast(a, sizes)))
      .input("AScaleTensor", only_number(node, 1, dimensions))
      .input("BTensor", padded(broadcast(b, sizes)))
      .input("BScaleTensor", only_number(node, 4, dimensions))
      .input("OutputScaleTensor", only_number(node, 6, dimensions))
      .output("OutputTensor", to);
  if (node.has(2)) operation.input("AZeroPointTensor", only_number(node, 2, dimensions));
  if (node.has(5)) operation.input("BZeroPointTensor", only_number(node, 5, dimensions));
  if (node.has(7)) operation.input("OutputZeroPointTensor", only_number(node, 7, dimensions));
  node.add(operation);
}

void map_quantized_sigmoid(Mapping& node) {
  const View from = dequantized(node, 0);
  const View made = node.temporary(from.type, from.sizes);
  node.add_unary("ACTIVATION_SIGMOID", from, made);
  add_conversion(node, "ELEMENT_WISE_QUANTIZE_LINEAR", made, 3,
                 node.output(0, node.in(0), from.sizes));
}

void map_quantized_concat(Mapping& node) {
  if (node.input_count() < 5 || node.input_count() % 3 != 2)
    Mapping::refuse_invalid(
        "it has " + counted(node.input_count(), "input"),
        "it must have a scale and a zero point, and three inputs for each part");
  const Value& first = node.in(2);
  const std::size_t axis = Mapping::axis_of(node.required_integer("axis"), first.sizes.size());
  std::vector<Sizes> all;
  std::vector<View> parts;
  for (std::size_t i = 2; i < node.input_count(); i += 3) all.push_back(node.in(i).sizes);
  const Sizes sizes = joined_sizes(all, axis);
  for (std::size_t i = 2; i < node.input_count(); i += 3)
    parts.push_back(padded(dequantized(node, i)));
  const View joined = node.temporary(node.in(0).type, sizes);
  node.add(DmlOperator("JOIN")
               .inputs("InputTensors", parts)
               .output("OutputTensor", padded(joined))
               .count("Axis", padded_axis(axis, sizes.size())));
  add_conversion(node, "ELEMENT_WISE_QUANTIZE_LINEAR", joined, 0, node.output(0, first, sizes));
}

constexpr OnnxOperator quantization_table[]{
    {"QuantizeLinear", "", "ELEMENT_WISE_QUANTIZE_LINEAR, or QUANTIZE in blocks or to 4 bits",
     map_quantize},
    {"QuantizeLinear", microsoft, "ELEMENT_WISE_QUANTIZE_LINEAR", map_quantize},
    {"DequantizeLinear", "", "ELEMENT_WISE_DEQUANTIZE_LINEAR, or DEQUANTIZE in blocks or of 4 bits",
     map_dequantize},
    {"DequantizeLinear", microsoft, "ELEMENT_WISE_DEQUANTIZE_LINEAR", map_dequantize},
    {"QLinearAdd", microsoft, "ELEMENT_WISE_QUANTIZED_LINEAR_ADD", map_quantized_add},
    {"QLinearSigmoid", microsoft,
     "ELEMENT_WISE_DEQUANTIZE_LINEAR, ACTIVATION_SIGMOID, ELEMENT_WISE_QUANTIZE_LINEAR",
     map_quantized_sigmoid},
    {"QLinearConcat", microsoft,
     "ELEMENT_WISE_DEQUANTIZE_LINEAR, JOIN, ELEMENT_WISE_QUANTIZE_LINEAR", map_quantized_concat},
    {"DynamicQuantizeLinear", "", "DYNAMIC_QUANTIZE_LINEAR", map_dynamic},
};

}  // namespace

std::span<const OnnxOperator> quantization_rows() {
  return quantization_table;
}

}  // namespace dmlop::onnx
