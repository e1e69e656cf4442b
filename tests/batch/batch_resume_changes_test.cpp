// dmlop batch --resume: a change of anything that a job depends on runs this job again, and no
// other, for every kind of job. Add every new kind of job, and every new file that jobs may read,
// to job_kinds().
#include <doctest/doctest.h>

#include <functional>

#include "batch.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::batch_resume_changes_test {
namespace {

namespace fs = std::filesystem;

/// Bytes that a file of a job gets instead of those that it has.
struct Change {
  std::string what;
  std::string file;
  std::string bytes;
};

/// Jobs a, b and c of one kind, and what b depends on.
struct JobKind {
  std::string name;
  std::string jobs;  // the argument of dmlop batch
  std::vector<std::pair<std::string, std::string>> files;
  std::vector<Change> changes;
  bool writes_outputs = true;
  bool runs_at_5_0 = true;  // the feature level of a setting
};

const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
const std::vector<float> padded{1, 1, 2, 3, 3, 3, 4, 4, 5, 6, 6, 6};

/// EDGE padding of a matrix, one element before each row and two after.
const std::string operator_fields =
    R"("type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [0, 2]})";

/// Every change of a matrix of 2 rows that leaves a valid file.
std::vector<Change> changes_of_matrix(const std::string& file, const std::vector<float>& elements) {
  const std::string columns = std::to_string(elements.size() / 2);
  const std::string shape = "(2, " + columns + ")";
  std::vector<float> other = elements;
  other.back() += 0.5F;
  return {{"an element", file, float_npy(shape, other)},
          {"the order of the elements", file, npy("<f4", shape, bytes_of(elements), true)},
          {"the byte order", file, npy(">f4", shape, bytes_of(elements))},
          {"the type", file, npy("<i4", shape, bytes_of(elements))},
          {"the shape", file, float_npy("(" + columns + ", 2)", elements)},
          {"the dimensions", file, float_npy("(1, 2, " + columns + ")", elements)}};
}

/// Every change of a tolerance of which `make` makes the bytes of a file.
std::vector<Change> changes_of_tolerance(
    const std::string& file, const std::function<std::string(const std::string& fields)>& make) {
  std::vector<Change> changes;
  for (const char* fields :
       {R"("rtol": 0.0010000002)", R"("atol": 0.0010000001)", R"("ulp": 3)",
        R"("rtol": 0.0010000001, "atol": 1e-9)", R"("rtol": 0.0010000001, "ulp": 3)",
        R"("rtol": 0.0010000001, "nan": "differ")", R"("rtol": 0.0010000001, "allowTrivial": true)",
        ""})
    changes.push_back({std::string("the tolerance: ") + fields, file, make(fields)});
  return changes;
}
const std::string tolerance = R"("rtol": 0.0010000001)";

std::string in_braces(const std::string& fields) {
  return "{" + fields + "}";
}

/// Every change of a file that is written.
std::vector<Change> changes_of_output(const std::string& file) {
  std::vector<Change> changes = changes_of_matrix(file, padded);
  changes.push_back({"cut off", file, float_npy("(2, 6)", padded).substr(0, 140)});
  changes.push_back({"empty", file, ""});
  return changes;
}

void add(std::vector<Change>& changes, const std::vector<Change>& more) {
  changes.insert(changes.end(), more.begin(), more.end());
}

JobKind operators_in_folders() {
  JobKind kind{"op.json", "jobs", {}, {}};
  for (const char* id : {"a", "b", "c"}) {
    const std::string job = "jobs/" + std::string(id) + "/";
    kind.files.insert(kind.files.end(),
                      {{job + "op.json", in_braces(operator_fields)},
                       {job + "InputTensor.npy", float_npy("(2, 3)", numbers)},
                       {job + "expected/OutputTensor.npy", float_npy("(2, 6)", padded)},
                       {job + "job.json", "{}"},
                       {job + "tol.json", in_braces(tolerance)}});
  }
  kind.changes = {
      {"that it is to differ", "jobs/b/job.json", R"({"xfail": "known"})"},
      {"the description", "jobs/b/op.json",
       in_braces(operator_fields + R"(, "featureLevel": "5_0")")},
      {"white space of the description", "jobs/b/op.json", in_braces(" " + operator_fields)}};
  add(kind.changes, changes_of_matrix("jobs/b/InputTensor.npy", numbers));
  add(kind.changes, changes_of_matrix("jobs/b/expected/OutputTensor.npy", padded));
  add(kind.changes, changes_of_tolerance("jobs/b/tol.json", in_braces));
  add(kind.changes, changes_of_output("out/b/OutputTensor.npy"));
  return kind;
}

