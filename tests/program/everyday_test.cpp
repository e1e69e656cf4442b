// What the program says when an everyday mistake is made with files and options.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "gpu/missing_gpu.hpp"
#include "paths.hpp"
#include "program.hpp"

namespace dmlop::test::everyday_test {
namespace {

using Json = nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* edge =
    R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1],
    "EndPadding": [0, 2]}})";

/// A folder with an op.json and input files of several shapes and types.
class FilesOfUser : public Folder {
 public:
  FilesOfUser() {
    write("op.json", edge);
    write("pool.json", R"({"type": "LP_POOLING", "desc": {"Strides": [1, 1], "WindowSize": [2, 2],
        "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2}})");
    write("x.npy", npy("<f4", "(3, 4)", std::string(48, '\0')));
    write("deep.npy", npy("<f4", "(2, 3, 4)", std::string(96, '\0')));
    write("nine.npy", npy("<f4", "(1, 1, 2, 1, 1, 1, 1, 1, 3)", std::string(24, '\0')));
    write("double.npy", npy("<f8", "(1, 1, 2, 2)", std::string(32, '\0')));
    write("bool.npy", npy("|b1", "(1, 2)", std::string("\1\0", 2)));
  }
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
};

}  // namespace

TEST_CASE("a file of the wrong rank is named, with what to type in NumPy") {
  const FilesOfUser files;
  const auto flat = files.run({"check", "pool.json", "-i", "x.npy"});
  CHECK(flat.code == 3);
  CHECK(contains(flat.error, "InputTensor (x.npy) has 2 dimensions, must have 4 to 5\n"));
  CHECK(contains(flat.error, "help: add dimensions of size 1: save array.reshape(1, 1, 3, 4)\n"));
  const auto nine = files.run({"check", "op.json", "-i", "nine.npy"});
  CHECK(contains(nine.error, "InputTensor (nine.npy) has 9 dimensions, must have 1 to 8\n"));
  CHECK(contains(nine.error, "help: merge dimensions: save array.reshape(2, 3)\n"));
  const auto deep = files.run({"check", "op.json", "-i", "deep.npy"});
  CHECK(contains(deep.error, "StartPadding and EndPadding have 2 values, must have 3\n"));
  CHECK(contains(deep.error, "DimensionCount is 3, as InputTensor has in deep.npy: [2, 3, 4]\n"));
  CHECK(
      deep.error.ends_with("help: write 3 values, or save array.reshape(6, 4) for InputTensor\n"));
}

TEST_CASE("a file of the wrong type or shape is told what to type in NumPy") {
  const FilesOfUser files;
  const auto type = files.run({"check", "pool.json", "-i", "double.npy"});
  CHECK(contains(type.error, "InputTensor.DataType is FLOAT64, must be one of FLOAT32, FLOAT16\n"));
  CHECK(contains(type.error, "help: save array.astype(numpy.float32)\n"));
  files.write("described.json", R"({"type": "ELEMENT_WISE_IDENTITY", "desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [4, 3]}}})");
  const auto shape = files.run({"check", "described.json", "-i", "x.npy"});
  CHECK(contains(shape.error, "help: write [3, 4], or save array.transpose(1, 0)\n"));
  const auto other = files.run({"check", "described.json", "-i", "double.npy"});
  CHECK(contains(other.error, "help: write \"FLOAT64\", or save array.astype(numpy.float32)\n"));
  const auto root =
      files.run({"check", "ELEMENT_WISE_SQRT", "--set", "InputTensor=FLOAT32", "-i", "double.npy"});
  CHECK(contains(root.error, "InputTensor.DataType is FLOAT32, but double.npy has FLOAT64\n"));
  CHECK(contains(root.error, "help: save array.astype(numpy.float32)\n"));
}

TEST_CASE("arrays of numpy.bool_ are UINT8") {
  const FilesOfUser files;
  CHECK(files.run({"run", "op.json", "-i", "bool.npy", "-o", "y.npy", "--cpu", "-q"}).code == 0);
  CHECK(files.read("y.npy") == npy("|u1", "(1, 5)", std::string("\1\1\0\0\0", 5)));
}

