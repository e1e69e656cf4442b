// Reads what `dmlop bench --format json` printed, as a baseline. Members that a comparison does not
// need may be anything.
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench_baseline.hpp"
#include "json/document.hpp"

namespace dmlop::app {
namespace {

using Kind = json::Value::Kind;

constexpr double format_version = 1;

class BaselineReader {
 public:
  BaselineReader(const json::Document& document, Diagnostics& diagnostics)
      : document_(document), diagnostics_(diagnostics) {}

  Baseline read() {
    Baseline baseline{.file = document_.file(), .conditions = {}};
    const json::Value& root = document_.root();
    const json::Value* conditions = root.find("measuredOn");
    if (conditions == nullptr || conditions->kind != Kind::object) {
      refuse(root, "this does not say what was measured, and on what (measuredOn)");
      return baseline;
    }
    if (!read_conditions(*conditions, baseline.conditions)) return baseline;
    if (const json::Value* programs = root.find("programs")) {
      for (const json::Value& program : items_of(*programs))
        read_program(program, text(program, "program") + ": ", baseline);
    } else {
      read_program(root, "", baseline);
    }
    if (baseline.cases.empty() && diagnostics_.empty()) refuse(root, "this has no measured case");
    return baseline;
  }

 private:
  void refuse(const json::Value& value, const std::string& message) {
    diagnostics_.push_back(document_.at(value, message));
    diagnostics_.back().suggestion = "name a file with all that dmlop bench --format json printed";
  }

  // False, with a finding, for another version: its members may mean something else.
  bool read_conditions(const json::Value& object, BenchConditions& conditions) {
    const auto format = number(object, "format");
    if (!format) return false;
    if (*format != format_version) {
      diagnostics_.push_back(document_.at(
          *object.find("format"),
          "format is " + object.find("format")->text + ", and this dmlop reads format 1"));
      diagnostics_.back().suggestion = "measure the baseline again, with this dmlop";
      return false;
    }
    conditions.version = text(object, "version");
    conditions.device = text(object, "device");
    conditions.device_name = text(object, "deviceName");
    conditions.machine = text(object, "machine");
    constexpr double threads_max = 4096;
    const auto threads = number(object, "threads");
    if (threads && (*threads < 1 || *threads > threads_max || *threads != std::floor(*threads)))
      refuse(*object.find("threads"), "threads must be a whole number from 1 to 4096");
    else if (threads)
      conditions.threads = static_cast<unsigned>(*threads);
    return true;
  }

  const json::Value* member(const json::Value& object, const char* name, Kind kind,
                            const char* what) {
    const json::Value* value = object.find(name);
    if (value == nullptr) {
      refuse(object, std::string(name) + " is missing");
    } else if (value->kind != kind) {
      refuse(*value, std::string(name) + " is " + describe(*value) + ", must be " + what);
      value = nullptr;
    }
    return value;
  }

  std::string text(const json::Value& object, const char* name) {
    const json::Value* value = member(object, name, Kind::string, "a string");
    return value == nullptr ? "" : value->text;
  }

  std::optional<double> number(const json::Value& object, const char* name) {
    const json::Value* value = member(object, name, Kind::number, "a number");
    return value == nullptr ? std::nullopt : nearest_double(*value);
  }

  void read_program(const json::Value& program, const std::string& prefix, Baseline& baseline) {
    if (const json::Value* dispatches = program.find("dispatches")) {
      for (const json::Value& dispatch : items_of(*dispatches))
        add_case(dispatch, prefix, "dispatchable", baseline.cases);
    } else {
      add_case(program, prefix, "name", baseline.cases);
    }
    const json::Value* nodes = program.find("nodes");
    if (nodes == nullptr) return;
    for (const json::Value& node : items_of(*nodes)) add_case(node, prefix, "name", baseline.nodes);
  }

  const std::vector<json::Value>& items_of(const json::Value& list) {
    if (list.kind != Kind::array) refuse(list, "this is " + describe(list) + ", must be an array");
    return list.items;
  }

  /// Adds the times of an object, whose member `name` says what it is.
  void add_case(const json::Value& object, const std::string& prefix, const char* name,
                std::vector<TimedCase>& cases) {
    if (object.kind != Kind::object) return refuse(object, "this must be an object with times");
    const std::string its_name = prefix + text(object, name);
    const auto median = number(object, "medianSeconds");
    const json::Value* quartiles = member(object, "quartileSeconds", Kind::array, "two numbers");
    if (!median || quartiles == nullptr) return;
    const auto& items = quartiles->items;
    const bool are_two = items.size() == 2 && nearest_double(items[0]) && nearest_double(items[1]);
    if (!are_two) return refuse(*quartiles, "quartileSeconds must be two numbers");
    const Quartiles seconds{*nearest_double(items[0]), *median, *nearest_double(items[1])};
    const bool are_times = seconds.lower >= 0 && seconds.lower <= seconds.median &&
                           seconds.median <= seconds.upper && std::isfinite(seconds.upper);
    if (!are_times)
      return refuse(*quartiles,
                    "quartileSeconds must be times of 0 or more, and medianSeconds between them");
    cases.push_back({its_name, seconds});
  }

  const json::Document& document_;
  Diagnostics& diagnostics_;
};

}  // namespace

nlohmann::ordered_json to_json(const BenchConditions& conditions) {
  return {{"format", static_cast<int>(format_version)},
          {"version", conditions.version},
          {"device", conditions.device},
          {"deviceName", conditions.device_name},
          {"machine", conditions.machine},
          {"threads", conditions.threads}};
}

std::optional<Baseline> BaselineOptions::read(Diagnostics& diagnostics) const {
  if (file_.empty() && max_slowdown_)
    throw Error(ErrorKind::usage,
                "--max-slowdown is the limit of a comparison; add --baseline "
                "FILE.json, which dmlop bench --format json printed before");
  if (file_.empty()) return std::nullopt;
  std::string text =
      with_context("reading the baseline " + file_, [&] { return json::read_text(file_); });
  const auto document = json::Document::parse(file_, std::move(text), diagnostics);
  if (!document) return std::nullopt;
  Diagnostics findings;
  Baseline baseline = BaselineReader(*document, findings).read();
  diagnostics.insert(diagnostics.end(), findings.begin(), findings.end());
  return findings.empty() ? std::optional(std::move(baseline)) : std::nullopt;
}

}  // namespace dmlop::app
