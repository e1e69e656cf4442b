// POSIX implementation of base/system_file.hpp.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "base/system_file.hpp"

namespace dmlop {
namespace {

using namespace std::string_view_literals;

static_assert(sizeof(off_t) == 8, "files may be larger than 2 GiB");

std::error_code last_error() {
  return {errno, std::generic_category()};
}

/// Makes a system call that returns -1 on failure, and repeats it if a signal interrupts it.
template <typename Call>
std::error_code called(Call&& call) {
  while (call() < 0) {
    if (errno != EINTR) return last_error();
  }
  return {};
}

/// Returns -1 on failure, with the reason in `error`.
int open_descriptor(const std::string& path, int flags, std::error_code& error) {
  constexpr mode_t mode = 0666;
  int number = -1;
  error = called([&] { return number = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode); });
  return number;
}

FileStatus status_from(const struct stat& found) {
  if (S_ISDIR(found.st_mode)) return {FileKind::folder};
  if (!S_ISREG(found.st_mode)) return {FileKind::other};
#ifdef __APPLE__
  const timespec& modified = found.st_mtimespec;
#else
  const timespec& modified = found.st_mtim;
#endif
  return {.kind = FileKind::regular,
          .bytes = static_cast<std::uint64_t>(found.st_size),
          .device = static_cast<std::uint64_t>(found.st_dev),
          .number = static_cast<std::uint64_t>(found.st_ino),
          .modified_nanoseconds = std::int64_t{modified.tv_sec} * 1'000'000'000 + modified.tv_nsec};
}

/// While one lives, a write of this thread to a closed pipe gives EPIPE instead of a signal.
class PipeSignalHeldBack {
 public:
  PipeSignalHeldBack() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  PipeSignalHeldBack(const PipeSignalHeldBack&) = delete;
  PipeSignalHeldBack& operator=(const PipeSignalHeldBack&) = delete;
  ~PipeSignalHeldBack() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  bool was_pending_ = false;
  sigset_t pipe_;
  sigset_t before_;
};

void wait_for_room(int handle, void (*between_steps)()) {
  constexpr int step_milliseconds = 50;
  pollfd ready{handle, POLLOUT, 0};
  while (::poll(&ready, 1, step_milliseconds) <= 0) {
    if (between_steps != nullptr) between_steps();
  }
}

/// How many bytes to write at once, so that a stop is noticed soon. For a pipe that had to wait for
/// room, no more than it takes without waiting again.
std::size_t bytes_in_step(int handle) {
  const bool never_waits = (::fcntl(handle, F_GETFL) & O_NONBLOCK) != 0;
  struct stat found {};
  const bool is_pipe = ::fstat(handle, &found) == 0 && !S_ISREG(found.st_mode);
  return is_pipe && !never_waits ? PIPE_BUF : std::size_t{1} << 20;
}

/// A name of an open file that is valid as long as the file is open.
[[maybe_unused]] std::string path_in_proc(int descriptor) {
  return "/proc/self/fd/" + std::to_string(descriptor);
}

bool is_same_open_file(int a, int b) {
  struct stat one = {};
  struct stat other = {};
  return ::fstat(a, &one) == 0 && ::fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

}  // namespace

std::string reason(const std::error_code& error) {
  return error.message();
}

SystemFile SystemFile::open_to_read(const std::string& path, std::error_code& error) {
  // A pipe opens at once even without a writer; wait_for_input() waits for the writer. On other
  // systems poll() reports a pipe without a writer as ended.
#ifdef __linux__
  SystemFile file(open_descriptor(path, O_RDONLY | O_NONBLOCK, error));
  if (error != std::errc::resource_unavailable_try_again) return file;  // the file is leased
#endif
  return SystemFile(open_descriptor(path, O_RDONLY, error));
}

SystemFile SystemFile::open_to_write(const std::string& path, std::error_code& error) {
  return SystemFile(open_descriptor(path, O_WRONLY | O_NONBLOCK, error));
}

SystemFile SystemFile::create_new(const std::string& path, std::error_code& error) {
  return SystemFile(open_descriptor(path, O_WRONLY | O_CREAT | O_EXCL, error));
}

#ifdef O_TMPFILE

SystemFile SystemFile::create_unnamed(const std::string& folder, std::error_code& error) {
  SystemFile file(open_descriptor(folder, O_WRONLY | O_TMPFILE, error));
  // The file gets its name by way of /proc, which may be missing.
  if (!error && ::access(path_in_proc(file.handle_).c_str(), F_OK) != 0) file.close();
  if (!file.is_open()) error = std::make_error_code(std::errc::operation_not_supported);
  return file;
}

#else

SystemFile SystemFile::create_unnamed(const std::string&, std::error_code& error) {
  error = std::make_error_code(std::errc::operation_not_supported);
  return {};
}

#endif

SystemFile SystemFile::open_to_append(const std::string& path, std::error_code& error) {
  return SystemFile(open_descriptor(path, O_WRONLY | O_CREAT | O_APPEND, error));
}

SystemFile SystemFile::standard_input() {
  return SystemFile(STDIN_FILENO, /*owned=*/false);
}

SystemFile SystemFile::standard_output() {
  return shared_output(STDOUT_FILENO);
}

// Opens the pipe again, because other programs share the original, which must not become
// non-blocking for them. Packets stay packets. If opening is refused, write_all() makes small
// steps.
SystemFile SystemFile::shared_output(int descriptor) {
  struct stat found {};
  const int flags = ::fcntl(descriptor, F_GETFL);
  const bool is_pipe = ::fstat(descriptor, &found) == 0 && S_ISFIFO(found.st_mode);
  if (is_pipe && (flags & O_ACCMODE) != O_RDONLY) {
    std::error_code refused;
    SystemFile pipe = open_to_write("/dev/fd/" + std::to_string(descriptor), refused);
    if (!refused && is_same_open_file(pipe.handle_, descriptor)) {
      ::fcntl(pipe.handle_, F_SETFL, flags | O_NONBLOCK);
      return pipe;
    }
  }
  return SystemFile(descriptor, /*owned=*/false);
}

SystemFile SystemFile::inherited_output(int descriptor, std::error_code& error) {
  error = std::make_error_code(std::errc::bad_file_descriptor);
  const int flags = ::fcntl(descriptor, F_GETFD);
  // Files that the program itself opened are not inherited, and nobody may name them.
  if (flags < 0 || (flags & FD_CLOEXEC) != 0) return {};
  if ((::fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY) return {};
  error.clear();
  return shared_output(descriptor);
}

FileStatus SystemFile::status(std::error_code& error) const {
  struct stat found {};
  error = called([&] { return ::fstat(handle_, &found); });
  return error ? FileStatus{} : status_from(found);
}

bool SystemFile::is_terminal() const noexcept {
  return ::isatty(handle_) == 1;
}

std::size_t SystemFile::read_some(std::span<std::byte> room, std::error_code& error) {
  error.clear();
  for (;;) {
    const ssize_t count = ::read(handle_, room.data(), room.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN) {
      wait_for_input(-1);
    } else if (errno != EINTR) {
      error = last_error();
      return 0;
    }
  }
}

std::size_t SystemFile::read_some_at(std::uint64_t offset, std::span<std::byte> room,
                                     std::error_code& error) {
  ssize_t count = 0;
  error = called([&] {
    return count = ::pread(handle_, room.data(), room.size(), static_cast<off_t>(offset));
  });
  return error ? 0 : static_cast<std::size_t>(count);
}

std::uint64_t SystemFile::position() const {
  const off_t position = ::lseek(handle_, 0, SEEK_CUR);
  return position < 0 ? 0 : static_cast<std::uint64_t>(position);
}

void SystemFile::wait_for_running_write() const {
#ifdef __linux__
  // SEEK_DATA waits while a write is under way. The position is restored for read_some().
  const off_t position = ::lseek(handle_, 0, SEEK_CUR);
  if (position < 0 || ::lseek(handle_, position, SEEK_DATA) < 0) return;
  ::lseek(handle_, position, SEEK_SET);
#endif
}

bool SystemFile::is_open_for_writing() const {
#ifdef __linux__
  // A lease is granted only if nobody writes, and is returned at once. Another program that opens
  // the file in between waits, and this process gets a signal that it ignores. Only the owner and
  // root may take a lease.
  if (!is_owned_ || ::fcntl(handle_, F_SETSIG, SIGURG) != 0) return false;
  if (::fcntl(handle_, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN;
  ::fcntl(handle_, F_SETLEASE, F_UNLCK);
#endif
  return false;
}

bool SystemFile::wait_for_input(int milliseconds) {
  pollfd ready{handle_, POLLIN, 0};
  return ::poll(&ready, 1, milliseconds) > 0;
}

std::error_code SystemFile::write_all(std::span<const std::byte> bytes, void (*between_steps)()) {
  const PipeSignalHeldBack held_back;
  const std::size_t step = between_steps != nullptr ? bytes_in_step(handle_) : bytes.size();
  while (!bytes.empty()) {
    if (between_steps != nullptr) {
      between_steps();  // a slow reader always leaves some room
      wait_for_room(handle_, between_steps);
    }
    const ssize_t count = ::write(handle_, bytes.data(), std::min(bytes.size(), step));
    if (count == 0) return std::make_error_code(std::errc::io_error);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      wait_for_room(handle_, between_steps);
    } else if (errno != EINTR) {
      return last_error();
    }
  }
  return {};
}

std::error_code SystemFile::write_all_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(handle_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count == 0) return std::make_error_code(std::errc::io_error);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    } else if (errno != EINTR) {
      return last_error();
    }
  }
  return {};
}

std::error_code SystemFile::reserve(std::uint64_t begin, std::uint64_t bytes) {
  int code = 0;
  do {
    code = ::posix_fallocate(handle_, static_cast<off_t>(begin), static_cast<off_t>(bytes));
  } while (code == EINTR);
  if (code == EOPNOTSUPP || code == EINVAL)
    return std::make_error_code(std::errc::operation_not_supported);
  return {code, std::generic_category()};
}

std::error_code SystemFile::resize(std::uint64_t bytes) {
  return called([&] { return ::ftruncate(handle_, static_cast<off_t>(bytes)); });
}

std::error_code SystemFile::lock() {
  while (::flock(handle_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return std::make_error_code(std::errc::resource_unavailable_try_again);
    if (errno != EINTR) return std::make_error_code(std::errc::operation_not_supported);
  }
  return {};
}

std::error_code SystemFile::take_permissions_of(const std::string& path) {
  struct stat found {};
  const std::error_code error = called([&] { return ::stat(path.c_str(), &found); });
  return error ? error : called([&] { return ::fchmod(handle_, found.st_mode & 0777); });
}

std::error_code SystemFile::link(const std::string& path) {
  // Closing a duplicate reports what closing the file later would report.
  SystemFile same(::fcntl(handle_, F_DUPFD_CLOEXEC, 0));
  if (!same.is_open()) return last_error();
  if (const std::error_code error = same.close()) return error;
  const std::string source = path_in_proc(handle_);
  return called([&] {
    return ::linkat(AT_FDCWD, source.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
  });
}

std::error_code SystemFile::close() noexcept {
  const int number = std::exchange(handle_, none);
  if (number < 0 || !is_owned_ || ::close(number) == 0) return {};
  return errno == EINTR ? std::error_code{}
                        : last_error();  // Linux has closed it already in this case
}

FileChange change_of(const std::string& path, const FileStatus& before, std::error_code& error) {
  struct stat found {};
  error = called([&] { return ::stat(path.c_str(), &found); });
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory)
    error.clear();  // the mapped file exists even without a name
  return error ? FileChange::none : change_between(before, status_from(found));
}

std::int64_t file_clock_nanoseconds() {
  timespec now{};
#ifdef __linux__
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);  // the clock that the kernel uses for files
  constexpr std::int64_t step = 0;
#else
  ::clock_gettime(CLOCK_REALTIME, &now);
  constexpr std::int64_t step = 20'000'000;
#endif
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - step;
}

std::optional<int> descriptor_named(const std::string& path) {
  const std::string normal = std::filesystem::path(path).lexically_normal();
  if (normal == "/dev/stdin") return STDIN_FILENO;
  if (normal == "/dev/stdout") return STDOUT_FILENO;
  if (normal == "/dev/stderr") return STDERR_FILENO;
  const std::string own = "/proc/" + std::to_string(::getpid()) + "/fd/";
  for (const std::string_view folder :
       {"/dev/fd/"sv, "/proc/self/fd/"sv, "/proc/thread-self/fd/"sv, std::string_view(own)}) {
    if (!normal.starts_with(folder)) continue;
    const std::string_view digits = std::string_view(normal).substr(folder.size());
    int number = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc() && end == digits.data() + digits.size() && number >= 0) return number;
  }
  return std::nullopt;
}

