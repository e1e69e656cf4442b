#include "spec/description.hpp"

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "spec/field_reader.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

const std::vector<std::string>& data_type_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const DataTypeInfo& type : data_types) list.emplace_back(type.name);
    return list;
  }();
  return names;
}

// `desc` or `Desc`, `type` or `Type`: DxDispatch takes both.
const json::Value* find_either(const json::Value& object, const char* name, const char* other) {
  const json::Value* found = object.find(name);
  return found != nullptr ? found : object.find(other);
}

class TensorReader {
 public:
  TensorReader(FieldReader& reader, std::string name) : reader_(reader), name_(std::move(name)) {}

  std::optional<TensorDesc> read(const json::Value& value) {
    const json::Value* object = &value;
    if (const json::Value* nested = value.find("Desc")) object = nested;
    if (object->kind != Kind::object) {
      reader_.expected(*object, name_,
                       "an object such as {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}");
      return std::nullopt;
    }
    if (object != &value) {
      reader_.refuse_unknown(value, {"Type", "Desc"}, "a tensor desc with Desc");
      read_type(value);
    }
    read_type(*object);
    reader_.refuse_unknown(*object,
                           {"Type", "DataType", "Flags", "DimensionCount", "Sizes", "Strides",
                            "TotalTensorSizeInBytes", "GuaranteedBaseOffsetAlignment"},
                           "a tensor desc");
    read_data_type(*object);
    read_layout(*object);
    read_buffer(*object);
    return desc_;
  }

 private:
  void read_type(const json::Value& object) {
    const json::Value* value = object.find("Type");
    if (value == nullptr) return;
    reader_.name_of(*value, name_ + ".Type", {"BUFFER"}, "DML_TENSOR_TYPE_");
  }

  void read_data_type(const json::Value& object) {
    const json::Value* value = object.find("DataType");
    if (value == nullptr) return;
    const auto index =
        reader_.name_of(*value, name_ + ".DataType", data_type_names(), "DML_TENSOR_DATA_TYPE_");
    if (index) desc_.data_type = data_types[*index].type;
  }

  void read_layout(const json::Value& object) {
    if (const json::Value* value = object.find("Sizes")) {
      const auto sizes = reader_.uint_array(*value, name_ + ".Sizes");
      if (sizes) desc_.sizes.assign(sizes->begin(), sizes->end());
      if (sizes && sizes->empty())
        reader_.expected(*value, name_ + ".Sizes", "an array with one size for each dimension");
    }
    if (const json::Value* value = object.find("Strides"); value && value->kind != Kind::null) {
      const auto strides = reader_.uint_array(*value, name_ + ".Strides");
      if (strides && !strides->empty()) desc_.strides.emplace(strides->begin(), strides->end());
    }
    if (const json::Value* value = object.find("DimensionCount")) {
      const auto count = reader_.integer(*value, name_ + ".DimensionCount", "UINT", 1, 8);
      if (count) desc_.dimension_count = static_cast<std::size_t>(*count);
    }
  }

  void read_buffer(const json::Value& object) {
    constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
    if (const json::Value* value = object.find("TotalTensorSizeInBytes")) {
      const auto bytes =
          reader_.integer(*value, name_ + ".TotalTensorSizeInBytes", "UINT64", 0, int64_max);
      if (bytes && *bytes != 0) desc_.total_size_in_bytes = static_cast<std::uint64_t>(*bytes);
    }
    if (const json::Value* value = object.find("GuaranteedBaseOffsetAlignment")) {
      const auto bytes = reader_.uint(*value, name_ + ".GuaranteedBaseOffsetAlignment");
      desc_.base_offset_alignment = static_cast<std::uint64_t>(bytes.value_or(0));
    }
    if (const json::Value* value = object.find("Flags")) read_flags(*value);
  }

  void read_flags(const json::Value& value) {
    const std::vector<std::string> names{"NONE", "OWNED_BY_DML"};
    for (const std::size_t index :
         reader_.names_of(value, name_ + ".Flags", names, "DML_TENSOR_FLAG_")) {
      desc_.flags.push_back(names[index]);
    }
  }

  FieldReader& reader_;
  std::string name_;
  TensorDesc desc_;
};

}  // namespace

class DescriptionReader {
 public:
  DescriptionReader(Description& description, std::shared_ptr<const json::Document> document,
                    std::shared_ptr<const json::Value> root, const std::vector<std::string>& beside,
                    Completeness completeness, Diagnostics& diagnostics)
      : description_(description),
        beside_(beside),
        complete_(completeness == Completeness::complete),
        diagnostics_(diagnostics) {
    description_.document_ = std::move(document);
    description_.root_ = std::move(root);
    reader_.emplace(*description_.document_, diagnostics_);
  }

