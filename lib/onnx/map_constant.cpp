// Operators of ONNX that make tensors of nothing but sizes and numbers.
#include <cmath>
#include <cstring>

#include "base/text.hpp"
#include "onnx/rows.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {
namespace {

// What is made while the model is read has at most so many elements.
constexpr std::uint64_t made_elements_max = std::uint64_t{1} << 24;

template <typename T>
TensorData data_of_list(DataType type, const std::vector<T>& values, Sizes sizes) {
  const auto bytes = std::as_bytes(std::span(values));
  return new_data(type, std::move(sizes), {bytes.begin(), bytes.end()});
}

void map_constant(Mapping& node) {
  if (const Attribute* value = node.find("value"); value != nullptr && value->tensor)
    return node.constant_output(0, data_of(*value->tensor, "", {}, {}));
  if (const Attribute* value = node.find("value_float"))
    return node.constant_output(0, data_of_list<float>(DataType::Float32, {value->real}, {}));
  if (const Attribute* value = node.find("value_int"))
    return node.constant_output(0,
                                data_of_list<std::int64_t>(DataType::Int64, {value->integer}, {}));
  if (const Attribute* value = node.find("value_floats"))
    return node.constant_output(
        0, data_of_list(DataType::Float32, value->reals, {value->reals.size()}));
  if (const Attribute* value = node.find("value_ints"))
    return node.constant_output(
        0, data_of_list(DataType::Int64, value->integers, {value->integers.size()}));
  Mapping::refuse("its value is not a dense tensor of numbers");
}

[[noreturn]] void refuse_large(const std::string& output) {
  Mapping::refuse(output + " is too large", "a node makes at most " +
                                                std::to_string(made_elements_max) +
                                                " elements while the model is read");
}

Sizes sizes_of(const std::vector<std::int64_t>& written) {
  Sizes sizes;
  for (const std::int64_t size : written) {
    if (size < 0) Mapping::refuse_invalid("its output has the size " + std::to_string(size));
    sizes.push_back(static_cast<std::uint64_t>(size));
  }
  return sizes;
}

/// What is too large to be made while the model is read, such as weights.
void fill_when_it_runs(Mapping& node, const TensorData& one, const Sizes& sizes) {
  const Value like{.edge = "", .type = one.type, .is_boolean = one.is_boolean, .sizes = sizes};
  const View to = padded(node.output(0, like, sizes));
  node.add(DmlOperator("FILL_VALUE_CONSTANT")
               .output("OutputTensor", to)
               .scalar_bytes("ValueDataType", "Value", one.type, one.bytes.data()));
}

void map_constant_of_shape(Mapping& node) {
  const Sizes sizes = sizes_of(node.known_integers(0));
  TensorData one = data_of_list<float>(DataType::Float32, {0}, {1});
  if (const Attribute* value = node.find("value"); value != nullptr && value->tensor)
    one = data_of(*value->tensor, "", {}, {});
  if (one.count() != 1 || has_4_bits(one.type))
    Mapping::refuse_invalid("its value must be one element");
  const std::uint64_t count = element_count(sizes).value_or(~std::uint64_t{0});
  if (count > made_elements_max) return fill_when_it_runs(node, one, sizes);
  std::vector<std::byte> bytes;
  bytes.reserve(count * one.bytes.size());
  for (std::uint64_t i = 0; i < count; ++i)
    bytes.insert(bytes.end(), one.bytes.begin(), one.bytes.end());
  TensorData data = new_data(one.type, sizes, std::move(bytes));
  data.is_boolean = one.is_boolean;
  node.constant_output(0, std::move(data));
}

void map_shape(Mapping& node) {
  const Sizes& sizes = node.in(0).sizes;
  const auto count = static_cast<std::int64_t>(sizes.size());
  const auto clamp = [&](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + count : place, 0, count);
  };
  const std::int64_t begin = clamp(node.integer("start", 0));
  const std::int64_t end = clamp(node.integer("end", count));
  std::vector<std::int64_t> values;
  for (std::int64_t i = begin; i < end; ++i)
    values.push_back(static_cast<std::int64_t>(sizes[static_cast<std::size_t>(i)]));
  node.constant_output(0, data_of_list(DataType::Int64, values, {values.size()}));
}

void map_size(Mapping& node) {
  const auto count = element_count(node.in(0).sizes);
  if (!count) Mapping::refuse("its input has more elements than 64 bits count");
  node.constant_output(
      0, data_of_list<std::int64_t>(DataType::Int64, {static_cast<std::int64_t>(*count)}, {}));
}

void map_non_zero(Mapping& node) {
  const Sizes& sizes = node.in(0).sizes;
  if (sizes.empty()) Mapping::refuse("its input is a scalar, which has no places");
  const std::vector<double> numbers = node.known_reals(0);
  const Sizes steps = packed_strides(sizes);
  std::vector<std::int64_t> places;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] != 0)
        places.push_back(static_cast<std::int64_t>(i / steps[axis] % sizes[axis]));
    }
  }
  const std::uint64_t count = places.size() / sizes.size();
  node.constant_output(0, data_of_list(DataType::Int64, places, {sizes.size(), count}));
}

