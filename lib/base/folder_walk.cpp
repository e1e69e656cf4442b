#include "base/folder_walk.hpp"

#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/confine.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

class FolderWalker {
 public:
  explicit FolderWalker(const FolderWalk& walk) : walk_(walk) {}

  void run(const fs::path& root) {
    walk_tree(root);
    while (!links_.empty()) walk_tree(links_.extract(links_.begin()).value());
  }

 private:
  void walk_tree(const fs::path& top) {
    std::vector<fs::path> folders{top};
    while (!folders.empty()) {
      check_for_stop();
      const fs::path folder = std::move(folders.back());
      folders.pop_back();
      if (is_new(folder)) list(folder, folders);
    }
  }

  bool is_new(const fs::path& folder) {
    std::error_code error;
    const std::string real = real_path(to_text(folder), error);
    return error || walked_.insert(real).second;  // with an error, which listing it will have
  }

  void list(const fs::path& folder, std::vector<fs::path>& folders) {
    std::error_code error;
    for (const FolderEntry& entry : entries_of(to_text(folder), error)) {
      const fs::path path = folder / to_path(entry.name);
      std::error_code ignored;
      const bool is_link = entry.kind == EntryKind::link;
      const bool is_folder =
          is_link ? fs::is_directory(path, ignored) : entry.kind == EntryKind::folder;
      walk_.entry(path, is_folder);
      if (!is_folder) continue;
      if (!is_link) folders.push_back(path);
      if (is_link && (!walk_.follows || walk_.follows(path))) links_.insert(path);
    }
    if (error) walk_.unlisted(folder, error);
  }

  const FolderWalk& walk_;
  std::set<fs::path> links_;  // to folders, yet to be walked
  std::unordered_set<std::string> walked_;
};

}  // namespace

void walk_folders(const fs::path& root, const FolderWalk& walk) {
  FolderWalker(walk).run(root);
}

}  // namespace dmlop
