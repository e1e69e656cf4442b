// Raw files where files are named: -i, -o, --expect, compare, inspect, bindings, jobs, graphs and
// ONNX models.
#include <doctest/doctest.h>

#include "batch.hpp"

namespace dmlop::test::raw_run_test {
namespace {

const std::vector<float> numbers{1, 2, 3, 4};
const std::vector<float> padded{1, 1, 2, 3, 3, 4};

const std::string fields =
    R"("type": "PADDING", "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 1], "EndPadding": [0, 0]})";

class RawFolder : public Folder {
 public:
  RawFolder() {
    write("x.bin", bytes_of(numbers));
    write("x.npy", float_npy("(2, 2)", numbers));
    write("y.bin", bytes_of(padded));
    write("y.npy", float_npy("(2, 3)", padded));
    write("wrong.bin", bytes_of<float>({1, 1, 2, 3, 3, 5}));
    write("op.json", "{" + fields + "}");
  }
  ProgramResult run(const std::vector<std::string>& arguments) const {
    return dmlop_program(arguments, {.folder = path()});
  }
};

}  // namespace

TEST_CASE("raw files: run reads and writes them as .npy files") {
  const RawFolder folder;
  for (const char* input : {"x.bin:FLOAT32:2,2", "InputTensor=x.bin:FLOAT32:2,2", "x.npy"}) {
    CAPTURE(input);
    const auto result = folder.run({"run", "op.json", "-i", input, "-o", "out.bin:raw", "--cpu"});
    CHECK(result.code == 0);
    CHECK(result.error == "");
    CHECK(result.output == "OutputTensor: FLOAT32 [2, 3] in out.bin\n");
    CHECK(folder.read("out.bin") == bytes_of(padded));
  }
  CHECK(folder.run({"run", "op.json", "-i", "x.bin:FLOAT32:2,2", "-o", "out.npy", "--cpu"}).code ==
        0);
  CHECK(folder.read("out.npy") == folder.read("y.npy"));
  // What the description says may be left out.
  const auto piped = dmlop_program(
      {"run", "op.json", "--set", "InputTensor=FLOAT32:2,2", "-i", "-:raw", "-o", "-:raw", "--cpu"},
      {.folder = folder.path(), .input = folder.read("x.bin")});
  CHECK(piped.output == bytes_of(padded));
  // A part of a file, and another byte order.
  folder.write("part.bin", "abc" + bytes_of(numbers, true) + "defgh");
  const auto part = folder.run(
      {"run", "op.json", "-i", "part.bin:FLOAT32:2,2:offset=3:big", "-o", "out.bin:raw", "--cpu"});
  CHECK(part.error == "");
  CHECK(folder.read("out.bin") == bytes_of(padded));
}

TEST_CASE("raw files: run says what is wrong with them") {
  const RawFolder folder;
  for (const auto& [input, message] : std::vector<std::pair<std::string, std::string>>{
           {"x.bin:raw",
            "nothing else says the type and sizes of InputTensor: write "
            "x.bin:FLOAT32:1,1,4,4, or DataType and Sizes in the desc"},
           {"x.bin:FLOAT16",
            "nothing else says the sizes of InputTensor: write x.bin:FLOAT16:1,1,4,4"},
           {"x.bin:FLOAT32:3,2",
            "reading InputTensor from x.bin: the file has 16 bytes, but FLOAT32 "
            "[3, 2] needs 24"},
           {"none.bin:FLOAT32:2,2", "none.bin"},
           {"x.bin", "write the type behind the name, FILE:FLOAT32"}}) {
    CAPTURE(input);
    const auto result = folder.run({"run", "op.json", "-i", input, "-o", "out.bin:raw", "--cpu"});
    CAPTURE(result.error);
    CHECK((result.code == 3 || result.code == 6));
    CHECK(contains(result.error, message));
    CHECK(!folder.has("out.bin"));
  }
  const auto unlike = folder.run({"run", "op.json", "--set", "InputTensor=FLOAT16:2,2", "-i",
                                  "x.bin:FLOAT32:2,2", "-o", "out.bin:raw", "--cpu"});
  CHECK(contains(unlike.error, "InputTensor.DataType is FLOAT16, but x.bin has FLOAT32"));
  CHECK(contains(unlike.error, "read the file as x.bin:FLOAT16"));
  CHECK(folder.run({"run", "op.json", "-o", "out.bin:FLOAT32"}).code == 2);
  const auto itself =
      folder.run({"run", "op.json", "-i", "x.bin:FLOAT32:2,2", "-o", "x.bin:raw", "--cpu"});
  CHECK(contains(itself.error, "OutputTensor would replace the file of InputTensor: x.bin"));
}