/// A model that pads the file in.npy; Raw is read and not used.
std::string padding_model(const std::string& more = "") {
  return R"({"resources": {
    "Empty": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}},
    "In": {"initialValuesDataType": "FLOAT32", "initialValues": {"sourcePath": "in.npy"}},
    "Raw": {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": "raw.bin"}},
    "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 12, "value": 0}}},
  "dispatchables": {"pad": {"type": "PADDING", "desc": {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 6]},
    "PaddingMode": "EDGE", "PaddingValue": 0, "DimensionCount": 2,
    "StartPadding": [0, 1], "EndPadding": [0, 2]}}},
  "commands": [
    {"type": "dispatch", "dispatchable": "pad",
     "bindings": {"InputTensor": "In", "OutputTensor": "Out"}},
    {"type": "writeFile", "resource": "Out", "targetPath": "o.npy", "dimensions": [2, 6]}]})" +
         more;
}

JobKind models_in_folders() {
  JobKind kind{"model.json", "jobs", {}, {}};
  for (const char* id : {"a", "b", "c"}) {
    const std::string job = "jobs/" + std::string(id) + "/";
    kind.files.insert(kind.files.end(), {{job + "model.json", padding_model()},
                                         {job + "in.npy", float_npy("(2, 3)", numbers)},
                                         {job + "raw.bin", "raw bytes"},
                                         {job + "expected/Out.npy", float_npy("(12,)", padded)},
                                         {job + "job.json", "{}"},
                                         {job + "tol.json", in_braces(tolerance)}});
  }
  std::string other = padding_model();
  other.replace(other.find(R"("value": 0)"), 10, R"("value": 1)");
  kind.changes = {{"the model", "jobs/b/model.json", other},
                  {"that it is to differ", "jobs/b/job.json", R"({"xfail": "known"})"},
                  {"the bytes of a raw file", "jobs/b/raw.bin", "raw bytez"},
                  {"the length of a raw file", "jobs/b/raw.bin", "raw bytes."}};
  add(kind.changes, changes_of_matrix("jobs/b/in.npy", numbers));
  add(kind.changes, changes_of_matrix("jobs/b/expected/Out.npy", padded));
  add(kind.changes, changes_of_tolerance("jobs/b/tol.json", in_braces));
  add(kind.changes, changes_of_output("out/b/o.npy"));
  return kind;
}

/// Tests of ONNX: a product with weights of a file, and a function.
JobKind onnx_tests() {
  namespace onnx = onnx_bytes;
  const auto model_of = [](const std::string& function) {
    return onnx::model(
        {.nodes = {onnx::node("MatMul", {"x", "w"}, {"h"}), onnx::node(function, {"h"}, {"y"})},
         .initializers = {onnx::external_tensor("w", 1, {3, 3}, "w.bin")}});
  };
  const auto matrix = [](const std::string& name, float last) {
    const float usual = name == "x" ? 1 : 3;
    return onnx::tensor(name, 1, {2, 3},
                        onnx::raw_floats({usual, usual, usual, usual, usual, last}));
  };
  const std::string weights = onnx::raw_floats({1, 1, 1, 1, 1, 1, 1, 1, 1});
  JobKind kind{"model.onnx", "jobs", {}, {}, false};
  for (const char* id : {"a", "b", "c"}) {
    const std::string job = "jobs/" + std::string(id) + "/";
    kind.files.insert(kind.files.end(), {{job + "model.onnx", model_of("Relu")},
                                         {job + "w.bin", weights},
                                         {job + "test_data_set_0/input_0.pb", matrix("x", 1)},
                                         {job + "test_data_set_0/output_0.pb", matrix("y", 3)},
                                         {job + "tol.json", in_braces(tolerance)}});
  }
  kind.changes = {
      {"the model", "jobs/b/model.onnx", model_of("Abs")},
      {"the weights", "jobs/b/w.bin", onnx::raw_floats({1, 1, 1, 1, 1, 1, 1, 1, 1.0001F})},
      {"the input", "jobs/b/test_data_set_0/input_0.pb", matrix("x", 1.0001F)},
      {"the output", "jobs/b/test_data_set_0/output_0.pb", matrix("y", 3.0001F)}};
  add(kind.changes, changes_of_tolerance("jobs/b/tol.json", in_braces));
  return kind;
}

