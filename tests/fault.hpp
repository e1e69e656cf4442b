// Runs the program on a system where one call after another fails (preload/faults.cpp).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"
#include "sanitized.hpp"

namespace dmlop::test {

/// Prints a message if calls cannot be made to fail here.
inline bool can_inject_faults() {
  if (is_sanitized)
    MESSAGE("SKIPPED: a sanitizer takes the place of the library that makes calls fail");
  return !is_sanitized;
}

/// How calls fail.
struct Fault {
  std::string calls;     // "write,pwrite"
  std::string effect;    // an errno, "one", "half", or what happens to a mapped file
  bool lasting = false;  // all calls from the first one that fails
};

inline std::string to_text(const Fault& fault, unsigned number) {
  return fault.calls + " " + fault.effect + " at " + std::to_string(number) +
         (fault.lasting ? " and later" : "");
}

/// The variables for a system that has no files without names.
inline const std::vector<std::string> without_unnamed_files{"LD_PRELOAD=" DMLOP_FAULTS,
                                                            "DMLOP_WITHOUT_UNNAMED_FILES=1"};

/// The variables that make call `number` of a program fail. The program then creates the file
/// `happened`.
inline std::vector<std::string> environment_of(const Fault& fault, unsigned number,
                                               const std::string& happened) {
  return {"LD_PRELOAD=" DMLOP_FAULTS, "DMLOP_FAULT_CALLS=" + fault.calls,
          "DMLOP_FAULT=" + fault.effect,
          "DMLOP_FAULT_AT=" + std::to_string(number) + (fault.lasting ? "+" : ""),
          "DMLOP_FAULT_HAPPENED=" + happened};
}

/// Calls `run` for each call (or each `step`th) until no call is left to fail. `run` starts the
/// program with the variables and checks the result. Returns the number of faults.
inline unsigned for_each_fault(
    const Fault& fault, const std::function<void(const std::vector<std::string>& environment)>& run,
    unsigned step = 1) {
  const Folder folder;
  for (unsigned number = 1, faults = 0;; number += step, ++faults) {
    CAPTURE(to_text(fault, number));
    const std::string happened = folder / ("at-" + std::to_string(number));
    run(environment_of(fault, number, happened));
    if (!std::filesystem::exists(happened)) return faults;
  }
}

}  // namespace dmlop::test
