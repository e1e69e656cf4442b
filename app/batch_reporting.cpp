#include "batch_reporting.hpp"

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/reports.hpp"
#include "command.hpp"
#include "lines.hpp"
#include "text_file.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

std::string joined_lines(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
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

// Of the jobs that have the same wrong with them, and of equal warnings, so many are listed; the
// rest are counted.
constexpr std::uint64_t listed_of_a_kind = 8;
// So many kinds are told apart.
constexpr std::size_t kinds_max = 1000;

// What is wrong with a job, without the names of files in it; "" where that is for each job to say.
std::string mistake_in(const BatchResult& result) {
  const std::size_t help = result.brief.find("help: ");
  std::string remedy = help == std::string::npos
                           ? ""
                           : result.brief.substr(help, result.brief.find('\n', help) - help);
  switch (result.status) {
    case Status::uncompared:
      return joined_lines(result.message);
    case Status::error:
      return remedy;
    case Status::invalid:
      return joined_lines(result.message) + (remedy.empty() ? "" : "; ") + remedy;
    default:
      return "";
  }
}

// What a job is one of, as the end of "and 12 more "; "" where it is like no other.
std::string kind_of(const BatchResult& result) {
  const std::string mistake = mistake_in(result);
  return mistake.empty()
             ? ""
             : "jobs like these, " + std::string(name_of(result.status)) + ": " + mistake;
}

// The same for a warning, which is like others with the same message at other places.
std::string kind_of(const std::string& warning) {
  constexpr std::string_view word = "warning: ";
  const std::size_t at = warning.find(word);
  const std::size_t begin = at == std::string::npos ? 0 : at + word.size();
  return "warnings like these: " + warning.substr(begin, warning.find('\n', begin) - begin);
}

// What is listed even where all that passes is not.
bool is_news(const BatchResult& result) {
  return !result.is_good() || result.status == Status::updated;
}

// " (12/s)"; "" if no job was run.
std::string rate_text(const BatchSummary& summary) {
  const std::uint64_t ran = summary.ran();
  const double rate = static_cast<double>(ran) / std::max(summary.seconds, 1e-9);
  return ran == 0 ? "" : " (" + rounded(rate) + "/s)";
}

void print_summary_json(const BatchSummary& summary, const std::vector<BatchResult>& results,
                        const Diagnostics& findings) {
  const char* status = summary.exit_code == exit_done        ? "done"
                       : summary.exit_code == exit_different ? "different"
                                                             : "error";
  Json json{{"status", status},
            {"exitCode", summary.exit_code},
            {"device", summary.device},
            {"seconds", summary.seconds}};
  Json counts = Json::object();
  for (std::size_t i = 0; i < summary.counts.size(); ++i)
    counts[std::string(statuses[i].name)] = summary.counts[i];
  json["counts"] = std::move(counts);
  json["warnings"] = summary.warnings;
  if (!summary.interrupted.empty()) json["interrupted"] = summary.interrupted;
  if (!findings.empty()) json.update(findings_json(findings));
  if (summary.golden_created + summary.golden_replaced != 0)
    json["goldenFiles"] = {{"created", summary.golden_created},
                           {"replaced", summary.golden_replaced}};
  json["jobs"] = Json::array();
  for (const BatchResult& result : results) {
    if (is_news(result) || !result.warnings.empty())
      json["jobs"].push_back(Json::parse(result.record, nullptr, false));
  }
  print_json(json);
}

}  // namespace

BatchPresenter::BatchPresenter(const BatchCommandOptions& options,
                               std::optional<std::uint64_t> total)
    : options_(options),
      color_(may_color_output() && options.text_stream() == StandardStream::output),
      progress_(total, options.quiet) {}

void BatchPresenter::show(const BatchResult& result) {
  const bool good = result.is_good();
  const bool is_wanted = options_.quiet ? result.outcome() == Outcome::error : is_news(result);
  // Thousands of jobs that were not come to would hide what went wrong.
  const bool is_listed = is_wanted && result.status != Status::not_run;
  const bool lists_all = options_.verbose && !options_.quiet;
  if (lists_all || (is_listed && !is_one_of_many(kind_of(result)))) {
    progress_.clear();
    print_result(result);
  }
  if (!options_.quiet) print_warnings(result);
  progress_.count(good);
  if (options_.keeps_results()) results.push_back(result);
}

void BatchPresenter::print_warnings(const BatchResult& result) {
  if (!result.warnings.empty() || !result.notice.empty()) progress_.clear();
  for (const std::string& warning : result.warnings) {
    if (options_.verbose || !is_one_of_many(kind_of(warning)))
      print(StandardStream::error, {Text::lines(warning), "\n"});
  }
  if (!result.notice.empty()) print(StandardStream::error, {result.id, ": ", result.notice, "\n"});
}

