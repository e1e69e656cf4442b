#include "batch/output_paths.hpp"

#include "base/file.hpp"
#include "batch/digest.hpp"
#include "job/confined_files.hpp"

namespace dmlop {
namespace {

// Whether jobs are selected or not, and whichever of them runs first.
void refuse_shared_golden(const BatchJob& job, const CheckedJob& checked, JobFiles& files,
                          Diagnostics& findings) {
  for (const NamedFile& golden : checked.golden_files()) {
    if (may_have_several_writers(golden.path) ||
        !files.is_of_another(written_path(golden.path), job))
      continue;
    findings.push_back(
        {.message = "the golden file of " + golden.tensor +
                    " belongs to another job of this "
                    "batch, too: " +
                    golden.path,
         .rule = "--update-golden replaces no file that another job reads or is compared with",
         .suggestion = "give the job a golden file of its own"});
  }
}

void refuse_output(const NamedFile& output, const std::string& why, const BatchOptions& options,
                   Diagnostics& findings) {
  findings.push_back({.message = output.tensor + " goes to " + output.path + ", which " + why,
                      .rule = options.update_golden != UpdateGolden::no
                                  ? "every job of a batch has outputs of its own, and with "
                                    "--update-golden golden files, too"
                                  : "every job of a batch has outputs of its own",
                      .suggestion = options.output_folder.empty()
                                        ? "write it to another file, or use --out"
                                        : "give the job or the file another name"});
}

// What one job writes for another one might come too late, and its golden file would be lost.
void refuse_files_of_others(const BatchJob& job, const CheckedJob& checked,
                            const BatchOptions& options, JobFiles& files, Diagnostics& findings) {
  for (const NamedFile& output : checked.outputs()) {
    if (!may_have_several_writers(output.path) &&
        files.is_of_another(written_path(output.path), job))
      refuse_output(output, "another job of this batch reads or is compared with", options,
                    findings);
  }
}

}  // namespace

OutputPaths::OutputPaths(const std::vector<std::string>& reports) {
  for (const std::string& report : reports) {
    if (!report.empty() && !may_have_several_writers(report)) reports_.insert(written_path(report));
  }
}

bool OutputPaths::claim(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  return claimed_.add(short_digest(path), 1) == 0;
}

void check_below_output_folder(const BatchJob& job, const BatchOptions& options,
                               const std::string& path,
                               PathProblem (Confinement::*problem_of)(const std::string&) const,
                               Diagnostics& findings) {
  if (!job.request.confinement) return;
  const Confinement confinement(options.output_folder);
  if (const PathProblem problem = (confinement.*problem_of)(path))
    findings.push_back(confinement_finding(path, problem, confinement));
}

// If two jobs wrote one file, one result would be lost at random. Whoever uses a worker on
// standard input knows which answers have been read, and may reuse a file.
void claim_outputs(const BatchJob& job, const CheckedJob& checked, const BatchOptions& options,
                   bool updates, OutputPaths& outputs, JobFiles& files, Diagnostics& findings) {
  if (updates) refuse_shared_golden(job, checked, files, findings);
  const bool may_write_again = job.place.starts_with("-:");
  if (!may_write_again) refuse_files_of_others(job, checked, options, files, findings);
  if (!findings.empty()) return;
  std::set<std::string> claimed;
  std::vector<NamedFile> written = checked.outputs();
  const std::vector<NamedFile> golden = checked.golden_files();
  // Those of a job that keeps its own are not to be replaced for another one.
  if (options.update_golden != UpdateGolden::no)
    written.insert(written.end(), golden.begin(), golden.end());
  for (const NamedFile& output : written) {
    if (may_have_several_writers(output.path)) continue;
    const std::string path = written_path(output.path);
    if (!claimed.insert(path).second) {
      if (!checked.may_write_again())
        refuse_output(output, "another tensor of the job is for", options, findings);
      continue;
    }
    if (outputs.is_report(path))
      refuse_output(output, "this batch writes as its report", options, findings);
    else if (!may_write_again && !outputs.claim(path))
      refuse_output(output, "another job of this batch writes", options, findings);
  }
}

}  // namespace dmlop
