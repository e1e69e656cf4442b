// Exceptions that end a job. They say what was being done. Findings about a description are values
// instead (base/diagnostic.hpp). The command line maps each kind to an exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace dmlop {

enum class ErrorKind {
  usage,          // the command line itself is wrong
  invalid_input,  // a JSON file, description or .npy file is wrong
  unavailable,    // valid, but this build or this machine cannot do it
  run_failed,     // the device or the computation failed
  device_lost,    // the device failed and will run nothing more
  io_failed,      // a file could not be read or written
  interrupted,    // the user or the system asked to stop
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// Throws an Error of a file that could not be read or written.
[[noreturn]] inline void fail_io(const std::string& message) {
  throw Error(ErrorKind::io_failed, message);
}

/// Calls `action`. An Error that leaves it gets "CONTEXT: " in front of its message.
template <typename Action>
decltype(auto) with_context(std::string_view context, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const Error& error) {
    throw Error(error.kind(), std::string(context) + ": " + error.what());
  }
}

}  // namespace dmlop
