// The exit codes in one table. --help, the man page and the README show it, and a batch records the
// one that a run of each job alone would end with.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace dmlop {

enum ExitCode : int {
  exit_done = 0,
  exit_different = 1,
  exit_usage = 2,
  exit_invalid = 3,
  exit_unavailable = 4,
  exit_run_failed = 5,
  exit_io_failed = 6,
  exit_interrupted = 130,
};

struct ExitCodeInfo {
  ExitCode code;
  std::string_view meaning;
};

inline constexpr std::array<ExitCodeInfo, 8> exit_codes{{
    {exit_done, "done"},
    {exit_different,
     "compared and different, or slower; or a golden file was written, or a comparison proved "
     "nothing"},
    {exit_usage, "wrong usage"},
    {exit_invalid, "invalid input: JSON, description, .npy or feature level"},
    {exit_unavailable, "valid, but not available here: no such device, or it lacks a kernel"},
    {exit_run_failed, "the device or the run failed, or results to merge are missing"},
    {exit_io_failed, "reading or writing a file failed"},
    {exit_interrupted, "interrupted (terminated: 143)"},
}};

constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return exit_usage;
    case ErrorKind::invalid_input:
      return exit_invalid;
    case ErrorKind::unavailable:
      return exit_unavailable;
    case ErrorKind::run_failed:
    case ErrorKind::device_lost:
      return exit_run_failed;
    case ErrorKind::io_failed:
      return exit_io_failed;
    case ErrorKind::interrupted:
      return exit_interrupted;
  }
  return exit_run_failed;
}

}  // namespace dmlop
