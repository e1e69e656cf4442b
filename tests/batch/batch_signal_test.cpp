// dmlop batch when it is interrupted or killed: what it reports and keeps, and that --resume does
// the rest.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <optional>
#include <thread>

#include "batch.hpp"
#include "batch/reports.hpp"
#include "pipe.hpp"

namespace dmlop::test::batch_signal_test {
namespace {

namespace fs = std::filesystem;

/// A job that waits for ever where its input is a pipe that nobody writes.
const std::string waiting_job = edge_job(R"("id": "waiting", "expect": "golden.npy")", "pipe.npy");

Process start(const Folder& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{program_path(), "batch", "--cpu", "--results", "r.jsonl"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Process(command, {.folder = folder.path()});
}

/// Waits until the results file has so many lines, for as long as a test may take.
void wait_for_records(const Folder& folder, std::size_t lines) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(25);
  while (std::chrono::steady_clock::now() < end) {
    if (folder.has("r.jsonl") && count_of(folder.read("r.jsonl"), "\n") >= lines) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  FAIL("no records come");
}

/// The statuses by id in the results file; all its lines are whole.
std::map<std::string, std::string> recorded(const Folder& folder) {
  std::map<std::string, std::string> statuses;
  for (const Json& record : read_records(folder.read("r.jsonl"))) {
    if (record.contains("id")) statuses[record.at("id")] = record.at("status");
  }
  return statuses;
}

}  // namespace

TEST_CASE("a first INT or TERM: running jobs are dropped, the rest is NOT_RUN, all is reported") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const BatchFolder folder({named_job("a"), long_job(), named_job("b"), named_job("c")});
    folder.write("jobs.json", "[" + named_job("a") + "," + long_job() + "," + named_job("b") + "," +
                                  named_job("c") + "]");
    for (const char* jobs : {"jobs.jsonl", "jobs.json"}) {
      CAPTURE(jobs);
      fs::remove(folder / "r.jsonl");
      Process process = start(
          folder, {jobs, "--jobs", "1", "--junit", "j.xml", "--html", "h.html", "--out", "out"});
      wait_for_records(folder, 1);
      process.send(signal);
      const auto result = process.wait();
      CHECK(result.code == 128 + signal);
      CHECK(contains(result.output, ": 1 PASSED, 3 NOT_RUN\n  -v lists those"));
      CHECK(result.error.ends_with("dmlop: interrupted\n"));
      CHECK((recorded(folder) ==
             std::map<std::string, std::string>{
                 {"a", "PASSED"}, {"long", "NOT_RUN"}, {"b", "NOT_RUN"}, {"c", "NOT_RUN"}}));
      const Json summary = read_records(folder.read("r.jsonl")).back().at("summary");
      CHECK(summary.at("complete") == false);
      CHECK(summary.at("interrupted") == "interrupted");
      CHECK(contains(folder.read("j.xml"), "tests=\"4\" failures=\"0\" errors=\"3\""));
      CHECK(contains(folder.read("h.html"), "NOT_RUN"));
      if (folder.has("out/long")) CHECK(fs::is_empty(folder / "out/long"));
    }
    const auto rest = folder.batch(
        {"jobs.jsonl", "--resume", "--results", "r.jsonl", "--out", "out", "--filter", "?"});
    CHECK(rest.code == 0);
    CHECK(contains(rest.output, ": 3 PASSED (1 from an earlier run)\n"));
  }
}

TEST_CASE("interrupted, all jobs of a file are recorded, however long it is") {
  std::vector<std::string> jobs{named_job("a"), long_job()};
  for (int i = 0; i < 3000; ++i) jobs.push_back(named_job("job " + std::to_string(i)));
  const BatchFolder folder(jobs);
  Process process = start(folder, {"jobs.jsonl", "--jobs", "1"});
  wait_for_records(folder, 1);
  process.send(SIGTERM);
  CHECK(process.wait().code == 143);
  const auto statuses = recorded(folder);
  CHECK(statuses.size() == 3002);
  CHECK(read_records(folder.read("r.jsonl")).back().at("summary").at("counts").at("NOT_RUN") ==
        3001);
}

TEST_CASE("several running jobs are dropped at once") {
  const BatchFolder folder;
  std::string jobs = named_job("a") + "\n";
  for (int i = 0; i < 4; ++i) {
    jobs += long_job("long " + std::to_string(i)) + "\n";
  }
  folder.write("jobs.jsonl", jobs);
  Process process = start(folder, {"jobs.jsonl", "--jobs", "4", "--threads", "8"});
  wait_for_records(folder, 1);
  process.send(SIGINT);
  const auto result = process.wait();
  CHECK(result.code == 130);
  CHECK(contains(result.output, ": 1 PASSED, 4 NOT_RUN\n"));
}

