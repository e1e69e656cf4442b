#include "spec/near_operators.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "spec/facts.hpp"

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

}  // namespace dmlop
