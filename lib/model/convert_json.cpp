#include "model/convert_json.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json tensor_json(const TensorDesc& desc, bool with_strides) {
  Json json{{"DataType", name_of(*desc.data_type)}, {"Sizes", desc.sizes}};
  if (desc.strides && with_strides) json["Strides"] = *desc.strides;
  if (desc.is_owned_by_dml()) json["Flags"] = "OWNED_BY_DML";
  return json;
}

// The shortest number that gives the same FLOAT.
Json float_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return Json::parse(float_text(value));
}

Json enum_json(const FieldSpec& field, std::int64_t value) {
  for (const EnumValue& entry : enum_values(field.enum_name)) {
    if (entry.value == value) return field.enum_name + "_" + entry.name;
  }
  return value;
}

/// A field's value as JSON: one overload for each kind of value.
class FieldJson {
 public:
  FieldJson(const Description& description, const Field& field)
      : description_(description), field_(field) {}

  Json operator()(std::monostate) const {
    const bool is_number = field_.spec->kind == FieldKind::float32;
    return is_number ? Json(0) : Json();  // a field that is left out and has no effect
  }
  Json operator()(const TensorDesc& desc) const {
    return tensor_json(desc, field_.spec->is_input());
  }
  Json operator()(const std::vector<TensorDesc>& descs) const {
    Json json = Json::array();
    for (const TensorDesc& desc : descs) json.push_back((*this)(desc));
    return json;
  }
  Json operator()(std::int64_t integer) const {
    const bool is_enumeration = field_.spec->kind == FieldKind::enumeration;
    return is_enumeration ? enum_json(*field_.spec, integer) : Json(integer);
  }
  Json operator()(double number) const { return float_json(number); }
  Json operator()(const std::vector<std::int64_t>& integers) const { return integers; }
  Json operator()(const std::vector<double>& numbers) const {
    Json json = Json::array();
    for (const double number : numbers) json.push_back(float_json(number));
    return json;
  }
  Json operator()(const Size2d& size) const {
    return {{"Width", size.width}, {"Height", size.height}};
  }
  Json operator()(const ScaleBias& both) const {
    return {{"Scale", float_json(both.scale)}, {"Bias", float_json(both.bias)}};
  }
  Json operator()(const Scalar& scalar) const { return as_written(*scalar.written); }
  Json operator()(const std::vector<NestedOperator>&) const { return as_written(*field_.written); }

 private:
  Json as_written(const json::Value& value) const {
    return Json::parse(description_.document().source(value));
  }

  const Description& description_;
  const Field& field_;
};

constexpr std::size_t line_length = 96;

// JSON cannot express such a name, and any other spelling would name another file.
void require_utf8(const Json& json) {
  if (!json.is_string()) return;
  const std::string& text = json.get_ref<const std::string&>();
  if (valid_utf8(text) != text)
    throw Error(ErrorKind::invalid_input,
                "a JSON file cannot name " + text +
                    ": a name in JSON is UTF-8, and this one is not; give the file another name");
}

// JSON with a blank after commas and colons.
std::string compact(const Json& json) {
  require_utf8(json);
  if (!json.is_structured()) return json.dump();
  std::string text(1, json.is_array() ? '[' : '{');
  for (const auto& [key, value] : json.items()) {
    if (text.size() > 1) text += ", ";
    if (json.is_object()) text += compact(key) + ": ";
    text += compact(value);
  }
  return text + (json.is_array() ? ']' : '}');
}

void append(const Json& json, std::size_t indent, std::string& text) {
  const std::string line = compact(json);
  // Arrays of numbers are never broken into lines; the outermost value always is.
  const bool is_list = json.is_array() && !json.empty() && !json.front().is_structured();
  if (is_list || !json.is_structured() || (indent > 2 && indent + line.size() <= line_length)) {
    text += line;
    return;
  }
  text += json.is_array() ? "[\n" : "{\n";
  std::size_t index = 0;
  for (const auto& [key, value] : json.items()) {
    text.append(indent + 2, ' ');
    if (json.is_object()) text += compact(key) + ": ";
    append(value, indent + 2, text);
    text += ++index < json.size() ? ",\n" : "\n";
  }
  text.append(indent, ' ');
  text += json.is_array() ? ']' : '}';
}

}  // namespace

Json fields_json(const Description& description) {
  Json json = Json::object();
  for (const Field& field : description.fields) {
    if (field.is_absent() && field.spec->is_tensor()) continue;
    json[field.spec->name] = std::visit(FieldJson(description, field), field.value);
  }
  return json;
}

std::string readable_text(const Json& json) {
  std::string text;
  append(json, 0, text);
  return text + "\n";
}

std::string path_from(const std::string& base, const std::string& path) {
  const fs::path folder = to_path(base).parent_path();
  return to_text(fs::proximate(to_path(path), folder.empty() ? "." : folder));
}

std::string companion_path(const std::string& json_path, const std::string& tensor) {
  const fs::path path = to_path(json_path);
  return to_text(path.parent_path() / to_path(to_text(path.stem()) + "." + tensor + ".npy"));
}

}  // namespace dmlop
