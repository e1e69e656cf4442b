// Pictures of where the outputs of a job differ from its golden files, for reports.
#pragma once

#include <atomic>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "job/job.hpp"

namespace dmlop {

class JobPictures {
 public:
  /// The arguments must outlive this. `pictures` counts those of the batch.
  JobPictures(const Job& job, Backend& backend, const ExecutionOptions& options,
              std::atomic<unsigned>& pictures)
      : job_(job), backend_(backend), options_(options), pictures_(pictures) {}

  /// JSON: an array of pictures or null, for each comparison. An output that was not kept is
  /// computed once more.
  std::string of(const JobResult& result) const;

 private:
  nlohmann::ordered_json pictures_of(const OutputComparison& output) const;
  nlohmann::ordered_json made_pictures(const OutputComparison& output) const;

  const Job& job_;
  Backend& backend_;
  const ExecutionOptions& options_;
  std::atomic<unsigned>& pictures_;
};

}  // namespace dmlop
