// Resources of models: what each initializer makes, and every mistake.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "folder.hpp"
#include "model.hpp"
#include "model/runtime.hpp"
#include "model/values.hpp"

namespace dmlop::test::model_resources_test {
namespace {

using dmlop::Model;
using dmlop::ModelRequest;

std::string hex_of(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    const auto value = static_cast<unsigned>(byte);
    text += {digits[value >> 4], digits[value & 15]};
  }
  return text;
}

std::string model_of(const std::string& resource) {
  return R"({"resources": {"A": )" + resource + R"(}, "dispatchables": {}, "commands": []})";
}

/// What the buffer holds when the model starts.
std::string initial_bytes(const Model& model) {
  dmlop::Backend cpu;
  dmlop::Runtime runtime(model, cpu, {});
  return hex_of(runtime.contents(0));
}

/// "TYPE" and the initializer -> the buffer's bytes in hexadecimal.
struct Row {
  std::string type;
  std::string values;
  std::string bytes;
};

void check_bytes(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.type);
    CAPTURE(row.values);
    const std::string type =
        row.type.empty() ? "" : "\"initialValuesDataType\": \"" + row.type + "\", ";
    CHECK(initial_bytes(valid_model(
              model_of("{" + type + "\"initialValues\": " + row.values + "}"))) == row.bytes);
  }
}

std::string float_range(const std::string& type) {
  return ", must be a number, \"inf\", \"-inf\" or \"nan\" (" + type + ")";
}

}  // namespace

// clang-format off

TEST_CASE("model resources: lists of every type, padded to four bytes") {
  check_bytes({
    {"FLOAT32", "[1.2, 5, -1.2345, 1e-50]", "9a99993f" "0000a040" "19049ebf" "00000000"},
    {"FLOAT32", R"(["nan", "NaN", "inf", "Inf", "-inf", "-Inf"])",
     "0000c07f" "0000c07f" "0000807f" "0000807f" "000080ff" "000080ff"},
    {"FLOAT64", R"([1.2, -5, "-INF"])", "333333333333f33f" "00000000000014c0" "000000000000f0ff"},
    // FLOAT16 is rounded toward zero: 1.2 is between 3ccc and 3ccd, nearer to the second.
    {"FLOAT16", "[1.2, 5, -1.2345]", "cc3c" "0045" "f0bc" "0000"},
    {"FLOAT16", R"([65504, 65535, 65536, "inf", "nan", 6e-8])", "ff7b" "ff7b" "007c" "007c" "007e" "0100"},
    {"UINT8", "[0, 255, 7]", "00ff07" "00"},
    {"INT8", "[-128, 127]", "807f" "0000"},
    {"UINT16", "[65535]", "ffff" "0000"},
    {"INT16", "[-32768, 32767]", "0080" "ff7f"},
    {"UINT32", "[4294967295]", "ffffffff"},
    {"INT32", "[-2147483648, 2147483647]", "00000080" "ffffff7f"},
    {"UINT64", "[18446744073709551615]", "ffffffffffffffff"},
    {"INT64", "[-9223372036854775808]", "0000000000000080"},
    {"DML_TENSOR_DATA_TYPE_UINT8", "[1]", "01000000"},
  });
}

TEST_CASE("model resources: constants and sequences, which run in the data type") {
  check_bytes({
    {"UINT16", R"({"valueCount": 3, "value": 7})", "0700" "0700" "0700" "0000"},
    {"FLOAT32", R"({"valueCount": 2, "value": "-inf"})", "000080ff" "000080ff"},
    {"FLOAT32", R"({"valueCount": 3, "valueStart": 1, "valueDelta": 0.5})", "0000803f" "0000c03f" "00000040"},
    {"UINT8", R"({"valueCount": 4, "valueStart": 254, "valueDelta": 1})", "feff0001"},
    {"INT8", R"({"valueCount": 4, "valueStart": 126, "valueDelta": 1})", "7e7f8081"},
    {"INT64", R"({"valueCount": 2, "valueStart": 9223372036854775807, "valueDelta": 1})",
     "ffffffffffffff7f" "0000000000000080"},
    // Neither 2048 + 1 nor 2049 + 1 moves a FLOAT16.
    {"FLOAT16", R"({"valueCount": 3, "valueStart": 2047, "valueDelta": 1})", "ff67" "0068" "0068" "0000"},
    // 16777216 + 1 is not a FLOAT32: the running sum stays, a product would not.
    {"FLOAT32", R"({"valueCount": 3, "valueStart": 16777216, "valueDelta": 1})", "0000804b" "0000804b" "0000804b"},
  });
}

