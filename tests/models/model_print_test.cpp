// What print and writeFile make of a buffer: the same bytes as DxDispatch, with its bugs if they
// are asked for.
#include <doctest/doctest.h>

#include "folder.hpp"
#include "model.hpp"
#include "model/runtime.hpp"
#include "model/write_file.hpp"

namespace dmlop::test::model_print_test {
namespace {

using dmlop::Fidelity;
using dmlop::Model;

Model model_of(const std::string& resource, const std::string& commands = "") {
  return valid_model(R"({"resources": {"A": )" + resource +
                     R"(}, "dispatchables": {}, "commands": [)" + commands + "]}");
}

std::string list_of(const std::string& type, const std::string& values) {
  return "{\"initialValuesDataType\": \"" + type + "\", \"initialValues\": [" + values + "]}";
}

std::string printed(const std::string& resource, bool verbose = false,
                    Fidelity fidelity = Fidelity::mended) {
  const Model model = model_of(resource);
  dmlop::Backend cpu;
  dmlop::Runtime runtime(model, cpu, {});
  return print_text(model.resources[0], runtime.contents(0), verbose, fidelity);
}

struct Row {
  std::string type;
  std::string values;
  std::string text;  // after "Resource 'A': "
};

/// What the first command, a writeFile, writes.
std::string written(const std::string& resource, const std::string& fields,
                    Fidelity fidelity = Fidelity::mended) {
  const Model model =
      model_of(resource, R"({"type": "writeFile", "resource": "A", "targetPath": )" + fields + "}");
  dmlop::Backend cpu;
  dmlop::Runtime runtime(model, cpu, {});
  std::string bytes;
  write_contents(model.resources[0], std::get<dmlop::WriteFileCommand>(model.commands[0]),
                 runtime.contents(0), fidelity, [&](std::span<const std::byte> part) {
                   bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
                 });
  return bytes;
}

/// A header as DxDispatch writes it, spelt out: 10 bytes, the dictionary, spaces, a newline.
std::string header(const std::string& dictionary, std::size_t bytes = 128) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(bytes - 10);
  text += '\0';
  text += dictionary;
  text.append(bytes - 1 - text.size(), ' ');
  return text + '\n';
}

}  // namespace

// clang-format off

TEST_CASE("print: every type") {
  const std::vector<Row> rows{
    {"FLOAT32", "1, 2.5, -3, 0.1", "1, 2.5, -3, 0.1"},
    {"FLOAT16", "1, 0.5, -65504, 0.1", "1, 0.5, -65504, 0.0999756"},
    {"FLOAT64", "1, 2.5, 0.1", "1, 2.5, 0.1"},
    {"UINT8", "0, 65, 255", "0, 65, 255"},
    {"INT8", "-128, 65, 127", "-128, 65, 127"},
    {"UINT16", "65535", "65535"},
    {"INT16", "-32768", "-32768"},
    {"UINT32", "4294967295, 0", "4294967295, 0"},
    {"INT32", "-2147483648", "-2147483648"},
    {"UINT64", "18446744073709551615", "18446744073709551615"},
    {"INT64", "-9223372036854775808", "-9223372036854775808"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.type);
    CHECK(printed(list_of(row.type, row.values)) == "Resource 'A': " + row.text + "\n");
  }
}

TEST_CASE("print: floats have six significant digits, as streams have") {
  const std::vector<Row> rows{
    {"FLOAT32", "1000000, 999999.4, 123456.7, 1234567", "1e+06, 999999, 123457, 1.23457e+06"},
    {"FLOAT32", "0.0001, 0.00001, 1e-45, 3.4028235e38", "0.0001, 1e-05, 1.4013e-45, 3.40282e+38"},
    {"FLOAT32", "\"inf\", \"-inf\", \"nan\", -0.0, 16777216", "inf, -inf, nan, -0, 1.67772e+07"},
    {"FLOAT64", "1e300, 3.14159265358979, 1e100, 2.5e-10", "1e+300, 3.14159, 1e+100, 2.5e-10"},
    {"FLOAT16", "\"inf\", \"nan\", 6e-8, 2048, 1000.5", "inf, nan, 5.96046e-08, 2048, 1000.5"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.values);
    CHECK(printed(list_of(row.type, row.values)) == "Resource 'A': " + row.text + "\n");
  }
}

TEST_CASE("print: padding and what lies behind the values are left out") {
  CHECK(printed(R"({"initialValuesDataType": "FLOAT16", "initialValues": {"valueCount": 5, "value": 1}})") ==
        "Resource 'A': 1, 1, 1, 1, 1\n");
  CHECK(printed(R"({"initialValuesDataType": "UINT32", "initialValues": [7], "sizeInBytes": 256})") ==
        "Resource 'A': 7\n");
  // It prints as many as there are values from the beginning, wherever they are.
  CHECK(printed(R"({"initialValuesDataType": "UINT8", "initialValues": [7, 8], "sizeInBytes": 4, "initialValuesOffsetInBytes": 1})") ==
        "Resource 'A': 0, 7\n");
}

