// ONNX's tensors without elements: those that only lead to sizes are known, and DirectML holds none
// of the others.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "onnx/mapping.hpp"
#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_empty_test {
namespace {

using namespace onnx_bytes;

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

std::string counts(const std::string& name, const std::vector<std::int64_t>& numbers) {
  return tensor(name, 7, {static_cast<std::int64_t>(numbers.size())}, raw_integers(numbers));
}

std::string count(const std::string& name, std::int64_t number) {
  return tensor(name, 7, {}, raw_integers({number}));
}

/// The sizes that x, of 2 rows and 3 columns, has after nodes computed a shape for it, or what is
/// said about them.
std::string sizes_by(std::vector<std::string> nodes, const std::vector<std::string>& initializers) {
  nodes.push_back(node("Reshape", {"x", "shape"}, {"y"}));
  const Numbers x = some_numbers({2, 3});
  const OnnxRun run = run_onnx(
      model({.nodes = nodes, .initializers = initializers, .outputs = {value("y", {"a"})}}),
      {{"x", x}});
  if (!run.findings.empty()) return run.findings;
  if (run.outputs.front().values != x.values) return "other elements";
  std::string text;
  for (const std::uint64_t size : run.outputs.front().sizes) text += std::to_string(size) + " ";
  return text;
}

std::string concat(const std::vector<std::string>& inputs, const std::string& output) {
  return node("Concat", inputs, {output}, {integer("axis", 0)});
}

/// What an operator cannot do without, and an axis for those that take one.
std::vector<std::string> attributes_of(const onnx::OnnxOperator& row) {
  const std::string kernel = integers("kernel_shape", {1, 1}), axis = integer("axis", 0);
  const std::map<std::string_view, std::string> attributes{
      {"ArgMax", axis},
      {"ArgMin", axis},
      {"AveragePool", kernel},
      {"BitShift", text("direction", "LEFT")},
      {"Cast", integer("to", 1)},
      {"Concat", axis},
      {"DepthToSpace", integer("blocksize", 1)},
      {"Einsum", text("equation", "ab->a")},
      {"Flatten", axis},
      {"Gather", axis},
      {"GatherElements", axis},
      {"GroupNormalization", integer("num_groups", 1)},
      {"Hardmax", axis},
      {"LRN", integer("size", 1)},
      {"LayerNormalization", axis},
      {"LogSoftmax", axis},
      {"LpNormalization", axis},
      {"LpPool", kernel},
      {"MaxPool", kernel},
      {"MultiHeadAttention", integer("num_heads", 1)},
      {"QLinearAveragePool", kernel},
      {"ScatterElements", axis},
      {"Softmax", axis},
      {"SpaceToDepth", integer("blocksize", 1)},
      {"Split", axis},
      {"TopK", axis},
  };
  const auto found = attributes.find(row.name);
  return found == attributes.end() ? std::vector<std::string>() : std::vector{found->second};
}

}  // namespace

TEST_CASE("onnx empty: sizes are computed over a part that is empty") {
  const std::string shape = node("Shape", {"x"}, {"s"});
  const std::vector<std::string> numbers{
      counts("none", {}),      counts("zero", {0}), counts("two", {2}), counts("rest", {-1}),
      counts("parts", {0, 2}), count("start", 0),   count("step", 1)};
  const auto check = [&](const std::vector<std::string>& nodes, const std::string& expected) {
    CHECK(sizes_by(nodes, numbers) == expected);
  };
  const std::string before_all = concat({"part", "s"}, "shape");
  check({shape, node("Slice", {"s", "zero", "zero"}, {"part"}), before_all}, "2 3 ");
  check({shape, node("Slice", {"s", "two", "two"}, {"part"}), concat({"part", "rest"}, "shape")},
        "6 ");
  check({shape, node("Gather", {"s", "none"}, {"part"}), before_all}, "2 3 ");
  check({shape, node("Split", {"s", "parts"}, {"part", "all"}), concat({"part", "all"}, "shape")},
        "2 3 ");
  check({shape, node("ConstantOfShape", {"zero"}, {"made"}),
         node("Cast", {"made"}, {"part"}, {integer("to", 7)}), before_all},
        "2 3 ");
  check({shape, node("Range", {"start", "start", "step"}, {"range"}),
         node("Mul", {"range", "two"}, {"part"}), before_all},
        "2 3 ");
  check({shape, concat({"none", "none"}, "part"), before_all}, "2 3 ");
  // The product of no sizes is 1, and their sum is 0.
  check({shape, node("ReduceProd", {"none"}, {"one"}), concat({"one", "s"}, "shape")}, "1 2 3 ");
  check({shape, node("ReduceSum", {"none"}, {"sum"}), node("Add", {"sum", "two"}, {"part"}),
         concat({"part", "rest"}, "shape")},
        "2 3 ");
}

