// dmlop run --as-type: a job or a graph in another floating-point type.
#include <doctest/doctest.h>

#include "batch.hpp"

namespace dmlop::test::as_type_test {
namespace {

// FLOAT16 has 2048 and 2050, and nothing between them: 2049 is rounded to 2048.
constexpr std::uint16_t half_2048 = 0x6800, half_1 = 0x3C00;

std::string half_npy(const std::string& shape, const std::vector<std::uint16_t>& bits) {
  return npy("<f2", shape, bytes_of(bits));
}
std::string double_npy(const std::string& shape, const std::vector<double>& numbers) {
  return npy("<f8", shape, bytes_of(numbers));
}

/// add.json adds a.npy and b.npy, 2048 and 1 in FLOAT16, whose sum in FLOAT16 is 2048.
class TypeFolder : public Folder {
 public:
  TypeFolder() {
    write("a.npy", half_npy("(1,)", {half_2048}));
    write("b.npy", half_npy("(1,)", {half_1}));
    write("golden.npy", half_npy("(1,)", {half_2048}));
    write("add.json", R"({"type": "ELEMENT_WISE_ADD", "desc": {
        "ATensor": {"DataType": "FLOAT16", "Sizes": [1], "TotalTensorSizeInBytes": 4},
        "BTensor": {"DataType": "FLOAT16", "Sizes": [1]}},
        "bindings": {"ATensor": "a.npy", "BTensor": "b.npy"}})");
  }
  ProgramResult run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "run");
    arguments.emplace_back("--cpu");
    return dmlop_program(arguments, {.folder = path()});
  }
  /// The output in y.npy of a run that succeeds.
  std::string output(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-o", "y.npy"});
    const auto result = run(arguments);
    CAPTURE(result.error);
    CHECK(result.code == 0);
    return read("y.npy");
  }
};

TEST_CASE("as-type: inputs are converted, and the output has the type") {
  const TypeFolder folder;
  CHECK(folder.output({"add.json"}) == half_npy("(1,)", {half_2048}));
  CHECK(folder.output({"add.json", "--as-type", "FLOAT32"}) == float_npy("(1,)", {2049}));
  CHECK(folder.output({"add.json", "--as-type", "FLOAT16"}) == half_npy("(1,)", {half_2048}));
  // Also without types in the description, and from a wider type, which is rounded.
  folder.write("open.json", R"({"type": "ELEMENT_WISE_IDENTITY"})");
  folder.write("wide.npy", double_npy("(2,)", {2049, 1}));
  CHECK(folder.output({"open.json", "-i", "wide.npy", "--as-type", "FLOAT16"}) ==
        half_npy("(2,)", {half_2048, half_1}));
  CHECK(folder.output({"open.json", "-i", "a.npy", "--as-type", "FLOAT64"}) ==
        double_npy("(1,)", {2048}));
}

TEST_CASE("as-type: numbers become the nearest ones of the type, or infinite beyond its range") {
  const TypeFolder folder;
  folder.write("open.json", R"({"type": "ELEMENT_WISE_IDENTITY"})");
  constexpr std::uint16_t most = 0x7BFF, infinity = 0x7C00, least = 0x0001;
  folder.write("x.npy", float_npy("(6,)", {65504, 65519, 65520, -65520, 0x1p-24F, 0x1p-26F}));
  CHECK(folder.output({"open.json", "-i", "x.npy", "--as-type", "FLOAT16"}) ==
        half_npy("(6,)", {most, most, infinity, infinity | 0x8000, least, 0}));
  // 1 + 2^-11 + 2^-40 is above the middle of two numbers; rounded to FLOAT32 first it would be it.
  folder.write("wide.npy", double_npy("(1,)", {1 + 0x1p-11 + 0x1p-40}));
  CHECK(folder.output({"open.json", "-i", "wide.npy", "--as-type", "FLOAT16"}) ==
        half_npy("(1,)", {half_1 + 1}));
}

