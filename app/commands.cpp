#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "base/exit_codes.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "command_line.hpp"
#include "examples.hpp"
#include "option_text.hpp"
#include "verbatim.hpp"

namespace dmlop::app {
namespace {

constexpr std::array table{
    Command{"run", "Run an operator: .npy files in, .npy files out",
            "# Write the output to a file\n"
            "dmlop run samples/padding/op.json -o padded.npy\n"
            "# Take an input from the command line, and write to standard output\n"
            "dmlop run samples/slice1/op.json -i InputTensor=samples/slice1/InputTensor.npy -o - "
            "--cpu > sliced.npy\n"
            "# Do without a description, and see the output\n"
            "dmlop run PADDING -i samples/padding/InputTensor.npy --set PaddingMode=EDGE "
            "--set StartPadding=0,0,1,2 --set EndPadding=0,0,3,4\n"
            "# Compare the output with the golden file beside op.json\n"
            "dmlop run samples/lp_pooling --expect\n"
            "# Run a model of DxDispatch\n"
            "dmlop run samples/dxdispatch/padding.json --cpu\n"
            "# Run a graph of operators\n"
            "dmlop run samples/graph/graph.json -i image=samples/padding/InputTensor.npy\n"
            "# Run an ONNX test: model.onnx with test_data_set_0\n"
            "dmlop run samples/onnx --cpu",
            add_run},
    Command{"check", "Check descriptions and infer sizes without running anything",
            "# Say what is wrong with a description, and where\n"
            "dmlop check samples/slice1/op.json\n"
            "# Try another value\n"
            "dmlop check samples/padding --set PaddingMode=EDGE\n"
            "# Check for a machine with an older DirectML\n"
            "dmlop check samples/padding/op.json samples/lp_pooling/op.json --feature-level 2_1\n"
            "# Refuse paths that leave the description's folder\n"
            "dmlop check samples/padding/op.json --confine",
            add_check},
    Command{"compare", "Compare .npy files with the expected ones",
            "# Bit for bit\n"
            "dmlop compare samples/padding/expected/OutputTensor.npy "
            "samples/padding/expected/OutputTensor.npy\n"
            "# Up to four representable values apart\n"
            "dmlop compare samples/lp_pooling/expected/OutputTensor.npy "
            "samples/lp_pooling/expected/OutputTensor.npy --ulp 4 --format json\n"
            "# All files of two folders, with the tolerance of an operator\n"
            "dmlop compare samples/lp_pooling/expected samples/lp_pooling/expected "
            "--operator LP_POOLING",
            add_compare},
    Command{"batch", "Run many jobs in one process and report on them",
            "# Run every op.json below a folder, and report to a CI service\n"
            "dmlop batch samples --cpu --junit results.xml\n"
            "# Run some of them, and write a page with pictures of differences\n"
            "dmlop batch samples --cpu --filter 'p*' --html report.html",
            add_batch},
    Command{"bench", "Measure an operator's speed, relative to the device's copy rate",
            "dmlop bench samples/padding/op.json --cpu --min-time 0.1\n"
            "dmlop bench samples/lp_pooling/op.json --cpu --min-time 0.1 --format json\n"
            "dmlop bench PADDING --cpu --min-time 0.1 --set InputTensor=FLOAT32:1,1,1000,1000 "
            "--set PaddingMode=EDGE --set StartPadding=0,0,1,1 --set EndPadding=0,0,1,1\n"
            "# Measure every job below a folder\n"
            "dmlop bench samples --cpu --min-time 0.01 --dim batch=2",
            add_bench},
    Command{"convert", "Convert an op description to a DxDispatch model, or back, or from C++",
            "dmlop convert samples/slice1/op.json --to-model slice1.json\n"
            "dmlop convert samples/dxdispatch/padding.json --to-op padding.json\n"
            "dmlop convert --from-cpp samples/cpp/padding.cpp --to-op op.json\n"
            "dmlop convert samples/graph/graph.json --to-bin graph.bin\n"
            "dmlop convert samples/onnx/model.onnx --dim batch=2 --to-graph onnx.json",
            add_convert},
    Command{"devices", "List the devices that can run operators",
            "dmlop devices\n"
            "dmlop devices --format json",
            add_devices},
    Command{"ops", "List the operators, or show one: fields, rules, support, errors, speed",
            "# List all, by family\n"
            "dmlop ops\n"
            "# Show one\n"
            "dmlop ops SLICE1\n"
            "# Begin a description\n"
            "dmlop ops PADDING --example > op.json\n"
            "# Write all that is known about them as one page for browsers\n"
            "dmlop ops --html operators.html\n"
            "# List what the operators of ONNX become\n"
            "dmlop ops --onnx",
            add_ops},
    Command{"inspect", "Show what .npy files, graphs and ONNX models hold",
            "dmlop inspect samples/padding/InputTensor.npy\n"
            "dmlop inspect samples/padding/InputTensor.npy --format json\n"
            "dmlop inspect samples/onnx/model.onnx --dim batch=2",
            add_inspect},
    Command{
        "explain", "Say what a failure code of DirectML or ONNX Runtime means",
        "dmlop explain 80070057\n"
        "# A line of a log\n"
        "dmlop explain 'DmlGraphFusionHelper.cpp(391): Exception(1) 80070057 Invalid parameter.'",
        add_explain},
    Command{"layer", "Explain what DirectML refuses while a Windows application runs",
            "# Put the layer before the DirectML.dll in the folder of an application\n"
            "dmlop layer install app\n"
            "# Take it away again\n"
            "dmlop layer uninstall app",
            add_layer},
    Command{"schema", "Print the JSON schema of op descriptions, or of other files, for editors",
            "dmlop schema > dmlop.schema.json\n"
            "dmlop schema PADDING\n"
            "dmlop schema --jobs > dmlop-jobs.schema.json",
            add_schema},
    Command{"completion", "Print the completion script of a shell",
            "dmlop completion bash > dmlop.bash\n"
            "dmlop completion fish > dmlop.fish",
            add_completion},
    Command{"help", "Show the most common commands, or the examples of one",
            "dmlop help\n"
            "dmlop help run",
            add_help},
    Command{"complete", "Print the tensors of an operator, for the completion of a shell",
            "dmlop complete inputs samples/slice1/op.json", add_complete, true},
    Command{"manual", "Print the man page", "dmlop manual > dmlop.1", add_manual, true},
};

std::string examples_footer(const char* examples) {
  std::string text = "Examples:\n  ";
  for (const char c : examples_here(examples)) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

std::string exit_code_footer() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeInfo& info : exit_codes) {
    std::string code = std::to_string(info.code);
    text +=
        "  " + std::string(3 - code.size(), ' ') + code + "  " + std::string(info.meaning) + "\n";
  }
  return text + "\n" +
         examples_footer("dmlop run samples/padding/op.json -o padded.npy\ndmlop ops PADDING");
}

// "InputTensor", "InputTensors.1" or "InputTensors[1]".
bool is_name(std::string_view text) {
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const std::size_t mark = text.find_first_of(".[");
  if (mark != std::string_view::npos) {
    std::string_view number = text.substr(mark + 1);
    if (text[mark] == '[' && !number.ends_with(']')) return false;
    if (text[mark] == '[') number.remove_suffix(1);
    if (number.empty() || !std::all_of(number.begin(), number.end(), is_digit)) return false;
    text = text.substr(0, mark);
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

}  // namespace

std::span<const Command> commands() {
  return table;
}

CommandLine::CommandLine(std::string_view only)
    : app("Runs DirectML operators anywhere: JSON and .npy in, .npy out.", "dmlop") {
  app.set_version_flag("--version", std::string("dmlop ") + DMLOP_VERSION);
  app.formatter(help_formatter());
  app.footer(exit_code_footer);
  app.require_subcommand(1);
  app.allow_windows_style_options(false);  // "/folder/op.json" is a path on every system
  for (const Command& command : commands()) {
    CLI::App* parsed = app.add_subcommand(command.name, command.summary);
    if (command.hidden) parsed->group("");
    const char* examples = command.examples;
    parsed->footer([examples] { return examples_footer(examples); });
    const bool is_used = only.empty() || only == command.name;
    OptionList options(*parsed);
    actions.push_back(is_used ? command.add(options) : Action());
    take_verbatim(*parsed);
  }
}

void add_format_option(OptionList& command, Format& format, bool markdown,
                       const std::string& contents) {
  std::map<std::string, Format> names{{"text", Format::text}, {"json", Format::json}};
  if (markdown) names.emplace("markdown", Format::markdown);
  std::vector<std::string> choices;
  for (const auto& [name, value] : names) choices.push_back(name);
  const std::string list = join(choices);
  command
      .add_option_function(
          "--format",
          [&format, names, list](const std::string& name) {
            const auto found = names.find(name);
            if (found == names.end())
              refuse_option("--format", "\"" + name + "\" must be one of " + list);
            format = found->second;
          },
          "Output as " + list + contents)
      .type_name("FORMAT")
      .choices(std::move(choices));
}

void add_feature_level_option(OptionList& command, std::optional<FeatureLevel>& level,
                              const std::string& description) {
  std::vector<std::string> names;
  for (const FeatureLevel each : feature_levels) names.push_back(to_text(each));
  command
      .add_option_function(
          "--feature-level",
          [&level](const std::string& name) {
            level = feature_level_named(name);
            if (!level) {
              refuse_option("--feature-level",
                            "\"" + name + "\" is not a feature level; write 1_0 to 6_4");
            }
          },
          description)
      .type_name("LEVEL")
      .choices(std::move(names));
}

namespace {

void add_judge_option(OptionList& command, std::optional<Judge>& judge) {
  command
      .add_option_function(
          "--as",
          [&judge](const std::string& name) {
            judge = judge_named(name);
            if (!judge)
              refuse_option("--as", "\"" + name + "\" must be one of " + join(judge_names()));
          },
          "Who decides what is valid if they disagree: page, Microsoft's page of the operator, or "
          "directml-1.15.4, what that version accepts (default: the description's, else page; for "
          "models directml-1.15.4)")
      .type_name("JUDGE")
      .choices(judge_names());
}

void add_warnings_as_errors_option(OptionList& command, bool& warnings_as_errors) {
  command.add_flag("--warnings-as-errors", warnings_as_errors,
                   "Refuse what has a warning: report it as an error, run nothing and exit with 3");
}

}  // namespace

void add_checking_options(OptionList& command, Checking& checking) {
  add_feature_level_option(command, checking.feature_level);
  add_judge_option(command, checking.judge);
  add_warnings_as_errors_option(command, checking.warnings_as_errors);
}

void ConfineOption::add_to(OptionList& command) {
  option =
      command
          .add_flag(
              "--confine{}", folder,
              "Refuse paths in files that are absolute, have \"..\" or leave the file's folder "
              "through links; --confine=FOLDER: that leave FOLDER. Paths given here are not "
              "confined")
          .type_name("[=FOLDER]");
}

SharedConfinement ConfineOption::confinement(const std::string& path) const {
  if (!is_given()) return nullptr;
  std::error_code ignored;
  if (!folder.empty() && !std::filesystem::is_directory(to_path(folder), ignored))
    throw Error(ErrorKind::usage, "--confine: " + folder + " is not a folder");
  if (!folder.empty()) return std::make_shared<const Confinement>(folder);
  if (path != "-" && std::filesystem::is_directory(to_path(path), ignored))
    return std::make_shared<const Confinement>(path);
  return std::make_shared<const Confinement>(Confinement::beside(path));
}

FileText parse_file_argument(const std::string& text, bool is_output) {
  try {
    return is_output ? parse_output_text(text) : parse_file_text(text);
  } catch (const Error& error) {
    refuse_option(error.what());
  }
}

NamedFile parse_named_file(const std::string& text, bool is_output) {
  const FileText file = parse_file_argument(text, is_output);
  const std::string& path = file.path;
  const std::size_t equals = path.find('=');
  const bool has_name =
      equals != std::string::npos && is_name(std::string_view(path).substr(0, equals));
  NamedFile named{has_name ? path.substr(0, equals) : "",
                  has_name ? path.substr(equals + 1) : path};
  if (named.path.empty()) refuse_option("\"" + text + "\" names no file");
  named.raw = file.raw;
  return named;
}

Option add_named_file_option(OptionList& command, const std::string& names,
                             std::vector<NamedFile>& files, const std::string& description) {
  return command
      .add_option_function(
          names,
          [&files, is_output = names.starts_with("-o")](const std::vector<std::string>& texts) {
            for (const std::string& text : texts)
              files.push_back(parse_named_file(text, is_output));
          },
          description)
      .type_name("[NAME=]FILE")
      .take_all();
}

}  // namespace dmlop::app
