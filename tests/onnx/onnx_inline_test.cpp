// Nodes of ONNX that stand for others: If, whose branch is known, and functions of the model. What
// they compute, the names of their values, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "graph/graph.hpp"
#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_inline_test {
namespace {

using namespace onnx_bytes;

const Numbers x = some_numbers({2, 3});
const std::string y = value("y", {"n", "m"});
constexpr std::int64_t boolean = 9;

std::string number_tensor(const std::string& name, float number) {
  return tensor(name, 1, {}, raw_floats({number}));
}

/// An If whose branches are graphs with the one output "z".
std::string if_node(const Parts& then_branch, const Parts& else_branch,
                    const std::string& output = "y") {
  return node(
      "If", {"c"}, {output},
      {graph_attribute("then_branch", then_branch), graph_attribute("else_branch", else_branch)});
}

Parts branch(const std::vector<std::string>& nodes,
             const std::vector<std::string>& initializers = {}) {
  return {.nodes = nodes, .initializers = initializers, .inputs = {}, .outputs = {value("z", {})}};
}

Numbers with(const Numbers& numbers, double (*function)(double)) {
  Numbers made = numbers;
  std::ranges::transform(made.values, made.values.begin(), function);
  return made;
}

/// "" if the model computes this from x, or what is wrong.
std::string wrong(const std::string& bytes, const Numbers& expected) {
  const OnnxRun run = run_onnx(bytes, {{"x", x}});
  return run.findings.empty() ? difference(run.outputs.at(0), expected) : run.findings;
}

std::string findings_of(const std::string& bytes) {
  return run_onnx(bytes, {{"x", x}}).findings;
}

bool has_text(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("onnx inline: If runs the branch that its condition chooses") {
  const Parts twice = branch({node("Add", {"x", "x"}, {"z"})});
  const Parts less = branch({node("Sub", {"x", "w"}, {"d"}), node("Relu", {"d"}, {"z"})},
                            {number_tensor("w", 0.5F)});
  for (const bool is_true : {false, true}) {
    CAPTURE(is_true);
    const std::string bytes = model(
        {.nodes = {if_node(twice, less)}, .initializers = {truth("c", is_true)}, .outputs = {y}});
    CHECK(wrong(bytes, is_true ? with(x, [](double number) { return 2 * number; })
                               : with(x, [](double number) {
                                   return number > 0.5 ? number - 0.5 : 0;
                                 })) == "");
  }
}

// What PyTorch writes for squeeze(0) of a tensor whose sizes it does not know.
TEST_CASE("onnx inline: a condition may follow from sizes, and the branch's sizes from it") {
  const Parts squeezed = branch({node("Squeeze", {"x", "zero"}, {"z"})});
  const Parts same = branch({node("Identity", {"x"}, {"z"})});
  for (const std::uint64_t first : {1U, 2U}) {
    CAPTURE(first);
    const Numbers input = some_numbers({first, 3});
    const OnnxRun run =
        run_onnx(model({.nodes = {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"d"}),
                                  node("Equal", {"d", "one"}, {"c"}), if_node(squeezed, same, "h"),
                                  node("Neg", {"h"}, {"y"})},
                        .initializers = {tensor("zero", 7, {1}, raw_integers({0})),
                                         tensor("one", 7, {1}, raw_integers({1}))},
                        .inputs = {value("x", {"n", "3"})},
                        .outputs = {value("y", {})}}),
                 {{"x", input}});
    REQUIRE(run.findings == "");
    Numbers expected = with(input, [](double number) { return -number; });
    if (first == 1) expected.sizes = {3};
    CHECK(difference(run.outputs.at(0), expected) == "");
  }
}

