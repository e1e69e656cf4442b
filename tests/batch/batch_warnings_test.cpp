// The warnings of a batch's jobs: in the terminal and in every report, counted, kept for --merge
// and
// --resume, and errors with --warnings-as-errors.
#include <doctest/doctest.h>

#include "batch.hpp"
#include "batch/batch.hpp"
#include "gpu_device.hpp"
#include "records.hpp"
#include "warned.hpp"

namespace dmlop::test::batch_warnings_test {
namespace {

const std::string stray_message = "this golden file matches no output of CUMULATIVE_SUMMATION\n";
const std::string unknown_message = "unknown field \"comments\"; did you mean \"commands\"?\n";

/// Four jobs in folders. `clean` has no warning; `sum` has one, `stray` has the same and one about
/// a file, and `model` has one about a field and that of its operator: five warnings.
class WarnedFolder : public BatchFolder {
 public:
  WarnedFolder() {
    write("jobs/clean/op.json", "{" + edge_fields + "}");
    write("jobs/clean/InputTensor.npy", read("x.npy"));
    write("jobs/clean/expected.npy", read("golden.npy"));
    for (const std::string id : {"sum", "stray"}) {
      write("jobs/" + id + "/op.json", "{" + warned_fields + "}");
      write("jobs/" + id + "/InputTensor.npy", six_dimensional_npy(1, 2));
      write("jobs/" + id + "/expected/OutputTensor.npy", six_dimensional_npy(1, 3));
    }
    write("jobs/stray/expected/Output.npy", six_dimensional_npy(1, 3));
    write("jobs/model/model.json", warned_model());
    write("jobs/model/expected/Out.npy", warned_model_result());
  }
};

/// The first lines of a record's warnings, without their places.
std::vector<std::string> messages_in(const Json& record) {
  std::vector<std::string> messages;
  if (!record.contains("warnings")) return messages;
  for (const std::string text : record.at("warnings")) {
    const std::size_t begin = text.find("warning: ");
    REQUIRE(begin != std::string::npos);
    messages.push_back(text.substr(begin + 9, text.find('\n') + 1 - begin - 9));
  }
  return messages;
}

/// What each job of a WarnedFolder has, in this order.
const std::map<std::string, std::vector<std::string>> expected_messages{
    {"clean", {}},
    {"sum", {warned_message}},
    {"stray", {warned_message, stray_message}},
    {"model", {unknown_message, warned_model_message}}};

void check_records(const std::vector<Json>& records) {
  std::size_t jobs = 0;
  for (const Json& record : records) {
    if (!record.contains("id")) continue;
    CAPTURE(record.at("id"));
    CHECK(record.contains("warnings") == (record.at("id") != "clean"));
    CHECK(messages_in(record) == expected_messages.at(record.at("id")));
    ++jobs;
  }
  CHECK(jobs == expected_messages.size());
}

Json html_data(const std::string& html) {
  const std::string begin = R"(id="data">)";
  const std::size_t at = html.rfind(begin) + begin.size();
  return Json::parse(html.substr(at, html.find("</script>", at) - at));
}

/// The text of each system-out of a JUnit file.
std::vector<std::string> outputs_in(const std::string& xml) {
  const std::string begin = "<system-out>", end = "</system-out>";
  std::vector<std::string> outputs;
  for (std::size_t at = xml.find(begin); at != std::string::npos; at = xml.find(begin, at + 1)) {
    const std::size_t text = at + begin.size();
    outputs.push_back(xml.substr(text, xml.find(end, text) - text));
  }
  return outputs;
}

/// Checks the reports j.xml, h.html and summary.md, and what was printed with --github.
void check_reports(const BatchFolder& folder, const ProgramResult& result) {
  const std::vector<std::string> outputs = outputs_in(folder.read("j.xml"));
  CHECK(outputs.size() == 3);
  std::string all;
  for (const std::string& output : outputs) all += output;
  CHECK(count_of(all, "warning: ") == 5);
  CHECK(count_of(all, warned_message) == 2);
  CHECK(count_of(all, warned_model_message) == 1);
  CHECK(count_of(all, stray_message) == 1);

  const Json data = html_data(folder.read("h.html"));
  CHECK(data.at("warnings") == 5);
  check_records(data.at("jobs"));

  CHECK(count_of(result.output, "::warning title=") == 5);
  CHECK(contains(result.output,
                 "::warning title=sum,file=jobs/sum/op.json,line=1,col=1::jobs/sum/op.json:1:"));
  const std::string summary = folder.read("summary.md");
  CHECK(contains(summary, "\n\n4 PASSED, 5 warnings in "));
  CHECK(count_of(summary, "\n| job | warning |\n") == 1);
  CHECK(count_of(summary, "\n| ` stray ` | ` jobs/stray/") == 2);
}

ProgramResult with_reports(const BatchFolder& folder, const std::string& arguments) {
  return shell("GITHUB_STEP_SUMMARY=summary.md dmlop batch " + arguments +
                   " --junit j.xml --html h.html --github",
               {.folder = folder.path()});
}

}  // namespace

TEST_CASE("warnings of jobs are in the terminal and in every report, and counted") {
  const WarnedFolder folder;
  const ProgramResult result = with_reports(folder, "jobs --cpu --results r.jsonl");
  CHECK(result.code == 0);
  CHECK(count_of(result.error, "warning: ") == 5);
  CHECK(contains(result.error, "jobs/sum/op.json:1:42: warning: " + warned_message));
  CHECK(contains(result.error, "jobs/model/model.json:1:2: warning: " + unknown_message));
  CHECK(count_of(result.error, warned_note) == 2);
  CHECK(result.output.ends_with(": 4 PASSED, 5 warnings\n"));
  check_reports(folder, result);
  const std::vector<Json> records = read_records(folder.read("r.jsonl"));
  check_records(records);
  CHECK(records.back().at("summary").at("warnings") == 5);
}

TEST_CASE("warnings of jobs: a batch without any has none in its reports") {
  const WarnedFolder folder;
  const ProgramResult result = with_reports(folder, "jobs/clean --cpu --results r.jsonl");
  CHECK(result.error == "");
  CHECK(contains(result.output, ": 1 PASSED\n"));
  CHECK_FALSE(contains(result.output, "::warning"));
  CHECK_FALSE(contains(folder.read("j.xml"), "system-out"));
  CHECK_FALSE(contains(folder.read("summary.md"), "warning"));
  CHECK(html_data(folder.read("h.html")).at("warnings") == 0);
  const std::vector<Json> records = read_records(folder.read("r.jsonl"));
  CHECK_FALSE(records.front().contains("warnings"));
  CHECK(records.back().at("summary").at("warnings") == 0);
}

TEST_CASE("warnings of jobs: a model in a list has none about the fields of jobs") {
  std::string model = warned_model();
  std::erase(model, '\n');
  const BatchFolder folder(
      {R"({"id": "m", "expect": {"Out": "copy.npy"}, "tags": ["t"], "tolerance": {"ulp": 1}, )" +
       model.substr(1)});
  folder.write("copy.npy", warned_model_result());
  const auto outcome = folder.run({"jobs.jsonl"});
  CHECK(outcome.code() == 0);
  CHECK((messages_in(outcome.record("m")) ==
         std::vector<std::string>{unknown_message, warned_model_message}));
}

TEST_CASE("warnings of jobs: --format json counts them and lists their jobs, -q prints none") {
  const WarnedFolder folder;
  const auto result = folder.batch({"jobs", "--format", "json", "-q"});
  CHECK(result.code == 0);
  CHECK(result.error == "");
  const Json json = Json::parse(result.output);
  CHECK(json.at("status") == "done");
  CHECK(json.at("warnings") == 5);
  std::map<std::string, std::vector<std::string>> listed;
  for (const Json& job : json.at("jobs")) listed[job.at("id")] = messages_in(job);
  auto expected = expected_messages;
  expected.erase("clean");
  CHECK((listed == expected));
}

TEST_CASE("warnings of jobs: --merge has those of all shards in every report") {
  const WarnedFolder folder;
  for (const std::string number : {"0", "1"})
    CHECK(folder.batch({"jobs", "--shard", number + "/2", "--results", "r" + number + ".jsonl"})
              .code == 0);
  const ProgramResult merged =
      with_reports(folder, "--merge r0.jsonl r1.jsonl --results all.jsonl");
  CHECK(merged.code == 0);
  CHECK(count_of(merged.error, "warning: ") == 5);
  CHECK(contains(merged.output, ": 4 PASSED, 5 warnings\n"));
  check_reports(folder, merged);
  check_records(read_records(folder.read("all.jsonl")));
}

TEST_CASE("warnings of --merge are in the terminal and in every report, and counted") {
  const BatchFolder folder;
  const auto write = [&](const std::string& file, const std::string& status, int code) {
    folder.write(file,
                 record_line("1", status, code) + record_line("2", "PASSED", 0) + summary_line());
  };
  write("a.jsonl", "PASSED", 0);
  write("b.jsonl", "FAILED", 1);
  write("c.jsonl", "INVALID", 3);
  const ProgramResult merged =
      with_reports(folder, "--merge a.jsonl b.jsonl c.jsonl --results all.jsonl --format json -q");
  CHECK(merged.code == 3);
  const std::vector<std::string> messages{"it is PASSED in a.jsonl and FAILED in b.jsonl\n",
                                          "it is FAILED in b.jsonl and INVALID in c.jsonl\n"};
  const Json json = Json::parse(merged.output);
  CHECK(json.at("warnings") == 2);
  REQUIRE(json.at("jobs").size() == 1);
  CHECK((messages_in(json.at("jobs")[0]) == messages));
  for (const std::string& message : messages) {
    CHECK_FALSE(contains(merged.error, "warning: " + message));  // -q
    CHECK(contains(merged.error, "warning: " + message.substr(0, message.size() - 1) + "%0A"));
    CHECK(count_of(folder.read("j.xml"), "warning: " + message) == 1);
  }
  CHECK(contains(folder.read("summary.md"), "\n\n1 PASSED, 1 INVALID, 2 warnings in "));
  const Json data = html_data(folder.read("h.html"));
  CHECK(data.at("warnings") == 2);
  CHECK((messages_in(data.at("jobs")[0]) == messages));
  // They stay when the result is merged again.
  const ProgramResult again = folder.batch({"--merge", "all.jsonl"});
  CHECK(contains(again.output, ": 1 PASSED, 1 INVALID, 2 warnings\n"));
  for (const std::string& message : messages)
    CHECK(contains(again.error, "the job \"1\": warning: " + message));
}

TEST_CASE("warnings of --merge: of equal ones eight are listed, and the rest is counted") {
  const BatchFolder folder;
  std::string passed, failed;
  for (int i = 0; i < 20; ++i) {
    passed += record_line(std::to_string(i), "PASSED", 0);
    failed += record_line(std::to_string(i), "FAILED", 1);
  }
  folder.write("a.jsonl", passed + summary_line());
  folder.write("b.jsonl", failed + summary_line());
  const ProgramResult merged = folder.batch({"--merge", "a.jsonl", "b.jsonl"});
  CHECK(count_of(merged.error, "warning: ") == 8);
  CHECK(contains(merged.output, "and 12 more warnings like these: it is PASSED in a.jsonl"));
}

TEST_CASE("--merge: what is missing is in the JSON, too") {
  const BatchFolder folder;
  folder.write("a.jsonl", record_line("1", "PASSED", 0) + summary_line("0/2"));
  const ProgramResult merged = folder.batch({"--merge", "a.jsonl", "--format", "json"});
  CHECK(merged.code == 5);
  const Json json = Json::parse(merged.output);
  CHECK(json.at("status") == "error");
  REQUIRE(json.at("diagnostics").size() == 1);
  CHECK(json.at("diagnostics")[0].at("message") == "no results of shard 1/2 are given");
  CHECK(json.at("jobs").empty());
  folder.write("b.jsonl", record_line("2", "PASSED", 0) + summary_line("1/2"));
  const ProgramResult both = folder.batch({"--merge", "a.jsonl", "b.jsonl", "--format", "json"});
  CHECK(both.code == 0);
  CHECK_FALSE(Json::parse(both.output).contains("diagnostics"));
}

TEST_CASE("warnings of jobs: a resumed job keeps its warnings, and a new one runs it again") {
  const WarnedFolder folder;
  const std::string arguments = "jobs --cpu --resume --results r.jsonl";
  CHECK(with_reports(folder, arguments).code == 0);
  std::filesystem::remove(folder / "summary.md");
  const ProgramResult again = with_reports(folder, arguments);
  CHECK(contains(again.output, ": 4 PASSED (4 from an earlier run), 5 warnings\n"));
  CHECK(count_of(again.error, "warning: ") == 5);
  check_reports(folder, again);
  CHECK(read_records(folder.read("r.jsonl")).back().at("summary").at("warnings") == 5);
  // The record says what is so now.
  folder.write("jobs/sum/expected/Output.npy", six_dimensional_npy(1, 3));
  const ProgramResult more = with_reports(folder, arguments);
  CHECK(contains(more.output, ": 4 PASSED (3 from an earlier run), 6 warnings\n"));
  const ProgramResult merged = with_reports(folder, "--merge r.jsonl");
  CHECK(contains(merged.output, ": 4 PASSED, 6 warnings\n"));
}

TEST_CASE("warnings of jobs: a resumed job that moved in its list has them at its new place") {
  const BatchFolder folder;
  folder.write("six.npy", six_dimensional_npy(1, 2));
  folder.write("sums.npy", six_dimensional_npy(1, 3));
  const std::string job = "{" + warned_fields + R"(, "bindings": {"InputTensor": "six.npy"}, )" +
                          R"("expect": "sums.npy", "id": "sum"})";
  folder.write("jobs.jsonl", lines_of({job}));
  const std::vector<std::string> again{"jobs.jsonl", "--resume", "--results", "r.jsonl"};
  CHECK(contains(folder.batch(again).error, "jobs.jsonl:1:42: warning: " + warned_message));
  folder.write("jobs.jsonl", lines_of({named_job("first", "other.npy"), job}));
  const auto moved = folder.batch(again);
  CHECK(contains(moved.output, "1 PASSED, 1 FAILED (1 from an earlier run), 1 warning\n"));
  CHECK(contains(moved.error, "jobs.jsonl:2:42: warning: " + warned_message));
}

TEST_CASE("warnings of jobs: of equal ones eight are listed, and the rest is counted") {
  BatchFolder folder;
  folder.write("six.npy", six_dimensional_npy(1, 2));
  folder.write("sums.npy", six_dimensional_npy(1, 3));
  std::vector<std::string> jobs;
  for (int i = 0; i < 20; ++i)
    jobs.push_back("{" + warned_fields + R"(, "bindings": {"InputTensor": "six.npy"}, "expect": )" +
                   R"("sums.npy", "id": ")" + std::to_string(i) + "\"}");
  folder.write("jobs.jsonl", lines_of(jobs));
  const auto result = folder.batch({"jobs.jsonl"});
  CHECK(result.code == 0);
  CHECK(count_of(result.error, "warning: ") == 8);
  CHECK(contains(result.output, "and 12 more warnings like these: " + warned_message));
  CHECK(contains(result.output, ": 20 PASSED, 20 warnings\n"));
  const auto verbose = folder.batch({"jobs.jsonl", "-v"});
  CHECK(count_of(verbose.error, "warning: ") == 20);
  CHECK_FALSE(contains(verbose.output, "more warnings"));
}

