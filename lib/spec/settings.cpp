#include "spec/settings.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "spec/setting_value.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

// No description is so deep.
constexpr std::size_t steps_max = 16;

/// A part of a path: a member's name, or the number of an element.
struct Step {
  std::string name;
  std::optional<std::size_t> element = {};
};

bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::optional<std::size_t> element_number(std::string_view text) {
  constexpr std::size_t digits_max = 4;
  if (text.empty() || text.size() > digits_max) return std::nullopt;
  std::size_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<std::size_t>(c - '0');
  }
  return number;
}

// "A.B", "A[1].B" or "A.1.B". Nothing for other text.
std::optional<std::vector<Step>> steps_of(std::string_view path) {
  std::vector<Step> steps;
  while (true) {
    const auto end = std::find_if_not(path.begin(), path.end(), is_in_name);
    const std::string_view name = path.substr(0, static_cast<std::size_t>(end - path.begin()));
    if (name.empty()) return std::nullopt;
    const auto number = steps.empty() ? std::nullopt : element_number(name);
    steps.push_back(number ? Step{"", number} : Step{std::string(name)});
    path.remove_prefix(name.size());
    while (path.starts_with('[')) {
      const std::size_t close = path.find(']');
      if (close == std::string_view::npos) return std::nullopt;
      const auto element = element_number(path.substr(1, close - 1));
      if (!element) return std::nullopt;
      steps.push_back({"", element});
      path.remove_prefix(close + 1);
    }
    if (steps.size() > steps_max) return std::nullopt;
    if (path.empty()) return steps;
    if (!path.starts_with('.')) return std::nullopt;
    path.remove_prefix(1);
  }
}

json::Member* find_member(json::Value& object, std::string_view name) {
  const auto has_name = [&](const json::Member& member) { return member.name == name; };
  const auto found = std::find_if(object.members.begin(), object.members.end(), has_name);
  return found == object.members.end() ? nullptr : &*found;
}

const OperatorSpec* operator_of(const json::Value& object) {
  const json::Value* type = object.find("Type");
  if (type == nullptr) type = object.find("type");
  if (type == nullptr || type->kind != Kind::string) return nullptr;
  return find_spec(without_operator_prefix(type->text));
}

Form form_of_field(const OperatorSpec* spec, const std::string& name) {
  const FieldSpec* field = spec != nullptr ? spec->find_field(name) : nullptr;
  return field != nullptr ? form_of(field->kind) : Form::any;
}

Form form_of_tensor_part(const std::string& name) {
  if (name == "Type" || name == "DataType") return Form::name;
  if (name == "Flags") return Form::names;
  if (name == "Sizes" || name == "Strides") return Form::numbers;
  if (name == "Broadcast") return Form::flag;
  return name == "Desc" ? Form::tensor : Form::any;
}

/// The form of what stands at a step below a value of another form.
Form form_of_part(Form whole, const json::Value& value, const Step& step) {
  switch (whole) {
    case Form::tensor:
      return form_of_tensor_part(step.name);
    case Form::tensors:
      return step.element ? Form::tensor : Form::any;
    case Form::activations:
      return step.element ? Form::activation : Form::any;
    case Form::activation:
      return step.name == "Type" ? Form::name : form_of_field(operator_of(value), step.name);
    case Form::numbers:
    case Form::number:
    case Form::size_2d:
    case Form::scale_bias:
      return Form::number;
    case Form::any:
    case Form::name:
    case Form::names:
    case Form::flag:
      return Form::any;
  }
  return Form::any;
}

/// Puts one setting into a copy of the root.
class SettingWriter {
 public:
  SettingWriter(json::Document& document, json::Value& root, const Setting& setting,
                Diagnostics& diagnostics)
      : document_(document),
        root_(root),
        setting_(setting),
        argument_("--set " + setting.path),
        diagnostics_(diagnostics) {}