TEST_CASE("onnx empty: parts that do not fit together are refused, though one is empty") {
  const std::string nodes = node("Concat", {"x", "none"}, {"y"}, {integer("axis", 0)});
  const std::string findings =
      run_onnx(model({.nodes = {nodes}, .initializers = {tensor("none", 1, {0, 5}, "")}}),
               {{"x", some_numbers({2, 3})}})
          .findings;
  CHECK_MESSAGE(has(findings, "its inputs [2, 3] and [0, 5] do not fit together along axis 0"),
                findings);
}

TEST_CASE("onnx empty: DirectML holds no empty output, and makes nothing of an empty input") {
  const auto findings_of = [](const std::vector<std::string>& nodes) {
    return run_onnx(model({.nodes = nodes,
                           .initializers = {counts("zero", {0}), tensor("e", 1, {0}, ""),
                                            tensor("columns", 1, {0, 3}, "")}}),
                    {{"x", some_numbers({2, 3})}})
        .findings;
  };
  const std::string cut = node("Slice", {"x", "zero", "zero"}, {"y"});
  CHECK(has(findings_of({cut}), "the output \"y\" is empty, of sizes [0, 3]"));
  CHECK(has(findings_of({node("ReduceMax", {"e"}, {"y"})}),
            "node \"node of y\" (ReduceMax): its input 0 \"e\" is empty, of sizes [0]"));
  // A sum of nothing is one 0, but not several.
  CHECK(has(findings_of({node("ReduceSum", {"columns", "zero"}, {"y"})}),
            "node \"node of y\" (ReduceSum): its input 0 \"columns\" is empty, of sizes [0, 3]"));
}

// Sizes of 0 divide, subtract and multiply on the way to an output. Whatever comes out, no operator
// reads or writes a tensor without elements.
TEST_CASE("onnx empty: every operator refuses an empty input, or makes an empty output of it") {
  const std::set<std::string> known{"ConstantOfShape", "ReduceL1",        "ReduceL2", "ReduceProd",
                                    "ReduceSum",       "ReduceSumSquare", "Shape",    "Size"};
  std::size_t refused = 0, made = 0;
  for (const onnx::OnnxOperator& row : onnx::onnx_operators()) {
    if (row.map == nullptr) continue;
    CAPTURE(std::string(row.name));
    for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{0},
                                                   {0, 3},
                                                   {2, 0},
                                                   {0, 2, 4},
                                                   {2, 3, 0},
                                                   {0, 4, 2, 2},
                                                   {1, 0, 2, 2},
                                                   {1, 4, 0, 2},
                                                   {1, 4, 2, 0},
                                                   {1, 2, 0, 3, 3}}) {
      for (const std::int64_t type : {1, 2, 7, 21}) {
        for (std::size_t inputs = 1; inputs <= 4; ++inputs) {
          const std::vector<std::string> names(inputs, "e");
          const std::string bytes =
              model({.nodes = {node_of(row.domain, row.name, names, {"y"}, attributes_of(row))},
                     .initializers = {tensor("e", type, sizes, "")},
                     .inputs = {},
                     .domain = row.domain});
          const std::string findings = run_onnx(bytes, {}).findings;
          if (!known.contains(row.name)) CHECK_FALSE(findings.empty());
          ++(has(findings, "the output \"y\" is empty") ? made : refused);
        }
      }
    }
  }
  CHECK(made > 1000);
  CHECK(refused > 1000);
}

}  // namespace dmlop::test::onnx_empty_test
