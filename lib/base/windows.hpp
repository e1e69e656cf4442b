// Includes Windows.h with as few macros as possible, and converts text between UTF-8 and Windows'
// UTF-16.
#pragma once

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <string>
#include <string_view>

namespace dmlop {

std::wstring to_utf16(std::string_view text);
std::string to_utf8(std::wstring_view text);

/// While a Utf8Console lives, the console of this process shows UTF-8.
class Utf8Console {
 public:
  Utf8Console() : before_(GetConsoleOutputCP()) { SetConsoleOutputCP(CP_UTF8); }
  Utf8Console(const Utf8Console&) = delete;
  Utf8Console& operator=(const Utf8Console&) = delete;
  ~Utf8Console() {
    if (before_ != 0) SetConsoleOutputCP(before_);
  }

 private:
  UINT before_;
};

}  // namespace dmlop
