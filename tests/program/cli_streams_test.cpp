// The built program and its environment: standard streams, full disks, signals, and many processes
// at the same time.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <memory>
#include <thread>

#include "batch/reports.hpp"
#include "fault.hpp"
#include "paths.hpp"
#include "pipe.hpp"
#include "program.hpp"

namespace dmlop::test::cli_streams_test {
namespace {

namespace fs = std::filesystem;

const std::string edge =
    R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})";
const std::string input = float_npy("(3,)", {1, 2, 3});
const std::string padded = float_npy("(6,)", {1, 1, 2, 3, 3, 3});

/// A padding of one element to 512 MiB, which takes a while.
const std::string large =
    R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 0], "EndPadding": [16383, 8191]}})";

ProgramOptions in(const Folder& folder, const std::string& standard_input = "") {
  return {.folder = folder.path(), .input = standard_input};
}

}  // namespace

TEST_CASE("the description, an input and the output can be standard streams") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", input);
  CHECK(dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "-"}, in(folder)).output ==
        padded);
  CHECK(
      dmlop_program({"run", "op.json", "--cpu", "-i", "-", "-o", "-"}, in(folder, input)).output ==
      padded);
  CHECK(
      dmlop_program({"run", "-", "--cpu", "-i", "x.npy", "-o", "OutputTensor=-"}, in(folder, edge))
          .output == padded);
  CHECK(dmlop_program({"check", "-", "-i", "x.npy"}, in(folder, edge)).code == 0);
  CHECK(dmlop_program({"inspect", "-"}, in(folder, input)).output.starts_with("-: FLOAT32 [3]"));
  CHECK(folder.list() == "op.json x.npy");
}

TEST_CASE("what comes from standard input can be wrong, too") {
  const Folder folder;
  folder.write("op.json", edge);
  const auto description = dmlop_program({"check", "-"}, in(folder, "{"));
  CHECK(description.code == 3);
  CHECK(description.error.starts_with("-:1:2: error: wrong JSON: the file ends"));
  const auto cut = dmlop_program({"run", "op.json", "--cpu", "-i", "-", "-o", "-"},
                                 in(folder, input.substr(0, input.size() - 1)));
  CHECK(cut.code == 3);
  CHECK(cut.output == "");
  const auto twice = dmlop_program({"run", "-", "--cpu", "-i", "-", "-o", "-"}, in(folder, edge));
  CHECK(twice.code == 2);
  CHECK(twice.error ==
        "-: error: standard input can be read once only\n"
        "  help: name a file for InputTensor\n");
}

