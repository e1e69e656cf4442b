// dmlop bench: how fast an operator runs, against the same device's copy rate in the same run.
#include "job/bench.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/text.hpp"
#include "bench_graph.hpp"
#include "bench_text.hpp"
#include "command.hpp"
#include "description_options.hpp"
#include "device_options.hpp"
#include "exit_codes.hpp"
#include "graph/models.hpp"
#include "model/runtime.hpp"
#include "model_commands.hpp"
#include "ops/operator.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

struct BenchCommandOptions {
  DescriptionOptions description;
  JobRequest request;
  BenchOptions bench;
  DeviceOptions device;
  ModelOptions model;
  OnnxOptions onnx;
  Format format = Format::text;
};

Json to_json(const Measured& measured) {
  return measured.value ? Json(*measured.value) : Json(nullptr);
}

Json to_json(const BenchResult& result) {
  Json json{{"device", result.device},
            {"inputBytes", result.input_bytes},
            {"outputBytes", result.output_bytes},
            {"runs", result.seconds.size()},
            {"clock", result.clock},
            {"medianSeconds", result.median()},
            {"minSeconds", result.seconds.front()},
            {"p95Seconds", result.percentile95()},
            {"bytesPerSecond", result.bytes_per_second()}};
  const auto& copy = result.copy_bytes_per_second;
  json["copyBytesPerSecond"] = to_json(copy);
  json["shareOfCopyRate"] =
      copy.value ? Json(result.bytes_per_second() / *copy.value) : Json(nullptr);
  json["setUpSeconds"] = to_json(result.set_up_seconds);
  json["uploadSeconds"] = to_json(result.upload_seconds);
  json["downloadSeconds"] = to_json(result.download_seconds);
  Json reasons = Json::object();
  const auto explain = [&](const char* name, const Measured& measured) {
    if (!measured.value) reasons[name] = measured.reason;
  };
  explain("copyBytesPerSecond", copy);
  explain("setUpSeconds", result.set_up_seconds);
  explain("uploadSeconds", result.upload_seconds);
  explain("downloadSeconds", result.download_seconds);
  json["notMeasured"] = reasons;
  return json;
}

void print_measured(const char* name, const Measured& measured) {
  if (measured.value) {
    print({row_title(name), time_text(*measured.value), "\n"});
  } else {
    print({row_title(name), "not measured: ", measured.reason, "\n"});
  }
}

void print_text(const BenchResult& result) {
  const Measured& copy = result.copy_bytes_per_second;
  print({row_title("device"), result.device, "\n"});
  const TimeUnit unit = unit_of(result.median());
  const auto time = [&](double seconds) { return rounded(seconds * unit.per_second); };
  print({row_title("time"), time(result.median()), " ", unit.name, " median, ",
         time(result.seconds.front()), " min, ", time(result.percentile95()), " p95 of ",
         result.seconds.size(), " runs (", result.clock, " clock)\n"});
  print({row_title("rate"), rounded(result.bytes_per_second() * 1e-9), " GB/s (",
         result.input_bytes, " bytes in, ", result.output_bytes, " bytes out)\n"});
  if (copy.value) {
    print({row_title("share"), with_decimals(100 * result.bytes_per_second() / *copy.value, 1),
           " percent of the device's copy rate, ", rounded(*copy.value * 1e-9), " GB/s\n"});
  } else {
    print({row_title("share"), "not measured: ", copy.reason, "\n"});
  }
  print_measured("set-up", result.set_up_seconds);
  print_measured("upload", result.upload_seconds);
  print_measured("download", result.download_seconds);
}

// Each dispatch in turn, on what the buffers hold when it comes.
int bench_model(const OpenedFile& file, const BenchCommandOptions& options) {
  Diagnostics diagnostics, notes;
  const ModelRequest request = options.model.request(options.request.checking);
  const auto model =
      read_model_with_graphs(file.document, file.document->root(), request, diagnostics, notes);
  if (options.format == Format::text) print_notes(notes);
  if (!model) return report(diagnostics, options.format);
  Backend cpu;
  Runtime runtime(*model, cpu, options.bench.execution);
  Json dispatches = Json::array();
  for (const ModelCommand& command : model->commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    const Runtime::Step step = runtime.step(*dispatch);
    const auto& dispatchable = model->dispatchables[dispatch->dispatchable];
    const BenchResult result = bench(*dispatchable.description->spec, step.plan, step.inputs(),
                                     options.device.request(), options.bench);
    const std::string& name = dispatchable.name;
    if (options.format == Format::json) {
      dispatches.push_back({{"dispatchable", name}});
      dispatches.back().update(to_json(result));
    } else {
      print({row_title("dispatch"), name, "\n"});
      print_text(result);
    }
    runtime.dispatch(*dispatch);
  }
  if (options.format == Format::json)
    print_json({{"dispatches", dispatches}, {"warnings", notes_json(notes)}});
  return exit_done;
}

int run_bench(const BenchCommandOptions& options) {
  Diagnostics diagnostics;
  const auto program =
      options.description.open(options.description.name(), options.onnx, options.request.inputs,
                               {.checking = options.request.checking}, diagnostics);
  if (!program) return report(diagnostics, options.format);
  if (program->kind == OpenedProgram::Kind::graph) {
    const std::vector<NamedFile> none;  // those of an ONNX model are constants of the graph
    const GraphBench graph_bench{.inputs = program->is_onnx ? none : options.request.inputs,
                                 .checking = options.request.checking,
                                 .bench = options.bench,
                                 .device = options.device,
                                 .format = options.format};
    return program->graph ? bench_graph(*program->graph, graph_bench)
                          : report(diagnostics, options.format);
  }
  const OpenedFile& file = *program->file;
  if (program->kind == OpenedProgram::Kind::model) return bench_model(file, options);
  JobRequest request = options.request;
  complete_request(request, file, {}, diagnostics);
  const auto job = prepare_job(file.document, file.root(), request, Purpose::check, diagnostics);
  if (!job) return report(diagnostics, options.format);
  if (options.format == Format::text) print_notes(job->warnings);
  const BenchResult result = bench(*job, options.device.request(), options.bench);
  if (options.format == Format::json) {
    Json json = to_json(result);
    json["warnings"] = notes_json(job->warnings);
    print_json(json);
  } else {
    print_text(result);
  }
  return exit_done;
}

}  // namespace

Action add_bench(OptionList& command) {
  const auto options = std::make_shared<BenchCommandOptions>();
  options->description.add_to(command);
  add_named_file_option(command, "-i,--input", options->request.inputs,
                        "An input's .npy file (default: random data)")
      .only_for({InputForm::description, InputForm::graph, InputForm::onnx_model},
                {{InputForm::model, "a model has its resources' values"}});
  options->model.add_input_path(command);
  options->onnx.add_to(command);
  options->device.add_to(command, options->bench.execution);
  command
      .add_option("--min-time", options->bench.min_seconds,
                  "Measure for at least SECONDS (default: 1)")
      .number_between(0, 3600)
      .type_name("SECONDS");
  add_checking_options(command, options->request.checking);
  add_format_option(command, options->format);
  return [options] { return run_bench(*options); };
}

}  // namespace dmlop::app