TEST_CASE("a worker that waits for standard input ends at a signal, with its records") {
  const BatchFolder folder;
  folder.write("one", named_job("one") + "\n");
  const auto result = shell(
      "mkfifo in; dmlop batch - --cpu --results r.jsonl < in & exec 3> in; cat one >&3\n"
      "until [ \"$(grep -c . r.jsonl 2> /dev/null)\" = 1 ]; do sleep 0.02; done\n"
      "kill -TERM $!; wait $!; echo $?",
      {.folder = folder.path()});
  CHECK(result.output.ends_with(": 1 PASSED\n143\n"));
  const auto records = read_records(folder.read("r.jsonl"));
  REQUIRE(records.size() == 2);
  CHECK(records.at(1).at("summary").at("complete") == false);
}

TEST_CASE("a --resume that is killed before its first record leaves no complete results") {
  const BatchFolder folder({named_job("a")});
  REQUIRE(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 0);
  REQUIRE(folder.batch({"--merge", "r.jsonl"}).code == 0);
  const std::string before = folder.read("r.jsonl");
  make_pipe(folder / "pipe.npy");
  folder.write("jobs.jsonl", waiting_job + "\n");
  Process process = start(folder, {"jobs.jsonl", "--resume"});
  // The job has begun when somebody reads its pipe.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(25);
  int pipe = -1;
  while (pipe < 0 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pipe = ::open((folder / "pipe.npy").c_str(), O_WRONLY | O_NONBLOCK);
  }
  REQUIRE(pipe >= 0);
  process.send(SIGKILL);
  CHECK(process.wait().code == 128 + SIGKILL);
  ::close(pipe);
  CHECK(folder.read("r.jsonl").starts_with(before));
  CHECK((recorded(folder) == std::map<std::string, std::string>{{"a", "PASSED"}}));
  const auto merged = folder.batch({"--merge", "r.jsonl"});
  CHECK(merged.code == 5);
  CHECK(contains(merged.error, "the run that wrote this file did not finish"));
  // What can be proved is proved all the same, and a run that ends makes the file complete.
  folder.write("jobs.jsonl", named_job("a") + "\n");
  const auto rest = folder.batch({"jobs.jsonl", "--resume", "--results", "r.jsonl"});
  CHECK(rest.code == 0);
  CHECK(contains(rest.output, "1 PASSED (1 from an earlier run)"));
  CHECK(folder.batch({"--merge", "r.jsonl"}).code == 0);
}

TEST_CASE("signals that come at nearly the same time are one, as those of `timeout`") {
  std::vector<std::string> jobs{named_job("a"), long_job()};
  for (int i = 0; i < 3000; ++i) jobs.push_back(named_job(std::to_string(i)));  // time to end in
  const BatchFolder folder(jobs);
  using Clock = std::chrono::steady_clock;
  for (const int second : {SIGTERM, SIGINT}) {
    fs::remove(folder / "r.jsonl");
    fs::remove(folder / "j.xml");
    Process process = start(folder, {"jobs.jsonl", "--jobs", "1", "--junit", "j.xml"});
    wait_for_records(folder, 1);
    const auto first_sent = Clock::now();
    process.send(SIGTERM);
    // Not where this test itself was held up so long that the next one would be another signal.
    for (int i = 0; i < 5 && Clock::now() - first_sent < std::chrono::milliseconds(250); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the one before has arrived
      process.send(second);
    }
    const auto result = process.wait();
    // A busy system may deliver the second one first.
    CHECK((result.code == 128 + SIGTERM || result.code == 128 + second));
    CHECK(contains(result.output, ": 1 PASSED, 3001 NOT_RUN\n"));
    CHECK(recorded(folder).size() == 3002);
    CHECK((folder.has("j.xml") && folder.read("j.xml").ends_with("</testsuites>\n")));
  }
}

TEST_CASE("an interrupted run writes its reports, into pipes as well") {
  for (const dmlop::ReportFormat& format : dmlop::report_formats) {
    const BatchFolder folder({named_job("a"), long_job()});
    make_pipe(folder / "report");
    PipeReader reader(folder / "report");
    Process process = start(folder, {"jobs.jsonl", "--jobs", "1", format.option, "report"});
    wait_for_records(folder, 1);
    process.send(SIGTERM);
    CHECK(process.wait().code == 143);
    CHECK(reader.text().starts_with(format.beginning));
  }
}

