// What messages call an option: what it is called where the caller gives it.
#include "base/caller.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "paths.hpp"

namespace dmlop::test::caller_test {
namespace {

namespace fs = std::filesystem;

// Folders that only the program uses, and files of which only it shows the messages.
const std::vector<std::string> of_program{"batch/", "cpp/", "guide/", "layer/",
                                          "model/convert.cpp"};

bool is_of_program(const std::string& path) {
  for (const std::string& beginning : of_program) {
    if (path.starts_with(beginning)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("caller: an option has the words of the program or of a call") {
  CHECK(current_caller() == Caller::program);
  CHECK(option_text("--device", "vulkan:0") == "--device vulkan:0");
  CHECK(option_text("--cpu") == "--cpu");
  {
    const CallerScope library(Caller::library);
    CHECK(option_text("--device", "vulkan:0") == "device \"vulkan:0\"");
    CHECK(option_text("--cpu") == "device \"cpu\"");
    CHECK(option_text("--rtol", "0.5") == "rtol 0.5");
    CHECK(option_text("--host-memory") == "host_memory_bytes");
    {
      const CallerScope program(Caller::program);
      CHECK(option_text("--host-memory") == "--host-memory");
    }
    CHECK(option_text("--as", "page") == "the judge \"page\"");
  }
  CHECK(current_caller() == Caller::program);
  CHECK_THROWS_AS(option_text("--html"), std::logic_error);
}

// Whoever writes the option itself tells callers of the library what they do not have.
TEST_CASE("caller: no message of the library has an option of the program that calls have, too") {
  const std::regex asked(R"(option_text\("[^"]*")");
  const std::regex option(
      R"("([^"]* )?--(as|atol|confine|cpu|device|device-memory|feature-level|host-memory|rtol|strict-indices|ulp)[ ":;,.])");
  const fs::path lib = source_path("lib");
  std::string found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(lib)) {
    const std::string path = entry.path().lexically_relative(lib).generic_string();
    if (is_of_program(path) || path == "base/caller.cpp" || path == "base/caller.hpp") continue;
    if (!path.ends_with(".cpp") && !path.ends_with(".hpp")) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const bool is_of_docker = line.find("--gpus all") != std::string::npos;
      const bool is_comment = line.find("//") < line.find('"');
      if (!is_of_docker && !is_comment &&
          std::regex_search(std::regex_replace(line, asked, ""), option))
        found += path + ": " + line + "\n";
    }
  }
  CHECK(found == "");
}

}  // namespace dmlop::test::caller_test
