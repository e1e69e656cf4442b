// What a wrong word probably means: the one place for misspellings, abbreviations and the words of
// NumPy, PyTorch and ONNX for what DirectML calls otherwise.
#include <array>
#include <numeric>

#include "base/suggestion.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

// Longer names are cut: a misspelt name is never this long, and the cost is quadratic.
constexpr std::size_t longest_compared = 128;

// Shorter words are the beginning of too many names.
constexpr std::size_t shortest_part = 3;

struct OtherWord {
  std::string_view word;
  std::string_view name;  // of DirectML
};

constexpr std::array other_words{
    OtherWord{"dtype", "DataType"},
    OtherWord{"shape", "Sizes"},
    OtherWord{"size", "Sizes"},
    OtherWord{"dims", "Sizes"},
    OtherWord{"dimensions", "Sizes"},
    OtherWord{"ndim", "DimensionCount"},
    OtherWord{"rank", "DimensionCount"},
    OtherWord{"stride", "Strides"},
    OtherWord{"op", "type"},
    OtherWord{"operator", "type"},
    OtherWord{"inputs", "bindings"},
    OtherWord{"outputs", "bindings"},
    OtherWord{"files", "bindings"},
    OtherWord{"level", "featureLevel"},
    OtherWord{"fields", "desc"},
    OtherWord{"attributes", "desc"},
    OtherWord{"dim", "Axis"},
    OtherWord{"dim", "Axes"},
    OtherWord{"axes", "Axis"},
    OtherWord{"axis", "Axes"},
    OtherWord{"kernel_size", "WindowSize"},
    OtherWord{"kernel_shape", "WindowSize"},
    OtherWord{"mode", "PaddingMode"},
    OtherWord{"mode", "Mode"},
    OtherWord{"value", "PaddingValue"},
    OtherWord{"constant_values", "PaddingValue"},
    OtherWord{"float", "FLOAT32"},
    OtherWord{"single", "FLOAT32"},
    OtherWord{"f32", "FLOAT32"},
    OtherWord{"fp32", "FLOAT32"},
    OtherWord{"<f4", "FLOAT32"},
    OtherWord{"half", "FLOAT16"},
    OtherWord{"f16", "FLOAT16"},
    OtherWord{"fp16", "FLOAT16"},
    OtherWord{"<f2", "FLOAT16"},
    OtherWord{"double", "FLOAT64"},
    OtherWord{"f64", "FLOAT64"},
    OtherWord{"fp64", "FLOAT64"},
    OtherWord{"<f8", "FLOAT64"},
    OtherWord{"int", "INT32"},
    OtherWord{"i32", "INT32"},
    OtherWord{"long", "INT64"},
    OtherWord{"i64", "INT64"},
    OtherWord{"short", "INT16"},
    OtherWord{"i16", "INT16"},
    OtherWord{"i8", "INT8"},
    OtherWord{"char", "INT8"},
    OtherWord{"byte", "UINT8"},
    OtherWord{"u8", "UINT8"},
    OtherWord{"bool", "UINT8"},
    OtherWord{"boolean", "UINT8"},
    OtherWord{"uint", "UINT32"},
    OtherWord{"u32", "UINT32"},
    OtherWord{"u64", "UINT64"},
    OtherWord{"u16", "UINT16"},
    OtherWord{"ascending", "INCREASING"},
    OtherWord{"descending", "DECREASING"},
    OtherWord{"reverse", "BACKWARD"},
    OtherWord{"reversed", "BACKWARD"},
    OtherWord{"infinity", "inf"},
    OtherWord{"+inf", "inf"},
    OtherWord{"+infinity", "inf"},
    OtherWord{"-infinity", "-inf"},
    OtherWord{"mean", "AVERAGE"},
    OtherWord{"avg", "AVERAGE"},
    OtherWord{"prod", "MULTIPLY"},
    OtherWord{"product", "MULTIPLY"},
    OtherWord{"replicate", "EDGE"},
    OtherWord{"nearest", "NEAREST_NEIGHBOR"},
    OtherWord{"bilinear", "LINEAR"},
    OtherWord{"zeros", "CONSTANT"},
    OtherWord{"circular", "WRAP"},
    OtherWord{"periodic", "WRAP"},
};

