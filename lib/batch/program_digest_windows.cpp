#include <filesystem>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/path.hpp"
#include "base/windows.hpp"
#include "batch/digest.hpp"
#include "batch/program_digest.hpp"

namespace dmlop {

std::string program_digest() {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  if (path.empty()) return "";
  try {
    return digest_of(InputFile::open(to_text(std::filesystem::path(path))).bytes());
  } catch (const Error&) {
    return "";
  }
}

}  // namespace dmlop
