// What files are to a run, so that it writes none that is something else, too.
#pragma once

#include <map>
#include <string>

namespace dmlop {

/// The role of what a run is compared with.
inline constexpr const char* golden_role = "the golden file";

class FileRoles {
 public:
  /// A file is `role` to the run, such as "the golden file". The first role of a file counts. "-"
  /// is standard input.
  void add(const std::string& path, const std::string& role);

  /// The role of the file that writing to a path would replace; "" where that is none. Devices,
  /// which take what several writers write, have none. "-" is standard output, which may go to a
  /// file.
  std::string role_of(const std::string& path) const;

 private:
  struct Role {
    std::string path;  // as it was given
    std::string role;
  };
  std::map<std::string, Role> roles_;  // by written_path()
};

}  // namespace dmlop