TEST_CASE("raw files: --expect and --update-golden") {
  const RawFolder folder;
  const auto expect = [&](const std::string& golden, const std::string& update = "--quiet") {
    return folder.run({"run", "op.json", "-i", "x.npy", "--expect", golden, "--cpu", update});
  };
  CHECK(expect("y.bin:raw").code == 0);
  CHECK(expect("y.bin:FLOAT32:2,3").code == 0);
  CHECK(expect("y.bin:FLOAT32:3,2").code == 1);
  const auto wrong = folder.run(
      {"run", "op.json", "-i", "x.npy", "-o", "out.bin:raw", "--expect", "wrong.bin:raw", "--cpu"});
  CHECK(wrong.code == 1);
  CHECK(contains(wrong.output, "[1, 2]  20 "));  // the byte in a file without a header
  CHECK(contains(
      expect("x.bin:raw").error,
      "reading the golden file x.bin: the file has 16 bytes, but FLOAT32 [2, 3] needs 24"));
  CHECK(expect("wrong.bin:raw", "--update-golden=accept").code == 0);
  CHECK(folder.read("wrong.bin") == bytes_of(padded));
  CHECK(expect("new.bin:raw", "--update-golden").code == 1);
  CHECK(folder.read("new.bin") == bytes_of(padded));
  const std::string golden = folder.read("y.bin");
  for (const char* form : {"y.bin:raw:offset=0", "y.bin:FLOAT32:2,3:big"}) {
    CAPTURE(form);
    const auto refused = expect(form, "--update-golden");
    CHECK(refused.code == 2);
    CHECK(contains(refused.error, "--update-golden replaces the whole golden file y.bin"));
    CHECK(folder.read("y.bin") == golden);
  }
}

TEST_CASE("raw files: compare and inspect") {
  const RawFolder folder;
  for (const auto& [actual, expected, code] :
       std::vector<std::tuple<std::string, std::string, int>>{{"y.bin:raw", "y.npy", 0},
                                                              {"y.npy", "y.bin:raw", 0},
                                                              {"y.npy", "wrong.bin:raw", 1},
                                                              {"y.bin:FLOAT32", "y.bin:raw", 0},
                                                              {"y.bin:raw", "y.bin:FLOAT32:2,3", 0},
                                                              {"y.bin:FLOAT32", "y.npy", 0},
                                                              {"y.bin:INT32", "y.npy", 1},
                                                              {"y.bin:raw", "y.bin:raw", 2},
                                                              {"x.bin:raw", "y.npy", 3}}) {
    CAPTURE(actual);
    CAPTURE(expected);
    const auto result = folder.run({"compare", actual, expected});
    CAPTURE(result.error);
    CHECK(result.code == code);
  }
  const auto shown = folder.run({"inspect", "x.bin:FLOAT32:2,2"});
  CHECK(contains(shown.output, "x.bin: FLOAT32 [2, 2], C order, little endian, 16 bytes"));
  CHECK(contains(folder.run({"inspect", "x.bin:UINT8"}).output, "UINT8 [16]"));
  CHECK(contains(folder.run({"inspect", "x.bin:raw"}).error, "write x.bin:FLOAT32"));
}

TEST_CASE("raw files: elements of 4 bits are packed") {
  const RawFolder folder;
  folder.write("three.bin", bytes_of<float>({1, -2, 3}));
  folder.write("one.bin", bytes_of<float>({1}));
  folder.write("op.json", R"({"type": "QUANTIZE", "desc": {"InputTensor": {"DataType": "FLOAT32", )"
                          R"("Sizes": [3]}, "QuantizationType": "SCALE", "QuantizationTensors": )"
                          R"([{"DataType": "FLOAT32", "Sizes": [1]}], "OutputTensor": )"
                          R"({"DataType": "INT4"}}})");
  const auto quantized =
      folder.run({"run", "op.json", "-i", "InputTensor=three.bin:raw", "-i",
                  "QuantizationTensors.0=one.bin:raw", "-o", "four.bin:raw", "--cpu"});
  CAPTURE(quantized.error);
  CHECK(quantized.code == 0);
  CHECK(folder.read("four.bin") == std::string("\xE1\x03", 2));
  CHECK(contains(folder.run({"inspect", "four.bin:INT4:3"}).output, "1 -2  3"));
  folder.write("op.json", R"({"type": "DEQUANTIZE", "desc": {"InputTensor": {"DataType": "INT4", )"
                          R"("Sizes": [3]}, "QuantizationType": "SCALE", "QuantizationTensors": )"
                          R"([{"DataType": "FLOAT32", "Sizes": [1]}]}})");
  const auto back = folder.run({"run", "op.json", "-i", "InputTensor=four.bin:raw", "-i",
                                "QuantizationTensors.0=one.bin:raw", "-o", "out.bin:raw", "--cpu"});
  CAPTURE(back.error);
  CHECK(folder.read("out.bin") == folder.read("three.bin"));
}

