// Windows implementation of base/owner.hpp.
#include <filesystem>

#include "base/owner.hpp"
#include "base/path.hpp"

namespace dmlop {

bool is_mine(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(to_path(path), ignored);
}

bool is_only_mine(const std::string& path) {
  return is_mine(path);
}

}  // namespace dmlop
