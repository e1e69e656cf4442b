// ONNX's tensors without dimensions, and reductions of no dimension: what they compute, which nodes
// refuse them, and the files that give them.
#include <doctest/doctest.h>

#include <cmath>

#include "folder.hpp"
#include "onnx_run.hpp"
#include "onnx_writer.hpp"
#include "program.hpp"

namespace dmlop::test::onnx_scalars_test {
namespace {

using namespace onnx_bytes;

bool has(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

Numbers scalar(double number, DataType type = DataType::Float32) {
  return {{}, {number}, type};
}

/// A node with an axis, for a scalar as its first input.
struct WithAxis {
  std::string type;
  std::vector<Numbers> others = {};
  std::string attribute = {};  // that takes the axis; "": an input among the others does
  bool has_several = false;    // axes
  std::vector<std::string> attributes = {};
  std::int64_t version = 18;
  std::size_t outputs = 1;
};

std::string findings_of(const WithAxis& row, std::int64_t axis) {
  OneNode node{row.type, row.others, row.attributes, row.outputs, row.version};
  node.inputs.insert(node.inputs.begin(), scalar(3));
  for (Numbers& input : node.inputs) {
    // It stands for the axis.
    if (input.type == DataType::Int64 && input.values.front() == 99)
      input.values.front() = static_cast<double>(axis);
  }
  if (!row.attribute.empty())
    node.attributes.push_back(row.has_several ? integers(row.attribute, {axis})
                                              : integer(row.attribute, axis));
  return run_node(node).findings;
}

}  // namespace

TEST_CASE("onnx scalars: a node that needs an axis says that a scalar has none") {
  const Numbers zero = whole_numbers({0}), one = whole_numbers({1}), axis = whole_numbers({99});
  const std::vector<WithAxis> rows{
      {"Slice", {zero, one, axis}},
      {"Slice", {}, "axes", true, {integers("starts", {0}), integers("ends", {1})}, 9},
      {"Pad", {whole_numbers({0, 0}), {}, axis}},
      {"TopK", {one}, "axis", false, {}, 18, 2},
      {"TopK", {}, "axis", false, {integer("k", 1)}, 9, 2},
      {"Concat", {scalar(4)}, "axis"},
      {"Split", {}, "axis", false, {}, 13},
      {"Split", {one}, "axis", false, {}, 13},
      {"Resize", {{}, {{1}, {2}}}, "axes", true},
      {"Gather", {zero}, "axis"},
      {"GatherElements", {scalar(0, DataType::Int64)}, "axis"},
      {"ScatterElements", {scalar(0, DataType::Int64), scalar(4)}, "axis"},
      {"CumSum", {axis}},
      {"LpNormalization", {}, "axis"},
      {"MeanVarianceNormalization", {}, "axes", true},
      {"ArgMax", {}, "axis"},
      {"Squeeze", {axis}},
  };
  for (const WithAxis& row : rows) {
    CAPTURE(row.type);
    CAPTURE(row.version);
    for (const std::int64_t written : {0, -1}) {
      const std::string findings = findings_of(row, written);
      CHECK_MESSAGE(
          has(findings, "node \"node of output0\" (" + row.type + "): its axis is " +
                            std::to_string(written) + ", but the tensor has 0 dimensions"),
          findings);
      CHECK(has(findings, "rule: a scalar has no axis"));
    }
  }
}

TEST_CASE("onnx scalars: an axis that is not there is refused with those that are") {
  const Numbers x = some_numbers({2, 3});
  for (const std::int64_t axis : {2, -3})
    CHECK(has(run_node({"Softmax", {x}, {integer("axis", axis)}}).findings,
              "rule: an axis is from -2 to 1"));
  CHECK(has(run_node({"Flatten", {x}, {integer("axis", 3)}}).findings,
            "rule: an axis is from -2 to 2"));
}

TEST_CASE("onnx scalars: nodes that take a scalar compute it") {
  const Numbers x = scalar(-2);
  for (const std::int64_t axis : {0, -1}) {
    CHECK(difference({"Softmax", {x}, {integer("axis", axis)}}, {scalar(1)}) == "");
    CHECK(difference({"Softmax", {x}, {integer("axis", axis)}, 1, 12}, {scalar(1)}) == "");
  }
  CHECK(difference({"Softmax", {x}}, {scalar(1)}) == "");
  CHECK(difference({"Flatten", {x}, {integer("axis", 0)}}, {{{1, 1}, {-2}}}) == "");
  CHECK(difference({"Unsqueeze", {x, whole_numbers({-1})}}, {{{1}, {-2}}}) == "");
  CHECK(difference({"Transpose", {x}}, {x}) == "");
}

// A reduction of no dimension still computes its function, of each element alone.
TEST_CASE("onnx scalars: reductions along no axis keep their function") {
  const std::vector<std::pair<std::string, std::function<double(double)>>> functions{
      {"ReduceL1", [](double x) { return std::abs(x); }},
      {"ReduceL2", [](double x) { return std::abs(x); }},
      {"ReduceLogSum", [](double x) { return std::log(x); }},
      {"ReduceLogSumExp", [](double x) { return x; }},
      {"ReduceMax", [](double x) { return x; }},
      {"ReduceMean", [](double x) { return x; }},
      {"ReduceMin", [](double x) { return x; }},
      {"ReduceProd", [](double x) { return x; }},
      {"ReduceSum", [](double x) { return x; }},
      {"ReduceSumSquare", [](double x) { return x * x; }},
  };
  for (const auto& [type, function] : functions) {
    CAPTURE(type);
    const double number = type == "ReduceLogSum" ? 3 : -2;
    const Numbers x = scalar(number), expected = scalar(function(number));
    for (const bool keeps : {false, true}) {
      const std::string kept = integer("keepdims", keeps);
      CHECK(difference({type, {x}, {kept}, 1, 18}, {expected}) == "");
      for (const std::int64_t axis : {0, -1})
        CHECK(difference({type, {x, whole_numbers({axis})}, {kept}, 1, 18}, {expected}) == "");
    }
    CHECK(has(run_node({type, {x, whole_numbers({1})}, {}, 1, 18}).findings, "its axis is 1"));
    for (const Sizes& sizes : {Sizes{2, 3}, {3, 1, 2, 2, 1}}) {
      const Numbers all = numbers_at(sizes, [&](const Sizes& place) {
        return number + (number > 0 ? 1 : -1) * static_cast<double>(place[0] + place.back());
      });
      Numbers each = all;
      for (double& value : each.values) value = function(value);
      CHECK(difference({type, {all}, {integer("noop_with_empty_axes", 1)}, 1, 18}, {each}) == "");
    }
  }
}

TEST_CASE("onnx scalars: run shows an output without dimensions") {
  const Folder folder;
  folder.write("m.onnx",
               model({.nodes = {node("ReduceSum", {"x"}, {"y"}, {integer("keepdims", 0)})},
                      .inputs = {value("x", {"2"})},
                      .outputs = {value("y", {})}}));
  folder.write("x.bin", raw_floats({2.5F, 4}));
  const auto run =
      dmlop_program({"run", "m.onnx", "--cpu", "-i", "x=x.bin:raw"}, {.folder = folder.path()});
  CHECK(run.error == "");
  CHECK(run.code == 0);
  CHECK(has(run.output, "y: FLOAT32 []\n"));
  CHECK(has(run.output, "\n    6.5\n"));
}

// NumPy's files of a scalar have the shape (), which is read as [1].
TEST_CASE("onnx scalars: a scalar comes from a .npy file and from a raw file") {
  const Folder folder;
  folder.write("x.npy", float_npy("()", {2.5F}));
  folder.write("x.bin", raw_floats({2.5F}));
  folder.write("m.onnx", model({.nodes = {node("Neg", {"x"}, {"y"})},
                                .inputs = {value("x", {})},
                                .outputs = {value("y", {})}}));
  for (const char* file : {"x=x.npy", "x=x.bin:raw", "x=x.bin:FLOAT32:1"}) {
    CAPTURE(std::string(file));
    const auto run =
        dmlop_program({"run", "m.onnx", "--cpu", "-i", file}, {.folder = folder.path()});
    CHECK(run.error == "");
    CHECK(run.code == 0);
    CHECK(has(run.output, "-2.5"));
  }
}

TEST_CASE("onnx scalars: two elements are no scalar") {
  const std::string bytes = model({.nodes = {node("Neg", {"x"}, {"y"})},
                                   .inputs = {value("x", {})},
                                   .outputs = {value("y", {})}});
  const OnnxRun one = run_onnx(bytes, {{"x", {{1}, {2.5}}}});
  CHECK(one.findings == "");
  REQUIRE(one.outputs.size() == 1);
  CHECK(difference(one.outputs[0], scalar(-2.5)) == "");
  CHECK(has(run_onnx(bytes, {{"x", {{2}, {2.5, 3}}}}).findings,
            "has 0 dimensions, but its file has the sizes [2]"));
}

}  // namespace dmlop::test::onnx_scalars_test
