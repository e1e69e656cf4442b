// dmlop batch from outside: how jobs end and what the batch ends with, the commands that repeat
// them, which jobs are run and when a batch stops. Manifests, reports, resuming and signals are in
// files of their own.
#include "batch.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <set>
#include <thread>

#include "batch/reports.hpp"
#include "paths.hpp"

namespace dmlop::test::batch_test {
namespace {

namespace fs = std::filesystem;

const std::string samples = source_path("samples");

/// Runs the record's command by a shell in the folder: the same ending, and of that job alone.
void check_repeats(const BatchFolder& folder, const Json& record, const std::string& id) {
  CAPTURE(record.dump());
  const std::string command = record.at("repeat");
  const auto again = shell(command + " --results again.jsonl", {.folder = folder.path()});
  CAPTURE(again.output);
  CAPTURE(again.error);
  CHECK(again.code == record.at("exitCode"));
  const auto records = read_records(folder.read("again.jsonl"));
  REQUIRE(records.size() == 2);
  CHECK(records.at(0).at("id") == id);
  CHECK(records.at(0).at("status") == record.at("status"));
}

/// The ids that a run with these arguments chose.
std::set<std::string> chosen(const BatchFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "jobs.jsonl");
  std::set<std::string> ids;
  for (const Json& record : folder.run(arguments).records) {
    CHECK(ids.insert(record.at("id")).second);
  }
  return ids;
}
using Ids = std::set<std::string>;

}  // namespace

TEST_CASE("a job ends in one word, and alone with its exit code") {
  for (const EndingRow& row : endings()) {
    CAPTURE(row.id);
    const BatchFolder folder({row.job});
    const auto outcome = folder.run({"jobs.jsonl"});
    CAPTURE(outcome.program.output);
    REQUIRE(outcome.records.size() == 1);
    CHECK(outcome.status(row.id) == row.status);
    CHECK(outcome.record(row.id).at("exitCode") == row.code);
    CHECK(outcome.code() == row.code);
    CHECK(outcome.summary.at("exitCode") == row.code);
    CHECK(outcome.summary.at("counts").at(row.status) == 1);
    CHECK(contains(outcome.program.output, "on cpu: 1 " + row.status + "\n"));
    const bool is_quiet = row.status == "PASSED" || row.status == "SKIPPED";
    CHECK(outcome.program.output.starts_with(row.status + " " + row.id + ": ") == !is_quiet);
    CHECK(contains(outcome.program.output, "\n  repeat: dmlop batch ") == !is_quiet);
  }
}

TEST_CASE("the worst job decides: 5, 6, 2, 3, 4, 1, 0") {
  const std::vector<std::pair<std::string, int>> order{
      {"good", 0}, {"wrong", 1}, {"foreign", 4}, {"typo", 3}, {"absent", 6}};
  std::map<std::string, std::string> jobs;
  for (const EndingRow& row : endings()) jobs[row.id] = row.job;
  for (const auto& [first, first_code] : order) {
    for (const auto& [second, second_code] : order) {
      if (first == second) continue;
      const BatchFolder folder({jobs[first], jobs[second]});
      const auto at = [&](int code) {
        return std::find_if(order.begin(), order.end(),
                            [&](const auto& row) { return row.second == code; });
      };
      CHECK(folder.batch({"jobs.jsonl"}).code ==
            (at(first_code) < at(second_code) ? second_code : first_code));
    }
  }
  const BatchFolder folder({jobs["absent"], long_job()});
  CHECK(folder.batch({"jobs.jsonl", "--timeout", "0.05"}).code == 5);
}

TEST_CASE("a missing golden file does not hide what is wrong with the description") {
  const BatchFolder folder(
      {edge_job(R"("id": "a", "expect": "absent.npy", "typo": 1)"), named_job("b", "absent.npy")});
  const auto outcome = folder.run({"jobs.jsonl"});
  CHECK(outcome.statuses() == "a INVALID, b ERROR");
  CHECK(contains(outcome.record("a").at("message"), "unknown field"));
}

