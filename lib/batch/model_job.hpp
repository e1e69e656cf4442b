// A job of a batch whose description is a DxDispatch model or a graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch/checked_job.hpp"
#include "graph/lower.hpp"
#include "model/model.hpp"
#include "model/outputs.hpp"
#include "model/tolerances.hpp"

namespace dmlop {

class Runtime;

class ModelJob : public CheckedJob {
 public:
  /// Reads and checks the model and opens its golden files. Each is named after a resource or after
  /// the file of a writeFile. Adds all warnings and all findings, and returns nothing if there are
  /// findings.
  static std::optional<ModelJob> prepare(std::shared_ptr<const json::Document> document,
                                         const json::Value& root, const BatchJob& job,
                                         const BatchOptions& options, Diagnostics& findings,
                                         Diagnostics& warnings);

  /// The same for a graph. The files of its inputs are those of the job's bindings, which may name
  /// outputs, too, or lie beside it. Those `given` are constants of the graph already.
  static std::optional<ModelJob> prepare(const Graph& graph, const std::vector<NamedFile>& given,
                                         const BatchJob& job, const BatchOptions& options,
                                         Diagnostics& findings, Diagnostics& warnings);

  std::string operator_name() const override;
  /// The files that writeFile makes below --out, none without --out; of a graph, also those of its
  /// outputs.
  std::vector<NamedFile> outputs() const override;
  bool may_write_again() const override { return true; }
  /// By resource.
  std::vector<NamedFile> golden_files() const override;
  std::string reason_of_uncompared() const override;
  void add_to(Digest& digest, const Checking& checking) override;
  /// Runs the commands, but print.
  JobResult run(Backend& backend, const BatchOptions& options, bool updates) override;
  void update_golden(JobResult& result) override;

 private:
  // A golden file is compared at the end, or when a writeFile writes its file.
  struct Expected {
    NamedResource file;
    std::optional<std::size_t> command;
  };

  // What a golden file is to hold, and its comparison among the result's.
  struct Change {
    std::size_t comparison = 0;
    Buffer elements;
  };

  void add_outputs(const std::vector<NamedFile>& bound, const std::string& folder,
                   Diagnostics& findings);
  std::optional<std::size_t> write_named(const std::string& name) const;
  void find_expected(const BatchJob& job, Diagnostics& findings);
  void expect_results(const BatchJob& job, Diagnostics& findings);
  std::string edge_named(const std::string& name) const;
  OutputComparison without_golden(const NamedResource& golden, const Tolerance& tolerance) const;
  std::vector<std::size_t> used_at_end() const;
  void compare_results(Runtime& runtime, Runtime& other, const ResultTolerances& tolerances,
                       JobResult& result) const;
  void refuse_replaced_files(const BatchJob& job, Diagnostics& findings) const;
  void refuse_inputs(Diagnostics& findings) const;

  Model model_;
  std::vector<Expected> expected_;
  std::optional<Tolerance> tolerance_;
  std::vector<Change> changes_;
  bool writes_ = false;
  std::vector<NamedResource> written_;  // outputs of a graph that files get
  std::string source_digest_;           // of the model's text or of the graph's file
};

}  // namespace dmlop
