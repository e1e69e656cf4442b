// What <dmlop/dmlop.h> tells about operators, devices and versions, and how it compares and
// measures.
#include "c/translate.hpp"

using namespace dmlop::c;

namespace dmlop::c {
namespace {

Criteria to_criteria(const dmlop_criteria& given) {
  Criteria criteria{.nan_equals_nan = given.nan_differs == 0,
                    .allow_trivial = given.allow_trivial != 0};
  // What is no number is refused there, and does not count as left out.
  if (!(given.rtol < 0)) criteria.rtol = given.rtol;
  if (!(given.atol < 0)) criteria.atol = given.atol;
  if (given.ulp >= 0) criteria.ulp = static_cast<std::uint64_t>(given.ulp);
  return criteria;
}

Json row_of(const OperatorInfo& info) {
  return {{"name", info.name},
          {"family", info.family},
          {"featureLevel", info.feature_level},
          {"runsOn", info.runs_on}};
}

}  // namespace
}  // namespace dmlop::c

const char* dmlop_version(void) {
  return dmlop::version().data();
}
uint32_t dmlop_interface(void) {
  return DMLOP_INTERFACE;
}

dmlop_status dmlop_compare(const dmlop_tensor* actual, const dmlop_tensor* expected,
                           const dmlop_criteria* criteria, const dmlop_call* call, char** report,
                           dmlop_error** error) {
  if (report != nullptr) *report = nullptr;
  return guarded(call, error, [&](const dmlop_call&) {
    const dmlop::CompareResult result = dmlop::compare(
        to_contents(required(actual, "actual"), "actual"),
        to_contents(required(expected, "expected"), "expected"),
        to_criteria(read_struct(criteria, dmlop_criteria DMLOP_CRITERIA, "criteria")));
    if (report != nullptr) {
      Json json = Json::parse(result.json);
      json["summary"] = result.summary;
      json["text"] = result.text;
      *report = to_text(json.dump());
    }
    return result.passed ? DMLOP_DONE : DMLOP_DIFFERENT;
  });
}

dmlop_status dmlop_bench(const dmlop_operation* operation, const dmlop_tensor* inputs,
                         size_t input_count, const dmlop_bench_options* options,
                         const dmlop_call* call, char** report, dmlop_error** error) {
  if (report != nullptr) *report = nullptr;
  return guarded(call, error, [&](const dmlop_call&) {
    auto& place = required(report, "report");
    const auto given = read_struct(options, dmlop_bench_options DMLOP_BENCH_OPTIONS, "options");
    const dmlop::Timing timing =
        dmlop::time(to_operation(operation), to_inputs(inputs, input_count),
                    {.device = given.device == nullptr ? "" : given.device,
                     .threads = given.threads,
                     .min_seconds = given.min_seconds,
                     .min_runs = given.min_runs});
    place = to_text(Json{{"device", timing.device},
                         {"clock", timing.clock},
                         {"medianSeconds", timing.median_seconds},
                         {"percentile95Seconds", timing.percentile95_seconds},
                         {"runs", timing.runs},
                         {"inputBytes", timing.input_bytes},
                         {"outputBytes", timing.output_bytes}}
                        .dump());
    return DMLOP_DONE;
  });
}

dmlop_status dmlop_criteria_of(const char* operator_name, uint32_t type, dmlop_criteria* criteria,
                               dmlop_error** error) {
  return guarded(error, [&] {
    auto& made = required(criteria, "criteria");
    read_struct(criteria, dmlop_criteria DMLOP_CRITERIA, "criteria");
    const dmlop::Criteria found =
        dmlop::criteria_of(&required(operator_name, "operator_name"), to_element_type(type, "the"));
    made.rtol = found.rtol.value_or(-1);
    made.atol = found.atol.value_or(-1);
    made.ulp = found.ulp ? static_cast<std::int64_t>(*found.ulp) : -1;
    made.nan_differs = found.nan_equals_nan ? 0 : 1;
    made.allow_trivial = found.allow_trivial ? 1 : 0;
  });
}

dmlop_status dmlop_write_npy(const char* path, const dmlop_tensor* tensor, dmlop_error** error) {
  return guarded(error, [&] {
    const auto contents = to_contents(required(tensor, "tensor"), "tensor");
    const auto* view = std::get_if<dmlop::TensorView>(&contents);
    if (view == nullptr) refuse("tensor.path is not NULL: give the elements");
    dmlop::write_npy(to_path(&required(path, "path")), *view);
  });
}

dmlop_status dmlop_operators(const char* name, char** json, dmlop_error** error) {
  if (json != nullptr) *json = nullptr;
  return guarded(error, [&] {
    auto& place = required(json, "json");
    if (name != nullptr) {
      place = to_text(dmlop::operator_json(name));
      return;
    }
    Json list = Json::array();
    for (const dmlop::OperatorInfo& info : dmlop::operators()) list.push_back(row_of(info));
    place = to_text(list.dump());
  });
}

dmlop_status dmlop_operator_of(const dmlop_operation* operation, char** name, dmlop_error** error) {
  if (name != nullptr) *name = nullptr;
  return guarded(error, [&] {
    auto& place = required(name, "name");
    const std::string found = dmlop::operator_of(to_operation(operation));
    if (!found.empty()) place = to_text(found);
  });
}

dmlop_status dmlop_devices(char** json, dmlop_error** error) {
  if (json != nullptr) *json = nullptr;
  return guarded(error, [&] {
    auto& place = required(json, "json");
    Json list = Json::array();
    for (const dmlop::DeviceInfo& info : dmlop::devices())
      list.push_back({{"spec", info.spec},
                      {"name", info.name},
                      {"kind", info.kind},
                      {"driver", info.driver},
                      {"memoryBytes", info.memory_bytes}});
    place = to_text(list.dump(-1, ' ', false, Json::error_handler_t::replace));
  });
}