TEST_CASE("a second signal ends the program at once") {
  for (const int signal : {SIGINT, SIGTERM}) {
    std::vector<std::string> jobs;
    for (int i = 0; i < 1000; ++i)
      jobs.push_back(edge_job("\"id\": \"" + std::to_string(i) + '"', "none.npy"));
    const BatchFolder folder(jobs);
    const StalledPipe pipe(folder / "text");  // which the failed jobs' messages fill
    Process process(
        {"sh", "-c",
         "exec \"" + program_path() + "\" batch jobs.jsonl --cpu --results r.jsonl > text"},
        {.folder = folder.path()});
    pipe.wait_until_full();
    process.send(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    CHECK(process.is_running());  // the text still waits
    process.send(signal);
    CHECK(process.wait().code == 128 + signal);
    CHECK(recorded(folder).size() < jobs.size());
  }
}

TEST_CASE("a job that waits for a pipe, read or written, ends at the first signal") {
  const std::string writing =
      R"({"id": "waiting", )" + edge_fields +
      R"(, "bindings": {"InputTensor": "large.npy", "OutputTensor": "pipe.npy"}})";
  for (const std::string waits_for : {"a writer", "a reader", "room"}) {
    CAPTURE(waits_for);
    const BatchFolder folder;
    folder.write("large.npy", float_npy("(100000,)", std::vector<float>(100'000, 1)));
    std::optional<StalledPipe> pipe;
    if (waits_for == "room")
      pipe.emplace(folder / "pipe.npy");
    else
      make_pipe(folder / "pipe.npy");
    folder.write("jobs.jsonl",
                 lines_of({named_job("a"), waits_for == "a writer" ? waiting_job : writing}));
    Process process = start(folder, {"jobs.jsonl", "--jobs", "1"});
    wait_for_records(folder, 1);
    if (pipe) pipe->wait_until_full();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    process.send(SIGTERM);
    CHECK(process.wait().code == 143);
    CHECK(recorded(folder).at("waiting") == "NOT_RUN");
  }
}

TEST_CASE("a killed run: records are whole, outputs complete or absent, --resume does the rest") {
  constexpr int jobs = 150;
  const BatchFolder folder;
  const std::vector<float> zeros(10'000, 0.5F), padded(10'003, 0.5F);
  folder.write("x.npy", float_npy("(10000,)", zeros));
  const std::string golden =
      folder.read(fs::path(folder.write("golden.npy", float_npy("(10003,)", padded))).filename());
  std::string lines;
  for (int i = 0; i < jobs; ++i) lines += named_job(std::to_string(i)) + "\n";
  folder.write("rest.jsonl", lines);
  // With a job that never ends first, no run comes to its end before it is killed.
  make_pipe(folder / "pipe.npy");
  folder.write("jobs.jsonl", waiting_job + "\n" + lines);
  for (std::size_t round = 0; round < 20; ++round) {
    CAPTURE(round);
    fs::remove_all(folder / "out");
    fs::remove(folder / "r.jsonl");
    Process process = start(folder, {"jobs.jsonl", "--jobs", "3", "--out", "out"});
    wait_for_records(folder, 1 + round * 37 % (jobs - 2));
    process.send(SIGKILL);
    CHECK(process.wait().code == 128 + SIGKILL);

    std::string text = folder.read("r.jsonl");
    text.erase(text.rfind('\n') + 1);
    const auto records = read_records(text);
    for (const Json& record : records) CHECK(record.at("status") == "PASSED");
    int outputs = 0;
    for (int i = 0; i < jobs; ++i) {
      const std::string output = "out/" + std::to_string(i) + "/OutputTensor.npy";
      if (!folder.has(output)) continue;
      CHECK((folder.read(output) == golden));
      ++outputs;
    }
    CHECK(static_cast<std::size_t>(outputs) >= records.size());

    const auto rest =
        folder.batch({"rest.jsonl", "--resume", "--results", "r.jsonl", "--out", "out"});
    CHECK(rest.code == 0);
    CHECK(contains(rest.output, ": 150 PASSED (" + std::to_string(records.size()) + " from"));
    CHECK(recorded(folder).size() == jobs);
  }
}

}  // namespace dmlop::test::batch_signal_test
