// dmlop run of a DxDispatch model or a serialized graph: commands in order, and what they print as
// DxDispatch prints it.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "comparison_results.hpp"
#include "description_options.hpp"
#include "edge_results.hpp"
#include "graph/compare_edges.hpp"
#include "graph/graph_as_type.hpp"
#include "graph/keep_edges.hpp"
#include "graph/lower.hpp"
#include "graph/models.hpp"
#include "job/as_type.hpp"
#include "model/outputs.hpp"
#include "model/run_commands.hpp"
#include "model/runtime.hpp"
#include "model/tolerances.hpp"
#include "model/write_file.hpp"
#include "model_commands.hpp"
#include "operator_times.hpp"
#include "preview.hpp"
#include "stopwatch.hpp"
#include "tensor/element.hpp"
#include "warnings.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

// Prints text of up to gigabytes in pieces of whole lines.
void print_contents(const std::string& text, Fidelity fidelity) {
  Steps steps;
  constexpr std::size_t piece_size = std::size_t{1} << 16;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t line_end = text.find('\n', std::min(text.size(), begin + piece_size) - 1);
    const std::size_t end = line_end == std::string::npos ? text.size() : line_end + 1;
    const auto piece = std::string_view(text).substr(begin, end - begin);
    print({fidelity == Fidelity::compatible ? Text::verbatim(piece) : Text::lines(piece)});
    steps.add(end - begin);
    begin = end;
  }
}

// Elements as JSON numbers; what JSON lacks, as strings.
Json values_json(const Resource& resource, std::span<const std::byte> contents) {
  Json values = Json::array();
  const DataType type = *resource.initial.data_type;
  constexpr std::uint64_t value_steps = 256;
  Steps steps;
  for (std::uint64_t i = 0; i < resource.value_count(); ++i) {
    steps.add(value_steps);
    const std::byte* element = &contents[i * size_of(type)];
    const std::string text = element_text(type, element);
    values.push_back(std::isfinite(element_value(type, element)) ? Json::parse(text) : Json(text));
  }
  return values;
}

/// Carries out one command after the other.
class CommandRunner {
 public:
  CommandRunner(const Model& model, Runtime& runtime, const ModelRun& options,
                const EdgeKeeper* keeper, EdgeComparer* comparer, Runtime* other)
      : model_(model),
        runtime_(runtime),
        options_(options),
        keeper_(keeper),
        comparer_(comparer),
        other_(other) {}

  void operator()(const DispatchCommand& command) {
    const std::string& name = model_.dispatchables[command.dispatchable].name;
    done.push_back({{"type", "dispatch"}, {"dispatchable", name}});
    const std::string notice = options_.timings ? timed(command) : runtime_.enqueue(command);
    if (keeper_ != nullptr) keeper_->keep(command, runtime_);
    if (other_ != nullptr) other_->enqueue(command);
    if (comparer_ != nullptr) comparer_->compare(command, runtime_);
    if (!notice.empty() && !options_.quiet)
      print(StandardStream::error, {"dmlop: ", name, ": ", notice, "\n"});
  }

  void operator()(const PrintCommand& command) {
    const Resource& resource = model_.resources[command.resource];
    const auto contents = runtime_.contents(command.resource);
    if (options_.format == Format::json) {
      done.push_back({{"type", "print"},
                      {"resource", resource.name},
                      {"dataType", name_of(*resource.initial.data_type)},
                      {"values", values_json(resource, contents)}});
    } else if (!options_.quiet) {
      const Fidelity fidelity = options_.model.fidelity();
      print_contents(print_text(resource, contents, command.verbose, fidelity), fidelity);
    }
  }

  void operator()(const WriteFileCommand& command) {
    const Resource& resource = model_.resources[command.resource];
    const Fidelity fidelity = options_.model.fidelity();
    with_context("writing " + printable(resource.name) + " to " + command.path, [&] {
      write_file(resource, command, runtime_.contents(command.resource), fidelity);
    });
    if (options_.format == Format::text && !options_.quiet)
      print({"Resource '", resource.name, "' written to '", command.path, "'\n"});
    Json json{{"type", "writeFile"}, {"resource", resource.name}, {"file", command.path}};
    if (command.is_npy) {
      json["dataType"] = name_of(*resource.initial.data_type);
      json["sizes"] = written_sizes(resource, command, fidelity);
    }
    done.push_back(std::move(json));
  }

  const OperatorTimes& times_of_operators() const { return times_of_operators_; }

  Json done = Json::array();

