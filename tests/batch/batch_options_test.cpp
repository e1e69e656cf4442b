// The options of dmlop batch, all of them: which belong to the command that repeats a job, which
// let --resume run a job again, and which are refused where they would say nothing. An option that
// has no row here fails the test.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "batch.hpp"
#include "batch/reports.hpp"

namespace dmlop::test::batch_options_test {
namespace {

using Arguments = std::vector<std::string>;

/// What an option does besides what it is for.
struct OptionRow {
  std::string name;
  Arguments value = {};
  bool is_repeated = false;    // by the command that repeats a job
  bool runs_again = false;     // a job that --resume would skip without it
  bool needs_run = false;      // --list refuses it
  bool needs_jobs = false;     // --merge refuses it
  bool is_of_its_own = false;  // it has tests of its own: it runs nothing here, or not as the rest
};

std::vector<OptionRow> option_rows() {
  std::vector<OptionRow> rows{
      {.name = "--help", .is_of_its_own = true},
      {.name = "--merge", .is_of_its_own = true},
      {.name = "--latest", .is_of_its_own = true},
      {.name = "--list", .needs_jobs = true, .is_of_its_own = true},
      {.name = "--resume", .needs_run = true, .needs_jobs = true, .is_of_its_own = true},
      {.name = "--format", .value = {"text"}},
      {.name = "--cpu", .is_of_its_own = true},  // the others exclude it, and it is in every run
      {.name = "--gpu", .is_of_its_own = true},
      {.name = "--device", .value = {"cpu"}, .is_of_its_own = true},
      {.name = "--against",
       .value = {"gpu"},
       .needs_run = true,
       .needs_jobs = true,
       .is_of_its_own = true},
      {.name = "--threads", .value = {"1"}},
      {.name = "--device-memory", .value = {"1GB"}},
      {.name = "--host-memory", .value = {"1GB"}},
      {.name = "--jobs", .value = {"1"}},
      {.name = "--fail-fast"},
      {.name = "--max-failures", .value = {"9"}},
      {.name = "--allow-empty"},
      {.name = "--skip-code", .value = {"77"}},
      {.name = "--verbose"},
      {.name = "--quiet"},
      {.name = "--github", .needs_run = true},
      {.name = "--results", .value = {"other.jsonl"}, .needs_run = true, .is_of_its_own = true},
      {.name = "--shard", .value = {"0/1"}, .needs_jobs = true},
      {.name = "--filter", .value = {"*"}, .needs_jobs = true},
      {.name = "--exclude", .value = {"none"}, .needs_jobs = true},
      {.name = "--tag", .value = {"t"}, .needs_jobs = true},
      {.name = "--update-golden", .needs_run = true, .needs_jobs = true, .is_of_its_own = true},
      {.name = "--run-xfail", .is_repeated = true, .needs_run = true, .needs_jobs = true},
      {.name = "--confine", .is_repeated = true},
      {.name = "--timeout", .value = {"60"}, .is_repeated = true},
      {.name = "--out", .value = {"other"}, .is_repeated = true, .runs_again = true},
      {.name = "--strict-indices", .is_repeated = true, .runs_again = true},
      {.name = "--feature-level", .value = {"5_0"}, .is_repeated = true, .runs_again = true},
      // What is no longer valid, or has other warnings, is found before a job is skipped.
      {.name = "--as", .value = {"directml-1.15.4"}, .is_repeated = true},
      {.name = "--warnings-as-errors", .is_repeated = true, .runs_again = true, .needs_jobs = true},
      {.name = "--allow-trivial", .is_repeated = true, .runs_again = true, .needs_jobs = true}};
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"--rtol", "0.01"}, {"--atol", "0.01"}, {"--ulp", "3"}, {"--nan", "differ"}})
    rows.push_back({.name = name,
                    .value = {value},
                    .is_repeated = true,
                    .runs_again = true,
                    .needs_jobs = true});
  for (const dmlop::ReportFormat& format : dmlop::report_formats)
    rows.push_back({.name = format.option,
                    .value = {"report.of" + std::string(format.option)},
                    .needs_run = true});
  return rows;
}