TEST_CASE("onnx inline: a condition may come from a file") {
  const Parts twice = branch({node("Add", {"x", "x"}, {"z"})});
  const Parts same = branch({node("Identity", {"x"}, {"z"})});
  const std::string bytes = model({.nodes = {if_node(twice, same)},
                                   .inputs = {value("x", {"2", "3"}), value("c", {}, boolean)},
                                   .outputs = {y}});
  for (const double condition : {0.0, 1.0}) {
    const OnnxRun run = run_onnx(bytes, {{"x", x}, {"c", {{}, {condition}, DataType::UInt8}}});
    REQUIRE(run.findings == "");
    CHECK(run.outputs.at(0).values[0] == x.values[0] * (1 + condition));
  }
  const std::string findings = findings_of(bytes);
  CHECK_MESSAGE(has_text(findings,
                         "(If): its input 0 \"c\" must be known before anything runs\n"
                         "  rule: DirectML's graphs do not branch\n"
                         "  help: give its elements: -i c=FILE.npy, or make it an "
                         "initializer"),
                findings);
}

TEST_CASE("onnx inline: a branch may give a value from outside, a constant, or one value twice") {
  const Parts outside{.nodes = {}, .inputs = {}, .outputs = {value("x", {})}};
  CHECK(wrong(model({.nodes = {if_node(outside, outside)},
                     .initializers = {truth("c", true)},
                     .outputs = {y}}),
              x) == "");
  const Parts constant = branch({}, {tensor("z", 1, {2}, raw_floats({5, 7}))});
  CHECK(wrong(model({.nodes = {if_node(constant, constant)},
                     .initializers = {truth("c", true)},
                     .outputs = {value("y", {"n"})}}),
              {{2}, {5, 7}}) == "");
  const Parts pair{.nodes = {node("Neg", {"x"}, {"z"})},
                   .inputs = {},
                   .outputs = {value("z", {}), value("z", {})}};
  const OnnxRun run = run_onnx(model({.nodes = {node("If", {"c"}, {"y", "y2"},
                                                     {graph_attribute("then_branch", pair),
                                                      graph_attribute("else_branch", pair)})},
                                      .initializers = {truth("c", true)},
                                      .outputs = {y, value("y2", {"n", "m"})}}),
                               {{"x", x}});
  REQUIRE(run.findings == "");
  const Numbers negative = with(x, [](double number) { return -number; });
  for (const Numbers& output : run.outputs) CHECK(difference(output, negative) == "");
}

// "h" is a value of the branch, and another one of the graph.
TEST_CASE("onnx inline: values of a branch are its own") {
  const Parts inner = branch({node("Neg", {"x"}, {"h"}), node("Abs", {"h"}, {"z"})});
  const OnnxRun run =
      run_onnx(model({.nodes = {if_node(inner, inner, "g"), node("Add", {"g", "x"}, {"h"}),
                                if_node(inner, inner, "k"), node("Add", {"h", "k"}, {"y"})},
                      .initializers = {truth("c", false)},
                      .outputs = {y}}),
               {{"x", x}});
  REQUIRE(run.findings == "");
  CHECK(difference(run.outputs.at(0), with(x, [](double number) {
                     return 2 * (number > 0 ? number : -number) + number;
                   })) == "");
}

