// Rules of Direct3D that glslang and Vulkan do not know, kept in the text of the shaders.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace dmlop::test {
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

TEST_CASE("shaders: root constants hold no arrays, which Direct3D cannot index") {
  int buffers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(DMLOP_SOURCE_DIR "/shaders")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = for_direct3d(entry.path());
    for (std::size_t at = text.find("cbuffer "); at != std::string::npos;
         at = text.find("cbuffer ", at + 1)) {
      const std::string declared = text.substr(at, text.find('}', at) - at);
      CAPTURE(entry.path());
      CAPTURE(declared);
      CHECK(declared.find('[') == std::string::npos);
      ++buffers;
    }
  }
  CHECK(buffers == 2);  // of kernels in tiles, and on whole tensors
}

}  // namespace
}  // namespace dmlop::test
