// The order of ONNX's nodes: a model whose nodes stand in another order than they run computes the
// same, whichever graph they are in. A cycle is refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_order_test {
namespace {

using namespace onnx_bytes;

/// y = -(|x| + |x| * x), which is right in one order only: no node fits in another one's place.
std::vector<std::string> nodes() {
  return {node("Abs", {"x"}, {"a"}), node("Mul", {"a", "x"}, {"b"}), node("Add", {"a", "b"}, {"c"}),
          node("Neg", {"c"}, {"y"})};
}

const Numbers x = some_numbers({2, 3});

Numbers expected() {
  return numbers_at(x.sizes, [](const Sizes& place) {
    const double number = at(x, place);
    return -(std::abs(number) + std::abs(number) * number);
  });
}

std::string difference_of(const std::string& model, const Numbers& wanted) {
  const OnnxRun run = run_onnx(model, {{"x", x}});
  if (!run.findings.empty()) return run.findings;
  return difference(run.outputs.at(0), wanted);
}

}  // namespace

TEST_CASE("onnx order: nodes run after those whose outputs they read, wherever they stand") {
  std::vector<std::string> written = nodes();
  std::sort(written.begin(), written.end());
  std::size_t orders = 0;
  do {
    CHECK(difference_of(model({.nodes = written}), expected()) == "");
    ++orders;
  } while (std::next_permutation(written.begin(), written.end()));
  CHECK(orders == 24);
}

TEST_CASE("onnx order: a long chain may stand backwards") {
  constexpr int length = 10000;
  std::vector<std::string> chain;
  std::string from = "x";
  for (int i = 0; i < length; ++i) {
    const std::string to = i + 1 == length ? "y" : "v" + std::to_string(i);
    chain.push_back(node("Identity", {from}, {to}));
    from = to;
  }
  std::reverse(chain.begin(), chain.end());
  CHECK(difference_of(model({.nodes = chain}), x) == "");
}

TEST_CASE("onnx order: a branch runs after what it reads around it, and its nodes are ordered") {
  const auto branch = [](const std::vector<std::string>& of_branch) {
    return Parts{.nodes = of_branch, .inputs = {}, .outputs = {value("r", {"2", "3"})}};
  };
  const std::string choice =
      node("If", {"yes"}, {"y"},
           {graph_attribute("then_branch",
                            branch({node("Neg", {"s"}, {"r"}), node("Add", {"a", "x"}, {"s"})})),
            graph_attribute("else_branch", branch({node("Neg", {"x"}, {"r"})}))});
  const Numbers wanted = numbers_at(
      x.sizes, [](const Sizes& place) { return -(std::abs(at(x, place)) + at(x, place)); });
  CHECK(difference_of(model({.nodes = {choice, node("Abs", {"x"}, {"a"})},
                             .initializers = {truth("yes", true)}}),
                      wanted) == "");
}

TEST_CASE("onnx order: a branch needs no node that writes a name of its initializer") {
  const Parts scaled{.nodes = {node("Mul", {"x", "h"}, {"r"})},
                     .initializers = {tensor("h", 1, {1}, raw_floats({3}))},
                     .inputs = {},
                     .outputs = {value("r", {"2", "3"})}};
  const std::string choice =
      node("If", {"yes"}, {"g"},
           {graph_attribute("then_branch", scaled), graph_attribute("else_branch", scaled)});
  const Numbers wanted = numbers_at(x.sizes, [](const Sizes& place) { return -3 * at(x, place); });
  CHECK(difference_of(
            model({.nodes = {choice, node("Neg", {"g"}, {"h"}), node("Identity", {"h"}, {"y"})},
                   .initializers = {truth("yes", true)}}),
            wanted) == "");
}

TEST_CASE("onnx order: an input that is left out is no output that is left out") {
  const std::string clip = node("Clip", {"x", "", "most"}, {"c"});
  const std::string unknown = node("Unheard", {"x"}, {"u", ""});  // that nothing needs
  const Numbers wanted =
      numbers_at(x.sizes, [](const Sizes& place) { return std::min(at(x, place), 1.0); });
  CHECK(difference_of(model({.nodes = {unknown, clip, node("Dropout", {"c"}, {"y", ""})},
                             .initializers = {tensor("most", 1, {}, raw_floats({1}))}}),
                      wanted) == "");
  CHECK(difference_of(model({.nodes = {clip, node("Dropout", {"c"}, {"y", ""})},
                             .initializers = {tensor("most", 1, {}, raw_floats({1}))}}),
                      wanted) == "");
}

TEST_CASE("onnx order: nodes that stand in order stay there") {
  const OnnxRun run = run_onnx(
      model({.nodes = {node("Abs", {"x"}, {"y"}), node("Neg", {"x"}, {"z"}),
                       node("Exp", {"x"}, {"w"})},
             .outputs = {value("w", {"2", "3"}), value("y", {"2", "3"}), value("z", {"2", "3"})}}),
      {{"x", x}});
  REQUIRE(run.findings == "");
  std::vector<std::string> names;
  for (const GraphNode& made : run.graph.nodes) names.push_back(made.name);
  CHECK((names == std::vector<std::string>{"x", "node of y", "node of z", "node of w"}));
}

TEST_CASE("onnx order: the nodes of a function are ordered") {
  std::vector<std::string> backwards = nodes();
  std::reverse(backwards.begin(), backwards.end());
  const FunctionParts body{"F", {"x"}, {"y"}, backwards};
  CHECK(difference_of(model({.nodes = {node_of("own", "F", {"x"}, {"y"})}}, {function(body)}),
                      expected()) == "");
}

TEST_CASE("onnx order: nodes that need each other are refused, and only they") {
  const std::string findings =
      run_onnx(model({.nodes = {node("Add", {"x", "b"}, {"a"}), node("Neg", {"a"}, {"b"}),
                                node("Abs", {"a"}, {"y"})}}),
               {})
          .findings;
  CAPTURE(findings);
  CHECK(findings.find("node \"node of b\" (Neg): its input \"a\" is neither an input of the model "
                      "nor an output of a node before it") != std::string::npos);
  CHECK(findings.find("node \"node of a\", which makes it, needs what this node makes: cut this "
                      "cycle") != std::string::npos);
  CHECK(std::ranges::count(findings, '\n') < 5);  // the others follow from it
}

}  // namespace dmlop::test::onnx_order_test
