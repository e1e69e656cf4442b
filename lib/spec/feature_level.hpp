// DirectML's feature levels, 1_0 to 6_4.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace dmlop {

struct FeatureLevel {
  int major = 1;
  int minor = 0;
  auto operator<=>(const FeatureLevel&) const = default;
};

inline constexpr FeatureLevel newest_feature_level{6, 4};

/// "5_0".
std::string to_text(FeatureLevel level);

/// Reads "5_0", "5.0" or "DML_FEATURE_LEVEL_5_0"; nothing unless it is a level DirectML has.
std::optional<FeatureLevel> feature_level_named(std::string_view name);

}  // namespace dmlop
