#include "base/confine.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/caller.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

constexpr const char* write_relative = "write a path relative to this file, without \"..\"";

// Whether Windows opens this name as a device. It ignores everything after the first dot.
bool is_device_name(std::string_view part) {
  std::string name = lower_case(std::string(part.substr(0, part.find('.'))));
  name.erase(name.find_last_not_of(' ') + 1);
  constexpr std::array names{"con", "prn", "aux", "nul", "conin$", "conout$"};
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  if (!name.starts_with("com") && !name.starts_with("lpt")) return false;
  const std::string number = name.substr(3);
  const bool is_digit = number.size() == 1 && number[0] >= '1' && number[0] <= '9';
  return is_digit || number == "\xC2\xB9" || number == "\xC2\xB2" || number == "\xC2\xB3";
}

// ".." and names that Windows takes for it: dots followed by spaces.
bool is_parent(std::string_view part) {
  return part.size() > 1 && part.starts_with('.') &&
         part.find_first_not_of(". ") == std::string_view::npos;
}

// Takes off the part before a separator of either system; `text` continues after it.
std::string_view take_part(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("/\\"), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool is_inside(const fs::path& path, const fs::path& root) {
  const auto [in_root, in_path] = std::mismatch(root.begin(), root.end(), path.begin(), path.end());
  return in_root == root.end() || (in_root->empty() && std::next(in_root) == root.end());
}

}  // namespace

std::string real_path_to_be(const std::string& path, std::error_code& error) {
  fs::path existing = fs::absolute(to_path(path), error);
  if (error) return "";
  fs::path rest;
  std::error_code ignored;
  while (fs::symlink_status(existing, ignored).type() == fs::file_type::not_found &&
         existing.has_relative_path()) {
    rest = rest.empty() ? existing.filename() : existing.filename() / rest;
    existing = existing.parent_path();
  }
  const fs::path real = to_path(real_path(to_text(existing), error));
  if (error) return "";
  // Normalized, so that the result is spelled the same before and after the rest is created.
  return to_text((rest.empty() ? real : real / rest).lexically_normal());
}

Confinement::Confinement(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) folder_ = ".";
  std::error_code error;
  root_ = real_path_to_be(folder_, error);
  if (error)
    throw Error(ErrorKind::io_failed, "confining paths to " + folder_ + ": " + reason(error));
}

Confinement Confinement::beside(const std::string& file) {
  return Confinement(file == "-" ? "." : to_text(to_path(file).parent_path()));
}

std::string Confinement::rule() const {
  return option_text("--confine") + ": a path in a file is relative, has no \"..\" and stays in " +
         folder_;
}

PathProblem Confinement::problem_of_text(std::string_view written) const {
  if (written == "-") return {"is a standard stream", "name a file"};
  if (written.starts_with('/') || written.starts_with('\\')) return {"is absolute", write_relative};
  if (written.find(':') != std::string_view::npos)
    return {"has a colon, which on Windows names a drive or a stream", write_relative};
  if (written.find('\0') != std::string_view::npos) return {"has a NUL byte", write_relative};
  for (std::string_view rest = written; !rest.empty();) {
    const std::string_view part = take_part(rest);
    if (is_parent(part)) return {"has a part \"" + printable(part) + "\"", write_relative};
    if (is_device_name(part))
      return {"names a device of Windows, \"" + printable(part) + "\"",
              "give the file another name"};
  }
  return {};
}

PathProblem Confinement::problem_of_folder(const std::string& path) const {
  std::error_code error;
  const fs::path real = to_path(real_path_to_be(path, error));
  if (error)
    return {"cannot be followed: " + reason(error), "replace the symbolic link by what it names"};
  if (is_inside(real, to_path(root_))) return {};
  const auto written = [&](const std::string& text) {
    return fs::absolute(to_path(text), error).lexically_normal();
  };
  if (!is_inside(written(path), written(folder_)) && !is_inside(written(path), to_path(root_)))
    return {"leads out of " + folder_,
            "name a file in it, or confine paths to a folder that has it"};
  return {"leads out of " + folder_ + ", through a symbolic link",
          "replace the link by what it names"};
}

PathProblem Confinement::problem_of_file(const std::string& path) const {
  if (PathProblem problem = problem_of_folder(path)) return problem;
  std::error_code error;
  const fs::file_type type = fs::status(to_path(path), error).type();
  if (type == fs::file_type::regular || type == fs::file_type::not_found) return {};
  return {"is not a regular file", "name a regular file instead of a folder, a pipe or a device"};
}

}  // namespace dmlop
