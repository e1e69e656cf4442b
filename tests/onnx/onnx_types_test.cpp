// Types of ONNX's tensors: where BOOL stays BOOL, INT64 that double cannot hold, exponents, and the
// types that QuantizeLinear divides in and makes.
#include <doctest/doctest.h>

#include <limits>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_types_test {
namespace {

using namespace onnx_bytes;

constexpr std::int64_t boolean = 9, uint8 = 2;

/// A node that reads "x" first, and writes a value like it.
struct Moves {
  std::string type;
  std::vector<std::string> sizes;
  std::vector<std::string> others = {};  // inputs
  std::vector<std::string> attributes = {};
};

/// What a 3 is after CastLike to a node's output: 1 if that is BOOL.
double three_like(const Moves& row, std::int64_t type) {
  std::vector<std::string> names{"x"};
  names.insert(names.end(), row.others.begin(), row.others.end());
  Sizes sizes;
  for (const std::string& size : row.sizes) sizes.push_back(std::stoull(size));
  const OnnxRun run =
      run_onnx(model({.nodes = {node(row.type, names, {"h"}, row.attributes),
                                node("CastLike", {"three", "h"}, {"y"})},
                      .initializers = {tensor("three", 1, {1}, raw_floats({3})),
                                       tensor("u", type, {1}, "\1"),
                                       tensor("i", 7, {1, 1}, raw_integers({0})),
                                       tensor("none", 7, {1}, raw_integers({0})),
                                       tensor("one", 7, {1}, raw_integers({1})),
                                       tensor("p", 7, {4}, raw_integers({1, 0, 0, 1})),
                                       tensor("s", 7, {2}, raw_integers({1, 2})),
                                       tensor("s4", 7, {4}, raw_integers({1, 4, 2, 4}))},
                      .inputs = {value("x", row.sizes, type)},
                      .outputs = {value("y", {"1"}, type)},
                      .version = 18}),
               {{"x", numbers_at(
                          sizes, [](const Sizes&) { return 1.0; }, DataType::UInt8)}});
  CHECK(run.findings == "");
  return run.outputs.empty() ? -1 : run.outputs.front().values.front();
}

}  // namespace

TEST_CASE("onnx types: nodes that move BOOL make BOOL") {
  const std::vector<std::string> vector{"2"}, row{"1", "2"}, image{"1", "4", "2", "2"}, scalar;
  const std::vector<Moves> rows{
      {"Identity", row},
      {"Reshape", row, {"s"}},
      {"Flatten", row},
      {"Squeeze", row},
      {"Unsqueeze", row, {"none"}},
      {"Transpose", row},
      {"Transpose", scalar},
      {"Expand", row, {"s"}},
      {"Concat", row, {"x"}, {integer("axis", 0)}},
      {"Split", {"2"}, {}, {integer("num_outputs", 1)}},
      {"Slice", row, {"none", "one"}},
      {"Tile", row, {"s"}},
      {"Pad", row, {"p"}},
      {"DepthToSpace", image, {}, {integer("blocksize", 2)}},
      {"SpaceToDepth", image, {}, {integer("blocksize", 2)}},
      {"Resize", image, {"", "", "s4"}},
      {"Gather", vector, {"none"}},
      {"GatherElements", vector, {"none"}},
      {"GatherND", vector, {"i"}},
      {"ScatterElements", vector, {"none", "u"}},
      {"ScatterND", vector, {"i", "u"}},
      {"Trilu", row},
      {"EyeLike", row},
      {"ReduceMax", row, {"one"}},
  };
  for (const Moves& moves : rows) {
    CAPTURE(moves.type);
    CHECK(three_like(moves, boolean) == 1);
    CHECK(three_like(moves, uint8) == 3);
  }
  CHECK(three_like({"EyeLike", row, {}, {integer("dtype", boolean)}}, uint8) == 1);
  CHECK(three_like({"EyeLike", row, {}, {integer("dtype", uint8)}}, boolean) == 3);
}