TEST_CASE("a file that is missing is told the nearest one") {
  const FilesOfUser files;
  const auto input = files.run({"check", "op.json", "-i", "X.npy"});
  CHECK(input.code == 6);
  CHECK(contains(input.error, "X.npy: No such file or directory; did you mean x.npy?"));
  CHECK(contains(files.run({"check", "pol.json"}).error, "; did you mean pool.json?"));
  CHECK(contains(files.run({"inspect", "deep.npz"}).error, "; did you mean deep.npy?"));
  for (const char* far : {"nowhere.json", "nowhere.txt", "none/x.npy"})
    CHECK_FALSE(contains(files.run({"check", far}).error, "did you mean"));
}

TEST_CASE("JSON where an array should be is called JSON") {
  const FilesOfUser files;
  const auto result = files.run({"check", "op.json", "-i", "op.json"});
  CHECK(contains(result.error,
                 "the file is JSON that starts with \"{\"type\": \"PADDIN\", not .npy; "
                 "name the .npy file of the array"));
  files.write("example.json", "// PADDING: pads\n{}");
  CHECK(contains(files.run({"inspect", "example.json"}).error,
                 "the file is JSON that starts with \"// PADDING: pads"));
}

TEST_CASE("files without names are told the names that are left, in order") {
  const FilesOfUser files;
  files.write("reverse.json", R"({"type": "REVERSE_SUBSEQUENCES", "desc": {"Axis": 0}})");
  const auto two = files.run({"check", "reverse.json", "-i", "x.npy", "-i", "n.npy"});
  CHECK(two.code == 2);
  CHECK(contains(two.error, "which tensors are x.npy, n.npy? "));
  CHECK(contains(two.error, "write -i InputTensor=x.npy -i SequenceLengthsTensor=n.npy\n"));
  const auto one = files.run({"check", "reverse.json", "-i", "InputTensor=x.npy", "-i", "n.npy"});
  CHECK(contains(one.error, "which tensor is n.npy? "));
  CHECK(contains(one.error, "write -i SequenceLengthsTensor=n.npy\n"));
}

TEST_CASE("an output's file without a name is that of the only output of the description") {
  const FilesOfUser files;
  const std::string attention = R"({"type": "MULTIHEAD_ATTENTION", "desc": {
    "QueryTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 4]},
    "KeyTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 4]},
    "ValueTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 4]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 4]},
    "Scale": 1, "HeadCount": 1, "MaskType": "NONE"MORE}})";
  const auto with = [&](const std::string& more) {
    return std::string(attention).replace(attention.find("MORE"), 4, more);
  };
  files.write("q.npy", npy("<f4", "(1, 2, 4)", std::string(32, '\0')));
  const auto run = [&](const std::string& description, std::vector<std::string> outputs) {
    files.write("attention.json", with(description));
    std::vector<std::string> arguments{"run", "attention.json", "--cpu"};
    for (const char* name : {"Query", "Key", "Value"})
      arguments.insert(arguments.end(), {"-i", std::string(name) + "Tensor=q.npy"});
    arguments.insert(arguments.end(), outputs.begin(), outputs.end());
    return files.run(arguments);
  };
  const auto one = run("", {"-o", "y.npy"});
  CHECK(one.code == 0);
  CHECK(contains(one.output, "OutputTensor: FLOAT32 [1, 2, 4] in y.npy"));
  CHECK(run("", {"--expect", "y.npy", "--allow-trivial"}).code == 0);
  const std::string present = R"(, "OutputPresentKeyTensor": {}, "OutputPresentValueTensor": {})";
  const auto several = run(present, {"-o", "y.npy"});
  CHECK(several.code == 2);
  CHECK(contains(several.error, "which tensor is y.npy? "));
  const auto last = run(present, {"-o", "z.npy", "-o", "OutputPresentKeyTensor=k.npy", "-o",
                                  "OutputPresentValueTensor=v.npy"});
  CHECK_FALSE(contains(last.error, "which tensor"));
  const auto two = run("", {"-o", "y.npy", "-o", "z.npy"});
  CHECK(contains(two.error, "which tensors are y.npy, z.npy? "));
}

