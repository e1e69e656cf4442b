// The operators of a model. A dispatchable is translated into an op description, which the
// operator's spec reads and checks. This file handles only what DxDispatch reads differently.
#include <algorithm>
#include <charconv>

#include "model/reading.hpp"
#include "ops/operator.hpp"
#include "spec/tensor_reader.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

/// The name of a dispatchable that is not an operator but of one of DxDispatch's other kinds; ""
/// for operators.
std::string other_kind(const std::string& type) {
  const std::string name = lower_case(type);
  if (name == "hlsl") return "an HLSL shader";
  if (name == "onnx") return "an ONNX model";
  return "";
}

// Returns nothing unless the value is a small non-negative integer.
std::optional<std::size_t> count_of(const json::Value* value) {
  if (value == nullptr || value->kind != Kind::number) return std::nullopt;
  std::size_t count = 0;
  const char* end = value->text.data() + value->text.size();
  const auto [stop, error] = std::from_chars(value->text.data(), end, count);
  return error == std::errc{} && stop == end ? std::optional(count) : std::nullopt;
}

json::Value object_like(const json::Value& original) {
  json::Value object;
  object.kind = Kind::object;
  object.begin = original.begin;
  object.end = original.end;
  return object;
}

/// Copies JSON values, with their places, and keeps only what DxDispatch reads.
class Translator {
 public:
  Translator(ModelReading& reading, const OperatorSpec& spec) : reading_(reading), spec_(spec) {}

  /// Appends the operator's fields of `from` to `to`. `beside` are other members that it may have.
  void copy_fields(const json::Value& from, json::Value& to,
                   const std::vector<std::string>& beside) {
    std::vector<std::string> known = spec_.field_names();
    known.insert(known.end(), beside.begin(), beside.end());
    reading_.warnings.refuse_unknown(from, known, std::string(operator_prefix) + spec_.name);
    for (const FieldSpec& field : spec_.fields) {
      const json::Member* member = find_member(from, field.name);
      if (member == nullptr) continue;
      json::Member copy{member->name, member->begin,
                        field.is_tensor() ? tensor(member->value, field.name) : member->value};
      if (!field.count_field.empty())
        cut(copy.value, from.find(field.count_field), field.name, field.count_field);
      note_unknown_enum_value(field, copy.value);
      to.members.push_back(std::move(copy));
    }
  }

  static const json::Member* find_member(const json::Value& object, std::string_view name) {
    const auto is_named = [&](const json::Member& member) { return member.name == name; };
    const auto found = std::find_if(object.members.begin(), object.members.end(), is_named);
    return found == object.members.end() ? nullptr : &*found;
  }

 private:
  json::Value tensor(const json::Value& value, const std::string& name) {
    if (value.kind != Kind::object) return value;
    const json::Value* nested = value.find("Desc");
    json::Value copy = object_like(value);
    if (nested == nullptr || nested->kind != Kind::object) {
      copy_tensor(value, copy, name);
      return copy;
    }
    reading_.warnings.refuse_unknown(value, {"Type", "Desc"}, "a tensor desc with Desc");
    for (const char* member_name : {"Type", "Desc"}) {
      if (const json::Member* member = find_member(value, member_name))
        copy.members.push_back(*member);
    }
    json::Value& desc = copy.members.back().value;
    desc = object_like(*nested);
    copy_tensor(*nested, desc, name);
    return copy;
  }

  void copy_tensor(const json::Value& from, json::Value& to, const std::string& name) {
    std::vector<std::string> known(tensor_desc_members.begin(), tensor_desc_members.end());
    std::erase(known, "Broadcast");  // is unknown to DxDispatch
    reading_.warnings.refuse_unknown(from, known, "a tensor desc");
    for (const std::string& member_name : known) {
      const json::Member* member = find_member(from, member_name);
      if (member == nullptr) continue;
      to.members.push_back(*member);
      if (member_name == "Sizes" || member_name == "Strides") {
        cut(to.members.back().value, from.find("DimensionCount"), name + "." + member_name,
            name + ".DimensionCount");
      }
    }
  }

  // DirectML reads only as many elements of an array as its count says.
  void cut(json::Value& array, const json::Value* count, const std::string& name,
           const std::string& count_name) {
    const auto number = count_of(count);
    if (!number || *number == 0 || *number >= array.items.size()) return;
    reading_.warn(array, name + " has " + counted(array.items.size(), "value") + ", of which " +
                             count_name + " takes the first " + std::to_string(*number));
    array.items.resize(*number);
  }

  // DxDispatch does not know values that are newer than it.
  void note_unknown_enum_value(const FieldSpec& field, const json::Value& value) {
    if (field.enum_name != "DML_PADDING_MODE" || !value.text.ends_with("WRAP")) return;
    reading_.warn(value, field.name + " WRAP is unknown to DxDispatch itself");
  }

  ModelReading& reading_;
  const OperatorSpec& spec_;
};

class DispatchableReader {
 public:
  DispatchableReader(ModelReading& reading, const json::Member& member)
      : reading_(reading),
        name_(printable(member.name)),
        written_(member.value),
        dispatchable_{member.name, std::nullopt} {}

