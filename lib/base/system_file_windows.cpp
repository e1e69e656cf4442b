// Windows implementation of base/system_file.hpp. Names are UTF-8 outside and UTF-16 inside. The
// program's manifest allows long paths.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/windows.hpp"

namespace dmlop {
namespace {

// The most that one call reads or writes.
constexpr std::uint64_t step_bytes = std::uint64_t{1} << 30;

std::error_code last_error() {
  return {static_cast<int>(GetLastError()), std::system_category()};
}

HANDLE open_handle(const std::string& path, DWORD access, DWORD creation, std::error_code& error) {
  // Others may read, replace and remove the file meanwhile, as on POSIX.
  constexpr DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  // This flag also opens folders; status() tells them apart.
  constexpr DWORD flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS;
  const HANDLE handle =
      CreateFileW(to_utf16(path).c_str(), access, sharing, nullptr, creation, flags, nullptr);
  error = handle == INVALID_HANDLE_VALUE ? last_error() : std::error_code{};
  return handle == INVALID_HANDLE_VALUE ? nullptr : handle;
}

std::uint64_t together(DWORD high, DWORD low) {
  return std::uint64_t{high} << 32 | low;
}

// Nanoseconds since 1970 from a time in steps of 100 ns since 1601.
std::int64_t nanoseconds_of(const FILETIME& time) {
  constexpr std::int64_t steps_before_1970 = 116'444'736'000'000'000;
  const auto steps = static_cast<std::int64_t>(together(time.dwHighDateTime, time.dwLowDateTime));
  return (steps - steps_before_1970) * 100;
}

FileStatus status_from(const BY_HANDLE_FILE_INFORMATION& found) {
  if ((found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return {FileKind::folder};
  return {.kind = FileKind::regular,
          .bytes = together(found.nFileSizeHigh, found.nFileSizeLow),
          .device = found.dwVolumeSerialNumber,
          .number = together(found.nFileIndexHigh, found.nFileIndexLow),
          .modified_nanoseconds = nanoseconds_of(found.ftLastWriteTime)};
}

OVERLAPPED at_offset(std::uint64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

}  // namespace

std::string reason(const std::error_code& error) {
  // Uses POSIX's words if there are some: they are the same on every system and not translated.
  const std::error_condition condition = error.default_error_condition();
  return condition.category() == std::generic_category() ? condition.message() : error.message();
}

SystemFile SystemFile::open_to_read(const std::string& path, std::error_code& error) {
  return SystemFile(open_handle(path, GENERIC_READ, OPEN_EXISTING, error));
}

SystemFile SystemFile::open_to_write(const std::string& path, std::error_code& error) {
  return SystemFile(open_handle(path, GENERIC_WRITE, OPEN_EXISTING, error));
}

SystemFile SystemFile::create_new(const std::string& path, std::error_code& error) {
  return SystemFile(open_handle(path, GENERIC_WRITE, CREATE_NEW, error));
}

SystemFile SystemFile::create_unnamed(const std::string&, std::error_code& error) {
  error = std::make_error_code(std::errc::operation_not_supported);
  return {};
}

SystemFile SystemFile::inherited_output(int, std::error_code& error) {
  error = std::make_error_code(std::errc::bad_file_descriptor);
  return {};
}

SystemFile SystemFile::open_to_append(const std::string& path, std::error_code& error) {
  // With FILE_APPEND_DATA writes go to the end; with FILE_WRITE_DATA the file can also be
  // truncated.
  return SystemFile(open_handle(path, FILE_APPEND_DATA | FILE_WRITE_DATA | FILE_READ_ATTRIBUTES,
                                OPEN_ALWAYS, error));
}

SystemFile SystemFile::standard_input() {
  return SystemFile(GetStdHandle(STD_INPUT_HANDLE), /*owned=*/false);
}

SystemFile SystemFile::standard_output() {
  return SystemFile(GetStdHandle(STD_OUTPUT_HANDLE), /*owned=*/false);
}

FileStatus SystemFile::status(std::error_code& error) const {
  error.clear();
  if (GetFileType(handle_) != FILE_TYPE_DISK) return {FileKind::other};
  BY_HANDLE_FILE_INFORMATION found;
  if (GetFileInformationByHandle(handle_, &found) == 0) {
    // Nothing may be known about a stream that was handed over. It is read like a pipe.
    if (!is_owned_) return {FileKind::other};
    error = last_error();
    return {};
  }
  return status_from(found);
}

bool SystemFile::is_terminal() const noexcept {
  DWORD mode = 0;
  return GetConsoleMode(handle_, &mode) != 0;
}

std::size_t SystemFile::read_some(std::span<std::byte> room, std::error_code& error) {
  error.clear();
  DWORD count = 0;
  const auto bytes = static_cast<DWORD>(std::min<std::uint64_t>(room.size(), step_bytes));
  if (ReadFile(handle_, room.data(), bytes, &count, nullptr) != 0) return count;
  const DWORD code = GetLastError();
  if (code != ERROR_BROKEN_PIPE && code != ERROR_HANDLE_EOF) error = last_error();
  return 0;
}

std::size_t SystemFile::read_some_at(std::uint64_t offset, std::span<std::byte> room,
                                     std::error_code& error) {
  error.clear();
  OVERLAPPED place = at_offset(offset);
  DWORD count = 0;
  const auto bytes = static_cast<DWORD>(std::min<std::uint64_t>(room.size(), step_bytes));
  if (ReadFile(handle_, room.data(), bytes, &count, &place) != 0) return count;
  if (GetLastError() != ERROR_HANDLE_EOF) error = last_error();
  return 0;
}

std::uint64_t SystemFile::position() const {
  LARGE_INTEGER position{};
  return SetFilePointerEx(handle_, {}, &position, FILE_CURRENT) == 0
             ? 0
             : static_cast<std::uint64_t>(position.QuadPart);
}

void SystemFile::wait_for_running_write() const {}

bool SystemFile::is_open_for_writing() const {
  return false;  // asking would get in the writers' way
}

bool SystemFile::wait_for_input(int milliseconds) {
  // Other devices, such as NUL, may never tell that they can be read.
  if (GetFileType(handle_) == FILE_TYPE_CHAR && !is_terminal()) return true;
  if (GetFileType(handle_) == FILE_TYPE_CHAR)
    return WaitForSingleObject(handle_, static_cast<DWORD>(milliseconds)) == WAIT_OBJECT_0;
  // Windows cannot wait for pipes, so they are asked now and then.
  constexpr int step_milliseconds = 5;
  for (int waited = 0;; waited += step_milliseconds) {
    DWORD available = 0;
    const BOOL is_pipe = PeekNamedPipe(handle_, nullptr, 0, nullptr, &available, nullptr);
    if (is_pipe == 0 || available > 0) return true;  // the end, or not a pipe
    if (waited >= milliseconds) return false;
    Sleep(step_milliseconds);
  }
}

std::error_code SystemFile::write_all(std::span<const std::byte> bytes, void (*)()) {
  const bool is_file = GetFileType(handle_) == FILE_TYPE_DISK;
  while (!bytes.empty()) {
    // This offset means the end of the file.
    OVERLAPPED end = at_offset(~std::uint64_t{0});
    DWORD count = 0;
    const auto step = static_cast<DWORD>(std::min<std::uint64_t>(bytes.size(), step_bytes));
    if (WriteFile(handle_, bytes.data(), step, &count, is_file ? &end : nullptr) == 0)
      return last_error();
    bytes = bytes.subspan(count);
  }
  return {};
}

std::error_code SystemFile::write_all_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    OVERLAPPED place = at_offset(offset);
    DWORD count = 0;
    const auto step = static_cast<DWORD>(std::min<std::uint64_t>(bytes.size(), step_bytes));
    if (WriteFile(handle_, bytes.data(), step, &count, &place) == 0) return last_error();
    bytes = bytes.subspan(count);
    offset += count;
  }
  return {};
}

std::error_code SystemFile::reserve(std::uint64_t begin, std::uint64_t bytes) {
  FILE_ALLOCATION_INFO allocation{};
  allocation.AllocationSize.QuadPart = static_cast<LONGLONG>(begin + bytes);
  if (SetFileInformationByHandle(handle_, FileAllocationInfo, &allocation, sizeof allocation) != 0)
    return {};
  const std::error_code error = last_error();
  if (error == std::errc::no_space_on_device) return error;
  return std::make_error_code(std::errc::operation_not_supported);
}

std::error_code SystemFile::resize(std::uint64_t bytes) {
  FILE_END_OF_FILE_INFO end{};
  end.EndOfFile.QuadPart = static_cast<LONGLONG>(bytes);
  const BOOL done = SetFileInformationByHandle(handle_, FileEndOfFileInfo, &end, sizeof end);
  return done == 0 ? last_error() : std::error_code{};
}

std::error_code SystemFile::lock() {
  // Nobody else can read or write locked bytes, so the lock is on a byte that no file has.
  OVERLAPPED place = at_offset(max_file_bytes - 1);
  constexpr DWORD flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
  if (LockFileEx(handle_, flags, 0, 1, 0, &place) != 0) return {};
  const DWORD code = GetLastError();
  return std::make_error_code(code == ERROR_LOCK_VIOLATION || code == ERROR_IO_PENDING
                                  ? std::errc::resource_unavailable_try_again
                                  : std::errc::operation_not_supported);
}

std::error_code SystemFile::take_permissions_of(const std::string&) {
  return {};  // files have the permissions of their folder
}

std::error_code SystemFile::link(const std::string&) {
  return std::make_error_code(std::errc::operation_not_supported);
}

std::error_code SystemFile::close() noexcept {
  const HANDLE handle = std::exchange(handle_, none);
  if (handle == none || !is_owned_ || CloseHandle(handle) != 0) return {};
  return last_error();
}

FileChange change_of(const std::string& path, const FileStatus& before, std::error_code& error) {
  const SystemFile file = SystemFile::open_to_read(path, error);
  const FileStatus now = error ? FileStatus{} : file.status(error);
  // It is no error if the name is gone or names another file now: the mapped file still exists.
  error.clear();
  return change_between(before, now);
}

void remove_file(const char* path) noexcept {
  try {
    DeleteFileW(to_utf16(path).c_str());
  } catch (const std::exception&) {  // no memory for the path
  }
}

// The runtime opens files by handles, and none has the number of a standard stream.
void occupy_closed_standard_streams() noexcept {}

std::int64_t file_clock_nanoseconds() {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);  // in the steps of the clock for files
  return nanoseconds_of(now);
}

std::optional<int> descriptor_named(const std::string&) {
  return std::nullopt;
}

bool are_same_stream(int, int) {
  return false;
}

std::error_code replace_file(const std::string& from, const std::string& to) {
  const std::wstring source = to_utf16(from);
  const std::wstring target = to_utf16(to);
  // Another program that opens or replaces the same name now, such as a virus scanner, is in the
  // way only for a moment.
  constexpr int attempts = 100;
  constexpr DWORD pause_milliseconds = 10;
  for (int attempt = 1;; ++attempt) {
    if (MoveFileExW(source.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING) != 0) return {};
    const DWORD code = GetLastError();
    const bool may_pass = code == ERROR_SHARING_VIOLATION || code == ERROR_ACCESS_DENIED ||
                          code == ERROR_LOCK_VIOLATION || code == ERROR_USER_MAPPED_FILE;
    if (!may_pass || attempt == attempts) return {static_cast<int>(code), std::system_category()};
    Sleep(pause_milliseconds);
  }
}

std::vector<FolderEntry> entries_of(const std::string& folder, std::error_code& error) {
  namespace fs = std::filesystem;
  std::vector<FolderEntry> entries;
  for (fs::directory_iterator at(to_path(folder), error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    const EntryKind kind = at->is_symlink(ignored)     ? EntryKind::link
                           : at->is_directory(ignored) ? EntryKind::folder
                                                       : EntryKind::other;
    entries.push_back({to_text(at->path().filename()), kind});
  }
  return entries;
}

std::error_code check_writable_folder(const std::string& path) {
  // Permissions are lists of rules on Windows, so only creating a file gives the answer. The file
  // removes itself.
  std::error_code error;
  if (!std::filesystem::is_directory(to_path(path), error))
    return error ? error : std::make_error_code(std::errc::not_a_directory);
  const std::string name = path + "/.dmlop-" + random_letters() + ".tmp";
  const HANDLE file = CreateFileW(to_utf16(name).c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW,
                                  FILE_FLAG_DELETE_ON_CLOSE, nullptr);
  if (file == INVALID_HANDLE_VALUE) return last_error();
  CloseHandle(file);
  return {};
}

std::error_code check_writable(const std::string& path) {
  std::error_code error;
  SystemFile::open_to_write(path, error);
  return error;
}

bool is_terminal(StandardStream stream) {
  constexpr DWORD understands_escapes = 0x4;  // ENABLE_VIRTUAL_TERMINAL_PROCESSING
  const HANDLE handle =
      GetStdHandle(stream == StandardStream::output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
  DWORD mode = 0;
  return GetConsoleMode(handle, &mode) != 0 &&
         SetConsoleMode(handle, mode | understands_escapes) != 0;
}

std::string environment_variable(const std::string& name) {
  const std::wstring wide_name = to_utf16(name);
  std::wstring value(GetEnvironmentVariableW(wide_name.c_str(), nullptr, 0), L'\0');
  value.resize(
      GetEnvironmentVariableW(wide_name.c_str(), value.data(), static_cast<DWORD>(value.size())));
  return to_utf8(value);
}

std::string cache_folder() {
  const std::string folder = environment_variable("LOCALAPPDATA");
  return folder.empty() ? "" : folder + "/dmlop";
}

}  // namespace dmlop
