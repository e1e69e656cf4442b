// dmlop batch --merge: the results of several files as one.
#include <doctest/doctest.h>

#include <sstream>

#include "records.hpp"

namespace dmlop::test::batch_merge_test {

TEST_CASE("--merge puts shards together, with reports") {
  std::vector<std::string> jobs;
  for (int i = 0; i < 20; ++i) jobs.push_back(named_job(std::to_string(i)));
  jobs.push_back(named_job("bad", "other.npy"));
  const BatchFolder folder(jobs);
  std::vector<std::string> files{"--merge"};
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i), file = "r" + number + ".jsonl";
    folder.batch({"jobs.jsonl", "--shard", number + "/3", "--results", file});
    files.push_back(file);
  }
  files.insert(files.end(), {"--junit", "all.xml", "--results", "all.jsonl", "--format", "json"});
  const auto merged = folder.batch(files);
  CHECK(merged.code == 1);
  CHECK(contains(merged.error, "\n21 jobs in "));
  CHECK(contains(merged.error, ": 20 PASSED, 1 FAILED\n"));
  CHECK(contains(merged.error, "FAILED bad: OutputTensor: 1 of 6 elements differs"));
  CHECK(Json::parse(merged.output).at("counts").at("PASSED") == 20);
  CHECK(contains(folder.read("all.xml"),
                 "<testsuite name=\"r0.jsonl, r1.jsonl, r2.jsonl\" tests=\"21\""));
  CHECK(read_records(folder.read("all.jsonl")).size() == 22);
  CHECK(folder.batch({"--merge", "all.jsonl"}).code == 1);
  CHECK(folder.batch({"jobs.jsonl", "--merge", "r0.jsonl"}).code == 2);
}

