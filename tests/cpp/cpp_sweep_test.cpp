// C++ that this test writes for each description that DirectML ran, in three ways, becomes the same
// description again.
#include <doctest/doctest.h>

#include <map>

#include "base/text.hpp"
#include "cpp/convert.hpp"
#include "cpp/layouts.hpp"
#include "described.hpp"
#include "fused_gemm.hpp"
#include "spec/facts.hpp"
#include "tensor/element.hpp"
#include "tensor/half.hpp"

namespace dmlop::test::cpp_sweep_test {
namespace {

using Json = nlohmann::ordered_json;

using dmlop::FieldKind;
using dmlop::FieldSpec;
using dmlop::OperatorSpec;

enum class Form { positional, designated, assigned };

std::string without(std::string text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

/// The bits of a FLOAT16, which a DML_SCALAR_UNION holds as a UInt16.
Json half_bits(const Json& value) {
  if (value.is_object()) return value.at("UInt16");
  return dmlop::half_from_double(value.get<double>());
}

/// Writes the C++ of a description: a variable for each struct and array, each form in its own way.
class CppWriter {
 public:
  explicit CppWriter(Form form) : form_(form) {}

  std::string text_of(const OperatorSpec& spec, const Json& desc) {
    const std::string type = "DML_" + spec.name + "_OPERATOR_DESC";
    const std::string variable = declare(type, members_of(spec, desc));
    return text_ + "DML_OPERATOR_DESC op = {DML_OPERATOR_" + spec.name + ", &" + variable +
           "};\nThrowIfFailed(device->CreateOperator(&op, IID_PPV_ARGS(&result)));\n";
  }

 private:
  using Members = std::vector<std::pair<std::string, std::string>>;

  std::string new_name() { return "v" + std::to_string(++names_); }

  std::string braces(const Members& members) const {
    std::string text;
    for (const auto& [name, value] : members) {
      if (!text.empty()) text += ", ";
      text += form_ == Form::positional ? value : "." + name + " = " + value;
    }
    return "{" + text + "}";
  }

  std::string declare(const std::string& type, const Members& members) {
    const std::string variable = new_name();
    if (form_ != Form::assigned) {
      text_ += (form_ == Form::designated ? "const " : "") + type + " " + variable + " = " +
               braces(members) + ";\n";
      return variable;
    }
    text_ += type + " " + variable + " = {};\n";
    for (const auto& [name, value] : members)
      text_ += variable + "." + name + " = " + value + ";  // " + name + "\n";
    return variable;
  }

  /// An array of values, and how the form points to it and counts it.
  struct Array {
    std::string pointer = "nullptr";
    std::string count = "0";
  };
  Array array(const std::string& type, const std::vector<std::string>& values) {
    if (values.empty()) return {};
    const std::string variable = new_name();
    const std::string list = "{" + dmlop::join(values) + "}";
    const std::string length = std::to_string(values.size());
    switch (form_) {
      case Form::positional:
        text_ += type + " " + variable + "[] = " + list + ";\n";
        return {variable, "ARRAYSIZE(" + variable + ")"};
      case Form::designated:
        text_ += "std::array<" + type + ", " + length + "> " + variable + "{" + list + "};\n";
        return {variable + ".data()", "static_cast<UINT>(" + variable + ".size())"};
      case Form::assigned:
        text_ += "std::vector<" + type + "> " + variable + "(" + length + ");\n";
        for (std::size_t i = 0; i < values.size(); ++i)
          text_ += variable + "[" + std::to_string(i) + "] = " + values[i] + ";\n";
        return {"&" + variable + "[0]", length + "u"};
    }
    return {};
  }

  static std::string number(const Json& value, bool is_float) {
    if (value.is_string()) {
      if (value == "nan") return "NAN";
      return value == "inf" ? "INFINITY" : "-std::numeric_limits<float>::infinity()";
    }
    if (value.is_boolean()) return value.get<bool>() ? "TRUE" : "FALSE";
    if (!is_float) return value.dump();
    const std::string text = dmlop::float_text(value.get<double>());
    return text + (text.find_first_of(".e") == std::string::npos ? ".0f" : "f");
  }

  std::vector<std::string> numbers(const Json& values, bool is_float) {
    std::vector<std::string> texts;
    for (const Json& value : values) texts.push_back(number(value, is_float));
    return texts;
  }

  /// The fields of a DML_TENSOR_DESC.
  Members tensor(const Json& desc) {
    const Array sizes = array("UINT", numbers(desc.at("Sizes"), false));
    Members buffer{
        {"DataType", "DML_TENSOR_DATA_TYPE_" + desc.at("DataType").get<std::string>()},
        {"Flags", desc.contains("Flags") ? "DML_TENSOR_FLAG_NONE | DML_TENSOR_FLAG_OWNED_BY_DML"
                                         : "DML_TENSOR_FLAG_NONE"},
        {"DimensionCount", sizes.count},
        {"Sizes", sizes.pointer}};
    const bool has_strides = desc.contains("Strides");
    buffer.emplace_back(
        "Strides",
        has_strides ? array("const UINT", numbers(desc.at("Strides"), false)).pointer : "nullptr");
    const bool has_bytes = desc.contains("TotalTensorSizeInBytes");
    buffer.emplace_back("TotalTensorSizeInBytes",
                        has_bytes ? desc.at("TotalTensorSizeInBytes").dump() : "0");
    return {{"Type", "DML_TENSOR_TYPE_BUFFER"},
            {"Desc", "&" + declare("DML_BUFFER_TENSOR_DESC", buffer)}};
  }

  Members nested(const Json& value) {
    const std::string type = without(value.at("Type"), "DML_OPERATOR_");
    const OperatorSpec& spec = *dmlop::find_spec(type);
    const Json desc = value.contains("Desc") ? value.at("Desc") : Json::object();
    const std::string variable = declare("DML_" + type + "_OPERATOR_DESC", members_of(spec, desc));
    return {{"Type", "DML_OPERATOR_" + type}, {"Desc", "&" + variable}};
  }

  Array structs(const std::string& type, const std::vector<Members>& all) {
    std::vector<std::string> values;
    for (const Members& members : all) values.push_back(braces(members));
    return array(type, values);
  }

  std::string scalar(const Json& value, const std::string& type) const {
    if (type == "FLOAT16") return "{.UInt16 = " + half_bits(value).dump() + "}";
    const bool is_float = type.starts_with("FLOAT");
    if (value.is_object())
      return "{." + value.begin().key() + " = " + number(value.begin().value(), is_float) + "}";
    const std::string member = is_float                   ? "Float" + type.substr(5)
                               : type.starts_with("UINT") ? "UInt" + type.substr(4)
                                                          : "Int" + type.substr(3);
    return "{." + member + " = " + (type == "FLOAT64" ? value.dump() : number(value, is_float)) +
           "}";
  }

  Members members_of(const OperatorSpec& spec, const Json& desc) {
    std::map<std::string, std::string> counts;
    Members members;
    for (const FieldSpec& field : spec.fields) {
      const bool is_there = desc.contains(field.name) && !desc.at(field.name).is_null();
      members.emplace_back(field.name, is_there ? value_of(field, desc, counts) : "0");
      const bool may_be_null =
          field.is_tensor() || field.kind == FieldKind::scale_bias || field.is_nested_operator();
      if (!is_there && may_be_null) members.back().second = "nullptr";
      if (!is_there && field.kind == FieldKind::size_2d) members.back().second = "{}";
      if (!is_there && field.kind == FieldKind::scalar_union) members.back().second = "{}";
    }
    for (auto& [name, value] : members) {
      if (counts.contains(name)) value = counts.at(name);
    }
    return members;
  }

  std::string value_of(const FieldSpec& field, const Json& desc,
                       std::map<std::string, std::string>& counts) {
    const Json& value = desc.at(field.name);
    const auto counted = [&](const Array& made) {
      counts[field.count_field] = made.count;
      return made.pointer;
    };
    switch (field.kind) {
      case FieldKind::input_tensor:
      case FieldKind::output_tensor:
        return "&" + declare("DML_TENSOR_DESC", tensor(value));
      case FieldKind::input_tensor_array:
      case FieldKind::output_tensor_array: {
        std::vector<Members> all;
        for (const Json& each : value) all.push_back(tensor(each));
        return counted(structs("DML_TENSOR_DESC", all));
      }
      case FieldKind::enumeration:
        return field.enum_name + "_" + without(value, field.enum_name + "_");
      case FieldKind::uint:
      case FieldKind::int32:
      case FieldKind::boolean:
        return number(value, false);
      case FieldKind::float32:
        return number(value, true);
      case FieldKind::uint_array:
        return counted(array("UINT", numbers(value, false)));
      case FieldKind::int_array:
        return counted(array("INT", numbers(value, false)));
      case FieldKind::float_array:
        return counted(array("FLOAT", numbers(value, true)));
      case FieldKind::scalar_union:
        return scalar(value, without(desc.at(field.type_field), "DML_TENSOR_DATA_TYPE_"));
      case FieldKind::size_2d:
        return braces({{"Width", value.at("Width").dump()}, {"Height", value.at("Height").dump()}});
      case FieldKind::scale_bias:
        return "&" + declare("DML_SCALE_BIAS", {{"Scale", number(value.at("Scale"), true)},
                                                {"Bias", number(value.at("Bias"), true)}});
      case FieldKind::fused_activation:
        return "&" + declare("DML_OPERATOR_DESC", nested(value));
      case FieldKind::activation_array: {
        std::vector<Members> all;
        for (const Json& each : value) all.push_back(nested(each));
        return counted(structs("DML_OPERATOR_DESC", all));
      }
    }
    return "";
  }

  Form form_;
  int names_ = 0;
  std::string text_;
};

/// A description's value in one form of the several that mean the same.
Json plain(const Json& value) {
  if (value.is_string()) {
    std::string text = value;
    for (const char* prefix : {"DML_TENSOR_DATA_TYPE_", "DML_TENSOR_FLAG_", "DML_OPERATOR_"})
      text = without(text, prefix);
    return text;
  }
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_float()) {
    const auto narrow = static_cast<float>(value.get<double>());
    const auto whole = static_cast<std::int64_t>(narrow);
    return static_cast<float>(whole) == narrow ? Json(whole) : Json(narrow);
  }
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value) list.push_back(plain(item));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [name, item] : value.items()) {
    const bool is_count = name == "DimensionCount" || name == "AxisCount";
    if (!item.is_null() && !is_count) object[name] = plain(item);
  }
  return object;
}

