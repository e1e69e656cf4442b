// DirectML's feature levels, 1_0 to 6_4.
#pragma once

#include <array>
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

/// Every level that DirectML has, oldest first.
inline constexpr std::array<FeatureLevel, 15> feature_levels{{{1, 0},
                                                              {2, 0},
                                                              {2, 1},
                                                              {3, 0},
                                                              {3, 1},
                                                              {4, 0},
                                                              {4, 1},
                                                              {5, 0},
                                                              {5, 1},
                                                              {5, 2},
                                                              {6, 0},
                                                              {6, 1},
                                                              {6, 2},
                                                              {6, 3},
                                                              {6, 4}}};

inline constexpr FeatureLevel newest_feature_level = feature_levels.back();

/// "5_0".
std::string to_text(FeatureLevel level);

/// Reads "5_0", "5.0" or "DML_FEATURE_LEVEL_5_0". Returns nothing if DirectML has no such level.
std::optional<FeatureLevel> feature_level_named(std::string_view name);

}  // namespace dmlop
