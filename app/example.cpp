#include "example.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace dmlop::app {
namespace {

constexpr std::size_t line_length = 100;

// The words as // comments below each other.
std::string comment(std::string_view words, std::size_t indentation) {
  const std::string begin = std::string(indentation, ' ') + "//";
  std::string text, line = begin;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (line.size() + 1 + word.size() > line_length && line.size() > begin.size())
      text += std::exchange(line, begin) + "\n";
    line.append(" ").append(word);
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return text + line + "\n";
}

std::string field_comment(const FieldSpec& field, std::size_t indentation) {
  std::string text = comment(field.text, indentation);
  if (field.kind == FieldKind::enumeration) {
    std::vector<std::string> names;
    for (const EnumValue& value : enum_values(field.enum_name)) names.push_back(value.name);
    text += comment("One of " + join(names) + ".", indentation);
  }
  if (field.optional_when)
    text += comment("May be left out where " + field.optional_words() + ".", indentation);
  return text;
}

}  // namespace

std::string commented_example(const OperatorSpec& spec) {
  constexpr std::size_t inner = 4;
  const auto values = nlohmann::ordered_json::parse(spec.example);
  std::vector<std::string> fields;
  std::string left_out;
  for (const FieldSpec& field : spec.fields) {
    if (!values.contains(field.name)) {
      left_out += comment(field.name + ": " + field.text, inner);
      continue;
    }
    fields.push_back(field_comment(field, inner) + std::string(inner, ' ') + "\"" + field.name +
                     "\": " + example_value(spec, field.name));
  }
  if (!left_out.empty()) left_out = comment("Left out here:", inner) + left_out;
  return comment(spec.name + ": " + spec.summary, 0) + comment(spec.source, 0) +
         comment(
             "A tensor may be left out where a .npy file or a rule gives its type and sizes; "
             "`dmlop ops " +
                 spec.name + "` shows the rules.",
             0) +
         "{\n  \"type\": \"DML_OPERATOR_" + spec.name + "\",\n  \"desc\": {\n" +
         join(fields, ",\n") + "\n" + left_out + "  }\n}\n";
}

}  // namespace dmlop::app
