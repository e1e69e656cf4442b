// Inputs that are made up: --random and {"random": …} in bindings.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "batch.hpp"
#include "job/random_inputs.hpp"
#include "npy/elements.hpp"
#include "ops/operator.hpp"
#include "spec/spec.hpp"
#include "tensor/element.hpp"

namespace dmlop::test::random_run_test {
namespace {

ProgramResult run_in(const Folder& folder, const std::vector<std::string>& arguments) {
  return dmlop_program(arguments, {.folder = folder.path()});
}

Description described(const std::string& name, Json desc) {
  const Json json{{"type", name}, {"desc", std::move(desc)}};
  Diagnostics findings;
  auto description = read_description("op.json", json.dump(), newest_feature_level, findings);
  REQUIRE(description);
  check_description(*description, findings);
  REQUIRE_MESSAGE(findings.empty(), to_text(findings.front()));
  return std::move(*description);
}

std::vector<double> numbers_of(const NpyFile& file) {
  const Elements elements(file);
  std::vector<std::byte> scratch;
  std::vector<double> numbers;
  for (std::uint64_t i = 0; i < elements.count(); ++i)
    numbers.push_back(element_value(elements.data_type(), elements.read(i, 1, scratch).data()));
  return numbers;
}

std::vector<double> numbers(const Description& description, const std::string& field,
                            const RandomNumbers& random) {
  return numbers_of(
      random_file(description, *description.spec->find_field(field), std::nullopt, random));
}

}  // namespace

TEST_CASE("random inputs: a seed gives the same numbers, and others for each field") {
  const auto description =
      described("ELEMENT_WISE_ADD", {{"ATensor", {{"DataType", "FLOAT32"}, {"Sizes", {100}}}},
                                     {"BTensor", {{"DataType", "FLOAT32"}, {"Sizes", {100}}}}});
  const auto a = numbers(description, "ATensor", {.seed = 1});
  CHECK(a == numbers(description, "ATensor", {.seed = 1}));
  CHECK(a != numbers(description, "ATensor", {.seed = 2}));
  CHECK(a != numbers(description, "BTensor", {.seed = 1}));
  // On every machine.
  CHECK(element_text(DataType::Float64, reinterpret_cast<const std::byte*>(a.data())) ==
        "-0.20756173133850098");
  const auto normal = numbers(description, "ATensor", {.seed = 1, .is_normal = true});
  CHECK(normal != a);
}

TEST_CASE("random inputs: normal numbers have the mean 0 and the deviation 1") {
  const auto description = described(
      "ELEMENT_WISE_ABS", {{"InputTensor", {{"DataType", "FLOAT32"}, {"Sizes", {100000}}}}});
  double sum = 0, squares = 0, most = 0;
  for (const double x : numbers(description, "InputTensor", {.seed = 3, .is_normal = true})) {
    sum += x;
    squares += x * x;
    most = std::max(most, std::fabs(x));
  }
  CHECK(std::fabs(sum / 1e5) < 0.02);
  CHECK(squares / 1e5 == doctest::Approx(1).epsilon(0.02));
  CHECK(most > 3);
  CHECK(most <= 6);
}

TEST_CASE("random inputs: they suit the field") {
  const Json table{{"DataType", "FLOAT32"}, {"Sizes", {5, 2}}};
  const auto gather =
      described("GATHER", {{"InputTensor", table},
                           {"IndicesTensor", {{"DataType", "INT32"}, {"Sizes", {1, 300}}}},
                           {"OutputTensor", {{"DataType", "FLOAT32"}, {"Sizes", {300, 2}}}},
                           {"Axis", 0},
                           {"IndexDimensions", 1}});
  const auto indices = numbers(gather, "IndicesTensor", {});
  CHECK(*std::min_element(indices.begin(), indices.end()) == 0);
  CHECK(*std::max_element(indices.begin(), indices.end()) == 4);
  const auto quantized = described(
      "DEQUANTIZE",
      {{"InputTensor", {{"DataType", "INT4"}, {"Sizes", {300}}}},
       {"QuantizationType", "SCALE"},
       {"QuantizationTensors", Json::array({{{"DataType", "FLOAT32"}, {"Sizes", {1}}}})}});
  const auto four = numbers(quantized, "InputTensor", {});
  CHECK(*std::min_element(four.begin(), four.end()) == -8);
  CHECK(*std::max_element(four.begin(), four.end()) == 7);
  const auto floats = [](std::vector<int> sizes) {
    return Json{{"DataType", "FLOAT32"}, {"Sizes", std::move(sizes)}};
  };
  Json attention{{"QueryHeadCount", 2},
                 {"KeyValueHeadCount", 2},
                 {"MaskType", "NONE"},
                 {"Scale", 1},
                 {"MaskFilterValue", 0}};
  for (const char* field : {"QueryTensor", "KeyTensor", "ValueTensor"})
    attention[field] = floats({3, 1, 8});
  for (const char* field : {"PastKeyTensor", "PastValueTensor"})
    attention[field] = floats({3, 2, 5, 4});
  attention["PastSequenceLengthsTensor"] = {{"DataType", "INT32"}, {"Sizes", {3}}};
  CHECK(numbers(described("MULTIHEAD_ATTENTION1", attention), "PastSequenceLengthsTensor", {}) ==
        std::vector<double>{5, 5, 5});
}

TEST_CASE("random inputs: run --example --random works for every operator") {
  std::size_t count = 0;
  for (const std::string& name : specified_operators()) {
    if (++count % 12 != 0) continue;
    CAPTURE(name);
    const auto result = dmlop_program({"run", name, "--example", "--random=5", "--cpu"});
    CAPTURE(result.error);
    CHECK(result.code == 0);
  }
  CHECK(count >= 177);
  CHECK(dmlop_program({"run", "no_operator", "--example"}).code == 2);
  CHECK(dmlop_program({"run", "PADDING", "--example", "--random=x", "--cpu"}).code == 2);
  CHECK(dmlop_program({"run", "PADDING", "--example", "--random=-1", "--cpu"}).code == 2);
}

TEST_CASE("random inputs: files come first, and sizes must be known") {
  const Folder folder;
  folder.write("a.npy", float_npy("(2,)", {10, 20}));
  const auto open = run_in(folder, {"run", "ELEMENT_WISE_ABS", "--random", "--cpu"});
  CHECK(open.code == 3);
  CHECK(contains(open.error, "InputTensor.DataType and InputTensor.Sizes are missing"));
  // What a file and the rules say is known.
  auto known = std::vector<std::string>{"run",           "ELEMENT_WISE_ADD", "-i",
                                        "ATensor=a.npy", "--random",         "--cpu"};
  known.insert(known.end(), {"-o", "out.npy"});
  CHECK(run_in(folder, known).code == 0);
  const std::string first = folder.read("out.npy");
  CHECK(run_in(folder, known).code == 0);
  CHECK(folder.read("out.npy") == first);
  std::ranges::replace(known, std::string("--random"), std::string("--random=2"));
  CHECK(run_in(folder, known).code == 0);
  CHECK(folder.read("out.npy") != first);
}

TEST_CASE("random inputs: bindings, and what they refuse") {
  const Folder folder;
  const auto run = [&](const std::string& table, const std::string& indices) {
    folder.write("op.json", R"({"type": "GATHER", "desc": {"Axis": 0, "IndexDimensions": 1, )"
                            R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [5]}, )"
                            R"("IndicesTensor": {"DataType": "UINT32", "Sizes": [3]}}, )"
                            R"("bindings": {"InputTensor": )" +
                                table + R"(, "IndicesTensor": )" + indices + "}}");
    return run_in(folder, {"run", "op.json", "--cpu"});
  };
  const std::string uniform = R"({"random": "uniform"})";
  const auto good = run(R"({"random": "normal", "seed": 7})", uniform);
  CAPTURE(good.error);
  CHECK(good.code == 0);
  CHECK(run(R"({"random": "normal", "seed": 8})", uniform).output != good.output);
  for (const auto& row : std::vector<std::pair<std::string, std::string>>{
           {R"({"random": "normal"})",
            "IndicesTensor is UINT32, and normal numbers are floats: write {\"random\": "
            "\"uniform\"}"},
           {R"({"random": "even"})", "bindings.IndicesTensor.random is"},
           {R"({"random": 1})", "must be one of uniform, normal"},
           {R"({"seed": 1})", "the path of a .npy file, or {\"random\": \"uniform\", \"seed\": 1}"},
           {R"({"random": "uniform", "seed": -1})", "bindings.IndicesTensor.seed is -1"},
           {R"({"random": "uniform", "sed": 1})", "sed"}}) {
    CAPTURE(row.first);
    const auto bad = run(uniform, row.first);
    CAPTURE(bad.error);
    CHECK(bad.code == 3);
    CHECK(contains(bad.error, row.second));
  }
  folder.write("op.json", R"({"type": "BATCH_NORMALIZATION", "desc": )" +
                              find_spec("BATCH_NORMALIZATION")->example +
                              R"(, "bindings": {"VarianceTensor": {"random": "normal"}}})");
  CHECK(contains(run_in(folder, {"run", "op.json", "--random", "--cpu"}).error,
                 "VarianceTensor holds numbers from 0.5 to 1.5"));
  folder.write("op.json", R"({"type": "ELEMENT_WISE_ABS", "desc": {"InputTensor": {"DataType": )"
                          R"("FLOAT32", "Sizes": [100000, 100000]}}})");
  CHECK(contains(run_in(folder, {"run", "op.json", "--random", "--cpu"}).error,
                 "too many to make up"));
}

