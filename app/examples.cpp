#include "examples.hpp"

#include <filesystem>
#include <sstream>

#include "base/path.hpp"
#include "base/text.hpp"
#ifdef _WIN32
#include "base/windows.hpp"
#endif

namespace dmlop::app {

namespace fs = std::filesystem;

fs::path program_folder() {
#ifdef _WIN32
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return fs::path(path).parent_path();
#else
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
#endif
}

namespace {

constexpr const char* samples_name = "samples";

std::string& program_name() {
  static std::string name = "dmlop";
  return name;
}

bool has_samples(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "padding" / "op.json", ignored);
}

// The folder of samples: below the current folder, where cmake --install puts it, or beside the
// build folder.
std::string samples_folder() {
  if (has_samples(samples_name)) return samples_name;
  const fs::path program = program_folder();
  for (const fs::path& folder :
       {program / DMLOP_SAMPLES_FROM_PROGRAM, program / ".." / samples_name}) {
    if (program.empty() || !has_samples(folder)) continue;
    const std::string found = to_text(folder.lexically_normal());
    std::error_code ignored;
    const std::string relative = to_text(fs::proximate(folder, ignored));
    return relative.empty() || relative.size() > found.size() ? found : relative;
  }
  return samples_name;
}

// Replaces only whole paths: "samples" and everything that begins with "samples/", also after
// "NAME=".
std::string with_samples(const std::string& word, const std::string& folder) {
  const std::size_t equals = word.find('=');
  const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
  const std::string path = word.substr(begin);
  const std::string name = samples_name;
  if (path != name && !path.starts_with(name + "/")) return word;
  return word.substr(0, begin) + shell_quoted(folder) + path.substr(name.size());
}

}  // namespace

void note_program_name(const char* name) {
  const std::string typed = name;
  // Found in the PATH it has no folder; on Windows the system writes one that nobody typed.
  if (typed.find('/') != std::string::npos) program_name() = typed;
}

std::string typed_program() {
  return shell_quoted(program_name());
}

std::string examples_here(const std::string& examples) {
  const std::string folder = samples_folder();
  std::istringstream lines(examples);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (!text.empty()) text += '\n';
    if (!line.starts_with("dmlop ")) {
      text += line;
      continue;
    }
    text += typed_program();
    std::istringstream words(line.substr(line.find(' ')));
    for (std::string word; words >> word;) text += " " + with_samples(word, folder);
  }
  return text;
}

}  // namespace dmlop::app
