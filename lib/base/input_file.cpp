// The inputs of base/file.hpp: mapped, or read into memory, and whether they changed meanwhile.
#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "base/confine.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

// Reading a file of up to this size takes less time than mapping it.
constexpr std::uint64_t small_file_bytes = std::uint64_t{1} << 16;
// Reading a file of up to this size twice takes less time than waiting until it is older.
constexpr std::uint64_t read_twice_bytes = std::uint64_t{1} << 18;
// Something without a size may never end.
constexpr std::uint64_t stream_bytes_max = (std::uint64_t{1} << 30) - 1;

constexpr std::int64_t milliseconds = 1'000'000;

[[noreturn]] void refuse_directory() {
  throw Error(ErrorKind::invalid_input, "is a directory; name a file inside it");
}

void refuse_change(FileChange change) {
  if (change == FileChange::none) return;
  fail_io(std::string("the file ") +
          (change == FileChange::shorter ? "became shorter" : "was changed") +
          " while it was read; run this again when nothing writes to the file");
}

[[noreturn]] void refuse_size(const std::string& has, std::uint64_t max_bytes) {
  throw Error(ErrorKind::invalid_input,
              "the file has " + has + " bytes, must have at most " + std::to_string(max_bytes));
}

FileStatus status_of(const SystemFile& file) {
  std::error_code error;
  const FileStatus status = file.status(error);
  if (error) fail_io(reason(error));
  return status;
}

// The file among `names` that `missing` probably means: its name is misspelt, or its extension.
std::string nearest_file(const std::filesystem::path& missing,
                         const std::vector<std::filesystem::path>& names) {
  std::vector<std::string> stems;
  for (const auto& name : names) {
    if (name.extension() == missing.extension()) stems.push_back(to_text(name.stem()));
  }
  const std::string stem = to_text(missing.stem());
  const std::string nearest = nearest_name(stem, stems);
  if (!nearest.empty()) return nearest + to_text(missing.extension());
  for (const auto& name : names) {
    if (!stem.empty() && name.stem() == missing.stem()) return to_text(name);
  }
  return "";
}

// Of a file that is not there, the one in its folder that is probably meant.
std::string neighbor(const std::string& path, const std::error_code& error) {
  if (error != std::errc::no_such_file_or_directory) return "";
  constexpr std::size_t most_names = 1000;
  namespace fs = std::filesystem;
  const fs::path missing = to_path(path);
  const fs::path folder = missing.parent_path();
  std::vector<fs::path> names;
  std::error_code ignored;
  for (const FolderEntry& entry : entries_of(folder.empty() ? "." : to_text(folder), ignored)) {
    names.push_back(to_path(entry.name));
    if (names.size() > most_names) return "";
  }
  std::sort(names.begin(), names.end());
  const std::string nearest = nearest_file(missing.filename(), names);
  return nearest.empty() ? "" : "; did you mean " + to_text(folder / to_path(nearest)) + "?";
}

void wait_for_input(SystemFile& file) {
  constexpr int step_milliseconds = 50;
  while (!file.wait_for_input(step_milliseconds)) check_for_stop();
}

/// The bytes that have been read so far.
class Gathered {
 public:
  Gathered(SystemFile& file, FileKind kind) : file_(file), kind_(kind) {}

  std::span<const std::byte> bytes() const { return std::span(bytes_).first(used_); }

  /// Reads until there are `wanted` bytes, in steps that start with `first_step`. Returns false at
  /// the end.
  bool read_up_to(std::uint64_t wanted, std::uint64_t first_step = small_file_bytes) {
    while (used_ < wanted) {
      if (used_ == bytes_.size()) grow(std::min(std::max(2 * used_, first_step), wanted));
      const std::uint64_t room = std::min<std::uint64_t>(bytes_.size(), wanted) - used_;
      if (!read_some(room)) return false;
    }
    return true;
  }

  /// Reserves addresses, so that a size beyond the machine's memory is reported before reading.
  void reserve(std::uint64_t bytes) {
    try {
      bytes_.reserve(bytes);
    } catch (const std::exception&) {  // bad_alloc, length_error
      fail_io("out of memory: the file has " + std::to_string(bytes) + " bytes");
    }
  }

  std::vector<std::byte> take() {
    bytes_.resize(used_);
    return std::move(bytes_);
  }

 private:
  void grow(std::uint64_t size) {
    try {
      bytes_.resize(size);
    } catch (const std::exception&) {  // bad_alloc, length_error
      fail_io("out of memory after " + std::to_string(used_) + " bytes");
    }
  }

