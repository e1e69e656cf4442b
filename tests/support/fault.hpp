// Runs the program on a system where one call after another fails (preload/faults.cpp).
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "paths.hpp"
#include "program.hpp"
#include "sanitized.hpp"

namespace dmlop::test {

/// Prints a message if calls cannot be made to fail here.
bool can_inject_faults();

/// How calls fail.
struct Fault {
  std::string calls;     // "write,pwrite"
  std::string effect;    // an errno, "one", "half", "signal 9", or what happens to a mapped file
  bool lasting = false;  // all calls from the first one that fails
};

std::string text_of(const Fault& fault, unsigned number);

/// The variables for a system that has no files without names.
inline const std::vector<std::string> without_unnamed_files{"LD_PRELOAD=" + faults_path(),
                                                            "DMLOP_WITHOUT_UNNAMED_FILES=1"};

/// The calls that change what files and folders hold.
inline const std::string changes_of_files =
    "tmpfile,open,posix_fallocate,ftruncate,write,pwrite,fchmod,close,linkat,rename,mkdir";

/// The variables for a program that gets the signal before one of these calls, the `number`th.
std::vector<std::string> signal_at(const std::string& calls, unsigned number, int signal);

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
extern const std::vector<HarmlessCall> harmless_calls;

const HarmlessCall* find_harmless(const FailedCall& failed);

/// One call that is made to fail in one start of the program.
class Injection {
 public:
  Injection(const Fault& fault, unsigned number, std::string happened)
      : fault_(fault), number_(number), happened_(std::move(happened)) {}

  const Fault& fault() const { return fault_; }

  /// The variables that make the call fail.
  std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" + faults_path(), "DMLOP_FAULT_CALLS=" + fault_.calls,
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
void check_may_be_ignored(const Injection& injection);

/// Calls `run`, which starts the program with the variables and checks what became of it, for each
/// call (or each `step`th) until no call is left to fail. Returns how many faults there were.
unsigned for_each_fault(const Fault& fault,
                        const std::function<void(const Injection& injection)>& run,
                        unsigned step = 1);

}  // namespace dmlop::test