TEST_CASE("an enumeration that is missing is proposed so that it fits the tensors") {
  const FilesOfUser files;
  const auto proposed = [&](const std::string& mask) {
    return files
        .run({"check", "MULTIHEAD_ATTENTION", "--set", "QueryTensor=FLOAT32:2,3,8", "--set",
              "KeyTensor=FLOAT32:2,5,8", "--set", "ValueTensor=FLOAT32:2,5,8", "--set",
              "MaskTensor=" + mask, "--set", "HeadCount=4", "--set", "Scale=1"})
        .error;
  };
  CHECK(contains(proposed("INT32:2,4,3,5"), "help: add --set MaskType=BOOLEAN, for example"));
  CHECK(contains(proposed("INT32:2,2"), "MaskType=KEY_SEQUENCE_END_START, for example"));
  CHECK(contains(proposed("INT32:8"), "MaskType=KEY_QUERY_SEQUENCE_LENGTH_START_END, for example"));
  CHECK(contains(proposed("INT32:1,2"), "MaskType=KEY_SEQUENCE_LENGTH, for example"));
  CHECK(contains(proposed("null"), "MaskType=NONE, for example"));
}

TEST_CASE("a direction is proposed for a wrong size only if it would put all sizes right") {
  const FilesOfUser files;
  const auto convolution = files.run({"check", "CONVOLUTION",
                                      "--set", "InputTensor=FLOAT32:1,3,224,224",
                                      "--set", "FilterTensor=FLOAT32:64,3,7,7",
                                      "--set", "OutputTensor=FLOAT32:1,64,111,112",
                                      "--set", "Mode=CROSS_CORRELATION",
                                      "--set", "Direction=FORWARD",
                                      "--set", "Strides=2,2",
                                      "--set", "Dilations=1,1",
                                      "--set", "StartPadding=3,3",
                                      "--set", "EndPadding=3,3",
                                      "--set", "OutputPadding=0,0",
                                      "--set", "GroupCount=1"});
  CHECK(contains(convolution.error, "help: write 112\n"));
  const auto product = files.run({"check", "GEMM", "--set", "ATensor=FLOAT32:2,3", "--set",
                                  "BTensor=FLOAT32:5,3", "--set", "TransA=NONE", "--set",
                                  "TransB=NONE", "--set", "Alpha=1", "--set", "Beta=0"});
  CHECK(contains(product.error, "help: write 3, or \"TRANSPOSE\" for TransB\n"));
}

TEST_CASE("behind -- a name may begin with a dash") {
  const FilesOfUser files;
  files.write("-job/op.json", R"({"type": "GEMM", "desc": {}})");
  CHECK(files.run({"batch", "--list", "--", "-job"}).output == "-job\n");
  CHECK(contains(files.run({"check", "--", "-job"}).error, "-job/op.json:1:"));
  CHECK(contains(files.run({"batch"}).error, "name JOBS"));
}

TEST_CASE("the file of an element is named in a list with those before it") {
  const FilesOfUser files;
  files.write("join.json", R"({"type": "JOIN", "desc": {"Axis": 0, "InputTensors": [
      {"DataType": "FLOAT32", "Sizes": [3, 4]}, {"DataType": "FLOAT32", "Sizes": [3, 4]}]}})");
  const auto join = files.run({"run", "join.json", "--cpu"});
  CHECK(contains(join.error, R"("bindings": {"InputTensors": ["FILE0.npy"]} )"));
  CHECK(contains(join.error, R"("bindings": {"InputTensors": ["FILE0.npy", "FILE1.npy"]} )"));
}

TEST_CASE("an operator in capitals goes before a folder of its name, and says so") {
  const FilesOfUser files;
  files.write("GEMM/op.json", R"({"type": "GEMM", "desc": {}})");
  CHECK(contains(files.run({"check", "GEMM"}).error,
                 "dmlop: note: GEMM is the operator; ./GEMM is the folder\n"));
  CHECK_FALSE(contains(files.run({"check", "GEMM", "-q"}).error, "is the operator"));
  CHECK_FALSE(contains(files.run({"check", "./GEMM"}).error, "is the operator"));
  CHECK_FALSE(contains(files.run({"check", "PADDING"}).error, "is the operator"));
}

