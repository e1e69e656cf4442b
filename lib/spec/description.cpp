#include "spec/description.hpp"

#include <algorithm>
#include <array>

#include "base/caller.hpp"
#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "spec/field_scope.hpp"
#include "spec/near_operators.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

}  // namespace

class DescriptionReader {
 public:
  DescriptionReader(Description& description, std::shared_ptr<const json::Document> document,
                    std::shared_ptr<const json::Value> root, const std::vector<std::string>& beside,
                    Completeness completeness, Diagnostics& diagnostics)
      : description_(description),
        diagnostics_(diagnostics),
        beside_(beside),
        fields_reader_(document, completeness, diagnostics),
        reader_(&fields_reader_.reader()) {
    description_.document_ = std::move(document);
    description_.root_ = std::move(root);
  }

  bool read(std::optional<FeatureLevel> level) {
    const json::Value& root = description_.root();
    if (root.kind != Kind::object) {
      reader_->expected(root, "the description", "an object with \"type\" and \"desc\"",
                        root.kind == Kind::array
                            ? "save each operator as a file of its own, without the brackets"
                            : "`dmlop ops PADDING --example` prints one to begin with");
      return false;
    }
    refuse_both(root, "type", "Type");
    refuse_both(root, "desc", "Desc");
    if (!read_operator(root)) return false;
    const json::Value* fields = find_either(root, "Desc", "desc");
    const bool inline_fields = fields == nullptr;
    if (inline_fields) fields = &root;
    if (fields->kind != Kind::object) {
      reader_->expected(*fields, "desc", "an object with the operator's fields",
                        "`dmlop ops " + description_.spec->name + " --example` prints one");
      return false;
    }
    description_.fields_object_ = fields;
    const auto meant = read_options(root, inline_fields);
    if (level) description_.feature_level = *level;
    const std::size_t before = diagnostics_.size();
    fields_reader_.read(description_, *fields, meant);
    const auto is_there = [](const Field& field) {
      return field.written != nullptr || field.is_misspelt;
    };
    const auto& read = description_.fields;
    const bool has_none = std::none_of(read.begin(), read.end(), is_there);
    if (!inline_fields || !has_none || diagnostics_.size() == before) return true;
    // That each field is missing follows.
    diagnostics_.erase(diagnostics_.begin() + static_cast<std::ptrdiff_t>(before),
                       diagnostics_.end());
    reader_->missing(root, "desc",
                     "desc holds the fields of DML_OPERATOR_" + description_.spec->name,
                     "`dmlop ops " + description_.spec->name + "` lists them, with an example");
    return false;
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
    if (type == nullptr && refuse_misspelt_type(root)) return false;
    if (type == nullptr) {
      Diagnostic diagnostic = description_.document().at(root, "the field \"type\" is missing");
      diagnostic.value.clear();
      diagnostic.rule = "an op description has the fields type and desc";
      diagnostic.suggestion =
          root.find("jobs") != nullptr ? "this is a list of jobs; `dmlop batch` runs it"
          : root.find("dispatchables") != nullptr
              ? "this is a whole DxDispatch model; save one object of its \"dispatchables\" as a "
                "file of its own"
              : "write \"type\": \"DML_OPERATOR_" + operator_with(root) +
                    "\", or another operator of `dmlop ops`";
      reader_->add(std::move(diagnostic));
      return false;
    }
    if (type->kind != Kind::string) {
      reader_->expected(*type, "type", "the name of an operator",
                        "write \"DML_OPERATOR_PADDING\", or another operator of `dmlop ops`");
      return false;
    }
    const std::string_view name = without_operator_prefix(type->text);
    description_.spec = find_spec(name);
    if (description_.spec == nullptr) refuse_operator(*type, name);
    return description_.spec != nullptr;
  }

  // The operator with the fewest fields that has all those which are written; any other if there is
  // none.
  static std::string operator_with(const json::Value& root) {
    const json::Value* desc = find_either(root, "Desc", "desc");
    const std::vector<json::Member>& written = desc != nullptr ? desc->members : root.members;
    const OperatorSpec* best = nullptr;
    for (const std::string& name : specified_operators()) {
      const OperatorSpec& spec = *find_spec(name);
      const auto has = [&](const json::Member& member) {
        return spec.find_field(member.name) != nullptr || option_for(member.name).has_value();
      };
      const bool is_smaller = best == nullptr || spec.fields.size() < best->fields.size();
      if (is_smaller && std::all_of(written.begin(), written.end(), has)) best = &spec;
    }
    return written.empty() || best == nullptr ? "PADDING" : best->name;
  }

  // A member whose name is near to "type"; false where there is none.
  bool refuse_misspelt_type(const json::Value& root) {
    for (const json::Member& member : root.members) {
      const std::string meant = did_you_mean(member.name, {"type"});
      if (meant.empty()) continue;
      Diagnostic diagnostic = description_.document().at(
          member, "unknown field \"" + printable(member.name) + "\"; " + meant);
      diagnostic.value = printable(member.name);
      diagnostic.rule = "an op description has the fields type and desc";
      reader_->add(std::move(diagnostic));
      return true;
    }
    return false;
  }

