// Records: one line of JSON for each job of a batch. They are written to results files, read back
// to resume and to merge, and shown by the HTML report.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batch/result.hpp"
#include "compare/picture.hpp"
#include "job/job.hpp"

namespace dmlop {

struct OutputRecord {
  std::string tensor;
  std::string path;
  std::string digest;  // of the whole file
};

/// The parts of a record in addition to the result.
struct RecordParts {
  const BatchResult& result;
  std::vector<std::string> tags = {};
  std::string device = {};
  std::string description = {};  // as written
  double check_seconds = 0;
  gpu::DispatchTimes times = {};
  std::string digest = {};  // of all that the result depends on; recorded with the outcome
  std::vector<std::pair<std::string, std::string>> inputs = {};  // tensor, digest
  std::vector<OutputRecord> outputs = {};
  std::vector<OutputComparison> comparisons = {};
};

/// One line without its line end.
std::string record_of(const RecordParts& parts);

/// The result in a record, with the record itself. Returns nothing if the line is not a record, or
/// if a field has another type.
std::optional<BatchResult> earlier_result(const std::string& record);
/// Adds warnings to a result and to its record.
void add_warnings(BatchResult& result, const std::vector<std::string>& warnings);
/// What is wrong with a line that looks like a record; "" if nothing is, or if it does not look
/// like one.
std::string problem_of_record(const std::string& line);

/// Whether the record shows that its job passed, with everything that `digest` stands for
/// unchanged, and its outputs are still as it wrote them. Records of versions whose digests omit
/// the outcome prove nothing.
bool proves(const std::string& record, const std::string& digest,
            const std::vector<NamedFile>& outputs);

/// The digest of a file's bytes; "" if it cannot be read, or can be read only once, like a pipe.
std::string digest_of_file(const std::string& path);

/// Pictures as data URIs.
nlohmann::ordered_json pictures_json(const PlanePictures& pictures);

}  // namespace dmlop