TEST_CASE("model resources: values of several types are packed without alignment") {
  check_bytes({
    {"", R"([{"type": "UINT8", "value": 1, "name": "x"}, {"type": "UINT32", "value": 2},
             {"type": "DML_TENSOR_DATA_TYPE_FLOAT32", "value": "inf"}])",
     "01" "02000000" "0000807f" "000000"},
    {"UNKNOWN", R"([{"type": "INT16", "value": -1}])", "ffff0000"},
  });
}

TEST_CASE("model resources: sizes and offsets") {
  const auto bytes = [](const std::string& fields) {
    return initial_bytes(valid_model(model_of(R"({"initialValuesDataType": "UINT8", )" + fields + "}")));
  };
  CHECK(bytes(R"("initialValues": [1, 2, 3], "sizeInBytes": 3)") == "010203");
  CHECK(bytes(R"("initialValues": [1, 2, 3], "sizeInBytes": 6)") == "010203000000");
  CHECK(bytes(R"("initialValues": [1, 2], "sizeInBytes": 6, "initialValuesOffsetInBytes": 4)") == "000000000102");
  // The rounding covers it.
  CHECK(bytes(R"("initialValues": [1, 2], "initialValuesOffsetInBytes": 2)") == "00000102");
}

TEST_CASE("model resources: values of another type than the tensor that reads them are warned of") {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const auto warnings = [](const std::string& type, const std::string& dispatchable = "f",
                           const std::string& before = "") {
    return read(R"({"resources": {
      "A": {"initialValuesDataType": ")" + type + R"(", "initialValues": {"valueCount": 16, "value": 0}},
      "B": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 4, "value": 0}}},
    "dispatchables": {
      "f": {"type": "ACTIVATION_RELU", "desc": {
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}}},
      "i": {"type": "ELEMENT_WISE_BIT_NOT", "desc": {
        "InputTensor": {"DataType": "UINT32", "Sizes": [4]}, "OutputTensor": {"DataType": "UINT32", "Sizes": [4]}}}},
    "commands": [)" + before + R"({"type": "dispatch", "dispatchable": ")" + dispatchable + R"(",
                               "bindings": {"InputTensor": "A", "OutputTensor": "B"}}]})").warnings;
  };
  CHECK(has(warnings("FLOAT16"), "InputTensor is FLOAT32, but the values of \"A\" are FLOAT16"));
  CHECK(has(warnings("INT32"), "a buffer has no type: its bytes are read as FLOAT32"));
  CHECK(warnings("FLOAT32") == "");
  // Any bytes, what a command wrote, and integers of as many bits.
  CHECK(warnings("UINT8") == "");
  CHECK(warnings("INT32", "i") == "");
  const auto dispatch = [](const std::string& from, const std::string& to) {
    return R"({"type": "dispatch", "dispatchable": "f", "bindings": {"InputTensor": ")" + from +
           R"(", "OutputTensor": ")" + to + "\"}}, ";
  };
  CHECK(warnings("FLOAT16", "f", dispatch("B", "A")) == "");
  CHECK(has(warnings("FLOAT16", "f", dispatch("A", "B")), "of \"A\" are FLOAT16"));
}