TEST_CASE("inputs: a packed .npy file of 4 bits is recognized by its size") {
  const RawFolder folder;
  const auto dequantized = [&](const std::string& type, const std::string& file) {
    folder.write("four.npy", file);
    folder.write("one.npy", float_npy("(1,)", {1}));
    const auto result =
        folder.run({"run", "DEQUANTIZE", "--set", "InputTensor=" + type + ":3", "--set",
                    "QuantizationType=SCALE", "-i", "InputTensor=four.npy", "-i",
                    "QuantizationTensors.0=one.npy", "-o", "out.bin:raw", "--cpu"});
    return result.code == 0 ? folder.read("out.bin") : result.error;
  };
  const auto bytes = [](std::string_view text) { return std::string(text); };
  CHECK(dequantized("INT4", npy("|u1", "(2,)", bytes({"\xE1\x03", 2}))) ==
        bytes_of<float>({1, -2, 3}));
  CHECK(dequantized("UINT4", npy("|i1", "(1, 2)", bytes({"\xE1\x03", 2}))) ==
        bytes_of<float>({-7, 6, -5}));
  CHECK(dequantized("INT4", npy("|i1", "(3,)", bytes({"\x01\xFE\x03", 3}))) ==
        bytes_of<float>({1, -2, 3}));
  CHECK(contains(dequantized("UINT4", npy("|u1", "(1,)", bytes({"\xE1", 1}))),
                 "InputTensor.Sizes is [3], but four.npy has [1]"));
}

TEST_CASE("inputs: a packed .npy file of 4 bits has as many elements as Strides reach") {
  const RawFolder folder;
  folder.write("one.npy", float_npy("(1,)", {1}));
  const auto dequantized = [&](const std::string& elements) {
    folder.write("four.npy", npy("|i1", "(" + std::to_string(elements.size()) + ",)", elements));
    const auto result =
        folder.run({"run", "DEQUANTIZE", "--set", "InputTensor.DataType=INT4", "--set",
                    "InputTensor.Sizes=3", "--set", "InputTensor.Strides=2", "--set",
                    "QuantizationType=SCALE", "-i", "InputTensor=four.npy", "-i",
                    "QuantizationTensors.0=one.npy", "-o", "out.bin:raw", "--cpu"});
    return result.code == 0 ? folder.read("out.bin") : result.error;
  };
  CHECK(dequantized("\x71\x7E\x03") == bytes_of<float>({1, -2, 3}));
  CHECK(dequantized(std::string("\x01\x07\xFE\x07\x03", 5)) == bytes_of<float>({1, -2, 3}));
  CHECK(contains(dequantized("\x01\x02"), "InputTensor.Strides reach 5 elements"));
}

TEST_CASE("inputs: elements that 4 bits do not hold are refused, with the range of the type") {
  const RawFolder folder;
  folder.write("one.npy", float_npy("(1,)", {1}));
  const auto refusal = [&](const std::string& type, const std::string& file) {
    folder.write("four.npy", file);
    return folder
        .run({"run", "DEQUANTIZE", "--set", "InputTensor.DataType=" + type, "--set",
              "QuantizationType=SCALE", "-i", "InputTensor=four.npy", "-i",
              "QuantizationTensors.0=one.npy", "-o", "out.bin:raw", "--cpu"})
        .error;
  };
  const std::string unsigned_one = refusal("UINT4", npy("|u1", "(3,)", "\x0F\x10\x01"));
  CHECK(contains(unsigned_one, "element 1 of four.npy is 16, which does not fit UINT4"));
  CHECK(contains(unsigned_one, "a byte for each element, from 0 to 15"));
  const std::string signed_one = refusal("INT4", npy("|i1", "(3,)", "\x07\xF8\xF7"));
  CHECK(contains(signed_one, "element 2 of four.npy is -9, which does not fit INT4"));
  CHECK(contains(signed_one, "a byte for each element, from -8 to 7"));
  // Bytes of another type are no elements.
  const std::string floats = refusal("UINT4", float_npy("(2,)", {1, 2}));
  CHECK(contains(floats, "but four.npy has FLOAT32"));
  CHECK_FALSE(contains(floats, "does not fit"));
}

