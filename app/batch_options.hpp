// The options of dmlop batch, with what its environment adds to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "batch/batch.hpp"
#include "command.hpp"
#include "device_options.hpp"
#include "tolerance_options.hpp"

namespace dmlop::app {

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
  std::string junit;
  std::string results;
  std::string html;
  bool github = false;
  bool resume = false;
  bool latest = false;
  bool fail_fast = false;
  bool allow_empty = false;
  std::optional<int> skip_code;
  Format format = Format::text;
  bool verbose = false;
  bool quiet = false;

  /// Declares them. They must outlive the parse.
  void add_to(OptionList& command);
  /// Call this after the parse. It adds what the environment says, and refuses what would fail only
  /// after all jobs or would lose a file. Errors: usage, io_failed.
  void complete();

  bool writes_records_to_output() const { return results == "-"; }
  bool writes_data_to_output() const { return results == "-" || format == Format::json; }
  /// Text goes to the stream on which it does not disturb what programs read.
  StandardStream text_stream() const {
    return writes_data_to_output() ? StandardStream::error : StandardStream::output;
  }
  bool keeps_results() const {
    return !junit.empty() || !html.empty() || github || format == Format::json;
  }
  /// The file that GitHub's steps append to; "" if there is none or none is wanted.
  std::string step_summary() const;
  /// The files that the batch itself writes; "" for those that it does not.
  std::vector<std::string> written_files() const;
};

}  // namespace dmlop::app