TEST_CASE("a notice that another device runs jobs is given once, and is no warning") {
  if (!has_gpu()) return;
  const std::string largest = R"("type": "ACTIVATION_HARDMAX1", "desc": {"Axes": [0]},
    "bindings": {"InputTensor": "x.npy"}, "expect": "largest.npy")";
  const BatchFolder folder;
  folder.write("largest.npy", float_npy("(3,)", {0, 0, 1}));
  folder.write("jobs.json", "[{" + largest + "}, {" + largest + "}]");
  dmlop::Diagnostics diagnostics;
  const auto manifest = dmlop::open_manifest({{folder / "jobs.json"}}, diagnostics);
  REQUIRE(manifest != nullptr);
  dmlop::Backend backend(open_gpu());
  dmlop::BatchOptions options;
  options.execution.device_memory_bytes = 4;  // too little for its tensors
  options.keep_records = true;
  options.checking.warnings_as_errors = true;
  std::vector<std::string> notices;
  const auto summary =
      run_batch(*manifest, backend, options, [&](const dmlop::BatchResult& result) {
        CHECK(result.status == dmlop::Status::passed);
        CHECK(result.warnings.empty());
        CHECK(Json::parse(result.record).at("device") == "cpu");
        if (!result.notice.empty()) notices.push_back(result.notice);
      });
  CHECK(summary.warnings == 0);
  REQUIRE(notices.size() == 1);
  CHECK(notices[0].starts_with("running on the CPU, because "));
}