namespace {

/// Merges files; the exit code, and each job with its status. What was said stays in `last`.
class MergeFolder : public Folder {
 public:
  std::string merge(const std::vector<std::string>& files,
                    const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{"batch", "--results", "m.jsonl"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back("--merge");
    arguments.insert(arguments.end(), files.begin(), files.end());
    last = dmlop_program(arguments, {.folder = path()});
    std::string text = std::to_string(last.code);
    for (const Json& record : read_records(read("m.jsonl"))) {
      if (record.contains("id"))
        text += " " + record.at("id").get<std::string>() + record.at("status").get<std::string>();
    }
    return text;
  }
  mutable ProgramResult last;
};

}  // namespace

TEST_CASE("--merge: within a file later lines win, of several files the worst or the --latest") {
  const MergeFolder folder;
  folder.write("a.jsonl", record_line("1", "FAILED", 1) + record_line("2", "ERROR", 5) +
                              record_line("2", "PASSED", 0) + summary_line());
  folder.write("b.jsonl",
               record_line("1", "PASSED", 0) + record_line("3", "SKIPPED", 0) + summary_line());
  CHECK(folder.merge({"a.jsonl"}) == "1 1FAILED 2PASSED");
  CHECK(folder.last.error == "");
  CHECK(folder.merge({"a.jsonl", "b.jsonl"}) == "1 1FAILED 2PASSED 3SKIPPED");
  CHECK(contains(folder.last.error,
                 "the job \"1\": warning: it is FAILED in a.jsonl and PASSED in b.jsonl\n"));
  CHECK(contains(folder.last.error, "--latest"));
  CHECK(folder.merge({"b.jsonl", "a.jsonl"}) == "1 1FAILED 3SKIPPED 2PASSED");
  CHECK(
      contains(folder.last.error, "\"1\": warning: it is PASSED in b.jsonl and FAILED in a.jsonl"));
  CHECK(folder.merge({"b.jsonl", "a.jsonl"}, {"-q"}) == "1 1FAILED 3SKIPPED 2PASSED");
  CHECK(folder.last.error == "");
  CHECK(folder.merge({"a.jsonl", "b.jsonl"}, {"--latest"}) == "0 1PASSED 2PASSED 3SKIPPED");
  CHECK(folder.last.error == "");
  CHECK(folder.merge({"b.jsonl", "a.jsonl"}, {"--latest"}) == "1 1FAILED 3SKIPPED 2PASSED");
  CHECK(folder.merge({"a.jsonl", "a.jsonl"}) == "1 1FAILED 2PASSED");
  CHECK(folder.last.error == "");
  const auto alone = dmlop_program({"batch", "x.jsonl", "--latest"}, {.folder = folder.path()});
  CHECK(alone.code == 2);
  CHECK(contains(alone.error, "--latest"));
}

TEST_CASE("--merge: of any two outcomes the worse one counts, in either order") {
  struct Outcome {
    const char* status;
    int code;
  };
  // From the best to the worst.
  const std::vector<Outcome> outcomes{
      {"NOT_RUN", 0}, {"PASSED", 0},      {"SKIPPED", 0}, {"UNCOMPARED", 1}, {"MISTRUSTED", 1},
      {"FAILED", 1},  {"UNSUPPORTED", 4}, {"INVALID", 3}, {"ERROR", 6},      {"ERROR", 5}};
  const MergeFolder folder;
  for (std::size_t better = 0; better < outcomes.size(); ++better) {
    for (std::size_t worse = better; worse < outcomes.size(); ++worse) {
      CAPTURE(better);
      CAPTURE(worse);
      const auto write = [&](const char* file, const Outcome& outcome) {
        folder.write(file, record_line("a", outcome.status, outcome.code) + summary_line());
      };
      write("better", outcomes[better]);
      write("worse", outcomes[worse]);
      const std::string expected =
          std::to_string(outcomes[worse].code) + " a" + outcomes[worse].status;
      for (const auto& [first, second] : {std::pair{"better", "worse"}, {"worse", "better"}}) {
        CHECK(folder.merge({first, second}) == expected);
        // A job that was not run has no outcome to disagree about.
        CHECK(count_of(folder.last.error, "warning: ") == (better > 0 && better < worse ? 1 : 0));
      }
    }
  }
}

TEST_CASE("--merge: a disagreement is said between the files that have the two outcomes") {
  const MergeFolder folder;
  folder.write("a.jsonl", record_line("1", "PASSED", 0) + summary_line());
  folder.write("b.jsonl", record_line("1", "FAILED", 1) + summary_line());
  folder.write("c.jsonl", record_line("1", "INVALID", 3) + summary_line());
  const auto said = [&](const std::vector<std::string>& files) {
    folder.merge(files);
    const std::string begin = "the job \"1\": warning: it is ";
    std::string text;
    std::istringstream lines(folder.last.error);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(begin)) text += line.substr(begin.size()) + "; ";
    }
    return text;
  };
  CHECK(said({"a.jsonl", "b.jsonl", "c.jsonl"}) ==
        "PASSED in a.jsonl and FAILED in b.jsonl; FAILED in b.jsonl and INVALID in c.jsonl; ");
  CHECK(said({"a.jsonl", "c.jsonl", "b.jsonl"}) ==
        "PASSED in a.jsonl and INVALID in c.jsonl; INVALID in c.jsonl and FAILED in b.jsonl; ");
  CHECK(said({"c.jsonl", "a.jsonl", "b.jsonl"}) ==
        "INVALID in c.jsonl and PASSED in a.jsonl; INVALID in c.jsonl and FAILED in b.jsonl; ");
  CHECK(said({"b.jsonl", "c.jsonl", "a.jsonl"}) ==
        "FAILED in b.jsonl and INVALID in c.jsonl; INVALID in c.jsonl and PASSED in a.jsonl; ");
}

