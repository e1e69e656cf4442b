// The command that repeats one job of a batch.
#pragma once

#include <string>

#include "batch/batch.hpp"

namespace dmlop {

/// A line for a POSIX shell that runs the job alone; "" where it would be too long.
std::string repeat_command(const BatchJob& job, const BatchOptions& options);

/// The command as text that one_line() leaves as it is, and that a shell takes as the same.
std::string one_line_command(const std::string& command);

/// A description that is longer is not kept in records, nor repeated.
inline constexpr std::size_t recorded_bytes_max = std::size_t{1} << 20;

}  // namespace dmlop
