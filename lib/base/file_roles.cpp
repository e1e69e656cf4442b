#include "base/file_roles.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "base/path.hpp"

namespace dmlop {

void FileRoles::add(const std::string& path, const std::string& role) {
  if (!path.empty()) roles_.emplace(written_path(path == "-" ? "/dev/stdin" : path), role);
}

std::string FileRoles::role_of(const std::string& given) const {
  const std::string path = given == "-" ? "/dev/stdout" : given;
  if (may_have_several_writers(path)) return "";
  const auto found = roles_.find(written_path(path));
  if (found != roles_.end()) return found->second;
  // The same file may have another name, too.
  std::error_code error;
  const auto names = std::filesystem::hard_link_count(to_path(path), error);
  if (error || names < 2) return "";
  for (const auto& [other, role] : roles_) {
    if (is_same_file(other, path)) return role;
  }
  return "";
}

}  // namespace dmlop
