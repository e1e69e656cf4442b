#include "paths.hpp"

namespace dmlop::test {
namespace {

std::string joined(std::string folder, std::string_view below) {
  if (!below.empty()) folder.append("/").append(below);
  return folder;
}

}  // namespace

std::string source_path(std::string_view below) {
  return joined(DMLOP_SOURCE_DIR, below);
}
std::string test_data_path(std::string_view below) {
  return joined(DMLOP_TEST_DATA, below);
}
std::string conformance_path(std::string_view below) {
  return joined(DMLOP_CONFORMANCE, below);
}
std::string built_program_path() {
  return DMLOP_PROGRAM;
}

#ifndef _WIN32
std::string no_vulkan_path() {
  return DMLOP_NO_VULKAN;
}
std::string faults_path() {
  return DMLOP_FAULTS;
}
#endif

}  // namespace dmlop::test
