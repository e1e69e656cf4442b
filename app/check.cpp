// dmlop check: everything of a run up to the plan.
#include <memory>
#include <nlohmann/json.hpp>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "description_options.hpp"
#include "graph/lower.hpp"
#include "graph/models.hpp"
#include "job/folder.hpp"
#include "model_commands.hpp"
#include "onnx_commands.hpp"
#include "ops/operator.hpp"
#include "spec/broadcast.hpp"
#include "warnings.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct CheckOptions {
  DescriptionOptions description;
  std::vector<NamedFile> inputs;
  Checking checking;
  ModelOptions model;
  OnnxOptions onnx;
  ConfineOption confine;
  Format format = Format::text;
  bool broadcasts = false;
  bool quiet = false;
};

std::string tensors_text(Description& description) {
  std::vector<std::string> tensors;
  for (const TensorUse& use : tensors_of(description)) {
    tensors.push_back(use.name() + " " + std::string(name_of(*use.desc->data_type)) + " " +
                      list_of(use.desc->sizes));
  }
  return join(tensors);
}

Json tensor_json(const TensorDesc& desc) {
  Json json{{"dataType", name_of(*desc.data_type)}, {"sizes", desc.sizes}};
  if (!desc.stretched_from.empty()) json["strides"] = *desc.strides;
  return json;
}

Json tensors_json(Description& description) {
  Json tensors = Json::object();
  for (const TensorUse& use : tensors_of(description)) tensors[use.name()] = tensor_json(*use.desc);
  return tensors;
}

Json operators_json(const Model& model) {
  Json operators = Json::object();
  // Each name is new; to look for it among all before takes a quadratic time.
  auto& members = operators.get_ref<Json::object_t&>();
  for (const Dispatchable& dispatchable : model.dispatchables)
    members.emplace_back(dispatchable.name, "DML_OPERATOR_" + dispatchable.description->spec->name);
  return operators;
}

// Several nodes may have the same name.
Json nodes_json(const Model& model) {
  Json nodes = Json::array();
  for (const Dispatchable& dispatchable : model.dispatchables)
    nodes.push_back({{"name", dispatchable.name},
                     {"operator", "DML_OPERATOR_" + dispatchable.description->spec->name}});
  return nodes;
}

/// Checks files one after the other, and keeps what was found.
class Checker {
 public:
  explicit Checker(const CheckOptions& options) : options_(options) {}

  void check(const std::string& name) {
    Diagnostics diagnostics;
    try {
      const auto program = options_.description.open(
          name, options_.onnx, options_.inputs, graph_request(name), diagnostics, options_.quiet,
          forms_among(options_.description.names));
      if (program) check_program(name, *program, diagnostics);
    } catch (const Error& error) {
      diagnostics.push_back(finding_of(error));
    }
    findings.insert(findings.end(), diagnostics.begin(), diagnostics.end());
  }

  Diagnostics findings;
  Json valid = Json::array();

 private:
  void check_program(const std::string& name, const OpenedProgram& program,
                     Diagnostics& diagnostics) {
    if (program.kind == OpenedProgram::Kind::graph) {
      if (program.graph) check_graph(*program.graph, diagnostics);
      return;
    }
    const std::string& path = program.file->path.empty() ? name : program.file->path;
    program.kind == OpenedProgram::Kind::model
        ? check_model(path, *program.file, diagnostics)
        : check_description(path, *program.file, diagnostics);
  }

  void check_description(const std::string& path, const OpenedFile& file,
                         Diagnostics& diagnostics) {
    JobRequest request{.description_path = path,
                       .inputs = options_.inputs,
                       .outputs = {},
                       .checking = options_.checking,
                       .broadcasts = options_.broadcasts};
    complete_request(request, file, options_.confine, diagnostics);
    tolerance_beside(file.path, request.confinement, diagnostics);  // for its findings
    auto job = prepare_job(file.document, file.root(), request, Purpose::check, diagnostics);
    if (!job) return;
    Description& description = job->description;
    if (!options_.quiet && options_.format == Format::text) print_warnings(job->warnings);
    std::string text = description.spec->name + ": " + tensors_text(description);
    const auto stretched = stretched_texts(description);
    for (const std::string& each : stretched) text += "\n  " + each;
    add(path, text,
        {{"file", path},
         {"operator", "DML_OPERATOR_" + description.spec->name},
         {"tensors", tensors_json(description)},
         {"stretched", stretched},
         {"warnings", warnings_json(job->warnings)}});
  }

  void check_model(const std::string& path, const OpenedFile& file, Diagnostics& diagnostics) {
    Diagnostics warnings;
    const ModelRequest request = options_.model.request(options_.checking, options_.confine, path);
    const auto model = read_model_with_graphs(file.document, file.document->root(), request,
                                              diagnostics, warnings);
    if (!options_.quiet && options_.format == Format::text) print_warnings(warnings);
    if (!model) return;
    add(path, model_summary(*model),
        {{"file", path},
         {"resources", model->resources.size()},
         {"dispatchables", operators_json(*model)},
         {"commands", model->commands.size()},
         {"warnings", warnings_json(warnings)}});
  }

  GraphRequest graph_request(const std::string& path) const {
    return {.checking = options_.checking,
            .confinement = options_.confine.confinement(path),
            .constants_may_be_missing = true};
  }

  void check_graph(const Graph& graph, Diagnostics& diagnostics) {
    Diagnostics warnings;
    const auto lowered = lower_graph(graph, graph_request(graph.file), diagnostics, warnings);
    if (!options_.quiet && options_.format == Format::text) print_warnings(warnings);
    if (!lowered) return;
    add(graph.file, model_summary(lowered->model),
        {{"file", graph.file},
         {"nodes", nodes_json(lowered->model)},
         {"warnings", warnings_json(warnings)}});
  }

  void add(const std::string& path, const std::string& text, Json json) {
    if (options_.format == Format::json) {
      valid.push_back(std::move(json));
    } else if (!options_.quiet) {
      print({path, ": ok: ", Text::lines(text), "\n"});
    }
  }

  const CheckOptions& options_;
};

int check(const CheckOptions& options) {
  Checker checker(options);
  for (const std::string& name : options.description.names) checker.check(name);
  if (!checker.findings.empty())
    return report(checker.findings, options.format, {{"descriptions", checker.valid}});
  if (options.format == Format::json) {
    const Json json{{"status", "done"}, {"exitCode", 0}, {"descriptions", checker.valid}};
    print_json(json);
  }
  return exit_done;
}

}  // namespace

Action add_check(OptionList& command) {
  const auto options = std::make_shared<CheckOptions>();
  options->description.add_to(command, true);
  add_named_file_option(command, "-i,--input", options->inputs,
                        "An input's .npy file, of which the header is read")
      .only_for({InputForm::description, InputForm::onnx_model},
                {{InputForm::model, "name files in its resources (sourcePath)"}});
  options->model.add_input_path(command);
  options->onnx.add_to(command);
  options->confine.add_to(command);
  add_broadcast_option(command, options->broadcasts);
  add_checking_options(command, options->checking);
  add_format_option(command, options->format);
  command.add_flag("-q,--quiet", options->quiet, "Print nothing but errors");
  return [options] { return check(*options); };
}

}  // namespace dmlop::app
