#include "description_options.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/output.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "job/folder.hpp"

namespace dmlop::app {

namespace {

InputForm form_of(const OpenedProgram& program) {
  if (program.is_onnx) return InputForm::onnx_model;
  if (program.kind == OpenedProgram::Kind::graph) return InputForm::graph;
  return program.kind == OpenedProgram::Kind::model ? InputForm::model : InputForm::description;
}

}  // namespace

void DescriptionOptions::add_to(OptionList& command, bool many) {
  command_.emplace(command);
  const Option option =
      command
          .add_option("OP.json", names,
                      "The op description, its folder, a DxDispatch model, a serialized DirectML "
                      "graph, an ONNX model, or an operator's name with --set; - is standard input")
          .required()
          .choices(specified_operators());
  if (!many) option.expected(1);
  command
      .add_option_function(
          "--set",
          [this](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const auto setting = parse_setting(text);
              if (!setting)
                refuse_option("--set", "\"" + text +
                                           "\" must be FIELD=VALUE, such as "
                                           "StartPadding=0,1 or InputTensor.Sizes=2,3");
              settings.push_back(*setting);
            }
          },
          "Give a field a value, or another one than the file has: PaddingMode=EDGE, "
          "StartPadding=0,1, InputTensor=FLOAT32:1,1,4,4, FusedActivation.Alpha=0.1; null leaves "
          "it "
          "out")
      .type_name("FIELD=VALUE")
      .take_all()
      .only_for({InputForm::description});
  command
      .add_flag("--example", is_example,
                "With the name of an operator: take the fields of `dmlop ops NAME --example`")
      .only_for({InputForm::description});
}

std::optional<OpenedProgram> DescriptionOptions::open(const std::string& name,
                                                      const OnnxOptions& onnx,
                                                      const std::vector<NamedFile>& inputs,
                                                      const GraphRequest& request,
                                                      Diagnostics& diagnostics, bool quiet,
                                                      const std::vector<InputForm>& others) const {
  if (is_example) {
    auto example = example_of(name, diagnostics);
    const Diagnostics found = unfit(InputForm::description, name);
    diagnostics.insert(diagnostics.end(), found.begin(), found.end());
    return found.empty() ? std::move(example) : std::nullopt;
  }
  const ProgramSource source{.path = name,
                             .settings = settings,
                             .dimensions = onnx.sizes(),
                             .inputs = inputs,
                             .fuses = onnx.fuses,
                             .size_source = onnx.size_source};
  auto program = open_program(source, request, diagnostics);
  if (program) {
    const Diagnostics found = unfit(form_of(*program), name, others);
    diagnostics.insert(diagnostics.end(), found.begin(), found.end());
    if (!found.empty()) return std::nullopt;
  }
  const bool is_operator = program && program->file && program->file->path.empty();
  std::error_code ignored;
  if (!quiet && is_operator && std::filesystem::is_directory(to_path(name), ignored))
    print(StandardStream::error,
          {"dmlop: note: ", name, " is the operator; ./", name, " is the folder\n"});
  return program;
}

Diagnostics DescriptionOptions::unfit(InputForm form, const std::string& name,
                                      const std::vector<InputForm>& others) const {
  return command_->unfit(form, name, others);
}

// The description that ops NAME --example prints, with the settings.
std::optional<OpenedProgram> DescriptionOptions::example_of(const std::string& name,
                                                            Diagnostics& diagnostics) const {
  const std::string upper = upper_case(name);
  const OperatorSpec* spec = find_spec(without_operator_prefix(upper));
  if (spec == nullptr)
    throw Error(ErrorKind::usage, "--example is for the name of an operator, and " + name +
                                      " is none; dmlop ops lists them");
  json::Document document = operator_document(name, *spec, spec->example);
  apply_settings(document, settings, diagnostics);
  if (!diagnostics.empty()) return std::nullopt;
  return OpenedProgram{.file =
                           OpenedFile{std::make_shared<const json::Document>(std::move(document))}};
}

void complete_request(JobRequest& request, const OpenedFile& file, const ConfineOption& confine,
                      Diagnostics& diagnostics) {
  request.description_path = file.path;
  request.confinement = confine.confinement(file.path.empty() ? "-" : file.path);
  // A folder that cannot be listed hides golden files, but not the files that are named.
  Diagnostics problems;
  request.found = files_beside(file.path, request.confinement, problems);
  if (request.compares_with_found)
    diagnostics.insert(diagnostics.end(), problems.begin(), problems.end());
}

std::vector<InputForm> forms_among(const std::vector<std::string>& paths) {
  const auto is_onnx = [](const std::string& path) { return is_onnx_program({.path = path}); };
  if (std::none_of(paths.begin(), paths.end(), is_onnx)) return {};
  return {InputForm::onnx_model};
}

void add_broadcast_option(OptionList& command, bool& broadcasts) {
  command
      .add_flag("--broadcast", broadcasts,
                "Stretch inputs to the sizes of others, as NumPy does, where the operator's rules "
                "make their sizes equal")
      .only_for({InputForm::description});
}

RandomNumbers random_numbers(const std::string& seed) {
  RandomNumbers numbers;
  const char* end = seed.data() + seed.size();
  const auto [stop, error] = std::from_chars(seed.data(), end, numbers.seed);
  if (error != std::errc() || stop != end)
    throw Error(ErrorKind::usage,
                "--random=" + printable(seed) + " must be a seed, a whole number from 0 on");
  return numbers;
}

void note_other_extensions(const std::vector<NamedFile>& outputs) {
  for (const NamedFile& output : outputs) {
    const std::filesystem::path path = to_path(output.path);
    if (output.raw || !path.has_extension() || path.extension() == ".npy") continue;
    print(StandardStream::error,
          {"dmlop: note: ", output.path,
           " gets the format .npy: a header, then the elements; name it ", to_text(path.stem()),
           ".npy, or write ", output.path, ":raw for the elements alone\n"});
  }
}

}  // namespace dmlop::app
