#include "base/caller.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace dmlop {
namespace {

thread_local Caller caller_of_thread = Caller::program;

struct Option {
  std::string_view name;
  std::string_view argument;  // of the public interfaces: dmlop.h, dmlop.hpp and Python
  bool is_number = false;     // else its value is a text
};

constexpr std::array options{
    Option{"--as", "the judge"},  // `as` in C and C++, `judge` in Python
    Option{"--atol", "atol", true},
    Option{"--confine", "confined_to"},
    Option{"--cpu", "device \"cpu\""},
    Option{"--device", "device"},
    Option{"--device-memory", "device_memory_bytes", true},
    Option{"--feature-level", "feature_level"},
    Option{"--host-memory", "host_memory_bytes", true},
    Option{"--rtol", "rtol", true},
    Option{"--strict-indices", "strict_indices"},
    Option{"--ulp", "ulp", true},
};

}  // namespace

CallerScope::CallerScope(Caller caller) : outer_(caller_of_thread) {
  caller_of_thread = caller;
}
CallerScope::~CallerScope() {
  caller_of_thread = outer_;
}

Caller current_caller() {
  return caller_of_thread;
}

std::string option_text(std::string_view option, std::string_view value) {
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& row) { return row.name == option; });
  if (found == options.end())
    throw std::logic_error("no call has the option " + std::string(option));
  const bool is_program = current_caller() == Caller::program;
  std::string text(is_program ? option : found->argument);
  if (value.empty()) return text;
  const std::string quote = is_program || found->is_number ? "" : "\"";
  return text + " " + quote + std::string(value) + quote;
}

}  // namespace dmlop
