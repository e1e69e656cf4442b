// dmlop batch with POSIX's other files: pipes, devices, sockets, and links to nothing.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>

#include "batch.hpp"
#include "pipe.hpp"

namespace dmlop::test::batch_pipe_test {
namespace {

namespace fs = std::filesystem;

/// A job with input large.npy that writes pipe.npy.
std::string piped_job(const std::string& fields = "") {
  return R"({"id": "pipe", )" + edge_fields +
         R"(, "bindings": {"InputTensor": "large.npy", "OutputTensor": "pipe.npy"})" + fields + "}";
}

}  // namespace

// Two seconds: time enough for the jobs that end, on a machine that is busy with others.
TEST_CASE("--timeout counts for reading as well: a pipe that nobody writes") {
  const BatchFolder folder(
      {edge_job(R"("id": "pipe", "expect": "golden.npy")", "pipe.npy"), named_job("a")});
  make_pipe(folder / "pipe.npy");
  const auto outcome = folder.run({"jobs.jsonl", "--timeout", "2"});
  CHECK(outcome.statuses() == "a PASSED, pipe ERROR");
  CHECK(contains(outcome.record("pipe").at("message"), "pipe.npy: stopped after 2 s (--timeout)"));
  CHECK(outcome.record("pipe").at("exitCode") == 5);
}

TEST_CASE("--timeout counts for writing as well: a pipe whose reader reads nothing") {
  const BatchFolder folder({piped_job(), named_job("a")});
  folder.write("large.npy", float_npy("(100000,)", std::vector<float>(100'000, 1)));
  const StalledPipe pipe(folder / "pipe.npy");
  const auto outcome = folder.run({"jobs.jsonl", "--timeout", "2"});
  CHECK(outcome.statuses() == "a PASSED, pipe ERROR");
  CHECK(contains(outcome.record("pipe").at("message"), "stopped after 2 s (--timeout)"));
}

TEST_CASE("--timeout counts for writing as well: a pipe whose reader is slow") {
  const BatchFolder folder({piped_job()});
  folder.write("large.npy", float_npy("(2000000,)", std::vector<float>(2'000'000, 1)));
  make_pipe(folder / "pipe.npy");
  const int reader = ::open((folder / "pipe.npy").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  REQUIRE(reader >= 0);
  std::jthread slow([reader](const std::stop_token& stop) {  // 8 MB in ten seconds
    char bytes[4096];
    while (!stop.stop_requested()) {
      if (::read(reader, bytes, sizeof bytes) < 0) CHECK(errno == EAGAIN);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const auto outcome = folder.run({"jobs.jsonl", "--timeout", "1"});
  slow.request_stop();
  slow.join();
  ::close(reader);
  CHECK(outcome.statuses() == "pipe ERROR");
}

TEST_CASE("what goes into a pipe is its reader's, whatever a batch keeps of its jobs") {
  using Arguments = std::vector<std::string>;
  const std::string differs = R"(, "expect": "x.npy")";
  for (const std::string& golden : {std::string(), differs}) {
    for (const Arguments& keeps : {Arguments{"--results", "r.jsonl"}, Arguments{"--html", "h.html"},
                                   Arguments{"--format", "json"}}) {
      CAPTURE(golden);
      CAPTURE(keeps);
      const BatchFolder folder({piped_job(golden)});
      folder.write("large.npy", float_npy("(3,)", {1, 2, 3}));
      make_pipe(folder / "pipe.npy");
      PipeReader reader(folder / "pipe.npy");
      Arguments arguments{"jobs.jsonl"};
      arguments.insert(arguments.end(), keeps.begin(), keeps.end());
      CHECK(folder.batch(arguments).code == (golden.empty() ? 0 : 1));
      CHECK(reader.text() == folder.read("golden.npy"));
    }
  }
}

TEST_CASE("a pipe is read when somebody writes it, if only later") {
  const BatchFolder folder;
  make_pipe(folder / "pipe.npy");
  const std::string bytes = folder.read("x.npy");
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::ofstream stream(folder / "pipe.npy", std::ios::binary);
    stream << bytes.substr(0, 50) << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stream << bytes.substr(50);
  });
  const auto result = dmlop_program({"inspect", folder / "pipe.npy"});
  writer.join();
  CHECK(result.code == 0);
}

TEST_CASE("two jobs that write one file: one is INVALID, however the path is written") {
  const auto writes = [](const std::string& id, const std::string& output) {
    return "{" + edge_fields + R"(, "id": ")" + id +
           R"(", "bindings": {"InputTensor": "x.npy", "OutputTensor": ")" + output + "\"}}";
  };
  const BatchFolder folder({writes("a", "o.npy"), writes("b", "sub/../o.npy"), writes("c", "p.npy"),
                            writes("d", "/dev/null"), writes("e", "/dev/null"),
                            writes("g", "new1.npy"), writes("h", "new2.npy"),
                            writes("f", "link.npy"), writes("i", "made1.npy")});
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("p.npy", folder / "link.npy");
  folder.write("p.npy", "old");
  for (const char* number : {"1", "2"})  // to files that writing makes
    std::filesystem::create_symlink("made" + std::string(number) + ".npy",
                                    folder / ("new" + std::string(number) + ".npy"));
  const auto outcome = folder.run({"jobs.jsonl", "--jobs", "1"});
  CHECK(outcome.statuses() ==
        "a PASSED, b INVALID, c PASSED, d PASSED, e PASSED, f INVALID, g PASSED, h PASSED, "
        "i INVALID");
  CHECK(contains(outcome.record("b").at("message"), "which another job of this batch writes"));
  CHECK(folder.run({"-"}, folder.read("jobs.jsonl")).code() == 0);  // a worker may be asked again
  // With --out each has a file of its own.
  CHECK(folder.run({"jobs.jsonl", "--out", "out"}).code() == 0);
}

TEST_CASE("several reports may go to one device") {
  const BatchFolder folder({named_job("a")});
  CHECK(folder.batch({"jobs.jsonl", "--junit", "/dev/null", "--html", "/dev/null"}).code == 0);
}

TEST_CASE("two reports, or a report and results, never share a pipe or a link to nothing") {
  const BatchFolder folder({named_job("a")});
  make_pipe(folder / "pipe");
  fs::create_symlink("made", folder / "link");
  using Arguments = std::vector<std::string>;
  for (const Arguments& arguments : {Arguments{"--junit", "pipe", "--html", "./pipe"},
                                     Arguments{"--results", "made", "--junit", "link"},
                                     Arguments{"--junit", "made", "--html", "link"}}) {
    Arguments command{"jobs.jsonl"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const auto result = folder.batch(command);
    CHECK(result.code == 2);
    CHECK(contains(result.error, "would replace"));
  }
  CHECK_FALSE(folder.has("made"));
}

TEST_CASE("--results to standard output by its name: text is not among them") {
  const BatchFolder folder({named_job("a"), named_job("b", "other.npy")});
  for (const char* target : {"> out", "| cat > out"}) {
    CAPTURE(target);
    const auto result =
        shell("dmlop batch jobs.jsonl --cpu --results /dev/stdout " + std::string(target),
              {.folder = folder.path()});
    CHECK(contains(result.error, "1 PASSED, 1 FAILED"));
    CHECK(read_records(folder.read("out")).size() == 3);
  }
}

TEST_CASE("neither jobs nor reports write among the records on standard output") {
  const BatchFolder folder;
  const auto run = [&](const std::string& arguments) {
    return shell("dmlop batch jobs.jsonl --cpu " + arguments, {.folder = folder.path()});
  };
  struct Row {
    std::string output;
    std::string target;
  };
  for (const Row& row : std::vector<Row>{{"/dev/stdout", "> out"},
                                         {"/dev/stdout", "| cat > out"},
                                         {"/dev/fd/1", "> out"},
                                         {"/dev/fd/1", "| cat > out"},
                                         {"out", "> out"}}) {
    for (const char* format : {"--results - ", "--format json "}) {
      CAPTURE(row.output);
      CAPTURE(row.target);
      CAPTURE(format);
      folder.write("jobs.jsonl", "{" + edge_fields +
                                     R"(, "id": "a", "bindings": {"InputTensor": "x.npy", )" +
                                     R"("OutputTensor": ")" + row.output + "\"}}\n");
      run(format + row.target);
      CHECK(contains(folder.read("out"), "which this batch writes as its report"));
      CHECK_FALSE(contains(folder.read("out"), "NUMPY"));
    }
  }
  const auto refused = run("--results - --junit out > out");
  CHECK(refused.code == 2);
  CHECK(contains(refused.error, "only one of --results, --junit can write to standard output"));
}

TEST_CASE("--resume needs results that can be read again") {
  const BatchFolder folder({named_job("a")});
  make_pipe(folder / "pipe");
  for (const char* results : {"pipe", "/dev/full"}) {
    const auto refused = folder.batch({"jobs.jsonl", "--resume", "--results", results});
    CHECK(refused.code == 2);
    CHECK(contains(refused.error, "that can be read again; " + std::string(results) + " is none"));
  }
}

}  // namespace dmlop::test::batch_pipe_test