TEST_CASE("as-type: input files of any order and form are converted") {
  const TypeFolder folder;
  folder.write("open.json", R"({"type": "ELEMENT_WISE_IDENTITY"})");
  folder.write("fortran.npy", npy("<f4", "(2, 3)", bytes_of<float>({1, 4, 2, 5, 3, 6}), true));
  folder.write("big.npy", npy(">f4", "(2, 3)", bytes_of<float>({1, 2, 3, 4, 5, 6}, true)));
  folder.write("raw.bin", bytes_of<float>({1, 2, 3, 4, 5, 6}));
  for (const char* file : {"fortran.npy", "big.npy", "raw.bin:FLOAT32:2,3"}) {
    CAPTURE(file);
    CHECK(folder.output({"open.json", "-i", file, "--as-type", "FLOAT64"}) ==
          double_npy("(2, 3)", {1, 2, 3, 4, 5, 6}));
  }
  // A raw file has the type of the description, not that of the run.
  folder.write("a.bin", bytes_of<std::uint16_t>({half_2048}));
  CHECK(folder.output({"add.json", "-i", "ATensor=a.bin:raw", "--as-type", "FLOAT32"}) ==
        float_npy("(1,)", {2049}));
  // Made-up numbers are those of the description, too.
  folder.output({"ELEMENT_WISE_IDENTITY", "--set", "InputTensor=FLOAT16:3", "--random"});
  folder.write("half.npy", folder.read("y.npy"));
  CHECK(folder.output({"open.json", "-i", "half.npy", "--as-type", "FLOAT32"}) ==
        folder.output({"ELEMENT_WISE_IDENTITY", "--set", "InputTensor=FLOAT16:3", "--random",
                       "--as-type", "FLOAT32"}));
}

TEST_CASE("as-type: golden files are converted and compared in that type") {
  const TypeFolder folder;
  CHECK(folder.run({"add.json", "--expect", "golden.npy"}).code == 0);
  const auto exact = folder.run({"add.json", "--expect", "golden.npy", "--as-type", "FLOAT32"});
  CHECK(exact.code == 1);
  CHECK(contains(exact.output, "2049"));
  CHECK(folder.run({"add.json", "--expect", "golden.npy", "--as-type", "FLOAT32", "--atol", "1"})
            .code == 0);
  folder.write("exact.npy", double_npy("(1,)", {2049}));
  CHECK(folder.run({"add.json", "--expect", "exact.npy", "--as-type", "FLOAT32"}).code == 0);
  folder.write("golden.bin", bytes_of<std::uint16_t>({half_2048}));
  CHECK(
      folder.run({"add.json", "--expect", "golden.bin:raw", "--as-type", "FLOAT32", "--atol", "1"})
          .code == 0);
}

TEST_CASE("as-type: what is no floating-point number stays") {
  const TypeFolder folder;
  folder.write("x.npy", float_npy("(3,)", {1, 2, 2049}));
  folder.write("i.npy", npy("<u4", "(2,)", bytes_of<std::uint32_t>({2, 0})));
  folder.write("gather.json", R"({"type": "GATHER", "desc": {"Axis": 0, "IndexDimensions": 1}})");
  CHECK(folder.output({"gather.json", "-i", "InputTensor=x.npy", "-i", "IndicesTensor=i.npy",
                       "--as-type", "FLOAT16"}) == half_npy("(2,)", {half_2048, half_1}));
  CHECK(folder.output({"CAST", "-i", "x.npy", "--set", "OutputTensor.DataType=INT32", "--as-type",
                       "FLOAT16"}) == npy("<i4", "(3,)", bytes_of<std::int32_t>({1, 2, 2048})));
}

TEST_CASE("as-type: numbers whose type a field gives get the type") {
  const TypeFolder folder;
  folder.write("x.npy", float_npy("(1,)", {1}));
  for (const char* number : {"2049", R"({"Float32": 2049})"}) {
    CAPTURE(number);
    folder.write("pad.json", R"({"type": "PADDING1", "desc": {"PaddingMode": "CONSTANT",
        "PaddingValueDataType": "FLOAT32", "PaddingValue": )" +
                                 std::string(number) +
                                 R"(, "StartPadding": [0], "EndPadding": [1]}})");
    CHECK(folder.output({"pad.json", "-i", "x.npy", "--as-type", "FLOAT16"}) ==
          half_npy("(2,)", {half_1, half_2048}));
  }
}