TEST_CASE("onnx inline: a function runs with the inputs and attributes of each call") {
  const std::string leaky =
      function({.name = "Leaky",
                .inputs = {"a"},
                .outputs = {"r"},
                .nodes = {node("LeakyRelu", {"a"}, {"b"}, {reference("alpha", "slope")}),
                          node("Neg", {"b"}, {"r"})},
                .defaults = {real("slope", 0.5F)}});
  const std::string twice =
      function({.name = "Twice",
                .inputs = {"a"},
                .outputs = {"r", "a"},
                .nodes = {node_of("own", "Leaky", {"a"}, {"b"}),
                          node_of("own", "Leaky", {"b"}, {"r"}, {real("slope", 0.25F)})}});
  const OnnxRun run =
      run_onnx(model({.nodes = {node_of("own", "Twice", {"x"}, {"h", "same"}),
                                node_of("own", "Leaky", {"h"}, {"y"}, {real("slope", 2)})},
                      .outputs = {y, value("same", {"n", "m"})}},
                     {leaky, twice}),
               {{"x", x}});
  REQUIRE(run.findings == "");
  const auto leak = [](double number, double slope) {
    return -(number > 0 ? number : number * slope);
  };
  Numbers expected = x;
  for (double& number : expected.values) number = leak(leak(leak(number, 0.5), 0.25), 2);
  CHECK(difference(run.outputs.at(0), expected) == "");
  CHECK(difference(run.outputs.at(1), x) == "");
  // Each call's values have names of their own.
  std::vector<std::string> names;
  for (const GraphNode& one : run.graph.nodes) names.push_back(one.name);
  CHECK(std::ranges::count(names, "node of h/node of b/node of b") == 1);
  CHECK(std::ranges::count(names, "node of y/node of b") == 1);
}

TEST_CASE("onnx inline: a function reads its own version of the operators") {
  // Since version 13 the axes of Squeeze are an input.
  const std::string old =
      function({.name = "Old",
                .inputs = {"a"},
                .outputs = {"r"},
                .nodes = {node("Unsqueeze", {"a"}, {"b"}, {integers("axes", {0})}),
                          node("Squeeze", {"b"}, {"r"}, {integers("axes", {0})})},
                .version = 11});
  CHECK(wrong(model({.nodes = {node_of("own", "Old", {"x"}, {"y"})}, .outputs = {y}}, {old}), x) ==
        "");
}

TEST_CASE("onnx inline: what a function or a branch does wrong is said with its node") {
  const auto called = [](const FunctionParts& parts) {
    return findings_of(
        model({.nodes = {node_of("own", parts.name, {"x"}, {"y"})}}, {function(parts)}));
  };
  const std::vector<std::pair<FunctionParts, std::string>> rows{
      {{"F", {"a"}, {"r"}, {node("Relu", {"x"}, {"r"})}},
       "node \"node of y/node of r\" (Relu): its input \"node of y/x\" is neither an input"},
      {{"F", {"a"}, {"r"}, {node("Frobnicate", {"a"}, {"r"})}},
       "node \"node of y/node of r\" (Frobnicate): dmlop does not read this operator"},
      {{"F", {"a"}, {"r"}, {node("Relu", {"a"}, {"b"})}}, "(own.F): what it runs writes no value"},
      {{"F", {"a"}, {}, {node("Relu", {"a"}, {"b"})}},
       "(own.F): it has 1 output, but what it runs has 0"},
      {{"F", {"a"}, {"r"}, {node_of("own", "F", {"a"}, {"r"})}},
       "more than 32 functions or branches stand inside each other"},
      {{"F", {"a"}, {"r"}, {node("Relu", {"a"}, {"r"})}, {}, 99}, "versions 7 to 26 are read"},
  };
  for (const auto& [parts, message] : rows) {
    const std::string findings = called(parts);
    CHECK_MESSAGE(has_text(findings, message), message << " not in: " << findings);
  }
  CHECK(!has_text(called(rows.front().first), "help:"));  // no value of the model serves there
  const Parts none = branch({});
  CHECK(has_text(
      findings_of(model({.nodes = {if_node(none, none)}, .initializers = {truth("c", true)}})),
      "what it runs writes no value \"z\""));
  const std::string numbers = tensor("c", 1, {1}, raw_floats({1}));
  CHECK(has_text(findings_of(model({.nodes = {if_node(none, none)}, .initializers = {numbers}})),
                 "its condition must be one element of BOOL"));
  CHECK(has_text(
      findings_of(model({.nodes = {node("If", {"c"}, {"y"})}, .initializers = {truth("c", true)}})),
      "its attribute then_branch is missing"));
}