TEST_CASE(
    "random inputs: those of a graph are different numbers, also where their fields are alike") {
  const Folder folder;
  folder.write(
      "graph.json",
      R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [4]}, )"
      R"({"name": "z", "DataType": "FLOAT32", "Sizes": [4]}], "nodes": [)"
      R"({"type": "ELEMENT_WISE_NEGATE", "bindings": {"InputTensor": "x", "OutputTensor": "a"}}, )"
      R"({"type": "ELEMENT_WISE_NEGATE", "bindings": {"InputTensor": "z", "OutputTensor": "b"}}], )"
      R"("outputs": ["a", "b"]})");
  const auto graph =
      run_in(folder, {"run", "graph.json", "--random", "-o", "a=a.npy", "-o", "b=b.npy", "--cpu"});
  CAPTURE(graph.error);
  CHECK(graph.code == 0);
  CHECK(folder.read("a.npy").size() == folder.read("b.npy").size());
  CHECK(folder.read("a.npy") != folder.read("b.npy"));
}

TEST_CASE("random inputs: graphs and jobs") {
  const Folder folder;
  folder.write(
      "graph.json",
      R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [4]}], "nodes": [)"
      R"({"type": "ELEMENT_WISE_ABS", "bindings": {"InputTensor": "x", "OutputTensor": "y"}}]})");
  const auto graph = run_in(folder, {"run", "graph.json", "--random", "-o", "y=y.npy", "--cpu"});
  CAPTURE(graph.error);
  CHECK(graph.code == 0);
  CHECK(run_in(folder, {"run", "graph.json", "--random", "--expect", "y=y.npy", "--cpu"}).code ==
        0);
  CHECK(run_in(folder, {"run", "graph.json", "--random=2", "--expect", "y=y.npy", "--cpu"}).code ==
        1);
  const std::string job = R"({"type": "ELEMENT_WISE_ABS", "desc": {"InputTensor": {"DataType": )"
                          R"("FLOAT32", "Sizes": [4]}}, "bindings": {"InputTensor": )"
                          R"({"random": "normal", "seed": 1}, "OutputTensor": "z.npy"}})";
  folder.write("jobs.jsonl", job + "\n" +
                                 R"({"graph": "graph.json", "bindings": {"x": )"
                                 R"({"random": "normal"}, "y": "w.npy"}})");
  const auto batch = run_in(folder, {"batch", "jobs.jsonl", "--cpu", "--confine"});
  CAPTURE(batch.output);
  CHECK(batch.code == 0);
  CHECK(folder.has("z.npy"));
  CHECK(folder.has("w.npy"));
}

}  // namespace dmlop::test::random_run_test