  bool read(std::optional<FeatureLevel> level) {
    const json::Value& root = description_.root();
    if (root.kind != Kind::object) {
      reader_->expected(root, "the description", "an object with \"type\" and \"desc\"");
      return false;
    }
    refuse_both(root, "type", "Type");
    refuse_both(root, "desc", "Desc");
    if (!read_operator(root)) return false;
    description_.fields_object_ = find_either(root, "Desc", "desc");
    const bool inline_fields = description_.fields_object_ == nullptr;
    if (inline_fields) description_.fields_object_ = &root;
    if (description_.fields_object().kind != Kind::object) {
      reader_->expected(description_.fields_object(), "desc",
                        "an object with the operator's fields");
      return false;
    }
    read_options(root, inline_fields);
    if (level) description_.feature_level = *level;
    for (const FieldSpec& field : description_.spec->fields) read_field(field);
    require_fields();
    return true;
  }

 private:
  void refuse_both(const json::Value& root, const char* name, const char* other) {
    if (root.find(name) == nullptr || root.find(other) == nullptr) return;
    for (const json::Member& member : root.members) {
      if (member.name != name) continue;
      Diagnostic diagnostic = description_.document().at(
          member, "both \"" + std::string(name) + "\" and \"" + other + "\" are given");
      diagnostic.suggestion = "keep one of them";
      reader_->add(std::move(diagnostic));
      return;
    }
  }

  bool read_operator(const json::Value& root) {
    const json::Value* type = find_either(root, "Type", "type");
    if (type == nullptr) {
      Diagnostic diagnostic = description_.document().at(root, "the field \"type\" is missing");
      diagnostic.value.clear();
      diagnostic.rule = "an op description has the fields type and desc";
      diagnostic.suggestion =
          root.find("dispatchables") != nullptr
              ? "this is a whole DxDispatch model; save one object of its \"dispatchables\" as a "
                "file of its own"
              : "write \"type\": \"DML_OPERATOR_PADDING\", or another operator of `dmlop ops`";
      reader_->add(std::move(diagnostic));
      return false;
    }
    if (type->kind != Kind::string) {
      reader_->expected(*type, "type", "the name of an operator");
      return false;
    }
    std::string_view name = type->text;
    constexpr std::string_view prefix = "DML_OPERATOR_";
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    description_.spec = find_spec(name);
    if (description_.spec == nullptr) refuse_operator(*type, name);
    return description_.spec != nullptr;
  }

