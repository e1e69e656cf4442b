// The outputs of base/file.hpp: files that appear complete or not at all, and streams.
#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/output_progress.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/per_process.hpp"
#include "base/system_file.hpp"

namespace dmlop {
namespace {

constexpr std::uint64_t min_reserved_bytes = std::uint64_t{1} << 20;

}  // namespace

namespace {

/// The names of existing temporary files. If there are more than fit here, some are not listed.
std::array<const char*, 256> unfinished;
// Also held while a file is created. No other thread holds it when the process forks.
std::mutex unfinished_mutex;

void lock_unfinished() {
  unfinished_mutex.lock();
}
void unlock_unfinished() {
  unfinished_mutex.unlock();
}
// The files are the parent's.
void forget_unfinished() {
  unfinished.fill(nullptr);
  unfinished_mutex.unlock();
}
[[maybe_unused]] const int fork_handlers =
    at_forks(lock_unfinished, unlock_unfinished, forget_unfinished);

void replace_unfinished(const char* listed, const char* by) noexcept {
  const auto entry = std::find(unfinished.begin(), unfinished.end(), listed);
  if (entry != unfinished.end()) *entry = by;
}

void unlist_unfinished(const std::string& path) noexcept {
  const std::scoped_lock lock(unfinished_mutex);
  replace_unfinished(path.c_str(), nullptr);
}

}  // namespace

/// Bytes either go to `file`, which has no name yet or is called `temporary`, or are held back in
/// memory and later go in order to the open file `stream` or to the pipe or device `target`.
struct OutputFile::State {
  explicit State(std::string given_path) : path(std::move(given_path)) {}
  ~State() {
    file.close();
    for (const std::string* name : {&temporary, &former}) {
      if (name->empty()) continue;
      remove_file(name->c_str());
      unlist_unfinished(*name);
    }
  }

  std::string path;  // as given, for messages
  std::optional<int> stream;
  std::string target;
  std::string folder;  // of the file
  std::string temporary;
  std::string former;  // another name of the file that is replaced, while it may come back
  SystemFile file;
  bool is_held_back = true;
  bool is_new = false;  // nothing had the name of the target
  std::uint64_t reserved = 0;
  std::atomic<std::uint64_t> end = 0;  // where the last byte written ends
  std::mutex held_back_mutex;
  std::vector<std::byte> held_back;
  bool committed = false;

