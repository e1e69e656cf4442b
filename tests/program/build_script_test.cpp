// build.sh says what it is doing and how far it is. Its tools are replaced by ones that do nothing.
#include <doctest/doctest.h>

#include <regex>

#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::build_script_test {
namespace {

namespace fs = std::filesystem;

/// A copy of what build.sh needs, and tools that do nothing: with all packages, or without any.
class Tree {
 public:
  explicit Tree(bool has_packages) {
    const fs::path source = source_path();
    fs::copy_file(source / "build.sh", folder_ / "build.sh");
    fs::copy(source / "samples", folder_ / "samples", fs::copy_options::recursive);
    fs::create_directory(folder_ / "build");
    fs::create_symlink(program_path(), folder_ / "build/dmlop");
    for (const std::string tool : {"cmake", "ctest", "npm", "setarch", "apt-cache"})
      add_tool(tool, "exit 0");
    add_tool("dpkg-query", has_packages ? "echo installed" : "exit 1");
    add_tool("sudo", "exec \"$@\"");
    add_tool("apt-get",
             "echo '0 upgraded, 1 newly installed, 0 to remove'; echo 'Unpacking a (1)'");
  }

  ProgramResult run(const std::string& command) const {
    return shell("PATH=" + folder_ / "tools" + ":$PATH ./build.sh " + command,
                 {.folder = folder_.path()});
  }

 private:
  void add_tool(const std::string& name, const std::string& script) const {
    const std::string path = folder_.write("tools/" + name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(path, fs::perms::owner_all);
  }

  Folder folder_;
};

/// The steps that an output announces, as "1/4 2/4".
std::string steps_of(const std::string& output) {
  static const std::regex step("(^|\n)\\[([0-9]+/[0-9]+)\\] [A-Z]");
  std::string steps;
  for (std::sregex_iterator at(output.begin(), output.end(), step), end; at != end; ++at)
    steps += (steps.empty() ? "" : " ") + (*at)[2].str();
  return steps;
}

}  // namespace

TEST_CASE("build.sh: demo and test number their steps, and the last one is the last") {
  const Tree tree(true);
  const auto demo = tree.run("demo");
  CHECK(demo.code == 0);
  CHECK(steps_of(demo.output) == "1/4 2/4 3/4 4/4");
  CHECK(demo.output.find("The output is the expected one, byte for byte.\n") != std::string::npos);
  const auto tests = tree.run("test");
  CHECK(tests.code == 0);
  CHECK(steps_of(tests.output) == "1/4 2/4 3/4 4/4");
  const auto sanitizers = tree.run("test-sanitizers");
  CHECK(sanitizers.code == 0);
  CHECK(steps_of(sanitizers.output) == "1/8 2/8 3/8 4/8 5/8 6/8 7/8 8/8");
}

TEST_CASE("build.sh: demo builds every target that cmake --install installs") {
  const fs::path source = source_path();
  static const std::regex installed(R"(install\(TARGETS (\w+))");
  std::string demo = read_file(source / "build.sh");
  demo = demo.substr(demo.find("\ndemo() {"));
  demo = demo.substr(demo.find("--target "), demo.find("\n}") - demo.find("--target "));
  demo = demo.substr(0, demo.find('\n')) + " ";
  std::size_t targets = 0;
  for (const char* list : {"app/CMakeLists.txt", "lib/CMakeLists.txt"}) {
    const std::string text = read_file(source / list);
    for (std::sregex_iterator at(text.begin(), text.end(), installed), end; at != end; ++at) {
      CAPTURE((*at)[1].str());
      CHECK(demo.find(" " + (*at)[1].str() + " ") != std::string::npos);
      ++targets;
    }
  }
  CHECK(targets == 3);
}

TEST_CASE("build.sh: it says which packages it installs") {
  const auto demo = Tree(false).run("demo");
  CHECK(demo.code == 0);
  CHECK(demo.output.find("Installing cmake ") != std::string::npos);
  CHECK(steps_of(demo.output) == "1/4 2/4 3/4 4/4");
}

TEST_CASE("build.sh: an unknown command is wrong usage") {
  const auto result = Tree(true).run("dance");
  CHECK(result.code == 2);
  CHECK(result.error.find("unknown command \"dance\"") != std::string::npos);
}

}  // namespace dmlop::test::build_script_test