bool are_same_stream(int a, int b) {
  struct stat found {};
  return is_same_open_file(a, b) && ::fstat(a, &found) == 0 && !S_ISCHR(found.st_mode);
}

std::error_code replace_file(const std::string& from, const std::string& to) {
  return called([&] { return ::rename(from.c_str(), to.c_str()); });
}

void remove_file(const char* path) noexcept {
  ::unlink(path);
}

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

EntryKind kind_of(DIR* folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN)
    return entry.d_type == DT_DIR   ? EntryKind::folder
           : entry.d_type == DT_LNK ? EntryKind::link
                                    : EntryKind::other;
  struct stat status {};
  if (::fstatat(::dirfd(folder), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return EntryKind::other;
  return S_ISDIR(status.st_mode)   ? EntryKind::folder
         : S_ISLNK(status.st_mode) ? EntryKind::link
                                   : EntryKind::other;
}

}  // namespace

std::vector<FolderEntry> entries_of(const std::string& folder, std::error_code& error) {
  error.clear();
  int number = -1;
  do {
    number = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
  } while (number < 0 && errno == EINTR);
  const std::unique_ptr<DIR, CloseFolder> open(number < 0 ? nullptr : ::fdopendir(number));
  if (!open) {
    error = last_error();
    if (number >= 0) ::close(number);
    return {};
  }
  std::vector<FolderEntry> entries;
  for (errno = 0; const dirent* entry = ::readdir(open.get()); errno = 0) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..")
      entries.push_back({std::string(name), kind_of(open.get(), *entry)});
  }
  if (errno != 0) error = last_error();
  return entries;
}