/// Jobs of a list with an ONNX model, whose data lies in files: weights, an input that gives a
/// dimension its size, and two shapes of which nothing is left in the graph, one of them an input.
JobKind onnx_models_in_a_list() {
  namespace onnx = onnx_bytes;
  const auto external = [](const std::string& name, std::int64_t type,
                           const std::vector<std::int64_t>& sizes) {
    return onnx::external_tensor(name, type, sizes, name + ".bin");
  };
  const std::string model =
      onnx::model({.nodes = {onnx::node("Add", {"x", "w"}, {"h"}),
                             onnx::node("Reshape", {"h", "shape"}, {"row"}),
                             onnx::node("Reshape", {"row", "given"}, {"y"})},
                   .initializers = {external("w", 1, {2, 3}), external("shape", 7, {2})},
                   .inputs = {onnx::value("x", {"rows", "3"}), onnx::value("given", {"2"}, 7)}});
  const auto shape = [](std::vector<std::int64_t> sizes) {
    return npy("<i8", "(2,)", bytes_of(sizes));
  };
  JobKind kind{"ONNX models in a list", "jobs.jsonl", {}, {}};
  std::vector<std::string> jobs;
  for (const std::string id : {"a", "b", "c"}) {
    jobs.push_back(R"({"id": ")" + id + R"(", "graph": ")" + id +
                   R"(/model.onnx", "bindings": {"x": ")" + id + R"(/x.npy", "given": ")" + id +
                   R"(/given.npy"}, "expect": {"y": ")" + id + R"(/golden.npy"}})");
    kind.files.insert(kind.files.end(), {{id + "/model.onnx", model},
                                         {id + "/w.bin", onnx::raw_floats({0, 0, 0, 0, 0, 0})},
                                         {id + "/shape.bin", onnx::raw_integers({1, 6})},
                                         {id + "/given.npy", shape({2, 3})},
                                         {id + "/x.npy", float_npy("(2, 3)", numbers)},
                                         {id + "/golden.npy", float_npy("(2, 3)", numbers)}});
  }
  kind.files.emplace_back("jobs.jsonl", lines_of(jobs));
  kind.changes = {{"the weights", "b/w.bin", onnx::raw_floats({0, 0, 0, 0, 0, 1})},
                  {"the shape", "b/shape.bin", onnx::raw_integers({6, 1})},
                  {"the shape that is given", "b/given.npy", shape({3, 2})},
                  {"the input", "b/x.npy", float_npy("(2, 3)", {1, 2, 3, 4, 5, 7})}};
  add(kind.changes, changes_of_output("out/b/y.npy"));
  return kind;
}

