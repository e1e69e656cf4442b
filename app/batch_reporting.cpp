#include "batch_reporting.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/reports.hpp"
#include "numbers.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

std::string indented(const std::string& text) {
  std::string lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = one_line(std::string_view(text).substr(begin, end - begin));
    // At the start of a line GitHub takes it for a command.
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line.compare(first, 2, "::") == 0)
      line.replace(first, 1, "\\u003a");
    lines += "  " + line + "\n";
    begin = end + 1;
  }
  return lines;
}

std::string printable_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return one_line(text);
}

void write_file(const std::string& path, const std::string& text) {
  const StopDeferred wanted;
  OutputFile file(path, text.size());
  file.write_at(0, std::as_bytes(std::span(text)));
  file.commit(/*wanted_after_stop=*/true);
}

void append_step_summary(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::error_code error;
  SystemFile file = SystemFile::open_to_append(path, error);
  if (!error) error = file.write_all(std::as_bytes(std::span(text)));
  if (!error) error = file.close();
  if (error)
    throw Error(ErrorKind::io_failed, "writing the step summary " + path + ": " + reason(error));
}

void print_json(const BatchSummary& summary, const std::vector<BatchResult>& results) {
  const char* status = summary.exit_code == exit_done        ? "done"
                       : summary.exit_code == exit_different ? "different"
                                                             : "error";
  Json json{{"status", status},
            {"exitCode", summary.exit_code},
            {"device", summary.device},
            {"seconds", summary.seconds}};
  Json counts = Json::object();
  for (std::size_t i = 0; i < summary.counts.size(); ++i)
    counts[std::string(status_names[i])] = summary.counts[i];
  json["counts"] = std::move(counts);
  if (!summary.interrupted.empty()) json["interrupted"] = summary.interrupted;
  json["jobs"] = Json::array();
  for (const BatchResult& result : results) {
    if (!is_good(result.status)) json["jobs"].push_back(Json::parse(result.record, nullptr, false));
  }
  std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

BatchPresenter::BatchPresenter(const BatchCommandOptions& options,
                               std::optional<std::uint64_t> total)
    : options_(options),
      colour_(may_colour_output() && options.text_stream() == stdout),
      progress_(total, options.quiet) {}

void BatchPresenter::show(const BatchResult& result) {
  const bool good = is_good(result.status);
  // Thousands of jobs that were not come to would hide what went wrong.
  const bool is_news = !good && result.status != Status::not_run;
  if (!options_.quiet && (is_news || options_.verbose)) {
    progress_.clear();
    print(result);
  }
  progress_.count(good);
  if (options_.keeps_results()) results.push_back(result);
}

void BatchPresenter::summarize(const BatchSummary& summary) {
  progress_.clear();
  if (options_.quiet) return;
  std::FILE* out = options_.text_stream();
  if (options_.verbose && !summary.slowest.empty()) {
    std::fprintf(out, "slowest:\n");
    for (const BatchResult& result : summary.slowest)
      std::fprintf(out, "  %s s  %s\n", rounded(result.seconds).c_str(),
                   one_line(result.id).c_str());
  }
  const double rate = static_cast<double>(summary.jobs()) / std::max(summary.seconds, 1e-9);
  std::fprintf(out, "%s in %s s (%s/s) on %s: %s", counted(summary.jobs(), "job").c_str(),
               rounded(summary.seconds).c_str(), rounded(rate).c_str(), summary.device.c_str(),
               counts_text(summary.counts).c_str());
  if (summary.resumed != 0)
    std::fprintf(out, " (%llu from an earlier run)",
                 static_cast<unsigned long long>(summary.resumed));
  std::fprintf(out, "\n");
  if (summary.counts[static_cast<std::size_t>(Status::not_run)] != 0 && !options_.verbose)
    std::fprintf(out, "  -v lists those that were not run; --resume goes on from --results\n");
  if (!summary.interrupted.empty())
    std::fprintf(stderr, "dmlop: %s\n", summary.interrupted.c_str());
}

void BatchPresenter::print(const BatchResult& result) const {
  std::FILE* out = options_.text_stream();
  const char* colour = is_good(result.status) ? "\033[32m" : "\033[31m";
  std::fprintf(out, "%s%s%s %s", colour_ ? colour : "", std::string(name_of(result.status)).c_str(),
               colour_ ? "\033[0m" : "", one_line(result.id).c_str());
  if (!result.message.empty()) std::fprintf(out, ": %s", printable_line(result.message).c_str());
  std::fprintf(out, "\n%s", indented(result.details).c_str());
  if (result.status != Status::passed && !result.repeat.empty())
    std::fprintf(out, "  repeat: %s\n", one_line(result.repeat).c_str());
  std::fflush(out);
}

RecordKeeper::RecordKeeper(const BatchCommandOptions& options) {
  if (!options.results.empty()) file_.emplace(options.results, options.resume);
}

void RecordKeeper::start(const std::string& version) {
  if (file_) file_->start(version);
}

template <typename Record>
void RecordKeeper::add(const Record& record) {
  if (!file_ || exit_code != exit_done) return;
  try {
    file_->add(record);
  } catch (const Error& error) {
    exit_code = exit_code_of(error.kind());
    std::fprintf(stderr, "dmlop: error: %s; the batch goes on without records\n", error.what());
  }
}
template void RecordKeeper::add(const std::string&);
template void RecordKeeper::add(const BatchSummary&);

int write_reports(const BatchCommandOptions& options, const BatchSummary& summary,
                  const std::vector<BatchResult>& results) {
  const std::string title = options.merge.empty() ? options.jobs : join(options.merge);
  const BatchReport report{title, options.batch.version, summary, results};
  int code = exit_done;
  const auto fail = [&](int failure, const char* message, const char* of = "") {
    std::fprintf(stderr, "dmlop: error: %s%s\n", message, of);
    code = worse_exit_code(code, failure);
  };
  const auto attempt = [&](bool wanted, const char* option, auto&& write) {
    if (!wanted) return;
    try {
      write();
    } catch (const Error& error) {
      fail(exit_code_of(error.kind()), error.what());
    } catch (const std::bad_alloc&) {
      fail(exit_run_failed, "out of memory for ", option);
    } catch (const std::exception& error) {
      fail(exit_run_failed, error.what());
    }
  };
  attempt(!options.junit.empty(), "--junit", [&] { write_file(options.junit, junit_xml(report)); });
  attempt(!options.html.empty(), "--html", [&] { write_file(options.html, html_report(report)); });
  attempt(options.github, "--github", [&] {
    std::fputs(github_annotations(results).c_str(), options.text_stream());
    append_step_summary(options.step_summary(), github_step_summary(report));
  });
  attempt(options.format == Format::json, "--format json", [&] { print_json(summary, results); });
  return code;
}

}  // namespace dmlop::app