TEST_CASE("--merge: shards of other jobs are not shards of one batch") {
  const BatchFolder folder;
  const auto shard = [&](const std::string& part, const std::vector<std::string>& jobs,
                         const std::string& list = "jobs.json",
                         const std::vector<std::string>& choice = {}) {
    std::string text;
    std::vector<std::string> lines;
    for (const std::string& id : jobs) {
      lines.push_back(named_job(id));
      text += (text.empty() ? "" : ",") + lines.back();
    }
    folder.write("jobs.json", "[" + text + "]");
    folder.write("jobs.jsonl", lines_of(lines));
    const std::string results = part.substr(0, 1) + ".jsonl";
    std::vector<std::string> arguments{list,        "--shard", part,
                                       "--results", results,   "--allow-empty"};
    arguments.insert(arguments.end(), choice.begin(), choice.end());
    REQUIRE(folder.batch(arguments).code == 0);
  };
  const auto merged = [&](const std::string& message) {
    const auto outcome = folder.batch({"--merge", "0.jsonl", "1.jsonl"});
    CAPTURE(outcome.error);
    CHECK(outcome.code == (message.empty() ? 0 : 5));
    CHECK(contains(outcome.error, message));
  };
  for (const std::string list : {"jobs.json", "jobs.jsonl"}) {
    CAPTURE(list);
    shard("0/2", {"a", "b", "c"}, list);
    shard("1/2", {"a", "b", "c"}, list);
    merged("");
    shard("1/2", {"c", "b", "a"}, list);
    merged("");
    shard("1/2", {"a", "b", "c", "d"}, list);
    merged("1.jsonl: error: its shards have 4 jobs, but 3 in 0.jsonl");
    shard("1/2", {"a", "b", "d"}, list);
    merged("its shards have other jobs than those in 0.jsonl");
    shard("1/2", {"a", "b", "c"}, list, {"--exclude", "b"});
    merged("its shards have 2 jobs, but 3 in 0.jsonl");
    shard("1/2", {"a", "b", "c"}, list);
    REQUIRE(folder
                .batch({list, "--shard", "1/2", "--results", "rerun.jsonl", "--filter", "none",
                        "--allow-empty"})
                .code == 0);
    CHECK(folder.batch({"--merge", "0.jsonl", "1.jsonl", "rerun.jsonl", "--latest"}).code == 0);
    CHECK(folder.batch({"--merge", "0.jsonl", "1.jsonl", "rerun.jsonl"}).code == 5);
  }
}

TEST_CASE("--merge: jobs of two places with one id count as one, with a warning") {
  const MergeFolder folder;
  const std::string warning =
      "the job \"p\": warning: it is x/p/op.json in a.jsonl and y/p/op.json in b.jsonl\n"
      "  rule: jobs with one id count as one job\n";
  folder.write("a.jsonl", record_line_of("p", "x/p/op.json") + summary_line());
  folder.write("b.jsonl", record_line_of("p", "y/p/op.json") + summary_line());
  folder.merge({"a.jsonl", "b.jsonl"});
  CHECK(contains(folder.last.error, warning));
  folder.merge({"a.jsonl", "b.jsonl"}, {"--latest"});
  CHECK(contains(folder.last.error, warning));
  for (const char* other : {"./x/p/op.json", "/ci/x/p/op.json", "x\\p\\op.json", ""}) {
    CAPTURE(other);
    folder.write("b.jsonl", record_line_of("p", other) + summary_line());
    folder.merge({"a.jsonl", "b.jsonl"});
    CHECK(folder.last.error == "");
  }
  // Lines of a list move when others are added.
  folder.write("a.jsonl", record_line_of("p", "jobs.jsonl:1") + summary_line());
  folder.write("b.jsonl", record_line_of("p", "jobs.jsonl:2") + summary_line());
  folder.merge({"a.jsonl", "b.jsonl"});
  CHECK(folder.last.error == "");
}

TEST_CASE("--merge: all devices are named, and none where no run ended") {
  const BatchFolder folder;
  const auto on = [](const std::string& device) {
    return Json{{"summary", {{"complete", true}, {"device", device}}}}.dump() + "\n";
  };
  folder.write("a.jsonl", record_line("1", "PASSED", 0) + on("vulkan:0"));
  folder.write("b.jsonl", record_line("2", "PASSED", 0) + on("cpu"));
  folder.write("c.jsonl", record_line("3", "PASSED", 0) + on("vulkan:0"));
  folder.write("killed.jsonl", record_line("4", "PASSED", 0));
  CHECK(contains(folder.batch({"--merge", "a.jsonl", "b.jsonl", "c.jsonl"}).output,
                 " on vulkan:0, cpu: 3 PASSED"));
  CHECK(contains(folder.batch({"--merge", "killed.jsonl"}).output, "/s): 1 PASSED"));
}

TEST_CASE("--merge takes no options that choose jobs, which it would pass over") {
  const BatchFolder folder({named_job("a")});
  REQUIRE(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 0);
  using Arguments = std::vector<std::string>;
  for (const Arguments& choice :
       {Arguments{"--shard", "0/2"}, Arguments{"--filter", "a"}, Arguments{"--tag", "t"}}) {
    CAPTURE(choice);
    const auto refused = folder.batch({"--merge", "r.jsonl", choice[0], choice[1]});
    CHECK(refused.code == 2);
    CHECK(contains(refused.error, "--merge reports on all records"));
  }
}