  void refuse_operator(const json::Value& type, std::string_view name) {
    Diagnostic diagnostic = description_.document().at(
        type, "type is " + json::describe(type) + ", which is not an operator of DirectML");
    diagnostic.suggestion = operator_suggestion(name);
    diagnostic.rule = "`dmlop ops` lists the operators";
    reader_->add(std::move(diagnostic));
  }

  // Reads what stands beside the operator's fields. Returns the fields that unknown ones were
  // probably meant to be.
  std::vector<std::string> read_options(const json::Value& root, bool inline_fields) {
    std::vector<std::string> known{"type",           "Type",         "desc", "Desc",
                                   "bindings",       "featureLevel", "as",   "dmlCompileType",
                                   "executionFlags", "$schema"};
    known.insert(known.end(), beside_.begin(), beside_.end());
    const std::vector<std::string> fields = description_.spec->field_names();
    std::vector<std::string> meant;
    const std::size_t before = diagnostics_.size();
    if (inline_fields) {
      known.insert(known.end(), fields.begin(), fields.end());
    } else {
      meant = reader_->refuse_unknown(
          description_.fields_object(), fields, "DML_OPERATOR_" + description_.spec->name,
          [&](const json::Member& member) { return only_tensor_for(member); });
    }
    FieldReader::StandsFor stands_for;
    if (inline_fields)
      stands_for = [&](const json::Member& member) { return only_tensor_for(member); };
    const auto meant_here = reader_->refuse_unknown(root, known, "an op description", stands_for);
    for (std::size_t i = before; i < diagnostics_.size(); ++i) name_owner(diagnostics_[i]);
    if (inline_fields) meant = meant_here;
    if (const json::Value* value = root.find("featureLevel")) read_feature_level(*value);
    if (const json::Value* value = root.find("as")) read_judge(*value);
    if (const json::Value* value = root.find("bindings")) read_bindings(*value);
    if (const json::Value* value = root.find("$schema")) reader_->string(*value, "$schema");
    if (const json::Value* value = root.find("dmlCompileType")) {
      reader_->name_of(*value, "dmlCompileType", {"DmlCompileOp", "DmlCompileGraph"}, "");
    }
    if (const json::Value* value = root.find("executionFlags")) read_execution_flags(*value);
    return meant;
  }

  // The only required tensor that is missing, where a tensor stands under a name of no field.
  std::string only_tensor_for(const json::Member& member) const {
    if (member.value.kind != Kind::object) return "";
    const json::Value* inner = find_either(member.value, "Desc", "desc");
    const json::Value& desc =
        inner != nullptr && inner->kind == Kind::object ? *inner : member.value;
    if (desc.find("DataType") == nullptr && desc.find("Sizes") == nullptr) return "";
    std::string only;
    for (const FieldSpec& field : description_.spec->fields) {
      const bool is_missing = field.is_tensor() && !field.is_tensor_array() && !field.optional &&
                              description_.fields_object().find(field.name) == nullptr;
      if (is_missing && !only.empty()) return "";
      if (is_missing) only = field.name;
    }
    return only;
  }

  // An unknown field that stands elsewhere, or that another version of the operator has:
  // FusedActivation of ELEMENT_WISE_ADD1.
  void name_owner(Diagnostic& unknown) const {
    const std::string owner = owner_of(unknown);
    if (owner.empty()) return;
    unknown.suggestion = owner;
    unknown.ideas.clear();
  }

  std::string owner_of(const Diagnostic& unknown) const {
    const std::string& name = unknown.value;
    if (description_.spec->find_field(name) != nullptr) return "write it into desc";
    if (const auto option = option_for(name))
      return unknown.argument.empty() ? "write it beside \"desc\"" : *option;
    for (const std::string& version : versions_of(description_.spec->name)) {
      if (find_spec(version)->find_field(name) != nullptr)
        return "DML_OPERATOR_" + version + " has this field";
    }
    const std::string kin = relative_with(name);
    return kin.empty() ? "" : "DML_OPERATOR_" + kin + " has this field";
  }

  // What does for a setting what a field beside desc does; none for other fields.
  static std::optional<std::string> option_for(std::string_view name) {
    struct Row {
      std::string_view name;
      std::string remedy;
    };
    const std::string other_operator =
        "leave it out, and name the other operator where this description is named";
    const std::string without_desc = "write the field alone, such as StartPadding=0,1";
    const std::array rows{
        Row{"type", other_operator},
        Row{"Type", other_operator},
        Row{"desc", without_desc},
        Row{"Desc", without_desc},
        Row{"bindings", "write -i or -o with the name of the tensor, such as -i InputTensor=x.npy"},
        Row{"featureLevel", "write " + option_text("--feature-level", "5_0") + ", for example"},
        Row{"as", "write " + option_text("--as", name_of(Judge::directml)) + ", for example"},
    };
    const auto found = std::ranges::find(rows, name, &Row::name);
    return found == rows.end() ? std::nullopt : std::optional(found->remedy);
  }