/// The long names that --help lists.
std::set<std::string> listed_options() {
  std::set<std::string> names;
  std::istringstream help(dmlop_program({"batch", "--help"}).output);
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  -")) continue;
    const std::size_t begin = line.find("--");
    names.insert(line.substr(begin, line.find_first_of(" [", begin) - begin));
  }
  return names;
}

Arguments with(Arguments arguments, const OptionRow& row) {
  arguments.push_back(row.name);
  arguments.insert(arguments.end(), row.value.begin(), row.value.end());
  return arguments;
}

/// A job that passes and one that differs.
BatchFolder two_jobs() {
  return BatchFolder({named_job("a", "golden.npy", R"("tags": ["t"])"),
                      named_job("b", "other.npy", R"("tags": ["t"])")});
}

}  // namespace

TEST_CASE("options of batch: each has a row that says where it counts") {
  std::set<std::string> rows;
  for (const OptionRow& row : option_rows()) CHECK(rows.insert(row.name).second);
  const std::set<std::string> listed = listed_options();
  CHECK(listed.size() > 30);
  for (const std::string& name : listed) {
    CAPTURE(name);
    CHECK(rows.contains(name));
  }
  CHECK(rows.size() == listed.size());
}

TEST_CASE("options of batch: the command that repeats a job has those that its result depends on") {
  for (const OptionRow& row : option_rows()) {
    if (row.is_of_its_own) continue;
    CAPTURE(row.name);
    const BatchFolder folder = two_jobs();
    const std::string command = folder.run(with({"jobs.jsonl"}, row)).record("b").at("repeat");
    CAPTURE(command);
    // --filter is in all of these commands, with the job's id.
    const bool is_there =
        contains(command + " ", " " + row.name + " ") || contains(command, " " + row.name + "=");
    CHECK(is_there == (row.is_repeated || row.name == "--filter"));
  }
}

TEST_CASE(
    "options of batch: --resume runs a job again where an option changes what it depends on") {
  for (const OptionRow& row : option_rows()) {
    if (row.is_of_its_own) continue;
    CAPTURE(row.name);
    const BatchFolder folder = two_jobs();
    const Arguments before{"jobs.jsonl", "--results", "r.jsonl", "--out", "out"};
    CHECK(folder.batch(before).code == 1);
    Arguments again = with({"jobs.jsonl", "--results", "r.jsonl", "--resume"}, row);
    if (row.name != "--out") again.insert(again.end(), {"--out", "out"});
    const auto result = folder.batch(again);
    CAPTURE(result.error);
    std::size_t runs_of_a = 0;
    for (const Json& record : read_records(folder.read("r.jsonl")))
      runs_of_a += record.value("id", "") == "a";
    CHECK(runs_of_a == (row.runs_again ? 2 : 1));
  }
}

TEST_CASE("options of batch: --list and --merge refuse those that say nothing there") {
  const BatchFolder folder = two_jobs();
  CHECK(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 1);
  for (const OptionRow& row : option_rows()) {
    // Those of its own that are not refused have no business here.
    if (row.is_of_its_own && !row.needs_run && !row.needs_jobs) continue;
    CAPTURE(row.name);
    if (row.name != "--list") {
      const auto list = folder.batch(with({"jobs.jsonl", "--list"}, row));
      CHECK(list.code == (row.needs_run ? 2 : 0));
      if (row.needs_run && !row.is_of_its_own)
        CHECK(contains(list.error, "--list runs nothing; leave out " + row.name));
    }
    const auto merge = folder.batch(with({"--merge", "r.jsonl"}, row));
    CHECK((merge.code == 2) == row.needs_jobs);
    CHECK(contains(merge.error, "error: --") == row.needs_jobs);
  }
}

}  // namespace dmlop::test::batch_options_test
