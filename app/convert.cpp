// dmlop convert: an op description as a DxDispatch model, and back; C++ as an op description.
#include "model/convert.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "base/exit_codes.hpp"
#include "base/file.hpp"
#include "base/output.hpp"
#include "base/path.hpp"
#include "command.hpp"
#include "cpp/convert.hpp"
#include "description_options.hpp"
#include "fixes/fixes.hpp"
#include "graph/lower.hpp"
#include "graph/models.hpp"
#include "graph/save.hpp"
#include "graph/to_jobs.hpp"
#include "job/folder.hpp"
#include "model/outputs.hpp"
#include "model/run_commands.hpp"
#include "model_commands.hpp"
#include "onnx_commands.hpp"
#include "spec/description.hpp"
#include "warnings.hpp"

namespace dmlop::app {
namespace {

struct ConvertOptions {
  DescriptionOptions description;
  JobRequest request;
  ModelOptions model;
  OnnxOptions onnx;
  std::string to_model;
  std::string to_op;
  std::string to_graph;
  std::string to_bin;
  std::string to_ops;
  std::vector<std::string> nodes;  // of a graph that become jobs; none: all
  std::string from_cpp;
  std::vector<std::string> definitions;  // of -D
  bool quiet = false;
};

const std::map<InputForm, std::string> named_by_model{
    {InputForm::model, "leave it out; the model names its files"}};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::usage, message);
}

bool is_strict(const ConvertOptions& options) {
  return options.request.checking.warnings_as_errors;
}

// Prints warnings, unless they are to be refused together with those that come later.
void announce(Diagnostics& warnings, const ConvertOptions& options) {
  if (is_strict(options)) return;
  if (!options.quiet) print_warnings(warnings);
  warnings.clear();
}

int refuse_with(Diagnostics warnings, Diagnostics findings, const ConvertOptions& options) {
  if (is_strict(options)) refuse_warnings(warnings, findings);
  sort_by_position(findings);
  return report(findings, Format::text);
}

int finish(const Conversion& conversion, const std::vector<std::string>& read,
           const ConvertOptions& options, Diagnostics warnings = {}) {
  warnings.insert(warnings.end(), conversion.warnings.begin(), conversion.warnings.end());
  if (is_strict(options) && !warnings.empty()) return refuse_with(std::move(warnings), {}, options);
  announce(warnings, options);
  write_conversion(conversion, read);
  if (options.quiet) return exit_done;
  for (const ConvertedFile& file : conversion.files) print({"wrote ", file.path, "\n"});
  print({"wrote ", conversion.path, "\n"});
  return exit_done;
}

/// Runs a graph on the CPU, and writes each node with its inputs and outputs as a job.
void write_jobs(const Model& model, JobWriter& writer) {
  Backend backend;
  Runtime runtime(model, backend, {});
  run_commands(model, {}, {&runtime}, [&](const ModelCommand& command, std::size_t) {
    const auto& dispatch = std::get<DispatchCommand>(command);
    runtime.dispatch(dispatch);
    writer.write_job(dispatch, runtime);
  });
}

// Without any file of an input, jobs are descriptions with the graph's constants.
int convert_to_ops(LoweredGraph& lowered, bool is_onnx, const ConvertOptions& options) {
  Diagnostics diagnostics;
  JobRequest files{.inputs = is_onnx ? std::vector<NamedFile>{} : options.request.inputs,
                   .found = files_beside(lowered.model.file, {}, diagnostics)};
  diagnostics.clear();
  JobWriter writer(lowered.model, options.to_ops, options.nodes, diagnostics);
  const bool has_files = !options.request.inputs.empty() || has_input_beside(lowered, files.found);
  if (has_files) bind_inputs(lowered, files, diagnostics);
  FileRoles read = roles_of(lowered.model);
  for (const NamedFile& file : options.request.inputs) read.add(file.path, "an input");
  writer.refuse_replaced(read, diagnostics);
  if (!diagnostics.empty()) return report(diagnostics, Format::text);
  stop_jobs_gently();
  if (has_files) {
    write_jobs(lowered.model, writer);
  } else {
    for (const ModelCommand& command : lowered.model.commands)
      writer.write_description(std::get<DispatchCommand>(command));
  }
  if (options.quiet) return exit_done;
  for (const std::string& folder : writer.folders()) print({"wrote ", folder, "\n"});
  if (!has_files)
    print(
        {"The jobs have no inputs and no golden files; with -i for each input of the graph they "
         "get both.\n"});
  return exit_done;
}