TEST_CASE("files without names are not taken for optional tensors that nobody spoke of") {
  const FilesOfUser files;
  const std::vector<std::string> attention{"check", "MULTIHEAD_ATTENTION",
                                           "--set", "MaskType=NONE",
                                           "--set", "HeadCount=2",
                                           "--set", "Scale=1",
                                           "-i",    "x.npy",
                                           "-i",    "x.npy"};
  const auto two = files.run(attention);
  CHECK(contains(two.error, "which tensors are x.npy, x.npy? "));
  CHECK(contains(two.error, "write -i QueryTensor=x.npy -i KeyTensor=x.npy\n"));
  CHECK_FALSE(contains(two.error, "StackedQueryKeyTensor are"));
  CHECK_FALSE(contains(two.error, "one of QueryTensor"));
  CHECK(contains(two.error, "one of ValueTensor, StackedKeyValueTensor and"));  // that is true
  auto three = attention;
  three.insert(three.end(), {"-i", "x.npy"});
  CHECK_FALSE(contains(files.run(three).error, "one of "));
}

TEST_CASE("a file with too few dimensions for a rule is reshaped, as its Sizes are its own") {
  const FilesOfUser files;
  files.write("i.npy", npy("<i4", "(3,)", std::string(12, '\0')));
  const auto gather =
      files.run({"check", "GATHER", "-i", "InputTensor=x.npy", "-i", "IndicesTensor=i.npy", "--set",
                 "Axis=0", "--set", "IndexDimensions=1"});
  CHECK(contains(gather.error, "IndicesTensor has 1 dimension, must have 2\n"));
  CHECK(contains(gather.error, "help: save array.reshape(1, 3)\n"));
  const auto written =
      files.run({"check", "GATHER", "-i", "InputTensor=x.npy", "--set", "IndicesTensor=INT32:3",
                 "--set", "Axis=0", "--set", "IndexDimensions=1"});
  CHECK(contains(written.error, "help: write [1, 3]\n"));
}

TEST_CASE("a file of the wrong rank is reshaped to the sizes that the rules want") {
  const FilesOfUser files;
  files.write("two.npy", npy("<f4", "(2,)", std::string(8, '\0')));
  files.write("three.npy", npy("<f4", "(3,)", std::string(12, '\0')));
  files.write("last.npy", npy("<f4", "(1, 1, 1, 2)", std::string(8, '\0')));
  const auto help_for_bias = [&](const std::string& file) {
    const auto result =
        files.run({"check", "CONVOLUTION", "--example", "-i", "BiasTensor=" + file});
    return result.error.substr(result.error.rfind("help: "));
  };
  CHECK(help_for_bias("two.npy") ==
        "help: add dimensions of size 1: save array.reshape(1, 2, 1, 1)\n");
  CHECK(help_for_bias("three.npy") == "help: save an array of sizes [1, 2, 1, 1]\n");
  CHECK(contains(help_for_bias("last.npy"),
                 "help: save array.reshape(1, 2, 1, 1), which mends both findings\n"));
}

TEST_CASE("a file with too many dimensions for all else is reshaped once for both findings") {
  const FilesOfUser files;
  files.write("one.json",
              R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [1],
      "EndPadding": [2], "OutputTensor": {"DataType": "FLOAT32", "Sizes": [15]}}})");
  const auto both = files.run({"check", "one.json", "-i", "x.npy"}).error;
  CHECK(contains(both,
                 "help: save array.reshape(12) for InputTensor, which mends both findings; "
                 "otherwise write Sizes of 2 dimensions\n"));
  CHECK(contains(both,
                 "help: save array.reshape(12) for InputTensor, which mends both findings; "
                 "otherwise write 2 values\n"));
}

