// How descriptions are checked: what a caller chooses for all that it reads.
#pragma once

#include <optional>

#include "spec/feature_level.hpp"
#include "spec/judge.hpp"

namespace dmlop {

struct Checking {
  std::optional<FeatureLevel> feature_level = {};  // wins over the description's
  std::optional<Judge> judge = {};                 // the same
  bool warnings_as_errors = false;                 // each warning is a finding
};

}  // namespace dmlop
