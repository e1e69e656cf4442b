// Windows implementation of the parts of base/confine.hpp that look up files.
#include "base/confine.hpp"
#include "base/system_file.hpp"
#include "base/windows.hpp"

namespace dmlop {

std::string real_path(const std::string& path, std::error_code& error) {
  constexpr DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  constexpr DWORD flags = FILE_FLAG_BACKUP_SEMANTICS;  // opens folders too
  error.clear();
  const HANDLE file =
      CreateFileW(to_utf16(path).c_str(), 0, sharing, nullptr, OPEN_EXISTING, flags, nullptr);
  std::wstring name(std::size_t{1} << 15, L'\0');
  const DWORD length =
      file == INVALID_HANDLE_VALUE
          ? 0
          : GetFinalPathNameByHandleW(file, name.data(), static_cast<DWORD>(name.size()),
                                      FILE_NAME_NORMALIZED);
  if (length == 0 || length >= name.size())
    error = {static_cast<int>(GetLastError()), std::system_category()};
  if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
  return error ? "" : to_utf8(std::wstring_view(name).substr(0, length));
}

PinnedFile::PinnedFile(const SharedConfinement& confinement, const std::string& path)
    : name_(path), path_(path) {
  if (!confinement) return;
  if (const PathProblem problem = confinement->problem_of_file(path))
    throw Error(ErrorKind::invalid_input, "the file " + problem.what);
}

PinnedFile::~PinnedFile() = default;

}  // namespace dmlop
