// Converts paths between text and std::filesystem. Text is UTF-8 with / on every system, whatever
// characters the standard library uses for paths.
#pragma once

#include <filesystem>
#include <string>

#include "base/text.hpp"

namespace dmlop {

#ifdef _WIN32

/// Errors: filesystem_error if the text is not UTF-8.
inline std::filesystem::path to_path(const std::string& text) {
  return std::filesystem::path(std::u8string(text.begin(), text.end()));
}
inline std::string to_text(const std::filesystem::path& path) {
  const std::u8string text = path.generic_u8string();
  return {text.begin(), text.end()};
}

#else

inline std::filesystem::path to_path(const std::string& text) {
  return text;
}
inline std::string to_text(const std::filesystem::path& path) {
  return path.string();
}

#endif

/// ".npy" of "in/X.NPY"; "" where there is none.
inline std::string lower_extension(const std::string& path) {
  return lower_case(to_text(to_path(path).extension()));
}

}  // namespace dmlop