// Limits of FLOAT32 stand for no limit, and FLOAT16 has no such numbers.
TEST_CASE("as-type: numbers of fields are infinite beyond the range of the type") {
  const TypeFolder folder;
  folder.write("x.npy", float_npy("(3,)", {-1, 1, 70000}));
  folder.write("clip.json", R"({"type": "ELEMENT_WISE_CLIP1", "desc": {
      "MinMaxDataType": "FLOAT32", "Min": 0, "Max": 3.4028235e38}})");
  constexpr std::uint16_t half_infinite = 0x7C00;
  CHECK(folder.output({"clip.json", "-i", "x.npy", "--as-type", "FLOAT16"}) ==
        half_npy("(3,)", {0, half_1, half_infinite}));
  const auto written =
      folder.run({"clip.json", "-i", "a.npy", "--set", "MinMaxDataType=FLOAT16", "-o", "y.npy"});
  CHECK(written.code == 3);
  CHECK(contains(written.error, "Max is 3.4028235e38, must be from -65504 to 65504"));
}

TEST_CASE("as-type: a type that the operator does not accept is refused with those that it does") {
  const TypeFolder folder;
  const auto refused = folder.run({"add.json", "-o", "y.npy", "--as-type", "FLOAT64"});
  CHECK(refused.code == 3);
  CHECK_FALSE(folder.has("y.npy"));
  CHECK(contains(refused.error,
                 "add.json: --as-type FLOAT64: error: ELEMENT_WISE_ADD cannot be "
                 "computed in FLOAT64: "));
  CHECK(contains(refused.error,
                 "help: of the floating-point types it accepts FLOAT32 and FLOAT16\n"));
  const auto json =
      Json::parse(folder.run({"add.json", "--as-type", "FLOAT64", "--format", "json"}).output);
  CHECK(json.at("diagnostics").at(0).at("argument") == "--as-type FLOAT64");
  folder.write("bytes.npy", npy("|u1", "(1,)", "\1"));
  folder.write("open.json", R"({"type": "ELEMENT_WISE_IDENTITY"})");
  const auto none = folder.run({"open.json", "-i", "bytes.npy", "--as-type", "FLOAT32"});
  CHECK(none.code == 2);
  CHECK(contains(none.error, "nothing here is a floating-point number"));
  // What is wrong anyway is said of the description as it is.
  const auto wrong = folder.run({"add.json", "--set", "BTensor.Sizes=2", "--as-type", "FLOAT32"});
  CHECK(wrong.code == 3);
  CHECK_FALSE(contains(wrong.error, "--as-type"));
}

TEST_CASE("as-type: options that it cannot go with are refused") {
  const TypeFolder folder;
  folder.write("model.json", R"({"resources": {}, "dispatchables": {}, "commands": []})");
  const std::vector<std::vector<std::string>> rows{
      {"add.json", "--expect", "golden.npy", "--update-golden"}, {"model.json"}};
  for (std::vector<std::string> arguments : rows) {
    arguments.insert(arguments.end(), {"--as-type", "FLOAT32"});
    const auto result = folder.run(arguments);
    CHECK(result.code == 2);
    const bool is_model = arguments.front() == "model.json";
    CHECK(contains(result.error, is_model ? "--as-type is for op descriptions, graphs and ONNX"
                                          : "--as-type cannot be used: "));
  }
  CHECK(folder.run({"add.json", "--as-type", "INT32"}).code == 2);
}

/// graph.json adds the constant 1 to x and takes the maximum with the edge of a cast.
class TypeGraph : public TypeFolder {
 public:
  TypeGraph() {
    write("graph.json", R"({
        "inputs": [{"name": "x", "DataType": "FLOAT16", "Sizes": [3]}],
        "constants": {"one": {"DataType": "FLOAT16", "Sizes": [3], "Values": [1, 1, 1]}},
        "nodes": [
          {"name": "add", "type": "ELEMENT_WISE_ADD",
           "bindings": {"ATensor": "x", "BTensor": "one", "OutputTensor": "sum"}},
          {"name": "twice", "type": "ELEMENT_WISE_ADD",
           "bindings": {"ATensor": "sum", "BTensor": "sum", "OutputTensor": "y"}}]})");
    write("x.npy", half_npy("(3,)", {half_2048, half_1, half_1}));
  }
};