TEST_CASE("--warnings-as-errors: a job with a warning is INVALID, is not run and writes nothing") {
  const WarnedFolder folder;
  const auto outcome = folder.run({"jobs", "--warnings-as-errors", "--out", "out"});
  CHECK(outcome.code() == 3);
  CHECK(outcome.statuses() == "clean PASSED, model INVALID, stray INVALID, sum INVALID");
  CHECK(folder.has("out/clean/OutputTensor.npy"));
  for (const char* file :
       {"out/sum/OutputTensor.npy", "out/stray/OutputTensor.npy", "out/model/written.npy"}) {
    CAPTURE(file);
    CHECK_FALSE(folder.has(file));
  }
  const std::string& text = outcome.program.output;
  CHECK(outcome.program.error == "");
  CHECK(contains(text, ": 1 PASSED, 3 INVALID\n"));
  CHECK(contains(text, "  jobs/sum/op.json:1:42: error: " + warned_message));
  CHECK(contains(text, "  jobs/model/model.json:1:2: error: " + unknown_message));
  CHECK(count_of(text, "With --warnings-as-errors this warning is an error.\n") == 5);
  CHECK(outcome.record("stray").at("exitCode") == 3);
  CHECK_FALSE(outcome.record("stray").contains("warnings"));
  CHECK(outcome.summary.at("warnings") == 0);
}

