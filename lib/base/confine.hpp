// Paths that stand in files of others, kept inside a folder. What the caller names himself is not
// confined.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace dmlop {

/// Why a path is refused, as the end of a sentence ("leads out of jobs"), and what to do. Empty
/// where it is not.
struct PathProblem {
  std::string what;
  std::string remedy;

  explicit operator bool() const { return !what.empty(); }
};

class Confinement {
 public:
  /// A folder that may come to exist later. Errors: io_failed where it cannot be looked up.
  explicit Confinement(std::string folder);
  /// The folder of a file; of standard input ("-"), the current one.
  static Confinement beside(const std::string& file);

  const std::string& folder() const { return folder_; }

  /// A path as it stands in a file must be relative, without "..", and no stream; nor a drive, a
  /// stream or a device of Windows, on any system.
  PathProblem problem_of_text(std::string_view written) const;
  /// Where a path leads must be inside, links followed, and a regular file if it exists.
  PathProblem problem_of_file(const std::string& path) const;
  /// The same of a folder, which need not exist.
  PathProblem problem_of_folder(const std::string& path) const;

  /// The rule that a violation breaks, for a message.
  std::string rule() const;

 private:
  std::string folder_;  // as given
  std::string root_;    // without links
};

/// Null: nothing is confined.
using SharedConfinement = std::shared_ptr<const Confinement>;

/// A file that stays the one that was found inside, whatever becomes of its name, for as long as
/// this lives. (On Windows it is looked up again when it is opened.)
class PinnedFile {
 public:
  /// Without a confinement any file. Errors: io_failed, invalid_input when it is outside or not a
  /// regular file.
  PinnedFile(const SharedConfinement& confinement, const std::string& path);
  PinnedFile(const PinnedFile&) = delete;
  PinnedFile& operator=(const PinnedFile&) = delete;
  ~PinnedFile();

  /// What to open.
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

/// Where a path leads, links followed, if only its beginning exists. A link that leads nowhere is
/// an error.
std::string real_path_to_be(const std::string& path, std::error_code& error);

}  // namespace dmlop
