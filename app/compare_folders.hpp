// Two folders that dmlop compare compares, file by file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "compare_files.hpp"

namespace dmlop::app {

struct FolderOptions {
  Format format = Format::text;
  bool quiet = false;
};

/// Whether the path names a folder.
bool is_folder(const std::string& path);

/// Compares the .npy files that have the same path below both folders, prints a line for each and a
/// summary, and returns the exit code: that of the worst file. A file that only one folder has, and
/// one that cannot be read, do not keep others from being compared. Errors: io_failed where a
/// folder cannot be listed; usage where neither has a .npy file; interrupted.
int compare_folders(const std::string& actual, const std::string& expected,
                    const ComparingOptions& options, const FolderOptions& printing);

}  // namespace dmlop::app