// The description of one node, with the constants that it reads.
int convert_node(const LoweredGraph& lowered, const ConvertOptions& options) {
  Diagnostics diagnostics;
  const DispatchCommand* node = find_node(lowered.model, options.nodes.front(), diagnostics);
  if (node == nullptr) return report(diagnostics, Format::text);
  stop_jobs_gently();
  return finish(node_as_op(lowered.model, *node, options.to_op), {lowered.model.file}, options);
}

int convert_graph(const OpenedProgram& opened, const ConvertOptions& options,
                  Diagnostics diagnostics) {
  if (!options.to_model.empty() || (!options.to_op.empty() && options.nodes.size() != 1))
    refuse(options.description.name() +
           " is a graph: --node NAME --to-op OP.json writes one node, --to-graph GRAPH.json writes "
           "it as JSON, --to-bin Partition_0.bin as ONNX "
           "Runtime does");
  const bool to_ops = !options.to_ops.empty();
  if (!options.request.inputs.empty() && !to_ops && !opened.is_onnx)
    refuse("-i is for --to-ops where the input is a graph; a graph names its constants");
  if (!options.to_graph.empty() + !options.to_bin.empty() + !options.to_op.empty() + to_ops > 1)
    refuse("--to-graph, --to-bin, --to-op and --to-ops exclude each other; keep one of them");
  for (const NamedFile& input : options.request.inputs) {
    for (const std::string* target : {&options.to_graph, &options.to_bin, &options.to_op}) {
      if (!target->empty() && names_same_file(input.path, *target))
        refuse(*target + " is read by this conversion; write to another file");
    }
  }
  Diagnostics warnings;
  const GraphRequest request{.checking = options.request.checking};
  std::optional<LoweredGraph> lowered;
  if (opened.graph) lowered = lower_graph(*opened.graph, request, diagnostics, warnings);
  if (!options.quiet) print_warnings(warnings);
  if (!diagnostics.empty()) return report(diagnostics, Format::text);
  if (!options.to_op.empty()) return convert_node(*lowered, options);
  if (to_ops) return convert_to_ops(*lowered, opened.is_onnx, options);
  stop_jobs_gently();
  std::vector<std::string> written;
  if (!options.to_graph.empty()) written = save_json(*opened.graph, options.to_graph);
  if (!options.to_bin.empty()) written = save_serialized(*opened.graph, options.to_bin);
  if (options.quiet) return exit_done;
  for (const std::string& path : written) print({"wrote ", path, "\n"});
  return exit_done;
}

int convert_op(const OpenedFile& file, const ConvertOptions& options) {
  Diagnostics diagnostics, warnings;
  JobRequest request = options.request;
  request.outputs_may_be_dropped = true;
  complete_request(request, file, {}, diagnostics);
  const auto job =
      prepare_job(file.document, file.root(), request, Purpose::run, diagnostics, &warnings);
  if (!job) return refuse_with(std::move(warnings), std::move(diagnostics), options);
  announce(warnings, options);
  stop_jobs_gently();
  std::vector<std::string> read{file.path};
  for (const BoundInput& input : job->inputs) read.push_back(input.path);
  return finish(model_of(*job, options.to_model), read, options, std::move(warnings));
}

int convert_model(const OpenedFile& file, const ConvertOptions& options) {
  Diagnostics diagnostics, warnings;
  Checking lenient = options.request.checking;
  lenient.warnings_as_errors = false;  // finish() refuses all warnings together
  const ModelRequest request = options.model.request(lenient);
  const auto model =
      read_model_with_graphs(file.document, file.document->root(), request, diagnostics, warnings);
  announce(warnings, options);
  if (!model) return refuse_with(std::move(warnings), std::move(diagnostics), options);
  stop_jobs_gently();
  std::vector<std::string> read{file.path};
  for (const Resource& resource : model->resources) read.push_back(resource.initial.path);
  return finish(op_of(*model, options.to_op), read, options, std::move(warnings));
}

