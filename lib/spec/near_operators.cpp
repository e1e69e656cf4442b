#include "spec/near_operators.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "spec/facts.hpp"
#include "spec/spec.hpp"

namespace dmlop {
namespace {

constexpr std::size_t names_listed = 4;

std::string without_version(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  return std::string(name);
}

// The words of a name in capitals: MaxPool and max_pool become MAX_POOL.
std::string in_capitals(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    const bool follows_small = !text.empty() && text.back() >= 'a' && text.back() <= 'z';
    if (is_capital && follows_small) text += '_';
    text += c;
  }
  return upper_case(text);
}

// Turns the name of a struct into the operator's: DML_GEMM_OPERATOR_DESC becomes GEMM.
std::string without_affixes(std::string_view name) {
  for (const std::string_view prefix : {"DML_OPERATOR_", "DML_"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  constexpr std::string_view suffix = "_OPERATOR_DESC";
  if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return std::string(name);
}

}  // namespace

std::vector<std::string> near_operators(std::string_view name) {
  const std::string wanted = without_affixes(in_capitals(name));
  std::vector<std::string> found;
  const auto add = [&](const std::string& candidate) {
    const bool is_new = std::find(found.begin(), found.end(), candidate) == found.end();
    if (is_new && found.size() < names_listed) found.push_back(candidate);
  };
  const auto& known = known_operators();
  const std::string nearest = nearest_name(wanted, known);
  for (const std::string& candidate : known) {
    if (candidate == wanted || "ELEMENT_WISE_" + wanted == candidate ||
        "ACTIVATION_" + wanted == candidate)
      add(candidate);
  }
  for (const std::string& candidate : known) {
    const std::string stem = without_version(nearest.empty() ? wanted : nearest);
    if (!stem.empty() && without_version(candidate) == stem) add(candidate);
  }
  if (!nearest.empty()) add(nearest);
  if (wanted.size() < 3) return found;
  for (const std::string& candidate : known) {
    if (candidate.find(wanted) != std::string::npos) add(candidate);
  }
  return found;
}

namespace {

// Names of ONNX, PyTorch and NumPy that have no word in common with DirectML's.
struct OtherName {
  std::string_view name;
  std::string_view means;
};

constexpr std::array other_names{
    OtherName{"MATMUL", "GEMM"},
    OtherName{"CONCAT", "JOIN"},
    OtherName{"CONCATENATE", "JOIN"},
    OtherName{"STACK", "JOIN"},
    OtherName{"EXPAND", "ELEMENT_WISE_IDENTITY"},
    OtherName{"TRANSPOSE", "ELEMENT_WISE_IDENTITY"},
    OtherName{"CLAMP", "ELEMENT_WISE_CLIP"},
    OtherName{"FLIP", "REVERSE_SUBSEQUENCES"},
    OtherName{"WHERE", "ELEMENT_WISE_IF"},
    OtherName{"LAYER_NORM", "MEAN_VARIANCE_NORMALIZATION1"},
    OtherName{"INTERPOLATE", "RESAMPLE2"},
    OtherName{"RESIZE", "RESAMPLE2"},
    OtherName{"MEAN", "REDUCE"},
    OtherName{"CUMSUM", "CUMULATIVE_SUMMATION"},
    OtherName{"CUMPROD", "CUMULATIVE_PRODUCT"},
    OtherName{"CONV", "CONVOLUTION"},
    OtherName{"CONV2D", "CONVOLUTION"},
};

// "\"PADDING\" with \"PaddingMode\": \"REFLECTION\"", by a value that the name is or begins.
std::string operator_with_value(const std::string& wanted) {
  if (wanted.size() < 3) return "";
  for (const std::string& name : specified_operators()) {
    for (const FieldSpec& field : find_spec(name)->fields) {
      if (field.kind != FieldKind::enumeration || field.enum_name == "DML_TENSOR_DATA_TYPE")
        continue;
      for (const EnumValue& value : enum_values(field.enum_name)) {
        if (value.name.starts_with(wanted))
          return "\"" + name + "\" with \"" + field.name + "\": \"" + value.name + "\"";
      }
    }
  }
  return "";
}

}  // namespace

std::string operator_suggestion(std::string_view name) {
  const std::string wanted = without_affixes(in_capitals(name));
  std::string joined = wanted;  // MatMul is MATMUL
  std::erase(joined, '_');
  for (const OtherName& other : other_names) {
    if (other.name == wanted || other.name == joined)
      return "did you mean \"" + std::string(other.means) + "\"?";
  }
  std::vector<std::string> quoted;
  for (const std::string& near : near_operators(name)) quoted.push_back("\"" + near + "\"");
  std::string meant = join(quoted, " or ");
  if (quoted.empty()) meant = operator_with_value(wanted);
  return meant.empty() ? "" : "did you mean " + meant + "?";
}

std::vector<std::string> versions_of(std::string_view name) {
  std::vector<std::string> versions;
  for (const std::string& other : specified_operators()) {
    if (other != name && without_version(other) == without_version(name)) versions.push_back(other);
  }
  return versions;
}

}  // namespace dmlop
