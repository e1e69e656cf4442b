// Files are mapped, read and replaced here in terms of base/system_file.hpp.
#include "base/file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "base/confine.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"

namespace dmlop {
namespace {

// Reading a file of up to so many bytes takes less time than mapping it.
constexpr std::uint64_t small_file_bytes = std::uint64_t{1} << 16;
constexpr std::uint64_t min_reserved_bytes = std::uint64_t{1} << 20;

[[noreturn]] void fail(const std::string& message) {
  throw Error(ErrorKind::io_failed, message);
}

[[noreturn]] void refuse_directory() {
  throw Error(ErrorKind::invalid_input, "is a directory; name a file inside it");
}

void refuse_change(FileChange change) {
  if (change == FileChange::none) return;
  fail(std::string("the file ") +
       (change == FileChange::shorter ? "became shorter" : "was changed") +
       " while it was read; run this again when nothing writes to the file");
}

[[noreturn]] void refuse_size(const std::string& has, std::uint64_t max_bytes) {
  throw Error(ErrorKind::invalid_input,
              "the file has " + has + " bytes, must have at most " + std::to_string(max_bytes));
}

void wait_for_input(SystemFile& file) {
  constexpr int step_milliseconds = 50;
  while (!file.wait_for_input(step_milliseconds)) check_for_stop();
}

/// Reads to the end, in steps that start with `first_step` bytes.
std::vector<std::byte> read_to_end(SystemFile& file, std::uint64_t max_bytes, FileKind kind,
                                   std::size_t first_step = std::size_t{1} << 16) {
  std::vector<std::byte> bytes;
  std::size_t used = 0;
  try {
    bytes.resize(first_step);
    for (;;) {
      if (kind != FileKind::regular) {
        check_for_stop();  // also of what has always more to read
        wait_for_input(file);
      }
      std::error_code error;
      const std::size_t count = file.read_some(std::span(bytes).subspan(used), error);
      if (error == std::errc::is_a_directory) refuse_directory();
      if (error) fail(reason(error));
      if (count == 0) break;
      used += count;
      if (used > max_bytes) refuse_size("more than " + std::to_string(max_bytes), max_bytes);
      if (used == bytes.size()) bytes.resize(std::min<std::uint64_t>(2 * used, max_bytes + 1));
    }
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {  // bad_alloc, length_error
    fail("out of memory after " + std::to_string(used) + " bytes");
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

InputFile InputFile::open(const std::string& path, std::uint64_t max_bytes) {
  InputFile input;
  if (path == "-") {
    SystemFile file = SystemFile::standard_input();
    input.own(read_to_end(file, max_bytes, FileKind::other));
    return input;
  }
  std::error_code error;
  SystemFile file = SystemFile::open_to_read(path, error);
  const FileStatus status = error ? FileStatus{} : file.status(error);
  if (status.kind == FileKind::folder) refuse_directory();
  if (error) fail(reason(error));
  if (status.bytes > max_bytes) refuse_size(std::to_string(status.bytes), max_bytes);
  if (status.bytes > 0 && status.bytes <= small_file_bytes) {
    input.own(
        read_to_end(file, max_bytes, status.kind, static_cast<std::size_t>(status.bytes) + 1));
    return input;
  }
  if (status.bytes > 0) {
    input.path_ = path;
    input.opened_ = status;
    const std::byte* const mapping = map_to_read(file, status.bytes, error);
    if (mapping != nullptr) {
      input.mapping_ = mapping;
      input.bytes_ = {mapping, static_cast<std::size_t>(status.bytes)};
      return input;
    }
    if (error != std::errc::no_such_device)
      fail("mapping " + std::to_string(status.bytes) + " bytes: " + reason(error));
  }
  // Pipes and devices have no size, nor have the regular files of /proc.
  input.own(read_to_end(file, max_bytes, status.kind));
  return input;
}

InputFile InputFile::open(const PinnedFile& file, std::uint64_t max_bytes) {
  InputFile input = open(file.path(), max_bytes);
  input.path_ = file.name();  // the other path names nothing, or another file, after the pin
  return input;
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
  if (mapping_ == nullptr) return FileChange::none;
  if (has_lost_bytes(mapping_)) return FileChange::shorter;
  std::error_code error;
  const FileChange change = change_of(path_, opened_, error);
  if (error) fail("asking whether the file was changed while it was read: " + reason(error));
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
      owned_(std::move(other.owned_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  if (this == &other) return *this;
  release();
  bytes_ = std::exchange(other.bytes_, {});
  mapping_ = std::exchange(other.mapping_, nullptr);
  path_ = std::move(other.path_);
  opened_ = other.opened_;
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

namespace {

/// The names of temporary files that exist; of more than fit here some are not listed.
std::array<const char*, 256> unfinished;
std::mutex unfinished_mutex;  // also while a file is created

void replace_unfinished(const char* listed, const char* by) noexcept {
  const auto entry = std::find(unfinished.begin(), unfinished.end(), listed);
  if (entry != unfinished.end()) *entry = by;
}

void unlist_unfinished(const std::string& path) noexcept {
  const std::scoped_lock lock(unfinished_mutex);
  replace_unfinished(path.c_str(), nullptr);
}

}  // namespace

/// Bytes go to `temporary` when it has a name; else they are held back in memory and go to the
/// pipe or device `target` in order (to standard output when that is empty).
struct OutputFile::State {
  explicit State(std::string given_path) : path(std::move(given_path)) {}
  ~State() {
    file.close();
    if (temporary.empty()) return;
    remove_file(temporary.c_str());
    unlist_unfinished(temporary);
  }

  std::string path;  // as given, for messages
  std::string target;
  std::string temporary;
  SystemFile file;
  std::uint64_t reserved = 0;
  std::atomic<std::uint64_t> end = 0;  // where the last byte written ends
  std::mutex held_back_mutex;
  std::vector<std::byte> held_back;
  bool committed = false;

  void choose_target(std::uint64_t size);
  void create_temporary();
  void reserve(std::uint64_t size);
  void reserve_memory(std::uint64_t size);
  void hold_back(std::uint64_t offset, std::span<const std::byte> bytes);
  void send_held_back(bool wanted_after_stop);
  void give_name();
};

namespace {

namespace fs = std::filesystem;

/// What `path` names, through links; not_found when it names nothing yet.
fs::file_type find_existing(const std::string& path) {
  std::error_code error;
  const fs::file_type type = fs::status(to_path(path), error).type();
  if (error && type != fs::file_type::not_found) fail("creating " + path + ": " + reason(error));
  return type;
}

/// The path at the end of a chain of links that starts at `path`; the last link may dangle.
std::string resolve_links(const std::string& path) {
  constexpr int max_links = 40;  // as Linux follows
  fs::path resolved = to_path(path);
  for (int count = 0; count < max_links; ++count) {
    std::error_code error;
    const fs::file_type type = fs::symlink_status(resolved, error).type();
    if (type != fs::file_type::symlink && type != fs::file_type::none) return to_text(resolved);
    const fs::path link = error ? fs::path() : fs::read_symlink(resolved, error);
    if (error) fail("creating " + path + ": " + reason(error));
    resolved = resolved.parent_path() / link;
  }
  fail("creating " + path + ": " +
       reason(std::make_error_code(std::errc::too_many_symbolic_link_levels)));
}

void require_folder(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::file_type type = fs::status(to_path(folder), error).type();
  if (type == fs::file_type::directory || type == fs::file_type::none) return;
  if (type != fs::file_type::not_found) fail("creating " + path + ": " + folder + " is no folder");
  fail("creating " + path + ": folder " + folder + " does not exist; create it first (mkdir -p)");
}

}  // namespace

void OutputFile::State::choose_target(std::uint64_t size) {
  if (path.empty()) fail("creating an output file: its path is empty");
  const fs::file_type existing = find_existing(path);
  if (existing == fs::file_type::directory)
    fail("creating " + path + ": is a directory; name a file");
  if (existing == fs::file_type::socket)
    fail("creating " + path + ": is a socket; name a file or a pipe, or - for standard output");
  if (existing != fs::file_type::regular && existing != fs::file_type::not_found) {
    if (const std::error_code error = check_writable(path))
      fail("opening " + path + ": " + reason(error));
    target = path;
    return;
  }
  target = resolve_links(path);
  create_temporary();
  if (existing == fs::file_type::regular) {
    if (const std::error_code error = file.take_permissions_of(path))
      fail("setting the permissions of " + path + ": " + reason(error));
  }
  reserve(size);
}

void OutputFile::State::create_temporary() {
  const fs::path target_path = to_path(target);
  const std::string name = to_text(target_path.filename());
  if (name.empty()) fail("creating " + path + ": names a folder; name a file");
  const fs::path folder = target_path.has_parent_path() ? target_path.parent_path() : fs::path(".");
  require_folder(path, to_text(folder));
  constexpr std::size_t max_kept = 200;  // a file name has at most 255 bytes
  constexpr int max_attempts = 100;
  std::error_code error = std::make_error_code(std::errc::file_exists);
  for (int attempt = 0; attempt < max_attempts && error == std::errc::file_exists; ++attempt) {
    std::string candidate =
        to_text(folder) + "/." + name.substr(0, max_kept) + "." + random_letters() + ".tmp";
    const std::scoped_lock lock(unfinished_mutex);
    file = SystemFile::create_new(candidate, error);
    if (!error) {
      temporary = std::move(candidate);  // which cannot fail, so that the file will be removed
      replace_unfinished(nullptr, temporary.c_str());
      return;
    }
  }
  fail("creating " + path + ": no temporary file in folder " + to_text(folder) + ": " +
       reason(error));
}

void OutputFile::State::reserve(std::uint64_t size) {
  if (size < min_reserved_bytes) return;
  const std::string action = "reserving " + std::to_string(size) + " bytes for " + path + ": ";
  if (size > max_file_bytes) fail(action + reason(std::make_error_code(std::errc::file_too_large)));
  // Asked first: reserving too much would fill the disk, if only for a moment.
  std::error_code error;
  const fs::space_info disk = fs::space(to_path(temporary), error);
  if (!error && disk.capacity > 0 && disk.available < size) {
    fail(action + reason(std::make_error_code(std::errc::no_space_on_device)) +
         "; its folder has " + std::to_string(disk.available) + " bytes free");
  }
  // A file system in memory takes seconds for what is large.
  constexpr std::uint64_t step = std::uint64_t{1} << 26;
  for (std::uint64_t begin = 0; begin < size; begin += step) {
    check_for_stop();
    error = file.reserve(begin, std::min(step, size - begin));
    if (error == std::errc::operation_not_supported) return;
    if (error) fail(action + reason(error));
  }
  reserved = size;
}

// Address space only: what is more than the machine has is said before anything is computed.
void OutputFile::State::reserve_memory(std::uint64_t size) {
  try {
    held_back.reserve(size);
  } catch (const std::exception&) {  // bad_alloc, length_error
    fail("holding " + std::to_string(size) + " bytes for " + path + ": out of memory");
  }
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

void OutputFile::State::send_held_back(bool wanted_after_stop) {
  void (*const between_steps)() = wanted_after_stop ? nullptr : check_for_stop;
  if (target.empty()) {
    const std::error_code error = SystemFile::standard_output().write_all(held_back, between_steps);
    if (error) fail("writing to standard output: " + reason(error));
    return;
  }
  // Opened only now: opening a pipe waits for its reader, who may read another output first.
  std::error_code error;
  const bool is_pipe = find_existing(target) == fs::file_type::fifo;
  while (!(file = SystemFile::open_to_write(target, error)).is_open() && is_pipe &&
         error == std::errc::no_such_device_or_address) {
    check_for_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (error) fail("opening " + path + ": " + reason(error));
  error = file.write_all(held_back, between_steps);
  if (!error) error = file.close();
  if (error) fail("writing " + path + ": " + reason(error));
}

void OutputFile::State::give_name() {
  std::error_code error;
  if (reserved > end) error = file.resize(end);
  if (!error) error = file.close();
  if (error) fail("writing " + path + ": " + reason(error));
  error = replace_file(temporary, target);
  if (error) fail("naming " + path + ": " + reason(error));
  unlist_unfinished(temporary);
  temporary.clear();
}

OutputFile::OutputFile(std::string path, std::uint64_t size)
    : state_(std::make_unique<State>(std::move(path))) {
  if (state_->path != "-") state_->choose_target(size);
  if (state_->temporary.empty()) state_->reserve_memory(size);
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
  if (bytes.size() > max_file_bytes || offset > max_file_bytes - bytes.size()) {
    fail("writing " + state.path + ": " + reason(std::make_error_code(std::errc::file_too_large)));
  }
  if (state.temporary.empty()) {
    state.hold_back(offset, bytes);
    return;
  }
  in_pieces(bytes.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    const std::error_code error =
        state.file.write_all_at(offset + begin, bytes.subspan(begin, end - begin));
    if (error) fail("writing " + state.path + ": " + reason(error));
  });
  const std::uint64_t end = offset + bytes.size();
  std::uint64_t seen = state.end;
  while (seen < end && !state.end.compare_exchange_weak(seen, end)) {
  }
}

void OutputFile::commit(bool wanted_after_stop) {
  assert(!state_->committed && "commit called twice");
  state_->committed = true;
  if (state_->temporary.empty()) {
    state_->send_held_back(wanted_after_stop);
  } else {
    state_->give_name();
  }
}

void remove_unfinished_outputs() noexcept {
  unfinished_mutex.lock();  // for good: no file may be created behind this
  for (const char* path : unfinished) {
    if (path != nullptr) remove_file(path);
  }
}

bool is_same_file(const std::string& read, const std::string& written) {
  if (written == "-") return false;
  // Windows has no name for the file that standard input is, and does not let it be replaced.
  const fs::path source = read == "-" ? fs::path("/dev/stdin") : to_path(read);
  std::error_code error;
  return fs::equivalent(source, to_path(written), error);
}

bool may_have_several_writers(const std::string& path) {
  std::error_code ignored;
  return path == "-" || fs::status(to_path(path), ignored).type() == fs::file_type::character;
}

std::string written_path(const std::string& path) {
  std::error_code error;
  std::string real;
  try {
    real = real_path_to_be(resolve_links(path), error);
  } catch (const Error&) {  // links that lead nowhere, which writing refuses
    error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
  }
  return error ? to_text(fs::absolute(to_path(path), error).lexically_normal()) : real;
}

bool names_same_file(const std::string& a, const std::string& b) {
  if (may_have_several_writers(a) || may_have_several_writers(b)) return false;
  return written_path(a) == written_path(b) || is_same_file(a, b);
}

void refuse_to_replace(const std::string& option, const std::string& path) {
  throw Error(ErrorKind::usage, option + " " + path +
                                    " is a file with something else, which would be lost; name "
                                    "another file, or remove this one");
}

}  // namespace dmlop
