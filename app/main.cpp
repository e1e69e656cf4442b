// The entry point: parses the command line, runs one command, and turns exceptions into a message
// and an exit code.
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#else
#include <poll.h>
#endif

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <new>
#include <sstream>

#include "base/file.hpp"
#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#ifdef _WIN32
#include "base/windows.hpp"
#endif
#include "base/exit_codes.hpp"
#include "command_line.hpp"
#include "examples.hpp"
#include "help.hpp"
#include "usage.hpp"
#include "verbatim.hpp"

namespace dmlop::app {
namespace {

volatile std::sig_atomic_t received_signal = 0;

volatile std::sig_atomic_t running_job = 0;

// When the first signal came, in milliseconds since the system's start; 0: not yet.
std::atomic<std::int64_t> first_signal_time = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "or no signal may touch it");

// Signals that come so soon after the first are the same request: `timeout` sends its signal to the
// program and then to the program's group.
constexpr std::int64_t same_request_milliseconds = 500;

// A signal handler may call the system, but not std::chrono.
std::int64_t milliseconds_since_start() noexcept {
#ifdef _WIN32
  return static_cast<std::int64_t>(GetTickCount64());
#else
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
#endif
}

// Asks a job to stop, so that it removes its temporary file. Before a job starts there is nothing
// to tidy up, and a second signal means that the user does not want to wait.
extern "C" void stop_at_signal(int signal) {
#ifdef _WIN32
  std::signal(signal, stop_at_signal);  // which Windows forgets with every signal
#endif
  if (running_job == 0) std::_Exit(128 + signal);
  const std::int64_t now = milliseconds_since_start();
  std::int64_t first = 0;
  if (first_signal_time.compare_exchange_strong(first, now)) {
    received_signal = signal;
    request_interruption();
  } else if (now - first >= same_request_milliseconds) {
    std::_Exit(128 + signal);
  }
}

#ifdef _WIN32
// Somebody closes the console, logs off or shuts down: Windows ends the process when this returns,
// and after five seconds in any case. The main thread stops its job and ends the process earlier.
BOOL WINAPI stop_at_close(DWORD event) {
  if (event != CTRL_CLOSE_EVENT && event != CTRL_LOGOFF_EVENT && event != CTRL_SHUTDOWN_EVENT)
    return FALSE;  // it becomes a signal
  stop_at_signal(SIGTERM);
  constexpr DWORD patience_milliseconds = 4000;
  Sleep(patience_milliseconds);
  remove_unfinished_outputs();
  return TRUE;
}
#endif

// Allocates no memory, because there may be none.
int fail(const char* message, int code) {
  print(StandardStream::error, {"dmlop: error: ", std::string_view(message), "\n"});
  return code;
}

int fail(const WrongUsage& usage) {
  print(StandardStream::error, {"dmlop: error: ", usage.message, "\n  help: ", usage.help, "\n"});
  return exit_usage;
}

std::terminate_handler end_with_report = nullptr;

// If memory is exhausted, even cleaning up can fail: destructors that allocate (nlohmann/json's)
// must not throw. Anything else that ends here is a bug in the program.
void end_at_once() {
  try {
    if (const std::exception_ptr error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    remove_unfinished_outputs();
    std::_Exit(fail("out of memory", exit_run_failed));
  } catch (...) {
  }
  end_with_report();
}

int exit_code_after(const Error& error) {
  if (error.kind() == ErrorKind::interrupted) return interrupted_exit_code();
  return exit_code_of(error.kind());
}

// --help or --version: for CLI11 the end of the command line.
int print_requested_help(const CLI::App& program, const CLI::ParseError& end) {
  std::ostringstream text;
  const int code = program.exit(end, text, text);
  print({Text::lines(text.str())});
  return code;
}

// Whether a file, a job or an operator is named by "", as by a variable of a script that is not
// set.
bool has_empty_name(const CLI::App& command) {
  const auto is_empty_name = [](const CLI::Option* option) {
    const auto& texts = option->results();
    return option->get_positional() && std::find(texts.begin(), texts.end(), "") != texts.end();
  };
  const auto options = command.get_options();
  return std::any_of(options.begin(), options.end(), is_empty_name);
}

int run_command_line(const std::vector<std::string>& words, int argument_count, char** arguments) {
  if (words.empty()) {
    print_overview(StandardStream::error);
    return exit_usage;
  }
  if (const auto wrong = wrong_beginning(words)) return fail(*wrong);
  CommandLine line(words.front());
  try {
    line.app.parse(marked_arguments(argument_count, arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print_requested_help(line.app, error);
    return fail(wrong_arguments(line.app, error));
  }
  for (const CLI::App* command : line.app.get_subcommands()) {
    if (has_empty_name(*command))
      return fail("an argument is empty and names nothing: give it a name, or leave it out",
                  exit_usage);
  }
  for (std::size_t i = 0; i < commands().size(); ++i) {
    if (line.app.got_subcommand(commands()[i].name)) return line.actions[i]();
  }
  return exit_usage;
}

// A program such as `head` closes its pipe when it has read enough. Nobody needs a message then.
bool has_reader_gone() {
#ifdef _WIN32
  return false;
#else
  pollfd output{.fd = 1, .events = POLLOUT, .revents = 0};
  return poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
#endif
}

}  // namespace

void stop_jobs_gently() {
  running_job = 1;
}

int interrupted_exit_code() {
  return received_signal != 0 ? 128 + received_signal : exit_interrupted;
}

/// The program with its arguments in UTF-8; its exit code.
int run_program(int argument_count, char** arguments) {
  occupy_closed_standard_streams();
  end_with_report = std::set_terminate(end_at_once);
  std::signal(SIGINT, stop_at_signal);
  std::signal(SIGTERM, stop_at_signal);
#ifdef _WIN32
  std::signal(SIGBREAK, stop_at_signal);
  SetConsoleCtrlHandler(stop_at_close, TRUE);
#else
  // Instead, a write fails and is reported: to a pipe that nobody reads, or to a file that is as
  // large as files may be.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
#endif
  int code = exit_run_failed;
  try {
    note_program_name(argument_count > 0 ? arguments[0] : "");
    const std::vector<std::string> words(arguments + std::min(argument_count, 1),
                                         arguments + argument_count);
    code = run_command_line(words, argument_count, arguments);
  } catch (const Error& error) {
    code = fail(error.what(), exit_code_after(error));
  } catch (const std::bad_alloc&) {
    code = fail("out of memory", exit_run_failed);
  } catch (const std::filesystem::filesystem_error& error) {
    code = fail(error.what(), exit_io_failed);
  } catch (const std::exception& error) {
    code = fail(error.what(), exit_run_failed);
  }
  // A result that could not be written is reported as a failure.
  if (finish_output()) return code;
  if (!has_reader_gone()) fail("writing standard output failed", exit_io_failed);
  return std::max<int>(code, exit_io_failed);
}

}  // namespace dmlop::app

#ifdef _WIN32
int wmain(int argument_count, wchar_t** arguments) {
  // What is written is what was meant, without CR; consoles show UTF-8.
  for (const int stream : {0, 1, 2}) _setmode(stream, _O_BINARY);
  const dmlop::Utf8Console console;
  std::vector<std::string> texts;
  for (int i = 0; i < argument_count; ++i) texts.push_back(dmlop::to_utf8(arguments[i]));
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return dmlop::app::run_program(argument_count, pointers.data());
}
#else
int main(int argument_count, char** arguments) {
  return dmlop::app::run_program(argument_count, arguments);
}
#endif