TEST_CASE("inputs: a scalar is a tensor of one element") {
  const RawFolder folder;
  folder.write("scalar.npy", float_npy("()", {2}));
  CHECK(contains(folder.run({"inspect", "scalar.npy"}).output, "FLOAT32 [1], C order"));
  const auto result =
      folder.run({"run", "ELEMENT_WISE_NEGATE", "-i", "scalar.npy", "-o", "out.bin:raw", "--cpu"});
  CAPTURE(result.error);
  CHECK(folder.read("out.bin") == bytes_of<float>({-2}));
}

TEST_CASE("raw files: bindings and jobs name them") {
  const RawFolder folder;
  folder.write("bound.json", "{" + fields +
                                 R"(, "bindings": {"InputTensor": "x.bin:FLOAT32:2,2", )"
                                 R"("OutputTensor": "out.bin:raw"}})");
  CHECK(folder.run({"run", "bound.json", "--cpu", "--confine"}).code == 0);
  CHECK(folder.read("out.bin") == bytes_of(padded));
  folder.write("bound.json", "{" + fields +
                                 R"(, "bindings": {"InputTensor": "x.bin:FLOAT3", )"
                                 R"("OutputTensor": "out.bin:INT8"}})");
  const auto wrong = folder.run({"check", "bound.json"});
  CHECK(wrong.code == 3);
  CHECK(contains(wrong.error, "bindings.InputTensor: \"x.bin:FLOAT3\" has \"FLOAT3\""));
  CHECK(contains(wrong.error, "bindings.OutputTensor: \"out.bin:INT8\" is the file of an output"));
  folder.write("jobs.jsonl", "{" + fields + R"(, "id": "a", "expect": "y.bin:raw", )" +
                                 R"("bindings": {"InputTensor": "x.bin:FLOAT32:2,2"}})" + "\n{" +
                                 fields + R"(, "id": "b", "expect": "y.bin:FLOAT99", )" +
                                 R"("bindings": {"InputTensor": "../x.bin:FLOAT32:2,2"}})" + "\n");
  const auto batch =
      folder.run({"batch", "jobs.jsonl", "--cpu", "--confine", "--results", "r.jsonl", "-v"});
  CAPTURE(batch.output);
  CHECK(batch.code == 3);
  CHECK(contains(batch.output, "PASSED a"));
  CHECK(contains(batch.output, "has \"FLOAT99\", which is not a data type"));
  CHECK(contains(batch.output, "has a part \"..\""));
  // A file that changes makes --resume run the job again.
  folder.write("x.bin", bytes_of<float>({1, 2, 3, 5}));
  const auto again = folder.run(
      {"batch", "jobs.jsonl", "--cpu", "--filter", "a", "--resume", "--results", "r.jsonl"});
  CHECK(contains(again.output, "FAILED a"));
}

TEST_CASE("raw files: graphs and ONNX models take them") {
  const RawFolder folder;
  folder.write(
      "graph.json",
      R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [2, 2]}], "nodes": [)"
      R"({"type": "ELEMENT_WISE_ABS", "bindings": {"InputTensor": "x", "OutputTensor": "y"}}]})");
  const auto graph =
      folder.run({"run", "graph.json", "-i", "x=x.bin:raw", "-o", "y=out.bin:raw", "--cpu"});
  CAPTURE(graph.error);
  CHECK(graph.code == 0);
  CHECK(folder.read("out.bin") == bytes_of(numbers));
  CHECK(folder.run({"run", "graph.json", "-i", "x=x.bin:raw", "--expect", "y=x.bin:raw", "--cpu"})
            .code == 0);
  CHECK(folder.run({"run", "graph.json", "-i", "x=y.bin:raw", "--cpu"}).code == 3);
  folder.write("job.jsonl", R"({"graph": "graph.json", "bindings": {"x": "x.bin:raw", "y": )"
                            R"("again.bin:raw"}, "expect": {"y": "x.bin:raw"}})");
  const auto batch = folder.run({"batch", "job.jsonl", "--cpu"});
  CAPTURE(batch.output);
  CHECK(batch.code == 0);
  CHECK(folder.read("again.bin") == bytes_of(numbers));
}

}  // namespace dmlop::test::raw_run_test
