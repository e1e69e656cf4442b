// dmlop compare: compares two files, .npy or raw, or the files of two folders.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "command.hpp"
#include "compare_files.hpp"
#include "compare_folders.hpp"

namespace dmlop::app {
namespace {

struct CompareOptions {
  FileText actual;
  FileText expected;
  ComparingOptions comparing;
  std::string heatmap;
  Format format = Format::text;
  bool quiet = false;
};

void write_heatmap(const std::string& path, const Png& png) {
  OutputFile file(path, png.size());
  file.write_at(0, png);
  file.commit();
}

void print_compared(const CompareOptions& options, const ComparedFiles& compared) {
  const Verdict verdict = compared.comparison.verdict();
  const bool passed = verdict == Verdict::passed;
  if (options.format == Format::json) {
    nlohmann::ordered_json json{{"status", passed ? "done" : "different"},
                                {"exitCode", static_cast<int>(passed ? exit_done : exit_different)},
                                {"actual", options.actual.path},
                                {"expected", options.expected.path}};
    json.update(comparison_json(compared));
    print_json(json);
  } else if (!options.quiet) {
    print({name_of(verdict), ": ", options.actual.path, ": ", compared.comparison.summary(), "\n",
           Text::lines(comparison_text(compared))});
  }
}

int compare_two_files(CompareOptions& options) {
  for (const std::string& input : {options.actual.path, options.expected.path}) {
    if (!options.heatmap.empty() && is_same_file(input, options.heatmap))
      throw Error(ErrorKind::usage,
                  "--heatmap would replace " + input + "; write it to another file");
  }
  options.comparing.draw = !options.heatmap.empty();
  const ComparedFiles compared = compare_files(options.actual, options.expected, options.comparing);
  if (compared.picture) {
    write_heatmap(options.heatmap, *compared.picture);
  } else if (!options.heatmap.empty()) {
    print(StandardStream::error, {"dmlop: there is nothing to draw in ", options.heatmap, "\n"});
  }
  print_compared(options, compared);
  return compared.comparison.verdict() == Verdict::passed ? exit_done : exit_different;
}

int compare_two(CompareOptions& options) {
  if (options.actual.path == "-" && options.expected.path == "-")
    throw Error(ErrorKind::usage,
                "ACTUAL.npy and EXPECTED.npy are both standard input, which can be read only once; "
                "name a file for one of them");
  const bool is_first = is_folder(options.actual.path),
             is_second = is_folder(options.expected.path);
  if (is_first != is_second) {
    const auto& [folder, file] = is_first ? std::pair(options.actual.path, options.expected.path)
                                          : std::pair(options.expected.path, options.actual.path);
    throw Error(ErrorKind::usage,
                folder + " is a folder and " + file + " is none: compare two files or two folders");
  }
  if (is_first && !options.heatmap.empty())
    throw Error(ErrorKind::usage,
                "--heatmap draws one file; compare the two files that it is to draw");
  if (!is_first) return compare_two_files(options);
  return compare_folders(options.actual.path, options.expected.path, options.comparing,
                         {options.format, options.quiet});
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
          "type and sizes of the other, or FILE:TYPE:SIZES; a file *.pb is a tensor of ONNX's "
          "tests. Two folders are compared file by file")
      .required();
  command.add_option_function("EXPECTED.npy", take(options->expected), "The expected file")
      .required();
  options->comparing.add_to(command);
  command
      .add_option("--heatmap", options->heatmap,
                  "Write a picture of the differences over the last two axes, as PNG")
      .type_name("FILE");
  add_format_option(command, options->format);
  command.add_flag("-q,--quiet", options->quiet, "Print nothing; the exit code tells");
  return
      [options] { return report_errors(options->format, [&] { return compare_two(*options); }); };
}

}  // namespace dmlop::app
