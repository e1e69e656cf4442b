#include "batch/results_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "batch/record_json.hpp"
#include "batch/selection.hpp"

namespace dmlop {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void fail_on_results(const std::string& path, const std::error_code& error) {
  throw Error(ErrorKind::io_failed, "writing the results " + path + ": " + reason(error));
}

// No record of this program exceeds these limits. Deeper nesting could exhaust the stack of the
// JSON parser, and parsing takes a time that is quadratic in the digits of a number or the members
// of an object.
constexpr std::size_t depth_max = 32;
constexpr std::size_t digits_max = 64;
constexpr std::size_t members_max = 10'000;  // of a model, as many files may be written

// Whether a line has deeper nesting, more members in an object or a longer number than any record.
bool is_beyond_records(std::string_view line) {
  std::vector<std::size_t> members{0};  // of each array and object that is open: their colons
  std::size_t digits = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    digits = !in_string && c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > digits_max) return true;
    if (in_string && c == '\\') {
      ++at;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      members.push_back(0);
      if (members.size() > depth_max + 1) return true;
    } else if (!in_string && (c == ']' || c == '}')) {
      members.pop_back();
      if (members.empty()) return true;
    } else if (!in_string && c == ':') {
      if (++members.back() > members_max) return true;
    }
  }
  return false;
}

// The length of the text up to the end of its last complete line.
std::size_t whole_lines(std::string_view text) {
  const std::size_t last = text.rfind('\n');
  return last == std::string_view::npos ? 0 : last + 1;
}

