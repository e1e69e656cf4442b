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

/// The spec of this base name; null where there is none.
const EmbeddedSpec* find_embedded_spec(std::string_view name);

/// The text of one spec; "" where none has this base name.
std::string_view embedded_spec(std::string_view name);

}  // namespace dmlop
