#include "program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "paths.hpp"
#include "sanitized.hpp"

namespace dmlop::test {
namespace {

std::chrono::seconds patience() {
  return std::chrono::seconds(is_sanitized || is_windows_program() ? 600 : 120);
}

/// What the started program's standard streams are.
class Streams {
 public:
  Streams(const Folder& folder, const ProgramOptions& options) {
    posix_spawn_file_actions_init(&actions_);
    folder.write("input", options.input);
    add(STDIN_FILENO, folder / "input", O_RDONLY);
    add(STDERR_FILENO, folder / "error", O_WRONLY | O_CREAT | O_TRUNC);
    if (options.closed_output) {
      REQUIRE(::pipe2(pipe_, O_CLOEXEC) == 0);
      ::close(pipe_[0]);
      posix_spawn_file_actions_adddup2(&actions_, pipe_[1], STDOUT_FILENO);
    } else if (!options.output_path.empty()) {
      add(STDOUT_FILENO, options.output_path, O_WRONLY);
    } else {
      add(STDOUT_FILENO, folder / "output", O_WRONLY | O_CREAT | O_TRUNC);
    }
    if (!options.folder.empty())
      posix_spawn_file_actions_addchdir_np(&actions_, options.folder.c_str());
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    if (pipe_[1] >= 0) ::close(pipe_[1]);
    posix_spawn_file_actions_destroy(&actions_);
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  void add(int descriptor, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, 0600);
  }

  posix_spawn_file_actions_t actions_;
  int pipe_[2] = {-1, -1};
};

}  // namespace

Process::Process(const std::vector<std::string>& command, const ProgramOptions& options) {
  const Streams streams(streams_, options);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::vector<char*> environment;
  for (const std::string& variable : options.environment)
    environment.push_back(const_cast<char*>(variable.c_str()));
  for (char** variable = environ; *variable != nullptr; ++variable)
    environment.push_back(*variable);
  environment.push_back(nullptr);
  REQUIRE(posix_spawnp(&id_, arguments[0], streams.actions(), nullptr, arguments.data(),
                       environment.data()) == 0);
}

Process::~Process() {
  if (has_ended_) return;
  ::kill(id_, SIGKILL);
  ::waitpid(id_, &status_, 0);
}

bool Process::is_running() {
  if (!has_ended_) has_ended_ = ::waitpid(id_, &status_, WNOHANG) == id_;
  return !has_ended_;
}

void Process::send(int signal) const {
  ::kill(id_, signal);
}

bool Process::wait_until_stopped() {
  int status = 0;
  REQUIRE(::waitpid(id_, &status, WUNTRACED) == id_);
  if (WIFSTOPPED(status)) return true;
  status_ = status;
  has_ended_ = true;
  return false;
}

ProgramResult Process::wait() {
  const auto end = std::chrono::steady_clock::now() + patience();
  bool is_late = false;
  while (is_running()) {
    is_late = std::chrono::steady_clock::now() > end;
    if (is_late) ::kill(id_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ProgramResult result;
  result.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  if (streams_.has("output")) result.output = streams_.read("output");
  result.error = streams_.read("error");
  if (is_late) result.error += "\n(the test lost its patience and killed the program)\n";
  return result;
}

const std::string& program_path() {
  static const std::string path = [] {
    const char* other = std::getenv("DMLOP_TEST_PROGRAM");
    return other != nullptr ? other : built_program_path();
  }();
  return path;
}

bool is_windows_program() {
  return std::getenv("DMLOP_TEST_PROGRAM") != nullptr;
}

ProgramResult dmlop_program(const std::vector<std::string>& arguments,
                            const ProgramOptions& options) {
  std::vector<std::string> command{program_path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Process(command, options).wait();
}

ProgramResult shell(const std::string& command, const ProgramOptions& options) {
  const std::string folder = std::filesystem::path(program_path()).parent_path().string();
  return Process({"sh", "-c", "PATH=\"" + folder + ":$PATH\"; " + command}, options).wait();
}

const std::string& program_gpu() {
  static const std::string spec = [] {
    const auto list = nlohmann::json::parse(dmlop_program({"devices", "--format", "json"}).output);
    std::string found;
    for (const auto& device : list.at("devices")) {
      if (device.at("spec") == "cpu") continue;
      if (found.empty() || device.at("kind") == "software") found = device.at("spec");
    }
    return found;
  }();
  return spec;
}

bool has_command(const std::string& name) {
  return shell("command -v " + name).code == 0;
}

std::string terminal_problem(const std::string& script) {
  if (!has_command(script)) return "there is no command script";
  const auto result = shell(script + " -qec 'test -t 1' /dev/null < /dev/null");
  return result.code == 0 ? "" : "the system gives no pseudo-terminal: " + result.error;
}

}  // namespace dmlop::test