TEST_CASE("what is neither kept nor compared is not trusted, what is kept is fine") {
  const BatchFolder folder({edge_job(R"("id": "a")")});
  const auto blind = folder.run({"jobs.jsonl"});
  CHECK(blind.status("a") == "UNCOMPARED");
  CHECK(blind.record("a").at("message").get<std::string>().starts_with(
      "no output is kept or compared: "));
  CHECK(contains(blind.record("a").at("message").get<std::string>(), "--update-golden"));
  CHECK(folder.run({"jobs.jsonl", "--out", "out"}).status("a") == "PASSED");
  CHECK(folder.read("out/a/OutputTensor.npy") == folder.read("golden.npy"));
  folder.write("kept.jsonl", "{" + edge_fields + R"(, "bindings": {"InputTensor": "x.npy", )" +
                                 R"("OutputTensor": "kept.npy"}})");
  CHECK(folder.run({"kept.jsonl"}).status("line-1") == "PASSED");
  CHECK(folder.read("kept.npy") == folder.read("golden.npy"));
}

TEST_CASE("tolerances of jobs count, and nothing else does") {
  const BatchFolder folder(
      {named_job("atol", "other.npy", R"("tolerance": {"atol": 0.5})"),
       named_job("tight", "other.npy", R"("tolerance": {"atol": 0.4})"),
       edge_job(R"("id": "nan", "expect": "nan.npy", "tolerance": {"allowTrivial": true})",
                "nan3.npy")});
  CHECK(folder.run({"jobs.jsonl"}).statuses() == "atol PASSED, nan PASSED, tight FAILED");
}

TEST_CASE("every job that is not PASSED prints a command that repeats it") {
  std::vector<std::string> jobs;
  for (const EndingRow& row : endings()) jobs.push_back(row.job);
  jobs.push_back("{\"type\":");
  jobs.push_back(named_job("good"));  // a second time
  const BatchFolder folder(jobs);
  folder.write("jobs.json", R"({"defaults": {"tags": ["t"]}, "jobs": [)" + named_job("wrong") +
                                "," + named_job("x", "other.npy") + "," + edge_job() + "," +
                                named_job("x") + "]}");
  int checked = 0;
  for (const char* name : {"jobs.jsonl", "jobs.json"}) {
    const auto outcome = folder.run({name, "--jobs", "2"});
    for (const Json& record : outcome.records) {
      if (record.at("status") == "PASSED") continue;
      if (record.at("status") != "SKIPPED") {
        const std::string line = "\n  repeat: " + record.at("repeat").get<std::string>() + "\n";
        CHECK(contains(outcome.program.output, line));
      }
      check_repeats(folder, record, record.at("id"));
      ++checked;
    }
  }
  CHECK(checked == 9 + 2 + 3);
}

TEST_CASE("repeat commands name ids as a shell and a pattern read them") {
  const std::vector<std::string> ids{
      "a*b", "a?b",   "[ab]b", "a]b",      "!a",    "it's", "two  words", "$HOME", "`x`",
      "-x",  "--cpu", "a\"b",  "back\\sl", "a;b&c", "~",    "#x",         "a/b",   "\u00e4\u20ac",
      "[a]", "[ab]",  "*",     "?",        "[]",    "[]]",  "{}",         "=",     "-o="};
  std::vector<std::string> jobs{named_job("aXb"), named_job("a"),    named_job("ab"),
                                named_job("bb"),  named_job("aXXb"), named_job("b")};
  for (const std::string& id : ids) jobs.push_back(named_job(id, "other.npy"));
  const BatchFolder folder(jobs);
  folder.write("the jobs' [1].jsonl", folder.read("jobs.jsonl"));
  const auto outcome = folder.run({"the jobs' [1].jsonl", "--feature-level", "5_0"});
  for (const std::string& id : ids) {
    CHECK(outcome.status(id) == "FAILED");
    check_repeats(folder, outcome.record(id), id);
  }
}

