#include "base/file_roles.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "base/path.hpp"

namespace dmlop {
namespace {

#ifdef _WIN32

// Windows gives no name for the file behind standard output, and not every file system counts the
// names of a file.
constexpr const char* standard_output = "";
bool may_have_other_names(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(to_path(path), error);
}

#else

constexpr const char* standard_output = "/dev/stdout";
bool may_have_other_names(const std::string& path) {
  std::error_code error;
  const auto names = std::filesystem::hard_link_count(to_path(path), error);
  return !error && names > 1;
}

#endif

}  // namespace

void FileRoles::add(const std::string& path, const std::string& role) {
  if (path.empty()) return;
  const std::string file = path == "-" ? "/dev/stdin" : path;
  roles_.emplace(written_path(file), Role{file, role});
}

std::string FileRoles::role_of(const std::string& given) const {
  const std::string path = given == "-" ? standard_output : given;
  if (path.empty() || may_have_several_writers(path)) return "";
  const auto found = roles_.find(written_path(path));
  if (found != roles_.end()) return found->second.role;
  if (!may_have_other_names(path)) return "";
  for (const auto& [written, other] : roles_) {
    if (is_same_file(other.path, path)) return other.role;
  }
  return "";
}

}  // namespace dmlop