TEST_CASE("print: verbose, a line for each element with its bits") {
  CHECK(printed(list_of("FLOAT32", "1, -0.0, \"nan\""), true) ==
        "Resource 'A':\n"
        "[0] 1 (0x3F800000)\n"
        "[1] -0 (0x80000000)\n"
        "[2] nan (0x7FC00000)\n"
        "\n");
  CHECK(printed(list_of("FLOAT16", "1"), true) == "Resource 'A':\n[0] 1 (0x3C00)\n\n");
  CHECK(printed(list_of("FLOAT64", "0, 1"), true) ==
        "Resource 'A':\n[0] 0 (0x               0)\n[1] 1 (0x3FF0000000000000)\n\n");
  CHECK(printed(list_of("INT8", "-1, 10"), true) == "Resource 'A':\n[0] -1 (0xFF)\n[1] 10 (0x A)\n\n");
  CHECK(printed(list_of("UINT16", "255"), true) == "Resource 'A':\n[0] 255 (0x  FF)\n\n");
  CHECK(printed(list_of("INT64", "-1"), true) == "Resource 'A':\n[0] -1 (0xFFFFFFFFFFFFFFFF)\n\n");
  // The index is as wide as the count: ten elements need two places.
  CHECK(printed(list_of("UINT8", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"), true).find("\n[ 9] 9 (0x 9)\n\n") != std::string::npos);
  CHECK(printed(list_of("UINT8", "0, 1, 2, 3, 4, 5, 6, 7, 8"), true).find("\n[8] 8 (0x 8)\n\n") != std::string::npos);
}

TEST_CASE("print: compatible, 8-bit values are characters") {
  CHECK(printed(list_of("UINT8", "72, 105"), false, Fidelity::compatible) == "Resource 'A': H, i\n");
  CHECK(printed(list_of("INT8", "72, -1"), true, Fidelity::compatible) ==
        "Resource 'A':\n[0] H (0x48)\n[1] \xFF (0xFF)\n\n");
  CHECK(printed(list_of("UINT16", "72"), false, Fidelity::compatible) == "Resource 'A': 72\n");
}

TEST_CASE("writeFile: .npy with DxDispatch's own header") {
  const std::string floats = bytes_of<float>({1, 2, 3, 4, 5, 6});
  const std::string six = list_of("FLOAT32", "1, 2, 3, 4, 5, 6");
  CHECK(written(six, "\"x.npy\"") == header("{'descr':'<f4', 'fortran_order':False, 'shape':(6,), }") + floats);
  CHECK(written(six, R"("x.NPY", "dimensions": [1, 2, 3])") ==
        header("{'descr':'<f4', 'fortran_order':False, 'shape':(1,2,3,), }") + floats);
  CHECK(written(six, R"("x.npy", "dimensions": [2])") ==
        header("{'descr':'<f4', 'fortran_order':False, 'shape':(2,), }") + floats.substr(0, 8));
  CHECK(written(list_of("INT8", "1"), "\"x.npy\"") ==
        header("{'descr':'<i1', 'fortran_order':False, 'shape':(1,), }") + "\x01");
}

TEST_CASE("writeFile: elements without padding; compatible, the padded buffer") {
  const std::string halves = R"({"initialValuesDataType": "FLOAT16", "initialValues": {"valueCount": 5, "value": 1}})";
  const std::string ten = bytes_of<std::uint16_t>({0x3C00, 0x3C00, 0x3C00, 0x3C00, 0x3C00});
  const std::string padding(2, '\0');
  const auto shape = [](const std::string& count) {
    return header("{'descr':'<f2', 'fortran_order':False, 'shape':(" + count + ",), }");
  };
  CHECK(written(halves, "\"x.npy\"") == shape("5") + ten);
  CHECK(written(halves, "\"x.npy\"", Fidelity::compatible) == shape("6") + ten + padding);
  CHECK(written(halves, R"("x.npy", "dimensions": [5])") == shape("5") + ten);
  CHECK(written(halves, R"("x.npy", "dimensions": [5])", Fidelity::compatible) == shape("5") + ten + padding);
  CHECK(written(halves, "\"x.dat\"") == ten);
  CHECK(written(halves, "\"x.dat\"", Fidelity::compatible) == ten + padding);
  // A size that the model gives is no padding.
  const std::string large = R"({"initialValuesDataType": "UINT8", "initialValues": [1], "sizeInBytes": 3})";
  CHECK(written(large, "\"x.dat\"") == std::string("\x01\0\0", 3));
  CHECK(written(large, "\"x.npy\"") == header("{'descr':'<u1', 'fortran_order':False, 'shape':(3,), }") + std::string("\x01\0\0", 3));
  CHECK(written(R"({"initialValues": [{"type": "UINT8", "value": 9}]})", "\"x\"") == "\x09");
}

// clang-format on

TEST_CASE("writeFile: what is written can be read, as NumPy reads it") {
  const Folder folder;
  folder.write("x.npy",
               written(list_of("FLOAT32", "1, 2, 3, 4, 5, 6"), R"("x.npy", "dimensions": [2, 3])"));
  const auto file = dmlop::NpyFile::open(folder / "x.npy");
  CHECK(file.header().sizes == dmlop::Sizes{2, 3});
  CHECK(file.header().data_type == dmlop::DataType::Float32);
  CHECK(file.data().size() == 24);
}

}  // namespace dmlop::test::model_print_test
