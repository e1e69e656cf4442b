#include "spec/feature_level.hpp"

#include <algorithm>

namespace dmlop {

std::string to_text(FeatureLevel level) {
  return std::to_string(level.major) + "_" + std::to_string(level.minor);
}

std::optional<FeatureLevel> feature_level_named(std::string_view name) {
  constexpr std::string_view prefix = "DML_FEATURE_LEVEL_";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (name.size() != 3 || (name[1] != '_' && name[1] != '.')) return std::nullopt;
  const FeatureLevel level{name[0] - '0', name[2] - '0'};
  const auto found = std::find(feature_levels.begin(), feature_levels.end(), level);
  return found != feature_levels.end() ? std::optional(level) : std::nullopt;
}

}  // namespace dmlop