TEST_CASE("repeat commands of jobs from folders and with --out") {
  const BatchFolder folder;
  for (const char* id : {"a [1]", "a 1", "b/c"}) {
    folder.write("jobs/" + std::string(id) + "/op.json", "{" + edge_fields + "}");
    folder.write("jobs/" + std::string(id) + "/InputTensor.npy", folder.read("x.npy"));
    folder.write("jobs/" + std::string(id) + "/expected.npy", folder.read("other.npy"));
  }
  const auto outcome = folder.run({"jobs", "--out", "the out"});
  REQUIRE(outcome.records.size() == 3);
  for (const Json& record : outcome.records) {
    const std::string id = record.at("id");
    fs::remove(folder / "the out/" + id + "/OutputTensor.npy");
    check_repeats(folder, record, id);
    CHECK(folder.has("the out/" + id + "/OutputTensor.npy"));
  }
}

TEST_CASE("repeat commands of jobs from standard input bring the job along") {
  const BatchFolder folder;
  const std::string jobs =
      lines_of({named_job("it's 100%\\n", "other.npy"), edge_job(R"("expect": "none.npy")"),
                "{\"a\":", "{" + unsupported_members + "}",
                named_job("two\\\\", "other.npy", "\"skip\": \"`why` $HOME\"")});
  const auto outcome = folder.run({"-"}, jobs);
  REQUIRE(outcome.records.size() == 5);
  for (const Json& record : outcome.records) {
    CHECK(record.at("repeat").get<std::string>().starts_with("printf "));
    const std::string id = record.at("id");
    check_repeats(folder, record, id.starts_with("line-") ? "line-1" : id);
  }
}

TEST_CASE("N shards together run each job exactly once") {
  std::vector<std::string> jobs;
  Ids all;
  for (int i = 0; i < 60; ++i) {
    jobs.push_back(i % 7 == 0 ? edge_job(R"("expect": "golden.npy")")
                              : named_job("job " + std::to_string(i)));
    all.insert(i % 7 == 0 ? "line-" + std::to_string(i + 1) : "job " + std::to_string(i));
  }
  jobs.push_back(named_job("job 5"));  // a second time
  all.insert("line-61");
  const BatchFolder folder(jobs);
  for (const int count : {1, 2, 3, 7}) {
    std::size_t sum = 0, empty = 0;
    Ids together;
    for (int i = 0; i < count; ++i) {
      const std::string shard = std::to_string(i) + "/" + std::to_string(count);
      const Ids ids = chosen(folder, {"--shard", shard});
      sum += ids.size();
      empty += ids.empty() ? 1 : 0;
      together.insert(ids.begin(), ids.end());
    }
    CHECK(sum == all.size());
    CHECK(empty == 0);
    CHECK((together == all));
  }
  for (const char* wrong : {"2/2", "0/0", "1", "a/b", "-1/2", "1/2/3", "/2", "1/", "0x0/1", " 0/1"})
    CHECK(folder.batch({"jobs.jsonl", "--shard", wrong}).code == 2);
}

