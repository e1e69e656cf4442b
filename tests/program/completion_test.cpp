// Completion scripts and the man page, read by the shells and by man.
#include <doctest/doctest.h>

#include "program.hpp"

namespace dmlop::test::completion_test {
namespace {

namespace fs = std::filesystem;

/// What bash offers for the last of `words`.
std::string completed(const Folder& folder, const std::string& words) {
  const std::string program = fs::path(program_path()).parent_path().string();
  const std::string script = "PATH=\"" + program + ":$PATH\"; . ./dmlop.bash; COMP_WORDS=(" +
                             words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _dmlop; "
                             "printf '%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort";
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

TEST_CASE(
    "bash completes levels, tensors and operators, and offers files only where they are taken") {
  const Folder folder;
  folder.write("op.json", R"({"type": "DML_OPERATOR_REVERSE_SUBSEQUENCES", "desc": {}})");
  folder.write("x.npy", "");
  folder.write("dmlop.bash", dmlop_program({"completion", "bash"}).output);
  const std::string files = "dmlop.bash\nop.json\nx.npy\n";
  CHECK(completed(folder, "dmlop check op.json --feature-level 6_") == "6_0\n6_1\n6_2\n6_3\n6_4\n");
  CHECK(completed(folder, "dmlop ops --feature-level 2_") == "2_0\n2_1\n");
  CHECK(completed(folder, "dmlop run op.json -i S") == "SequenceLengthsTensor=\n");
  CHECK(completed(folder, "dmlop run op.json -i ''") ==
        "InputTensor=\nSequenceLengthsTensor=\n" + files);
  CHECK(completed(folder, "dmlop run op.json --expect O") == "OutputTensor=\n");
  CHECK(completed(folder, "dmlop run op.json -i InputTensor =") == files);
  CHECK(completed(folder, "dmlop run op.json -i InputTensor = x") == "x.npy\n");
  CHECK(completed(folder, "dmlop run op.json --nan = e") == "equal\n");
  CHECK(completed(folder, "dmlop help comp") == "compare\ncompletion\n");
  for (const char* nothing : {"dmlop devices ''", "dmlop run op.json --threads ''",
                              "dmlop ops NO_SUCH", "dmlop run op.json --nan ''x"})
    CHECK(completed(folder, nothing) == "\n");
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

}  // namespace dmlop::test::completion_test
