#include "bench_baseline.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "bench_text.hpp"
#include "processor_name.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

// "10%" is 0.1; nothing for other text.
std::optional<double> percentage(const std::string& text) {
  constexpr double most = 1e6;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const bool is_one = error == std::errc{} && std::string(stop, end) == "%";
  if (!is_one || !(number >= 0) || number > most) return std::nullopt;
  return number / 100;
}

std::string percent_text(double part) {
  return rounded(100 * part) + " percent";
}

bool is_slower(const PaceChange& change) {
  return change.pace == Pace::slower;
}

int code_of_changes(const std::vector<PaceChange>& changes) {
  return std::any_of(changes.begin(), changes.end(), is_slower) ? exit_different : exit_done;
}

std::string median_text(const std::optional<Quartiles>& seconds) {
  return seconds ? time_text(seconds->median) : "-";
}

void print_change(std::size_t width, const std::string& name, const std::string& before,
                  const std::string& now, const std::string& ratio, std::string_view verdict) {
  print({"  ", padded(printable(name), width), " ", padded(before, 10), " ", padded(now, 10), " ",
         padded(ratio, 9), " ", verdict, "\n"});
}

void print_table(const std::vector<PaceChange>& changes) {
  std::size_t width = 4;
  for (const PaceChange& change : changes)
    width = std::max(width, character_count(printable(change.name)));
  print_change(width, "name", "before", "now", "ratio", "verdict");
  for (const PaceChange& change : changes) {
    const auto ratio = change.ratio();
    print_change(width, change.name, median_text(change.before), median_text(change.now),
                 ratio ? rounded(*ratio) : "-", name_of(change.pace));
  }
}

// What to do about a case that cannot be judged.
void print_advice(const std::vector<PaceChange>& changes) {
  const auto is_unclear = [](const PaceChange& change) { return change.pace == Pace::unclear; };
  if (std::any_of(changes.begin(), changes.end(), is_unclear))
    print(StandardStream::error,
          {"dmlop: note: unclear: the runs differ too much to tell; measure both with more "
           "--min-time, on a machine that does nothing else\n"});
}

Json median_json(const std::optional<Quartiles>& seconds) {
  return seconds ? Json(seconds->median) : Json(nullptr);
}

Json to_json(const std::vector<PaceChange>& changes) {
  Json list = Json::array();
  for (const PaceChange& change : changes) {
    const auto ratio = change.ratio();
    list.push_back({{"name", change.name},
                    {"beforeSeconds", median_json(change.before)},
                    {"nowSeconds", median_json(change.now)},
                    {"ratio", ratio ? Json(*ratio) : Json(nullptr)},
                    {"verdict", name_of(change.pace)}});
  }
  return list;
}

Diagnostic usage_finding(std::string message, std::string suggestion) {
  return {
      .kind = ErrorKind::usage, .message = std::move(message), .suggestion = std::move(suggestion)};
}

std::vector<std::string> names_of_cases(const std::vector<TimedCase>& cases) {
  std::vector<std::string> names;
  for (const TimedCase& one : cases) names.push_back(one.name);
  return names;
}

}  // namespace

std::string BenchConditions::text() const {
  return "dmlop " + version + ", " + (device_name == device ? device : device + " " + device_name) +
         ", " + counted(threads, "thread");
}

BenchConditions bench_conditions(const std::string& device, const std::string& device_name,
                                 const ExecutionOptions& execution) {
  return {.version = DMLOP_VERSION,
          .device = device,
          .device_name = device_name,
          .machine = processor_name(),
          .threads = execution.threads != 0 ? execution.threads : hardware_threads()};
}

void BaselineOptions::add_to(OptionList& command) {
  command
      .add_option(
          "--baseline", file_,
          "What an earlier bench --format json printed: compare with it and exit with 1 if "
          "a case has become slower: if three quarters of its runs take longer than three "
          "quarters of the earlier ones did, by more than --max-slowdown, each time that it "
          "is measured, up to six times")
      .type_name("FILE.json");
  command
      .add_option_function(
          "--max-slowdown",
          [this](const std::string& text) {
            max_slowdown_ = percentage(text);
            if (!max_slowdown_)
              refuse_option(
                  "--max-slowdown",
                  "\"" + text + "\" must be a percentage from 0% to 1000000%, such as 10%");
          },
          "With --baseline: how much longer a case may take, such as 5% (default: 10%)")
      .type_name("PERCENT");
}

void BaselineComparison::check(const BenchConditions& now, Diagnostics& diagnostics,
                               Diagnostics& warnings) const {
  if (!baseline_) return;
  const BenchConditions& then = baseline_->conditions;
  const std::string measured = baseline_->file + " was measured ";
  const std::string renew = "measure the baseline again with the options of this run";
  if (then.device_name != now.device_name)
    diagnostics.push_back(
        usage_finding(measured + "on " + then.device + " (" + then.device_name +
                          "), and this run is on " + now.device + " (" + now.device_name + ")",
                      "add --device " + shell_quoted(then.device) + ", or " + renew));
  if (now.device_name == "cpu" && then.threads != now.threads)
    diagnostics.push_back(
        usage_finding(measured + "with " + counted(then.threads, "thread") + ", and this run has " +
                          std::to_string(now.threads),
                      "add --threads " + std::to_string(then.threads) + ", or " + renew));
  if (then.machine != now.machine)
    warnings.push_back({.file = baseline_->file,
                        .message = "it was measured on another machine: " +
                                   (then.machine.empty() ? "unknown" : then.machine) +
                                   "; this is " + (now.machine.empty() ? "unknown" : now.machine),
                        .suggestion = renew});
}

void BaselineComparison::check(const std::vector<std::string>& names,
                               Diagnostics& diagnostics) const {
  if (!baseline_) return;
  const std::vector<std::string> earlier = names_of_cases(baseline_->cases);
  const auto is_known = [&](const std::string& name) {
    return std::find(earlier.begin(), earlier.end(), name) != earlier.end();
  };
  if (std::any_of(names.begin(), names.end(), is_known)) return;
  diagnostics.push_back(
      usage_finding(baseline_->file + " has nothing of what this run measures: it has " +
                        names_of_list(earlier) + ", and this is " + names_of_list(names),
                    "name the file that was measured with the same description"));
}

int BaselineComparison::show(const std::vector<TimedCase>& cases,
                             const std::vector<TimedCase>& nodes) const {
  if (!baseline_) return exit_done;
  const auto changes = compare_paces(baseline_->cases, cases, max_slowdown_);
  print({row_title("baseline"), baseline_->file, " (", baseline_->conditions.text(),
         "); slower is more than ", percent_text(max_slowdown_), "\n"});
  auto shown = changes;
  // A graph may have thousands of nodes.
  for (const PaceChange& node : compare_paces(baseline_->nodes, nodes, max_slowdown_)) {
    if (node.pace != Pace::same) shown.push_back(node);
  }
  print_table(shown);
  print_advice(changes);
  return code_of_changes(changes);
}

int BaselineComparison::add_to(Json& json, const std::vector<TimedCase>& cases,
                               const std::vector<TimedCase>& nodes) const {
  if (!baseline_) return exit_done;
  const auto changes = compare_paces(baseline_->cases, cases, max_slowdown_);
  json["baseline"] = {{"file", baseline_->file},
                      {"maxSlowdown", max_slowdown_},
                      {"slower", std::count_if(changes.begin(), changes.end(), is_slower)},
                      {"cases", to_json(changes)},
                      {"nodes", to_json(compare_paces(baseline_->nodes, nodes, max_slowdown_))}};
  return code_of_changes(changes);
}

}  // namespace dmlop::app
