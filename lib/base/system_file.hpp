// A thin layer over the system's files: it hides the differences between POSIX and Windows and does
// nothing else. Paths are UTF-8 everywhere. Callers say what a failure means to the user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

namespace dmlop {

/// The reason why a system call failed, in words that are the same on every system if possible.
std::string reason(const std::error_code& error);

/// The largest offset that a file can have.
inline constexpr std::uint64_t max_file_bytes = (std::uint64_t{1} << 63) - 1;

enum class FileKind { regular, folder, other };  // other: a pipe, a device

struct FileStatus {
  FileKind kind = FileKind::other;
  std::uint64_t bytes = 0;  // of a regular file
  // Identifies the file and the time when its contents last changed.
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::int64_t modified_nanoseconds = 0;
};

/// An open file. It is closed at the end of its life and not inherited by child processes. Calls
/// that a signal interrupts are repeated.
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

  /// On failure the file is not open and `error` says why. A pipe opens before it has a writer. A
  /// read that finds nothing means the end only after wait_for_input().
  static SystemFile open_to_read(const std::string& path, std::error_code& error);
  /// Opens a file, pipe or device that exists. A pipe without a reader gives the error
  /// no_such_device_or_address.
  static SystemFile open_to_write(const std::string& path, std::error_code& error);
  /// Creates a file. Gives the error file_exists if the name is taken.
  static SystemFile create_new(const std::string& path, std::error_code& error);
  /// Creates a file without a name in a folder. It disappears if it is closed, or the process ends,
  /// before link() names it. Gives the error operation_not_supported if the system has no such
  /// files.
  static SystemFile create_unnamed(const std::string& folder, std::error_code& error);
  /// Opens or creates a file to which all writes append.
  static SystemFile open_to_append(const std::string& path, std::error_code& error);
  /// These stay open when the object is destroyed.
  static SystemFile standard_input();
  static SystemFile standard_output();
  /// A stream that the process was started with. Gives the error bad_file_descriptor for any other,
  /// or if it cannot be written.
  static SystemFile inherited_output(int descriptor, std::error_code& error);

  bool is_open() const {
    return handle_ != none;
  }
  FileStatus status(std::error_code& error) const;
  bool is_terminal() const noexcept;
  /// Reads up to `room.size()` bytes; returns 0 at the end. Waits for a pipe that is empty.
  std::size_t read_some(std::span<std::byte> room, std::error_code& error);
  /// The same at an offset of a regular file. It does not change where read_some() continues.
  std::size_t read_some_at(std::uint64_t offset, std::span<std::byte> room, std::error_code& error);
  /// Where read_some() continues in a regular file.
  std::uint64_t position() const;
  /// Waits until no write call to the file is under way, on file systems that let such a call
  /// finish first (on Linux ext4, btrfs, tmpfs and others). Does nothing on others.
  void wait_for_running_write() const;
  /// Whether somebody has the file open for writing, as far as the system tells. (Linux tells the
  /// file's owner.)
  bool is_open_for_writing() const;
  /// Waits up to `milliseconds` for input or the end; false if neither came.
  bool wait_for_input(int milliseconds);
  /// Writes all bytes in order. A closed pipe gives an error and raises no signal. On POSIX
  /// `between_steps` is called now and then, also while a pipe is full; an exception from it ends
  /// the writing.
  std::error_code write_all(std::span<const std::byte> bytes, void (*between_steps)() = nullptr);
  /// Writes all bytes at an offset. Several threads may call it.
  std::error_code write_all_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Reserves disk space for `bytes` from `begin` on; the file may grow to that size. Gives the
  /// error operation_not_supported if the file system cannot do it.
  std::error_code reserve(std::uint64_t begin, std::uint64_t bytes);
  /// Truncates or extends the file to `bytes`.
  std::error_code resize(std::uint64_t bytes);
  /// Locks the file until it is closed or the process ends in any way. It excludes only others that
  /// lock it too. Gives the error resource_unavailable_try_again if it is locked already,
  /// operation_not_supported if the file system cannot lock.
  std::error_code lock();
  /// Copies the permission bits of another file. Does nothing on systems without them.
  std::error_code take_permissions_of(const std::string& path);
  /// Gives a file of create_unnamed() a name. Gives the error file_exists if the name is taken.
  /// Errors that closing the file could report, such as a full disk, are reported before it has the
  /// name.
  std::error_code link(const std::string& path);
  /// Closes the file, even if it returns an error.
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

/// Maps a whole file for reading. Returns null with the reason in `error`; the reason is
/// no_such_device if the file can only be read. The mapping remains when the file is closed. If the
/// file gets shorter while it is mapped, the lost bytes read as zeros, and has_lost_bytes() reports
/// it.
const std::byte* map_to_read(const SystemFile& file, std::uint64_t bytes, std::error_code& error);
void unmap(const std::byte* address, std::uint64_t bytes) noexcept;
/// Whether a read of the mapping at `address` met bytes that the file no longer has.
bool has_lost_bytes(const std::byte* address) noexcept;

enum class FileChange { none, longer, shorter, rewritten };
/// How the file that `path` named at `before` has changed; nothing if the path now names another
/// file.
FileChange change_of(const std::string& path, const FileStatus& before, std::error_code& error);

/// The same, given the status `now` of the path's file.
FileChange change_between(const FileStatus& before, const FileStatus& now);

/// The `modified_nanoseconds` that a file written now gets, or a little less, because the clock may
/// advance in steps.
std::int64_t file_clock_nanoseconds();

/// The number of the open file that a path such as /dev/stdout, /dev/fd/7 or /proc/self/fd/7 names;
/// nothing for other paths, and on Windows.
std::optional<int> descriptor_named(const std::string& path);
/// Whether both are the same open file, unless it is a terminal or another device.
bool are_same_stream(int a, int b);

/// Twelve letters and digits from the system's random numbers, which cannot be guessed.
std::string random_letters();

/// Renames a file to `to` in one step and replaces what had that name.
std::error_code replace_file(const std::string& from, const std::string& to);
/// Removes a file if possible. Needs no memory.
void remove_file(const char* path) noexcept;

enum class EntryKind { folder, link, other };
struct FolderEntry {
  std::string name;
  EntryKind kind;
};
/// What a folder has, in no order. std::filesystem's iterator is of no use here: it ends the process
/// if it gets no memory. What was read before an error is returned, too.
std::vector<FolderEntry> entries_of(const std::string& folder, std::error_code& error);

/// Whether files can be created in the folder.
std::error_code check_writable_folder(const std::string& path);
/// Whether an existing pipe or device can be written.
std::error_code check_writable(const std::string& path);

enum class StandardStream { output, error };
/// Whether the stream goes to a terminal that understands escape sequences.
bool is_terminal(StandardStream stream);

/// The value of an environment variable in UTF-8; "" if it is not set.
std::string environment_variable(const std::string& name);

/// If standard streams are closed, opens something in their place that can be neither read nor
/// written, so that no other file gets their numbers. Call it before any file is opened.
void occupy_closed_standard_streams() noexcept;

/// The folder for files that this user's programs can make again, with "/dmlop" appended; "" if
/// there is none.
std::string cache_folder();

}  // namespace dmlop
