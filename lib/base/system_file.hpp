// The system's files, as thin as they can be: what differs between POSIX and Windows and nothing
// else. Paths are UTF-8 everywhere; what a failure means to the user is said by the callers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>

namespace dmlop {

/// Why a call of the system failed, in words that are the same on every system where it has them.
std::string reason(const std::error_code& error);

/// The largest offset that a file can have.
inline constexpr std::uint64_t max_file_bytes = (std::uint64_t{1} << 63) - 1;

enum class FileKind { regular, folder, other };  // other: a pipe, a device

struct FileStatus {
  FileKind kind = FileKind::other;
  std::uint64_t bytes = 0;  // of a regular file
  // Which file it is and when its contents changed last.
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::int64_t modified_nanoseconds = 0;
};

/// An open file, closed at the end of its life; not inherited by child processes. Calls that a
/// signal interrupts are made again.
class SystemFile {
 public:
#ifdef _WIN32
  using Handle = void*;
  static constexpr Handle none = nullptr;
#else
  using Handle = int;
  static constexpr Handle none = -1;
#endif

  SystemFile() = default;
  SystemFile(SystemFile&& other) noexcept;
  SystemFile& operator=(SystemFile&& other) noexcept;
  ~SystemFile() {
    close();
  }

  /// On failure the file is not open and `error` says why. A pipe opens before it has a writer;
  /// only after wait_for_input() a read that finds nothing means its end.
  static SystemFile open_to_read(const std::string& path, std::error_code& error);
  /// Opens a file, pipe or device that exists; error no_such_device_or_address for a pipe that
  /// nobody reads.
  static SystemFile open_to_write(const std::string& path, std::error_code& error);
  /// Creates a file; error file_exists where the name is taken.
  static SystemFile create_new(const std::string& path, std::error_code& error);
  /// Creates a file without a name in a folder; it goes when it is closed, or the process ends,
  /// before link() named it. error operation_not_supported where the system has no such files.
  static SystemFile create_unnamed(const std::string& folder, std::error_code& error);
  /// Opens or creates a file whose writes all go to its end.
  static SystemFile open_to_append(const std::string& path, std::error_code& error);
  /// These stay open when the object goes.
  static SystemFile standard_input();
  static SystemFile standard_output();
  /// One that the process was started with; bad_file_descriptor for others and for those that
  /// cannot be written.
  static SystemFile inherited_output(int descriptor, std::error_code& error);

  bool is_open() const {
    return handle_ != none;
  }
  FileStatus status(std::error_code& error) const;
  bool is_terminal() const noexcept;
  /// Reads up to `room.size()` bytes; 0 at the end. A pipe that has none yet is waited for.
  std::size_t read_some(std::span<std::byte> room, std::error_code& error);
  /// The same at an offset of a regular file; read_some() may go on behind it.
  std::size_t read_some_at(std::uint64_t offset, std::span<std::byte> room, std::error_code& error);
  /// Where read_some() goes on in a regular file.
  std::uint64_t position() const;
  /// Waits until no call is just writing to the file, on file systems that let such a call finish
  /// first (on Linux ext4, btrfs, tmpfs and others). Elsewhere it does nothing.
  void wait_for_running_write() const;
  /// Whether somebody has the file open for writing, as far as the system tells (Linux, the owner
  /// of the file).
  bool is_open_for_writing() const;
  /// Waits up to `milliseconds` for something to read, or the end; false when there is neither.
  bool wait_for_input(int milliseconds);
  /// Writes all of it in order; a closed pipe is an error and no signal. On POSIX `between_steps`
  /// is called now and then, also while a pipe has no room; what it throws ends the writing.
  std::error_code write_all(std::span<const std::byte> bytes, void (*between_steps)() = nullptr);
  /// Writes all of it at an offset; may be called from several threads.
  std::error_code write_all_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Takes disk space for `bytes` from `begin` on; the file may become so long.
  /// operation_not_supported where the file system cannot.
  std::error_code reserve(std::uint64_t begin, std::uint64_t bytes);
  /// Cuts the file off at, or extends it to, `bytes`.
  std::error_code resize(std::uint64_t bytes);
  /// Makes the file this one's alone until it is closed or the process ends, however it ends, among
  /// all who ask so; resource_unavailable_try_again where it is another's, operation_not_supported
  /// where the file system cannot.
  std::error_code lock();
  /// Gives the file the permission bits of another; where there are none, nothing.
  std::error_code take_permissions_of(const std::string& path);
  /// Gives a file of create_unnamed() a name; error file_exists where the name is taken. What
  /// closing the file could report, a full disk for example, is reported before it has the name.
  std::error_code link(const std::string& path);
  /// The file is closed in either case.
  std::error_code close() noexcept;

  Handle handle() const {
    return handle_;
  }

 private:
  explicit SystemFile(Handle handle, bool owned = true) : handle_(handle), is_owned_(owned) {}
#ifndef _WIN32
  static SystemFile shared_output(int descriptor);
#endif

  Handle handle_ = none;
  bool is_owned_ = true;
};

/// Maps a whole file for reading; null with the reason in `error`, which is no_such_device where
/// the file can only be read. It stays when the file closes. Bytes that the file loses while it is
/// mapped read as zeros, and has_lost_bytes() tells.
const std::byte* map_to_read(const SystemFile& file, std::uint64_t bytes, std::error_code& error);
void unmap(const std::byte* address, std::uint64_t bytes) noexcept;
/// Whether a read of the mapping at `address` met bytes that its file does not have any more.
bool has_lost_bytes(const std::byte* address) noexcept;

enum class FileChange { none, longer, shorter, rewritten };
/// What became of the file that `path` named at `before`; nothing where it names another file now.
FileChange change_of(const std::string& path, const FileStatus& before, std::error_code& error);

/// Likewise, as the name's file is `now`.
FileChange change_between(const FileStatus& before, const FileStatus& now);

/// What a file that is written now has as `modified_nanoseconds`, or a little less: the clock may
/// go on in steps.
std::int64_t file_clock_nanoseconds();

/// The number of the open file that a path such as /dev/stdout, /dev/fd/7 or /proc/self/fd/7 stands
/// for; nothing for other paths, and on Windows.
std::optional<int> descriptor_named(const std::string& path);
/// Whether both are the same open file, which is no terminal and no other device.
bool are_same_stream(int a, int b);

/// Twelve letters and digits that cannot be guessed: the system's random numbers.
std::string random_letters();

/// Gives a file the name `to` in one step; what had that name is replaced.
std::error_code replace_file(const std::string& from, const std::string& to);
/// Removes a file, if it can. Needs no memory.
void remove_file(const char* path) noexcept;

/// Whether files can be created in the folder.
std::error_code check_writable_folder(const std::string& path);
/// Whether an existing pipe or device can be written.
std::error_code check_writable(const std::string& path);

enum class StandardStream { output, error };
/// Whether somebody reads it on a terminal, which then understands escape sequences.
bool is_terminal(StandardStream stream);

/// A variable of the environment, UTF-8; "" where it is not set.
std::string environment_variable(const std::string& name);

/// Where standard streams are closed, opens something in their place that can neither be read nor
/// written, so that no other file gets their numbers. To be called before any file is opened.
void occupy_closed_standard_streams() noexcept;

/// The folder where this user's programs keep what they can make again, with "/dmlop"; "" where
/// there is none.
std::string cache_folder();

}  // namespace dmlop
