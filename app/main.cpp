// The program's edge: parses the command line, runs one command, and turns what escapes it into a
// message and an exit code.
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

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
#include "command.hpp"
#include "exit_codes.hpp"
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

// A signal handler may ask the system; std::chrono it may not.
std::int64_t milliseconds_since_start() noexcept {
#ifdef _WIN32
  return static_cast<std::int64_t>(GetTickCount64());
#else
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
#endif
}

// A job is asked to stop, so that it removes its temporary file. Before that there is nothing to
// tidy up, and a second signal is from somebody who will not wait.
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

// Takes no memory: there may be none.
int fail(const char* message, int code) {
  print(StandardStream::error, {"dmlop: error: ", std::string_view(message), "\n"});
  return code;
}

int fail(const std::string& message, const std::string& help, int code) {
  print(StandardStream::error, {"dmlop: error: ", message, "\n  help: ", help, "\n"});
  return code;
}

// A first word that is no command, with the nearest one; CLI11 would only call it unexpected.
int refuse_unknown_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (!command.hidden) names.emplace_back(command.name);
  }
  const std::string nearest = nearest_name(word, names);
  return fail("unknown command \"" + word + "\"" +
                  (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"),
              "commands: " + join(names) + "; see dmlop --help", exit_usage);
}

// The first argument that the command does not know, with the nearest option.
std::string unknown_argument(const CLI::App& program, const CLI::App& command) {
  const auto extras = program.remaining(true);
  const auto is_option = [](const std::string& word) { return word.starts_with("-"); };
  const auto option = std::find_if(extras.begin(), extras.end(), is_option);
  if (option == extras.end()) {
    const std::string argument = extras.empty() ? "" : without_mark(extras.front());
    return "unexpected argument \"" + argument + "\"";
  }
  std::vector<std::string> names;
  for (const CLI::Option* known : command.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  const std::string word = without_mark(option->substr(0, option->find('=')));
  const std::string nearest = word.starts_with("--") ? nearest_name(word, names) : "";
  return "unknown option \"" + word + "\"" +
         (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?");
}

std::terminate_handler end_with_report = nullptr;

// Without memory even cleaning up can fail: destructors that need some (nlohmann/json's) may not
// throw. What else ends here is a mistake in the program.
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

int exit_code_for(const Error& error) {
  if (error.kind() == ErrorKind::interrupted) return interrupted_exit_code();
  return exit_code_of(error.kind());
}

// --help or --version: for CLI11 the end of the command line.
int print_help(const CLI::App& program, const CLI::ParseError& end) {
  std::ostringstream text;
  const int code = program.exit(end, text, text);
  print({Text::lines(text.str())});
  return code;
}

int run_command_line(int argument_count, char** arguments) {
  std::string_view chosen_command;
  if (argument_count > 1 && arguments[1][0] != '-') {
    const auto matches = [&](const Command& c) { return std::string_view(c.name) == arguments[1]; };
    if (std::none_of(commands().begin(), commands().end(), matches))
      return refuse_unknown_command(arguments[1]);
    chosen_command = arguments[1];
  }
  CommandLine line(chosen_command);
  try {
    line.app.parse(marked_arguments(argument_count, arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print_help(line.app, error);
    const auto chosen = line.app.get_subcommands();
    const CLI::App& command = chosen.empty() ? line.app : *chosen.front();
    const std::string name = chosen.empty() ? "" : " " + command.get_name();
    const bool is_unknown = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    return fail(is_unknown ? unknown_argument(line.app, command) : error.what(),
                "see dmlop" + name + " --help", exit_usage);
  }
  for (std::size_t i = 0; i < commands().size(); ++i) {
    if (line.app.got_subcommand(commands()[i].name)) return line.actions[i]();
  }
  return exit_usage;
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
#else
  // Writing fails instead, and is said to: to a pipe that nobody reads, or to a file that is as
  // large as files may be.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
#endif
  int code = exit_run_failed;
  try {
    code = run_command_line(argument_count, arguments);
  } catch (const Error& error) {
    code = fail(error.what(), exit_code_for(error));
  } catch (const std::bad_alloc&) {
    code = fail("out of memory", exit_run_failed);
  } catch (const std::filesystem::filesystem_error& error) {
    code = fail(error.what(), exit_io_failed);
  } catch (const std::exception& error) {
    code = fail(error.what(), exit_run_failed);
  }
  // A result that could not be written is a failure, not silence.
  const bool is_written = finish_output();
  if (!is_written && code == exit_done)
    code = fail("writing standard output failed", exit_io_failed);
  return code;
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
