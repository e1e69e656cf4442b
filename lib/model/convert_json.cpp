#include "model/convert_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "base/path.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json tensor_json(const TensorDesc& desc, bool with_strides) {
  Json json{{"DataType", name_of(*desc.data_type)}, {"Sizes", desc.sizes}};
  if (desc.strides && with_strides) json["Strides"] = *desc.strides;
  const bool is_owned =
      std::find(desc.flags.begin(), desc.flags.end(), "OWNED_BY_DML") != desc.flags.end();
  if (is_owned) json["Flags"] = "OWNED_BY_DML";
  return json;
}

// The shortest number that gives the same FLOAT.
Json float_json(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
  return Json::parse(std::string(text.data(), end));
}

Json enum_json(const FieldSpec& field, std::int64_t value) {
  for (const EnumValue& entry : enum_values(field.enum_name)) {
    if (entry.value == value) return field.enum_name + "_" + entry.name;
  }
  return value;
}

Json field_json(const Field& field) {
  const FieldSpec& spec = *field.spec;
  if (const auto* tensor = std::get_if<TensorDesc>(&field.value))
    return tensor_json(*tensor, spec.is_input());
  if (const auto* number = std::get_if<double>(&field.value)) return float_json(*number);
  if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&field.value)) return *numbers;
  if (const auto* integer = std::get_if<std::int64_t>(&field.value))
    return spec.kind == FieldKind::enumeration ? enum_json(spec, *integer) : Json(*integer);
  return spec.kind == FieldKind::float32 ? Json(0)
                                         : Json();  // a field that is left out and has no effect
}

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
  for (const Field& field : description.fields) json[field.spec->name] = field_json(field);
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
