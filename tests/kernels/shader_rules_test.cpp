// Rules of Direct3D that glslang and Vulkan do not know, kept in the text of the shaders.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "paths.hpp"

namespace dmlop::test::shader_rules_test {
namespace {

// What Direct3D's compiler sees of a file: no comments, and not what stands between
// #ifdef DMLOP_VULKAN and its #else or #endif.
std::string for_direct3d(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string seen;
  bool is_for_vulkan = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "#ifdef DMLOP_VULKAN") is_for_vulkan = true;
    if (line == "#else" || line == "#endif") is_for_vulkan = false;
    if (!is_for_vulkan) seen += line.substr(0, line.find("//")) + "\n";
  }
  return seen;
}

// Checks what stands between a keyword and the next "}"; how often the keyword stands in the text.
int check_no_arrays(const std::string& text, const std::string& keyword) {
  int found = 0;
  for (std::size_t at = text.find(keyword); at != std::string::npos;
       at = text.find(keyword, at + 1)) {
    const std::string declared = text.substr(at, text.find('}', at) - at);
    CAPTURE(declared);
    CHECK(declared.find('[') == std::string::npos);
    ++found;
  }
  return found;
}

TEST_CASE("shaders: root constants hold no arrays, which Direct3D cannot index") {
  int buffers = 0, structs = 0;
  const std::filesystem::path folder = source_path("shaders");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    CAPTURE(entry.path());
    const std::string text = for_direct3d(entry.path());
    buffers += check_no_arrays(text, "cbuffer ");
    if (text.find("Constants {") != std::string::npos) {
      for (const char* name :
           {"IndexMap", "ReverseColumns", "Transpose", "Interleave", "WindowNorm"})
        structs += check_no_arrays(text, "struct " + std::string(name) + "Constants {");
    }
  }
  CHECK(buffers == 2);  // with constants of the dispatch, and without
  CHECK(structs == 5);
}

}  // namespace
}  // namespace dmlop::test::shader_rules_test