 private:
  /// Dispatches alone, and tells how long it took. Returns Execution::notice.
  std::string timed(const DispatchCommand& command) {
    Stopwatch clock;
    const Execution execution = runtime_.dispatch(command);
    const std::optional<double> kernel = execution.times.kernel;
    const double seconds = clock.lap();
    const Dispatchable& dispatchable = model_.dispatchables[command.dispatchable];
    times_of_operators_.add(dispatchable, seconds);
    if (options_.format == Format::text)
      print(StandardStream::error,
            {"Dispatch '", dispatchable.name, "': 1 iterations, ", with_decimals(seconds * 1e3, 4),
             " ms median (CPU)",
             kernel ? ", " + with_decimals(*kernel * 1e3, 6) + " ms median (GPU)" : std::string(),
             "\n"});
    done.back()["seconds"] = seconds;
    if (kernel) done.back()["deviceKernelSeconds"] = *kernel;
    return execution.notice;
  }

  OperatorTimes times_of_operators_;
  const Model& model_;
  Runtime& runtime_;
  const ModelRun& options_;
  const EdgeKeeper* keeper_;  // null: no edges are kept
  EdgeComparer* comparer_;    // null: none are compared
  Runtime* other_;            // that they are compared with; null: with files
};

// Without prints, files and comparisons, a run would tell nothing: what the model computes is
// shown.
bool tells_nothing(const Model& model, const ModelRun& options) {
  if (!options.expected_edges.empty() || !options.against.empty()) return false;
  const auto tells = [](const ModelCommand& command) {
    return std::holds_alternative<PrintCommand>(command) ||
           std::holds_alternative<WriteFileCommand>(command);
  };
  return !options.quiet && options.outputs.empty() && options.expected.empty() &&
         std::none_of(model.commands.begin(), model.commands.end(), tells);
}

void show_result(const Model& model, std::size_t resource, std::span<const std::byte> contents,
                 Format format, Json& shown) {
  const ResourceTensor tensor = tensor_of(model, resource);
  const Buffer packed = packed_elements(tensor, contents);
  const Elements elements(tensor.data_type, tensor.sizes, packed.bytes());
  const std::string& name = model.resources[resource].name;
  if (format == Format::json) {
    shown.push_back(
        {{"name", name}, {"dataType", name_of(tensor.data_type)}, {"sizes", tensor.sizes}});
    shown.back().update(contents_json(elements));
    return;
  }
  print({name, ": ", name_of(tensor.data_type), " ", list_of(tensor.sizes), "\n",
         Text::lines(contents_text(elements))});
}

struct Ending {
  int exit_code = exit_done;
  std::vector<OutputComparison> comparisons;
  Json shown = Json::array();           // outputs that no file gets
  const EdgeComparer* edges = nullptr;  // null: none are compared
};

void print_text_result(const Model& model, const ModelRun& options,
                       const std::vector<NamedResource>& outputs, const Ending& ending) {
  if (options.quiet) return;
  for (const NamedResource& output : outputs) {
    const ResourceTensor tensor = tensor_of(model, output.resource);
    print({model.resources[output.resource].name, ": ", name_of(tensor.data_type), " ",
           list_of(tensor.sizes), " in ", output.path, "\n"});
  }
  for (const OutputComparison& output : ending.comparisons) print_comparison(output);
  if (ending.edges != nullptr) print_edges(model, *ending.edges);
}

void print_json_result(const Model& model, const Diagnostics& warnings, const Backend& backend,
                       const CommandRunner& runner, bool has_timings,
                       const std::vector<NamedResource>& outputs, const Ending& ending) {
  Json json{{"status", ending.exit_code == exit_done ? "done" : "different"},
            {"exitCode", ending.exit_code},
            {"device", backend.spec()},
            {"commands", runner.done},
            {"outputs", ending.shown},
            {"warnings", warnings_json(warnings)}};
  if (has_timings) json["operators"] = runner.times_of_operators().json();
  for (const NamedResource& output : outputs) {
    const ResourceTensor tensor = tensor_of(model, output.resource);
    json["outputs"].push_back({{"name", model.resources[output.resource].name},
                               {"file", output.path},
                               {"dataType", name_of(tensor.data_type)},
                               {"sizes", tensor.sizes}});
  }
  Json comparisons = Json::array();
  for (const OutputComparison& output : ending.comparisons) {
    comparisons.push_back(comparison_json(output));
  }
  if (!comparisons.empty()) json["comparisons"] = std::move(comparisons);
  if (ending.edges != nullptr) json.update(edges_json(model, *ending.edges));
  print_json(json);
}

