// Folders with all that lies below them.
#pragma once

#include <filesystem>
#include <functional>
#include <system_error>

namespace dmlop {

/// What a walk does with what it finds. Paths begin with that of the root.
struct FolderWalk {
  /// Each entry of each folder, in no order. A link to a folder is a folder.
  std::function<void(const std::filesystem::path& path, bool is_folder)> entry;
  /// Whether a link to a folder is followed; all are where this is empty.
  std::function<bool(const std::filesystem::path& link)> follows = {};
  /// A folder that cannot be listed, or not to its end.
  std::function<void(const std::filesystem::path& folder, const std::error_code& error)> unlisted;
};

/// Finds each folder of a tree once, however many links lead to it and even if links form circles.
/// A folder has its own name or, if it has none in the tree, that of the first link. Errors:
/// interrupted, and what the walk's functions throw.
void walk_folders(const std::filesystem::path& root, const FolderWalk& walk);

}  // namespace dmlop
