// Paths of files in a folder.
#pragma once

#include <string>

#include "base/path.hpp"

namespace dmlop::layer {

inline std::string path_in(const std::string& folder, const std::string& name) {
  return to_text(to_path(folder) / to_path(name));
}

}  // namespace dmlop::layer