/// Runs a model that was read, or reports what was found in it.
class ModelRunner {
 public:
  ModelRunner(const ModelRun& options, Diagnostics& diagnostics, Diagnostics& warnings)
      : options_(options), diagnostics_(diagnostics), warnings_(warnings) {}

  /// Returns the exit code. The model is null if there are findings.
  int run(const Model* model) {
    if (!options_.quiet && options_.format == Format::text) print_warnings(warnings_);
    if (model != nullptr) name_files(*model);
    if (!diagnostics_.empty()) return report(diagnostics_, options_.format);
    if (!options_.quiet) note_other_extensions(options_.outputs);
    require_writable(outputs_);
    stop_jobs_gently();
    Backend backend = open_backend(options_.device.request(), options_.quiet);
    if (keeper_) keeper_->begin();
    Runtime runtime(*model, backend, options_.execution);
    open_other(*model, backend);
    CommandRunner runner(*model, runtime, options_, keeper_ ? &*keeper_ : nullptr,
                         comparer_ ? &*comparer_ : nullptr, other_ ? &*other_ : nullptr);
    run_commands(*model, used_at_end(*model), {&runtime, other_ ? &*other_ : nullptr},
                 [&](const ModelCommand& command, std::size_t) { std::visit(runner, command); });
    const Ending ending = end(*model, runtime);
    // Of a model, the lines are those of DxDispatch alone.
    if (options_.timings && options_.format == Format::text && !model->words.has_commands)
      runner.times_of_operators().print();
    if (options_.format == Format::json) {
      print_json_result(*model, warnings_, backend, runner, options_.timings, outputs_, ending);
    } else {
      print_text_result(*model, options_, outputs_, ending);
    }
    return ending.exit_code;
  }

 private:
  void name_files(const Model& model) {
    outputs_ = name_resources(model, options_.outputs, "-o", false, diagnostics_);
    expected_ = name_resources(model, options_.expected, "--expect", true, diagnostics_);
    if (!options_.expected_edges.empty() || !options_.against.empty())
      comparer_.emplace(model, options_.tolerance);
    if (!options_.expected_edges.empty()) expect_edges();
    if (options_.as_type && diagnostics_.empty()) convert_golden_files(*options_.as_type);
    FileRoles files = roles_of(model);
    for (const NamedFile& constant : options_.constants)
      files.add(constant.path, constant.tensor.empty()
                                   ? "the input"
                                   : "the file of " + printable(constant.tensor));
    for (const std::string& golden : golden_files()) files.add(golden, golden_role);
    refuse_replaced_by_commands(model, files, diagnostics_);
    refuse_replaced(model, outputs_, files, diagnostics_);
    if (!options_.kept_edges.empty())
      keeper_.emplace(model, options_.kept_edges, files, diagnostics_);
  }

  void expect_edges() {
    Diagnostics warnings;
    comparer_->expect_files(options_.expected_edges, diagnostics_, warnings);
    if (options_.checking.warnings_as_errors) refuse_warnings(warnings, diagnostics_);
    if (!options_.quiet && options_.format == Format::text) print_warnings(warnings);
    warnings_.insert(warnings_.end(), warnings.begin(), warnings.end());
  }

  std::vector<std::string> golden_files() const {
    std::vector<std::string> files;
    if (comparer_) files = comparer_->files();
    for (const NamedResource& golden : expected_) files.push_back(golden.path);
    return files;
  }

  void convert_golden_files(DataType type) {
    for (NamedResource& golden : expected_) convert_file(type, *golden.golden, golden.path);
    if (comparer_) comparer_->convert_files(type);
  }

  /// Opens the device of --against.
  void open_other(const Model& model, const Backend& backend) {
    if (options_.against.empty()) return;
    other_backend_.emplace(other_device(options_.against, backend));
    other_.emplace(model, *other_backend_, options_.execution);
    comparer_->expect_run(*other_, other_backend_->spec());
  }

  /// The resources that end() reads.
  std::vector<std::size_t> used_at_end(const Model& model) const {
    std::vector<std::size_t> used = results_of(model);
    for (const auto* files : {&outputs_, &expected_}) {
      for (const NamedResource& file : *files) used.push_back(file.resource);
    }
    return used;
  }

