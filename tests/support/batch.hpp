// Helpers for tests of batches: a folder with files for jobs, and what a run of dmlop batch reports
// about each.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace dmlop::test {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& part);

std::size_t count_of(const std::string& text, const std::string& part);

/// The description of EDGE padding of a vector, with one element before and two after.
inline const std::string edge_fields =
    R"("type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]})";

/// A job that pads x.npy, with additional fields.
std::string edge_job(const std::string& fields = "", const std::string& input = "x.npy");

/// A pooling of 10^13 steps, which no machine finishes during a test. Its input is one element.
std::string long_job(const std::string& id = "long");

/// A job that pads x.npy. It ends as PASSED, or as FAILED if another golden file is given.
std::string named_job(const std::string& id, const std::string& golden = "golden.npy",
                      const std::string& fields = "");

std::string lines_of(const std::vector<std::string>& jobs);

/// Of a model that is valid and cannot run here: it has a shader.
inline const std::string unsupported_members =
    R"("resources": {}, "dispatchables": {"s": {"type": "hlsl"}}, "commands": [])";

/// Jobs for every ending except a timeout, with the status and exit code of each.
struct EndingRow {
  std::string id;
  std::string job;
  std::string status;
  int code;
};
std::vector<EndingRow> endings();

/// What a run left: its output, and the records of its results file.
struct BatchOutcome {
  ProgramResult program;
  std::vector<Json> records;  // without the summary record
  Json summary;

  int code() const { return program.code; }
  const Json& record(const std::string& id) const;
  std::string status(const std::string& id) const { return record(id).at("status"); }
  /// "a PASSED, b FAILED", by id.
  std::string statuses() const;
};

/// The records of a results file. All its lines must be complete.
std::vector<Json> read_records(const std::string& text);

/// A folder with x.npy and its EDGE padding golden.npy, with other.npy, which differs in one
/// element, and with nan.npy, which is the padding of nan3.npy.
class BatchFolder : public Folder {
 public:
  BatchFolder();
  explicit BatchFolder(const std::vector<std::string>& jobs);

  /// Runs dmlop batch on the CPU.
  ProgramResult batch(std::vector<std::string> arguments, const std::string& input = "") const;

  /// The same, with the records that the run wrote.
  BatchOutcome run(std::vector<std::string> arguments, const std::string& input = "") const;
};

}  // namespace dmlop::test
