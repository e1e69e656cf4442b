// The files of specs/, embedded when the program is built.
#pragma once

#include <span>
#include <string_view>

namespace dmlop {

struct EmbeddedSpec {
  std::string_view name;    // base name of the file: "padding"
  std::string_view family;  // its folder: "data_movement"; "" for directml.json
  std::string_view text;
};

std::span<const EmbeddedSpec> embedded_specs();

/// The spec with this base name, or null.
const EmbeddedSpec* find_embedded_spec(std::string_view name);

/// The text of the spec with this base name, or "".
std::string_view embedded_spec(std::string_view name);

}  // namespace dmlop
