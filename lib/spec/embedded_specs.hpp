// The operators' files of specs/, embedded when the program is built.
#pragma once

#include <span>
#include <string_view>

namespace dmlop {

struct EmbeddedSpec {
  std::string_view name;    // base name of the file: "padding"
  std::string_view family;  // its folder: "data_movement"
  std::string_view text;
};

std::span<const EmbeddedSpec> embedded_specs();

/// The spec with this base name, or null.
const EmbeddedSpec* find_embedded_spec(std::string_view name);

}  // namespace dmlop
