// Records: one line of JSON for each job of a batch. Written to results files, read back to resume
// and to merge, and the data of the HTML report.
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

/// What a record says beside the result.
struct RecordParts {
  const BatchResult& result;
  std::vector<std::string> tags = {};
  std::string device = {};
  std::string description = {};  // as written
  double check_seconds = 0;
  gpu::DispatchTimes times = {};
  std::string digest = {};  // of everything that the result depends on; recorded with the outcome
  std::vector<std::pair<std::string, std::string>> inputs = {};  // tensor, digest
  std::vector<OutputRecord> outputs = {};
  std::vector<OutputComparison> comparisons = {};
};

/// One line, without its end.
std::string record_of(const RecordParts& parts);

/// The result that a record holds, with the record; nothing where the line is none, or a field is
/// of another type.
std::optional<BatchResult> earlier_result(const std::string& record);
/// What keeps a line from being a record, where it looks like one; "" where it does not.
std::string problem_of_record(const std::string& line);

/// Whether a record says that its job passed with what `digest` stands for, and the outputs are
/// still those that it wrote. Records of versions whose digests left the outcome out prove nothing.
bool proves(const std::string& record, const std::string& digest,
            const std::vector<NamedFile>& outputs);

/// The digest of a file's bytes; "" where it cannot be read, or only once, as a pipe.
std::string digest_of_file(const std::string& path);

/// Pictures as data URIs.
nlohmann::ordered_json pictures_json(const PlanePictures& pictures);

}  // namespace dmlop
