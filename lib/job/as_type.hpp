// The same computation in another floating-point type, which shows how much of a difference is
// rounding: --as-type of dmlop run.
#pragma once

#include <optional>
#include <string>

#include "base/diagnostic.hpp"
#include "job/job.hpp"

namespace dmlop {

/// A checked description with `type` in place of each floating-point type, completed and checked.
/// Nothing, with a finding that names the types that its operator accepts, if this is none of them.
/// `title` is what the finding calls the operator.
std::optional<Description> description_as(DataType type, const Description& description,
                                          const std::string& title, Diagnostics& diagnostics);

/// Converts a golden file of floating-point numbers of another type. Errors: io_failed.
void convert_file(DataType type, NpyFile& file, const std::string& path);

/// Changes a job that was prepared: description, inputs and golden files. Adds a finding if it has
/// nothing in floating point, or if the operator does not accept the type. `tolerance` is the one
/// that was given. Errors: io_failed.
void compute_as(DataType type, Job& job, const std::optional<Tolerance>& tolerance,
                Diagnostics& diagnostics);

/// Whether a tensor or a number of a description is in floating point, and the finding where
/// nothing is.
bool has_floating_type(const Description& description);
Diagnostic nothing_to_compute_as(DataType type, const std::string& file);

/// What a command line calls this.
std::string as_type_option(DataType type);

}  // namespace dmlop