/// The same for a whole desc: enumerations without prefixes, and no counts.
Json plain_desc(const OperatorSpec& spec, const Json& desc) {
  Json result = Json::object();
  for (const FieldSpec& field : spec.fields) {
    if (!desc.contains(field.name) || desc.at(field.name).is_null() || spec.is_count(field.name))
      continue;
    Json value = plain(desc.at(field.name));
    if (field.kind == FieldKind::enumeration && value.is_string())
      value = without(value, field.enum_name + "_");
    const bool is_half =
        field.kind == FieldKind::scalar_union && plain(desc.at(field.type_field)) == "FLOAT16";
    if (is_half) value = half_bits(value);
    result[field.name] = value;
  }
  return result;
}

void check_comes_back(const OperatorSpec& spec, const Json& desc, Form form) {
  const std::string text = CppWriter(form).text_of(spec, desc);
  CAPTURE(text);
  dmlop::Diagnostics findings;
  const auto made = dmlop::description_of_cpp("x.cpp", text, findings);
  for (const auto& finding : findings) FAIL_CHECK(to_text(finding));
  REQUIRE(made);
  // A desc of JSON leaves the size of a buffer out, which is 0 in C++ then.
  for (const auto& warning : made->warnings)
    CHECK(warning.message.find("TotalTensorSizeInBytes is 0") != std::string::npos);
  const Json json = Json::parse(made->text);
  CHECK(json.at("type") == "DML_OPERATOR_" + spec.name);
  REQUIRE(plain_desc(spec, json.at("desc")) == plain_desc(spec, desc));
}

}  // namespace

TEST_CASE("from C++: what DirectML ran, positional, designated and assigned, comes back") {
  std::size_t count = 0;
  for (const std::string& name : dmlop::specified_operators()) {
    const OperatorSpec& spec = *dmlop::find_spec(name);
    const auto descs = golden_descs_of(name);
    CHECK_MESSAGE(!descs.empty(), name);
    for (std::size_t i = 0; i < descs.size(); ++i) {
      const Json* desc = descs[i];
      for (const Form form : {Form::positional, Form::designated, Form::assigned}) {
        // Of operators with many descriptions, each is written in one way.
        if (descs.size() > 6 && i % 3 != static_cast<std::size_t>(form)) continue;
        check_comes_back(spec, *desc, form);
        ++count;
      }
    }
  }
  CHECK(count > 4'000);
}

TEST_CASE("from C++: whatever DirectML fuses into GEMM comes back") {
  const auto fused = dmlop::activations_fused_into("GEMM");
  CHECK(fused.size() == 20);
  for (const auto& activation : fused)
    check_comes_back(*dmlop::find_spec("GEMM"), gemm_fused_with(activation.name), Form::designated);
}

}  // namespace dmlop::test::cpp_sweep_test