TEST_CASE("onnx types: a Range of INT64 is exact, to the ends of the type") {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  // Numbers less the first one.
  const auto range = [](std::int64_t start, std::int64_t limit, std::int64_t delta) {
    std::vector<std::string> numbers;
    for (const auto& [name, number] : {std::pair("a", start), {"b", limit}, {"c", delta}})
      numbers.push_back(tensor(name, 7, {}, raw_integers({number})));
    const OnnxRun run = run_onnx(
        model({.nodes = {node("Range", {"a", "b", "c"}, {"r"}), node("Sub", {"r", "a"}, {"y"})},
               .initializers = numbers,
               .inputs = {},
               .outputs = {value("y", {"n"}, 7)}}),
        {});
    CHECK(run.findings == "");
    return run.outputs.empty() ? std::vector<double>() : run.outputs.front().values;
  };
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  CHECK(range(odd, odd + 7, 2) == std::vector<double>{0, 2, 4, 6});
  CHECK(range(odd, odd - 7, -3) == std::vector<double>{0, -3, -6});
  CHECK(range(most - 7, most, 3) == std::vector<double>{0, 3, 6});
  CHECK(range(least + 7, least, -3) == std::vector<double>{0, -3, -6});
  CHECK(range(most, least, least) == std::vector<double>{0, -0x1p63});
  CHECK(range(5, 6, most) == std::vector<double>{0});
}

// FLOAT16 has no 100.51: it becomes 100.5, which is rounded to 100 and not to 101.
TEST_CASE("onnx types: QuantizeLinear divides in the type that precision says") {
  const auto quantized = [](DataType x, DataType scale,
                            const std::vector<std::string>& attributes = {}) {
    const OnnxRun run =
        run_node({"QuantizeLinear", {{{1}, {100.51}, x}, {{}, {1}, scale}}, attributes, 1, 23});
    CHECK(run.findings == "");
    return run.outputs.empty() ? -1 : run.outputs.front().values.front();
  };
  const std::string in_float = integer("precision", 1), in_half = integer("precision", 10);
  CHECK(quantized(DataType::Float32, DataType::Float32) == 101);
  CHECK(quantized(DataType::Float32, DataType::Float32, {in_float}) == 101);
  CHECK(quantized(DataType::Float32, DataType::Float32, {in_half}) == 100);
  // Without precision it is the type of the scale.
  CHECK(quantized(DataType::Float32, DataType::Float16) == 100);
  CHECK(quantized(DataType::Float16, DataType::Float32) == 100);
  CHECK(quantized(DataType::Float32, DataType::Float16, {in_float}) == 101);
  for (const DataType scale : {DataType::Float32, DataType::Float16})
    CHECK(quantized(DataType::Int32, scale) == 100);
  const Numbers x{{1}, {1}}, scale{{}, {1}};
  CHECK(run_node({"QuantizeLinear", {x, scale}, {integer("precision", 16)}, 1, 23})
            .findings.find("its precision is BFLOAT16, which DirectML does not have") !=
        std::string::npos);
}

TEST_CASE("onnx types: QuantizeLinear to 16 bits is refused with the types that there are") {
  const Numbers x{{1}, {1}}, scale{{}, {1}};
  for (const auto& [number, name] : {std::pair(4, "UINT16"), std::pair(5, "INT16")}) {
    const OneNode quantize{"QuantizeLinear", {x, scale}, {integer("output_dtype", number)}, 1, 21};
    check_refused(quantize, std::string("it quantizes to ") + name);
    check_refused(quantize, "help: quantize the model to UINT8 or INT8");
  }
}

TEST_CASE("onnx types: an exponent of Pow may be of any other type") {
  for (const DataType type :
       {DataType::Float64, DataType::Float16, DataType::Int64, DataType::UInt64, DataType::Int32}) {
    CAPTURE(name_of(type));
    CHECK(difference({"Pow", {{{3}, {2, 3, 4}}, {{3}, {1, 2, 3}, type}}}, {{{3}, {2, 9, 64}}}) ==
          "");
  }
}

// The bytes of a tensor, which an ONNX model does not say, follow from its type.
TEST_CASE("onnx types: another type than an operator takes is one finding") {
  Numbers halves = some_numbers({6, 2, 3, 3});
  halves.type = DataType::Float16;
  const std::string findings = run_node({"Conv", {some_numbers({1, 2, 5, 5}), halves}}).findings;
  CHECK(findings.find("FilterTensor.DataType is FLOAT16, must be FLOAT32") != std::string::npos);
  CHECK(findings.find("TotalTensorSizeInBytes") == std::string::npos);
}

}  // namespace dmlop::test::onnx_types_test
