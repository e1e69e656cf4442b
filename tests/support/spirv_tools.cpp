#include "spirv_tools.hpp"

#include <doctest/doctest.h>

#include "program.hpp"

namespace dmlop::test {

std::string spirv_complaint(std::span<const std::uint32_t> module, const Folder& folder) {
  folder.write("module.spv",
               std::string(reinterpret_cast<const char*>(module.data()), module.size_bytes()));
  const ProgramResult found =
      shell("spirv-val --target-env vulkan1.1 module.spv 2>&1", {.folder = folder.path()});
  return found.code == 0 ? "" : "exit code " + std::to_string(found.code) + ": " + found.output;
}

std::string spirv_text(std::span<const std::uint32_t> module, const Folder& folder) {
  REQUIRE(spirv_complaint(module, folder) == "");
  const ProgramResult found =
      shell("spirv-dis --no-color module.spv 2>&1", {.folder = folder.path()});
  REQUIRE_MESSAGE(found.code == 0, found.output);
  return found.output;
}

}  // namespace dmlop::test
