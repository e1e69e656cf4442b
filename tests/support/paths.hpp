// Where the tests find their files and programs. Only paths.cpp is compiled anew in another folder:
// a compiler cache has the rest.
#pragma once

#include <string>
#include <string_view>

namespace dmlop::test {

/// A file or folder of the project, or the project's folder: source_path("samples/padding").
std::string source_path(std::string_view below = "");

/// One of tests/data.
std::string test_data_path(std::string_view below = "");

/// One of the unpacked conformance cases.
std::string conformance_path(std::string_view below = "");

/// The program that is tested.
std::string built_program_path();

#ifndef _WIN32
/// Libraries that are preloaded: one plays a system without the Vulkan loader, one a system on
/// which calls fail.
std::string no_vulkan_path();
std::string faults_path();
#endif

}  // namespace dmlop::test