  Dispatchable read() {
    if (written_.kind != Kind::object) {
      reading_.reader.expected(written_, name_, "an object with type and desc");
      return std::move(dispatchable_);
    }
    const auto type = required_string(reading_, written_, name_, "type", "DML_OPERATOR_PADDING");
    if (!type) return std::move(dispatchable_);
    if (const std::string kind = other_kind(*type); !kind.empty()) {
      reading_.add(*written_.find("type"), name_ + " is " + kind + ", which cannot be run here",
                   "of a model's dispatchables only DirectML operators are run", "",
                   ErrorKind::unavailable);
      return std::move(dispatchable_);
    }
    read_operator();
    if (dispatchable_.description) read_owned();
    return std::move(dispatchable_);
  }

 private:
  // Like DxDispatch, prefers `Type` to `type` and `Desc` to `desc`.
  const json::Member* first_of(const char* name, const char* other) const {
    const json::Member* member = Translator::find_member(written_, name);
    return member != nullptr ? member : Translator::find_member(written_, other);
  }

  void read_operator() {
    json::Value root = object_like(written_);
    json::Member type = *first_of("Type", "type");
    const std::string_view name = without_operator_prefix(type.value.text);
    root.members.push_back(type);
    if (const OperatorSpec* spec = find_spec(name)) copy_operator(root, *spec);
    auto shared = std::make_shared<const json::Value>(std::move(root));
    // Each dispatchable gets its own findings, because checks search all earlier ones. Otherwise
    // the time would be quadratic in the number of dispatchables.
    Diagnostics findings, warnings;
    dispatchable_.description = read_part(
        reading_.shared_document, std::move(shared), reading_.request.checking.feature_level,
        reading_.request.checking.judge.value_or(Judge::directml), findings, warnings);
    for (Diagnostic& finding : findings) reading_.diagnostics.push_back(std::move(finding));
    for (Diagnostic& warning : warnings) reading_.warnings.add(std::move(warning));
  }

  void copy_operator(json::Value& root, const OperatorSpec& spec) {
    const std::vector<std::string> beside{"type",           "Type",           "desc",    "Desc",
                                          "dmlCompileType", "executionFlags", "bindings"};
    Translator translator(reading_, spec);
    if (const json::Member* desc = first_of("Desc", "desc")) {
      reading_.warnings.refuse_unknown(written_, beside, "a dispatchable");
      root.members.push_back({desc->name, desc->begin, desc->value});
      if (desc->value.kind == Kind::object) {
        json::Value& fields = root.members.back().value;
        fields = object_like(desc->value);
        translator.copy_fields(desc->value, fields, {});
      }
    } else {
      translator.copy_fields(written_, root, beside);
    }
    for (const char* name : {"dmlCompileType", "executionFlags"}) {
      if (const json::Member* member = Translator::find_member(written_, name))
        root.members.push_back(*member);
    }
  }

  void read_owned() {
    const json::Value* bindings = written_.find("bindings");
    const json::Value none = object_like(written_);
    // A value that is not an object is ignored.
    const bool has_bindings = bindings != nullptr && bindings->kind == Kind::object;
    dispatchable_.owned =
        read_bindings(reading_, has_bindings ? *bindings : none, dispatchable_, true);
  }

  ModelReading& reading_;
  std::string name_;
  const json::Value& written_;
  Dispatchable dispatchable_;
};

}  // namespace

std::optional<Description> read_part(std::shared_ptr<const json::Document> document,
                                     std::shared_ptr<const json::Value> root,
                                     std::optional<FeatureLevel> level, Judge judge,
                                     Diagnostics& diagnostics, Diagnostics& warnings) {
  const std::size_t before = diagnostics.size();
  auto description = read_description(std::move(document), std::move(root), {}, level, diagnostics,
                                      Completeness::complete);
  if (description) {
    description->judge = judge;
    check_description(*description, diagnostics);
    warnings = std::exchange(description->warnings, {});
  }
  // A model cannot state a feature level, only the command line can.
  for (std::size_t i = before; i < diagnostics.size(); ++i)
    diagnostics[i].suggestion.prefer_others_to(Alternative::Kind::state_level);
  if (diagnostics.size() > before) description.reset();
  return description;
}

void read_dispatchable(ModelReading& reading, const json::Member& member) {
  const json::Value* type = member.value.find("type");
  const bool is_graph = type != nullptr && lower_case(type->text) == "dmlserializedgraph";
  if (is_graph && reading.request.read_graph) return read_graph_dispatchable(reading, member);
  const Dispatchable& dispatchable =
      reading.model.dispatchables.emplace_back(DispatchableReader(reading, member).read());
  reading.dispatchable_names.try_emplace(dispatchable.name, reading.model.dispatchables.size() - 1);
}

std::vector<std::string> operators_of(const Model& model) {
  std::vector<std::string> names;
  for (const Dispatchable& dispatchable : model.dispatchables) {
    const std::string& name = dispatchable.description->spec->name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace dmlop