TEST_CASE("what standard input reads is not replaced, as if its name had been given") {
  // The Windows program asks Windows, which knows no name of standard input.
  if (is_windows_program()) return;
  const std::string model =
      R"({"resources": {"x": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 1, "value": 1}}}, )"
      R"("dispatchables": {}, "commands": [{"type": "writeFile", "resource": "x", )"
      R"("targetPath": "FILE"}]})";
  struct Row {
    std::string command;
    std::string source;  // file of standard input
    std::string message;
  };
  for (const Row& row : std::vector<Row>{
           {"run op.json --cpu -i - -o x.npy", "x.npy",
            "OutputTensor would replace the file of InputTensor: x.npy"},
           {"run op.json --cpu -i - -o link.npy", "x.npy",
            "OutputTensor would replace the file of InputTensor: link.npy"},
           {"run op.json --cpu -i - -o x.npy", "link.npy",
            "OutputTensor would replace the file of InputTensor: x.npy"},
           {"run - --cpu -i x.npy -o op.json", "op.json",
            "OutputTensor would replace the description: op.json"},
           {"run op.json --cpu -i x.npy -o golden.npy --expect -", "golden.npy",
            "OutputTensor would replace the golden file: -"},
           {"run op.json --cpu -i - --expect x.npy --update-golden", "x.npy",
            "--update-golden would replace the file of InputTensor: x.npy"},
           {"run op.json --cpu -i x.npy -o - >> x.npy", "x.npy",
            "OutputTensor would replace the file of InputTensor: -"},
           {"run op.json --cpu -i x.npy -o - --expect golden.npy 1<> golden.npy", "golden.npy",
            "OutputTensor would replace the golden file: golden.npy"},
           {"run op.json --cpu -i x.npy --expect - --update-golden", "golden.npy",
            "--update-golden cannot write to standard input"},
           {"run - --cpu -o x=model.json", "model.json", "x would replace the model: model.json"},
           {"run - --cpu", "writes.json", "writes.json is the model itself"},
           {"convert - -i x.npy --to-model op.json", "op.json",
            "op.json is read by this conversion"},
           {"compare - golden.npy --heatmap golden.npy", "golden.npy", "--heatmap would replace"},
       }) {
    CAPTURE(row.command);
    Folder folder;
    folder.write("op.json", edge);
    folder.write("x.npy", input);
    folder.write("golden.npy", padded);
    folder.write("model.json", std::string(model).replace(model.find("FILE"), 4, "y.bin"));
    folder.write("writes.json", std::string(model).replace(model.find("FILE"), 4, "writes.json"));
    fs::create_symlink("x.npy", folder / "link.npy");
    const std::string before = folder.read(row.source);
    const auto result = shell("dmlop " + row.command + " < " + row.source, in(folder));
    CAPTURE(result.error);
    CHECK(result.code != 0);
    CHECK(result.error.find(row.message) != std::string::npos);
    CHECK(folder.read(row.source) == before);
    CHECK(folder.list() == "golden.npy link.npy model.json op.json writes.json x.npy");
  }
}

TEST_CASE("standard input may be a device, a pipe or another file than the output") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", input);
  folder.write("y.npy", padded);
  for (const char* command : {"dmlop run op.json --cpu -q -i - -o y.npy < x.npy",
                              "cat x.npy | dmlop run op.json --cpu -q -i - -o x.npy",
                              "dmlop run op.json --cpu -q -i y.npy -o z.npy < /dev/null",
                              "dmlop run op.json --cpu -q -i y.npy -o x.npy < x.npy"}) {
    CAPTURE(command);
    const auto result = shell(command, in(folder));
    CHECK(result.error == "");
    CHECK(result.code == 0);
  }
}

TEST_CASE("with the output on standard output nothing else is there") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", input);
  const auto result = shell("dmlop run op.json --cpu -i x.npy -o - | dmlop inspect -", in(folder));
  CHECK(result.code == 0);
  CHECK(result.output.starts_with("-: FLOAT32 [6]"));
  CHECK(result.error == "");
}

TEST_CASE("output that cannot be written is a failure with exit code 6") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", input);
  const std::vector<std::vector<std::string>> commands{
      {"run", "op.json", "--cpu", "-i", "x.npy", "-o", "-"},
      {"ops"},
      {"schema"},
      {"--help"},
      {"inspect", "x.npy"},
      {"check", "op.json", "-i", "x.npy"},
      {"completion", "bash"}};
  for (const auto& command : commands) {
    CAPTURE(command.front());
    const auto full = dmlop_program(command, {.folder = folder.path(), .output_path = "/dev/full"});
    CHECK(full.code == 6);
    CHECK(full.error.find("error: writing") != std::string::npos);
    const auto closed = dmlop_program(command, {.folder = folder.path(), .closed_output = true});
    CHECK(closed.code == 6);
  }
}

TEST_CASE("a reader that has read enough needs no message") {
  std::vector<std::vector<std::string>> commands{
      {"ops"}, {"ops", "--html", "-"}, {"schema"}, {"--help"}, {"completion", "bash"}};
  for (const dmlop::ReportFormat& format : dmlop::report_formats)
    commands.push_back({"batch", source_path("samples/padding"), "-q", format.option, "-"});
  for (const auto& command : commands) {
    CAPTURE(command);
    const auto closed = dmlop_program(command, {.closed_output = true});
    CHECK(closed.code == 6);
    CHECK(closed.error.find("error") == std::string::npos);
  }
  CHECK(dmlop_program({"ops", "--html", "-"}).output.ends_with("</html>\n"));
}

