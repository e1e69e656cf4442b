// Reports of a batch for machines and people that were not there: JUnit, GitHub, HTML.
#pragma once

#include <string>
#include <vector>

#include "batch/result.hpp"

namespace dmlop {

/// What every report needs; results carry records, for HTML also pictures.
struct BatchReport {
  std::string title;  // what was run: "samples"
  std::string version;
  const BatchSummary& summary;
  const std::vector<BatchResult>& results;
};

/// JUnit XML: failures differ, errors could not be compared.
std::string junit_xml(const BatchReport& report);

/// Workflow commands that annotate the first 10 jobs that went wrong.
std::string github_annotations(const std::vector<BatchResult>& results);
/// Markdown for a step summary: counts, and the first 50 jobs that went wrong.
std::string github_step_summary(const BatchReport& report);

/// One page that needs nothing else (batch/report.html, with its data).
std::string html_report(const BatchReport& report);

}  // namespace dmlop
