// Any bytes as a batch's jobs, in JSON Lines and as one JSON file, and as results of an earlier
// run.
#include <algorithm>

#include "base/error.hpp"
#include "base/path.hpp"
#include "batch/manifest.hpp"
#include "batch/results_file.hpp"
#include "folder.hpp"
#include "fuzz/files.hpp"
#include "fuzz/target.hpp"
#include "job/job.hpp"

namespace dmlop::test {
namespace {

constexpr std::string_view line_job =
    R"({"id": "a", "type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], )"
    R"("EndPadding": [2]}, "bindings": {"InputTensor": "x.npy"}, "expect": "y.npy", )"
    R"("tolerance": {"rtol": 1e-3, "atol": 0, "ulp": 4, "nan": "differ"}, "tags": ["t", "u"]})";
constexpr std::string_view skipped_job =
    R"({"id": "b/c", "skip": "not today", "expect": {"O": "o.npy"}})";

bool leaves_its_folder(const std::string& id) {
  const std::filesystem::path path = to_path(id);
  return path.has_root_path() || std::find(path.begin(), path.end(), "..") != path.end();
}

void check_job(BatchJob job) {
  require(!job.id.empty(), "a job has an id");
  require(!leaves_its_folder(job.id), "an id names a folder below --out");
  if (!job.findings.empty() || job.root == nullptr) return;
  auto description = read_description(job.document, job.root, batch_job_fields(), {}, job.findings);
  if (!description) return;
  job.request.description_path = job.document->file();
  job.request.outputs_may_be_dropped = true;
  prepare_job(std::move(*description), job.request, Purpose::run, job.findings);
}

void read_jobs(const std::string& path) {
  Diagnostics findings;
  try {
    const auto manifest = open_manifest({{path}}, findings);
    require(manifest != nullptr || !findings.empty(), "what is no batch has a finding");
    std::uint64_t count = 0;
    for (; manifest != nullptr; ++count) {
      auto job = manifest->next();
      if (!job) break;
      check_job(std::move(*job));
    }
    if (manifest != nullptr && manifest->size())
      require(count == *manifest->size(), "a batch has as many jobs as it says");
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::invalid_input || error.kind() == ErrorKind::io_failed,
            "a batch is refused as invalid or unreadable");
  }
}

void read_earlier_results(const std::string& path) {
  BatchSummary summary;
  Diagnostics findings;
  try {
    const auto results =
        merge_results({path}, dmlop::Disagreement::worst_counts, summary, findings);
    require(summary.jobs() == results.size(), "a summary counts every job");
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::invalid_input, "results are refused as invalid");
  }
}

}  // namespace

void fuzz_batch(std::span<const std::byte> bytes) {
  static const Folder folder;
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  read_jobs(folder.write("jobs.jsonl", text));
  read_jobs(folder.write("jobs.json", text));
  read_earlier_results(folder / "jobs.jsonl");
}

std::vector<std::string> batch_seeds() {
  const std::string job(line_job), skipped(skipped_job);
  return {job + "\n" + skipped + "\n\n" + job,
          "{\"defaults\": {\"tags\": [\"d\"], \"desc\": {\"PaddingMode\": \"WRAP\"}}, \"jobs\": [" +
              job + ", " + skipped + "]}",
          "[" + job + "]",
          R"({"id": "a", "status": "PASSED", "exitCode": 0, "operator": "PADDING", "seconds": 0.1})"
          "\n"
          R"({"summary": {"complete": true, "exitCode": 0, "device": "cpu", "shard": "0/1"}})"
          "\n"
          R"({"started": {"version": "0.1.0"}})"
          "\n"};
}

}  // namespace dmlop::test