  void refuse_operator(const json::Value& type, std::string_view name) {
    const auto& known = known_operators();
    const std::string implemented = "operators here: " + join(specified_operators());
    Diagnostic diagnostic;
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      diagnostic = description_.document().at(
          type, "DML_OPERATOR_" + std::string(name) + " is not implemented");
      diagnostic.kind = ErrorKind::unavailable;
    } else {
      diagnostic = description_.document().at(
          type, "type is " + json::describe(type) + ", which is no operator of DirectML");
      std::vector<std::string> candidates = specified_operators();
      candidates.insert(candidates.end(), known.begin(), known.end());
      const std::string nearest = nearest_name(name, candidates);
      if (!nearest.empty()) diagnostic.suggestion = "did you mean \"" + nearest + "\"?";
    }
    diagnostic.rule = implemented;
    reader_->add(std::move(diagnostic));
  }

  // What stands beside the operator's fields.
  void read_options(const json::Value& root, bool inline_fields) {
    std::vector<std::string> known{"type",    "Type",           "desc",
                                   "Desc",    "bindings",       "featureLevel",
                                   "$schema", "dmlCompileType", "executionFlags"};
    known.insert(known.end(), beside_.begin(), beside_.end());
    std::vector<std::string> fields = description_.spec->field_names();
    if (inline_fields) {
      known.insert(known.end(), fields.begin(), fields.end());
    } else {
      meant_ = reader_->refuse_unknown(description_.fields_object(), fields,
                                       "DML_OPERATOR_" + description_.spec->name);
    }
    const auto meant = reader_->refuse_unknown(root, known, "an op description");
    if (inline_fields) meant_ = meant;
    if (const json::Value* value = root.find("featureLevel")) read_feature_level(*value);
    if (const json::Value* value = root.find("bindings")) read_bindings(*value);
    if (const json::Value* value = root.find("$schema")) reader_->string(*value, "$schema");
    if (const json::Value* value = root.find("dmlCompileType")) {
      reader_->name_of(*value, "dmlCompileType", {"DmlCompileOp", "DmlCompileGraph"}, "");
    }
    if (const json::Value* value = root.find("executionFlags")) read_execution_flags(*value);
  }

  // They change how DirectML computes, not what: known names are accepted without effect.
  void read_execution_flags(const json::Value& value) {
    reader_->names_of(value, "executionFlags",
                      {"NONE", "ALLOW_HALF_PRECISION_COMPUTATION", "DISABLE_META_COMMANDS",
                       "DESCRIPTORS_VOLATILE"},
                      "DML_EXECUTION_FLAG_");
  }

  void read_feature_level(const json::Value& value) {
    const auto level = value.kind == Kind::string ? feature_level_named(value.text) : std::nullopt;
    if (!level) {
      reader_->expected(value, "featureLevel", "a feature level from \"1_0\" to \"6_4\"");
      return;
    }
    description_.feature_level = *level;
  }

  void read_bindings(const json::Value& object) {
    if (object.kind != Kind::object) {
      reader_->expected(object, "bindings", "an object such as {\"InputTensor\": \"x.npy\"}");
      return;
    }
    std::vector<std::string> tensors;
    for (const FieldSpec& field : description_.spec->fields) {
      if (field.is_tensor()) tensors.push_back(field.name);
    }
    const auto meant = reader_->refuse_unknown(object, tensors, "bindings");
    for (const std::string& tensor : tensors) {
      if (const json::Value* value = object.find(tensor)) {
        description_.bindings.push_back({tensor, read_path(*value, "bindings." + tensor), value});
      } else if (std::find(meant.begin(), meant.end(), tensor) != meant.end()) {
        description_.bindings.push_back({tensor, "", &object});
      }
    }
  }

  std::string read_path(const json::Value& value, const std::string& name) {
    const auto path = reader_->string(value, name);
    const bool usable = path && !path->empty() && path->find('\0') == std::string::npos;
    if (path && !usable) reader_->expected(value, name, "the path of a .npy file");
    return usable ? *path : "";
  }

  void read_field(const FieldSpec& spec) {
    Field& field = description_.fields.emplace_back(Field{&spec, {}, nullptr});
    if (spec.is_tensor()) field.value = TensorDesc{};
    field.is_misspelt = std::find(meant_.begin(), meant_.end(), spec.name) != meant_.end();
    field.written = description_.fields_object().find(spec.name);
    if (field.written == nullptr) return;
    const json::Value& value = *field.written;
    const auto keep = [&](auto read) {
      if (read) field.value = *read;
    };
    switch (spec.kind) {
      case FieldKind::input_tensor:
      case FieldKind::output_tensor:
        return keep(TensorReader(*reader_, spec.name).read(value));
      case FieldKind::enumeration:
        return keep(read_enum(spec, value));
      case FieldKind::uint:
        return keep(reader_->uint(value, spec.name));
      case FieldKind::float32:
        return keep(reader_->float32(value, spec.name));
      case FieldKind::uint_array:
        return keep(reader_->uint_array(value, spec.name));
      case FieldKind::int_array:
        return keep(reader_->int_array(value, spec.name));
    }
  }

  std::optional<std::int64_t> read_enum(const FieldSpec& spec, const json::Value& value) {
    const std::vector<EnumValue>& values = enum_values(spec.enum_name);
    std::vector<std::string> names;
    for (const EnumValue& entry : values) names.push_back(entry.name);
    const auto index = reader_->name_of(value, spec.name, names, spec.enum_name + "_");
    return index ? std::optional(values[*index].value) : std::nullopt;
  }

  // Tensors come from files or inference and counts from their arrays, unless the description is to
  // be complete; all else must be written.
  void require_fields() {
    for (const Field& field : description_.fields) {
      const FieldSpec& spec = *field.spec;
      const auto counts = [&](const FieldSpec& other) { return other.count_field == spec.name; };
      const auto& all = description_.spec->fields;
      const bool is_count = std::any_of(all.begin(), all.end(), counts);
      if (complete_ && spec.is_tensor()) require_type_and_sizes(field);
      if (field.written != nullptr || field.is_misspelt) continue;
      if (!complete_ && (spec.is_tensor() || is_count || spec.optional_when)) continue;
      require(description_.fields_object(), spec.name,
              "DML_OPERATOR_" + description_.spec->name + " needs it: " + spec.text,
              spec.is_tensor() ? tensor_example
              : is_count       ? std::string("4")
                               : example_value(*description_.spec, spec.name));
    }
  }

  void require_type_and_sizes(const Field& field) {
    if (field.written == nullptr || field.written->kind != Kind::object) return;
    const json::Value* nested = field.written->find("Desc");
    const json::Value& object = nested != nullptr ? *nested : *field.written;
    const std::string rule = "a tensor desc has a DataType and Sizes";
    if (object.find("DataType") == nullptr)
      require(object, "DataType", rule, "\"FLOAT32\"", field.spec->name + ".");
    if (object.find("Sizes") == nullptr)
      require(object, "Sizes", rule, "[1, 1, 4, 4]", field.spec->name + ".");
  }

  void require(const json::Value& object, const std::string& name, std::string rule,
               const std::string& example, const std::string& prefix = "") {
    reader_->missing(object, prefix + name, std::move(rule),
                     "write \"" + name + "\": " + example + ", for example");
  }

  static constexpr const char* tensor_example =
      "{\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}";

  Description& description_;
  const std::vector<std::string>& beside_;
  bool complete_;
  Diagnostics& diagnostics_;
  std::optional<FieldReader> reader_;
  std::vector<std::string> meant_;  // fields that unknown ones were probably meant to be
};

