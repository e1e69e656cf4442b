// The edges of a graph that runs, each as a .npy file in a folder.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/file_roles.hpp"
#include "model/runtime.hpp"

namespace dmlop {

class EdgeKeeper {
 public:
  /// Chooses a name for each file. Adds a finding for each that would replace one of `files`, and
  /// for an index.json that is not an index of edges. Errors: io_failed.
  EdgeKeeper(const Model& model, std::string folder, const FileRoles& files,
             Diagnostics& diagnostics);

  /// Creates the folder and, if not every file is named after its edge or an index is there,
  /// index.json with the edges by file. Errors: io_failed.
  void begin() const;
  /// Writes what a dispatch wrote, as its descs see it. Errors: io_failed.
  void keep(const DispatchCommand& command, Runtime& runtime) const;

 private:
  std::string path_of(std::size_t resource) const;
  std::string index_path() const;

  const Model& model_;
  std::string folder_;
  std::vector<std::string> names_;  // of the files of the resources, without .npy; "": not kept
  bool has_other_names_ = false;
  bool has_index_ = false;
};

}  // namespace dmlop