TEST_CASE("--warnings-as-errors: the command that repeats a job has it") {
  const WarnedFolder folder;
  const auto outcome = folder.run({"jobs", "--warnings-as-errors", "--filter", "sum"});
  const std::string repeat = outcome.record("sum").at("repeat");
  const auto repeated = shell(repeat, {.folder = folder.path()});
  CHECK(repeated.code == 3);
  CHECK(contains(repeated.output, ": 1 INVALID\n"));
}

TEST_CASE("--warnings-as-errors: what an earlier run let pass is not taken from it") {
  const WarnedFolder folder;
  const std::vector<std::string> lenient{"jobs", "--resume", "--results", "r.jsonl"};
  std::vector<std::string> strict = lenient;
  strict.emplace_back("--warnings-as-errors");
  CHECK(folder.batch(lenient).code == 0);
  const auto result = folder.batch(strict);
  CHECK(result.code == 3);
  CHECK(contains(result.output, ": 1 PASSED, 3 INVALID\n"));
}

TEST_CASE("--warnings-as-errors: --merge runs nothing and refuses it") {
  const WarnedFolder folder;
  REQUIRE(folder.batch({"jobs", "--results", "r.jsonl"}).code == 0);
  const auto refused = folder.batch({"--merge", "r.jsonl", "--warnings-as-errors"});
  CHECK(refused.code == 2);
  CHECK(contains(refused.error, "--merge runs nothing; "));
}

}  // namespace dmlop::test::batch_warnings_test