  void write(const std::vector<Step>& steps) {
    json::Value* value = &fields_object();
    Form form = form_of_field(operator_of(root_), steps.front().name);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (i > 0) {
        const Form whole = std::exchange(form, form_of_part(form, *value, steps[i]));
        value = &inner(*value, whole, steps[i]);
      }
      if (i + 1 == steps.size() && setting_.value == "null" && !steps[i].element)
        return leave_out(*value, steps[i].name);  // the reader refuses names that it does not know
      value = part(*value, steps[i]);
      if (value == nullptr) return;
    }
    auto written =
        document_.add_text(argument_, pointer_, json_of(form, setting_.value), diagnostics_);
    if (written) *value = std::move(*written);
  }

 private:
  void leave_out(json::Value& object, const std::string& name) {
    if (std::erase_if(object.members, [&](const auto& member) { return member.name == name; }) > 0)
      return;
    make(object, Kind::object);
    add_member(object, name, pointer_ + "/" + name).is_left_out = true;
  }

  json::Member& add_member(json::Value& object, const std::string& name,
                           const std::string& pointer) {
    json::Value value = *document_.add_text(argument_, pointer, "null", diagnostics_);
    object.members.push_back({name, value.begin, std::move(value)});
    return object.members.back();
  }

  // Where the description has its fields: in its desc, or beside its type.
  json::Value& fields_object() {
    for (const char* name : {"Desc", "desc"}) {
      json::Member* member = find_member(root_, name);
      if (member == nullptr) continue;
      pointer_ = "/" + member->name;
      return member->value;
    }
    return root_;
  }

  // DxDispatch has what a tensor or an activation is in its member Desc.
  json::Value& inner(json::Value& value, Form form, const Step& step) {
    if (form != Form::tensor && form != Form::activation) return value;
    for (const char* name : {"Desc", "desc"}) {
      json::Member* member = find_member(value, name);
      const bool is_beside = step.name == name || step.name == "Type";
      if (member == nullptr || member->value.kind != Kind::object || is_beside) continue;
      pointer_ += "/" + member->name;
      return member->value;
    }
    return value;
  }

  // What the step leads to, made where it is missing; null, with a finding, where it cannot be.
  json::Value* part(json::Value& whole, const Step& step) {
    make(whole, step.element ? Kind::array : Kind::object);
    pointer_ += "/" + (step.element ? std::to_string(*step.element) : step.name);
    if (!step.element) {
      json::Member* member = find_member(whole, step.name);
      if (member == nullptr) member = &add_member(whole, step.name, pointer_);
      member->is_left_out = false;
      return &member->value;
    }
    if (*step.element > whole.items.size()) {
      refuse(setting_.path + " is behind the end: the array has " +
                 counted(whole.items.size(), "element"),
             "set element " + std::to_string(whole.items.size()) + " first");
      return nullptr;
    }
    if (*step.element == whole.items.size())
      whole.items.push_back(*document_.add_text(argument_, pointer_, "null", diagnostics_));
    return &whole.items[*step.element];
  }

  void make(json::Value& value, Kind kind) {
    if (value.kind == kind) return;
    value =
        *document_.add_text(argument_, pointer_, kind == Kind::array ? "[]" : "{}", diagnostics_);
  }

  void refuse(std::string message, std::string suggestion) {
    diagnostics_.push_back({.kind = ErrorKind::usage,
                            .message = std::move(message),
                            .suggestion = std::move(suggestion),
                            .argument = argument_});
  }

  json::Document& document_;
  json::Value& root_;
  const Setting& setting_;
  std::string argument_;
  std::string pointer_;
  Diagnostics& diagnostics_;
};

}  // namespace

std::optional<Setting> parse_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || !steps_of(text.substr(0, equals))) return std::nullopt;
  return Setting{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

json::Document operator_document(std::string argument, const OperatorSpec& spec,
                                 const std::string& desc) {
  Diagnostics none;
  return *json::Document::parse(
      json::Source{.file = "", .argument = std::move(argument)},
      R"({"type": ")" + std::string(operator_prefix) + spec.name + R"(", "desc": )" + desc + "}",
      none);
}

void apply_settings(json::Document& document, const std::vector<Setting>& settings,
                    Diagnostics& diagnostics) {
  if (settings.empty() || document.root().kind != Kind::object) return;
  json::Value root = document.root();
  std::set<std::string> paths;
  for (const Setting& setting : settings) {
    if (!paths.insert(setting.path).second) {
      diagnostics.push_back({.kind = ErrorKind::usage,
                             .message = setting.path + " is set twice",
                             .suggestion = "keep one of them",
                             .argument = "--set " + setting.path});
      continue;
    }
    SettingWriter(document, root, setting, diagnostics).write(*steps_of(setting.path));
  }
  document.replace_root(std::move(root));
}

Alternative how_to_write(const json::Document& document, const json::Value& object,
                         const std::string& name, const std::string& example) {
  Alternative how{.value = example, .remark = ", for example"};
  if (!document.is_of_command_line()) {
    how.kind = Alternative::Kind::add_field;
    how.place = name;
    return how;
  }
  std::string path = document.at(object, "").pointer + "/" + name;
  constexpr std::string_view fields = "/desc/";  // of operator_document()
  path.erase(0, path.starts_with(fields) ? fields.size() : 1);
  std::replace(path.begin(), path.end(), '/', '.');
  how.value = "add --set " + shell_quoted(path + "=" + typed_value(example));
  return how;
}

}  // namespace dmlop