  bool read_some(std::uint64_t room) {
    if (kind_ != FileKind::regular) {
      check_for_stop();  // also needed if there is always more to read
      wait_for_input(file_);
    }
    std::error_code error;
    const std::size_t count = file_.read_some(std::span(bytes_).subspan(used_, room), error);
    if (error == std::errc::is_a_directory) refuse_directory();
    if (error) fail_io(reason(error));
    used_ += count;
    return count != 0;
  }

  SystemFile& file_;
  FileKind kind_;
  std::vector<std::byte> bytes_;
  std::uint64_t used_ = 0;
};

std::vector<std::byte> read_to_end(SystemFile& file, const FileStatus& status,
                                   std::uint64_t max_bytes) {
  Gathered gathered(file, status.kind);
  // Asks for one byte more, so that the first read gets everything and the second one finds the
  // end.
  const std::uint64_t first_step = status.bytes > 0 ? status.bytes + 1 : small_file_bytes;
  if (gathered.read_up_to(max_bytes + 1, first_step))
    refuse_size("more than " + std::to_string(max_bytes), max_bytes);
  return gathered.take();
}

/// Whether a write that comes now may leave the file's time unchanged. The clock for files advances
/// in steps, and some file systems store only whole milliseconds or seconds.
bool may_hide_writes(const FileStatus& status) {
  const std::int64_t time = status.modified_nanoseconds;
  std::int64_t step = 0;
  if (time % milliseconds == 0) step = 20 * milliseconds;
  if (time % (1000 * milliseconds) == 0) step = 2000 * milliseconds;
  return file_clock_nanoseconds() <= time + step;  // also if the time lies in the future
}

/// Whether somebody may be in the middle of writing the file: it is open for writing, and was
/// written lately.
bool is_being_written(const SystemFile& file, const FileStatus& status) {
  constexpr std::int64_t lately = 100 * milliseconds;
  return file_clock_nanoseconds() - status.modified_nanoseconds < lately &&
         file.is_open_for_writing();
}

