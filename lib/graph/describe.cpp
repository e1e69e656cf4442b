#include "graph/describe.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text.hpp"
#include "job/job.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;
using Messages = std::vector<std::string>;

Json number_json(DataType type, const std::byte* element) {
  const std::string text = element_text(type, element);
  return std::isfinite(element_value(type, element)) ? Json::parse(text) : Json(text);
}

Json number_json(float number) {
  return number_json(DataType::Float32, std::as_bytes(std::span(&number, 1)).data());
}

Json tensor_json(const GraphTensor& tensor) {
  Json json{{"DataType", tensor.data_type}, {"Sizes", tensor.sizes}};
  if (tensor.strides) json["Strides"] = *tensor.strides;
  json["TotalTensorSizeInBytes"] = tensor.total_size_in_bytes;
  return json;
}

Json enum_json(const FieldSpec& field, std::uint32_t value) {
  for (const EnumValue& entry : enum_values(field.enum_name)) {
    if (entry.value == value) return entry.name;
  }
  return value;
}

/// The fields of one operator, or of an activation in it, that are no tensors.
class FieldsJson {
 public:
  /// A scalar of type UNKNOWN has `tensor_type`, as DirectML decides.
  FieldsJson(const OperatorSpec& spec, const std::vector<GraphAttribute>& attributes,
             Messages& messages, DataType tensor_type = DataType::UInt64)
      : spec_(spec), messages_(messages), tensor_type_(tensor_type) {
    for (const FieldSpec& field : spec.fields) {
      if (!field.is_tensor()) fields_.push_back({&field, nullptr});
    }
    if (attributes.size() != fields_.size()) {
      messages.push_back(called() + " has " + counted(fields_.size(), "field") +
                         " beside its tensors, but there " +
                         (attributes.size() == 1 ? "is " : "are ") +
                         counted(attributes.size(), "attribute"));
      fields_.clear();
    }
    for (std::size_t i = 0; i < fields_.size(); ++i) take(fields_[i], attributes[i], i);
  }

  /// Adds the fields to `object`.
  void add_to(Json& object) const {
    for (const auto& [field, value] : fields_) {
      if (value != nullptr && !std::holds_alternative<std::monostate>(*value))
        object[field->name] = json_of(*field, *value);
    }
  }

 private:
  struct FieldAndValue {
    const FieldSpec* field;
    const GraphValue* value;
  };

  std::string called() const { return "DML_OPERATOR_" + spec_.name; }

  void take(FieldAndValue& field, const GraphAttribute& attribute, std::size_t index) {
    const bool is_left_out = std::holds_alternative<std::monostate>(attribute.value);
    if (attribute.name == field.field->name || (attribute.name.empty() && is_left_out)) {
      field.value = &attribute.value;
      return;
    }
    messages_.push_back("attribute " + std::to_string(index) + " of " + called() + " is \"" +
                        printable(attribute.name) + "\", must be \"" + field.field->name + "\"");
  }

  Json json_of(const FieldSpec& field, const GraphValue& value) const {
    return std::visit([&](const auto& held) { return json_of(field, held); }, value);
  }

  static Json json_of(const FieldSpec&, std::monostate) { return nullptr; }
  static Json json_of(const FieldSpec&, float number) { return number_json(number); }
  static Json json_of(const FieldSpec& field, std::uint32_t number) {
    return field.kind == FieldKind::enumeration ? enum_json(field, number) : Json(number);
  }
  static Json json_of(const FieldSpec&, const std::vector<float>& numbers) {
    Json list = Json::array();
    for (const float number : numbers) list.push_back(number_json(number));
    return list;
  }
  static Json json_of(const FieldSpec&, const GraphScaleBias& both) {
    return {{"Scale", number_json(both.scale)}, {"Bias", number_json(both.bias)}};
  }
  static Json json_of(const FieldSpec&, const GraphSize2d& size) {
    return {{"Width", size.width}, {"Height", size.height}};
  }
  Json json_of(const FieldSpec& field, const GraphScalar& scalar) const {
    return number_json(type_of(field), scalar.bytes.data());
  }
  Json json_of(const FieldSpec&, const GraphActivation& activation) const {
    Json desc = Json::object();
    if (const OperatorSpec* spec = find_spec(without_operator_prefix(activation.type)))
      FieldsJson(*spec, activation.attributes, messages_).add_to(desc);
    return {{"Type", activation.type}, {"Desc", std::move(desc)}};
  }
  Json json_of(const FieldSpec& field, const std::vector<GraphActivation>& activations) const {
    Json list = Json::array();
    for (const GraphActivation& activation : activations)
      list.push_back(json_of(field, activation));
    return list;
  }
  static Json json_of(const FieldSpec&, const auto& value) { return value; }

