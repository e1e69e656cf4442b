// dmlop inspect: what .npy files and serialized graphs hold.
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "graph_commands.hpp"
#include "npy/npy.hpp"
#include "onnx_commands.hpp"
#include "preview.hpp"
#include "program/open.hpp"
#include "tensor_files.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct InspectOptions {
  std::optional<OptionList> command;  // that has these options
  std::vector<std::string> files;
  std::vector<NamedFile> inputs;
  OnnxOptions onnx;
  ConfineOption confine;
  Format format = Format::text;
};

Json to_json(const std::string& path, const NpyFile& file) {
  const NpyHeader& header = file.header();
  Json json{{"file", path},
            {"dataType", name_of(header.data_type)},
            {"sizes", header.sizes},
            {"order", header.fortran_order ? "Fortran" : "C"},
            {"byteOrder", header.big_endian ? "big" : "little"},
            {"bytes", file.data().size()}};
  json.update(contents_json(Elements(file)));
  return json;
}

// Nothing is printed of a file that was changed meanwhile.
void print_header(const std::string& path, const NpyFile& file) {
  const NpyHeader& header = file.header();
  const std::string contents = contents_text(Elements(file));
  require_intact(file, path);
  print({path, ": ", name_of(header.data_type), " ", list_of(header.sizes), ", ",
         header.fortran_order ? Text("Fortran") : Text("C"), " order, ",
         header.big_endian ? Text("big") : Text("little"), " endian, ", file.data().size(),
         " bytes\n", Text::lines(contents)});
}

void inspect_tensor(const std::string& path, const std::optional<RawForm>& form, Format format,
                    Json& list) {
  if (form && !form->data_type)
    throw Error(ErrorKind::usage,
                "nothing says the type of " + path + ": write " + path + ":FLOAT32, or another");
  const NpyFile file = open_tensor(path, form);
  if (format != Format::json) return print_header(path, file);
  list.push_back(to_json(path, file));
  require_intact(file, path);
}

// A folder, or a file that a program may be by its name or its bytes; all others are tensors.
bool may_be_program(const std::string& path) {
  std::error_code ignored;
  return lower_case(path).ends_with(".json") ||
         std::filesystem::is_directory(to_path(path), ignored) || is_binary_program({.path = path});
}

// A file *.bin that is not a graph may be a tensor.
void suggest_raw(const std::string& path, Diagnostics& diagnostics) {
  const bool is_bin = lower_case(path).ends_with(".bin");
  if (is_bin && !diagnostics.empty() && diagnostics.back().suggestion.empty())
    diagnostics.back().suggestion = "of a tensor without a header, write " + path + ":FLOAT32";
}

// Returns nothing if there are findings.
std::optional<Graph> open(const std::string& path, const InspectOptions& options,
                          Diagnostics& diagnostics) {
  const ProgramSource source{.path = path,
                             .dimensions = options.onnx.sizes(),
                             .inputs = options.inputs,
                             .fuses = options.onnx.fuses};
  auto program =
      open_program(source, {.confinement = options.confine.confinement(path)}, diagnostics);
  if (!program || (program->kind == OpenedProgram::Kind::graph && !program->graph))
    suggest_raw(path, diagnostics);
  if (!program) return std::nullopt;
  if (program->kind == OpenedProgram::Kind::graph) return std::move(program->graph);
  with_context("reading " + path, [&] { NpyFile::open(path); });  // says what it is instead
  return std::nullopt;
}

int inspect(const InspectOptions& options) {
  Diagnostics diagnostics;
  Json list = Json::array();
  for (const std::string& text : options.files) {
    try {
      const auto [path, form] = parse_file_text(text);
      const bool is_tensor = form || !may_be_program(path);
      const InputForm input_form = is_tensor                         ? InputForm::tensor
                                   : is_onnx_program({.path = path}) ? InputForm::onnx_model
                                                                     : InputForm::graph;
      const Diagnostics unfit = options.command->unfit(input_form, path);
      diagnostics.insert(diagnostics.end(), unfit.begin(), unfit.end());
      if (!unfit.empty()) continue;
      if (is_tensor) {
        inspect_tensor(path, form, options.format, list);
      } else if (const auto graph = open(path, options, diagnostics)) {
        if (options.format == Format::json) list.push_back(graph_json(*graph));
        if (options.format != Format::json) print_graph(*graph);
      }
    } catch (const Error& error) {
      diagnostics.push_back(finding_of(error));
    }
  }
  if (!diagnostics.empty()) return report(diagnostics, options.format);
  if (options.format == Format::json) print_json(list);
  return exit_done;
}

}  // namespace

Action add_inspect(OptionList& command) {
  const auto options = std::make_shared<InspectOptions>();
  options->command.emplace(command);
  command
      .add_option("FILE", options->files,
                  ".npy files, raw files (FILE:TYPE or FILE:TYPE:SIZES), tensors of ONNX's tests "
                  "(*.pb), graphs (Partition_0.bin, graph.json), or ONNX models; - is standard "
                  "input")
      .required();
  add_named_file_option(command, "-i,--input", options->inputs,
                        "The file of an input of an ONNX model, for sizes and values that must be "
                        "known; the input becomes a constant")
      .only_for({InputForm::onnx_model});
  options->onnx.add_to(command);
  add_format_option(command, options->format);
  return [options] { return inspect(*options); };
}

}  // namespace dmlop::app
