// Reads the jobs of a batch from a folder, a JSON file or JSON Lines: their ids and everything that
// belongs to them. The runner reads later what they compute.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "job/job.hpp"
#include "json/document.hpp"

namespace dmlop {

struct BatchJob {
  std::string id;            // unique in its batch; also the job's folder below --out
  std::string place;         // "jobs.jsonl:12", or the path of the description
  std::uint32_t line = 0;    // of the manifest; 0 in a folder
  std::uint32_t number = 0;  // of all jobs of the batch, from 1
  std::string made_up_id;    // from its place, such as "line-12"
  bool has_own_id = false;   // the id is written, not made up
  std::vector<std::string> tags;
  bool has_known_tags = false;  // they could be read, also where there are none
  std::string skip_reason;      // not empty: the job is not to be run
  std::string xfail_reason;     // not empty: the job is to differ from its golden files
  JobRequest request;           // files by tensor, golden files, tolerance
  std::map<std::string, std::uint64_t> dimensions;  // of an ONNX model, by their names
  bool fuses = false;                               // nodes of an ONNX model
  /// The description as part of a document; null if it is the file request.description_path.
  std::shared_ptr<const json::Document> document;
  std::shared_ptr<const json::Value> root;
  std::string text;      // the job as written; "" for a description that is a file
  std::string defaults;  // what it inherits, as written
  Diagnostics findings;  // about the job itself; not empty: it cannot be run
};

/// The fields that a job may have in addition to those of a description.
const std::vector<std::string>& batch_job_fields();
/// The fields that a file job.json beside a description may have.
const std::vector<std::string>& job_file_fields();

class Manifest {
 public:
  virtual ~Manifest() = default;
  /// The next job; nothing at the end. A job with mistakes has findings. Errors: io_failed,
  /// interrupted.
  virtual std::optional<BatchJob> next() = 0;
  /// The number of jobs, if it is known beforehand.
  virtual std::optional<std::uint64_t> size() const { return std::nullopt; }
  /// The same jobs from the first one on; null where jobs can be read once only. Another thread may
  /// call next() meanwhile.
  virtual std::unique_ptr<Manifest> again() const { return nullptr; }
};

/// What a batch is asked to run, and what confines the paths that stand in its files: a job with
/// one that is refused has findings.
struct JobsPath {
  std::string path;
  SharedConfinement confinement = {};
};

/// Opens JOBS: a folder (every description below it that has a folder of its own, job/folder.hpp),
/// one op description, model or graph, a JSON file with jobs and defaults, or JSON Lines (.jsonl,
/// .ndjson, or "-" for standard input). Returns nothing, with findings, when one of them is none.
/// Of several the ids begin with the name of the folder or file. Errors: io_failed.
std::unique_ptr<Manifest> open_manifest(const std::vector<JobsPath>& paths,
                                        Diagnostics& diagnostics);

}  // namespace dmlop
