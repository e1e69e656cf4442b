// POSIX implementation of base/file.hpp.
#include "base/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "base/error.hpp"

namespace dmlop {
namespace {

static_assert(sizeof(off_t) == 8, "files may be larger than 2 GiB");

constexpr std::uint64_t max_file_size = std::numeric_limits<off_t>::max();
// Reading a file of up to so many bytes takes less time than mapping it.
constexpr off_t small_file_size = off_t{1} << 16;
constexpr std::uint64_t min_reserved_size = std::uint64_t{1} << 20;

std::string reason(int code) {
  return std::generic_category().message(code);
}

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::io_failed, message);
}

/// A file descriptor, closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

  /// Returns 0 or the error code; the descriptor is gone in either case.
  int close() noexcept {
    const int number = std::exchange(number_, -1);
    if (number < 0 || ::close(number) == 0) return 0;
    return errno == EINTR ? 0 : errno;  // Linux has closed it already when a signal comes
  }

 private:
  int number_;
};

/// Not open on failure, with the reason in errno.
Descriptor open_descriptor(const std::string& path, int flags, mode_t mode = 0) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode);
  } while (number < 0 && errno == EINTR);
  return Descriptor(number);
}

[[noreturn]] void refuse_directory() {
  throw Error(ErrorKind::invalid_input, "is a directory; name a file inside it");
}

/// Reads up to `room` bytes; 0 at the end.
std::size_t read_some(int descriptor, std::byte* to, std::size_t room) {
  for (;;) {
    const ssize_t count = ::read(descriptor, to, room);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EISDIR) refuse_directory();
    if (errno == EAGAIN) {
      pollfd ready{descriptor, POLLIN, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      fail(reason(errno));
    }
  }
}