TEST_CASE("files of which one can be stretched to the other are told so") {
  const FilesOfUser files;
  files.write("a.npy", npy("<f4", "(2, 3)", std::string(24, '\0')));
  files.write("row.npy", npy("<f4", "(3,)", std::string(12, '\0')));
  files.write("one.npy", npy("<f4", "(1, 3)", std::string(12, '\0')));
  files.write("two.npy", npy("<f4", "(2,)", std::string(8, '\0')));
  const auto help = [&](const std::string& a, const std::string& b) {
    const std::vector<std::string> inputs{"ELEMENT_WISE_ADD", "-i", "ATensor=" + a, "-i",
                                          "BTensor=" + b};
    std::vector<std::string> check{"check"};
    check.insert(check.end(), inputs.begin(), inputs.end());
    const std::string error = files.run(check).error;
    check.emplace_back("--broadcast");
    CHECK((files.run(check).code == 0) == contains(error, "--broadcast"));
    return error.substr(std::min(error.rfind("help: "), error.size()));
  };
  CHECK(help("a.npy", "row.npy") ==
        "help: add --broadcast to stretch it as NumPy does, or save "
        "numpy.broadcast_to(array, (2, 3))\n");
  CHECK(help("row.npy", "a.npy") == "help: add --broadcast to stretch ATensor as NumPy does\n");
  CHECK(help("a.npy", "two.npy") == "help: save an array of sizes [2, 3]\n");
  CHECK(contains(help("a.npy", "one.npy"), "help: add --broadcast to stretch it as NumPy does"));
  CHECK(contains(help("one.npy", "a.npy"), "help: add --broadcast to stretch ATensor as NumPy"));
  files.write("add.json", R"({"type": "ELEMENT_WISE_ADD", "desc": {}, "bindings": {
      "ATensor": "a.npy", "BTensor": "row.npy"}})");
  const auto described = files.run({"check", "add.json"}).error;
  CHECK(contains(described, "help: write \"BTensor\": {\"Broadcast\": true} to stretch it"));
}

TEST_CASE("a mask of the wrong rank gets the sizes that its kind wants") {
  const FilesOfUser files;
  files.write("one.npy", npy("<i4", "(1,)", std::string(4, '\0')));
  files.write("twelve.npy", npy("<i4", "(12,)", std::string(48, '\0')));
  const auto errors = [&](const std::string& kind, const std::vector<std::string>& mask) {
    std::vector<std::string> arguments{"check", "MULTIHEAD_ATTENTION", "--example", "--set",
                                       "MaskType=" + kind};
    if (mask.front() == "-i") arguments.insert(arguments.end(), {"--set", "MaskTensor=null"});
    arguments.insert(arguments.end(), mask.begin(), mask.end());
    return files.run(arguments).error;
  };
  const auto lengths = errors("KEY_SEQUENCE_LENGTH", {"-i", "MaskTensor=one.npy"});
  CHECK(lengths.ends_with("help: add dimensions of size 1: save array.reshape(1, 1)\n"));
  const auto bounds = errors("KEY_SEQUENCE_END_START", {"-i", "MaskTensor=one.npy"});
  CHECK(bounds.ends_with("help: save an array of sizes [2, 1]\n"));
  const auto flags = errors("BOOLEAN", {"-i", "MaskTensor=twelve.npy"});
  CHECK(flags.ends_with("help: save array.reshape(1, 2, 2, 3)\n"));
  const auto written = errors("BOOLEAN", {"--set", "MaskTensor=INT32:3"});
  CHECK(written.ends_with("help: write [1, 2, 2, 3]\n"));
  const auto open = errors("BOOLEAN", {"--set", "MaskTensor.Sizes=null"});
  CHECK(contains(open, "help: add --set MaskTensor=INT32:1,2,2,3, or name its .npy file\n"));
}

TEST_CASE("the example of a tensor that is not known keeps what is known of it") {
  const FilesOfUser files;
  const auto index =
      files.run({"check", "TOP_K", "-i", "x.npy", "--set", "Axis=1", "--set", "K=2"});
  CHECK(contains(index.error, "add --set OutputIndexTensor=UINT32:3,2, for example\n"));
  const auto taller =
      files.run({"check", "TOP_K", "-i", "x.npy", "--set", "Axis=0", "--set", "K=1"});
  CHECK(contains(taller.error, "add --set OutputIndexTensor=UINT32:1,4, for example\n"));
  const auto sizes = files.run({"check", "RESAMPLE", "-i", "x.npy", "--set", "Scales=2,2", "--set",
                                "InterpolationMode=LINEAR"});
  CHECK(contains(sizes.error, "add --set OutputTensor=FLOAT32:6,8, for example\n"));
}

