// dmlop convert: op descriptions to models and back, which compute the same bytes.
#include <doctest/doctest.h>

#include "model.hpp"
#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::model_convert_test {
namespace {

namespace fs = std::filesystem;

const std::string samples = source_path("samples/");

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class ConvertFolder : public Folder {
 public:
  ProgramResult run(std::vector<std::string> arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
  void done(std::vector<std::string> arguments) const {
    const auto result = run(std::move(arguments));
    CAPTURE(result.error);
    CHECK(result.code == 0);
  }
  /// The output of an op description, and of the model made of it: of its last file.
  void check_same(const std::string& op, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"run", op, "--cpu", "-q", "-o", "direct.npy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    done(arguments);
    arguments = {"convert", op, "--to-model", "m/model.json", "-q", "-o", "by_model.npy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    fs::create_directories(fs::path(path()) / "m");
    done(arguments);
    done({"run", "m/model.json", "--cpu", "-q", "-o", "OutputTensor=resource.npy"});
    CHECK(read("resource.npy") == read("direct.npy"));
    CHECK(dmlop_program({"compare", "by_model.npy", "direct.npy", "--allow-trivial"},
                        {.folder = path()})
              .code == 0);
    // And back.
    done({"convert", "m/model.json", "--to-op", "back.json", "-q"});
    done({"run", "back.json", "--cpu", "-q", "-o", "back.npy"});
    CHECK(read("back.npy") == read("direct.npy"));
  }
};

}  // namespace

TEST_CASE("convert: the samples compute the same as models, and as op descriptions again") {
  for (const std::string name : {"padding", "lp_pooling", "slice1", "reverse_subsequences"}) {
    CAPTURE(name);
    const ConvertFolder folder;
    folder.check_same(samples + name + "/op.json");
    CHECK(folder.read("direct.npy") == read_file(samples + name + "/expected/OutputTensor.npy"));
    // The inputs stay where they are.
    CHECK(folder.list() == "back.json back.npy by_model.npy direct.npy m resource.npy");
  }
}

TEST_CASE("convert: the samples of models, as op descriptions") {
  for (const std::string name : {"padding", "lp_pooling", "slice1"}) {
    CAPTURE(name);
    const ConvertFolder folder;
    folder.done({"convert", samples + "dxdispatch/" + name + ".json", "--to-op", "op.json", "-q"});
    folder.done({"run", "op.json", "--cpu", "-q", "-o", "o.npy"});
    CHECK(folder.read("o.npy") == read_file(samples + name + "/expected/OutputTensor.npy"));
    CHECK(folder.has("op.InputTensor.npy") == (name != "padding"));
  }
}

TEST_CASE("convert: files that DxDispatch misreads are copied, with a word") {
  const ConvertFolder folder;
  const std::string edge =
      R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1, 0], "EndPadding": [0, 2]}})";
  folder.write("op.json", edge);
  folder.write("big.npy", npy(">i4", "(2, 3)", bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6}, true)));
  folder.write("fortran.npy",
               npy("<i4", "(2, 3)", bytes_of<std::int32_t>({1, 4, 2, 5, 3, 6}), true));
  folder.check_same("op.json", {"-i", "big.npy"});
  CHECK(folder.has("m/model.InputTensor.npy"));
  folder.check_same("op.json", {"-i", "fortran.npy"});
  CHECK(folder.read("m/model.InputTensor.npy") ==
        npy("<i4", "(2, 3)", bytes_of<std::int32_t>({1, 2, 3, 4, 5, 6})));
  const auto told = folder.run({"convert", "op.json", "--to-model", "x.json", "-i", "big.npy"});
  CHECK(contains(told.error,
                 "warning: big.npy is copied to x.InputTensor.npy: DxDispatch misreads "
                 "big-endian files\n"));
  CHECK(told.output == "wrote x.InputTensor.npy\nwrote x.json\n");
  const auto fortran =
      folder.run({"convert", "op.json", "--to-model", "x.json", "-i", "fortran.npy"});
  CHECK(contains(fortran.error, "DxDispatch refuses files in Fortran order\n"));
}

TEST_CASE("convert: strides of an input are those of its buffer") {
  const ConvertFolder folder;
  folder.write("op.json", R"({"type": "PADDING", "desc": {
    "InputTensor": {"DataType": "INT16", "Sizes": [3, 2], "Strides": [0, 2]},
    "PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [0, 0]}})");
  folder.write("flat.npy", npy("<i2", "(3,)", bytes_of<std::int16_t>({7, 8, 9})));
  folder.write("swapped.npy", npy(">i2", "(3,)", bytes_of<std::int16_t>({7, 8, 9}, true)));
  folder.check_same("op.json", {"-i", "flat.npy"});
  folder.check_same("op.json", {"-i", "swapped.npy"});
}