/// Reads to the end, in steps that start with `first_step` bytes.
std::vector<std::byte> read_to_end(int descriptor, std::size_t first_step = std::size_t{1} << 16) {
  std::vector<std::byte> bytes;
  std::size_t used = 0;
  try {
    bytes.resize(first_step);
    while (const std::size_t count =
               read_some(descriptor, bytes.data() + used, bytes.size() - used)) {
      used += count;
      if (used == bytes.size()) bytes.resize(2 * used);
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {  // bad_alloc, length_error
    fail("out of memory after " + std::to_string(used) + " bytes");
  }
  bytes.resize(used);
  return bytes;
}

/// While one lives, this thread's writes to a closed pipe end in EPIPE and not in a signal.
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

/// Writes all of `bytes` in order; returns 0 or the error code.
int write_all(int descriptor, std::span<const std::byte> bytes) {
  const PipeSignalHeldBack held_back;
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd ready{descriptor, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// Writes all of `bytes` at `offset`; returns 0 or the error code.
int write_all_at(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      offset += static_cast<std::uint64_t>(count);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

InputFile InputFile::open(const std::string& path) {
  InputFile file;
  if (path == "-") {
    file.owned_ = read_to_end(STDIN_FILENO);
    file.bytes_ = file.owned_;
    return file;
  }
  const Descriptor descriptor = open_descriptor(path, O_RDONLY);
  struct stat status {};
  if (!descriptor.is_open() || ::fstat(descriptor.number(), &status) != 0) fail(reason(errno));
  if (S_ISDIR(status.st_mode)) refuse_directory();
  if (S_ISREG(status.st_mode) && status.st_size > 0 && status.st_size <= small_file_size) {
    file.owned_ = read_to_end(descriptor.number(), static_cast<std::size_t>(status.st_size) + 1);
    file.bytes_ = file.owned_;
    return file;
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const mapping =
        ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number(), /*offset=*/0);
    if (mapping != MAP_FAILED) {
      file.mapping_ = mapping;
      file.bytes_ = {static_cast<const std::byte*>(mapping), size};
      return file;
    }
    if (errno != ENODEV) fail("mapping " + std::to_string(size) + " bytes: " + reason(errno));
  }
  // Pipes and devices have no size, nor have the regular files of /proc.
  file.owned_ = read_to_end(descriptor.number());
  file.bytes_ = file.owned_;
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      mapping_(std::exchange(other.mapping_, nullptr)),
      owned_(std::move(other.owned_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  if (this == &other) return *this;
  release();
  bytes_ = std::exchange(other.bytes_, {});
  mapping_ = std::exchange(other.mapping_, nullptr);
  owned_ = std::move(other.owned_);
  return *this;
}

InputFile::~InputFile() {
  release();
}

void InputFile::release() noexcept {
  if (mapping_ != nullptr) ::munmap(mapping_, bytes_.size());
  mapping_ = nullptr;
  bytes_ = {};
}

/// Bytes go to `temporary` when it has a name; else they are held back in memory and go to the
/// pipe or device `target` in order (to standard output when that is empty).
struct OutputFile::State {
  explicit State(std::string given_path) : path(std::move(given_path)) {}
  ~State() {
    descriptor.close();
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }

  std::string path;  // as given, for messages
  std::string target;
  std::string temporary;
  Descriptor descriptor;
  std::uint64_t reserved = 0;
  std::atomic<std::uint64_t> end = 0;  // where the last byte written ends
  std::mutex held_back_mutex;
  std::vector<std::byte> held_back;
  bool committed = false;

  void choose_target(std::uint64_t size);
  void create_temporary();
  void reserve(std::uint64_t size);
  void hold_back(std::uint64_t offset, std::span<const std::byte> bytes);
  void send_held_back();
  void give_name();
};

namespace {

/// What `path` names, through links; nothing when it names nothing yet.
std::optional<struct stat> find_existing(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno == ENOENT) return std::nullopt;
  fail("creating " + path + ": " + reason(errno));
}

/// The path at the end of a chain of links that starts at `path`; the last link may dangle.
std::string resolve_links(const std::string& path) {
  constexpr int max_links = 40;  // as Linux follows
  std::filesystem::path resolved = path;
  for (int count = 0; count < max_links; ++count) {
    std::error_code error;
    const std::filesystem::path link = std::filesystem::read_symlink(resolved, error);
    if (error) return resolved.string();
    resolved = resolved.parent_path() / link;
  }
  fail("creating " + path + ": " + reason(ELOOP));
}

/// Twelve letters and digits that cannot be guessed.
std::string random_letters() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567";
  std::array<unsigned char, 12> bytes;
  while (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    if (errno != EINTR) fail("getting random bytes: " + reason(errno));
  }
  std::string text;
  for (const unsigned char byte : bytes) text += letters[byte % letters.size()];
  return text;
}

void require_folder(const std::string& path, const std::string& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0 || errno != ENOENT) return;
  fail("creating " + path + ": folder " + folder + " does not exist; create it first (mkdir -p)");
}

}  // namespace

void OutputFile::State::choose_target(std::uint64_t size) {
  if (path.empty()) fail("creating an output file: its path is empty");
  const std::optional<struct stat> existing = find_existing(path);
  if (existing && S_ISDIR(existing->st_mode)) {
    fail("creating " + path + ": is a directory; name a file");
  }
  if (existing && !S_ISREG(existing->st_mode)) {
    if (::access(path.c_str(), W_OK) != 0) fail("opening " + path + ": " + reason(errno));
    target = path;
    return;
  }
  target = resolve_links(path);
  create_temporary();
  if (existing && ::fchmod(descriptor.number(), existing->st_mode & 0777) != 0) {
    fail("setting the permissions of " + path + ": " + reason(errno));
  }
  reserve(size);
}

void OutputFile::State::create_temporary() {
  const std::filesystem::path target_path = target;
  const std::string name = target_path.filename().string();
  if (name.empty()) fail("creating " + path + ": names a folder; name a file");
  const std::filesystem::path folder =
      target_path.has_parent_path() ? target_path.parent_path() : std::filesystem::path(".");
  require_folder(path, folder.string());
  constexpr std::size_t max_kept = 200;  // a file name has at most 255 bytes
  constexpr int max_attempts = 100;
  int code = EEXIST;
  for (int attempt = 0; attempt < max_attempts && code == EEXIST; ++attempt) {
    const std::string candidate =
        (folder / ("." + name.substr(0, max_kept) + "." + random_letters() + ".tmp")).string();
    descriptor = open_descriptor(candidate, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (descriptor.is_open()) {
      temporary = candidate;
      return;
    }
    code = errno;
  }
  fail("creating " + path + ": no temporary file in folder " + folder.string() + ": " +
       reason(code));
}

void OutputFile::State::reserve(std::uint64_t size) {
  if (size < min_reserved_size) return;
  const std::string action = "reserving " + std::to_string(size) + " bytes for " + path + ": ";
  if (size > max_file_size) fail(action + reason(EFBIG));
  // Asked first: reserving too much would fill the disk, if only for a moment.
  struct statvfs disk {};
  if (::fstatvfs(descriptor.number(), &disk) == 0 && disk.f_blocks > 0 &&
      disk.f_bavail < size / disk.f_frsize) {
    fail(action + reason(ENOSPC) + "; its folder has " +
         std::to_string(disk.f_bavail * disk.f_frsize) + " bytes free");
  }
  int code = 0;
  do {
    code = ::posix_fallocate(descriptor.number(), 0, static_cast<off_t>(size));
  } while (code == EINTR);
  if (code == EOPNOTSUPP || code == EINVAL) return;  // this file system cannot reserve
  if (code != 0) fail(action + reason(code));
  reserved = size;
}

void OutputFile::State::hold_back(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(held_back_mutex);
  const std::uint64_t needed = offset + bytes.size();
  try {
    if (needed > held_back.size()) held_back.resize(needed);
  } catch (const std::exception&) {  // bad_alloc, length_error
    fail("holding " + std::to_string(needed) + " bytes for " + path + ": out of memory");
  }
  std::memcpy(held_back.data() + offset, bytes.data(), bytes.size());
}

void OutputFile::State::send_held_back() {
  if (target.empty()) {
    const int code = write_all(STDOUT_FILENO, held_back);
    if (code != 0) fail("writing to standard output: " + reason(code));
    return;
  }
  // Opened only now: opening a pipe waits for its reader, who may read another output first.
  descriptor = open_descriptor(target, O_WRONLY);
  if (!descriptor.is_open()) fail("opening " + path + ": " + reason(errno));
  int code = write_all(descriptor.number(), held_back);
  if (code == 0) code = descriptor.close();
  if (code != 0) fail("writing " + path + ": " + reason(code));
}

void OutputFile::State::give_name() {
  if (reserved > end && ::ftruncate(descriptor.number(), static_cast<off_t>(end)) != 0) {
    fail("writing " + path + ": " + reason(errno));
  }
  const int code = descriptor.close();
  if (code != 0) fail("writing " + path + ": " + reason(code));
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    fail("naming " + path + ": " + reason(errno));
  }
  temporary.clear();
}

OutputFile::OutputFile(std::string path, std::uint64_t size)
    : state_(std::make_unique<State>(std::move(path))) {
  if (state_->path != "-") state_->choose_target(size);
}

OutputFile::OutputFile(OutputFile&&) noexcept = default;

OutputFile::~OutputFile() = default;

const std::string& OutputFile::path() const {
  return state_->path;
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  State& state = *state_;
  assert(!state.committed && "write_at after commit");
  if (bytes.empty()) return;
  if (bytes.size() > max_file_size || offset > max_file_size - bytes.size()) {
    fail("writing " + state.path + ": " + reason(EFBIG));
  }
  if (state.temporary.empty()) {
    state.hold_back(offset, bytes);
    return;
  }
  const int code = write_all_at(state.descriptor.number(), offset, bytes);
  if (code != 0) fail("writing " + state.path + ": " + reason(code));
  const std::uint64_t end = offset + bytes.size();
  std::uint64_t seen = state.end;
  while (seen < end && !state.end.compare_exchange_weak(seen, end)) {
  }
}

void OutputFile::commit() {
  assert(!state_->committed && "commit called twice");
  state_->committed = true;
  if (state_->temporary.empty()) {
    state_->send_held_back();
  } else {
    state_->give_name();
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return false;
  struct stat first {};
  struct stat second {};
  if (::stat(a.c_str(), &first) != 0 || ::stat(b.c_str(), &second) != 0) return false;
  return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace dmlop