// What dmlop check says about the description, where the C++ stands.
struct CheckedCpp {
  Diagnostics findings;
  Diagnostics warnings;  // those of the conversion, then those of the check

  int report() const { return findings.empty() ? exit_done : app::report(findings, Format::text); }
};

CheckedCpp check_made(const CppDescription& made, const ConvertOptions& options) {
  CheckedCpp checked{.findings = {}, .warnings = made.warnings};
  auto description = read_description(made.cpp_file, made.text,
                                      options.request.checking.feature_level, checked.findings);
  if (description) {
    check_and_mend(*description, checked.findings);
    made.place_in_cpp(description->warnings);
    std::move(description->warnings.begin(), description->warnings.end(),
              std::back_inserter(checked.warnings));
  }
  made.place_in_cpp(checked.findings);
  return checked;
}

int convert_cpp(const ConvertOptions& options) {
  const bool has_other = !options.description.names.empty() || !options.to_model.empty() ||
                         !options.to_graph.empty() || !options.to_bin.empty() ||
                         !options.to_ops.empty();
  if (has_other)
    refuse("--from-cpp makes an op description of C++ alone; --to-op says where it goes");
  const bool is_stream = options.from_cpp == "-";
  const std::string file = is_stream ? "standard input" : options.from_cpp;
  Diagnostics diagnostics = options.description.unfit(InputForm::cpp, file);
  if (!diagnostics.empty()) return report(diagnostics, Format::text);
  const std::string text = with_context(file, [&] { return json::read_text(options.from_cpp); });
  const auto made = description_of_cpp(file, text, diagnostics, options.request.checking.judge,
                                       options.definitions);
  if (!made) return report(diagnostics, Format::text);
  CheckedCpp checked = check_made(*made, options);
  if (options.request.checking.warnings_as_errors && !checked.warnings.empty()) {
    refuse_warnings(checked.warnings, checked.findings);
    return checked.report();
  }
  if (!options.quiet) print_warnings(checked.warnings);
  if (options.to_op.empty() || options.to_op == "-") {
    print({Text::lines(made->text)});
    return checked.report();
  }
  // A file that is there is not replaced with a description that is refused.
  std::error_code unknown;
  if (!checked.findings.empty() && std::filesystem::exists(to_path(options.to_op), unknown)) {
    const int code = checked.report();
    print(StandardStream::error, {"dmlop: ", options.to_op, " is left as it is\n"});
    return code;
  }
  const Conversion conversion{
      .path = options.to_op, .text = made->text, .files = {}, .warnings = {}};
  const int written = finish(
      conversion, is_stream ? std::vector<std::string>{} : std::vector{options.from_cpp}, options);
  if (checked.findings.empty()) return written;
  const int code = checked.report();
  print(StandardStream::error, {"dmlop: mend ", options.to_op, " before you run it\n"});
  return code;
}

