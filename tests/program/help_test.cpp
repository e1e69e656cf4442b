// What --help and the man page say is true. documents_test.cpp tests the documents.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/exit_codes.hpp"
#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::help_test {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> commands{"run",     "check",   "compare",    "batch",   "bench",
                                        "convert", "devices", "ops",        "inspect", "schema",
                                        "explain", "layer",   "completion", "help",    "manual"};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The command lines that a --help ends with.
std::vector<std::string> examples_of(const std::string& help) {
  std::vector<std::string> examples;
  bool found = false;
  for (const std::string& line : lines_of(help)) {
    if (found && line.starts_with("  dmlop ")) examples.push_back(line.substr(2));
    found = found || line == "Examples:";
  }
  return examples;
}

std::string readme() {
  return read_file(source_path("README.md"));
}

}  // namespace

TEST_CASE("the general help lists every command but the hidden one") {
  const std::string help = dmlop_program({"--help"}).output;
  for (const std::string& command : commands) {
    CHECK((help.find("\n  " + command + " ") != std::string::npos) == (command != "manual"));
  }
}

TEST_CASE("usage shows where several names may stand") {
  CHECK(dmlop_program({"batch", "--help"}).output.find("dmlop batch [OPTIONS] [JOBS...]\n") !=
        std::string::npos);
  CHECK(dmlop_program({"check", "--help"}).output.find("dmlop check [OPTIONS] OP.json...\n") !=
        std::string::npos);
  CHECK(dmlop_program({"run", "--help"}).output.find("dmlop run [OPTIONS] OP.json\n") !=
        std::string::npos);
}

TEST_CASE("every example of every help works") {
  std::vector<std::string> helps{"--help"};
  for (const std::string& command : commands) helps.push_back(command + " --help");
  for (const std::string& help : helps) {
    CAPTURE(help);
    if (help == "layer --help") continue;  // needs an application for Windows
    const Folder folder;
    fs::copy(source_path("samples"), folder / "samples", fs::copy_options::recursive);
    const auto examples = examples_of(shell("dmlop " + help, {.folder = folder.path()}).output);
    CHECK(examples.size() >= (help.starts_with("manual") ? 1 : 2));
    for (const std::string& example : examples) {
      CAPTURE(example);
      const auto result = shell(example, {.folder = folder.path()});
      CAPTURE(result.error);
      CHECK(result.code == 0);
    }
  }
}

TEST_CASE("the short helps show commands that work as they are printed, from any folder") {
  std::vector<std::string> helps{"help"};
  for (const std::string& command : commands) {
    if (command != "layer") helps.push_back("help " + command);
  }
  for (const std::string& help : helps) {
    CAPTURE(help);
    const Folder folder;
    // By its path the program is not in the PATH: what it prints names it by its path, too.
    const auto printed = shell("'" + program_path() + "' " + help, {.folder = folder.path()});
    CHECK(printed.code == 0);
    std::size_t ran = 0;
    for (const std::string& line : lines_of(printed.output)) {
      if (!line.starts_with("  ") || line.starts_with("  #")) continue;
      CAPTURE(line);
      const auto result = shell(line, {.folder = folder.path()});
      CAPTURE(result.error);
      CHECK(result.code == 0);
      ++ran;
    }
    CHECK(ran >= (help == "help manual" ? 1 : 2));
  }
}

TEST_CASE("without a command the program shows the short help, and fails") {
  const auto nothing = dmlop_program({});
  CHECK(nothing.code == 2);
  CHECK(nothing.output == "");
  CHECK(nothing.error == dmlop_program({"help"}).output);
}

TEST_CASE("no help shows how the parser checks values") {
  for (const std::string& command : commands) {
    CAPTURE(command);
    const std::string help = dmlop_program({command, "--help"}).output;
    const std::string options = help.substr(0, help.find("Examples:"));
    for (const char* internal : {"{", "}", "Excludes", "REQUIRED", "TEXT", "UINT", "INT", " in ["})
      CHECK(options.find(internal) == std::string::npos);
  }
}

TEST_CASE("the exit codes are those that the users were promised") {
  std::vector<int> codes;
  for (const auto& info : exit_codes) codes.push_back(info.code);
  CHECK(codes == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 130});
  using dmlop::ErrorKind;
  CHECK(exit_code_of(ErrorKind::usage) == 2);
  CHECK(exit_code_of(ErrorKind::invalid_input) == 3);
  CHECK(exit_code_of(ErrorKind::unavailable) == 4);
  CHECK(exit_code_of(ErrorKind::run_failed) == 5);
  CHECK(exit_code_of(ErrorKind::io_failed) == 6);
  CHECK(exit_code_of(ErrorKind::interrupted) == 130);
}

TEST_CASE("help, man page and README have the same exit codes") {
  const std::string help = dmlop_program({"--help"}).output;
  const std::string manual = dmlop_program({"manual"}).output;
  const std::string text = readme();
  const auto count_of = [](const std::string& where, const std::string& what) {
    const auto lines = lines_of(where);
    return std::count(lines.begin(), lines.end(), what);
  };
  for (const auto& info : exit_codes) {
    const std::string code = std::to_string(info.code), meaning(info.meaning);
    CAPTURE(meaning);
    CHECK(count_of(help, "  " + std::string(3 - code.size(), ' ') + code + "  " + meaning) == 1);
    CHECK(count_of(text, "| " + code + " | " + meaning + " |") == 1);
    std::string roff = meaning;
    CHECK(manual.find(".B " + code + "\n" + roff) != std::string::npos);
  }
}

TEST_CASE("the man page describes files, and every variable that the program reads") {
  const std::string manual = dmlop_program({"manual"}).output;
  for (const char* part : {".SH OP.JSON", "featureLevel", "bindings", ".SH FILES OF TENSORS",
                           ".SH THE FOLDER OF A JOB", "tol.json", ".SH ENVIRONMENT"})
    CHECK(manual.find(part) != std::string::npos);
  const std::set<std::string> of_the_system{"HOME", "LOCALAPPDATA", "PROCESSOR_IDENTIFIER"};
  std::size_t variables = 0;
  for (const char* folder : {"/app", "/lib"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_path() + folder)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string text = read_file(entry.path());
      const std::string call = "environment_variable(\"";
      for (std::size_t at = text.find(call); at != std::string::npos;
           at = text.find(call, at + 1)) {
        const std::size_t begin = at + call.size();
        const std::string name = text.substr(begin, text.find('"', begin) - begin);
        if (of_the_system.contains(name)) continue;
        CAPTURE(name);
        CHECK(manual.find(name) != std::string::npos);
        ++variables;
      }
    }
  }
  CHECK(variables >= 5);
}

}  // namespace dmlop::test::help_test
