// dmlop bench --baseline. The times of baselines are made up: so short or so long that it does not
// matter how fast this machine is.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "batch.hpp"

namespace dmlop::test::bench_baseline_test {
namespace {

constexpr double never_so_short = 1e-12, never_so_long = 1e9;

/// An operator, a graph of it, and a model that dispatches it twice.
class BenchFolder : public Folder {
 public:
  BenchFolder() {
    write("op.json", R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1],
        "EndPadding": [2], "InputTensor": {"DataType": "FLOAT32", "Sizes": [3]}}})");
    write("graph.json",
          R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [3]}], "nodes": [
        {"name": "exp", "type": "ELEMENT_WISE_EXP",
         "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
        {"name": "abs", "type": "ELEMENT_WISE_ABS",
         "bindings": {"InputTensor": "y", "OutputTensor": "z"}}]})");
    write("model.json", R"({"resources": {
        "x": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3]},
        "y": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 3, "value": 0}}},
      "dispatchables": {"abs": {"type": "ELEMENT_WISE_ABS", "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [3]}}}},
      "commands": [
        {"type": "dispatch", "dispatchable": "abs",
         "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
        {"type": "dispatch", "dispatchable": "abs",
         "bindings": {"InputTensor": "y", "OutputTensor": "x"}}]})");
  }
  ProgramResult bench(const std::string& op, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"bench", op, "--cpu", "--threads", "1", "--min-time", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return dmlop_program(arguments, {.folder = path()});
  }
  Json measured(const std::string& op) const {
    const auto result = bench(op, {"--format", "json"});
    CAPTURE(result.error);
    REQUIRE(result.code == 0);
    return Json::parse(result.output);
  }
  /// Compares with a baseline and prints text.
  ProgramResult compared(const std::string& op, const Json& baseline,
                         std::vector<std::string> more = {}) const {
    write("old.json", baseline.dump(1));
    more.insert(more.end(), {"--baseline", "old.json"});
    return bench(op, more);
  }
};

/// Gives every case and node of a baseline another time.
Json with_times(Json baseline, double seconds) {
  const auto set = [&](Json& object) {
    object["medianSeconds"] = seconds;
    object["quartileSeconds"] = {seconds, seconds};
  };
  if (baseline.contains("medianSeconds")) set(baseline);
  for (const char* list : {"dispatches", "nodes"}) {
    if (!baseline.contains(list)) continue;
    for (Json& item : baseline[list]) set(item);
  }
  return baseline;
}

TEST_CASE("baseline: an operator, a graph and a model are slower or faster than before") {
  const BenchFolder folder;
  struct Row {
    const char* op;
    std::vector<std::string> cases, nodes;
  };
  for (const Row& row :
       {Row{"op.json", {"PADDING FLOAT32 [3]"}, {}}, Row{"graph.json", {"graph"}, {"exp", "abs"}},
        Row{"model.json", {"abs", "abs"}, {}}}) {
    CAPTURE(row.op);
    const Json old = folder.measured(row.op);
    for (const auto& [seconds, verdict, code] :
         {std::tuple{never_so_short, "slower", 1}, std::tuple{never_so_long, "faster", 0}}) {
      CAPTURE(verdict);
      const Json before = with_times(old, seconds);
      const auto text = folder.compared(row.op, before);
      CHECK(text.code == code);
      CHECK(contains(text.output, "baseline   old.json (dmlop "));
      CHECK(contains(text.output, "cpu, 1 thread); slower is more than 10 percent\n"));
      CHECK(count_of(text.output, std::string(" ") + verdict + "\n") ==
            row.cases.size() + row.nodes.size());
      const auto result = folder.compared(row.op, before, {"--format", "json"});
      CHECK(result.code == code);
      const Json json = Json::parse(result.output).at("baseline");
      CHECK(json.at("file") == "old.json");
      CHECK(json.at("maxSlowdown") == 0.1);
      CHECK(json.at("slower") == (code == 1 ? row.cases.size() : 0));
      for (const auto& [member, names] :
           {std::pair{"cases", row.cases}, std::pair{"nodes", row.nodes}}) {
        REQUIRE(json.at(member).size() == names.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
          const Json& one = json.at(member)[i];
          CHECK(one.at("name") == names[i]);
          CHECK(one.at("verdict") == verdict);
          CHECK(one.at("beforeSeconds") == seconds);
          CHECK(one.at("ratio").get<double>() ==
                doctest::Approx(one.at("nowSeconds").get<double>() / seconds));
        }
      }
    }
  }
}