int convert(const ConvertOptions& options) {
  if (!options.from_cpp.empty()) return convert_cpp(options);
  if (!options.definitions.empty())
    refuse("-D is for --from-cpp; --set gives values to the fields of a description");
  if (options.description.names.empty())
    refuse("OP.json is required: name the description or the model, or --from-cpp FILE");
  const bool to_model = !options.to_model.empty();
  const bool is_of_graphs =
      !options.to_graph.empty() || !options.to_bin.empty() || !options.to_ops.empty();
  if (!options.nodes.empty() && options.to_ops.empty() && options.to_op.empty())
    refuse("--node is for --to-ops FOLDER and --to-op OP.json");
  if (to_model && !options.to_op.empty())
    refuse("--to-model and --to-op are both given; keep one of them");
  if (!to_model && options.to_op.empty() && !is_of_graphs)
    refuse(
        "say what to make: --to-model MODEL.json or --to-op OP.json, or of a graph --to-graph "
        "GRAPH.json, --to-bin FILE.bin or --to-ops FOLDER; C++ is read with --from-cpp");
  for (const std::string& to :
       {options.to_model, options.to_op, options.to_graph, options.to_bin}) {
    if (!to.empty() && (is_standard_output(to) || may_have_several_writers(to)))
      refuse("the result names files relative to itself and cannot be a stream; name a file");
    std::error_code ignored;
    if (!to.empty() && std::filesystem::is_directory(to_path(to), ignored))
      refuse(to + " is a folder; name a file inside it");
  }
  Diagnostics diagnostics;
  const std::string& path = options.description.name();
  OnnxOptions onnx = options.onnx;
  if (options.to_ops.empty()) onnx.size_source = onnx::SizeSource::options;
  const auto program =
      options.description.open(path, onnx, options.request.inputs,
                               {.checking = options.request.checking}, diagnostics, options.quiet);
  if (!program) return report(diagnostics, Format::text);
  if (program->kind == OpenedProgram::Kind::graph)
    return convert_graph(*program, options, std::move(diagnostics));
  const OpenedFile& file = *program->file;
  if (is_of_graphs)
    refuse(
        path +
        " is not a graph: --to-graph, --to-bin and --to-ops are for graphs in JSON and for those "
        "that ONNX Runtime wrote");
  if (to_model == file.has_model)
    refuse(path + (to_model ? " is a model already; --to-op makes an op description of it"
                            : " is an op description already; --to-model makes a model of it"));
  if (to_model) return convert_op(file, options);
  return convert_model(file, options);
}

}  // namespace

Action add_convert(OptionList& command) {
  const auto options = std::make_shared<ConvertOptions>();
  options->description.add_to(command);
  command.option("OP.json").required(false);
  command
      .add_option("--to-model", options->to_model,
                  "Write a DxDispatch model: the operator, its .npy files, and its output's file")
      .type_name("MODEL.json");
  command
      .add_option("--to-op", options->to_op,
                  "Write an op description of a model with one dispatch, or of C++; a model's "
                  "values become "
                  ".npy files")
      .type_name("OP.json");
  command
      .add_option("--to-graph", options->to_graph,
                  "Write a graph as JSON, to read and to edit; its constants stay where they are")
      .type_name("GRAPH.json");
  command
      .add_option("--to-bin", options->to_bin,
                  "Write a graph as ONNX Runtime and DxDispatch read it, with its constants beside "
                  "it")
      .type_name("FILE.bin");
  command
      .add_option("--to-ops", options->to_ops,
                  "Write each node of a graph as a job: a folder with op.json and, with -i, inputs "
                  "and golden files from the CPU")
      .type_name("FOLDER");
  command
      .add_option(
          "--node", options->nodes,
          "With --to-ops, a node that becomes a job (default: all nodes); with --to-op, the node "
          "that becomes a description")
      .type_name("NAME")
      .take_all()
      .only_for({InputForm::graph, InputForm::onnx_model});
  command
      .add_option("--from-cpp", options->from_cpp,
                  "Make an op description of C++ that fills a DML_*_OPERATOR_DESC, or of what a "
                  "debugger shows of one; it goes to standard output or to --to-op")
      .type_name("FILE");
  command
      .add_option(
          "-D,--define", options->definitions,
          "For --from-cpp: a constant of C++ for a name that the code gives no value, such as a "
          "parameter or a name that #if asks for: batch=2; without =VALUE it is 1")
      .type_name("NAME=VALUE")
      .take_all();
  add_named_file_option(command, "-i,--input", options->request.inputs,
                        "An input's .npy file, for --to-model and --to-ops; in a graph that is "
                        "made of an ONNX model, the input becomes a constant")
      .only_for({InputForm::description, InputForm::graph, InputForm::onnx_model}, named_by_model);
  add_named_file_option(command, "-o,--output", options->request.outputs,
                        "The output's .npy file, for --to-model (default: OutputTensor.npy)")
      .only_for({InputForm::description}, named_by_model);
  options->model.add_input_path(command);
  options->onnx.add_to(command);
  add_checking_options(command, options->request.checking);
  command.add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  return [options] { return convert(*options); };
}

}  // namespace dmlop::app
