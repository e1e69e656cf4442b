// The nodes of a graph as jobs: a folder for each, with its op.json and, of a graph that runs, its
// inputs and golden outputs.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "model/convert.hpp"
#include "model/runtime.hpp"

namespace dmlop {

/// The description of a node alone, for a file `path`, with those of its inputs that have values
/// or, with a runtime, with all of them as they are now. Errors: as Runtime::contents.
Conversion node_as_op(const Model& model, const DispatchCommand& command, const std::string& path,
                      Runtime* runtime = nullptr);

/// The command that runs the node of this name; null, with a finding, if there is none or several.
const DispatchCommand* find_node(const Model& model, const std::string& name,
                                 Diagnostics& diagnostics);

class JobWriter {
 public:
  /// Chooses a folder below `folder` for each node or, with `nodes`, for those with these names.
  /// Adds a finding for each name that no node has.
  JobWriter(const Model& model, std::string folder, const std::vector<std::string>& nodes,
            Diagnostics& diagnostics);

  /// Adds a finding for each file that would replace one of `files`, which the conversion reads.
  void refuse_replaced(const FileRoles& files, Diagnostics& diagnostics) const;

  /// Writes the description of a node, with those of its inputs that are constants. Errors:
  /// io_failed.
  void write_description(const DispatchCommand& command);
  /// The same for a node that was just dispatched, with all inputs, and its outputs as golden
  /// files. Errors: io_failed, and as Runtime::contents.
  void write_job(const DispatchCommand& command, Runtime& runtime);

  /// The folders that were written, in their order.
  const std::vector<std::string>& folders() const { return written_; }

 private:
  void write(const DispatchCommand& command, Runtime* runtime);
  std::string description_of(const DispatchCommand& command) const;
  std::string golden_file_of(const DispatchCommand& command, const TensorBinding& binding) const;

  const Model& model_;
  std::string folder_;
  std::vector<std::string> names_;  // of the folder of each dispatchable; "": it gets none
  std::vector<std::string> written_;
};

}  // namespace dmlop