/// Jobs of a list with a graph that has a constant of 4 bits, two elements in a byte.
JobKind graphs_in_a_list() {
  JobKind kind{"graphs in a list", "jobs.jsonl", {}, {}, true, false};
  std::vector<std::string> jobs;
  for (const std::string id : {"a", "b", "c"}) {
    jobs.push_back(R"({"id": ")" + id + R"(", "graph": ")" + id +
                   R"(/graph.json", "bindings": {"s": ")" + id + R"(/s.npy"}, "expect": {"y": ")" +
                   id + R"(/golden.npy"}})");
    kind.files.insert(kind.files.end(), {{id + "/graph.json", R"({"inputs": ["s"],
        "constants": {"w": "w.bin"}, "nodes": [{"type": "DEQUANTIZE", "desc": {
          "InputTensor": {"DataType": "INT4", "Sizes": [4]}, "QuantizationType": "SCALE",
          "QuantizationTensors": [{"DataType": "FLOAT32", "Sizes": [4]}]},
        "bindings": {"InputTensor": "w", "QuantizationTensors": ["s"], "OutputTensor": "y"}}]})"},
                                         {id + "/w.bin", std::string("\x21\x43\0\0", 4)},
                                         {id + "/s.npy", float_npy("(4,)", {1, 1, 1, 1})},
                                         {id + "/golden.npy", float_npy("(4,)", {1, 2, 3, 4})}});
  }
  kind.files.emplace_back("jobs.jsonl", lines_of(jobs));
  kind.changes = {{"the constant", "b/w.bin", std::string("\x21\x44\0\0", 4)},
                  {"the scales", "b/s.npy", float_npy("(4,)", {1, 1, 1, 2})}};
  add(kind.changes, changes_of_output("out/b/y.npy"));
  return kind;
}

/// Jobs whose files all have the same names and lie in folders a, b and c.
std::string listed_job(const std::string& id, const std::string& fields) {
  return in_braces(R"("id": ")" + id + R"(", )" + operator_fields +
                   R"(, "bindings": {"InputTensor": ")" + id + R"(/x.npy"}, "expect": ")" + id +
                   R"(/golden.npy", )" + fields);
}

/// `join` puts the jobs of a list together.
JobKind jobs_in_lists(const std::string& name,
                      const std::function<std::string(const std::string& a, const std::string& b,
                                                      const std::string& c)>& join) {
  const auto list_with = [join](const std::string& b) {
    const std::string usual = R"("tolerance": )" + in_braces(tolerance);
    return join(listed_job("a", usual), b, listed_job("c", usual));
  };
  const std::string usual = listed_job("b", R"("tolerance": )" + in_braces(tolerance));
  JobKind kind{name, name, {{name, list_with(usual)}}, {}};
  for (const std::string id : {"a", "b", "c"}) {
    kind.files.emplace_back(id + "/x.npy", float_npy("(2, 3)", numbers));
    kind.files.emplace_back(id + "/golden.npy", float_npy("(2, 6)", padded));
  }
  kind.changes = {
      {"the description", name,
       list_with(
           listed_job("b", R"("featureLevel": "5_0", "tolerance": )" + in_braces(tolerance)))},
      {"white space of the job", name, list_with(usual.substr(0, 1) + " " + usual.substr(1))}};
  add(kind.changes, changes_of_matrix("b/x.npy", numbers));
  add(kind.changes, changes_of_matrix("b/golden.npy", padded));
  add(kind.changes, changes_of_tolerance(name, [&](const std::string& fields) {
        return list_with(listed_job("b", R"("tolerance": )" + in_braces(fields)));
      }));
  add(kind.changes, changes_of_output("out/b/OutputTensor.npy"));
  return kind;
}

std::vector<JobKind> job_kinds() {
  return {operators_in_folders(),
          models_in_folders(),
          onnx_tests(),
          onnx_models_in_a_list(),
          graphs_in_a_list(),
          jobs_in_lists("jobs.jsonl",
                        [](const auto& a, const auto& b, const auto& c) {
                          return lines_of({a, b, c});
                        }),
          jobs_in_lists("jobs.json", [](const auto& a, const auto& b, const auto& c) {
            return R"({"jobs": [)" + a + ",\n" + b + ",\n" + c + "]}";
          })};
}

/// Options that a job's result depends on, whatever kind of job it is. Who adds one adds it here.
const std::vector<std::vector<std::string>> settings{{"--out", "other"},
                                                     {"--feature-level", "5_0"},
                                                     {"--strict-indices"},
                                                     {"--warnings-as-errors"},
                                                     {"--rtol", "0.5"},
                                                     {"--rtol", "0.5", "--allow-trivial"},
                                                     {"--rtol", "0.5", "--nan", "differ"},
                                                     {"--rtol", "0.5", "--atol", "0.5"},
                                                     {"--rtol", "0.5", "--ulp", "2"}};