TEST_CASE("a device that is full is a failure to write") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", input);
  const auto device =
      dmlop_program({"run", "op.json", "--cpu", "-i", "x.npy", "-o", "/dev/full"}, in(folder));
  CHECK(device.code == 6);
  CHECK(device.error == "dmlop: error: writing /dev/full: No space left on device\n");
}

TEST_CASE("an interrupted run leaves nothing") {
  if (!can_inject_faults()) return;
  const Folder folder;
  folder.write("op.json", large);
  folder.write("x.npy", float_npy("(1, 1)", {1}));
  folder.write("old.npy", "what was there before");
  for (const int signal : {SIGINT, SIGTERM}) {
    ProgramOptions options = in(folder);
    options.environment = signal_at("pwrite", 1, signal);
    const auto result = dmlop_program(
        {"run", "op.json", "--cpu", "--threads", "1", "-i", "x.npy", "-o", "old.npy"}, options);
    CHECK(result.code == 128 + signal);
    CHECK(result.error == "dmlop: error: interrupted\n");
    CHECK(folder.list() == "old.npy op.json x.npy");
    CHECK(folder.read("old.npy") == "what was there before");
  }
}

TEST_CASE("a program that waits for its input can be interrupted") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(shell("mkfifo " + pipe).code == 0);
  Process process({"sh", "-c", "exec \"" + program_path() + "\" check - <>" + pipe}, {});
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(process.is_running());
  process.send(SIGINT);
  CHECK(process.wait().code == 130);
}

TEST_CASE("a program whose output is not read can be interrupted") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", float_npy("(100000,)", std::vector<float>(100'000, 1)));
  const StalledPipe pipe(folder / "pipe");
  Process process(
      {"sh", "-c", "exec \"" + program_path() + "\" run op.json --cpu -i x.npy -o - > pipe"},
      in(folder));
  pipe.wait_until_full();
  CHECK(process.is_running());
  process.send(SIGTERM);
  CHECK(process.wait().code == 143);
}

TEST_CASE(
    "what cannot take an output is refused, without waiting: a socket, a terminal that is none") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", float_npy("(3,)", {1, 2, 3}));
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string("socket").copy(address.sun_path, sizeof address.sun_path);
  const std::string before = fs::current_path().string();
  fs::current_path(folder.path());  // the whole path may be too long for an address
  REQUIRE(::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  fs::current_path(before);
  const std::string run = "dmlop run op.json --cpu -i x.npy -o ";
  const auto socket = shell(run + "socket", in(folder));
  CHECK(socket.code == 6);
  CHECK(socket.error.find("socket: is a socket; name a file or a pipe") != std::string::npos);
  ::close(server);
  CHECK(shell("setsid -w " + run + "/dev/tty", in(folder)).code == 6);
  // A pipe from which alone standard output can be read takes nothing.
  make_pipe(folder / "pipe");
  CHECK(shell("sleep 20 > pipe & " + run + "- < /dev/null 1< pipe; code=$?; kill $!; exit $code",
              in(folder))
            .code == 6);
}

TEST_CASE("sixteen programs that write the same file leave one whole result") {
  const Folder folder;
  folder.write("op.json", edge);
  folder.write("x.npy", input);
  std::vector<std::unique_ptr<Process>> processes;
  for (int i = 0; i < 16; ++i) {
    processes.push_back(
        std::make_unique<Process>(std::vector<std::string>{program_path(), "run", "op.json",
                                                           "--cpu", "-i", "x.npy", "-o", "y.npy"},
                                  in(folder)));
  }
  for (const auto& process : processes) CHECK(process->wait().code == 0);
  CHECK(folder.read("y.npy") == padded);
  CHECK(folder.list() == "op.json x.npy y.npy");
}

}  // namespace dmlop::test::cli_streams_test
