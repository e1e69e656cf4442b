// Keeps the paths that stand in other people's files inside a folder. Paths from the caller are not
// confined.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace dmlop {

/// Why a path is refused, as the end of a sentence ("leads out of jobs"), and a remedy. Empty if
/// the path is allowed.
struct PathProblem {
  std::string what;
  std::string remedy;

  explicit operator bool() const { return !what.empty(); }
};

class Confinement {
 public:
  /// The folder may be created later. Errors: io_failed if it cannot be looked up.
  explicit Confinement(std::string folder);
  /// The folder of a file. For standard input ("-"), the current folder.
  static Confinement beside(const std::string& file);

  const std::string& folder() const { return folder_; }

  /// A path in a file must be relative, without "..", and must not name a stream. On every system,
  /// the drives, streams and devices of Windows are refused too.
  PathProblem problem_of_text(std::string_view written) const;
  /// After links are followed, the path must be inside, and must be a regular file if it exists.
  PathProblem problem_of_file(const std::string& path) const;
  /// The same for a folder, which need not exist.
  PathProblem problem_of_folder(const std::string& path) const;

  /// The rule that a violation breaks, for a message.
  std::string rule() const;

 private:
  std::string folder_;  // as given
  std::string root_;    // without links
};

/// Null if nothing is confined.
using SharedConfinement = std::shared_ptr<const Confinement>;

/// A file that was found inside. While this lives, it stays the same file, whatever happens to its
/// name. (On Windows the name is looked up again when the file is opened.)
class PinnedFile {
 public:
  /// Without a confinement, accepts any file. Errors: io_failed; invalid_input if the file is
  /// outside or not a regular file.
  PinnedFile(const SharedConfinement& confinement, const std::string& path);
  PinnedFile(const PinnedFile&) = delete;
  PinnedFile& operator=(const PinnedFile&) = delete;
  ~PinnedFile();

  /// The path to open.
  const std::string& path() const { return path_; }
  /// The path as it was given.
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  std::string path_;
  int descriptor_ = -1;
};

/// The path of an existing file or folder without links.
std::string real_path(const std::string& path, std::error_code& error);

/// Where a path leads after links are followed, even if only its beginning exists. A link that
/// leads nowhere is an error.
std::string real_path_to_be(const std::string& path, std::error_code& error);

}  // namespace dmlop