/// The ids of the jobs that a run with --resume ran again.
std::string run_again(const Folder& folder, const std::string& jobs,
                      const std::vector<std::string>& setting = {}) {
  const std::size_t before =
      folder.has("r.jsonl") ? read_records(folder.read("r.jsonl")).size() : 0;
  std::vector<std::string> arguments{"batch",     jobs,      "--cpu",  "--resume",
                                     "--results", "r.jsonl", "--jobs", "1"};
  if (setting.empty() || setting[0] != "--out") arguments.insert(arguments.end(), {"--out", "out"});
  arguments.insert(arguments.end(), setting.begin(), setting.end());
  const auto result = dmlop_program(arguments, {.folder = folder.path()});
  CAPTURE(result.error);
  const auto records = read_records(folder.read("r.jsonl"));
  std::string ids;
  unsigned skipped = 3;
  for (std::size_t i = before; i < records.size(); ++i) {
    if (!records[i].contains("id")) continue;
    ids += (ids.empty() ? "" : " ") + records[i].at("id").get<std::string>();
    --skipped;
  }
  if (skipped > 0)
    CHECK(contains(result.output, "(" + std::to_string(skipped) + " from an earlier run)"));
  return ids;
}

}  // namespace

TEST_CASE("--resume: a change of anything that a job depends on runs that job again") {
  for (const JobKind& kind : job_kinds()) {
    CAPTURE(kind.name);
    const Folder folder;
    for (const auto& [file, bytes] : kind.files) folder.write(file, bytes);
    REQUIRE(run_again(folder, kind.jobs) == "a b c");
    REQUIRE(run_again(folder, kind.jobs) == "");
    for (const Change& change : kind.changes) {
      CAPTURE(change.file);
      CAPTURE(change.what);
      const std::string before = folder.read(change.file);
      REQUIRE(change.bytes != before);
      folder.write(change.file, change.bytes);
      CHECK(run_again(folder, kind.jobs) == "b");
      const bool is_output = change.file.starts_with("out/");
      if (is_output) CHECK(folder.read(change.file) == before);
      folder.write(change.file, before);
      // What was recorded last is another state, or the output was rewritten already.
      CHECK(run_again(folder, kind.jobs) == (is_output ? "" : "b"));
      CHECK(run_again(folder, kind.jobs) == "");
    }
  }
}

TEST_CASE("--resume: an output that is gone is made again, whatever kind of job made it") {
  for (const JobKind& kind : job_kinds()) {
    CAPTURE(kind.name);
    if (!kind.writes_outputs) continue;
    const Folder folder;
    for (const auto& [file, bytes] : kind.files) folder.write(file, bytes);
    REQUIRE(run_again(folder, kind.jobs) == "a b c");
    const std::string output = kind.changes.back().file;
    const std::string bytes = folder.read(output);
    fs::remove(folder / output);
    CHECK(run_again(folder, kind.jobs) == "b");
    CHECK(folder.read(output) == bytes);
  }
}

TEST_CASE("--resume: an option that results depend on runs all jobs again") {
  for (const JobKind& kind : job_kinds()) {
    CAPTURE(kind.name);
    const Folder folder;
    for (const auto& [file, bytes] : kind.files) folder.write(file, bytes);
    REQUIRE(run_again(folder, kind.jobs) == "a b c");
    // Each follows the one before it, so that two that differ in one option are told apart.
    for (const std::vector<std::string>& setting : settings) {
      if (setting[0] == "--out" && !kind.writes_outputs) continue;
      if (setting[0] == "--feature-level" && !kind.runs_at_5_0) continue;
      CAPTURE(setting);
      CHECK(run_again(folder, kind.jobs, setting) == "a b c");
      CHECK(run_again(folder, kind.jobs, setting) == "");
    }
    CHECK(run_again(folder, kind.jobs) == "a b c");
    CHECK(run_again(folder, kind.jobs) == "");
  }
}

}  // namespace dmlop::test::batch_resume_changes_test
