#include "onnx/dml_operator.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "base/error.hpp"
#include "base/text.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {
namespace {

std::uint32_t narrow(std::uint64_t value) {
  if (value > ~std::uint32_t{0})
    throw Error(ErrorKind::unavailable,
                "DirectML counts with 32 bits, and " + std::to_string(value) + " is more");
  return static_cast<std::uint32_t>(value);
}

std::vector<std::uint32_t> narrow(const std::vector<std::uint64_t>& values) {
  std::vector<std::uint32_t> list;
  list.reserve(values.size());
  for (const std::uint64_t value : values) list.push_back(narrow(value));
  return list;
}

GraphTensor tensor_of(const View& view) {
  const Strides strides = view.strides.empty() ? packed_strides(view.sizes) : view.strides;
  const auto elements = reached_elements(view.sizes, strides);
  if (!elements || *elements > ~std::uint64_t{0} / 64)
    throw Error(ErrorKind::unavailable, "a tensor " + list_of(view.sizes) + " is too large");
  GraphTensor tensor{.data_type = "DML_TENSOR_DATA_TYPE_" + std::string(name_of(view.type)),
                     .sizes = narrow(view.sizes),
                     .strides = {},
                     .total_size_in_bytes = (*elements * info(view.type).bits + 31) / 32 * 4};
  if (!view.strides.empty()) tensor.strides = narrow(view.strides);
  return tensor;
}

const FieldSpec& field_of(const OperatorSpec& spec, std::string_view name) {
  const FieldSpec* field = spec.find_field(name);
  if (field == nullptr) throw std::logic_error(spec.name + " has no field " + std::string(name));
  return *field;
}

}  // namespace

View padded(View view, std::size_t dimensions) {
  if (view.sizes.size() >= dimensions) return view;
  const std::size_t more = dimensions - view.sizes.size();
  view.sizes.insert(view.sizes.begin(), more, 1);
  if (!view.strides.empty()) view.strides.insert(view.strides.begin(), more, 0);
  return view;
}

View broadcast(View view, const Sizes& sizes) {
  if (view.sizes == sizes) return view;
  view = padded(std::move(view), sizes.size());
  Strides strides = view.strides.empty() ? packed_strides(view.sizes) : view.strides;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (view.sizes[i] == 1) strides[i] = 0;
  }
  view.sizes = sizes;
  view.strides = std::move(strides);
  return view;
}

View cropped(View view, const Sizes& sizes) {
  if (view.sizes == sizes) return view;
  if (view.strides.empty()) view.strides = packed_strides(view.sizes);
  view.sizes = sizes;
  return view;
}

View reshaped(View view, Sizes sizes) {
  if (!view.strides.empty()) throw std::logic_error("a view with strides cannot be reshaped");
  view.sizes = std::move(sizes);
  return view;
}

View transposed(const View& view, const std::vector<std::size_t>& order) {
  const Strides strides = view.strides.empty() ? packed_strides(view.sizes) : view.strides;
  View result{view.edge, view.type, {}, {}};
  for (const std::size_t from : order) {
    result.sizes.push_back(view.sizes[from]);
    result.strides.push_back(strides[from]);
  }
  if (result.strides == packed_strides(result.sizes)) result.strides.clear();
  return result;
}

DmlOperator::DmlOperator(const std::string& type) : spec_(find_spec(type)) {
  if (spec_ == nullptr) throw std::logic_error("no operator " + type);
}

DmlOperator& DmlOperator::input(std::string_view field, const View& view) {
  return inputs(field, {view});
}

DmlOperator& DmlOperator::inputs(std::string_view field, const std::vector<View>& views) {
  tensors_[field_of(*spec_, field).name] = views;
  return *this;
}

DmlOperator& DmlOperator::output(std::string_view field, const View& view) {
  return inputs(field, {view});
}

DmlOperator& DmlOperator::outputs(std::string_view field, const std::vector<View>& views) {
  return inputs(field, views);
}

