// A job of a batch whose description is that of one operator.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batch/checked_job.hpp"
#include "job/golden.hpp"
#include "job/job.hpp"

namespace dmlop {

class DescriptionJob : public CheckedJob {
 public:
  /// Chooses the files of the job, opens and checks them. Adds all warnings and all findings; null
  /// if nothing could be prepared.
  static std::unique_ptr<DescriptionJob> prepare(Description description, BatchJob& job,
                                                 const BatchOptions& options, Diagnostics& findings,
                                                 Diagnostics& warnings);

  std::string operator_name() const override { return job_.description.spec->name; }
  std::vector<NamedFile> outputs() const override;
  std::vector<NamedFile> golden_files() const override;
  std::string reason_of_uncompared() const override;
  void add_to(Digest& digest, const Checking& checking) override;
  std::vector<std::pair<std::string, std::string>> input_digests() const override {
    return input_digests_;
  }
  JobResult run(Backend& backend, const BatchOptions& options, bool updates) override;
  std::string pictures_of(const JobResult& result, Backend& backend, const BatchOptions& options,
                          std::atomic<unsigned>& pictures) const override;
  void update_golden(JobResult& result) override;

 private:
  explicit DescriptionJob(Job job) : job_(std::move(job)) {}

  Job job_;
  std::optional<Tolerance> tolerance_;
  std::vector<std::pair<std::string, std::string>> input_digests_;
  std::vector<OutputInMemory> computed_by_other_;  // outlives the pictures of the differences
  std::optional<NewGoldenFiles> golden_;
};

}  // namespace dmlop
