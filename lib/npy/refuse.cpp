#include "npy/refuse.hpp"

#include "base/error.hpp"

namespace dmlop::npy {

void refuse(const std::string& message) {
  throw Error(ErrorKind::invalid_input, message);
}

void refuse_truncated(const std::string& where) {
  refuse("the file is truncated: " + where + "; copy or save it again");
}

std::string printable(std::string_view bytes) {
  constexpr std::size_t max_shown = 60;
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text;
  for (const char c : bytes.substr(0, max_shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  if (bytes.size() > max_shown) text += "...";
  return text;
}

}  // namespace dmlop::npy
