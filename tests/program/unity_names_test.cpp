// A unity build compiles several files of a folder as one (lib/CMakeLists.txt). Where two of them
// give one name to different functions, the compiler may choose the other file's without a word.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "paths.hpp"

namespace dmlop::unity_names_test {
namespace {

namespace fs = std::filesystem;

const fs::path source = test::source_path();

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The folders whose files are compiled together, as the build lists them.
std::vector<std::string> unity_folders() {
  std::smatch found;
  const std::string build = text_of(source / "lib/CMakeLists.txt");
  REQUIRE(std::regex_search(build, found,
                            std::regex(R"(foreach\(folder IN ITEMS\s+([a-z0-9/\s]+)\))")));
  std::vector<std::string> folders{"app"};
  std::istringstream names(found[1]);
  for (std::string name; names >> name;) folders.push_back("lib/" + name);
  return folders;
}

/// The name that a line at the margin of an unnamed namespace declares; empty for other lines. Two
/// aliases of one name are left to the compiler, which refuses those that differ.
std::string declared_name(const std::string& line) {
  static const std::regex no_declaration(
      R"(^(using|return|template|namespace|case|else)\b.*|^\W.*|^$)");
  static const std::regex type(R"(^(?:struct|class|enum class|enum|union) (\w+).*)");
  static const std::regex function(R"(^[\w:<>,&* \[\]]*[&* ](\w+)\(.*)");
  static const std::regex constant(
      R"(^(?:constexpr|const|static|thread_local) [^(=]*?(\w+)(?: = |\{|\[|;).*)");
  static const std::regex attribute(R"(^\[\[\w+\]\] )");
  const std::string plain = std::regex_replace(line, attribute, "");
  std::smatch found;
  if (std::regex_match(plain, no_declaration)) return "";
  for (const std::regex* kind : {&type, &constant, &function})
    if (std::regex_match(plain, found, *kind)) return found[1];
  return "";
}

std::set<std::string> unnamed_names(const fs::path& file) {
  std::set<std::string> names;
  std::istringstream lines(text_of(file));
  bool is_inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "namespace {") is_inside = true;
    if (line == "}  // namespace") is_inside = false;
    if (is_inside) names.insert(declared_name(line));
  }
  names.erase("");
  names.erase("to_json");  // nlohmann::json's name for overloads, each of which takes a type of its
                           // own file
  return names;
}

bool is_of(const std::string& file, const char* system) {
  return file.find(system) != std::string::npos;
}

// Files of two systems are never compiled together.
bool can_meet(const std::string& a, const std::string& b) {
  return !(is_of(a, "posix") && is_of(b, "windows")) && !(is_of(a, "windows") && is_of(b, "posix"));
}

/// The files of a folder that give each name.
std::map<std::string, std::vector<std::string>> files_by_name(const fs::path& folder) {
  std::map<std::string, std::vector<std::string>> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".cpp")) continue;
    for (const std::string& name : unnamed_names(entry.path())) files[name].push_back(file);
  }
  return files;
}

TEST_CASE("names: no two files of a folder that is compiled as one share a name") {
  std::size_t count = 0;
  for (const std::string& folder : unity_folders()) {
    for (const auto& entry : files_by_name(source / folder)) {
      const std::vector<std::string>& files = entry.second;
      count += files.size();
      for (std::size_t a = 0; a < files.size(); ++a) {
        for (std::size_t b = a + 1; b < files.size(); ++b) {
          const std::string clash = folder + ": " + entry.first + " is in " + files[a] +
                                    " and in " + files[b] + ": give one of them another name";
          CHECK_MESSAGE(!can_meet(files[a], files[b]), clash);
        }
      }
    }
  }
  CHECK(count > 800);
}

TEST_CASE("names: functions, types and constants are found") {
  CHECK(declared_name("std::string escaped(const std::string& text, bool is_property) {") ==
        "escaped");
  CHECK(declared_name("std::optional<std::vector<int>> read_all(") == "read_all");
  CHECK(declared_name("const Row* row_of(const Table& table, std::size_t at = 3) {") == "row_of");
  CHECK(declared_name("bool operator==(const Row& a, const Row& b) {") == "");
  CHECK(declared_name("[[noreturn]] void fail(const std::string& why) {") == "fail");
  CHECK(declared_name("struct Row {") == "Row");
  CHECK(declared_name("constexpr std::size_t max_depth = 32;") == "max_depth");
  CHECK(declared_name("constexpr std::array names{1, 2};") == "names");
  CHECK(declared_name("using Json = nlohmann::json;") == "");
  CHECK(declared_name("  return row(1);") == "");
}

}  // namespace

}  // namespace dmlop::unity_names_test
