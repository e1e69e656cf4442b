#include "spec/meant_values.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "json/meant_number.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

// A longer string is no value that somebody quoted.
constexpr std::size_t longest_text = 200;

class Meanings {
 public:
  Meanings(const json::Document& document, Form form) : document_(document), form_(form) {}

  std::vector<std::string> of(const json::Value& value) {
    add_meanings(value);
    return std::move(found_);
  }

 private:
  void add_meanings(const json::Value& value) {
    switch (value.kind) {
      case Kind::string:
        return add_text(value.text);
      case Kind::number:
        return add_number(value);
      case Kind::boolean:
        return form_ == Form::number ? add(value.boolean ? "1" : "0") : void();
      case Kind::array:
        return add_parts(value);
      case Kind::object:
        return add_members(value);
      case Kind::null:
        return;
    }
  }

  void add(std::string json) { found_.push_back(std::move(json)); }

  std::string written(const json::Value& value) const {
    return std::string(document_.source(value));
  }

  // A string is read as --set reads it, then without quotes and brackets of its own.
  void add_text(std::string_view text) {
    if (text.size() > longest_text) return;
    const std::string_view plain = trimmed(text, " \t\n'\"`()[]{}");
    add(json_of(form_, plain));
    if (form_ == Form::number) {
      const std::string word = nearest_name(plain, {"inf", "-inf", "nan"});
      if (!word.empty()) add('"' + word + '"');
      if (auto number = json::meant_number(plain)) add(std::move(*number));
    }
    if (form_ == Form::numbers) add_separated(plain);
  }

  // "1 1 4 4" and "1x1x4x4".
  void add_separated(std::string_view text) {
    constexpr std::string_view separators = " ;x*/|";
    std::string list;
    for (const char c : text) {
      const bool separates = separators.find(c) != separators.npos;
      if (!separates) {
        list += c;
      } else if (!list.empty() && list.back() != ',') {
        list += ',';
      }
    }
    add(json_of(form_, list));
  }

  void add_number(const json::Value& value) {
    const auto number = json::nearest_double(value);
    if (form_ == Form::flag && number) add(*number == 0 ? "false" : "true");
    if (form_ == Form::numbers) add("[" + value.text + "]");
    if (form_ == Form::name) add('"' + value.text + '"');
  }

  void add_one(const json::Value& part) {
    add(written(part));
    add_meanings(part);
  }

  // The only part, or all of them for a pair.
  void add_parts(const json::Value& list) {
    if (list.items.size() == 1) add_one(list.items.front());
    std::vector<std::string> parts;
    for (const json::Value& item : list.items) parts.push_back(written(item));
    if (form_ == Form::size_2d || form_ == Form::scale_bias) add(json_of(form_, join(parts, ",")));
    if (form_ == Form::tensor) add(json_of(form_, "[" + join(parts, ",") + "]"));
  }

  // The only member, or all of them for a list.
  void add_members(const json::Value& object) {
    const bool is_list = form_ == Form::tensors || form_ == Form::activations;
    if (is_list) return add("[" + written(object) + "]");
    if (object.members.size() == 1) add_one(object.members.front().value);
    std::vector<std::string> parts;
    for (const json::Member& member : object.members) parts.push_back(written(member.value));
    if (form_ == Form::numbers && !parts.empty()) add("[" + join(parts) + "]");
  }

  const json::Document& document_;
  Form form_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> meant_by(const json::Document& document, const json::Value& value,
                                  Form form) {
  return Meanings(document, form).of(value);
}

namespace {

// The text in small letters, without separators.
std::string bare(std::string_view text) {
  std::string letters = lower_case(std::string(text));
  std::erase_if(letters, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return letters;
}

// The name that a text is but for capitals and separators, or else the only one that it begins; ""
// where there is none.
std::string spelled_out(std::string_view text, const std::vector<std::string>& names) {
  const std::string wanted = bare(text);
  if (wanted.empty()) return "";
  std::vector<std::string> found;
  for (const std::string& name : names) {
    if (bare(name) == wanted) return name;
    if (bare(name).starts_with(wanted)) found.push_back(name);
  }
  return found.size() == 1 ? found.front() : "";
}

}  // namespace

std::string meant_name(const json::Value& value, const std::vector<std::string>& names,
                       const std::string& prefix) {
  const bool is_flag = names.size() == 2 && names.front() == "NONE";
  if (value.kind == json::Value::Kind::boolean && is_flag) return names[value.boolean ? 1 : 0];
  if (value.kind != json::Value::Kind::string) return "";
  std::string_view text = value.text;
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  const auto near = [&](const std::vector<std::string>& list) {
    const std::string name = spelled_out(text, list);
    return name.empty() ? nearest_name(text, list) : name;
  };
  if (const std::string name = near(names); !name.empty()) return name;
  // "leakyrelu" is far from ACTIVATION_LEAKY_RELU, but near to its end.
  constexpr std::string_view activation = "ACTIVATION_";
  std::vector<std::string> ends;
  for (const std::string& name : names) {
    if (name.starts_with(activation)) ends.push_back(name.substr(activation.size()));
  }
  const std::string end = near(ends);
  return end.empty() ? "" : std::string(activation) + end;
}

}  // namespace dmlop