TEST_CASE("convert: offsets and other types of a model's buffers") {
  const ConvertFolder folder;
  folder.write("model.json", R"({
    "resources": {
      "In": {"initialValuesDataType": "UINT8", "initialValues": [9, 9, 9, 9, 1, 0, 2, 0], "sizeInBytes": 12, "initialValuesOffsetInBytes": 2},
      "Out": {"initialValuesDataType": "UINT16", "initialValues": {"valueCount": 4, "value": 0}}},
    "dispatchables": {"pad": {"type": "PADDING",
      "InputTensor": {"DataType": "UINT16", "Sizes": [2]}, "OutputTensor": {"DataType": "UINT16", "Sizes": [4]},
      "PaddingMode": "CONSTANT", "PaddingValue": 5, "DimensionCount": 1, "StartPadding": [1], "EndPadding": [1]}},
    "commands": [{"type": "dispatch", "dispatchable": "pad",
      "bindings": {"InputTensor": {"name": "In", "elementOffset": 6}, "OutputTensor": "Out"}},
      {"type": "print", "resource": "Out"}]})");
  CHECK(folder.run({"run", "model.json", "--cpu"}).output == "Resource 'Out': 5, 1, 2, 5\n");
  const auto told = folder.run({"convert", "model.json", "--to-op", "op.json"});
  CHECK(told.code == 0);
  CHECK(contains(told.error,
                 "print and writeFile are left out: name the output's file with run -o\n"));
  CHECK(folder.read("op.InputTensor.npy") == npy("<u2", "(2,)", bytes_of<std::uint16_t>({1, 2})));
  folder.done({"run", "op.json", "--cpu", "-q", "-o", "o.npy"});
  CHECK(folder.read("o.npy") == npy("<u2", "(4,)", bytes_of<std::uint16_t>({5, 1, 2, 5})));
}

TEST_CASE("convert: an input owned by DirectML stays so") {
  const ConvertFolder folder;
  folder.write("op.json", R"({"type": "PADDING", "desc": {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [2], "Flags": "OWNED_BY_DML"},
    "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [0]}})");
  folder.write("x.npy", float_npy("(2,)", {1, 2}));
  folder.check_same("op.json", {"-i", "x.npy"});
  CHECK(contains(folder.read("m/model.json"), R"("bindings": {"InputTensor": "InputTensor"})"));
  CHECK(contains(folder.read("back.json"), R"("Flags": "OWNED_BY_DML")"));
}

TEST_CASE("convert: what DxDispatch itself will not take is told") {
  const ConvertFolder folder;
  folder.write("x.npy", float_npy("(2,)", {1, 2}));
  const auto told = [&](const std::string& fields, std::vector<std::string> more = {}) {
    folder.write("op.json",
                 R"({"type": "PADDING", "StartPadding": [1], "EndPadding": [0], )" + fields + "}");
    std::vector<std::string> arguments{"convert", "op.json", "--to-model", "m.json", "-i", "x.npy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto result = folder.run(arguments);
    CHECK(result.code == 0);
    return result.error;
  };
  CHECK(told(R"("PaddingMode": "EDGE")").empty());
  CHECK(contains(folder.read("m.json"), "\"PaddingValue\": 0"));
  CHECK(told(R"("PaddingMode": "WRAP")") ==
        "m.json: warning: PaddingMode WRAP is unknown to DxDispatch; the model runs with dmlop "
        "only\n");
  CHECK(
      told(R"("PaddingMode": "EDGE", "featureLevel": "5_0")") ==
      "m.json: warning: a model has no feature level: run it with --feature-level 5_0 (DxDispatch: "
      "--dml_feature_level 5_0)\n");
  CHECK(contains(told(R"("PaddingMode": "EDGE", "OutputTensor": {"Strides": [2]})"),
                 "the Strides of OutputTensor are left out"));
  CHECK(
      contains(told(R"("PaddingMode": "EDGE")", {"-o", "o.dat"}), "the output goes to o.dat.npy"));
  CHECK(contains(folder.read("m.json"), "\"targetPath\": \"o.dat.npy\""));
  CHECK(told(R"("PaddingMode": "CONSTANT", "PaddingValue": "-inf")").empty());
  CHECK(contains(folder.read("m.json"), "\"PaddingValue\": \"-inf\""));
  CHECK(told(R"("PaddingMode": "CONSTANT", "PaddingValue": 0.1)").empty());
  CHECK(contains(folder.read("m.json"), "\"PaddingValue\": 0.1,"));
}

TEST_CASE("convert: no file beside the result takes the place of another") {
  const ConvertFolder folder;
  const auto model = [](const std::string& values) {
    return R"({"resources": {
      "In": {"initialValuesDataType": "FLOAT32", "initialValues": [)" +
           values + R"(]},
      "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 3, "value": 0}}},
    "dispatchables": {"pad": {"type": "PADDING", "desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
      "PaddingMode": "EDGE", "PaddingValue": 0, "DimensionCount": 1, "StartPadding": [0],
      "EndPadding": [1]}}},
    "commands": [{"type": "dispatch", "dispatchable": "pad",
      "bindings": {"InputTensor": "In", "OutputTensor": "Out"}}]})";
  };
  folder.write("op.InputTensor.npy", "somebody's");
  fs::create_directory(folder / "op.InputTensor_1.npy");
  folder.write("model.json", model("1, 2"));
  const std::vector<std::string> convert{"convert", "model.json", "--to-op", "op.json"};
  CHECK(folder.run(convert).output == "wrote op.InputTensor_2.npy\nwrote op.json\n");
  CHECK(folder.read("op.InputTensor.npy") == "somebody's");
  // The same elements are there already.
  CHECK(folder.run(convert).output == "wrote op.json\n");
  folder.done({"run", "op.json", "--cpu", "-q", "-o", "o.npy"});
  CHECK(folder.read("o.npy") == float_npy("(3,)", {1, 2, 2}));
  folder.write("model.json", model("3, 4"));
  CHECK(folder.run(convert).output == "wrote op.InputTensor_3.npy\nwrote op.json\n");
  CHECK(folder.read("op.InputTensor_2.npy") == float_npy("(2,)", {1, 2}));
  folder.done({"run", "op.json", "--cpu", "-q", "-o", "o.npy"});
  CHECK(folder.read("o.npy") == float_npy("(3,)", {3, 4, 4}));
  // Nor does the copy of a file that DxDispatch would misread, even if it has that name itself.
  folder.write("m.InputTensor.npy", npy(">f4", "(2,)", bytes_of<float>({3, 4}, true)));
  const auto copied =
      folder.run({"convert", "op.json", "--to-model", "m.json", "-i", "m.InputTensor.npy"});
  CHECK(copied.output == "wrote m.InputTensor_1.npy\nwrote m.json\n");
  CHECK(contains(copied.error, "m.InputTensor.npy is copied to m.InputTensor_1.npy: "));
  CHECK(folder.read("m.InputTensor_1.npy") == float_npy("(2,)", {3, 4}));
}

