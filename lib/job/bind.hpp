// Puts .npy files and tensors together: which file belongs to which tensor, and whether they agree.
#pragma once

#include "job/job.hpp"

namespace dmlop {

/// Opens the input files, completes the description's inputs from their headers and adds a finding
/// for each disagreement, unknown name and file that cannot be read.
std::vector<BoundInput> bind_inputs(Description& description, const JobRequest& request,
                                    Purpose purpose, Diagnostics& diagnostics);

/// Makes up the numbers of the inputs that have no file, as the description is complete now. For
/// Purpose::check there are no such inputs afterwards. Numbers that a field cannot have are
/// findings.
void make_random_inputs(const Description& description, std::vector<BoundInput>& inputs,
                        Purpose purpose, Diagnostics& diagnostics);

/// Finds each output's path. An output that is also an input, or the description, is a finding.
std::vector<BoundOutput> bind_outputs(Description& description, const JobRequest& request,
                                      Purpose purpose, Diagnostics& diagnostics);

/// Opens the .npy files among the golden files of outputs. One that cannot be read is a finding,
/// unless it does not exist and the request allows that; so is one that an output would replace.
/// Tolerances are the request's.
std::vector<Expectation> bind_expected(Description& description, const JobRequest& request,
                                       const std::vector<BoundOutput>& outputs,
                                       Diagnostics& diagnostics);

/// Opens the raw golden files, when the types and sizes of the outputs are known. One that cannot
/// be read, or has another size, is a finding.
void open_raw_expected(const Description& description, const JobRequest& request,
                       std::vector<Expectation>& expected, Diagnostics& diagnostics);

}  // namespace dmlop
