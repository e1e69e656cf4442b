// dmlop bench of an operator, and of each dispatch of a DxDispatch model.
#include <memory>

#include "base/output.hpp"
#include "base/text.hpp"
#include "bench_program.hpp"
#include "bench_text.hpp"
#include "graph/models.hpp"
#include "model/runtime.hpp"
#include "ops/operator.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

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
            {"quartileSeconds", {result.quartiles().lower, result.quartiles().upper}},
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

// The operator with the first tensor of its description: "PADDING FLOAT32 [1, 1, 4, 4]".
std::string case_name(const Description& description) {
  const std::string& name = description.spec->name;
  for (const FieldSpec& field : description.spec->fields) {
    if (field.is_tensor_array()) continue;
    const TensorDesc* desc = description.find_tensor(field.name);
    if (desc != nullptr)
      return name + " " + std::string(name_of(*desc->data_type)) + " " + list_of(desc->sizes);
  }
  return name;
}

std::vector<std::string> dispatched_names(const Model& model) {
  std::vector<std::string> names;
  for (const ModelCommand& command : model.commands) {
    if (const auto* dispatch = std::get_if<DispatchCommand>(&command))
      names.push_back(model.dispatchables[dispatch->dispatchable].name);
  }
  return names;
}

MeasuredCase measured_case(const std::string& name, BenchResult result) {
  MeasuredCase measured{.timed = {name, result.quartiles()}, .nodes = {}, .json = to_json(result)};
  measured.print = [result = std::move(result)] { print_text(result); };
  return measured;
}

// Each dispatch in turn, on what the buffers hold when it comes.
BenchReport bench_dispatches(const Model& model, const gpu::DeviceRequest& device,
                             const BenchOptions& options) {
  Backend cpu;
  Runtime runtime(model, cpu, options.execution);
  BenchReport report{.has_dispatches = true};
  for (const ModelCommand& command : model.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    const Runtime::Step step = runtime.step(*dispatch);
    const Dispatchable& dispatchable = model.dispatchables[dispatch->dispatchable];
    const BenchResult result =
        bench(*dispatchable.description->spec, step.plan, step.inputs(), device, options);
    report.conditions = bench_conditions(result.device, result.device_kind, options.execution);
    report.cases.push_back(measured_case(dispatchable.name, result));
    runtime.dispatch(*dispatch);
  }
  return report;
}

}  // namespace

std::optional<BenchProgram> operator_bench(const OpenedFile& file,
                                           const BenchCommandOptions& options,
                                           Diagnostics& diagnostics) {
  JobRequest request = options.request;
  complete_request(request, file, {}, diagnostics);
  auto prepared = prepare_job(file.document, file.root(), request, Purpose::check, diagnostics);
  if (!prepared) return std::nullopt;
  const auto job = std::make_shared<const Job>(std::move(*prepared));
  const std::string name = case_name(job->description);
  const auto measure = [job, name,
                        device = options.device.request()](const BenchOptions& bench_options) {
    const BenchResult result = bench(*job, device, bench_options);
    return BenchReport{
        .conditions = bench_conditions(result.device, result.device_kind, bench_options.execution),
        .cases = {measured_case(name, result)}};
  };
  return BenchProgram{.cases = {name}, .warnings = job->warnings, .measure = measure};
}

std::optional<BenchProgram> model_bench(const OpenedFile& file, const BenchCommandOptions& options,
                                        Diagnostics& diagnostics) {
  const ModelRequest request = options.model.request(options.request.checking);
  Diagnostics warnings;
  auto read =
      read_model_with_graphs(file.document, file.document->root(), request, diagnostics, warnings);
  if (!read) return std::nullopt;
  const auto model = std::make_shared<const Model>(std::move(*read));
  const auto measure = [model,
                        device = options.device.request()](const BenchOptions& bench_options) {
    return bench_dispatches(*model, device, bench_options);
  };
  return BenchProgram{
      .cases = dispatched_names(*model), .warnings = std::move(warnings), .measure = measure};
}

}  // namespace dmlop::app
