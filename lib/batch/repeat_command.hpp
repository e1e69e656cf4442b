// The command that repeats one job of a batch.
#pragma once

#include <string>

#include "batch/batch.hpp"

namespace dmlop {

/// A line for a POSIX shell that runs only this job; "" if the line would be too long.
std::string repeat_command(const BatchJob& job, const BatchOptions& options);

/// Rewrites the command so that one_line() leaves it unchanged and a shell reads it as the same
/// command.
std::string one_line_command(const std::string& command);

/// Longer descriptions are neither kept in records nor repeated.
inline constexpr std::size_t recorded_bytes_max = std::size_t{1} << 20;

}  // namespace dmlop
