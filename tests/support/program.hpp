// Runs the built program as its users do.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "folder.hpp"

namespace dmlop::test {

struct ProgramResult {
  int code = -1;       // 128 + the signal's number if a signal ended it
  std::string output;  // of standard output
  std::string error;
};

struct ProgramOptions {
  std::string folder;                    // working folder; "": that of this process
  std::string input;                     // of standard input
  std::string output_path;               // standard output goes to this file
  bool closed_output = false;            // standard output is a pipe that nobody reads
  std::vector<std::string> environment;  // NAME=VALUE, in addition to those of this process
};

/// A program that was started. It is killed if it still runs after a minute (ten with a sanitizer).
class Process {
 public:
  Process(const std::vector<std::string>& command, const ProgramOptions& options);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  bool is_running();
  void send(int signal) const;
  /// Waits until it stops itself (signal_at). False if it ended before.
  bool wait_until_stopped();
  ProgramResult wait();

 private:
  Folder streams_;  // its standard streams
  pid_t id_ = -1;
  int status_ = 0;
  bool has_ended_ = false;
};

/// The tested program: the one built with the tests, or DMLOP_TEST_PROGRAM.
const std::string& program_path();
/// Whether the tested program is dmlop.exe in Wine.
bool is_windows_program();

/// Runs `dmlop` with these arguments.
ProgramResult dmlop_program(const std::vector<std::string>& arguments,
                            const ProgramOptions& options = {});

/// Runs a command in the shell `sh`. `dmlop` is in its path.
ProgramResult shell(const std::string& command, const ProgramOptions& options = {});

/// The spec of a GPU that the program lists, preferably one in software; "" if there is none.
const std::string& program_gpu();

/// Whether the shell finds a command of this name.
bool has_command(const std::string& name);

/// Why the command `script` cannot provide a terminal here, such as "the system gives no
/// pseudo-terminal"; "" if it can.
std::string terminal_problem(const std::string& script = "script");

}  // namespace dmlop::test