TEST_CASE("--filter and --tag select; an empty selection is an error unless allowed") {
  const BatchFolder folder({named_job("pad/a", "golden.npy", R"("tags": ["slow", "edge"])"),
                            named_job("pad/b", "golden.npy", R"("tags": ["edge"])"),
                            named_job("pool/a", "golden.npy", R"("tags": ["slow"])"),
                            edge_job(R"("expect": "golden.npy")")});
  CHECK((chosen(folder, {"--filter", "pad/*"}) == Ids{"pad/a", "pad/b"}));
  CHECK((chosen(folder, {"--filter", "pad/b", "--filter", "l*"}) == Ids{"line-4", "pad/b"}));
  CHECK((chosen(folder, {"--filter", "p?[!d]*"}) == Ids{"pool/a"}));
  CHECK((chosen(folder, {"--tag", "slow"}) == Ids{"pad/a", "pool/a"}));
  CHECK((chosen(folder, {"--tag", "slow", "--tag", "edge"}) == Ids{"pad/a", "pad/b", "pool/a"}));
  CHECK((chosen(folder, {"--tag", "slow", "--filter", "pool*"}) == Ids{"pool/a"}));
  for (const std::vector<std::string>& selection : std::vector<std::vector<std::string>>{
           {"--filter", "pad"}, {"--tag", "slo"}, {"--filter", "pad/*", "--tag", "none"}}) {
    std::vector<std::string> arguments{"jobs.jsonl"};
    arguments.insert(arguments.end(), selection.begin(), selection.end());
    const auto refused = folder.batch(arguments);
    CHECK(refused.code == 2);
    CHECK(refused.output == "");
    CHECK(
        contains(refused.error, "no job is selected\n  help: change --filter, --exclude or --tag"));
    arguments.push_back("--allow-empty");
    const auto allowed = folder.batch(arguments);
    CHECK(allowed.code == 0);
    CHECK(allowed.error == "");
    CHECK(allowed.output == "0 jobs\n");
  }
}

TEST_CASE("Bazel's variables are honored, and options win over them") {
  std::vector<std::string> jobs;
  for (int i = 0; i < 30; ++i) jobs.push_back(named_job(std::to_string(i)));
  const BatchFolder folder(jobs);
  const auto with = [&](const std::string& environment, const std::string& options) {
    const auto result = shell("export " + environment + "; dmlop batch jobs.jsonl --cpu " +
                                  options + " --results r.jsonl",
                              {.folder = folder.path()});
    CHECK(result.code == 0);
    Ids ids;
    for (const Json& record : read_records(folder.read("r.jsonl"))) {
      if (record.contains("id")) ids.insert(record.at("id"));
    }
    return ids;
  };
  const Ids second = chosen(folder, {"--shard", "1/3"}), third = chosen(folder, {"--shard", "2/3"});
  const std::string shard = "TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=3 TEST_SHARD_STATUS_FILE=status";
  CHECK((with(shard + " XML_OUTPUT_FILE=env.xml", "") == second));
  CHECK(folder.has("status"));
  CHECK(contains(folder.read("env.xml"), "tests=\"" + std::to_string(second.size()) + "\""));
  CHECK((with(shard, "--shard 2/3") == third));
  CHECK(with(shard, "--shard 0/1").size() == 30);
  fs::remove(folder / "env.xml");
  with("XML_OUTPUT_FILE=env.xml", "--junit option.xml");
  CHECK_FALSE(folder.has("env.xml"));
  CHECK(folder.has("option.xml"));
}

TEST_CASE("--fail-fast and --max-failures: the rest is NOT_RUN") {
  const BatchFolder folder({named_job("1"), named_job("2", "golden.npy", R"("skip": "no")"),
                            named_job("3", "other.npy"), named_job("4"), "{",
                            named_job("6", "other.npy"), named_job("7")});
  const auto first = folder.run({"jobs.jsonl", "--fail-fast", "--jobs", "1"});
  CHECK(first.statuses() ==
        "1 PASSED, 2 SKIPPED, 3 FAILED, 4 NOT_RUN, 6 NOT_RUN, 7 NOT_RUN, line-5 NOT_RUN");
  CHECK(first.code() == 1);
  CHECK(first.record("4").at("message") == "the batch stopped after 1 failure");
  CHECK(first.summary.at("counts").at("NOT_RUN") == 4);
  // They are listed where that is asked for, and counted in any case.
  CHECK_FALSE(contains(first.program.output, "NOT_RUN 4"));
  CHECK(contains(first.program.output, " 4 NOT_RUN\n  -v lists those that were not run"));
  const auto listed = folder.run({"jobs.jsonl", "--fail-fast", "--jobs", "1", "-v"});
  CHECK(
      contains(listed.program.output, "\nNOT_RUN 4: the batch stopped after 1 failure\n  repeat"));
  const auto second = folder.run({"jobs.jsonl", "--max-failures", "2", "--jobs", "1"});
  CHECK(second.statuses() ==
        "1 PASSED, 2 SKIPPED, 3 FAILED, 4 PASSED, 6 NOT_RUN, 7 NOT_RUN, line-5 INVALID");
  CHECK(second.code() == 3);
  CHECK(folder.run({"jobs.jsonl", "--max-failures", "9", "--jobs", "1"}).status("7") == "PASSED");
  CHECK(folder.batch({"jobs.jsonl", "--max-failures", "2", "--fail-fast"}).code == 2);
  CHECK(folder.batch({"jobs.jsonl", "--max-failures", "0"}).code == 2);
}