DmlOperator& DmlOperator::set(std::string_view field, GraphValue value) {
  values_[field_of(*spec_, field).name] = std::move(value);
  return *this;
}

DmlOperator& DmlOperator::count(std::string_view field, std::uint64_t value) {
  return set(field, narrow(value));
}

DmlOperator& DmlOperator::counts(std::string_view field, const std::vector<std::uint64_t>& values) {
  return set(field, narrow(values));
}

DmlOperator& DmlOperator::flag(std::string_view field, bool value) {
  return set(field, std::uint32_t{value ? 1U : 0U});
}

DmlOperator& DmlOperator::choose(std::string_view field, std::string_view value) {
  const FieldSpec& spec = field_of(*spec_, field);
  for (const EnumValue& entry : enum_values(spec.enum_name)) {
    if (entry.name == value) return set(field, static_cast<std::uint32_t>(entry.value));
  }
  throw std::logic_error(spec.enum_name + " has no value " + std::string(value));
}

DmlOperator& DmlOperator::scalar(std::string_view type_field, std::string_view field, DataType type,
                                 double value) {
  const auto element = element_from(type, value);
  return scalar_bytes(type_field, field, type, element.data());
}

DmlOperator& DmlOperator::scalar_bytes(std::string_view type_field, std::string_view field,
                                       DataType type, const std::byte* element) {
  GraphScalar scalar;
  std::memcpy(scalar.bytes.data(), element, size_of(type));
  set(type_field, static_cast<std::uint32_t>(type));
  return set(field, scalar);
}

DmlOperator& DmlOperator::fused(std::string_view type,
                                const std::vector<GraphAttribute>& attributes) {
  return set("FusedActivation", GraphActivation{"DML_OPERATOR_" + std::string(type), attributes});
}

GraphValue DmlOperator::value_of(const FieldSpec& field) const {
  const auto found = values_.find(field.name);
  if (found != values_.end()) return found->second;
  for (const FieldSpec& array : spec_->fields) {
    if (array.count_field != field.name) continue;
    const auto tensors = tensors_.find(array.name);
    if (tensors != tensors_.end()) return narrow(tensors->second.size());
    const auto value = values_.find(array.name);
    if (value == values_.end()) continue;
    return std::visit(
        [](const auto& list) -> GraphValue {
          if constexpr (requires { list.size(); }) return narrow(list.size());
          return std::uint32_t{0};
        },
        value->second);
  }
  switch (field.kind) {
    case FieldKind::float32:
      return 0.0F;
    case FieldKind::int32:
      return std::int32_t{0};
    case FieldKind::uint:
    case FieldKind::boolean:
    case FieldKind::enumeration:
      return std::uint32_t{0};
    default:
      return std::monostate();
  }
}

GraphNode DmlOperator::node(std::string name) const {
  GraphOperator operation{
      .type = "DML_OPERATOR_" + spec_->name, .inputs = {}, .outputs = {}, .attributes = {}};
  GraphNode node{.name = std::move(name), .content = {}, .inputs = {}, .outputs = {}};
  for (const FieldSpec& field : spec_->fields) {
    if (!field.is_tensor()) {
      GraphValue value = value_of(field);
      const bool is_absent = std::holds_alternative<std::monostate>(value);
      operation.attributes.push_back({is_absent ? "" : field.name, std::move(value)});
      continue;
    }
    auto& tensors = field.is_input() ? operation.inputs : operation.outputs;
    auto& edges = field.is_input() ? node.inputs : node.outputs;
    const auto found = tensors_.find(field.name);
    if (found == tensors_.end()) {
      if (!field.is_tensor_array()) edges.emplace_back();
      continue;
    }
    for (const View& view : found->second) {
      tensors.push_back(tensor_of(view));
      edges.push_back(view.edge);
    }
  }
  node.content = std::move(operation);
  return node;
}

}  // namespace dmlop::onnx