  // The operator whose name has one word more and that has this field: ELEMENT_WISE_CONSTANT_POW
  // for Exponent of ELEMENT_WISE_POW. "" where there is none.
  std::string relative_with(const std::string& field) const {
    const std::string& name = description_.spec->name;
    const std::string last = name.substr(name.rfind('_') + 1);
    for (const std::string& other : specified_operators()) {
      const bool is_kin = other.size() > name.size() && other.ends_with("_" + last) &&
                          other.starts_with(name.substr(0, name.size() - last.size()));
      if (is_kin && find_spec(other)->find_field(field) != nullptr) return other;
    }
    return "";
  }

  // Execution flags change how DirectML computes, not the result, so known names are accepted and
  // have no effect.
  void read_execution_flags(const json::Value& value) {
    reader_->names_of(value, "executionFlags",
                      {"NONE", "ALLOW_HALF_PRECISION_COMPUTATION", "DISABLE_META_COMMANDS",
                       "DESCRIPTORS_VOLATILE"},
                      "DML_EXECUTION_FLAG_");
  }

  void read_feature_level(const json::Value& value) {
    const auto level = value.kind == Kind::string ? feature_level_named(value.text) : std::nullopt;
    if (!level) {
      reader_->expected(value, "featureLevel", "a feature level from \"1_0\" to \"6_4\"",
                        "write \"" + to_text(newest_feature_level) +
                            "\", the newest, which is also meant where it is left out");
      return;
    }
    description_.feature_level = *level;
  }

  void read_judge(const json::Value& value) {
    const auto judge = value.kind == Kind::string ? judge_named(value.text) : std::nullopt;
    if (judge) {
      description_.judge = *judge;
    } else {
      reader_->name_of(value, "as", judge_names(), "");
    }
  }

  void read_bindings(const json::Value& object) {
    if (object.kind != Kind::object) {
      reader_->expected(object, "bindings", "an object such as {\"InputTensor\": \"x.npy\"}",
                        "write the names of tensors with the paths of their files in braces");
      return;
    }
    std::vector<std::string> tensors;
    for (const FieldSpec& field : description_.spec->fields) {
      if (field.is_tensor()) tensors.push_back(field.name);
    }
    const auto meant = reader_->refuse_unknown(object, tensors, "bindings");
    for (const std::string& tensor : tensors) {
      if (const json::Value* value = object.find(tensor)) {
        read_binding(*description_.spec->find_field(tensor), *value);
      } else if (std::find(meant.begin(), meant.end(), tensor) != meant.end()) {
        description_.bindings.push_back({.tensor = tensor, .path = "", .written = &object});
      }
    }
  }

  // Reads one path, or a list of paths for an array of tensors.
  void read_binding(const FieldSpec& field, const json::Value& value) {
    const std::string name = "bindings." + field.name;
    if (!field.is_tensor_array()) {
      add_binding(field, value, name, std::nullopt);
      return;
    }
    const auto takes = [](const json::Value& list) {
      const auto is_path = [](const json::Value& item) { return item.kind == Kind::string; };
      return list.kind == Kind::array && std::all_of(list.items.begin(), list.items.end(), is_path);
    };
    if (!reader_->is_list(
            value, name,
            {"an array of paths of .npy files", Form::names, R"(["0.npy", "1.npy"])", takes}))
      return;
    for (std::size_t j = 0; j < value.items.size(); ++j) {
      add_binding(field, value.items[j], name + "[" + std::to_string(j) + "]", j);
    }
  }

  // One file; without a path where it has a finding.
  void add_binding(const FieldSpec& field, const json::Value& value, const std::string& name,
                   std::optional<std::size_t> element) {
    Binding binding{.tensor = field.name, .path = "", .element = element, .written = &value};
    if (value.kind == Kind::object && field.is_input()) {
      binding.random = read_random_numbers(*reader_, value, name);
      description_.bindings.push_back(std::move(binding));
      return;
    }
    binding.path = read_path(value, name);
    description_.bindings.push_back(std::move(binding));
  }

  std::string read_path(const json::Value& value, const std::string& name) {
    const auto path = reader_->string(value, name);
    const bool usable = path && !path->empty() && path->find('\0') == std::string::npos;
    if (path && !usable)
      reader_->expected(value, name, "the path of a .npy file", "write \"x.npy\", for example");
    return usable ? *path : "";
  }

  Description& description_;
  Diagnostics& diagnostics_;
  const std::vector<std::string>& beside_;
  FieldsReader fields_reader_;
  FieldReader* reader_;
};

Tolerance Description::default_tolerance(DataType type) const {
  Tolerance tolerance = spec->default_tolerance(type);
  if (!spec->tolerance_terms || !tolerance.atol) return tolerance;
  if (const auto terms = spec->tolerance_terms->value(FieldScope(*this)))
    tolerance.atol = std::max(*tolerance.atol, terms->as_double() * tolerance_of_term);
  return tolerance;
}

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

}  // namespace dmlop
