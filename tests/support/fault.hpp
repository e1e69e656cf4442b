// Runs the program on a system where one call after another fails (preload/faults.cpp).
#pragma once

#include <functional>
#include <sstream>
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
  std::string effect;    // an errno, "one", "half", "signal 9", or what happens to a mapped file
  bool lasting = false;  // all calls from the first one that fails
};

inline std::string to_text(const Fault& fault, unsigned number) {
  return fault.calls + " " + fault.effect + " at " + std::to_string(number) +
         (fault.lasting ? " and later" : "");
}

/// The variables for a system that has no files without names.
inline const std::vector<std::string> without_unnamed_files{"LD_PRELOAD=" DMLOP_FAULTS,
                                                            "DMLOP_WITHOUT_UNNAMED_FILES=1"};

/// The calls that change what files and folders hold.
inline const std::string changes_of_files =
    "tmpfile,open,posix_fallocate,ftruncate,write,pwrite,fchmod,close,linkat,rename,mkdir";

/// The variables for a program that gets the signal before one of these calls, the `number`th.
inline std::vector<std::string> signal_at(const std::string& calls, unsigned number, int signal) {
  return {"LD_PRELOAD=" DMLOP_FAULTS, "DMLOP_FAULT_CALLS=" + calls,
          "DMLOP_FAULT=signal " + std::to_string(signal),
          "DMLOP_FAULT_AT=" + std::to_string(number)};
}

/// The call that failed, the first of them where several did.
struct FailedCall {
  std::string call;
  std::string access;  // "reading" or "writing" of an open file, "-" of another call
  std::string path;    // "" where it has none
};

/// A call whose failure may change nothing. The list is closed: any other call that fails ends the
/// program with an exit code and the reason. Who adds a row says why no user is told less.
struct HarmlessCall {
  std::string call;
  std::string access;
  std::string path_part;  // "" is in any
  std::string why;
};
inline const std::vector<HarmlessCall> harmless_calls{
    {"close", "reading", "", "what was read is known"},
    {"close", "writing", "named since", "a copy was closed before, and would have told"},
    {"tmpfile", "-", "", "the file gets a name from the beginning"},
    {"fstat", "writing", "/output", "standard output is written alike, whatever it is"},
    {"fstat", "reading", "/jobs.jsonl", "lines are read alike, whatever has them"},
    {"stat", "-", "",
     "what two paths name is told apart by their text, and permissions are compared"},
    {"lstat", "-", "", "likewise"},
    {"readlink", "-", "", "likewise"},
    {"open", "-", "out/", "a record without an output's digest proves nothing to --resume"},
    {"read", "reading", "/out/", "likewise"},
    {"fstat", "reading", "/out/", "likewise"},
    {"mmap", "reading", "/out/", "likewise, where the output is old enough to be mapped"},
};

inline const HarmlessCall* find_harmless(const FailedCall& failed) {
  for (const HarmlessCall& row : harmless_calls) {
    if (row.call == failed.call && row.access == failed.access &&
        failed.path.find(row.path_part) != std::string::npos)
      return &row;
  }
  return nullptr;
}

/// One call that is made to fail in one start of the program.
class Injection {
 public:
  Injection(const Fault& fault, unsigned number, std::string happened)
      : fault_(fault), number_(number), happened_(std::move(happened)) {}

  const Fault& fault() const { return fault_; }

  /// The variables that make the call fail.
  std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" DMLOP_FAULTS, "DMLOP_FAULT_CALLS=" + fault_.calls,
            "DMLOP_FAULT=" + fault_.effect,
            "DMLOP_FAULT_AT=" + std::to_string(number_) + (fault_.lasting ? "+" : ""),
            "DMLOP_FAULT_HAPPENED=" + happened_};
  }

  /// Whether the program came to the call.
  bool has_happened() const { return std::filesystem::exists(happened_); }

  FailedCall failed() const {
    std::istringstream text(read_file(happened_));
    FailedCall failed;
    text >> failed.call >> failed.access;
    std::getline(text >> std::ws, failed.path);
    return failed;
  }

  /// Whether the program may have gone on as if nothing had happened: because nothing had, or it
  /// happened to one of harmless_calls.
  bool may_be_ignored() const { return !has_happened() || find_harmless(failed()) != nullptr; }

 private:
  Fault fault_;
  unsigned number_;
  std::string happened_;
};

/// Fails where the program went on as if nothing had happened and harmless_calls does not say why.
inline void check_may_be_ignored(const Injection& injection) {
  if (injection.may_be_ignored()) return;
  const FailedCall failed = injection.failed();
  FAIL_CHECK("the program ignored that " << failed.call << " (" << failed.access << ") failed on "
                                         << failed.path);
}

/// Calls `run`, which starts the program with the variables and checks what became of it, for each
/// call (or each `step`th) until no call is left to fail. Returns how many faults there were.
inline unsigned for_each_fault(const Fault& fault,
                               const std::function<void(const Injection& injection)>& run,
                               unsigned step = 1) {
  const Folder folder;
  for (unsigned number = 1, faults = 0;; number += step, ++faults) {
    CAPTURE(to_text(fault, number));
    const Injection injection(fault, number, folder / ("at-" + std::to_string(number)));
    run(injection);
    if (!injection.has_happened()) return faults;
  }
}

}  // namespace dmlop::test
