// The parts of base/file.hpp that say what paths name: the same file, a stream, a file that does
// not exist yet.
#include "base/file.hpp"

#include <filesystem>

#include "base/confine.hpp"
#include "base/error.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"

namespace dmlop {

namespace fs = std::filesystem;

std::string resolve_links(const std::string& path) {
  constexpr int max_links = 40;  // the limit of Linux
  fs::path resolved = to_path(path);
  for (int count = 0; count <= max_links; ++count) {
    if (descriptor_named(to_text(resolved))) return to_text(resolved);
    std::error_code error;
    const fs::file_type type = fs::symlink_status(resolved, error).type();
    if (type != fs::file_type::symlink && type != fs::file_type::none) return to_text(resolved);
    const fs::path link = error ? fs::path() : fs::read_symlink(resolved, error);
    if (error) fail_io("creating " + path + ": " + reason(error));
    resolved = resolved.parent_path() / link;
  }
  fail_io("creating " + path + ": " +
          reason(std::make_error_code(std::errc::too_many_symbolic_link_levels)));
}

std::optional<int> open_file_named(const std::string& path) {
  try {
    return descriptor_named(resolve_links(path));
  } catch (const Error&) {  // links that lead nowhere
    return std::nullopt;
  }
}

bool is_standard_input(const std::string& path) {
  constexpr int standard_input = 0;
  return path == "-" || open_file_named(path) == standard_input;
}

bool is_standard_output(const std::string& path) {
  constexpr int standard_output = 1;
  if (path == "-") return true;
  const std::optional<int> number = open_file_named(path);
  return number && (number == standard_output || are_same_stream(*number, standard_output));
}

bool is_same_file(const std::string& read, const std::string& written) {
  if (is_standard_output(written)) return false;
  // Windows gives no name for the file behind standard input, and does not let it be replaced.
  std::error_code error;
  return fs::equivalent(to_path(read == "-" ? "/dev/stdin" : read), to_path(written), error);
}

bool may_have_several_writers(const std::string& path) {
  std::error_code ignored;
  return path == "-" || fs::status(to_path(path), ignored).type() == fs::file_type::character;
}

std::string written_path(const std::string& path) {
  std::error_code error;
  std::string real;
  try {
    // An open file without a path, such as a pipe, is named by its descriptor.
    const std::string resolved = resolve_links(path);
    const std::optional<int> number = descriptor_named(resolved);
    if (number && !fs::exists(fs::canonical(to_path(resolved), error), error))
      return "/dev/fd/" + std::to_string(*number);
    real = real_path_to_be(resolved, error);
  } catch (const Error&) {  // links that lead nowhere, which writing refuses
    error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
  }
  return error ? to_text(fs::absolute(to_path(path), error).lexically_normal()) : real;
}

bool names_same_file(const std::string& a, const std::string& b) {
  if (may_have_several_writers(a) || may_have_several_writers(b)) return false;
  std::error_code error;
  return written_path(a) == written_path(b) || fs::equivalent(to_path(a), to_path(b), error);
}

void refuse_to_replace(const std::string& option, const std::string& path) {
  throw Error(ErrorKind::usage, option + " " + path +
                                    " is a file with something else, which would be lost; name "
                                    "another file, or remove this one");
}

}  // namespace dmlop
