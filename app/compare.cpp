// dmlop compare: compares two files, .npy or raw, element by element.
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
  FileText actual;
  FileText expected;
  ToleranceOptions tolerance;
  std::string heatmap;
  Format format = Format::text;
  bool quiet = false;
};

NpyFile open_file(const std::string& path, const std::optional<RawForm>& form = std::nullopt) {
  return with_context("reading " + path,
                      [&] { return NpyFile::open(PinnedFile(nullptr, path), form); });
}

/// The two files. What a raw one leaves open is what the other has.
struct OpenedFiles {
  NpyFile actual, expected;
};

NpyFile open_like(const FileText& file, std::optional<DataType> type, const Sizes& sizes) {
  const RawForm form = file.raw->completed(type, sizes);
  if (!form.data_type)
    throw Error(ErrorKind::usage, "nothing says the type of " + file.path + ": write " + file.path +
                                      ":FLOAT32, or another type");
  return open_file(file.path, form);
}

OpenedFiles open_files(const FileText& actual, const FileText& expected) {
  if (!actual.raw) {
    NpyFile opened = open_file(actual.path);
    const NpyHeader header = opened.header();
    if (!expected.raw) return {std::move(opened), open_file(expected.path)};
    return {std::move(opened), open_like(expected, header.data_type, header.sizes)};
  }
  if (!expected.raw) {
    NpyFile opened = open_file(expected.path);
    const NpyHeader header = opened.header();
    return {open_like(actual, header.data_type, header.sizes), std::move(opened)};
  }
  const RawForm &a = *actual.raw, &b = *expected.raw;
  return {open_like(actual, b.data_type, b.sizes), open_like(expected, a.data_type, a.sizes)};
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
                                {"actual", options.actual.path},
                                {"expected", options.expected.path}};
    json.update(to_json(comparison));
    print_json(json);
  } else if (!options.quiet) {
    print({name_of(verdict), ": ", options.actual.path, ": ", comparison.summary(), "\n",
           Text::lines(to_text(comparison))});
  }
}

int compare_files(const CompareOptions& options) {
  for (const std::string& input : {options.actual.path, options.expected.path}) {
    if (!options.heatmap.empty() && is_same_file(input, options.heatmap))
      throw Error(ErrorKind::usage,
                  "--heatmap would replace " + input + "; write it to another file");
  }
  const auto [actual, expected] = open_files(options.actual, options.expected);
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
  require_intact(actual, options.actual.path);
  require_intact(expected, options.expected.path);
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
  const auto take = [](FileText& to) {
    return [&to](const std::string& text) { to = parse_file_argument(text); };
  };
  command
      .add_option_function(
          "ACTUAL.npy", take(options->actual),
          "The computed file; - is standard input. A raw file is FILE:raw with the "
          "type and sizes of the other, or FILE:TYPE:SIZES")
      .required();
  command.add_option_function("EXPECTED.npy", take(options->expected), "The expected file")
      .required();
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
