#include "fault.hpp"

#include "paths.hpp"

namespace dmlop::test {

const std::vector<HarmlessCall> harmless_calls{
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

bool can_inject_faults() {
  if (is_sanitized)
    MESSAGE("SKIPPED: a sanitizer takes the place of the library that makes calls fail");
  return !is_sanitized;
}

std::string text_of(const Fault& fault, unsigned number) {
  return fault.calls + " " + fault.effect + " at " + std::to_string(number) +
         (fault.lasting ? " and later" : "");
}

std::vector<std::string> signal_at(const std::string& calls, unsigned number, int signal) {
  return {"LD_PRELOAD=" + faults_path(), "DMLOP_FAULT_CALLS=" + calls,
          "DMLOP_FAULT=signal " + std::to_string(signal),
          "DMLOP_FAULT_AT=" + std::to_string(number)};
}

const HarmlessCall* find_harmless(const FailedCall& failed) {
  for (const HarmlessCall& row : harmless_calls) {
    if (row.call == failed.call && row.access == failed.access &&
        failed.path.find(row.path_part) != std::string::npos)
      return &row;
  }
  return nullptr;
}

void check_may_be_ignored(const Injection& injection) {
  if (injection.may_be_ignored()) return;
  const FailedCall failed = injection.failed();
  FAIL_CHECK("the program ignored that " << failed.call << " (" << failed.access << ") failed on "
                                         << failed.path);
}

unsigned for_each_fault(const Fault& fault,
                        const std::function<void(const Injection& injection)>& run, unsigned step) {
  const Folder folder;
  for (unsigned number = 1, faults = 0;; number += step, ++faults) {
    CAPTURE(text_of(fault, number));
    const Injection injection(fault, number, folder / ("at-" + std::to_string(number)));
    run(injection);
    if (!injection.has_happened()) return faults;
  }
}

}  // namespace dmlop::test
