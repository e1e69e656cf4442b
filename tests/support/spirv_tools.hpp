// What the packaged tools for SPIR-V say about a module.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "folder.hpp"

namespace dmlop::test {

/// What spirv-val says of a module; "" if it is valid.
std::string spirv_complaint(std::span<const std::uint32_t> module, const Folder& folder);

/// A module as text. Fails the test if spirv-val complains.
std::string spirv_text(std::span<const std::uint32_t> module, const Folder& folder);

}  // namespace dmlop::test