TEST_CASE("as-type: inputs, constants and edges of a graph are converted") {
  const TypeGraph folder;
  CHECK(folder.output({"graph.json", "-i", "x.npy"}) == half_npy("(3,)", {0x6C00, 0x4400, 0x4400}));
  CHECK(folder.output({"graph.json", "-i", "x.npy", "--as-type", "FLOAT32", "--keep-edges",
                       "edges"}) == float_npy("(3,)", {4098, 4, 4}));
  CHECK(folder.read("edges/sum.npy") == float_npy("(3,)", {2049, 2, 2}));
  // The other way round: the numbers of the input and of the constant are rounded.
  folder.write("wide.json", R"({
      "inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [1]}],
      "constants": {"c": {"DataType": "FLOAT32", "Sizes": [1], "Values": [2049]}},
      "nodes": [{"name": "add", "type": "ELEMENT_WISE_SUBTRACT",
                 "bindings": {"ATensor": "x", "BTensor": "c", "OutputTensor": "y"}}]})");
  folder.write("wide.npy", float_npy("(1,)", {2049}));
  CHECK(folder.output({"wide.json", "-i", "wide.npy", "--as-type", "FLOAT16"}) ==
        half_npy("(1,)", {0}));
}

TEST_CASE("as-type: golden files of a graph and of its edges are converted") {
  const TypeGraph folder;
  REQUIRE(
      folder.run({"graph.json", "-i", "x.npy", "-o", "y16.npy", "--keep-edges", "edges"}).code ==
      0);
  const std::vector<std::string> as_float{"graph.json", "-i", "x.npy", "--as-type", "FLOAT32"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), as_float.begin(), as_float.end());
    return folder.run(more);
  };
  CHECK(with({"--expect", "y=y16.npy"}).code == 1);
  CHECK(with({"--expect", "y=y16.npy", "--atol", "2"}).code == 0);
  CHECK(with({"--expect-edges", "edges", "--atol", "2"}).code == 0);
  const auto edges = with({"--expect-edges", "edges"});
  CHECK(edges.code == 1);
  CHECK(contains(edges.output, "add"));
  folder.write("y.bin", bytes_of<std::uint16_t>({0x6C00, 0x4400, 0x4400}));
  CHECK(with({"--expect", "y=y.bin:FLOAT16:3", "--atol", "2"}).code == 0);
  const auto untyped = with({"--expect", "y=y.bin:raw"});
  CHECK(untyped.code == 2);
  CHECK(contains(untyped.error, "write y.bin:FLOAT32, for example"));
}

TEST_CASE("as-type: each node that does not accept the type is named, and an edge seen in two") {
  const TypeGraph folder;
  const auto refused =
      folder.run({"graph.json", "-i", "x.npy", "-o", "y.npy", "--as-type", "FLOAT64"});
  CHECK(refused.code == 3);
  CHECK_FALSE(folder.has("y.npy"));
  for (const char* node : {"add", "twice"})
    CHECK(contains(refused.error, "graph.json: --as-type FLOAT64: error: node \"" +
                                      std::string(node) +
                                      "\" (ELEMENT_WISE_ADD) cannot be computed in FLOAT64: "));
  folder.write("views.json", R"({
      "inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [1]}],
      "nodes": [
        {"name": "neg", "type": "ELEMENT_WISE_NEGATE",
         "bindings": {"InputTensor": "x", "OutputTensor": "y"}},
        {"name": "bits", "type": "ELEMENT_WISE_IDENTITY",
         "desc": {"InputTensor": {"DataType": "UINT32", "Sizes": [1]}},
         "bindings": {"InputTensor": "y", "OutputTensor": "z"}}]})");
  folder.write("one.npy", float_npy("(1,)", {1}));
  CHECK(folder.run({"views.json", "-i", "one.npy"}).code == 0);
  const auto views = folder.run({"views.json", "-i", "one.npy", "--as-type", "FLOAT16"});
  CHECK(views.code == 3);
  CHECK(contains(views.error, "nodes see the edge \"y\" as FLOAT32 and as UINT32"));
  folder.write("bytes.json", R"({
      "inputs": [{"name": "x", "DataType": "UINT8", "Sizes": [1]}],
      "nodes": [{"name": "same", "type": "ELEMENT_WISE_IDENTITY",
                 "bindings": {"InputTensor": "x", "OutputTensor": "y"}}]})");
  folder.write("byte.npy", npy("|u1", "(1,)", "\1"));
  CHECK(folder.run({"bytes.json", "-i", "byte.npy", "--as-type", "FLOAT16"}).code == 2);
}

}  // namespace
}  // namespace dmlop::test::as_type_test