TEST_CASE("convert: wrong use") {
  const ConvertFolder folder;
  const std::string op = samples + "padding/op.json";
  const std::string model = samples + "dxdispatch/padding.json";
  const std::string two = samples + "dxdispatch/reverse_subsequences.json";
  folder.write(
      "op.json",
      R"({"type": "PADDING", "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [0]})");
  folder.write("op.InputTensor.npy", npy(">i2", "(1,)", bytes_of<std::int16_t>({7}, true)));
  struct Row {
    std::vector<std::string> arguments;
    int code;
    std::string error;
  };
  const std::vector<Row> rows{
      {{op},
       2,
       "dmlop: error: say what to make: --to-model MODEL.json or --to-op OP.json, or of a graph "
       "--to-graph GRAPH.json, --to-bin FILE.bin or --to-ops FOLDER; C++ is read with "
       "--from-cpp\n"},
      {{op, "--to-model", "a", "--to-op", "b"},
       2,
       "dmlop: error: --to-model and --to-op are both given; keep one of them\n"},
      {{op, "--to-model", "-"}, 2, "dmlop: error: the result names files relative to itself"},
      {{op, "--to-op", "x.json"}, 2, "dmlop: error: " + op + " is an op description already"},
      {{model, "--to-model", "x.json"}, 2, "dmlop: error: " + model + " is a model already"},
      {{model, "--to-op", "x.json", "-i", "x.npy"},
       2,
       model +
           ": error: -i is for op descriptions, graphs and ONNX models, and this is a DxDispatch "
           "model\n  help: leave it out; the model names its files\n"},
      {{op, "--to-model", "x.json", "--input-path", "."},
       2,
       op + ": error: --input-path is for DxDispatch models"},
      {{two, "--to-op", "x.json"},
       3,
       "dmlop: error: " + two +
           " has 2 dispatches (reverse, edge); an op description is exactly one\n"},
      {{"op.json", "--to-model", "x.json"}, 2, "op.json: error: no file is given for InputTensor"},
      {{"op.json", "--to-model", "op.json", "-i", "op.InputTensor.npy"},
       2,
       "dmlop: error: op.json is read by this conversion"},
      {{"op.json", "--to-model", "./op.model.json", "-i", "op.InputTensor.npy"}, 0, ""},
      {{"op.json", "--to-model", "no/x.json", "-i", "op.InputTensor.npy"}, 6, "dmlop: error: "},
  };
  for (const Row& row : rows) {
    std::vector<std::string> arguments{"convert", "-q"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const auto result = folder.run(arguments);
    CAPTURE(row.arguments.back());
    CAPTURE(result.error);
    CHECK(result.code == row.code);
    CHECK(result.error.starts_with(row.error));
    CHECK(!folder.has("x.json"));
  }
}

}  // namespace dmlop::test::model_convert_test