TEST_CASE("--merge: a record whose exit code is none of its status is refused") {
  const BatchFolder folder;
  const auto merge = [&](const std::string& record) {
    folder.write("r.jsonl", record + summary_line());
    return folder.batch({"--merge", "r.jsonl"});
  };
  for (const EndingRow& row : endings()) {
    CAPTURE(row.status);
    CAPTURE(row.code);
    CHECK(merge(record_line("a", row.status, row.code)).code == row.code);
    for (const int other : {0, 1, 2, 3, 4, 5, 6, 77}) {
      CAPTURE(other);
      const bool is_error = row.status == "ERROR" && other >= 5 && other <= 6;
      if (other == row.code || is_error) continue;
      const auto refused = merge(record_line("a", row.status, other));
      CAPTURE(refused.error);
      CHECK(refused.code == 3);
      CHECK(contains(refused.error, "r.jsonl:1: this line is not a record of a batch"));
    }
    CHECK(merge(R"({"id": "a", "status": ")" + row.status + "\"}\n").code == 3);
  }
  CHECK(merge(record_line("a", "ERROR", 5)).code == 5);
  CHECK(merge(record_line("a", "NOT_RUN", 0)).code == 0);
  CHECK(merge(record_line("a", "NOT_RUN", 1)).code == 3);
}

TEST_CASE("--merge: runs that did not end and shards that are missing are findings") {
  const Folder folder;
  const std::string record = record_line("1", "PASSED", 0);
  folder.write("s0.jsonl", record_line("0", "PASSED", 0) + summary_line("0/3"));
  folder.write("s1.jsonl", record + summary_line("1/3"));
  folder.write("s2.jsonl", record_line("2", "FAILED", 1) + summary_line("2/3"));
  folder.write("killed.jsonl", record);
  folder.write("half.jsonl", record + record_line("4", "PASSED", 0).substr(0, 9));
  folder.write("stopped.jsonl", record + summary_line("", false));
  folder.write("went_on.jsonl", record + summary_line() + record);
  folder.write("began.jsonl", record + summary_line() + R"({"started": {"version": "1"}})" + "\n");
  folder.write("nothing.jsonl", "");
  const auto merge = [&](std::vector<std::string> files) {
    files.insert(files.begin(), {"batch", "--merge"});
    return dmlop_program(files, {.folder = folder.path()});
  };
  CHECK(merge({"s0.jsonl", "s1.jsonl", "s2.jsonl"}).code == 1);
  const auto missing = merge({"s2.jsonl"});
  CHECK(missing.code == 5);
  CHECK(contains(missing.error, "error: no results of shard 0/3 are given\n"));
  CHECK(contains(missing.error, "error: no results of shard 1/3 are given\n"));
  CHECK_FALSE(contains(missing.error, "2/3"));
  CHECK(merge({"s0.jsonl", "s2.jsonl"}).code == 5);
  // Nor does a run without shards, of other jobs, stand for one.
  folder.write("alone.jsonl", record_line("alone", "PASSED", 0) + summary_line());
  CHECK(merge({"alone.jsonl"}).code == 0);
  CHECK(contains(merge({"s0.jsonl", "alone.jsonl", "s2.jsonl"}).error, "no results of shard 1/3"));
  CHECK(merge({"s0.jsonl", "s1.jsonl", "alone.jsonl", "s2.jsonl"}).code == 1);
  for (const char* name : {"killed", "half", "stopped", "went_on", "began", "nothing"}) {
    CAPTURE(name);
    const std::string file = std::string(name) + ".jsonl";
    const auto found = merge({file});
    CHECK(found.code == 5);
    CHECK(contains(found.error, file + ": error: the run that wrote this file did not finish"));
    CHECK(merge({"s0.jsonl", "s1.jsonl", file, "s2.jsonl"}).code == 5);
    // It does not hide that a shard is missing.
    CHECK(contains(merge({"s0.jsonl", file, "s2.jsonl"}).error, "no results of shard 1/3"));
  }
  // What is merged again is no more complete.
  for (const std::vector<std::string>& files :
       std::vector<std::vector<std::string>>{{"killed.jsonl"}, {"s0.jsonl", "s1.jsonl"}}) {
    std::vector<std::string> arguments = files;
    arguments.insert(arguments.end(), {"--results", "merged.jsonl", "--format", "json"});
    const auto found = merge(arguments);
    CHECK(found.code == 5);
    CHECK(Json::parse(found.output).at("interrupted") == "results are missing");
    const Json summary = read_records(folder.read("merged.jsonl")).back().at("summary");
    CHECK(summary.at("complete") == false);
    CHECK(summary.at("exitCode") == 5);
    CHECK(merge({"merged.jsonl"}).code == 5);
  }
  CHECK(merge({"s0.jsonl", "none.jsonl"}).code == 6);
  folder.write("wrong.jsonl", record + "[]\n");
  const auto wrong = merge({"wrong.jsonl"});
  CHECK(wrong.code == 3);
  CHECK(contains(wrong.error, "wrong.jsonl:2: this line is not a record of a batch"));
  // 256 would be 0 to whoever started the program.
  for (const char* code : {"256", "-1", "1e30", "0.5", "\"0\""}) {
    CAPTURE(code);
    folder.write("wrong.jsonl",
                 std::string(R"({"id": "a", "status": "FAILED", "exitCode": )") + code + "}\n");
    CHECK(merge({"wrong.jsonl"}).code == 3);
  }
  // Of as many shards as a file may name, only the first missing ones are listed.
  folder.write("many.jsonl", record + R"({"summary": {"complete": true, "shard": "0/1000000"}})"
                                      "\n");
  const auto many = merge({"many.jsonl"});
  CHECK(many.code == 5);
  CHECK(contains(many.error, "no results of shard 16/1000000"));
  CHECK_FALSE(contains(many.error, "shard 17/"));
}

