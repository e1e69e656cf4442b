// The project's own files as seeds for fuzzing.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "folder.hpp"
#include "paths.hpp"

namespace dmlop::test {

/// The files below a folder whose path has this ending, in order.
inline std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder,
                                                      const std::string& ending) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().generic_string().ends_with(ending))
      paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Every folder of the samples and the conformance cases that has an op.json.
inline std::vector<std::filesystem::path> case_folders() {
  std::vector<std::filesystem::path> folders;
  for (const std::filesystem::path& root :
       {std::filesystem::path(source_path("samples")), std::filesystem::path(conformance_path())}) {
    for (const auto& path : files_below(root, "/op.json")) folders.push_back(path.parent_path());
  }
  return folders;
}

}  // namespace dmlop::test
