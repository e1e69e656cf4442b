// Puts .npy files and tensors together: which file belongs to which tensor, and whether they agree.
#pragma once

#include "job/job.hpp"

namespace dmlop {

/// The field that a file's name is about: "InputTensors" for "InputTensors.0".
std::string field_of_file(const std::string& name);

/// Splits the texts of the bindings into paths and the forms of raw files. What is wrong in them is
/// a finding.
void read_file_texts(Description& description, Diagnostics& diagnostics);

/// A path that is written in `file` and relative to it; "-" and what stands in "-" stay as they
/// are.
std::string path_beside(const std::string& file, const std::string& path);

/// Adds a finding for each path of the description, and each file that was found beside it, that
/// the request's confinement refuses; false where there is one. Nothing is opened.
bool check_confined(const Description& description, const JobRequest& request,
                    Diagnostics& diagnostics);

/// Adds a finding for each of the files that its confinement refuses. Nothing is opened.
void check_confined(const std::vector<NamedFile>& files, Diagnostics& diagnostics);

/// The finding that a path which stands at `written` is refused.
Diagnostic confinement_finding(const json::Document& document, const json::Value& written,
                               const std::string& name, const PathProblem& problem,
                               const Confinement& confinement);

/// The finding that a file or folder which was found is refused.
Diagnostic confinement_finding(const std::string& path, const PathProblem& problem,
                               const Confinement& confinement);

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

/// Whether there is no such file. Errors: io_failed if the system cannot tell, as it may exist.
bool is_absent(const std::string& path);

}  // namespace dmlop
