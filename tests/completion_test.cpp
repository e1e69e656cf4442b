// Completion scripts and the man page, read by the shells and by man.
#include <doctest/doctest.h>

#include "program.hpp"

namespace {

using namespace dmlop::test;

/// What bash offers for the last of `words`.
std::string completed(const Folder& folder, const std::string& words) {
  const std::string script = ". ./dmlop.bash; COMP_WORDS=(" + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dmlop; "
                             "printf '%s\\n' \"${COMPREPLY[@]}\" | sort";
  const auto result = Process({"bash", "-c", script}, {.folder = folder.path()}).wait();
  CHECK(result.error == "");
  return result.output;
}

}  // namespace

TEST_CASE("bash completes commands, options, choices and files") {
  const Folder folder;
  folder.write("op.json", "{}");
  folder.write("dmlop.bash", dmlop_program({"completion", "bash"}).output);
  CHECK(shell("bash -n dmlop.bash", {.folder = folder.path()}).code == 0);
  CHECK(completed(folder, "dmlop ch") == "check\n");
  CHECK(completed(folder, "dmlop inspec") == "inspect\n");
  CHECK(completed(folder, "dmlop run --feat") == "--feature-level\n");
  CHECK(completed(folder, "dmlop run op") == "op.json\n");
  CHECK(completed(folder, "dmlop check op.json --format ''") == "json\ntext\n");
  CHECK(completed(folder, "dmlop ops SL") == "SLICE\nSLICE1\nSLICE_GRAD\n");
  CHECK(completed(folder, "dmlop completion f") == "fish\n");
}

TEST_CASE("zsh and fish read their scripts") {
  for (const std::string shell_name : {"zsh", "fish"}) {
    const auto script = dmlop_program({"completion", shell_name});
    CHECK(script.code == 0);
    for (const char* word : {"inspect", "feature-level", "SLICE1"}) {
      CHECK(script.output.find(word) != std::string::npos);
    }
    if (!has_command(shell_name)) {
      MESSAGE("skipped: " << shell_name << " is not installed, its script is not parsed");
      continue;
    }
    const Folder folder;
    folder.write("script", script.output);
    const auto parsed = shell(shell_name + " -n script", {.folder = folder.path()});
    CHECK(parsed.code == 0);
    CHECK(parsed.error == "");
  }
}

TEST_CASE("the man page is formatted without complaints") {
  const Folder folder;
  folder.write("dmlop.1", dmlop_program({"manual"}).output);
  if (!has_command("groff")) {
    MESSAGE("skipped: groff is not installed, the man page is not formatted");
    return;
  }
  const auto page = shell("groff -man -Tascii -ww -P-cbou dmlop.1", {.folder = folder.path()});
  CHECK(page.code == 0);
  CHECK(page.error == "");
  for (const char* part : {"dmlop run", "--feature-level", "EXIT STATUS", "130"}) {
    CHECK(page.output.find(part) != std::string::npos);
  }
}
