// Compares the edges of a graph while it runs, with files or with another device, and finds the
// node at which it goes wrong.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/confine.hpp"
#include "base/diagnostic.hpp"
#include "job/job.hpp"
#include "model/outputs.hpp"
#include "model/runtime.hpp"
#include "model/tolerances.hpp"

namespace dmlop {

/// An edge that was compared, and the dispatch that wrote it.
struct ComparedEdge {
  std::size_t dispatchable = 0;
  std::size_t resource = 0;
  OutputComparison output;
  bool follows = false;  // it differs, but not from the inputs that are expected

  bool is_wrong() const { return output.comparison.verdict() != Verdict::passed && !follows; }
};

/// A node that computes something else than expected from the inputs that are expected.
struct WrongNode {
  std::size_t dispatchable = 0;
  std::vector<std::string> outputs;    // those that differ
  std::vector<std::string> uncertain;  // inputs that nothing was compared with
};

/// A node is wrong only if it differs by itself. Small differences of its inputs may become larger
/// ones, so a node that differs runs again, with what is expected as its inputs.
class EdgeComparer {
 public:
  /// Without a criterion in `tolerance`, ResultTolerances applies. The model must outlive this.
  EdgeComparer(const Model& model, const std::optional<Tolerance>& tolerance);

  /// Compares with the files of a folder: EDGE.npy, or the names that its index.json or
  /// --keep-edges gives. Adds a finding if the folder has none for this graph or one cannot be
  /// read, and a warning if .npy files match no edge. Errors: io_failed.
  void expect_files(const std::string& folder, Diagnostics& diagnostics, Diagnostics& warnings);
  /// Converts golden files of other floating-point types. Errors: io_failed.
  void convert_files(DataType type);
  /// Compares with another run of the same model, which has to be as far as the first one.
  /// `device` is what the result calls it.
  void expect_run(Runtime& other, std::string device);

  /// Compares what a dispatch wrote, as its descs see it. Leaves the contents of all resources as
  /// they are. Errors: io_failed; as Runtime::dispatch.
  void compare(const DispatchCommand& command, Runtime& runtime);

  const std::vector<ComparedEdge>& edges() const { return edges_; }
  /// The paths of all files that are compared with, and of index.json.
  std::vector<std::string> files() const;
  /// In their order. Edges may differ although no node is wrong by itself.
  const std::vector<WrongNode>& wrong_nodes() const { return wrong_; }

 private:
  void open(std::size_t resource, const std::string& path, Diagnostics& diagnostics);
  bool has_golden(std::size_t resource) const;
  OutputComparison compared(const ResourceTensor& tensor, const Tolerance& tolerance,
                            Runtime& runtime) const;
  /// Whether the resource has what is expected there now. False if that has another form.
  bool place_golden(std::size_t resource, Runtime& runtime) const;
  WrongNode judged_alone(const DispatchCommand& command, Runtime& runtime) const;

  const Model& model_;
  Tolerance given_;
  ResultTolerances tolerances_;
  std::string index_;  // the path of index.json beside the golden files; "": none
  std::vector<std::optional<NamedResource>> golden_;    // of each resource
  std::vector<std::optional<ResourceTensor>> written_;  // of each that a dispatch wrote
  std::vector<bool> computed_;                          // whether a dispatch writes it
  Runtime* other_ = nullptr;
  std::string other_device_;
  std::vector<ComparedEdge> edges_;
  std::vector<WrongNode> wrong_;
};

}  // namespace dmlop
