// Reports of a batch for machines, and for people who did not watch it: JUnit, GitHub, HTML.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "batch/result.hpp"

namespace dmlop {

/// The data of every report. Results carry records and, for HTML, pictures.
struct BatchReport {
  std::string title;  // what was run: "samples"
  std::string version;
  const BatchSummary& summary;
  const std::vector<BatchResult>& results;
};

/// JUnit XML. A failure is a job that differs; an error is one that could not be compared. Warnings
/// are the job's system-out.
std::string junit_xml(const BatchReport& report);

/// Workflow commands that annotate the first 10 jobs that did not pass, and the first 10 warnings.
std::string github_annotations(const std::vector<BatchResult>& results);
/// Markdown for a step summary: the counts, the first 50 jobs that did not pass, and the first 50
/// warnings.
std::string github_step_summary(const BatchReport& report);

/// One self-contained page (pages/report.html with its data).
std::string html_report(const BatchReport& report);

/// A report that is one file, written when all jobs have ended.
struct ReportFormat {
  const char* option;          // of dmlop batch; its value is the file, or - for standard output
  const char* description;     // of the option
  std::string_view beginning;  // of all such files, as no other file is replaced
  bool shows_differences;      // it needs the records and the pictures of jobs
  const char* variable;        // of the environment, names the file without the option; "": none
  std::string (*text)(const BatchReport& report);
};

/// The reports that are files, in one place: what else knows one asks here.
inline constexpr std::array report_formats{
    ReportFormat{"--junit", "Write JUnit XML", "<?xml", false, "XML_OUTPUT_FILE", junit_xml},
    ReportFormat{"--html", "Write an HTML report", "<!DOCTYPE html>", true, "", html_report},
};
// Without a beginning, a report would replace any file. (g++ 13 cannot compare the function here
// where it looks for undefined behavior.)
static_assert(std::ranges::all_of(report_formats, [](const ReportFormat& format) {
  return !format.beginning.empty();
}));

}  // namespace dmlop