  /// Shows or writes outputs, and compares them.
  Ending end(const Model& model, Runtime& runtime) const {
    Ending ending;
    if (tells_nothing(model, options_)) {
      for (const std::size_t resource : results_of(model))
        show_result(model, resource, runtime.contents(resource), options_.format, ending.shown);
    }
    write_together(model, outputs_,
                   [&](std::size_t resource) { return runtime.contents(resource); });
    const ResultTolerances tolerances(model, options_.tolerance);
    for (const NamedResource& golden : expected_) {
      ending.comparisons.push_back(compare_resource(
          model, golden, runtime.contents(golden.resource), tolerances.of(golden.resource)));
      if (ending.comparisons.back().comparison.verdict() != Verdict::passed)
        ending.exit_code = exit_different;
    }
    if (comparer_) ending.edges = &*comparer_;
    if (comparer_ && !comparer_->wrong_nodes().empty()) ending.exit_code = exit_different;
    return ending;
  }

  const ModelRun& options_;
  Diagnostics& diagnostics_;
  Diagnostics& warnings_;
  std::vector<NamedResource> outputs_;
  std::vector<NamedResource> expected_;
  std::optional<EdgeKeeper> keeper_;
  std::optional<EdgeComparer> comparer_;
  std::optional<Backend> other_backend_;
  std::optional<Runtime> other_;
};

// What to use for other inputs.
const std::map<InputForm, std::string> files_are_named{
    {InputForm::description, "name files with -i and -o"},
    {InputForm::graph, "name files with -i and -o"},
    {InputForm::onnx_model, "name files with -i and -o"}};

}  // namespace

void ModelOptions::add_input_path(OptionList& command) {
  command
      .add_option("--input-path", input_folder,
                  "The folder of the sourcePath files (default: the model's folder)")
      .type_name("FOLDER")
      .only_for({InputForm::model}, files_are_named);
}

void ModelOptions::add_to(OptionList& command) {
  add_input_path(command);
  command
      .add_option("--output-path", output_folder,
                  "The folder of the targetPath files (default: the current folder)")
      .type_name("FOLDER")
      .only_for({InputForm::model}, files_are_named);
  command
      .add_flag("--dxdispatch-compat", compatible,
                "Print 8-bit values as characters and write padding to files, as DxDispatch does")
      .only_for({InputForm::model});
}

ModelRequest ModelOptions::request(const Checking& checking) const {
  return {input_folder, output_folder, checking};
}

ModelRequest ModelOptions::request(const Checking& checking, const ConfineOption& confine,
                                   const std::string& path) const {
  ModelRequest made = request(checking);
  made.confinement = confine.confinement(input_folder.value_or(path));
  return made;
}

std::string model_summary(const Model& model) {
  const std::vector<std::string> operators = operators_of(model);
  if (!model.words.has_commands)
    return "graph of " + counted(model.dispatchables.size(), "operator") +
           (operators.empty() ? "" : " (" + join(operators) + ")") + " and " +
           counted(model.outputs.size(), "output");
  return "model of " + counted(model.resources.size(), "resource") + ", " +
         counted(model.dispatchables.size(), "dispatchable") +
         (operators.empty() ? "" : " (" + join(operators) + ")") + " and " +
         counted(model.commands.size(), "command");
}

int run_model(const OpenedFile& file, const ModelRun& options) {
  Diagnostics diagnostics, warnings;
  const ModelRequest request =
      options.model.request(options.checking, options.confine, file.document->file());
  const auto model =
      read_model_with_graphs(file.document, file.document->root(), request, diagnostics, warnings);
  return ModelRunner(options, diagnostics, warnings).run(model ? &*model : nullptr);
}

int run_graph(const std::optional<Graph>& graph, const ModelRun& options, Diagnostics diagnostics) {
  Diagnostics warnings;
  std::optional<LoweredGraph> lowered;
  if (graph) {
    const GraphRequest request{.checking = options.checking,
                               .confinement = options.confine.confinement(graph->file)};
    lowered = lower_graph(*graph, request, diagnostics, warnings);
  }
  if (!lowered) return report(diagnostics, options.format);
  bind_inputs(*lowered,
              {.inputs = options.inputs, .found = options.found, .random = options.random},
              diagnostics);
  if (options.as_type && diagnostics.empty())
    compute_as(*options.as_type, lowered->model, diagnostics);
  ModelRun named = options;
  for (auto* files : {&named.outputs, &named.expected}) {
    for (NamedFile& each : *files) each = with_edge_name(lowered->model, each);
  }
  return ModelRunner(named, diagnostics, warnings).run(&lowered->model);
}

}  // namespace dmlop::app