std::string_view text_of(const InputFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::uint64_t whole_lines_of(const std::string& path) {
  return with_context("reading the results " + path, [&] {
    const InputFile file = InputFile::open(path);
    const std::size_t bytes = whole_lines(text_of(file));
    file.require_not_shorter();
    return bytes;
  });
}

// Whether a new run may replace an existing file: it is empty, or begins like a results file. Files
// of runs that were killed count too.
bool begins_as_results(const std::string& path) {
  const InputFile file =
      with_context("reading the results " + path, [&] { return InputFile::open(path); });
  const std::string_view text = text_of(file);
  if (text.empty()) return true;
  const std::string line(text.substr(0, text.find('\n')));
  if (is_beyond_records(line)) return false;
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  const bool is_cut_off = line.size() == text.size() && json.is_discarded();
  if (is_cut_off) return line.starts_with("{\"id\":");
  return json.is_object() && (json.contains("status") || json.contains("summary"));
}

/// Combines the records of one file.
class Collector {
 public:
  explicit Collector(RecordedResults& recorded) : recorded_(recorded) {}

  void add(const std::string& line, const std::string& place) {
    if (is_beyond_records(line)) refuse(place, "");
    if (auto result = earlier_result(line)) {
      recorded_.complete = false;
      const auto [entry, is_new] = places_.try_emplace(result->id, recorded_.results.size());
      if (is_new) {
        recorded_.results.push_back(std::move(*result));
      } else {
        recorded_.results[entry->second] = std::move(*result);
      }
      return;
    }
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains("started") && json["started"].is_object()) {
      recorded_.complete = false;
      return;
    }
    const bool is_summary =
        json.is_object() && json.contains("summary") && json["summary"].is_object();
    if (!is_summary) refuse(place, line);
    try {
      const auto& summary = json["summary"];
      recorded_.complete = summary.value("complete", false);
      recorded_.exit_code = summary.value("exitCode", 0);
      recorded_.shard = summary.value("shard", "");
      recorded_.selected = selected_of(summary);
      recorded_.device = summary.value("device", "");
    } catch (const nlohmann::json::exception&) {  // a field of another type
      refuse(place, line);
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& place, const std::string& line) {
    const std::string problem = problem_of_record(line);
    throw Error(ErrorKind::invalid_input,
                place + ": this line is not a record of a batch" +
                    (problem.empty() ? "" : ": " + problem) +
                    "; name a file that dmlop batch --results wrote, or remove this one");
  }

  static std::optional<SelectedJobs> selected_of(const nlohmann::json& summary) {
    const auto selected = summary.find("selected");
    if (selected == summary.end()) return std::nullopt;
    return SelectedJobs{.count = selected->at("jobs"), .ids = selected->at("ids")};
  }

  RecordedResults& recorded_;
  std::unordered_map<std::string, std::size_t> places_;
};

// Whether two paths name different files, whatever folder they were named from.
bool are_other_files(const std::string& a, const std::string& b) {
  const auto written = [](std::string path) {
    std::ranges::replace(path, '\\', '/');
    return "/" + to_path(path).lexically_normal().generic_string();
  };
  if (a.empty() || b.empty()) return false;
  const std::string first = written(a), second = written(b);
  return !first.ends_with(second) && !second.ends_with(first);
}

/// Combines the results of several files.
class Merger {
 public:
  explicit Merger(Disagreement rule) : rule_(rule) {}

  void add(BatchResult result, const std::string& path) {
    const auto [entry, is_new] = places_.try_emplace(result.id, results_.size());
    if (is_new) {
      results_.push_back(std::move(result));
      paths_.push_back(&path);
      return;
    }
    const std::size_t place = entry->second;
    const BatchResult& kept = results_[place];
    const bool is_worse_kept = is_worse(kept, result);
    // It is no disagreement if one run did not reach a job and another did.
    const bool both_ended = kept.status != Status::not_run && result.status != Status::not_run;
    if (both_ended && are_other_files(kept.location().file, result.location().file))
      warn_of_namesake(kept, place, result, path);
    if (rule_ == Disagreement::worst_counts) {
      if (both_ended && (is_worse_kept || is_worse(result, kept))) warn(kept, place, result, path);
      if (is_worse_kept) return;
    }
    results_[place] = std::move(result);
    paths_[place] = &path;
  }

  // What is left of all files, with a warning for each disagreement.
  std::vector<BatchResult> take() {
    for (const auto& [place, warnings] : warnings_) add_warnings(results_[place], warnings);
    return std::move(results_);
  }

 private:
  void warn(const BatchResult& kept, std::size_t place, const BatchResult& result,
            const std::string& path) {
    const std::string worst(name_of(is_worse(kept, result) ? kept.status : result.status));
    const Diagnostic warning{
        .file = "the job \"" + printable(result.id) + "\"",
        .message = "it is " + outcome(kept) + " in " + *paths_[place] + " and " + outcome(result) +
                   " in " + path,
        .rule = "the worst outcome of a job counts; here it is " + worst,
        .suggestion = "with --latest the file that is named last counts: use it for reruns"};
    warnings_[place].push_back(to_text(warning, "warning"));
  }
  void warn_of_namesake(const BatchResult& kept, std::size_t place, const BatchResult& result,
                        const std::string& path) {
    const Diagnostic warning{
        .file = "the job \"" + printable(result.id) + "\"",
        .message = "it is " + printable(kept.location().file) + " in " + *paths_[place] + " and " +
                   printable(result.location().file) + " in " + path,
        .rule = "jobs with one id count as one job",
        .suggestion =
            "if they are two jobs, run them in one batch, which gives them ids of their "
            "own: dmlop batch FOLDER FOLDER"};
    warnings_[place].push_back(to_text(warning, "warning"));
  }
  static std::string outcome(const BatchResult& result) {
    const std::string name(name_of(result.status));
    return result.status == Status::error ? name + " (" + std::to_string(result.exit_code) + ")"
                                          : name;
  }

  Disagreement rule_;
  std::vector<BatchResult> results_;
  std::vector<const std::string*> paths_;                     // of the files that have the results
  std::map<std::size_t, std::vector<std::string>> warnings_;  // of the results
  std::unordered_map<std::string, std::size_t> places_;
};

// The shards of "I/N" that no file has. If there are many, the first ones, because N comes from a
// file.
std::vector<std::string> missing_shards(const std::set<std::string>& shards) {
  constexpr std::size_t named_max = 16;
  std::vector<std::string> missing;
  std::uint64_t count = 0;
  for (const std::string& shard : shards) {
    const std::size_t slash = shard.find('/');
    if (slash == std::string::npos) continue;  // a file with all of its jobs
    std::from_chars(shard.data() + slash + 1, shard.data() + shard.size(), count);
  }
  if (count > shards_max)
    throw Error(ErrorKind::invalid_input, "the results name " + std::to_string(count) +
                                              " shards, must be at most " +
                                              std::to_string(shards_max));
  for (std::uint64_t i = 0; i < count && missing.size() < named_max; ++i) {
    const std::string shard = std::to_string(i) + "/" + std::to_string(count);
    if (!shards.contains(shard)) missing.push_back(shard);
  }
  return missing;
}

}  // namespace

