// dmlop compare: compares two .npy files element by element.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/output.hpp"
#include "base/parallel.hpp"
#include "command.hpp"
#include "compare/comparison_json.hpp"
#include "compare/comparison_text.hpp"
#include "compare/picture.hpp"
#include "exit_codes.hpp"
#include "tolerance_options.hpp"

namespace dmlop::app {
namespace {

struct CompareOptions {
  std::string actual;
  std::string expected;
  ToleranceOptions tolerance;
  std::string heatmap;
  Format format = Format::text;
  bool quiet = false;
};

NpyFile open_file(const std::string& path) {
  return with_context("reading " + path, [&] { return NpyFile::open(path); });
}

void write_heatmap(const std::string& path, const Png& png) {
  OutputFile file(path, png.size());
  file.write_at(0, png);
  file.commit();
}

void print_compared(const CompareOptions& options, const Comparison& comparison) {
  const Verdict verdict = comparison.verdict();
  const bool passed = verdict == Verdict::passed;
  if (options.format == Format::json) {
    nlohmann::ordered_json json{{"status", passed ? "done" : "different"},
                                {"exitCode", static_cast<int>(passed ? exit_done : exit_different)},
                                {"actual", options.actual},
                                {"expected", options.expected}};
    json.update(to_json(comparison));
    print_json(json);
  } else if (!options.quiet) {
    print({name_of(verdict), ": ", options.actual, ": ", comparison.summary(), "\n",
           Text::lines(to_text(comparison))});
  }
}

int compare_files(const CompareOptions& options) {
  for (const std::string& input : {options.actual, options.expected}) {
    if (!options.heatmap.empty() && is_same_file(input, options.heatmap))
      throw Error(ErrorKind::usage,
                  "--heatmap would replace " + input + "; write it to another file");
  }
  const NpyFile actual = open_file(options.actual);
  const NpyFile expected = open_file(options.expected);
  stop_jobs_gently();
  Tolerance tolerance = options.tolerance.tolerance;
  tolerance.origin = options.tolerance.given() ? "command line" : "default";
  const Elements actual_elements(actual);
  const Elements expected_elements(expected);
  const Comparison comparison =
      compare(actual_elements, expected_elements, tolerance, hardware_threads());
  std::optional<Png> heatmap;
  if (!options.heatmap.empty() && comparison.unlike.empty() && comparison.elements != 0)
    heatmap = error_picture(actual_elements, expected_elements, tolerance.nan_equals_nan);
  require_intact(actual, options.actual);
  require_intact(expected, options.expected);
  if (heatmap) {
    write_heatmap(options.heatmap, *heatmap);
  } else if (!options.heatmap.empty()) {
    print(StandardStream::error, {"dmlop: there is nothing to draw in ", options.heatmap, "\n"});
  }
  print_compared(options, comparison);
  return comparison.verdict() == Verdict::passed ? exit_done : exit_different;
}

}  // namespace

Action add_compare(OptionList& command) {
  const auto options = std::make_shared<CompareOptions>();
  command.add_option("ACTUAL.npy", options->actual, "The computed file; - is standard input")
      .required();
  command.add_option("EXPECTED.npy", options->expected, "The expected file").required();
  options->tolerance.add_to(command);
  command
      .add_option("--heatmap", options->heatmap,
                  "Write a picture of the differences over the last two axes, as PNG")
      .type_name("FILE");
  add_format_option(command, options->format);
  command.add_flag("-q,--quiet", options->quiet, "Print nothing; the exit code tells");
  return
      [options] { return report_errors(options->format, [&] { return compare_files(*options); }); };
}

}  // namespace dmlop::app