std::error_code check_writable_folder(const std::string& path) {
  return ::access(path.c_str(), W_OK | X_OK) != 0 ? last_error() : std::error_code{};
}

std::error_code check_writable(const std::string& path) {
  return ::access(path.c_str(), W_OK) != 0 ? last_error() : std::error_code{};
}

bool is_terminal(StandardStream stream) {
  return ::isatty(stream == StandardStream::output ? STDOUT_FILENO : STDERR_FILENO) == 1;
}

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return value != nullptr ? value : "";
}

void occupy_closed_standard_streams() noexcept {
  // Opens each stream the wrong way round, so that reading or writing a closed stream still gives
  // an error.
  while (true) {
    const int number = ::open("/dev/null", O_RDONLY);
    if (number < 0) return;
    if (number > STDERR_FILENO) {
      ::close(number);
      return;
    }
    if (number != STDIN_FILENO) continue;
    const int unreadable = ::open("/dev/null", O_WRONLY);
    if (unreadable < 0) return;
    ::dup2(unreadable, STDIN_FILENO);
    ::close(unreadable);
  }
}

std::string cache_folder() {
  if (const std::string folder = environment_variable("XDG_CACHE_HOME"); folder.starts_with('/'))
    return folder + "/dmlop";
  if (const std::string home = environment_variable("HOME"); home.starts_with('/'))
    return home + "/.cache/dmlop";
  return "";
}

}  // namespace dmlop