/// The one number of an input of Range.
template <typename T>
T only(const std::vector<T>& numbers) {
  if (numbers.size() != 1) Mapping::refuse_invalid("its inputs must have one element each");
  return numbers.front();
}

constexpr const char* wrong_delta = "its delta is 0";

/// Counts in UINT64, which holds every difference of two INT64.
void map_integer_range(Mapping& node, DataType type) {
  const std::int64_t start = only(node.known_integers(0)), limit = only(node.known_integers(1));
  const std::int64_t delta = only(node.known_integers(2));
  if (delta == 0) Mapping::refuse_invalid(wrong_delta);
  const auto first = static_cast<std::uint64_t>(start), last = static_cast<std::uint64_t>(limit);
  const auto step = static_cast<std::uint64_t>(delta);
  const bool rises = delta > 0;
  std::uint64_t count = 0;
  if (rises ? start < limit : start > limit)
    count = ((rises ? last - first : first - last) - 1) / (rises ? step : 0 - step) + 1;
  if (count > made_elements_max) refuse_large("its output of " + counted(count, "element"));
  std::vector<std::byte> bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t element = first + i * step;
    const auto* begin = reinterpret_cast<const std::byte*>(&element);  // little-endian
    bytes.insert(bytes.end(), begin, begin + size_of(type));
  }
  node.constant_output(0, new_data(type, {count}, std::move(bytes)));
}

void map_range(Mapping& node) {
  const DataType type = node.in(0).type;
  if (type == DataType::Int64 || type == DataType::Int32) return map_integer_range(node, type);
  const double start = only(node.known_reals(0)), limit = only(node.known_reals(1));
  const double delta = only(node.known_reals(2));
  if (delta == 0) Mapping::refuse_invalid(wrong_delta);
  if (!std::isfinite(start) || !std::isfinite(limit) || !std::isfinite(delta))
    Mapping::refuse_invalid("its start, limit and delta must be finite numbers");
  const double count = std::max(0.0, std::ceil((limit - start) / delta));
  if (count > static_cast<double>(made_elements_max)) Mapping::refuse("its output is too large");
  const View to = node.output(0, type, {static_cast<std::uint64_t>(count)});
  node.add(DmlOperator("FILL_VALUE_SEQUENCE")
               .output("OutputTensor", padded(to))
               .scalar("ValueDataType", "ValueStart", type, start)
               .scalar("ValueDataType", "ValueDelta", type, delta));
}

void map_eye(Mapping& node) {
  const Value& like = node.in(0);
  if (like.sizes.size() != 2) Mapping::refuse_invalid("its input must have 2 dimensions");
  Value made = like;
  if (node.has_attribute("dtype")) {
    const std::int64_t written = node.integer("dtype", 0);
    const auto chosen = data_type_of(written);
    if (!chosen)
      Mapping::refuse("its dtype is " + name_of_type(written) + ", which DirectML does not have");
    made.type = *chosen;
    made.is_boolean = written == static_cast<int>(ElementType::boolean);
  }
  const View to = padded(node.output(0, made, like.sizes));
  node.add(DmlOperator("DIAGONAL_MATRIX")
               .output("OutputTensor", to)
               .set("Offset", static_cast<std::int32_t>(node.integer("k", 0)))
               .set("Value", 1.0F));
}

void map_trilu(Mapping& node) {
  const bool upper = node.integer("upper", 1) != 0;
  std::int64_t k = 0;
  if (node.has(1)) {
    const auto values = node.known_integers(1);
    if (values.size() != 1) Mapping::refuse_invalid("its k must be one number");
    k = std::clamp<std::int64_t>(values.front(), -0x40000000, 0x40000000);
  }
  const View from = node.merged(padded(node.view(0)), 4);
  const Value& value = node.in(0);
  const View to = node.merged(padded(node.output(0, value, value.sizes)), 4);
  const auto begin = static_cast<std::int32_t>(upper ? -0x7FFFFFFF : k + 1);
  const auto end = static_cast<std::int32_t>(upper ? k : 0x7FFFFFFF);
  node.add(DmlOperator("DIAGONAL_MATRIX1")
               .input("InputTensor", from)
               .output("OutputTensor", to)
               .scalar("ValueDataType", "Value", value.type, 0)
               .set("DiagonalFillBegin", begin)
               .set("DiagonalFillEnd", end));
}

constexpr OnnxOperator constant_table[]{
    {"Constant", "", "a constant", map_constant},
    {"ConstantOfShape", "", "a constant, or FILL_VALUE_CONSTANT if it is large",
     map_constant_of_shape},
    {"Shape", "", "a constant", map_shape},
    {"Size", "", "a constant", map_size},
    {"NonZero", "", "a constant, if its input is known", map_non_zero},
    {"Range", "", "FILL_VALUE_SEQUENCE, or a constant for integers", map_range},
    {"EyeLike", "", "DIAGONAL_MATRIX", map_eye},
    {"Trilu", "", "DIAGONAL_MATRIX1", map_trilu},
};

}  // namespace

std::span<const OnnxOperator> constant_rows() {
  return constant_table;
}

}  // namespace dmlop::onnx