ResultsFile::ResultsFile(const std::string& path, bool append) : path_(path) {
  if (path == "-") {
    file_ = SystemFile::standard_output();
    return;
  }
  std::error_code error;
  file_ = SystemFile::open_to_append(path, error);
  if (error) fail_on_results(path, error);
  is_regular_ = file_.status(error).kind == FileKind::regular;
  if (error) fail_on_results(path, error);
  if (!is_regular_) return;
  if (file_.lock() == std::errc::resource_unavailable_try_again) {
    throw Error(ErrorKind::io_failed, "writing the results " + path +
                                          ": another batch writes this file; name a file of its "
                                          "own for each, or wait for that one to end");
  }
  may_end_in_part_of_line_ = append;
  if (append) return;
  // Checked only when the file belongs to this batch, because another one may just be emptying it.
  if (!begins_as_results(path)) refuse_to_replace("--results", path);
  error = file_.resize(0);
  if (error) fail_on_results(path, error);
}

// A run that was killed while writing left an incomplete line. It is cut off only when the first
// line is written: by then the caller has read the file, which may not be a results file.
void ResultsFile::cut_off_part_of_line() {
  if (!std::exchange(may_end_in_part_of_line_, false)) return;
  bytes_ = whole_lines_of(path_);
  if (const std::error_code error = file_.resize(bytes_)) fail_on_results(path_, error);
}

void ResultsFile::start(const std::string& version, const std::string& program) {
  cut_off_part_of_line();
  if (bytes_ != 0) add(Json{{"started", {{"version", version}, {"program", program}}}}.dump());
}

void ResultsFile::add(const std::string& record) {
  cut_off_part_of_line();
  // Standard output may be a log. Escaping characters does not change what the JSON means.
  const std::string line = one_line(record) + "\n";
  const std::error_code error = file_.write_all(std::as_bytes(std::span(line)));
  if (error && is_regular_) file_.resize(bytes_);
  if (error) fail_on_results(path_, error);
  bytes_ += line.size();
}

void ResultsFile::add(const BatchSummary& summary) {
  Json counts = Json::object();
  for (std::size_t i = 0; i < summary.counts.size(); ++i)
    counts[std::string(statuses[i].name)] = summary.counts[i];
  Json json{{"complete", summary.interrupted.empty()},
            {"exitCode", summary.exit_code},
            {"device", summary.device},
            {"seconds", summary.seconds},
            {"counts", counts},
            {"warnings", summary.warnings}};
  if (!summary.shard.empty()) {
    json["shard"] = summary.shard;
    json["selected"] = {{"jobs", summary.selected.count}, {"ids", summary.selected.ids}};
  }
  if (!summary.interrupted.empty()) json["interrupted"] = summary.interrupted;
  add(Json{{"summary", json}}.dump());
  if (const std::error_code error = file_.close()) fail_on_results(path_, error);
}

RecordedResults read_results(const std::string& path) {
  const InputFile file =
      with_context("reading the results " + path, [&] { return InputFile::open(path); });
  std::string_view text = text_of(file);
  text = text.substr(0, whole_lines(text));
  // A batch that still runs may append to the file. Lines that it adds meanwhile are not read.
  const auto require_lines = [&] {
    with_context("reading the results " + path, [&] { file.require_not_shorter(); });
  };
  RecordedResults recorded;
  Collector collector(recorded);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string line(text.substr(0, end));
    if (line.find('\0') != std::string::npos) require_lines();
    collector.add(line, path + ":" + std::to_string(number));
    text.remove_prefix(end + 1);
  }
  require_lines();
  return recorded;
}