TEST_CASE("C++ where a description should be is sent to convert") {
  const FilesOfUser files;
  files.write("gemm.cpp", "DML_GEMM_OPERATOR_DESC desc = {};\n");
  for (const char* command : {"check", "run", "batch"}) {
    CAPTURE(command);
    CHECK(contains(files.run({command, "gemm.cpp"}).error,
                   "gemm.cpp:1:1: error: wrong JSON: unexpected DML_GEMM_OPERATOR_DESC"));
    CHECK(contains(files.run({command, "gemm.cpp"}).error,
                   "help: if this is C++, let `dmlop convert --from-cpp` make a description"));
  }
}

TEST_CASE("an element of an array of tensors may be written as messages write it") {
  const FilesOfUser files;
  files.write("join.json", R"({"type": "JOIN", "desc": {"Axis": 0}})");
  for (const char* second : {"InputTensors.1=x.npy", "InputTensors[1]=x.npy"}) {
    const auto result =
        files.run({"check", "join.json", "-i", "InputTensors[0]=x.npy", "-i", second});
    CHECK(result.error == "");
    CHECK(contains(result.output, "OutputTensor FLOAT32 [6, 4]"));
  }
}

TEST_CASE("a job of a batch without an input is told what a job can do") {
  const FilesOfUser files;
  files.write("jobs.jsonl", R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE",)"
                            R"("StartPadding": [0, 1], "EndPadding": [0, 2]}})"
                            "\n");
  const auto lines = files.run({"batch", "jobs.jsonl", "--cpu"});
  CHECK(contains(lines.output + lines.error,
                 "help: add \"bindings\": {\"InputTensor\": \"FILE.npy\"} to the job\n"));
  files.write("jobs/op.json", edge);
  const auto folder = files.run({"batch", "jobs", "--cpu"});
  CHECK(contains(folder.output + folder.error, ", or put InputTensor.npy beside op.json\n"));
}

TEST_CASE("check --format json lists what is valid beside what is not") {
  const FilesOfUser files;
  files.write("valid.json", R"({"type": "ELEMENT_WISE_IDENTITY", "desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [4, 3]}}})");
  const auto result = files.run({"check", "valid.json", "op.json", "--format", "json"});
  const Json json = Json::parse(result.output);
  CHECK(result.code == 3);
  CHECK(json.at("diagnostics").size() == 1);
  REQUIRE(json.at("descriptions").size() == 1);
  CHECK(json.at("descriptions").at(0).at("file") == "valid.json");
}

TEST_CASE("an argument that is empty is wrong usage, as a variable may not be set") {
  const FilesOfUser files;
  for (const char* command : {"run", "check", "bench", "batch", "inspect", "convert"}) {
    CAPTURE(command);
    const auto result = files.run({command, ""});
    CHECK(result.code == 2);
    CHECK(contains(result.error, "an argument is empty and names nothing"));
  }
}

TEST_CASE("a device that a variable names is blamed on the variable") {
  const FilesOfUser files;
  files.write("op.json", edge);
  const auto result = dmlop_program({"run", "op.json", "-i", "x.npy"},
                                    {.folder = files.path(), .environment = {"DMLOP_DEVICE=foo"}});
  CHECK(result.code == 2);
  CHECK(contains(result.error, "DMLOP_DEVICE: \"foo\" is not a device"));
}

TEST_CASE("convert takes one direction") {
  const FilesOfUser files;
  const auto both = files.run({"convert", "op.json", "--to-model", "m.json", "--to-op", "o.json"});
  CHECK(both.code == 2);
  CHECK(both.error == "dmlop: error: --to-model and --to-op are both given; keep one of them\n");
}

