// Files as the tool needs them: inputs are mapped, outputs are complete or absent. This layer knows
// no formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/system_file.hpp"

namespace dmlop {

class PinnedFile;

/// Decides from the first bytes of an input how many bytes are wanted. It is called with no bytes,
/// and again when as many are there as it asked for. It throws if the bytes are wrong.
using BytesWanted = std::function<std::uint64_t(std::span<const std::byte> first)>;

/// The bytes of one file. They are mapped read-only, or read if the file is small. Pipes, devices
/// and standard input ("-", /dev/stdin) are read into memory; reading them obeys check_for_stop().
/// Errors: io_failed with the system's reason; invalid_input for a directory.
///
/// Others can change a file while it is read, or while its mapped bytes are in use. Call
/// require_intact() after reading the bytes and before relying on the result.
class InputFile {
 public:
  /// Reads at most `max_bytes` of a file, and less than 2^30 bytes of a pipe or device. Errors:
  /// invalid_input if there is more.
  static InputFile open(const std::string& path, std::uint64_t max_bytes = max_file_bytes);
  /// Reads no more of a pipe or device than is wanted. Errors: also what `wanted` throws.
  static InputFile open(const std::string& path, const BytesWanted& wanted);
  /// Opens the file that was pinned. The pin may end afterwards.
  static InputFile open(const PinnedFile& file, std::uint64_t max_bytes = max_file_bytes);
  static InputFile open(const PinnedFile& file, const BytesWanted& wanted);

  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;
  ~InputFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Whether bytes() is the whole file. A pipe may hold more than was wanted.
  bool is_whole() const { return is_whole_; }
  /// The bytes as text, if bytes() is the whole file. Errors: as require_intact().
  std::string text() const;

  /// Errors: io_failed if the file was changed after it was opened, so that bytes() may be neither
  /// the old nor the new file.
  void require_intact() const;
  /// The same for a file that others may append to: only the part that existed when it was opened
  /// counts.
  void require_not_shorter() const;

  /// Returns what `read` returns for the bytes. If the bytes changed meanwhile, its result or
  /// exception is discarded. Errors: as require_intact(), and what `read` throws.
  template <typename Read>
  auto read_intact(Read&& read) const {
    try {
      auto result = read(bytes_);
      require_intact();
      return result;
    } catch (...) {
      require_intact();
      throw;
    }
  }

 private:
  InputFile() = default;
  static InputFile open(const std::string& path, std::uint64_t max_bytes,
                        const BytesWanted* wanted);
  void read_stream(SystemFile& file, const FileStatus& status, std::uint64_t max_bytes,
                   const BytesWanted* wanted);
  bool map(const SystemFile& file, const FileStatus& status, const std::string& path);
  void own(std::vector<std::byte> bytes);
  void release() noexcept;
  FileChange change() const;

  std::span<const std::byte> bytes_;
  const std::byte* mapping_ = nullptr;
  std::string path_;                      // of a mapped file
  FileStatus opened_;                     // of a mapped file
  FileChange change_ = FileChange::none;  // while it was read into memory
  bool is_whole_ = true;
  std::vector<std::byte> owned_;
};

/// Whether a terminal may show a file's bytes. It would execute some bytes of binary contents.
enum class Contents { binary, text };

/// A file that appears complete under its name or not at all. The bytes go to a file without a name
/// in the same folder, or to a temporary file if the system has no files without names; commit()
/// gives it the name. If the target is a pipe, a device or a stream that this process was started
/// with ("-", /dev/stdout, /dev/fd/7), the bytes are held back until commit(). A link stays a link,
/// and the file that it names is replaced. A replaced file keeps its permission bits. The file ends
/// where the last write ended.
///
/// Errors: io_failed with the path, the system's reason and what was being done; usage if binary
/// contents would go to a terminal.
class OutputFile {
 public:
  /// Creates the file and reserves `size` bytes of disk.
  OutputFile(std::string path, std::uint64_t size, Contents contents = Contents::binary);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  /// Removes the file unless committed.
  ~OutputFile();

  const std::string& path() const;

  /// Writes `bytes` at `offset`. Several threads may call it for ranges that do not overlap.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Gives the file its name and replaces whatever had that name. For a pipe, sends the bytes to
  /// the reader; unless `wanted_after_stop`, this obeys check_for_stop().
  void commit(bool wanted_after_stop = false);

 private:
  friend void commit_together(std::span<OutputFile* const> files);
  struct State;
  std::unique_ptr<State> state_;
};

/// Commits several outputs, in order. After an error, every file is what it was before, except on
/// file systems without hard links, where files that were replaced already stay replaced. Pipes and
/// devices come first; what they got cannot be taken back. A process that is killed in the middle
/// leaves the first of the files complete and the others as they were.
void commit_together(std::span<OutputFile* const> files);

/// Removes the temporary files of all outputs that are being written, for a program that has to end
/// at once. No output can be created afterwards. Needs no memory.
void remove_unfinished_outputs() noexcept;

/// The path at the end of a chain of links that starts at `path`. The last link may dangle. The
/// chain ends at the name of an open file of this process, such as /dev/stdout. Errors: io_failed.
std::string resolve_links(const std::string& path);
/// The open file of this process that a path names, after links are followed. See
/// descriptor_named().
std::optional<int> open_file_named(const std::string& path);

/// Whether the path is standard input: "-", /dev/stdin or another of its names.
bool is_standard_input(const std::string& path);
/// Whether writing to the path writes to standard output, so that no text may go there: "-",
/// /dev/stdout or another of its names, or an open file that is the same, except a device.
bool is_standard_output(const std::string& path);

/// Whether both paths name the same existing file, after links are followed. A `read` of "-" is
/// standard input. A `written` of "-" is not a file.
bool is_same_file(const std::string& read, const std::string& written);

/// Whether several writers may use a path without losing each other's data: "-" and devices such as
/// /dev/null.
bool may_have_several_writers(const std::string& path);

/// The file that writing to a path creates or replaces. All ways to name it give the same result:
/// links are followed, even if they lead nowhere.
std::string written_path(const std::string& path);

/// Whether both paths name the same file, or would if it were created, so that writing to one would
/// replace the other.
bool names_same_file(const std::string& a, const std::string& b);

/// Reports that a file is not of the kind that an option replaces. Errors: usage, always.
[[noreturn]] void refuse_to_replace(const std::string& option, const std::string& path);

}  // namespace dmlop