// Two seconds: time enough for the jobs that end, on a machine that is busy with others.
TEST_CASE("--timeout stops a long job, and the others go on") {
  const BatchFolder folder(
      {named_job("a"), long_job(), named_job("b"), named_job("c", "other.npy")});
  for (const char* workers : {"1", "2"}) {
    const auto outcome =
        folder.run({"jobs.jsonl", "--timeout", "2", "--jobs", workers, "--out", "out"});
    CHECK(outcome.statuses() == "a PASSED, b PASSED, c FAILED, long ERROR");
    CHECK(outcome.record("long").at("message") == "stopped after 2 s (--timeout)");
    CHECK(outcome.record("long").at("exitCode") == 5);
    CHECK(outcome.code() == 5);
    CHECK_FALSE(folder.has("out/long/OutputTensor.npy"));
    for (const auto& entry : fs::directory_iterator(folder / "out/long"))
      FAIL("left behind: " << entry.path().string());
    check_repeats(folder, outcome.record("long"), "long");
  }
  for (const char* wrong : {"0", "-1", "soon"})
    CHECK(folder.batch({"jobs.jsonl", "--timeout", wrong}).code == 2);
}

TEST_CASE("reports do not replace what is read, nor each other") {
  const BatchFolder folder({named_job("a")});
  const std::string jobs = folder.read("jobs.jsonl");
  CHECK(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 0);
  const std::string records = folder.read("r.jsonl");
  using Arguments = std::vector<std::string>;
  for (const Arguments& arguments : {Arguments{"jobs.jsonl", "--results", "./jobs.jsonl"},
                                     Arguments{"jobs.jsonl", "--junit", "jobs.jsonl"},
                                     Arguments{"jobs.jsonl", "--html", "jobs.jsonl"},
                                     Arguments{"jobs.jsonl", "--results", "s", "--junit", "./s"},
                                     Arguments{"jobs.jsonl", "--html", "s", "--junit", "s"},
                                     Arguments{"--merge", "r.jsonl", "--junit", "r.jsonl"},
                                     Arguments{"--merge", "r.jsonl", "--results", "r.jsonl"}}) {
    CAPTURE(arguments);
    const auto result = folder.batch(arguments);
    CHECK(result.code == 2);
    CHECK(contains(result.error, "would replace"));
    CHECK_FALSE(folder.has("s"));
  }
  CHECK(folder.batch({"--merge", "r.jsonl", "--resume", "--results", "new.jsonl"}).code == 2);
  CHECK_FALSE(folder.has("new.jsonl"));
  // What no batch wrote is not emptied for results.
  for (const char* name : {"x.npy", "jobs.jsonl", "notes.txt"}) {
    CAPTURE(name);
    folder.write("other.jsonl", jobs);
    folder.write("notes.txt", "{}");
    const std::string before = folder.read(name);
    const auto result = folder.batch({"other.jsonl", "--results", name});
    CHECK(result.code == 2);
    CHECK(contains(result.error, "is a file with something else"));
    const auto merged = folder.batch({"--merge", "r.jsonl", "--results", name});
    CHECK(merged.code == 2);
    CHECK(merged.output == "");
    CHECK(folder.read(name) == before);
  }
  for (const std::string& former : {records, records.substr(0, 20), std::string()}) {
    CAPTURE(former);
    folder.write("r.jsonl", former);
    CHECK(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 0);
  }
  CHECK(folder.read("jobs.jsonl") == jobs);
}