  void choose_target(std::uint64_t size);
  void refuse_terminal() const;
  void require_name() const;
  void create_file();
  std::error_code take_temporary_name(
      std::string& taken, const std::function<std::error_code(const std::string&)>& take) const;
  void reserve(std::uint64_t size);
  void reserve_memory(std::uint64_t size);
  void hold_back(std::uint64_t offset, std::span<const std::byte> bytes);
  SystemFile open_stream(std::error_code& error) const;
  void send_to_stream(void (*between_steps)());
  void send_held_back(bool wanted_after_stop);
  void shrink_to_end();
  void give_name();
  bool link();
  void keep_former();
  void take_back() noexcept;
};

namespace {

namespace fs = std::filesystem;

/// What `path` names after links are followed; not_found if it names nothing yet.
fs::file_type find_existing(const std::string& path) {
  std::error_code error;
  const fs::file_type type = fs::status(to_path(path), error).type();
  if (error && type != fs::file_type::not_found) fail_io("creating " + path + ": " + reason(error));
  return type;
}

void require_folder(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::file_type type = fs::status(to_path(folder), error).type();
  if (type == fs::file_type::directory || type == fs::file_type::none) return;
  if (type != fs::file_type::not_found)
    fail_io("creating " + path + ": " + folder + " is not a folder");
  fail_io("creating " + path + ": folder " + folder +
          " does not exist; create it first (mkdir -p)");
}

}  // namespace

void OutputFile::State::choose_target(std::uint64_t size) {
  if (path.empty()) fail_io("creating an output file: its path is empty");
  constexpr int standard_output = 1;
  stream = path == "-" ? standard_output : open_file_named(path);
  if (stream) {
    std::error_code error;
    open_stream(error);
    if (error) fail_io("opening " + path + ": " + reason(error));
    return;
  }
  const fs::file_type existing = find_existing(path);
  if (existing == fs::file_type::directory)
    fail_io("creating " + path + ": is a directory; name a file inside it");
  if (existing == fs::file_type::socket)
    fail_io("creating " + path + ": is a socket; name a file or a pipe, or - for standard output");
  if (existing != fs::file_type::regular && existing != fs::file_type::not_found) {
    if (const std::error_code error = check_writable(path))
      fail_io("opening " + path + ": " + reason(error));
    target = path;
    return;
  }
  target = resolve_links(path);
  if (existing == fs::file_type::regular) require_name();
  create_file();
  if (existing == fs::file_type::regular) {
    if (const std::error_code error = file.take_permissions_of(path))
      fail_io("setting the permissions of " + path + ": " + reason(error));
  }
  reserve(size);
}

void OutputFile::State::refuse_terminal() const {
  std::error_code error;
  const bool is_device = !target.empty() && is_held_back &&
                         fs::status(to_path(target), error).type() == fs::file_type::character;
  if (!stream && !is_device) return;
  const SystemFile opened = stream ? open_stream(error) : SystemFile::open_to_write(target, error);
  if (error || !opened.is_terminal()) return;
  throw Error(ErrorKind::usage, (path == "-" ? "standard output" : path) +
                                    " is a terminal, and these bytes are not text; write them to a "
                                    "file, such as > FILE or -o FILE");
}

// A link in /proc to another program's open file no longer names the file once the file has no
// name, or a different one.
void OutputFile::State::require_name() const {
  std::error_code error;
  if (target == path || fs::equivalent(to_path(path), to_path(target), error)) return;
  // fs::equivalent reports any failure as a missing file. Asking for each status gives the reason,
  // or succeeds now.
  const fs::file_type here = fs::status(to_path(path), error).type();
  if (here == fs::file_type::none) fail_io("creating " + path + ": " + reason(error));
  const fs::file_type there = fs::status(to_path(target), error).type();
  if (there == fs::file_type::none) fail_io("creating " + path + ": " + reason(error));
  if (there != fs::file_type::not_found && fs::equivalent(to_path(path), to_path(target), error))
    return;
  fail_io("creating " + path + ": the file behind it has no name, or not " + target +
          "; name a file, or - for standard output");
}

void OutputFile::State::create_file() {
  const fs::path target_path = to_path(target);
  if (target_path.filename().empty()) fail_io("creating " + path + ": names a folder; name a file");
  folder = target_path.has_parent_path() ? to_text(target_path.parent_path()) : ".";
  require_folder(path, folder);
  is_held_back = false;
  std::error_code error;
  file = SystemFile::create_unnamed(folder, error);
  if (!error) return;
  error = take_temporary_name(temporary, [this](const std::string& name) {
    std::error_code failed;
    file = SystemFile::create_new(name, failed);
    return failed;
  });
  if (error)
    fail_io("creating " + path + ": no file can be created in folder " + folder + ": " +
            reason(error));
}

/// Calls `take` with one name after another until one is free; `taken` is then that name.
std::error_code OutputFile::State::take_temporary_name(
    std::string& taken, const std::function<std::error_code(const std::string&)>& take) const {
  constexpr std::size_t max_kept = 200;  // a file name has at most 255 bytes
  constexpr int max_attempts = 100;
  const std::string name = to_text(to_path(target).filename()).substr(0, max_kept);
  std::error_code error = std::make_error_code(std::errc::file_exists);
  for (int attempt = 0; attempt < max_attempts && error == std::errc::file_exists; ++attempt) {
    std::string candidate = folder + "/." + name + "." + random_letters() + ".tmp";
    const std::scoped_lock lock(unfinished_mutex);
    error = take(candidate);
    if (error) continue;
    taken = std::move(candidate);  // cannot fail, so the file will be removed
    replace_unfinished(nullptr, taken.c_str());
  }
  return error;
}

void OutputFile::State::reserve(std::uint64_t size) {
  if (size < min_reserved_bytes) return;
  const std::string action = "reserving " + std::to_string(size) + " bytes for " + path + ": ";
  if (size > max_file_bytes)
    fail_io(action + reason(std::make_error_code(std::errc::file_too_large)));
  // Asks first, because reserving too much would fill the disk for a moment.
  std::error_code error;
  const fs::space_info disk = fs::space(to_path(folder), error);
  if (!error && disk.capacity > 0 && disk.available < size) {
    fail_io(action + reason(std::make_error_code(std::errc::no_space_on_device)) +
            "; its folder has " + std::to_string(disk.available) + " bytes free");
  }
  // A file system in memory takes seconds for large sizes.
  constexpr std::uint64_t step = std::uint64_t{1} << 26;
  for (std::uint64_t begin = 0; begin < size; begin += step) {
    check_for_stop();
    error = file.reserve(begin, std::min(step, size - begin));
    if (error == std::errc::operation_not_supported) return;
    if (error) fail_io(action + reason(error));
  }
  reserved = size;
}

// Reserves addresses only, so that a size beyond the machine's memory is reported before anything
// is computed.
void OutputFile::State::reserve_memory(std::uint64_t size) {
  try {
    held_back.reserve(size);
  } catch (const std::exception&) {  // bad_alloc, length_error
    fail_io("holding " + std::to_string(size) + " bytes for " + path + ": out of memory");
  }
}

void OutputFile::State::hold_back(std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(held_back_mutex);
  const std::uint64_t needed = offset + bytes.size();
  try {
    if (needed > held_back.size()) held_back.resize(needed);
  } catch (const std::exception&) {  // bad_alloc, length_error
    fail_io("holding " + std::to_string(needed) + " bytes for " + path + ": out of memory");
  }
  std::memcpy(held_back.data() + offset, bytes.data(), bytes.size());
}

SystemFile OutputFile::State::open_stream(std::error_code& error) const {
  if (path != "-") return SystemFile::inherited_output(*stream, error);
  error.clear();
  return SystemFile::standard_output();
}

void OutputFile::State::send_to_stream(void (*between_steps)()) {
  std::error_code error;
  SystemFile opened = open_stream(error);
  if (!error) error = opened.write_all(held_back, between_steps);
  if (error)
    fail_io("writing to " + (path == "-" ? "standard output" : path) + ": " + reason(error));
}

void OutputFile::State::send_held_back(bool wanted_after_stop) {
  void (*const between_steps)() = wanted_after_stop ? nullptr : check_for_stop;
  if (stream) return send_to_stream(between_steps);
  // Opens the pipe only now, because opening waits for its reader, who may read another output
  // first.
  std::error_code error;
  const bool is_pipe = find_existing(target) == fs::file_type::fifo;
  while (!(file = SystemFile::open_to_write(target, error)).is_open() && is_pipe &&
         error == std::errc::no_such_device_or_address) {
    check_for_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (error) fail_io("opening " + path + ": " + reason(error));
  error = file.write_all(held_back, between_steps);
  if (!error) error = file.close();
  if (error) fail_io("writing " + path + ": " + reason(error));
}

void OutputFile::State::shrink_to_end() {
  std::error_code error;
  if (reserved > end) error = file.resize(end);
  if (error) fail_io("writing " + path + ": " + reason(error));
  reserved = 0;
}

void OutputFile::State::give_name() {
  shrink_to_end();
  if (temporary.empty() && link()) return;
  std::error_code error = file.close();
  if (error) fail_io("writing " + path + ": " + reason(error));
  error = replace_file(temporary, target);
  if (error) fail_io("naming " + path + ": " + reason(error));
  unlist_unfinished(temporary);
  temporary.clear();
}

/// Gives the file its name. Returns false if the file has a temporary name instead, because the
/// target exists.
bool OutputFile::State::link() {
  std::error_code error = file.link(target);
  const bool is_taken = error == std::errc::file_exists;
  if (is_taken)
    error =
        take_temporary_name(temporary, [this](const std::string& name) { return file.link(name); });
  if (error) fail_io("naming " + path + ": " + reason(error));
  return !is_taken;
}

/// Gives the file that is to be replaced another name, if there is one and the file system can.
void OutputFile::State::keep_former() {
  std::error_code error;
  const fs::file_type type = fs::status(to_path(target), error).type();
  is_new = type == fs::file_type::not_found;
  if (type != fs::file_type::regular) return;
  take_temporary_name(former, [this](const std::string& name) {
    std::error_code failed;
    fs::create_hard_link(to_path(target), to_path(name), failed);
    return failed;
  });
}

/// Undoes give_name(), as far as keep_former() could prepare that.
void OutputFile::State::take_back() noexcept {
  if (is_new) return remove_file(target.c_str());
  try {
    if (former.empty() || replace_file(former, target)) return;
  } catch (const std::bad_alloc&) {
    return;
  }
  unlist_unfinished(former);
  former.clear();
}

OutputFile::OutputFile(std::string path, std::uint64_t size, Contents contents)
    : state_(std::make_unique<State>(std::move(path))) {
  state_->choose_target(size);
  if (contents == Contents::binary) state_->refuse_terminal();
  if (state_->is_held_back) state_->reserve_memory(size);
}

OutputFile::OutputFile(OutputFile&&) noexcept = default;

OutputFile::~OutputFile() = default;

const std::string& OutputFile::path() const {
  return state_->path;
}

namespace {

std::atomic<std::uint64_t> bytes_written = 0;

}  // namespace

std::uint64_t output_bytes_written() {
  return bytes_written;
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  State& state = *state_;
  assert(!state.committed && "write_at after commit");
  if (bytes.empty()) return;
  if (bytes.size() > max_file_bytes || offset > max_file_bytes - bytes.size()) {
    fail_io("writing " + state.path + ": " +
            reason(std::make_error_code(std::errc::file_too_large)));
  }
  if (state.is_held_back) {
    state.hold_back(offset, bytes);
    return;
  }
  in_pieces(bytes.size(), 1, [&](std::uint64_t begin, std::uint64_t end) {
    const std::error_code error =
        state.file.write_all_at(offset + begin, bytes.subspan(begin, end - begin));
    if (error) fail_io("writing " + state.path + ": " + reason(error));
  });
  bytes_written += bytes.size();
  const std::uint64_t end = offset + bytes.size();
  std::uint64_t seen = state.end;
  while (seen < end && !state.end.compare_exchange_weak(seen, end)) {
  }
}

void OutputFile::commit(bool wanted_after_stop) {
  assert(!state_->committed && "commit called twice");
  state_->committed = true;
  if (state_->is_held_back) {
    state_->send_held_back(wanted_after_stop);
  } else {
    state_->give_name();
  }
}

void commit_together(std::span<OutputFile* const> files) {
  if (files.size() == 1) return files.front()->commit();
  std::vector<OutputFile::State*> named;
  for (OutputFile* file : files) {
    OutputFile::State& state = *file->state_;
    assert(!state.committed && "committed twice");
    state.committed = true;
    state.is_held_back ? state.send_held_back(false) : state.shrink_to_end();
  }
  try {
    for (OutputFile* file : files) {
      OutputFile::State& state = *file->state_;
      if (state.is_held_back) continue;
      state.keep_former();
      state.give_name();
      named.push_back(&state);
    }
  } catch (...) {
    for (auto state = named.rbegin(); state != named.rend(); ++state) (*state)->take_back();
    throw;
  }
}

void remove_unfinished_outputs() noexcept {
  unfinished_mutex.lock();  // never unlocked: no file may be created after this
  for (const char* path : unfinished) {
    if (path != nullptr) remove_file(path);
  }
}

}  // namespace dmlop