// Gives a writer who pauses between two writes the time to continue.
void wait_for_writer(const SystemFile& file, const FileStatus& status) {
  constexpr int steps = 20;
  for (int step = 0; step < steps && file.is_open_for_writing(); ++step) {
    if (change_between(status, status_of(file)) != FileChange::none) return;
    check_for_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Waits until another write would change the time, or one has. It does not wait for a time far in
// the future: the next write will take its time from the clock.
void wait_until_older(const SystemFile& file, const FileStatus& status) {
  constexpr std::int64_t ahead_max = 2000 * milliseconds;
  while (may_hide_writes(status) &&
         status.modified_nanoseconds - file_clock_nanoseconds() < ahead_max &&
         change_between(status, status_of(file)) == FileChange::none) {
    check_for_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Whether the bytes of a regular file from `offset` on differ from those that were read.
bool differs(SystemFile& file, std::uint64_t offset, std::span<const std::byte> read) {
  std::vector<std::byte> again(std::min<std::size_t>(read.size(), std::size_t{1} << 18));
  while (!read.empty()) {
    const std::span<std::byte> room = std::span(again).first(std::min(read.size(), again.size()));
    std::error_code error;
    const std::size_t count = file.read_some_at(offset, room, error);
    if (error) fail_io(reason(error));
    if (count == 0 ||
        !std::equal(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(count), read.begin()))
      return true;
    read = read.subspan(count);
    offset += count;
  }
  return false;
}

/// What happened to a regular file that was read from `offset` on and had `status` before.
FileChange change_while_read(SystemFile& file, const FileStatus& status, std::uint64_t offset,
                             std::span<const std::byte> read, bool is_time_proof) {
  const auto change = [&] { return change_between(status, status_of(file)); };
  if (is_time_proof || change() != FileChange::none) return change();
  wait_for_writer(file, status);
  file.wait_for_running_write();
  if (differs(file, offset, read)) return FileChange::rewritten;
  return change();
}

}  // namespace

InputFile InputFile::open(const std::string& path, std::uint64_t max_bytes) {
  return open(path, max_bytes, nullptr);
}

InputFile InputFile::open(const std::string& path, const BytesWanted& wanted) {
  return open(path, max_file_bytes, &wanted);
}

InputFile InputFile::open(const std::string& path, std::uint64_t max_bytes,
                          const BytesWanted* wanted) {
  InputFile input;
  std::error_code error;
  const bool is_stream = is_standard_input(path);
  SystemFile file =
      is_stream ? SystemFile::standard_input() : SystemFile::open_to_read(path, error);
  if (error) fail_io(reason(error) + neighbor(path, error));
  file.wait_for_running_write();
  FileStatus status = status_of(file);
  if (status.kind == FileKind::regular && status.bytes == 0 && is_being_written(file, status)) {
    // A program that rewrites a file empties it first.
    wait_for_writer(file, status);
    file.wait_for_running_write();
    status = status_of(file);
  }
  if (status.kind == FileKind::folder) refuse_directory();
  if (status.kind != FileKind::regular || status.bytes == 0) {
    // Pipes and devices have no size, and neither do the regular files of /proc.
    input.read_stream(file, status, std::min(max_bytes, stream_bytes_max), wanted);
    return input;
  }
  if (status.bytes > max_bytes && !is_stream) refuse_size(std::to_string(status.bytes), max_bytes);
  const bool is_time_proof = !may_hide_writes(status) && !is_being_written(file, status);
  const bool is_large = status.bytes > read_twice_bytes;
  if (!is_time_proof && is_large) {
    wait_for_writer(file, status);
    wait_until_older(file, status);
  }
  const bool is_mapped = !is_stream && status.bytes > small_file_bytes &&
                         (is_time_proof || is_large) && input.map(file, status, path);
  if (is_mapped) return input;
  const std::uint64_t offset = is_stream ? file.position() : 0;
  input.own(read_to_end(file, status, max_bytes));
  input.change_ = change_while_read(file, status, offset, input.bytes_, is_time_proof || is_large);
  return input;
}

InputFile InputFile::open(const PinnedFile& file, std::uint64_t max_bytes) {
  InputFile input = open(file.path(), max_bytes);
  input.path_ =
      file.name();  // the other path may name another file or nothing after the pin has ended
  return input;
}

InputFile InputFile::open(const PinnedFile& file, const BytesWanted& wanted) {
  InputFile input = open(file.path(), wanted);
  input.path_ = file.name();
  return input;
}

void InputFile::read_stream(SystemFile& file, const FileStatus& status, std::uint64_t max_bytes,
                            const BytesWanted* wanted) {
  if (wanted == nullptr) {
    own(read_to_end(file, status, max_bytes));
  } else {
    Gathered gathered(file, status.kind);
    std::uint64_t bytes = (*wanted)({});
    while (is_whole_ && gathered.read_up_to(bytes)) {
      const std::uint64_t more = (*wanted)(gathered.bytes());
      is_whole_ = more > std::exchange(bytes, more);
      gathered.reserve(bytes);
    }
    own(gathered.take());
  }
  if (status.kind == FileKind::regular) change_ = change_between(status, status_of(file));
}

// Returns false if the file can only be read.
bool InputFile::map(const SystemFile& file, const FileStatus& status, const std::string& path) {
  std::error_code error;
  const std::byte* const mapping = map_to_read(file, status.bytes, error);
  if (mapping == nullptr && error != std::errc::no_such_device)
    fail_io("mapping " + std::to_string(status.bytes) + " bytes: " + reason(error));
  if (mapping == nullptr) return false;
  path_ = path;
  opened_ = status;
  mapping_ = mapping;
  bytes_ = {mapping, static_cast<std::size_t>(status.bytes)};
  return true;
}

void InputFile::own(std::vector<std::byte> bytes) {
  owned_ = std::move(bytes);
  bytes_ = owned_;
}

std::string InputFile::text() const {
  std::string text(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  require_intact();
  return text;
}

FileChange InputFile::change() const {
  if (mapping_ == nullptr) return change_;
  std::error_code error;
  const FileChange change = change_of(path_, opened_, error);
  if (has_lost_bytes(mapping_)) {
    if (change == FileChange::shorter) return change;
    fail_io(
        "the file could not be read to its end: it became shorter, or its disk or network failed; "
        "run this again when nothing writes to the file");
  }
  if (error) fail_io("asking whether the file was changed while it was read: " + reason(error));
  return change;
}

void InputFile::require_not_shorter() const {
  refuse_change(change() == FileChange::shorter ? FileChange::shorter : FileChange::none);
}

void InputFile::require_intact() const {
  refuse_change(change());
}

InputFile::InputFile(InputFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})),
      mapping_(std::exchange(other.mapping_, nullptr)),
      path_(std::move(other.path_)),
      opened_(other.opened_),
      change_(other.change_),
      is_whole_(other.is_whole_),
      owned_(std::move(other.owned_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  if (this == &other) return *this;
  release();
  bytes_ = std::exchange(other.bytes_, {});
  mapping_ = std::exchange(other.mapping_, nullptr);
  path_ = std::move(other.path_);
  opened_ = other.opened_;
  change_ = other.change_;
  is_whole_ = other.is_whole_;
  owned_ = std::move(other.owned_);
  return *this;
}

InputFile::~InputFile() {
  release();
}

void InputFile::release() noexcept {
  if (mapping_ != nullptr) unmap(mapping_, bytes_.size());
  mapping_ = nullptr;
  bytes_ = {};
}

}  // namespace dmlop
