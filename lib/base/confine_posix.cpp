// POSIX implementation of the parts of base/confine.hpp that look up files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/confine.hpp"
#include "base/system_file.hpp"

namespace dmlop {

std::string real_path(const std::string& path, std::error_code& error) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  error = real ? std::error_code{} : std::error_code{errno, std::generic_category()};
  return real ? real.get() : "";
}

#ifdef __linux__

// The descriptor stands for the file itself. It reads nothing, and opening a pipe this way does not
// wait. The file that is opened later is the same one, by its name in /proc.
PinnedFile::PinnedFile(const SharedConfinement& confinement, const std::string& path)
    : name_(path), path_(path) {
  if (!confinement) return;
  descriptor_ = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (descriptor_ < 0) throw Error(ErrorKind::io_failed, reason({errno, std::generic_category()}));
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  const PathProblem problem = confinement->problem_of_file(path_);
  if (!problem) return;
  ::close(descriptor_);
  throw Error(ErrorKind::invalid_input, "the file " + problem.what);
}

#else

PinnedFile::PinnedFile(const SharedConfinement& confinement, const std::string& path)
    : name_(path), path_(path) {
  if (!confinement) return;
  if (const PathProblem problem = confinement->problem_of_file(path))
    throw Error(ErrorKind::invalid_input, "the file " + problem.what);
}

#endif

PinnedFile::~PinnedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace dmlop
