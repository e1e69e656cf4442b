// The edges of a graph that runs, each as a .npy file in a folder.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "model/runtime.hpp"

namespace dmlop {

class EdgeKeeper {
 public:
  /// Chooses a name for each file. Adds a finding for each that would replace a file that the model
  /// reads, or one of `others`: outputs and golden files.
  EdgeKeeper(const Model& model, std::string folder, const std::vector<std::string>& others,
             Diagnostics& diagnostics);

  /// Creates the folder and, if not every file is named after its edge, index.json with the edges
  /// by file. Errors: io_failed.
  void begin() const;
  /// Writes what a dispatch wrote, as its descs see it. Errors: io_failed.
  void keep(const DispatchCommand& command, Runtime& runtime) const;

 private:
  std::string path_of(std::size_t resource) const;

  const Model& model_;
  std::string folder_;
  std::vector<std::string> names_;  // of the files of the resources, without .npy; "": not kept
  bool has_other_names_ = false;
};

}  // namespace dmlop
