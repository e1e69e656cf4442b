// The parts of base/system_file.hpp that are the same on every system.
#include "base/system_file.hpp"

#include <random>
#include <string_view>
#include <utility>

namespace dmlop {

SystemFile::SystemFile(SystemFile&& other) noexcept
    : handle_(std::exchange(other.handle_, none)), is_owned_(other.is_owned_) {}

SystemFile& SystemFile::operator=(SystemFile&& other) noexcept {
  close();
  handle_ = std::exchange(other.handle_, none);
  is_owned_ = other.is_owned_;
  return *this;
}

FileChange change_between(const FileStatus& before, const FileStatus& now) {
  if (now.device != before.device || now.number != before.number) return FileChange::none;
  if (now.bytes < before.bytes) return FileChange::shorter;
  if (now.bytes > before.bytes) return FileChange::longer;
  return now.modified_nanoseconds != before.modified_nanoseconds ? FileChange::rewritten
                                                                 : FileChange::none;
}

std::string random_letters() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567";
  std::random_device random;
  std::string text;
  for (int i = 0; i < 12; ++i) text += letters[random() % letters.size()];
  return text;
}

}  // namespace dmlop
