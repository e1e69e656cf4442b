// The options of dmlop batch, with what its environment adds to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "batch/batch.hpp"
#include "batch/reports.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "tolerance_options.hpp"

namespace dmlop::app {

/// A file that the batch itself writes if an option names it.
struct WrittenFile {
  std::string option;
  std::string path;                      // "-": standard output; "": it is not wanted
  const ReportFormat* format = nullptr;  // null: lines of results

  bool is_wanted() const { return !path.empty(); }
  bool is_wanted_report() const { return is_wanted() && format != nullptr; }
};

/// --results, and each report.
std::vector<WrittenFile> files_to_write();

struct BatchCommandOptions {
  std::vector<std::string> jobs;
  std::vector<std::string> merge;
  std::string shard;
  DeviceOptions device;
  ConfineOption confine;
  ToleranceOptions tolerance;
  BatchOptions batch;
  std::string against;        // another device that is to compute the same; "": none
  std::string update_golden;  // "write", "accept" or "": leave golden files alone
  bool list = false;
  std::vector<WrittenFile> written = files_to_write();
  std::string& results = written.front().path;
  bool github = false;
  bool resume = false;
  bool latest = false;
  bool fail_fast = false;
  bool allow_empty = false;
  std::optional<int> skip_code;
  Format format = Format::text;
  bool verbose = false;
  bool quiet = false;

  BatchCommandOptions() = default;
  BatchCommandOptions(const BatchCommandOptions&) = delete;
  BatchCommandOptions& operator=(const BatchCommandOptions&) = delete;

  /// Declares them. They must outlive the parse.
  void add_to(OptionList& command);
  /// Call this after the parse. It adds what the environment says, and refuses what would fail only
  /// after all jobs or would lose a file. Errors: usage, io_failed.
  void complete(const OptionList& command);

  /// The options that write data to standard output.
  std::vector<std::string> data_on_output() const;
  /// Text goes to the stream on which it does not disturb what programs read.
  StandardStream text_stream() const {
    return quiet || !data_on_output().empty() ? StandardStream::error : StandardStream::output;
  }
  /// Whether a report that is wanted shows differences.
  bool shows_differences() const;
  /// Whether results are needed when all jobs have ended.
  bool keeps_results() const;
  /// The file that GitHub's steps append to; "" if there is none or none is wanted.
  std::string step_summary() const;
  /// The files that no job may write; "" for those that the batch does not write either.
  std::vector<std::string> written_paths() const;
};

}  // namespace dmlop::app
