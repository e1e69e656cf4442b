// Text of several lines.
#pragma once

#include <algorithm>
#include <string>

namespace dmlop::app {

/// Every line with two blanks before it and an end of its own.
inline std::string indented(const std::string& text) {
  std::string lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += "  " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return lines;
}

}  // namespace dmlop::app