TEST_CASE("a report replaces an earlier report and nothing else") {
  const BatchFolder folder({named_job("a")});
  folder.write("p/op.json", named_job("a"));
  for (const dmlop::ReportFormat& format : dmlop::report_formats) {
    for (const char* name : {"x.npy", "p/op.json"}) {
      CAPTURE(name);
      const std::string before = folder.read(name);
      const auto result = folder.batch({"jobs.jsonl", format.option, name});
      CHECK(result.code == 2);
      CHECK(contains(result.error, "is a file with something else, which would be lost"));
      CHECK(folder.read(name) == before);
    }
    folder.write("report", "");
    for (int i = 0; i < 2; ++i)
      CHECK(folder.batch({"jobs.jsonl", format.option, "report"}).code == 0);
    CHECK(folder.read("report").starts_with(format.beginning));
  }
}

TEST_CASE("a job that would replace a report of its batch is INVALID") {
  const std::string job =
      "{" + edge_fields +
      R"(, "id": "a", "bindings": {"InputTensor": "x.npy", "OutputTensor": "./records.jsonl"}})";
  const BatchFolder folder({job, named_job("b")});
  const auto outcome = folder.run({"jobs.jsonl"});
  CHECK(outcome.statuses() == "a INVALID, b PASSED");
  CHECK(contains(outcome.record("a").at("message"), "which this batch writes as its report"));
  const auto worker = folder.run({"-"}, job + "\n");
  CHECK(worker.statuses() == "a INVALID");
  for (const dmlop::ReportFormat& format : dmlop::report_formats) {
    fs::create_directories(folder / "out/a");
    CHECK(folder.batch({"jobs.jsonl", "--out", "out", format.option, "out/a/OutputTensor.npy"})
              .code == 3);
    CHECK(folder.read("out/a/OutputTensor.npy").starts_with(format.beginning));
    fs::remove_all(folder / "out");
  }
}

TEST_CASE("a model and a job that write one file: one is INVALID") {
  const BatchFolder folder(
      {R"({"id": "a", "resources": {"A": {"initialValuesDataType": "FLOAT32", "initialValues": [1]}}, )"
       R"("dispatchables": {}, "commands": [)"
       R"({"type": "writeFile", "resource": "A", "targetPath": "b/OutputTensor.npy"}, )"
       R"({"type": "writeFile", "resource": "A", "targetPath": "./b/OutputTensor.npy"}]})",
       named_job("a/b")});
  const auto outcome = folder.run({"jobs.jsonl", "--out", "out", "--jobs", "1"});
  CHECK(outcome.statuses() == "a PASSED, a/b INVALID");
  CHECK(folder.read("out/a/b/OutputTensor.npy").ends_with(bytes_of<float>({1})));
}

TEST_CASE("--out writes what dmlop run writes") {
  const Folder folder;
  const auto batch =
      dmlop_program({"batch", samples, "--cpu", "--out", "out/deep"}, {.folder = folder.path()});
  CHECK(batch.code == 0);
  int checked = 0, jobs = 0;
  for (const auto& sample : fs::directory_iterator(samples)) {
    const std::string id = sample.path().filename().string();
    for (const char* name : {"op.json", "model.json", "graph.json", "model.onnx"})
      jobs += fs::exists(sample.path() / name);
    if (!fs::exists(sample.path() / "op.json")) continue;  // scripts, models
    const auto golden = fs::directory_iterator(sample.path() / "expected");
    if (golden->path().filename() != "OutputTensor.npy" ||
        std::distance(golden, fs::directory_iterator()) != 1)
      continue;                  // several outputs
    if (checked == 6) continue;  // enough
    CHECK(dmlop_program({"run", sample.path() / "op.json", "--cpu", "-o", "OutputTensor=run.npy"},
                        {.folder = folder.path()})
              .code == 0);
    CHECK(folder.read("out/deep/" + id + "/OutputTensor.npy") == folder.read("run.npy"));
    ++checked;
  }
  CHECK(checked == 6);
  CHECK(contains(batch.output, ": " + std::to_string(jobs) + " PASSED\n"));
}