TEST_CASE("a long run on a terminal shows how far it is, and nothing stays on the screen") {
  if (!has_command("script")) {
    MESSAGE("SKIPPED: no script(1) makes a terminal here");
    return;
  }
  const Folder folder;
  // The file takes no room on the disk: its elements are a hole.
  const std::string header = npy("|u1", "(1048576, 1024)", "");
  folder.write("x.npy", header);
  std::filesystem::resize_file(folder / "x.npy", header.size() + (std::uint64_t{1} << 30));
  folder.write("op.json", R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE",
      "StartPadding": [0, 0], "EndPadding": [0, 0]}})");
  const auto result = shell(
      "script -qec 'dmlop run op.json -i x.npy --expect x.npy --threads 1 --cpu' /dev/null "
      "< /dev/null",
      {.folder = folder.path()});
  CAPTURE(result.output);
  CHECK(result.code == 0);
  CHECK(contains(result.output,
                 "dmlop: reads 1.0 GiB and writes 0.0 GiB in parts; "
                 "whole tensors in memory: 0.0 GiB"));
  const auto pipe =
      shell("dmlop run op.json -i x.npy --expect x.npy --cpu 2>&1", {.folder = folder.path()});
  CHECK_FALSE(contains(pipe.output, "\033"));
}

TEST_CASE("devices: why a GPU is missing, with what to do") {
  const Folder root;
  const auto reason = [&] { return gpu::why_no_gpu(root.path()).front(); };
  CHECK(reason() == "the system shows no GPU");
  root.write("sys/class/drm/renderD128/device/vendor", "0x1002\n");
  CHECK(reason() ==
        "the GPU /dev/dri/renderD128 (AMD) is not in this container: start it with --gpus all or "
        "--device /dev/dri");
  root.write("dev/dri/renderD128", "");
  CHECK(reason() ==
        "the GPU /dev/dri/renderD128 (AMD) has no Vulkan driver here: install mesa-vulkan-drivers");
  root.write("sys/class/drm/renderD128/device/vendor", "0x10de\n");
  CHECK(contains(reason(), "(NVIDIA) has no Vulkan driver here: install NVIDIA's driver"));
}

TEST_CASE("everyday: an output with another extension is a .npy file, and a note says so") {
  const Folder folder;
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", source_path("samples/padding"), "--cpu"});
    return dmlop_program(arguments, {.folder = folder.path()});
  };
  const auto other = run({"-o", "y.bin"});
  CHECK(other.code == 0);
  CHECK(folder.read("y.bin").starts_with("\x93NUMPY"));
  CHECK(contains(other.error,
                 "note: y.bin gets the format .npy: a header, then the elements; name it y.npy, "
                 "or write y.bin:raw for the elements alone\n"));
  for (const char* name : {"y.npy", "y", "/dev/null"}) CHECK(run({"-o", name}).error == "");
  CHECK(run({"-o", "y.bin", "-q"}).error == "");
}

TEST_CASE("everyday: a file of another kind is named, with what reads it") {
  const Folder folder;
  folder.write("x.onnx", "\x08\x07\x12\x04onnx");
  folder.write("model", "\x08\x07\x12\x04onnx");
  folder.write("jobs.jsonl", "{\"id\": \"a\"}\n{\"id\": \"b\"}\n");
  folder.write("jobs.txt", "{\"id\": \"a\"}\n{\"id\": \"b\"}\n");
  folder.write("jobs.json", "{\"jobs\": []}");
  const std::pair<const char*, const char*> rows[] = {
      {"x.onnx", "this is not an ONNX model: it has no graph"},
      {"model", "this is an ONNX model"},
      {"jobs.jsonl",
       "this is a list of jobs (JSON Lines); expected one op description or model\n"
       "  help: run its jobs with `dmlop batch jobs.jsonl`"},
      {"jobs.txt", "jobs.txt:2:1: error: a second JSON object begins here"},
      {"jobs.json", "help: this is a list of jobs; `dmlop batch` runs it"},
  };
  for (const char* command : {"check", "run"}) {
    for (const auto& [file, message] : rows) {
      CAPTURE(file);
      const auto result = dmlop_program({command, file}, {.folder = folder.path()});
      CHECK(result.code == 3);
      CHECK(contains(result.error, message));
      CHECK_FALSE(contains(result.error, "wrong JSON"));
    }
  }
}

}  // namespace dmlop::test::everyday_test
