// Which jobs of a manifest a batch runs, and which of those are this shard's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "batch/digest_table.hpp"
#include "batch/job_files.hpp"
#include "batch/manifest.hpp"
#include "batch/result.hpp"

namespace dmlop {

/// The most shards of a batch.
inline constexpr std::uint64_t shards_max = 1'000'000;

struct Selection {
  std::uint64_t shard_index = 0;
  std::uint64_t shard_count = 1;
  std::vector<std::string> filters;   // shell patterns; an id that matches any is selected
  std::vector<std::string> excludes;  // shell patterns; an id that matches any is not
  std::vector<std::string> tags;      // a job with any of them is selected

  /// Whether the job is selected, for whichever shard.
  bool selects(const BatchJob& job) const;
  /// "0/4"; "" for all jobs.
  std::string shard_text() const;
};

/// Ids that were used, with the line of their first use.
class UsedIds {
 public:
  /// A job whose id was used before gets a finding, and the id that its place gives it.
  void check(BatchJob& job);

 private:
  DigestTable lines_;
};

/// The folders that --out gives to jobs. One may lie in another, but not where the other job writes
/// a file.
class JobFolders {
 public:
  /// A job whose folder would be a file of an earlier one, or the other way around, gets a finding.
  void check(BatchJob& job);

 private:
  DigestTable ids_;
  std::map<std::string, std::string> inside_;  // "a/y.npy" by the "a" in front of it
};

/// Deals the selected jobs out to the shards in turn, so that no shard has more than one job more
/// than another: in the order of their ids' digests, which depends on nothing else, or as they come
/// where the manifest can be read once only.
class JobSelector {
 public:
  /// All must outlive this. Where `files` is not null, they get the files of all jobs as they come,
  /// selected or not. `has_folders`: each job writes to a folder of its own.
  JobSelector(Manifest& manifest, const Selection& selection, JobFiles* files = nullptr,
              bool has_folders = false)
      : manifest_(manifest), selection_(selection), files_(files), has_folders_(has_folders) {}

  /// The next job of this shard; nothing at the end. Errors: as Manifest::next(), interrupted.
  std::optional<BatchJob> next();
  /// The jobs of all shards, once next() has returned nothing.
  const SelectedJobs& selected() const { return selected_; }

 private:
  void deal();
  bool is_mine(const BatchJob& job);

  Manifest& manifest_;
  const Selection& selection_;
  JobFiles* files_;
  bool has_folders_;
  JobFolders folders_;
  UsedIds ids_;
  SelectedJobs selected_;
  std::uint32_t count_ = 0;  // of the jobs that were read
  bool has_begun_ = false;
  std::optional<std::vector<bool>> mine_;  // of all jobs, where they were dealt out beforehand
};

}  // namespace dmlop
