// The files of specs/, embedded when the program is built.
#pragma once

#include <span>
#include <string_view>

namespace dmlop {

struct EmbeddedSpec {
  std::string_view name;  // base name of the file: "padding"
  std::string_view text;
};

std::span<const EmbeddedSpec> embedded_specs();

/// The text of one spec; "" where none has this base name.
std::string_view embedded_spec(std::string_view name);

}  // namespace dmlop
