// Files as the tool needs them: inputs mapped, outputs complete or absent. No formats here.
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

/// How many bytes of an input are wanted, as its first ones tell: asked with none, and again when
/// so many are there. It throws what is wrong with them.
using BytesWanted = std::function<std::uint64_t(std::span<const std::byte> first)>;

/// The bytes of one file, mapped read-only, or read where it is small; pipes, devices and standard
/// input ("-", /dev/stdin) are read into memory, until check_for_stop(). Errors: io_failed with the
/// system's reason; invalid_input for a directory.
///
/// Others can change a file while it is read, and one that is mapped while its bytes are used.
/// Whoever has read them asks before the result counts: require_intact().
class InputFile {
 public:
  /// Of a file with more than `max_bytes` no more is read, nor of a pipe or device with 2^30
  /// or more. Errors: invalid_input for it.
  static InputFile open(const std::string& path, std::uint64_t max_bytes = max_file_bytes);
  /// Of a pipe or device no more is read than is wanted. Errors: also what `wanted` throws.
  static InputFile open(const std::string& path, const BytesWanted& wanted);
  /// The file that was found, which need not be pinned any longer.
  static InputFile open(const PinnedFile& file, std::uint64_t max_bytes = max_file_bytes);
  static InputFile open(const PinnedFile& file, const BytesWanted& wanted);

  InputFile(InputFile&&) noexcept;
  InputFile& operator=(InputFile&&) noexcept;
  ~InputFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  /// Whether these are all: a pipe may have more than was wanted.
  bool is_whole() const { return is_whole_; }
  /// The bytes as text, once all of them were there. Errors: as require_intact().
  std::string text() const;

  /// Errors: io_failed when the file was changed since it was opened, so that what was read from
  /// bytes() is neither the old nor the new file.
  void require_intact() const;
  /// The same for a file that others may write more to: what was there when it was opened counts.
  void require_not_shorter() const;

  /// What `read` returns for the bytes; where they changed meanwhile, what it returns or throws
  /// means nothing. Errors: as require_intact(), and what `read` throws.
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
  FileStatus opened_;                     // likewise
  FileChange change_ = FileChange::none;  // while it was read into memory
  bool is_whole_ = true;
  std::vector<std::byte> owned_;
};

/// What a file's bytes are to a terminal, which acts on some that no text has.
enum class Contents { binary, text };

/// A file that appears complete under its name or not at all: bytes go to a file in the same folder
/// that has no name, or a temporary one where the system has no such files, and commit() gives it
/// the name. For a pipe, a device and what this process was started with ("-", /dev/stdout,
/// /dev/fd/7), bytes are held back until commit(). A link stays a link: what it names is replaced.
/// A replaced file's permission bits stay. The file ends where the last write ended.
///
/// Errors: io_failed with the path, the system's reason and what was being done; usage where binary
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

  /// Writes `bytes` at `offset`; may be called from several threads for disjoint ranges.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);

  /// Gives the file its name; whatever had that name is replaced. What goes to a pipe is sent to
  /// its reader; unless it is `wanted_after_stop`, that ends when the caller is to stop.
  void commit(bool wanted_after_stop = false);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Removes the temporary files of all outputs that are being written, for a program that has to end
/// at once: no output can be created afterwards. Needs no memory.
void remove_unfinished_outputs() noexcept;

/// The path at the end of a chain of links that starts at `path`; the last link may dangle. It ends
/// at a name of an open file of this process, such as /dev/stdout. Errors: io_failed.
std::string resolve_links(const std::string& path);
/// The open file of this process that a path names, through links; see descriptor_named().
std::optional<int> open_file_named(const std::string& path);

/// Whether reading the path reads standard input: "-", /dev/stdin and its other names.
bool is_standard_input(const std::string& path);
/// Whether what is written to the path goes where standard output goes, so that no text may: "-",
/// /dev/stdout and its other names, and an open file, not a device, that is the same.
bool is_standard_output(const std::string& path);

/// Whether both paths name the same existing file (through links, too). "-" is standard input where
/// it is read; standard output, where it is written, is no file.
bool is_same_file(const std::string& read, const std::string& written);

/// Whether several may write to a path and none loses what another wrote: "-" and devices, such as
/// /dev/null.
bool may_have_several_writers(const std::string& path);

/// The file that writing to a path makes or replaces, by one name for all ways to write it: links
/// are followed, also those to nothing.
std::string written_path(const std::string& path);

/// Whether both paths name the same file, which may come to exist later, and which writing to one
/// would take from the other.
bool names_same_file(const std::string& a, const std::string& b);

/// For a file that is none of those that an option replaces. Errors: usage, always.
[[noreturn]] void refuse_to_replace(const std::string& option, const std::string& path);

}  // namespace dmlop