// Each of 20 functions calls the next one 10 times.
TEST_CASE("onnx inline: the number of nodes has a bound") {
  std::vector<std::string> functions;
  for (int i = 0; i < 20; ++i) {
    FunctionParts parts{"F" + std::to_string(i), {"a"}, {"r"}, {}};
    std::string last = "a";
    for (int call = 0; call < 10; ++call) {
      const std::string next = call < 9 ? "v" + std::to_string(call) : "r";
      parts.nodes.push_back(i < 19 ? node_of("own", "F" + std::to_string(i + 1), {last}, {next})
                                   : node("Relu", {last}, {next}));
      last = next;
    }
    functions.push_back(function(parts));
  }
  CHECK(has_text(findings_of(model({.nodes = {node_of("own", "F0", {"x"}, {"y"})}}, functions)),
                 "the model has more than 20000 nodes with those of its functions and branches"));
}

// 100 nodes, whose names begin with a name of a MiB; or a list of 2 MiB, copied 100 times.
TEST_CASE("onnx inline: what calls repeat has a bound") {
  FunctionParts many{"Many", {"a"}, {"r"}, {}}, list{"List", {"a"}, {"r"}, {}};
  for (int i = 0; i < 100; ++i)
    many.nodes.push_back(
        node("Relu", {i == 0 ? "a" : "v" + std::to_string(i - 1)}, {"v" + std::to_string(i)}));
  list.nodes = {node("Relu", {"a"}, {"r"},
                     {integers("list", std::vector<std::int64_t>(std::size_t{1} << 18))})};
  many.outputs = {"v99"};
  std::vector<std::string> calls, outputs;
  for (int i = 0; i < 100; ++i) {
    calls.push_back(node_of("own", "List", {"x"}, {"y" + std::to_string(i)}));
    outputs.push_back(value("y" + std::to_string(i), {}));
  }
  const std::string name(std::size_t{1} << 20, 'y'), bound = "have more than 67108864 bytes";
  CHECK(has_text(findings_of(model({.nodes = {node_of("own", "Many", {"x"}, {name})},
                                    .outputs = {value(name, {})}},
                                   {function(many)})),
                 bound));
  CHECK(
      has_text(findings_of(model({.nodes = calls, .outputs = outputs}, {function(list)})), bound));
}

// 500 calls, each with a branch of 1,000 nodes that is not taken.
TEST_CASE("onnx inline: what calls look for in branches has a bound") {
  const std::string name(150, 'n');
  Parts taken{.nodes = {node("Relu", {"a"}, {"z"})}, .inputs = {}, .outputs = {value("z", {})}};
  Parts other = taken;
  for (int i = 0; i < 1000; ++i)
    other.nodes.push_back(node("Relu", {name + std::to_string(i)}, {"n" + std::to_string(i)}));
  const std::string choosing = function({"Choosing", {"a", "c"}, {"y"}, {if_node(taken, other)}});
  std::vector<std::string> calls;
  for (int i = 0; i < 500; ++i) {
    const std::string last = i == 0 ? "x" : "y" + std::to_string(i);
    const std::string next = i == 499 ? "y" : "y" + std::to_string(i + 1);
    calls.push_back(node_of("own", "Choosing", {last, "c"}, {next}));
  }
  const std::string findings =
      findings_of(model({.nodes = calls, .initializers = {truth("c", true)}}, {choosing}));
  CHECK_MESSAGE(has_text(findings, "have more than 67108864 bytes"), findings);
}

TEST_CASE("onnx inline: the depth of graphs has a bound") {
  Parts inner = branch({node("Identity", {"x"}, {"z"})});
  for (int i = 0; i < 40; ++i) inner = branch({if_node(inner, branch({}), "z")});
  CHECK(has_text(
      findings_of(model({.nodes = {if_node(inner, inner)}, .initializers = {truth("c", true)}})),
      "more than 32 graphs stand inside each other"));
}

}  // namespace dmlop::test::onnx_inline_test