TEST_CASE("baseline: several programs and all jobs of a folder are compared by their names") {
  const BenchFolder folder;
  for (const char* id : {"jobs/a", "jobs/b/c", "jobs/late"})
    folder.write(id + std::string("/op.json"), folder.read("op.json"));
  folder.write("jobs/d/graph.json", folder.read("graph.json"));
  folder.write("jobs/late/job.json", R"({"skip": "too large"})");
  const auto all = folder.bench("jobs", {"--format", "json"});
  CHECK(all.code == 0);
  Json old = Json::parse(all.output);
  REQUIRE(old.at("programs").size() == 3);
  CHECK(contains(old.at("warnings").dump(), "it is skipped: too large"));
  for (Json& program : old["programs"]) program = with_times(program, never_so_long);
  old["programs"][1] = with_times(old["programs"][1], never_so_short);
  const auto result = folder.compared("jobs", old, {"--format", "json"});
  CHECK(result.code == 1);
  const Json comparison = Json::parse(result.output).at("baseline");
  std::string verdicts;
  for (const char* list : {"cases", "nodes"}) {
    for (const Json& one : comparison.at(list))
      verdicts +=
          one.at("name").get<std::string>() + " " + one.at("verdict").get<std::string>() + ", ";
  }
  CHECK(verdicts ==
        "a: PADDING FLOAT32 [3] faster, b/c: PADDING FLOAT32 [3] slower, d: graph faster, "
        "d: exp faster, d: abs faster, ");
  // Those that are named one by one are called as they are named.
  const auto named = folder.bench("op.json", {"graph.json"});
  CHECK(named.code == 0);
  CHECK(contains(named.output, "program    op.json\n"));
  CHECK(contains(named.output, "program    graph.json\n"));
  CHECK(folder.bench("op.json", {"graph.json", "-i", "x.npy"}).code == 2);
  const auto wrong = folder.bench("op.json", {"none.json", "old.json"});
  CHECK(wrong.output.empty());
  CHECK(contains(wrong.error, "none.json"));
  CHECK(contains(wrong.error, "old.json"));
}

TEST_CASE("baseline: --max-slowdown is what a case may take longer") {
  const BenchFolder folder;
  const Json old = with_times(folder.measured("op.json"), never_so_short);
  CHECK(folder.compared("op.json", old, {"--max-slowdown", "0%"}).code == 1);
  const auto half = folder.compared("op.json", old, {"--max-slowdown", "2.5%"});
  CHECK(half.code == 1);
  CHECK(contains(half.output, "; slower is more than 2.5 percent\n"));
  // No run takes ten thousand seconds.
  CHECK(folder.compared("op.json", with_times(old, 1), {"--max-slowdown", "1000000%"}).code == 0);
  for (const char* text : {"10", "0.1", "-1%", "nan%", "inf%", "1000001%", "%", "10 %", "10%%", ""})
    CHECK(contains(folder.bench("op.json", {"--max-slowdown", text}).error,
                   "must be a percentage from 0% to 1000000%, such as 10%"));
  const auto alone = folder.bench("op.json", {"--max-slowdown", "10%"});
  CHECK(alone.code == 2);
  CHECK(contains(alone.error, "add --baseline FILE.json"));
}

TEST_CASE("baseline: a case that one side lacks is shown and is no slowdown") {
  const BenchFolder folder;
  Json old = with_times(folder.measured("model.json"), never_so_long);
  old["dispatches"].push_back(old["dispatches"][0]);
  old["dispatches"][0]["dispatchable"] = "neg";
  old["dispatches"][1]["dispatchable"] = "sin";
  const auto result = folder.compared("model.json", old, {"--format", "json"});
  CHECK(result.code == 0);
  const Json comparison = Json::parse(result.output).at("baseline");
  std::string verdicts;
  for (const Json& one : comparison.at("cases"))
    verdicts += one.at("name").get<std::string>() + " " + one.at("verdict").get<std::string>() +
                (one.at("ratio").is_null() ? ", " : " with a ratio, ");
  CHECK(verdicts == "abs faster with a ratio, abs new, neg missing, sin missing, ");
  // With nothing in common there is nothing to compare.
  const auto other = folder.compared("op.json", old);
  CHECK(other.code == 2);
  CHECK(other.output.empty());
  CHECK(contains(other.error,
                 "old.json has nothing of what this run measures: it has neg, sin, "
                 "abs, and this is PADDING FLOAT32 [3]"));
}