TEST_CASE("model resources: mistakes") {
  check_resources({
    {"^[1]", {"A is an array, must be an object with initialValues"}},
    {"^{}",
     {"the field \"A.initialValues\" is missing\n"
      "  rule: a resource says what its buffer holds at first\n"
      "  help: write \"initialValues\": {\"valueCount\": 16, \"value\": 0}, for example"}},
    {R"({"initialValuesDataType": "FLOAT32", "initialValues": ^[]})",
     {"A.initialValues is an empty array, must be at least one value"}},
    {R"({"initialValuesDataType": "FLOAT32", "initialValues": ^"now"})",
     {"A.initialValues is the string \"now\", must be an array of values, an object that says how to "
      "make them, or \"deferred\""}},
    {R"({"initialValues": [^1, 2]})",
     {"A.initialValues[0] is 1, must be an object such as {\"type\": \"UINT32\", \"value\": 6}\n"
      "  help: give initialValuesDataType for a list of numbers"}},
    {R"({"initialValuesDataType": ^"FLOAT23", "initialValues": [1]})",
     {"A.initialValuesDataType is the string \"FLOAT23\", must be one of FLOAT32, FLOAT16, UINT32, UINT16, "
      "UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64, UNKNOWN\n"
      "  help: did you mean \"FLOAT32\"?"}},
    {R"({"initialValuesDataType": ^"UINT4", "initialValues": [1]})",
     {"A.initialValuesDataType is the string \"UINT4\", must be one of FLOAT32, FLOAT16, UINT32, UINT16, "
      "UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64, UNKNOWN\n"
      "  help: did you mean \"UINT8\"?"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": ^{~"values": 1}})",
     {"A.initialValues does not say how to make the values\n"
      "  rule: it has value, valueStart or sourcePath\n"
      "  help: write {\"valueCount\": 16, \"value\": 0}, for example"},
     {"unknown field \"values\"; did you mean \"value\"?\n"
      "  rule: the fields of initialValues are valueCount, value, valueStart, valueDelta, sourcePath"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": {"valueCount": ^0, "value": 1}})",
     {"A.initialValues.valueCount is 0, must be at least 1"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": ^{"value": 1}})",
     {"the field \"A.initialValues.valueCount\" is missing\n"
      "  rule: this form of initialValues is {\"valueCount\": …, \"value\": …}\n"
      "  help: write \"valueCount\": 1, for example"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": ^{"valueCount": 1, "valueStart": 1}})",
     {"the field \"A.initialValues.valueDelta\" is missing\n"
      "  rule: this form of initialValues is {\"valueCount\": …, \"valueStart\": …, \"valueDelta\": …}\n"
      "  help: write \"valueDelta\": 1, for example"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": {"valueCount": 1, "value": ^1, "valueStart": 1}})",
     {"A.initialValues has both value and valueStart\n"
      "  rule: value, valueStart and sourcePath exclude each other\n"
      "  help: keep one of them"}},
    {R"(^{"initialValues": {"valueCount": 1, "value": 1}})",
     {"the field \"A.initialValuesDataType\" is missing\n"
      "  rule: these initialValues have no type of their own\n"
      "  help: write \"initialValuesDataType\": \"FLOAT32\", for example"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": [1, 2, 3, 4, 5], "sizeInBytes": ^4})",
     {"A has 4 bytes, too few for the initial values\n"
      "  rule: 5 bytes of values at offset 0\n"
      "  help: write \"sizeInBytes\": 5"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": ^[1, 2], "initialValuesOffsetInBytes": 3})",
     {"A has 4 bytes, too few for the initial values\n"
      "  rule: 2 bytes of values at offset 3; without sizeInBytes the buffer is as large as the values, "
      "rounded up to 4\n"
      "  help: write \"sizeInBytes\": 5"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": [1], "sizeInBytes": ^1000000000000000})",
     {"A has 1000000000000000 bytes, must have at most 1099511627776\n"
      "  rule: no device has larger buffers"}},
    {R"({"initialValuesDataType": "UINT8", "initialValues": [1], "sizeInBytes": ^-1})",
     {"A.sizeInBytes is -1, must be an integer from 0 to 9223372036854775807 (UINT64)\n"
      "  help: write 0 or more"}},
  });
}

TEST_CASE("model resources: values that their type does not take") {
  const auto list = [](const std::string& type, const std::string& value, const std::string& message) {
    return ModelRow{R"({"initialValuesDataType": ")" + type + R"(", "initialValues": [^)" + value + "]}",
                    {"A.initialValues[0] is " + message}};
  };
  check_resources({
    list("UINT8", "256", "256, must be an integer from 0 to 255 (UINT8)"),
    list("UINT8", "-1", "-1, must be an integer from 0 to 255 (UINT8)"),
    list("UINT8", "1.0", "1.0, must be an integer from 0 to 255 (UINT8)"),
    list("UINT8", "true", "true, must be an integer from 0 to 255 (UINT8)"),
    list("INT8", "-129", "-129, must be an integer from -128 to 127 (INT8)"),
    list("INT16", "32768", "32768, must be an integer from -32768 to 32767 (INT16)"),
    list("UINT32", "\"1\"", "the string \"1\", must be an integer from 0 to 4294967295 (UINT32)"),
    list("INT32", "1e3", "1e3, must be an integer from -2147483648 to 2147483647 (INT32)"),
    list("UINT64", "18446744073709551616",
         "18446744073709551616, must be an integer from 0 to 18446744073709551615 (UINT64)"),
    list("FLOAT32", "null", "null" + float_range("FLOAT32")),
    list("FLOAT32", "{}", "an object" + float_range("FLOAT32")),
    list("FLOAT16", "\"cat\"", "the string \"cat\"" + float_range("FLOAT16")),
    list("FLOAT64", "true", "true" + float_range("FLOAT64")),
    list("FLOAT32", "[1]", "an array" + float_range("FLOAT32") + "\n  help: write the values as one flat list"),
    list("FLOAT32", "1e39", "1e39, must be within the range of FLOAT (up to 3.4028235e38)\n"
                            "  help: write \"inf\" for infinity"),
    list("FLOAT32", "1e400", "1e400, must be within the range of FLOAT (up to 3.4028235e38)\n"
                             "  help: write \"inf\" for infinity"),
    list("FLOAT64", "-1e309",
         "-1e309, must be within the range of FLOAT64 (up to 1.7976931348623157e308)\n"
         "  help: write \"-inf\" for infinity"),
    list("FLOAT64", "9007199254740993",
         "9007199254740993, must be an integer that a double holds exactly, or have a fraction\n"
         "  help: write 9007199254740993.0 for the nearest one"),
  });
}

TEST_CASE("model resources: of a long list of mistakes the first eight are told") {
  const auto found = read(model_of(R"({"initialValuesDataType": "UINT8",
      "initialValues": [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1]})"));
  CHECK(std::count(found.findings.begin(), found.findings.end(), '\n') == 8);
}

TEST_CASE("model resources: several types") {
  check_resources({
    {R"({"initialValues": [{"type": ^"FLOAT16", "value": 1}]})",
     {"A.initialValues[0].type is the string \"FLOAT16\", must be one of FLOAT32, UINT32, UINT16, UINT8, INT32, "
      "INT16, INT8, FLOAT64, UINT64, INT64\n  help: did you mean \"FLOAT32\"?"}},
    {R"({"initialValues": [^{"value": 1}, ^{"type": "INT8"}]})",
     {"the field \"A.initialValues[0].type\" is missing\n"
      "  rule: this form of initialValues is a list of {\"type\": …, \"value\": …}\n"
      "  help: write \"type\": 1, for example",
      "the field \"A.initialValues[1].value\" is missing\n"
      "  rule: this form of initialValues is a list of {\"type\": …, \"value\": …}\n"
      "  help: write \"value\": 1, for example"}},
    {R"({"initialValuesDataType": "INT8", "initialValues": [^{"type": "INT8", "value": 1}]})",
     {"A.initialValues[0] is an object, must be an integer from -128 to 127 (INT8)"}},
  });
}

TEST_CASE("model resources: what is ignored is told") {
  check_resources({
    {R"({"type": "buffer", "initialValuesDataType": "INT8", "initialValues": [1], ~"sizeInByte": 8})", {},
     {"unknown field \"sizeInByte\"; did you mean \"sizeInBytes\"?\n"
      "  rule: the fields of a resource are initialValues, initialValuesDataType, "
      "initialValuesOffsetInBytes, sizeInBytes, resampleSize, resampleMode, type"}},
    {R"({"initialValuesDataType": "INT8", "initialValues": {"valueCount": 1, "valueStart": 1, "valueDelta": 0,
        "sourcePath": ~"x.npy"}})", {},
     {"A.initialValues.sourcePath is ignored beside valueStart"}},
  });
}

// clang-format on

TEST_CASE("model resources: files") {
  const Folder folder;
  folder.write("x.npy", float_npy("(2, 2)", {1, 2, 3, 4}));
  folder.write("big.npy", npy(">f4", "(2,)", bytes_of<float>({1, 2}, true)));
  folder.write("fortran.npy", npy("<f4", "(2, 2)", bytes_of<float>({1, 2, 3, 4}), true));
  folder.write("row.npy", npy("<f4", "(2,)", bytes_of<float>({1, 2}), true));
  folder.write("none.npy", float_npy("(0,)", {}));
  folder.write("short.npy", float_npy("(3,)", {1, 2}));
  folder.write("raw.dat", std::string("\x01\x02\x03", 3));
  folder.write("empty.dat", "");
  folder.write("sub/UPPER.NPY", float_npy("(1,)", {1}));
  const auto read_one = [&](const std::string& fields) {
    return read(model_of("{" + fields + "}"), {}, folder / "model.json");
  };
  const auto bytes = [&](const std::string& fields) {
    const ReadModel found = read_one(fields);
    REQUIRE_MESSAGE(found.model, found.findings);
    return initial_bytes(*found.model);
  };
  const auto source = [](const std::string& path, const std::string& type = "") {
    return (type.empty() ? "" : "\"initialValuesDataType\": \"" + type + "\", ") +
           "\"initialValues\": {\"sourcePath\": \"" + path + "\"}";
  };
  CHECK(bytes(source("x.npy")) == "0000803f000000400000404000008040");
  CHECK(bytes(source("x.npy", "FLOAT32")) == "0000803f000000400000404000008040");
  CHECK(bytes(source("big.npy")) == "0000803f00000040");
  CHECK(bytes(source("row.npy")) == "0000803f00000040");
  CHECK(bytes(source("sub\\\\UPPER.NPY")) == "0000803f");  // as Windows writes it
  CHECK(bytes(source("raw.dat", "UINT8")) == "01020300");
  const auto finding = [&](const std::string& fields) { return read_one(fields).findings; };
  const auto has = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(finding(source("x.npy", "INT8")),
      "A.initialValuesDataType is INT8, but " + (folder / "x.npy") +
          " has FLOAT32\n  help: write \"FLOAT32\" or leave it out\n");
  has(finding(source("fortran.npy")), "fortran.npy is in Fortran order\n");
  has(finding(source("none.npy")), "none.npy: the shape (0,) has size 0 in dimension 0");
  has(finding(source("short.npy")), "error: reading " + (folder / "short.npy") + ": ");
  has(finding(source("empty.dat", "UINT8")), "empty.dat is empty\n");
  has(finding(source("raw.dat")), "the field \"A.initialValuesDataType\" is missing\n");
  has(finding(source("no.npy")),
      "No such file or directory\n  help: sourcePath is relative to the model's folder, or to "
      "--input-path, and then to the current folder\n");
  has(finding(source("cat.JPG", "UINT8")), "images are not read here: cat.JPG\n");
  has(read_one(source("raw.dat", "UINT16")).warnings,
      "has 3 bytes, which is not a whole number of UINT16\n");
  // --input-path instead of the model's folder.
  CHECK(read(model_of("{" + source("UPPER.NPY") + "}"), {.input_folder = folder / "sub"},
             folder / "model.json")
            .model.has_value());
}

TEST_CASE("model resources: a file that cannot be read and a picture are other failures") {
  dmlop::Diagnostics diagnostics, notes;
  auto document = std::make_shared<const dmlop::json::Document>(
      *dmlop::json::Document::parse("model.json", R"({"resources": {
        "A": {"initialValues": {"sourcePath": "no.npy"}},
        "B": {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": "x.png"}}
      }, "dispatchables": {}, "commands": []})",
                                    diagnostics));
  CHECK(!dmlop::read_model(document, document->root(), {}, diagnostics, notes));
  REQUIRE(diagnostics.size() == 2);
  CHECK(diagnostics[0].kind == dmlop::ErrorKind::io_failed);
  CHECK(diagnostics[1].kind == dmlop::ErrorKind::unavailable);
}

TEST_CASE("half_toward_zero never rounds away from zero, and is exact for every half") {
  const auto from = [](float value) { return dmlop::half_toward_zero(value); };
  for (unsigned bits = 0; bits < 0x7C00; ++bits) {
    const auto exponent = static_cast<int>(bits >> 10);
    const auto mantissa = static_cast<float>(bits & 0x3FF);
    const float value =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
    REQUIRE(from(value) == bits);
    REQUIRE(from(-value) == (bits | 0x8000));
    REQUIRE(from(std::nextafter(value, 1e9F)) == bits);
  }
}

}  // namespace dmlop::test::model_resources_test
