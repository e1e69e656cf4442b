// Many processes use the same files at the same time: outputs, results, caches.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <thread>

#include "batch.hpp"
#include "paths.hpp"

namespace dmlop::test::concurrency_test {
namespace {

namespace fs = std::filesystem;

constexpr int many = 50;

std::string numbered(const std::string& name, int number, const std::string& extension) {
  return name + std::to_string(number) + extension;
}

bool any_is_running(std::deque<Process>& processes) {
  bool any = false;
  for (Process& process : processes) any = process.is_running() || any;
  return any;
}

void check_all_ended_well(std::deque<Process>& processes) {
  for (Process& process : processes) {
    const auto result = process.wait();
    CHECK(result.code == 0);
    CHECK(result.error == "");
  }
}

/// How many temporary files lie below a folder.
int temporary_files(const fs::path& folder) {
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    count += entry.path().extension() == ".tmp" ? 1 : 0;
  return count;
}

/// A worker that has a results file and waits for jobs that come through `jobs`, a pipe.
class WaitingBatch {
 public:
  explicit WaitingBatch(const BatchFolder& folder) {
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    const std::string dmlop = "'" + program_path() + "'";
    // Its own third descriptor holds the pipe open.
    process_.emplace(
        std::vector<std::string>{"sh", "-c",
                                 "exec 3<> pipe; head -n 1 jobs.jsonl >&3; exec " + dmlop +
                                     " batch - --cpu --results shared.jsonl < pipe"},
        ProgramOptions{.folder = folder.path()});
    while (!folder.has("shared.jsonl") || folder.read("shared.jsonl").empty()) {
      REQUIRE(process_->is_running());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  ProgramResult end(int signal) {
    process_->send(signal);
    return process_->wait();
  }

 private:
  std::optional<Process> process_;
};

}  // namespace

TEST_CASE("processes that write the same output: it is one of theirs, whole at every moment") {
  constexpr std::ptrdiff_t elements = std::ptrdiff_t{1} << 20;
  constexpr std::size_t header_bytes = 128;
  const Folder folder;
  folder.write("x.npy", float_npy("(1,)", {0}));
  // Process i fills the output with i: 4 MiB of it, and then the element of x.npy.
  for (int i = 1; i <= many; ++i) {
    folder.write(numbered("op", i, ".json"),
                 R"({"type": "PADDING", "desc": {"PaddingMode": "CONSTANT", "PaddingValue": )" +
                     std::to_string(i) + R"(, "StartPadding": [1048576], "EndPadding": [0]}})");
  }
  std::vector<float> zeros(elements + 1, 0);
  const std::string header = float_npy("(1048577,)", zeros).substr(0, header_bytes);
  // The number that fills a file; 0 where it is not one of the outputs.
  const auto filled_with = [&](const std::string& file) {
    std::vector<float> found(elements + 1);
    if (file.size() != header_bytes + found.size() * sizeof(float)) return 0;
    if (!file.starts_with(header)) return 0;
    std::memcpy(found.data(), file.data() + header_bytes, found.size() * sizeof(float));
    const auto all = std::count(found.begin(), found.end(), found.front());
    const bool is_one = all == elements && found.back() == 0;
    return is_one && found.front() <= many ? static_cast<int>(found.front()) : 0;
  };
  std::atomic<bool> all_ended = false;
  std::set<int> seen;
  int reads = 0;
  std::thread reader([&] {
    while (!all_ended) {
      if (!folder.has("out.npy")) continue;
      seen.insert(filled_with(folder.read("out.npy")));
      ++reads;
    }
  });
  std::deque<Process> processes;
  for (int i = 1; i <= many; ++i) {
    processes.emplace_back(
        std::vector<std::string>{program_path(), "run", "--cpu", "-q", numbered("op", i, ".json"),
                                 "-i", "x.npy", "-o", "out.npy"},
        ProgramOptions{.folder = folder.path()});
  }
  do {
    if (!folder.has("out.npy")) continue;
    const auto inspected = dmlop_program({"inspect", "out.npy"}, {.folder = folder.path()});
    CHECK(inspected.code == 0);
    CHECK(contains(inspected.output, "1048577"));
  } while (any_is_running(processes));
  check_all_ended_well(processes);
  all_ended = true;
  reader.join();
  MESSAGE("read " << reads << " times meanwhile, " << seen.size() << " different outputs");
  CHECK(reads > 0);
  CHECK_FALSE(seen.contains(0));
  CHECK(filled_with(folder.read("out.npy")) != 0);
  CHECK(temporary_files(folder.path()) == 0);
}

TEST_CASE("batches with the same --out and results of their own all pass") {
  constexpr int jobs = 20;
  std::vector<std::string> lines;
  for (int i = 0; i < jobs; ++i) lines.push_back(named_job("deep/er/" + std::to_string(i)));
  const BatchFolder folder(lines);
  std::deque<Process> processes;
  for (int i = 0; i < many; ++i) {
    processes.emplace_back(
        std::vector<std::string>{program_path(), "batch", "jobs.jsonl", "--cpu", "-q", "--out",
                                 "out", "--results", numbered("r", i, ".jsonl")},
        ProgramOptions{.folder = folder.path()});
  }
  check_all_ended_well(processes);
  for (int i = 0; i < many; ++i) {
    const auto records = read_records(folder.read(numbered("r", i, ".jsonl")));
    REQUIRE(records.size() == jobs + 1);
    CHECK(records.back().at("summary").at("counts").at("PASSED") == jobs);
  }
  for (int i = 0; i < jobs; ++i) {
    const std::string output = "out/deep/er/" + std::to_string(i) + "/OutputTensor.npy";
    CHECK((folder.read(output) == folder.read("golden.npy")));
  }
  CHECK(temporary_files(folder.path()) == 0);
}

TEST_CASE("a results file that another batch writes is refused and stays as it is") {
  const BatchFolder folder({named_job("a"), named_job("b")});
  folder.batch({"jobs.jsonl", "--results", "other.jsonl"});
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const std::string before = folder.read("shared.jsonl");
    const auto result = folder.batch(arguments);
    CHECK(result.code == 6);
    CHECK(result.error ==
          "dmlop: error: writing the results shared.jsonl: another batch writes this file; name a "
          "file of its own for each, or wait for that one to end\n");
    CHECK(folder.read("shared.jsonl") == before);
    CHECK_FALSE(folder.has("out/b"));
  };
  for (const int signal : {SIGTERM, SIGKILL}) {
    CAPTURE(signal);
    {
      WaitingBatch other(folder);
      refused({"jobs.jsonl", "--results", "shared.jsonl", "--out", "out"});
      refused({"jobs.jsonl", "--results", "shared.jsonl", "--out", "out", "--resume"});
      refused({"--merge", "other.jsonl", "--results", "shared.jsonl"});
      // Reading it is nobody's harm.
      CHECK(folder.batch({"--merge", "shared.jsonl"}).code == 5);
      CHECK(other.end(signal).code == 128 + signal);
    }
    // However the other ended, the file is free.
    const auto rest = folder.batch({"jobs.jsonl", "--results", "shared.jsonl", "--resume"});
    CHECK(rest.code == 0);
    CHECK(contains(rest.output, ": 2 PASSED"));
    fs::remove(folder / "pipe");
    fs::remove(folder / "shared.jsonl");
  }
}

TEST_CASE("whether a results file may be replaced is asked when nobody writes it") {
  const BatchFolder folder({named_job("a")});
  folder.write("r.jsonl", std::string(10, '\0'));  // as a reader may find one that is just emptied
  const int other = ::open((folder / "r.jsonl").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(other, LOCK_EX) == 0);
  const auto refused = folder.batch({"jobs.jsonl", "--results", "r.jsonl"});
  CHECK(refused.code == 6);
  CHECK(contains(refused.error, "another batch writes this file"));
  ::close(other);
  CHECK(folder.batch({"jobs.jsonl", "--results", "r.jsonl"}).code == 2);
}

TEST_CASE("of batches that start with the same results file one runs, and its records are whole") {
  std::vector<std::string> jobs;
  for (int i = 0; i < 200; ++i) jobs.push_back(named_job(std::to_string(i)));
  const BatchFolder folder(jobs);
  for (const bool resume : {false, true}) {
    CAPTURE(resume);
    fs::remove(folder / "r.jsonl");
    std::deque<Process> processes;
    for (int i = 0; i < many; ++i) {
      std::vector<std::string> command{program_path(), "batch",     "jobs.jsonl", "--cpu",
                                       "-q",           "--results", "r.jsonl"};
      if (resume) command.emplace_back("--resume");
      processes.emplace_back(command, ProgramOptions{.folder = folder.path()});
    }
    int done = 0, refused = 0;
    for (Process& process : processes) {
      const auto result = process.wait();
      CAPTURE(result.error);
      CHECK((result.code == 0 || result.code == 6));
      done += result.code == 0 ? 1 : 0;
      refused += result.code == 6 && contains(result.error, "another batch writes") ? 1 : 0;
    }
    CHECK(done >= 1);
    CHECK(done + refused == many);
    // With --resume those that start after the first one's end add a summary only.
    std::size_t records = 0;
    for (const Json& record : read_records(folder.read("r.jsonl")))
      records += record.contains("id") ? 1 : 0;
    CHECK(records == jobs.size());
  }
}

TEST_CASE("records of batches that append to one file through standard output do not mix") {
  constexpr int processes = 8, jobs = 300;
  std::vector<std::string> lines;
  for (int i = 0; i < jobs; ++i)
    lines.push_back(named_job(std::to_string(i), i % 2 == 0 ? "golden.npy" : "other.npy"));
  const BatchFolder folder(lines);
  std::string command = "unset DMLOP_DEVICE;";
  for (int i = 0; i < processes; ++i)
    command += " dmlop batch jobs.jsonl --cpu -q --results - >> all.jsonl & ";
  CHECK(shell(command + "wait", {.folder = folder.path()}).error == "");
  std::map<std::string, int> counts;
  int summaries = 0;
  for (const Json& record : read_records(folder.read("all.jsonl"))) {
    if (record.contains("summary")) {
      ++summaries;
    } else {
      ++counts[record.at("id").get<std::string>() + record.at("status").get<std::string>()];
    }
  }
  CHECK(summaries == processes);
  CHECK(counts.size() == jobs);
  for (const auto& [id, count] : counts) CHECK(count == processes);
}

TEST_CASE("each record is one write, so that records of several processes cannot mix") {
  const BatchFolder folder({named_job("a"), named_job("b", "other.npy"), named_job("c")});
  int ends[2];
  REQUIRE(::pipe2(ends, O_DIRECT) == 0);  // keeps writes apart: each is a read
  REQUIRE(ends[1] < 10);                  // for the shell
  Process process({"sh", "-c",
                   "exec '" + program_path() + "' batch jobs.jsonl --cpu -q --results - >&" +
                       std::to_string(ends[1])},
                  {.folder = folder.path()});
  ::close(ends[1]);
  CHECK(process.wait().code == 1);
  std::string packet(std::size_t{1} << 16, '\0');
  int writes = 0;
  for (ssize_t count = 0; (count = ::read(ends[0], packet.data(), packet.size())) > 0; ++writes) {
    const std::string record = packet.substr(0, static_cast<std::size_t>(count));
    REQUIRE(record.size() < PIPE_BUF);  // larger ones would be cut
    REQUIRE(record.find('\n') == record.size() - 1);
  }
  ::close(ends[0]);
  CHECK(writes == 4);  // the last one is the summary
}

TEST_CASE("pipes and devices as results files are shared freely") {
  const BatchFolder folder({named_job("a")});
  std::deque<Process> processes;
  for (int i = 0; i < 4; ++i) {
    processes.emplace_back(std::vector<std::string>{program_path(), "batch", "jobs.jsonl", "--cpu",
                                                    "-q", "--results", "/dev/null"},
                           ProgramOptions{.folder = folder.path()});
  }
  check_all_ended_well(processes);
}

TEST_CASE("processes on a GPU that start with the same empty cache: all are right, it is sound") {
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  // A driver in software takes all cores to start.
  constexpr int at_a_time = 10;
  const Folder folder;
  const std::string sample = source_path("samples/padding");
  const std::string run =
      "unset DMLOP_VULKAN_VALIDATION; export XDG_CACHE_HOME=\"$PWD/cache\"; dmlop "
      "run '" +
      sample + "/op.json' -q --device '" + program_gpu() + "' -o ";
  for (int started = 0; started < many; started += at_a_time) {
    std::string command;
    for (int i = started; i < started + at_a_time; ++i)
      command += "(" + run + numbered("out", i, ".npy") + " || touch failed) & ";
    const auto result = shell(command + "wait", {.folder = folder.path()});
    CHECK_FALSE(contains(result.error, "dmlop:"));  // Mesa speaks of its own cache
  }
  CHECK_FALSE(folder.has("failed"));
  const std::string expected = read_file(sample + "/expected/OutputTensor.npy");
  for (int i = 0; i < many; ++i) CHECK((folder.read(numbered("out", i, ".npy")) == expected));
  std::map<std::string, fs::file_time_type> caches;
  for (const auto& entry : fs::directory_iterator(folder / "cache/dmlop"))
    caches[entry.path().filename().string()] = entry.last_write_time();
  REQUIRE(caches.size() == 1);  // and no temporary file
  // A cache that were not sound would be written anew.
  CHECK(shell(run + "out.npy", {.folder = folder.path()}).code == 0);
  for (const auto& [name, time] : caches)
    CHECK(fs::last_write_time(folder / ("cache/dmlop/" + name)) == time);
}

}  // namespace dmlop::test::concurrency_test
