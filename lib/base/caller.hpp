// Who calls dmlop, and so what a message calls an option.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dmlop {

enum class Caller : std::uint8_t { program, library };

/// While a CallerScope lives, messages that its thread makes are for a caller of that kind. The
/// innermost one counts; without any, it is the program.
class CallerScope {
 public:
  explicit CallerScope(Caller caller);
  CallerScope(const CallerScope&) = delete;
  CallerScope& operator=(const CallerScope&) = delete;
  ~CallerScope();

 private:
  Caller outer_;
};

Caller current_caller();

/// An option in the words of the caller, "--device vulkan:0" or `device "vulkan:0"`, from its name
/// on the command line. Errors: std::logic_error for an option that calls of the library do not
/// have.
std::string option_text(std::string_view option, std::string_view value = "");

}  // namespace dmlop