TEST_CASE(
    "baseline: another device or number of threads is refused, another machine is a warning") {
  const BenchFolder folder;
  const Json old = with_times(folder.measured("op.json"), never_so_long);
  Json other = old;
  other["measuredOn"].update({{"device", "vulkan:9"}, {"deviceName", "Fast"}, {"threads", 3}});
  const auto refused = folder.compared("op.json", other);
  CHECK(refused.code == 2);
  CHECK(refused.output.empty());
  CHECK(contains(refused.error,
                 "old.json was measured on vulkan:9 (Fast), and this run is on cpu (cpu)"));
  CHECK(contains(refused.error, "add --device vulkan:9, or measure the baseline again"));
  CHECK(contains(refused.error, "old.json was measured with 3 threads, and this run has 1"));
  CHECK(contains(refused.error, "add --threads 3, or "));
  other = old;
  other["measuredOn"].update({{"machine", "Abacus"}, {"version", "0.0.9"}});
  const auto warned = folder.compared("op.json", other);
  CHECK(warned.code == 0);
  CHECK(contains(warned.error, "warning: it was measured on another machine: Abacus; this is "));
  CHECK(contains(warned.output, "old.json (dmlop 0.0.9, cpu, 1 thread)"));
  const auto json = folder.compared("op.json", other, {"--format", "json"});
  CHECK(contains(Json::parse(json.output).at("warnings").at(0).get<std::string>(), "Abacus"));
}

TEST_CASE("baseline: on a GPU the number of threads does not matter") {
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  const BenchFolder folder;
  Json old = folder.measured("op.json");
  old["measuredOn"].update({{"device", "vulkan:9"}, {"deviceName", "Fast"}, {"threads", 3}});
  folder.write("old.json", old.dump());
  const auto refused = dmlop_program({"bench", "op.json", "--device", program_gpu(), "--threads",
                                      "1", "--min-time", "0", "--baseline", "old.json"},
                                     {.folder = folder.path()});
  CHECK(refused.code == 2);
  CHECK(contains(refused.error,
                 "old.json was measured on vulkan:9 (Fast), and this run is on " + program_gpu()));
  CHECK_FALSE(contains(refused.error, "was measured with"));
}

TEST_CASE("baseline: a file that is none is refused with the place, before anything runs") {
  const BenchFolder folder;
  const Json old = folder.measured("op.json");
  struct Row {
    Json changes;  // to the root
    std::string message;
  };
  const Json conditions = old.at("measuredOn");
  Json newer = conditions, fractional = conditions, nameless = conditions;
  newer["format"] = 2;
  fractional["threads"] = 1.5;
  nameless.erase("deviceName");
  for (const Row& row : std::vector<Row>{
           {{{"measuredOn", nullptr}}, "does not say what was measured, and on what"},
           {{{"measuredOn", newer}}, "format is 2, and this dmlop reads format 1"},
           {{{"measuredOn", fractional}}, "threads must be a whole number from 1 to 4096"},
           {{{"measuredOn", nameless}}, "deviceName is missing"},
           {{{"name", 7}}, "name is 7, must be a string"},
           {{{"medianSeconds", "1"}}, "medianSeconds is the string \"1\", must be a number"},
           {{{"quartileSeconds", {1}}}, "quartileSeconds must be two numbers"},
           {{{"quartileSeconds", {2, 1}}}, "must be times of 0 or more, and medianSeconds between"},
           {{{"quartileSeconds", {-1, 1}}, {"medianSeconds", 0}}, "must be times of 0 or more"},
           {{{"dispatches", Json::array()}}, "this has no measured case"},
           {{{"dispatches", {7}}}, "this must be an object with times"},
           {{{"nodes", Json::object()}}, "this is an object, must be an array"},
       }) {
    CAPTURE(row.message);
    Json changed = old;
    changed.update(row.changes);
    const auto result = folder.compared("op.json", changed);
    CHECK(result.code == 3);
    CHECK(result.output.empty());
    CHECK(contains(result.error, "old.json:"));
    CHECK(contains(result.error, row.message));
  }
  folder.write("old.json", "");
  CHECK(folder.bench("op.json", {"--baseline", "old.json"}).code == 3);
  folder.write("old.json", "[1]");
  CHECK(folder.bench("op.json", {"--baseline", "old.json"}).code == 3);
  CHECK(folder.bench("op.json", {"--baseline", "none.json"}).code == 6);
  // What is wrong with the description is said at the same time.
  folder.write("wrong.json", R"({"type": "PADDING", "desc": {"PaddingMode": "EDG"}})");
  folder.write("old.json", "[1]");
  const auto both = folder.bench("wrong.json", {"--baseline", "old.json"});
  CHECK(contains(both.error, "old.json:1:1: error: "));
  CHECK(contains(both.error, "PaddingMode is "));
}

}  // namespace
}  // namespace dmlop::test::bench_baseline_test