std::optional<Description> read_description(std::string file, std::string text,
                                            std::optional<FeatureLevel> level,
                                            Diagnostics& diagnostics) {
  auto document = json::Document::parse(std::move(file), std::move(text), diagnostics);
  if (!document) return std::nullopt;
  auto shared = std::make_shared<const json::Document>(std::move(*document));
  std::shared_ptr<const json::Value> root(shared, &shared->root());
  return read_description(std::move(shared), std::move(root), {}, level, diagnostics);
}

std::optional<Description> read_description(std::shared_ptr<const json::Document> document,
                                            std::shared_ptr<const json::Value> root,
                                            const std::vector<std::string>& beside,
                                            std::optional<FeatureLevel> level,
                                            Diagnostics& diagnostics, Completeness completeness) {
  Description description;
  DescriptionReader reader(description, std::move(document), std::move(root), beside, completeness,
                           diagnostics);
  if (!reader.read(level)) return std::nullopt;
  return description;
}

Field* Description::find(std::string_view name) {
  for (Field& field : fields) {
    if (field.spec->name == name) return &field;
  }
  return nullptr;
}

const Field* Description::find(std::string_view name) const {
  return const_cast<Description*>(this)->find(name);
}

const TensorDesc& Description::tensor(std::string_view name) const {
  return std::get<TensorDesc>(find(name)->value);
}

std::int64_t Description::integer(std::string_view name) const {
  return std::get<std::int64_t>(find(name)->value);
}

double Description::number(std::string_view name, double otherwise) const {
  const double* value = std::get_if<double>(&find(name)->value);
  return value != nullptr ? *value : otherwise;
}

const std::vector<std::int64_t>& Description::integers(std::string_view name) const {
  return std::get<std::vector<std::int64_t>>(find(name)->value);
}

Diagnostic Description::at(const Reference& reference, std::optional<std::size_t> subscript,
                           std::string message) const {
  const Field* field = find(reference.field);
  const json::Value* place = field != nullptr ? field->written : nullptr;
  if (place == nullptr) {
    Diagnostic diagnostic = document_->at(fields_object(), std::move(message));
    diagnostic.value.clear();
    return diagnostic;
  }
  if (const json::Value* nested = place->find("Desc")) place = nested;
  const json::Value* attribute =
      reference.attribute.empty() ? nullptr : place->find(reference.attribute);
  if (attribute == nullptr && reference.attribute == "DimensionCount")
    attribute = place->find("Sizes");
  if (attribute != nullptr) place = attribute;
  if (subscript && *subscript < place->items.size()) place = &place->items[*subscript];
  return document_->at(*place, std::move(message));
}

bool Description::is_written(const Reference& reference) const {
  const Field* field = find(reference.field);
  if (field == nullptr || field->written == nullptr) return false;
  if (reference.attribute.empty()) return true;
  const json::Value* nested = field->written->find("Desc");
  const json::Value& object = nested != nullptr ? *nested : *field->written;
  return object.find(reference.attribute) != nullptr ||
         (reference.attribute == "DimensionCount" && object.find("Sizes") != nullptr);
}

}  // namespace dmlop
