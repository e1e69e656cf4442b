// Which files of a job its confinement refuses. Nothing is opened here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "job/job.hpp"

namespace dmlop {

/// Adds a finding for each path of the description, and each file that was found beside it, that
/// the request's confinement refuses; false where there is one.
bool check_confined(const Description& description, const JobRequest& request,
                    Diagnostics& diagnostics);

/// Adds a finding for each of the files that its confinement refuses.
void check_confined(const std::vector<NamedFile>& files, Diagnostics& diagnostics);

/// The finding that a path which stands at `written` is refused.
Diagnostic confinement_finding(const json::Document& document, const json::Value& written,
                               const std::string& name, const PathProblem& problem,
                               const Confinement& confinement);

/// The finding that a file or folder which was found is refused.
Diagnostic confinement_finding(const std::string& path, const PathProblem& problem,
                               const Confinement& confinement);

/// What keeps a file from being read that was found, and not named: with a confinement its place,
/// or that it is a pipe or a device, which would be waited for.
std::optional<Diagnostic> problem_of_found(const std::string& path,
                                           const SharedConfinement& confinement);

}  // namespace dmlop
