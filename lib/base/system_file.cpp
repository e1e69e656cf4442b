// What is the same on every system.
#include "base/system_file.hpp"

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

}  // namespace dmlop
