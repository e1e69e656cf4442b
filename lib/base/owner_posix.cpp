// POSIX implementation of base/owner.hpp.
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.hpp"

namespace dmlop {

bool is_mine(const std::string& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && found.st_uid == ::geteuid() &&
         !S_ISLNK(found.st_mode);
}

bool is_only_mine(const std::string& path) {
  struct stat found {};
  return is_mine(path) && ::lstat(path.c_str(), &found) == 0 &&
         (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace dmlop