TEST_CASE("--merge: what is said about jobs and runs that are missing helps") {
  const BatchFolder folder({named_job("bad", "other.npy"), named_job("a"), named_job("b")});
  const std::vector<std::string> whole{"jobs.jsonl", "--results", "r.jsonl", "--resume"};
  std::vector<std::string> part = whole;
  part.insert(part.end(), {"--jobs", "1", "--fail-fast"});
  const std::string advice = "with --results FILE --resume, then merge again\n";
  const auto stopped = folder.batch(part);
  CHECK(contains(stopped.output, "; with --results FILE, --resume goes on from there\n"));
  CHECK_FALSE(contains(stopped.output, advice));

  const auto merged = folder.batch({"--merge", "r.jsonl"});
  CHECK(contains(merged.output, ": 1 FAILED, 2 NOT_RUN\n"));
  CHECK(contains(merged.output, advice));
  CHECK_FALSE(contains(merged.output, "--resume goes on"));

  std::string lines = folder.read("r.jsonl");
  folder.write("r.jsonl", lines.substr(0, lines.find('\n') + 1));
  const auto unfinished = folder.batch({"--merge", "r.jsonl"});
  CHECK(unfinished.code == 5);
  CHECK(contains(unfinished.error,
                 "help: run its jobs again with --results r.jsonl --resume, then merge again\n"));
  CHECK(folder.batch(whole).code == 1);
  const auto again = folder.batch({"--merge", "r.jsonl"});
  CHECK(again.code == 1);
  CHECK(contains(again.output, ": 2 PASSED, 1 FAILED\n"));
  CHECK_FALSE(contains(again.output, "--resume"));
  CHECK_FALSE(contains(again.error, "--resume"));
}

TEST_CASE("--merge: a run that ended with an outcome that no record has is a finding") {
  const BatchFolder folder({named_job("a"), named_job("bad", "other.npy")});
  CHECK(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 1);
  CHECK(folder.batch({"--merge", "r.jsonl"}).code == 1);
  std::string without;
  std::istringstream lines(folder.read("r.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    if (!contains(line, "\"id\":\"bad\"")) without += line + "\n";
  }
  folder.write("r.jsonl", without);
  const auto merged = folder.batch({"--merge", "r.jsonl"});
  CHECK(merged.code == 5);
  CHECK(contains(merged.error, "ended with 1, but no record of it did"));
}

}  // namespace dmlop::test::batch_merge_test