namespace {

// Whether no record has the outcome that the run claims to have ended with, so that one was lost or
// changed.
bool lacks_outcome(const RecordedResults& recorded) {
  int worst = 0;
  for (const BatchResult& result : recorded.results)
    worst = worse_exit_code(worst, result.exit_code);
  return recorded.complete && worse_exit_code(worst, recorded.exit_code) != worst;
}

// The file may be that of an earlier merge, which no run can continue.
std::string advice_to_resume(const std::string& path) {
  return "run its jobs again with --results " + shell_quoted(path) + " --resume, then merge again";
}

/// Compares what shards say of all of them: those of one batch have the same jobs.
class ShardedJobs {
 public:
  /// Adds a finding if the file's shards have other jobs than those of the first file with as many.
  void add(const RecordedResults& recorded, const std::string& path, Diagnostics& diagnostics) {
    if (!recorded.complete || recorded.shard.empty() || !recorded.selected) return;
    const std::string count = recorded.shard.substr(recorded.shard.find('/') + 1);
    const auto& [first, where] = jobs_.try_emplace(count, *recorded.selected, path).first->second;
    if (first == *recorded.selected) return;
    const bool differs_in_number = first.count != recorded.selected->count;
    diagnostics.push_back(
        {.kind = ErrorKind::run_failed,
         .file = path,
         .message = "its shards have " +
                    (differs_in_number ? counted(recorded.selected->count, "job") : "other jobs") +
                    (differs_in_number ? ", but " + std::to_string(first.count) : " than those") +
                    " in " + where,
         .rule = "all shards of a batch have the same JOBS, --filter, --exclude and --tag, as each "
                 "job is run by one of them",
         .suggestion = "run them again with the same"});
  }

 private:
  std::map<std::string, std::pair<SelectedJobs, std::string>> jobs_;  // by the number of shards
};

}  // namespace

std::vector<BatchResult> merge_results(const std::vector<std::string>& paths, Disagreement rule,
                                       BatchSummary& summary, Diagnostics& diagnostics) {
  Merger merger(rule);
  std::set<std::string> shards;
  ShardedJobs jobs;
  std::vector<std::string> devices;
  for (const std::string& path : paths) {
    RecordedResults recorded = read_results(path);
    // A rerun may have chosen some of the jobs.
    const bool is_rerun = rule == Disagreement::latest_counts && shards.contains(recorded.shard);
    if (!is_rerun) jobs.add(recorded, path, diagnostics);
    if (lacks_outcome(recorded))
      diagnostics.push_back({.kind = ErrorKind::run_failed,
                             .file = path,
                             .message = "the run that wrote this file ended with " +
                                        std::to_string(recorded.exit_code) +
                                        ", but no record of it did",
                             .rule = "a results file has a record of every job, as it was written",
                             .suggestion = advice_to_resume(path)});
    for (BatchResult& result : recorded.results) merger.add(std::move(result), path);
    // A run that was killed does not tell which shard it was.
    if (recorded.complete || !recorded.shard.empty()) shards.insert(recorded.shard);
    const bool is_new = std::ranges::find(devices, recorded.device) == devices.end();
    if (!recorded.device.empty() && is_new) devices.push_back(recorded.device);
    if (recorded.complete) continue;
    diagnostics.push_back({.kind = ErrorKind::run_failed,
                           .file = path,
                           .message = "the run that wrote this file did not finish",
                           .suggestion = advice_to_resume(path)});
  }
  for (const std::string& shard : missing_shards(shards)) {
    diagnostics.push_back({.kind = ErrorKind::run_failed,
                           .message = "no results of shard " + shard + " are given",
                           .suggestion = "run it with --shard " + shard + " and add its file"});
  }
  summary.device = join(devices);
  std::vector<BatchResult> results = merger.take();
  for (const BatchResult& result : results) {
    summary.add(result);
    summary.seconds += result.seconds;
  }
  if (!diagnostics.empty()) {
    summary.exit_code = worse_exit_code(summary.exit_code, exit_run_failed);
    summary.interrupted = "results are missing";
  }
  return results;
}

}  // namespace dmlop
