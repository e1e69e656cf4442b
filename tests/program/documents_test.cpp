// What the Markdown documents say is true: their commands run, their links lead somewhere, and the
// names and numbers in them exist. tests/README.md says how to write a block of commands.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "base/text.hpp"
#include "paths.hpp"
#include "program.hpp"
#include "sanitized.hpp"

namespace dmlop::test::documents_test {
namespace {

namespace fs = std::filesystem;

const fs::path source = source_path();

/// All documents of the project, as paths below its root.
std::vector<std::string> documents() {
  std::vector<std::string> found;
  for (fs::recursive_directory_iterator at(source), end; at != end; ++at) {
    const std::string name = at->path().filename().string();
    const bool is_foreign = name == "node_modules" || name.starts_with("build") || name[0] == '.';
    if (at->is_directory() && is_foreign) at.disable_recursion_pending();
    if (!at->is_directory() && name.ends_with(".md"))
      found.push_back(at->path().lexically_relative(source).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A fenced block of a document.
struct Block {
  std::size_t line = 0;  // of its fence
  std::string language;
  std::string text;
  std::string reason_not_to_run;
  bool follows_a_block = false;  // with nothing but empty lines between
};

std::vector<Block> blocks_of(const std::string& document) {
  static const std::regex reason("<!-- not run: (.+) -->");
  std::vector<Block> blocks;
  bool is_inside = false;
  std::string
      before;  // the last line outside blocks that is not empty; "```" is the end of a block
  const auto lines = lines_of(read_file(source / document));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("```")) {
      is_inside = !is_inside;
      if (is_inside) {
        Block block{
            .line = i + 1, .language = lines[i].substr(3), .follows_a_block = before == "```"};
        if (std::smatch match; std::regex_match(before, match, reason))
          block.reason_not_to_run = match[1];
        blocks.push_back(block);
      }
      before = "```";
    } else if (is_inside) {
      blocks.back().text += lines[i] + "\n";
    } else if (!lines[i].empty()) {
      before = lines[i];
    }
  }
  REQUIRE_MESSAGE(!is_inside, document << " ends inside a block");
  return blocks;
}

/// The exit code that a block promises: N where its last line ends with "# exit code N".
int promised_exit_code(const std::string& block) {
  static const std::regex promise("# exit code ([0-9]+)\n$");
  std::smatch match;
  return std::regex_search(block, match, promise) ? std::stoi(match[1]) : 0;
}

/// The text of a document without its blocks.
std::string prose_of(const std::string& document) {
  std::string prose;
  bool is_inside = false;
  for (const std::string& line : lines_of(read_file(source / document))) {
    if (line.starts_with("```")) is_inside = !is_inside;
    prose += is_inside ? "\n" : line + "\n";
  }
  return prose;
}

/// What stands between backticks in the prose of a document.
std::vector<std::string> code_of(const std::string& document) {
  static const std::regex code("`([^`\n]+)`");
  const std::string prose = prose_of(document);
  std::vector<std::string> found;
  for (std::sregex_iterator at(prose.begin(), prose.end(), code), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

/// The scripts of tests/, whose options documents name, too.
std::string texts_of_scripts() {
  std::string texts;
  for (const auto& folder : fs::directory_iterator(source / "tests")) {
    if (!folder.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(folder.path()))
      if (file.path().extension() == ".py") texts += read_file(file.path());
  }
  return texts;
}

/// The folders of tests/.
std::vector<std::string> test_folders() {
  std::vector<std::string> folders;
  for (const auto& entry : fs::directory_iterator(source / "tests"))
    if (entry.is_directory()) folders.push_back(entry.path().filename().string());
  return folders;
}

bool is_a_test(const std::string& name) {
  return std::ranges::any_of(test_folders(), [&](const std::string& folder) {
    return fs::exists(source / "tests" / folder / (name + ".cpp"));
  });
}

}  // namespace

TEST_CASE("documents: every command runs, and prints what the document shows") {
  std::size_t commands = 0;
  for (const std::string& document : documents()) {
    CAPTURE(document);
    const Folder folder;
    fs::copy(source / "samples", folder / "samples", fs::copy_options::recursive);
    fs::create_directory_symlink(fs::path(program_path()).parent_path(), folder / "build");
    fs::create_directory_symlink(source / "lib", folder / "lib");
    const std::string* printed = nullptr;  // by the block before
    std::string output;
    for (const Block& block : blocks_of(document)) {
      CAPTURE(block.line);
      // A sanitizer must be the first library of its process, which is Python's here.
      const bool is_loaded = is_sanitized && block.text.find("import dmlop") != std::string::npos;
      if (block.language == "sh" && block.reason_not_to_run.empty() && !is_loaded) {
        const auto result = shell("set -e; exec 2>&1; " + block.text, {.folder = folder.path()});
        output = result.output;
        printed = &output;
        ++commands;
        CAPTURE(output);
        CHECK(result.code == promised_exit_code(block.text));
      } else {
        if (block.language == "text" && block.follows_a_block && printed != nullptr)
          CHECK(block.text == *printed);
        printed = nullptr;
      }
    }
  }
  CHECK(commands >= 10);
}

TEST_CASE("documents: commands are in blocks that a test sees") {
  const std::set<std::string> languages{"sh", "text", "json", "jsonc", "cmake", "cpp", "python"};
  for (const std::string& document : documents()) {
    CAPTURE(document);
    for (const Block& block : blocks_of(document)) {
      CAPTURE(block.line);
      CHECK_MESSAGE(languages.contains(block.language), "unknown language: " << block.language);
    }
    for (const std::string& line : lines_of(prose_of(document)))
      CHECK_MESSAGE(!line.starts_with("    "), "an indented block; use ```sh: " << line);
  }
}

TEST_CASE("documents: links lead to files and headings that exist") {
  static const std::regex link("\\]\\(([^)#:]*)(#[^)]*)?\\)");
  std::size_t links = 0;
  for (const std::string& document : documents()) {
    const std::string prose = prose_of(document);
    for (std::sregex_iterator at(prose.begin(), prose.end(), link), end; at != end; ++at) {
      const std::string path = (*at)[1], heading = (*at)[2];
      CAPTURE(document);
      CAPTURE(path);
      CAPTURE(heading);
      ++links;
      const fs::path target =
          path.empty() ? source / document : (source / document).parent_path() / path;
      REQUIRE(fs::exists(target));
      if (heading.empty()) continue;
      // GitHub's name of a heading: lower case, "-" for spaces, no other punctuation.
      std::vector<std::string> headings;
      for (const std::string& line : lines_of(read_file(target))) {
        if (!line.starts_with("#")) continue;
        std::string name = "#";
        for (const char c : line.substr(line.find(' ') + 1)) {
          if (c == ' ') name += '-';
          if (c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
            name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        headings.push_back(name);
      }
      CHECK(std::count(headings.begin(), headings.end(), heading) == 1);
    }
  }
  CHECK(links >= 10);
}

TEST_CASE("documents: the options, tests and commands of build.sh that they name exist") {
  // Options of other programs.
  const std::set<std::string> foreign{"--array",   "--cpus-per-task", "--dependency", "--env",
                                      "--install", "--preset",        "--cflags",     "--libs",
                                      "--prefix",  "--variable",      "--sshlogin",   "--version",
                                      "--wrap"};
  static const std::regex option("--[a-z][a-z0-9-]*"), test("[a-z0-9_]+_test");
  static const std::regex build("\\./build\\.sh ([a-z-]+)");
  std::string manual = dmlop_program({"manual"}).output;
  std::erase(manual, '\\');
  const std::string known = manual + texts_of_scripts();
  const std::string build_help = shell("./build.sh help", {.folder = source.string()}).output;
  std::size_t options = 0;
  for (const std::string& document : documents()) {
    CAPTURE(document);
    for (const std::string& code : code_of(document)) {
      CAPTURE(code);
      for (std::sregex_iterator at(code.begin(), code.end(), option), end; at != end; ++at) {
        ++options;
        const std::regex whole(at->str() + "(?![a-z0-9-])");
        CHECK((foreign.contains(at->str()) || std::regex_search(known, whole)));
      }
      if (std::smatch match; std::regex_match(code, match, test)) CHECK(is_a_test(code));
      if (std::smatch match; std::regex_search(code, match, build))
        CHECK(build_help.find("\n  " + match[1].str() + " ") != std::string::npos);
    }
  }
  CHECK(options >= 20);
}

TEST_CASE("documents: the table of the tests has a row for each folder") {
  const std::string text = read_file(source / "tests" / "README.md");
  const std::vector<std::string> folders = test_folders();
  CHECK(folders.size() >= 20);
  for (const std::string& folder : folders) {
    CAPTURE(folder);
    CHECK((text.find("`" + folder + "/`") != std::string::npos ||
           text.find("[" + folder + "/](") != std::string::npos));
  }
}

TEST_CASE("documents: the table of the shaders has a row for each file") {
  const std::string text = read_file(source / "shaders" / "README.md");
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(source / "shaders")) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || name == "README.md") continue;
    CAPTURE(name);
    ++files;
    const bool is_region = name.starts_with("region_");  // region_*.hlsl
    CHECK((is_region || text.find("`" + name + "`") != std::string::npos));
  }
  CHECK(files >= 60);
}

TEST_CASE("README says how many operators run") {
  const auto operators = nlohmann::json::parse(dmlop_program({"ops", "--format", "json"}).output);
  const std::string text = read_file(source / "README.md");
  CHECK(text.find("All " + std::to_string(operators.size()) +
                  " operators of DirectML run on the CPU and on GPUs") != std::string::npos);
}

TEST_CASE("the tables of operators, differences and measurements are what dmlop ops prints") {
  struct Table {
    const char* document;
    std::vector<std::string> words;
  };
  for (const Table& table :
       {Table{"specs/README.md", {"ops"}}, Table{"specs/README.md", {"ops", "--differences"}},
        Table{"specs/README.md", {"ops", "--errors"}}, Table{"specs/onnx.md", {"ops", "--onnx"}},
        Table{"tests/bench/README.md", {"ops", "--speed"}}}) {
    const std::string text = read_file(source / table.document);
    const std::string name = dmlop::join(table.words, " ");
    CAPTURE(name);
    const std::string begin = "<!-- " + name + " -->\n";
    const std::size_t first = text.find(begin), end = text.find("<!-- /" + name + " -->");
    REQUIRE(first != std::string::npos);
    REQUIRE(end != std::string::npos);
    std::vector<std::string> command = table.words;
    command.insert(command.end(), {"--format", "markdown"});
    CHECK(text.substr(first + begin.size(), end - first - begin.size()) ==
          dmlop_program(command).output);
  }
}

TEST_CASE("README is short") {
  CHECK(lines_of(read_file(source / "README.md")).size() <= 120);
}

}  // namespace dmlop::test::documents_test