TEST_CASE("--out wins over where a job says its output goes") {
  const BatchFolder folder({"{" + edge_fields + R"(, "id": "a", "bindings": {)" +
                            R"("InputTensor": "x.npy", "OutputTensor": "own.npy"}})"});
  CHECK(folder.run({"jobs.jsonl", "--out", "out"}).status("a") == "PASSED");
  CHECK_FALSE(folder.has("own.npy"));
  CHECK(folder.has("out/a/OutputTensor.npy"));
}

TEST_CASE("an --out that cannot be written is said before anything is run") {
  const BatchFolder folder({edge_job(R"("id": "a")"), edge_job(R"("id": "x.npy/b")")});
  for (const char* place : {"x.npy", "x.npy/below"}) {
    const auto result = folder.batch({"jobs.jsonl", "--out", place, "--results", "r.jsonl"});
    CHECK(result.code == 6);
    CHECK(result.error.starts_with("dmlop: error: "));
    CHECK(contains(result.error, place));
    CHECK(result.output == "");
    CHECK_FALSE(folder.has("r.jsonl"));
  }
  std::vector<std::string> options{"--results"};
  for (const dmlop::ReportFormat& format : dmlop::report_formats) options.push_back(format.option);
  for (const std::string& option : options) {
    const auto result = folder.batch({"jobs.jsonl", "--out", "out", option, "none/report"});
    CHECK(result.code == 6);
    CHECK(contains(result.error, option + " none/report: folder none "));
    CHECK(result.output == "");
  }
  CHECK(contains(folder.batch({"jobs.jsonl", "--out", "out", "--junit", "."}).error,
                 "--junit . is a directory"));
  // One job's folder is in the way of another's: that job alone.
  folder.write("out/a", "a file");
  const auto outcome = folder.run({"jobs.jsonl", "--out", "out"});
  CHECK(outcome.statuses() == "a ERROR, x.npy/b PASSED");
  CHECK(outcome.code() == 6);
  CHECK(contains(outcome.record("a").at("message"), "out/a"));
}

TEST_CASE("an --out without permission is said before anything is run") {
  if (::geteuid() == 0) {
    MESSAGE("SKIPPED: root may write everywhere");
    return;
  }
  const BatchFolder folder({edge_job(R"("id": "a")")});
  fs::create_directory(folder / "out");
  fs::permissions(folder / "out", fs::perms::owner_read | fs::perms::owner_exec);
  const auto result = folder.batch({"jobs.jsonl", "--out", "out"});
  CHECK(result.code == 6);
  CHECK(result.output == "");
}

TEST_CASE("a model that writes no file keeps nothing with --out, and stays UNCOMPARED") {
  const BatchFolder folder;
  const std::string model = source_path("samples/dxdispatch/slice1.json");
  for (const auto& out : std::vector<std::vector<std::string>>{{}, {"--out", "kept"}}) {
    CAPTURE(out.size());
    std::vector<std::string> arguments{model};
    arguments.insert(arguments.end(), out.begin(), out.end());
    const auto outcome = folder.run(arguments);
    CHECK(outcome.code() == 1);
    CHECK(outcome.statuses() == "slice1 UNCOMPARED");
    CHECK(contains(outcome.record("slice1").at("message"), "add golden files by resource"));
  }
}

}  // namespace dmlop::test::batch_test