void BatchPresenter::summarize(const BatchSummary& summary) {
  progress_.clear();
  if (options_.quiet) return print_more_of_kinds();
  const StandardStream out = options_.text_stream();
  if (options_.verbose && !summary.slowest.empty()) {
    print(out, {"slowest:\n"});
    for (const BatchResult& result : summary.slowest)
      print(out, {"  ", rounded(result.seconds), " s  ", result.id, "\n"});
  }
  if (summary.jobs() == 0) {
    // Without --allow-empty, an error or a note says so.
    if (options_.allow_empty) print(out, {"0 jobs\n"});
    if (!summary.interrupted.empty())
      print(StandardStream::error, {"dmlop: ", summary.interrupted, "\n"});
    return;
  }
  print_more_of_kinds();
  const std::string resumed =
      summary.resumed == 0 ? "" : " (" + std::to_string(summary.resumed) + " from an earlier run)";
  // A run that was killed did not say what it ran on.
  const std::string device = summary.device.empty() ? "" : " on " + summary.device;
  print(out,
        {counted(summary.jobs(), "job"), " in ", rounded(summary.seconds), " s", rate_text(summary),
         device, ": ", counts_text(summary.counts), resumed, warnings_text(summary), "\n"});
  print_golden_counts(summary);
  if (summary.counts[static_cast<std::size_t>(Status::not_run)] != 0 && !options_.verbose)
    print(out,
          {"  -v lists those that were not run; ",
           options_.merge.empty()
               ? Text("with --results FILE, --resume goes on from there\n")
               : Text("continue their runs with --results FILE --resume, then merge again\n")});
  if (!summary.interrupted.empty())
    print(StandardStream::error, {"dmlop: ", summary.interrupted, "\n"});
}

// Thousands of missing golden files are one mistake, not thousands.
bool BatchPresenter::is_one_of_many(const std::string& kind) {
  if (kind.empty()) return false;
  if (kinds_.size() == kinds_max && !kinds_.contains(kind)) return false;
  return ++kinds_[kind] > listed_of_a_kind;
}

void BatchPresenter::print_more_of_kinds() const {
  bool is_any = false;
  for (const auto& [kind, count] : kinds_) {
    if (count <= listed_of_a_kind) continue;
    print(options_.text_stream(), {"and ", count - listed_of_a_kind, " more ", kind, "\n"});
    is_any = true;
  }
  if (is_any) print(options_.text_stream(), {"  -v lists all of them\n"});
}

void BatchPresenter::print_golden_counts(const BatchSummary& summary) const {
  const std::uint64_t created = summary.golden_created, replaced = summary.golden_replaced;
  if (created + replaced == 0) return;
  print(options_.text_stream(), {"  ", counted(replaced, "golden file"), " replaced, ", created,
                                 " created; look at what changed before you keep it\n"});
}

void BatchPresenter::print_result(const BatchResult& result) const {
  const StandardStream out = options_.text_stream();
  const Text none("");
  // Tables are for what went wrong.
  const bool is_brief = result.is_good() || result.status == Status::updated;
  const std::string& more = is_brief || result.details.empty() ? result.brief : result.details;
  const Text color = result.is_good() ? Text("\033[32m") : Text("\033[31m");
  print(out, {color_ ? color : none, name_of(result.status), color_ ? Text("\033[0m") : none, " ",
              result.id, result.message.empty() ? none : Text(": "), joined_lines(result.message),
              "\n", Text::lines(indented(more))});
  if (result.status != Status::passed && result.status != Status::updated && !result.repeat.empty())
    print(out, {"  repeat: ", result.repeat, "\n"});
  flush_output(out);
}

RecordKeeper::RecordKeeper(const BatchCommandOptions& options) {
  if (!options.results.empty()) file_.emplace(options.results, options.resume);
}

void RecordKeeper::start(const std::string& version, const std::string& program) {
  if (file_) file_->start(version, program);
}

template <typename Record>
void RecordKeeper::add(const Record& record) {
  if (!file_ || exit_code != exit_done) return;
  try {
    file_->add(record);
  } catch (const Error& error) {
    exit_code = exit_code_of(error.kind());
    print(StandardStream::error, {"dmlop: error: ", std::string_view(error.what()),
                                  "; the batch goes on without records\n"});
  }
}
template void RecordKeeper::add(const std::string&);
template void RecordKeeper::add(const BatchSummary&);

int write_reports(const BatchCommandOptions& options, const BatchSummary& summary,
                  std::vector<BatchResult>& results, const Diagnostics& findings) {
  std::stable_sort(results.begin(), results.end(), comes_before);
  const auto& names = options.merge.empty() ? options.jobs : options.merge;
  const std::string title = names.size() == 1 ? names.front() : names_of_list(names);
  const BatchReport report{title, options.batch.version, summary, results};
  int code = exit_done;
  const auto fail = [&](int failure, const char* message, std::string_view of = "") {
    print(StandardStream::error, {"dmlop: error: ", std::string_view(message), of, "\n"});
    code = worse_exit_code(code, failure);
  };
  const auto attempt = [&](bool wanted, std::string_view option, auto&& write) {
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
  for (const WrittenFile& file : options.written)
    attempt(file.is_wanted_report(), file.option,
            [&] { write_text(file.path, file.format->text(report)); });
  attempt(options.github, "--github", [&] {
    print(options.text_stream(), {Text::verbatim(github_annotations(results))});
    append_step_summary(options.step_summary(), github_step_summary(report));
  });
  attempt(options.format == Format::json, "--format json",
          [&] { print_summary_json(summary, results, findings); });
  return code;
}

}  // namespace dmlop::app