  // What the sibling field says.
  DataType type_of(const FieldSpec& scalar) const {
    for (const auto& [field, value] : fields_) {
      if (field->name != scalar.type_field || value == nullptr) continue;
      const auto* type = std::get_if<std::uint32_t>(value);
      if (type != nullptr && *type >= 1 && *type <= data_types.size())
        return static_cast<DataType>(*type);
    }
    return tensor_type_;
  }

  const OperatorSpec& spec_;
  Messages& messages_;
  DataType tensor_type_;
  std::vector<FieldAndValue> fields_;
};

/// Gives the descs of a node's inputs or outputs to the tensors of the spec.
class TensorsJson {
 public:
  TensorsJson(DescribedNode& described, Json& desc) : described_(described), desc_(desc) {}

  /// Returns false if there are more uses than tensors.
  bool add(const std::vector<const FieldSpec*>& fields, const std::vector<GraphUse>& uses) {
    std::size_t next = 0;
    for (const FieldSpec* field : fields) {
      if (field->is_tensor_array()) {
        add_array(*field, std::span(uses).subspan(next));
        next = uses.size();
      } else if (next < uses.size()) {
        add_one(*field, uses[next++]);
      }
    }
    return std::all_of(uses.begin() + static_cast<std::ptrdiff_t>(next), uses.end(),
                       [](const GraphUse& use) { return use.tensor == nullptr; });
  }

 private:
  void add_one(const FieldSpec& field, const GraphUse& use) {
    if (use.tensor == nullptr) return;
    desc_[field.name] = tensor_json(*use.tensor);
    described_.tensors.push_back({&field, {}, use.edge});
  }

  void add_array(const FieldSpec& field, std::span<const GraphUse> uses) {
    if (uses.empty()) return;
    Json& list = desc_[field.name] = Json::array();
    for (const GraphUse& use : uses) {
      if (use.tensor == nullptr) continue;
      described_.tensors.push_back({&field, list.size(), use.edge});
      list.push_back(tensor_json(*use.tensor));
    }
  }

  DescribedNode& described_;
  Json& desc_;
};

void add_tensors(TensorsJson& tensors, const OperatorSpec& spec, bool are_inputs,
                 const std::vector<std::string>& edges, const std::vector<GraphTensor>& descs,
                 Messages& messages) {
  const std::string word = are_inputs ? "input" : "output";
  const auto uses = uses_of(edges, descs);
  if (!uses) {
    const auto named =
        static_cast<std::size_t>(edges.size()) -
        static_cast<std::size_t>(std::count(edges.begin(), edges.end(), std::string()));
    messages.push_back("it has " + counted(descs.size(), "desc") + " of " + word + "s for " +
                       counted(named, "edge"));
    return;
  }
  std::vector<const FieldSpec*> fields;
  for (const FieldSpec& field : spec.fields) {
    if (are_inputs ? field.is_input() : field.is_output()) fields.push_back(&field);
  }
  if (!tensors.add(fields, *uses))
    messages.push_back("it has " + counted(uses->size(), word) + ", but DML_OPERATOR_" + spec.name +
                       " has " + std::to_string(fields.size()));
}

/// The type of an operator's first tensor.
DataType type_of_tensors(const GraphOperator& operation) {
  constexpr std::string_view prefix = "DML_TENSOR_DATA_TYPE_";
  for (const auto* tensors : {&operation.inputs, &operation.outputs}) {
    if (tensors->empty() || !tensors->front().data_type.starts_with(prefix)) continue;
    if (const auto type = data_type_named(tensors->front().data_type.substr(prefix.size())))
      return *type;
  }
  return DataType::UInt64;
}

}  // namespace

std::string NodeTensor::name() const {
  return tensor_name(field->name, element);
}

DescribedNode describe(const GraphNode& node, const GraphOperator& operation, Messages& messages) {
  DescribedNode described{.description = {{"type", operation.type}}, .tensors = {}};
  const OperatorSpec* spec = find_spec(without_operator_prefix(operation.type));
  if (spec == nullptr) return described;
  Json desc = Json::object();
  TensorsJson tensors(described, desc);
  add_tensors(tensors, *spec, true, node.inputs, operation.inputs, messages);
  add_tensors(tensors, *spec, false, node.outputs, operation.outputs, messages);
  FieldsJson(*spec, operation.attributes, messages, type_of_tensors(operation)).add_to(desc);
  described.description["desc"] = std::move(desc);
  return described;
}

}  // namespace dmlop
