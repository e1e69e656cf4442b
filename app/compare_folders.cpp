#include "compare_folders.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/exit_codes.hpp"
#include "base/folder_walk.hpp"
#include "base/output.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "compare/comparison_text.hpp"
#include "job/confined_files.hpp"

namespace dmlop::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What became of a path below one or both folders.
enum class FileOutcome : std::uint8_t {
  passed,
  failed,
  mistrusted,
  error,
  only_actual,
  only_expected
};

struct OutcomeInfo {
  const char* word;
  const char* counted;  // in the summary, behind a number
};
constexpr std::array<OutcomeInfo, 6> outcomes{{{"PASSED", "passed"},
                                               {"FAILED", "failed"},
                                               {"MISTRUSTED", "mistrusted"},
                                               {"ERROR", "with errors"},
                                               {"ONLY ACTUAL", "only in the actual folder"},
                                               {"ONLY EXPECTED", "only in the expected folder"}}};

const OutcomeInfo& info_of(FileOutcome outcome) {
  return outcomes[static_cast<std::size_t>(outcome)];
}

struct FileResult {
  std::string name;  // below both folders
  FileOutcome outcome;
  std::string message;
  int exit_code = exit_different;
  Json json;  // the comparison; null if there is none
};

/// The paths of all .npy files below a folder, with / between names. Links count as what they lead
/// to. Errors: io_failed if a folder cannot be listed.
std::set<std::string> npy_files_below(const std::string& folder) {
  const fs::path root = to_path(folder);
  std::set<std::string> files;
  walk_folders(root, {.entry =
                          [&](const fs::path& path, bool is_folder) {
                            if (!is_folder && lower_case(to_text(path.extension())) == ".npy")
                              files.insert(to_text(path.lexically_relative(root)));
                          },
                      .unlisted =
                          [](const fs::path& unlisted, const std::error_code& error) {
                            throw Error(ErrorKind::io_failed,
                                        "listing " + to_text(unlisted) + ": " + reason(error));
                          }});
  return files;
}

std::string path_below(const std::string& folder, const std::string& name) {
  return to_text(to_path(folder) / to_path(name));
}

FileOutcome outcome_of(Verdict verdict) {
  if (verdict == Verdict::passed) return FileOutcome::passed;
  return verdict == Verdict::failed ? FileOutcome::failed : FileOutcome::mistrusted;
}

void require_file(const std::string& path) {
  if (const auto problem = problem_of_found(path, nullptr))
    throw Error(problem->kind, path + ": " + problem->message + "; " + problem->suggestion.text());
}

FileResult compare_below(const std::string& name, const std::string& actual,
                         const std::string& expected, const ComparingOptions& options) {
  try {
    for (const std::string& folder : {actual, expected}) require_file(path_below(folder, name));
    const ComparedFiles files =
        compare_files({.path = path_below(actual, name), .raw = {}},
                      {.path = path_below(expected, name), .raw = {}}, options);
    const Comparison& comparison = files.comparison;
    std::string message = comparison.summary();
    for (const std::string& line : difference_lines(comparison)) message += "; " + line;
    const FileOutcome outcome = outcome_of(comparison.verdict());
    return {name, outcome, message, outcome == FileOutcome::passed ? exit_done : exit_different,
            comparison_json(files)};
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return {name, FileOutcome::error, error.what(), exit_code_of(error.kind()), nullptr};
  }
}

std::vector<FileResult> compared_files(const std::string& actual, const std::string& expected,
                                       const ComparingOptions& options) {
  const std::set<std::string> of_actual = npy_files_below(actual);
  const std::set<std::string> of_expected = npy_files_below(expected);
  std::set<std::string> names = of_actual;
  names.insert(of_expected.begin(), of_expected.end());
  if (names.empty())
    throw Error(ErrorKind::usage, "there is no .npy file below " + actual + " and none below " +
                                      expected + ": name folders with .npy files");
  std::vector<FileResult> results;
  for (const std::string& name : names) {
    if (!of_expected.contains(name)) {
      results.push_back({name, FileOutcome::only_actual, "no file in " + expected});
    } else if (!of_actual.contains(name)) {
      results.push_back({name, FileOutcome::only_expected, "no file in " + actual});
    } else {
      results.push_back(compare_below(name, actual, expected, options));
    }
  }
  return results;
}

// "3 files: 1 passed, 2 failed".
std::string summary_text(const std::vector<FileResult>& results) {
  std::array<std::uint64_t, outcomes.size()> counts{};
  for (const FileResult& result : results) ++counts[static_cast<std::size_t>(result.outcome)];
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != 0) parts.push_back(std::to_string(counts[i]) + " " + outcomes[i].counted);
  }
  return counted(results.size(), "file") + ": " + join(parts);
}

Json json_of(const FileResult& result) {
  Json json{{"name", result.name}, {"outcome", info_of(result.outcome).word}};
  if (result.json.is_null()) {
    json["message"] = result.message;
  } else {
    json.update(result.json);
  }
  return json;
}

void print_results(const std::vector<FileResult>& results, const std::string& actual,
                   const std::string& expected, int exit_code, const FolderOptions& printing) {
  if (printing.format == Format::json) {
    const char* status = exit_code == exit_done        ? "done"
                         : exit_code == exit_different ? "different"
                                                       : "error";
    Json json{{"status", status},
              {"exitCode", exit_code},
              {"actual", actual},
              {"expected", expected},
              {"summary", summary_text(results)},
              {"files", Json::array()}};
    for (const FileResult& result : results) json["files"].push_back(json_of(result));
    return print_json(json);
  }
  if (printing.quiet) return;
  for (const FileResult& result : results)
    print({std::string_view(info_of(result.outcome).word), ": ", result.name, ": ", result.message,
           "\n"});
  print({summary_text(results), "\n"});
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path != "-" && fs::is_directory(to_path(path), ignored);
}

int compare_folders(const std::string& actual, const std::string& expected,
                    const ComparingOptions& options, const FolderOptions& printing) {
  stop_jobs_gently();
  const std::vector<FileResult> results = compared_files(actual, expected, options);
  int exit_code = exit_done;
  for (const FileResult& result : results) exit_code = std::max(exit_code, result.exit_code);
  print_results(results, actual, expected, exit_code, printing);
  return exit_code;
}

}  // namespace dmlop::app