bool equal_in_any_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && edit_distance(a, b) == 0;
}

std::string other_word_for(std::string_view word, const std::vector<std::string>& candidates) {
  for (const OtherWord& other : other_words) {
    if (!equal_in_any_case(word, other.word)) continue;
    const auto found = std::find(candidates.begin(), candidates.end(), other.name);
    if (found != candidates.end()) return *found;
  }
  return "";
}

// RELU is a word of ACTIVATION_RELU, REFLECT the beginning of REFLECTION.
bool is_part_of(std::string_view word, std::string_view candidate) {
  if (word.size() < shortest_part || word.size() >= candidate.size()) return false;
  if (equal_in_any_case(word, candidate.substr(0, word.size()))) return true;
  const std::size_t end = candidate.size() - word.size();
  const bool is_last_word = candidate[end - 1] == '_' || candidate[end - 1] == '-';
  return is_last_word && equal_in_any_case(word, candidate.substr(end));
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// FLOAT32 ends DML_FLOAT32, torch.float32 and DML_TENSOR_DATA_TYPE::FLOAT32.
bool is_end_of(std::string_view candidate, std::string_view word) {
  if (candidate.size() < shortest_part || candidate.size() >= word.size()) return false;
  const std::size_t begin = word.size() - candidate.size();
  return !is_letter_or_digit(word[begin - 1]) && equal_in_any_case(candidate, word.substr(begin));
}

// Without quotes, blanks and brackets around it.
std::string_view bare(std::string_view word) {
  while (!word.empty() && !is_letter_or_digit(word.front())) word.remove_prefix(1);
  while (!word.empty() && !is_letter_or_digit(word.back())) word.remove_suffix(1);
  return word;
}

// The first letter is rarely the wrong one.
bool begins_alike(std::string_view word, std::string_view candidate) {
  return !word.empty() && !candidate.empty() &&
         equal_in_any_case(word.substr(0, 1), candidate.substr(0, 1));
}

// So many letters may be wrong in a word of this length.
std::size_t misspelling_limit(std::size_t length) {
  return length <= 1 ? 0 : length <= 3 ? 1 : std::max<std::size_t>(2, length / 3);
}

}  // namespace

// Two letters that changed places are one mistake, not two.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::string from = lower_case(std::string(a.substr(0, longest_compared)));
  const std::string to = lower_case(std::string(b.substr(0, longest_compared)));
  std::vector<std::size_t> before(to.size() + 1), above(to.size() + 1), row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = above[j] + (from[i] == to[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, above[j + 1] + 1, row[j] + 1});
      const bool is_swap = i > 0 && j > 0 && from[i] == to[j - 1] && from[i - 1] == to[j];
      if (is_swap) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row[to.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::size_t best = misspelling_limit(name.size()) + 1;
  std::string nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance > misspelling_limit(std::min(name.size(), candidate.size()))) continue;
    const bool is_as_near = distance == best && begins_alike(name, candidate) && !nearest.empty() &&
                            !begins_alike(name, nearest);
    if ((distance < best || is_as_near) && distance < candidate.size()) {
      best = distance;
      nearest = candidate;
    }
  }
  if (best == 0) return nearest;
  // "A" is short for ATensor, and "input" for InputTensor.
  const std::string in_full = std::string(name.substr(0, longest_compared)) + "Tensor";
  for (const std::string& candidate : candidates) {
    if (equal_in_any_case(candidate, in_full)) return candidate;
  }
  if (const std::string meant = other_word_for(name, candidates); !meant.empty()) return meant;
  if (!nearest.empty()) return nearest;
  for (const std::string& candidate : candidates) {
    const bool is_shorter = nearest.empty() || candidate.size() < nearest.size();
    if (is_shorter && is_part_of(name, candidate)) nearest = candidate;
  }
  if (!nearest.empty()) return nearest;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > nearest.size() && is_end_of(candidate, name)) nearest = candidate;
  }
  const std::string_view word = bare(name);
  const bool has_more = nearest.empty() && !word.empty() && word.size() < name.size();
  return has_more ? nearest_name(word, candidates) : nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  return nearest.empty() ? "" : "did you mean \"" + nearest + "\"?";
}

}  // namespace dmlop
