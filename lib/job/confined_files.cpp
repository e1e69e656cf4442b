#include "job/confined_files.hpp"

#include <filesystem>

#include "base/path.hpp"
#include "job/file_names.hpp"

namespace dmlop {

Diagnostic confinement_finding(const json::Document& document, const json::Value& written,
                               const std::string& name, const PathProblem& problem,
                               const Confinement& confinement) {
  Diagnostic diagnostic =
      document.at(written, name + " is " + json::describe(written) + ", which " + problem.what);
  diagnostic.rule = confinement.rule();
  diagnostic.suggestion = problem.remedy;
  return diagnostic;
}

Diagnostic confinement_finding(const std::string& path, const PathProblem& problem,
                               const Confinement& confinement) {
  return {.file = path,
          .message = path + " " + problem.what,
          .rule = confinement.rule(),
          .suggestion = problem.remedy};
}

bool check_confined(const Description& description, const JobRequest& request,
                    Diagnostics& diagnostics) {
  if (!request.confinement) return true;
  const Confinement& confinement = *request.confinement;
  const std::size_t before = diagnostics.size();
  for (const Binding& binding : description.bindings) {
    if (binding.path.empty()) continue;  // it has its own finding
    PathProblem problem = confinement.problem_of_text(binding.path);
    if (!problem)
      problem = confinement.problem_of_file(path_beside(description.file(), binding.path));
    if (!problem) continue;
    diagnostics.push_back(confinement_finding(description.document(), *binding.written,
                                              "bindings." + binding.tensor, problem, confinement));
  }
  check_confined(request.inputs, diagnostics);
  check_confined(request.expected, diagnostics);
  return diagnostics.size() == before;
}

void check_confined(const std::vector<NamedFile>& files, Diagnostics& diagnostics) {
  for (const NamedFile& file : files) {
    if (!file.confinement) continue;
    if (const PathProblem problem = file.confinement->problem_of_file(file.path))
      diagnostics.push_back(confinement_finding(file.path, problem, *file.confinement));
  }
}

std::optional<Diagnostic> problem_of_found(const std::string& path,
                                           const SharedConfinement& confinement) {
  if (confinement) {
    const PathProblem problem = confinement->problem_of_file(path);
    return problem ? std::optional(confinement_finding(path, problem, *confinement)) : std::nullopt;
  }
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(to_path(path), ignored);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
      std::filesystem::is_directory(status))
    return std::nullopt;
  return Diagnostic{.file = path,
                    .message = "this is a pipe or a device, which would be waited for",
                    .rule = "files that are found in a folder are regular files",
                    .suggestion = "remove it, or name it on the command line"};
}

}  // namespace dmlop
