// The program's edge: parses the command line, runs one command, and turns what escapes it into a
// message and an exit code.
#include <csignal>
#include <cstdio>
#include <new>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"

namespace dmlop::app {
namespace {

volatile std::sig_atomic_t received_signal = 0;

extern "C" void stop_at_signal(int signal) {
  received_signal = signal;
  request_interruption();
}

int fail(const std::string& message, const std::string& help, int code) {
  std::fprintf(stderr, "dmlop: error: %s\n", message.c_str());
  if (!help.empty()) std::fprintf(stderr, "  help: %s\n", help.c_str());
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

int exit_code_for(const Error& error) {
  // 128 + the signal's number, as shells do: 130 for SIGINT.
  if (error.kind() == ErrorKind::interrupted && received_signal != 0) return 128 + received_signal;
  return exit_code_of(error.kind());
}

int run_command_line(int argument_count, char** arguments) {
  if (argument_count > 1 && arguments[1][0] != '-') {
    const auto matches = [&](const Command& c) { return std::string_view(c.name) == arguments[1]; };
    if (std::none_of(commands().begin(), commands().end(), matches))
      return refuse_unknown_command(arguments[1]);
  }
  CommandLine line;
  try {
    line.app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return line.app.exit(error);
    const auto chosen = line.app.get_subcommands();
    const std::string name = chosen.empty() ? "" : " " + chosen.front()->get_name();
    return fail(error.what(), "see dmlop" + name + " --help", exit_usage);
  }
  for (std::size_t i = 0; i < commands().size(); ++i) {
    if (line.app.got_subcommand(commands()[i].name)) return line.actions[i]();
  }
  return exit_usage;
}

}  // namespace
}  // namespace dmlop::app

int main(int argument_count, char** arguments) {
  using namespace dmlop::app;
  std::signal(SIGINT, stop_at_signal);
  std::signal(SIGTERM, stop_at_signal);
  std::signal(SIGPIPE, SIG_IGN);
  int code = exit_run_failed;
  try {
    code = run_command_line(argument_count, arguments);
  } catch (const dmlop::Error& error) {
    code = fail(error.what(), "", exit_code_for(error));
  } catch (const std::bad_alloc&) {
    code = fail("out of memory", "", exit_run_failed);
  } catch (const std::exception& error) {
    code = fail(error.what(), "", exit_run_failed);
  }
  // A result that could not be written is a failure, not silence.
  const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!flushed && code == exit_done)
    code = fail("writing standard output failed", "", exit_io_failed);
  return code;
}
