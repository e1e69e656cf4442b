// Values of an ONNX model that have two uses: nodes that read them in either order, and the outputs
// of the model. With and without fusion the same outputs come out.
#include <doctest/doctest.h>

#include <algorithm>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_uses_test {
namespace {

using namespace onnx_bytes;

std::size_t operators_in(const Graph& graph) {
  return static_cast<std::size_t>(std::count_if(
      graph.nodes.begin(), graph.nodes.end(),
      [](const GraphNode& node) { return std::holds_alternative<GraphOperator>(node.content); }));
}

/// A node that writes "h", into which an activation can be fused.
struct Writer {
  const char* type;
  std::vector<std::string> inputs;
  bool has_all_activations = true;
};

const std::vector<Writer> writers{
    {"Gemm", {"x", "w"}},
    {"MatMul", {"x", "w"}},
    {"Conv", {"image", "filter"}},
    {"BatchNormalization", {"image", "s", "s", "s", "v"}},
    {"InstanceNormalization", {"image", "s", "s"}},
    {"Add", {"x", "x"}, false},
};

const std::map<std::string, Numbers> inputs{
    {"x", some_numbers({2, 3}, 1)},
    {"w", some_numbers({3, 5}, 2)},
    {"image", some_numbers({2, 3, 4, 5}, 3)},
    {"filter", some_numbers({4, 3, 2, 2}, 4)},
    {"s", some_numbers({3}, 5)},
    {"v", {{3}, {0.5, 2, 1}}},
};

std::vector<std::string> values_of(const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) {
    const auto found = inputs.find(name);
    std::vector<std::string> sizes;
    if (found != inputs.end()) {
      for (const std::uint64_t size : found->second.sizes) sizes.push_back(std::to_string(size));
    }
    values.push_back(value(name, sizes));
  }
  return values;
}

/// A model with all nodes, and those of `inputs` that they read.
std::string model_of(const std::vector<std::string>& nodes, std::vector<std::string> read,
                     const std::vector<std::string>& outputs) {
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return model({.nodes = nodes, .inputs = values_of(read), .outputs = values_of(outputs)});
}

std::map<std::string, Numbers> given(const std::vector<std::string>& read) {
  std::map<std::string, Numbers> files;
  for (const std::string& name : read) files.emplace(name, inputs.at(name));
  return files;
}

/// Runs a model with fusion and without, and compares. Returns how many operators fusion saves.
std::size_t fused_operators(const Writer& writer, std::vector<std::string> readers,
                            const std::vector<std::string>& outputs) {
  readers.insert(readers.begin(), node(writer.type, writer.inputs, {"h"}));
  const std::string bytes = model_of(readers, writer.inputs, outputs);
  const OnnxRun plain = run_onnx(bytes, given(writer.inputs));
  const OnnxRun fused = run_onnx(bytes, given(writer.inputs), true);
  CHECK(plain.findings == "");
  CHECK(fused.findings == "");
  REQUIRE(plain.outputs.size() == outputs.size());
  REQUIRE(fused.outputs.size() == outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    CHECK(difference(fused.outputs[i], plain.outputs[i]) == "");
  return operators_in(plain.graph) - operators_in(fused.graph);
}

}  // namespace

TEST_CASE("onnx uses: an activation is fused only if nothing else reads what it reads") {
  const std::string relu = node("Relu", {"h"}, {"y"}), neg = node("Neg", {"h"}, {"z"});
  const std::string other = node("Relu", {"h"}, {"z"}), twice = node("Add", {"h", "h"}, {"z"});
  const std::string next = node("Neg", {"y"}, {"z"}), second = node("Sigmoid", {"y"}, {"z"});
  for (const Writer& writer : writers) {
    CAPTURE(std::string(writer.type));
    CHECK(fused_operators(writer, {relu}, {"y"}) == 1);
    // The value is an output of the model, too.
    CHECK(fused_operators(writer, {relu}, {"y", "h"}) == 0);
    CHECK(fused_operators(writer, {relu}, {"h", "y"}) == 0);
    // Another node reads it, before or after.
    for (const std::string& reader : {neg, other, twice}) {
      CHECK(fused_operators(writer, {relu, reader}, {"y", "z"}) == 0);
      CHECK(fused_operators(writer, {reader, relu}, {"y", "z"}) == 0);
      CHECK(fused_operators(writer, {reader, relu}, {"z", "y"}) == 0);
      CHECK(fused_operators(writer, {relu, reader}, {"y", "h", "z"}) == 0);
    }
    // What the activation writes may have any uses.
    CHECK(fused_operators(writer, {relu, next}, {"z"}) == 1);
    CHECK(fused_operators(writer, {relu, next}, {"y", "z"}) == 1);
    CHECK(fused_operators(writer, {relu, next}, {"z", "y"}) == 1);
    // There is one activation in an operator.
    CHECK(fused_operators(writer, {relu, second}, {"z"}) == 1);
    CHECK(fused_operators(writer, {relu, second}, {"y", "z"}) == 1);
  }
}

TEST_CASE("onnx uses: a fused operator has the name of the activation") {
  const auto name_of_last = [](const OnnxRun& run) {
    REQUIRE(!run.graph.nodes.empty());
    CHECK(run.graph.nodes.back().outputs == std::vector<std::string>{"y"});
    return run.graph.nodes.back().name;
  };
  for (const Writer& writer : writers) {
    CAPTURE(std::string(writer.type));
    const std::string bytes =
        model_of({node(writer.type, writer.inputs, {"h"}), node("Relu", {"h"}, {"y"})},
                 writer.inputs, {"y"});
    CHECK(name_of_last(run_onnx(bytes, given(writer.inputs), true)) ==
          name_of_last(run_onnx(bytes, given(writer.inputs))));
  }
}

TEST_CASE("onnx uses: activations that are fused compute the same") {
  for (const char* type : {"Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "ScaledTanh",
                           "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"}) {
    for (const Writer& writer : writers) {
      CAPTURE(std::string(type));
      CAPTURE(std::string(writer.type));
      std::vector<std::string> attributes;
      if (std::string(type) == "ScaledTanh") attributes = {real("alpha", 2), real("beta", 0.5F)};
      if (std::string(type) == "LeakyRelu") attributes = {real("alpha", 0.25F)};
      const bool is_fused = writer.has_all_activations || std::string(type) == "Relu";
      CHECK(fused_operators(writer, {node(type, {"h"}, {"y"}, attributes)}, {"y"}) ==
            (is_fused ? 1 : 0));
      CHECK(fused_operators(writer, {node(type, {"h"}, {"y"}, attributes)}, {"y", "h"}) == 0);
    }
  }
}

TEST_CASE("onnx uses: an input or an initializer may be an output, too") {
  const Numbers& x = inputs.at("x");
  Numbers doubled = x;
  for (double& number : doubled.values) number *= 2;
  std::vector<float> values(x.values.begin(), x.values.end());
  for (const std::vector<std::string>& outputs :
       {std::vector<std::string>{"x", "y"}, {"y", "x"}, {"x"}, {"y"}}) {
    const std::vector<std::string> nodes{node("Add", {"x", "x"}, {"y"})};
    const OnnxRun of_input = run_onnx(model_of(nodes, {"x"}, outputs), given({"x"}));
    const OnnxRun of_initializer =
        run_onnx(model({.nodes = nodes,
                        .initializers = {tensor("x", 1, {2, 3}, raw_floats(values))},
                        .inputs = {},
                        .outputs = values_of(outputs)}),
                 {});
    for (const OnnxRun* run : {&of_input, &of_initializer}) {
      CHECK(run->findings == "");
      REQUIRE(run->outputs.size() == outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i)
        CHECK(difference(run->outputs[i], outputs[i] == "x" ? x : doubled) == "");
    }
  }
}

// Nodes of known values are computed at once, the others run; both may need the same values.
TEST_CASE("onnx uses: an initializer is read by nodes that are computed at once and by others") {
  const Numbers& x = inputs.at("x");
  const std::vector<float> values{1, -2, 3};
  const auto result = [&](const std::function<double(double, double)>& function) {
    return numbers_at({2, 3}, [&](const Sizes& place) {
      return function(at(x, place), double{values[place[1]]});
    });
  };
  const Numbers c{{3}, {1, -2, 3}}, k{{3}, {2, -4, 6}};
  const std::map<std::string, Numbers> expected{
      {"c", c},
      {"k", k},
      {"y", result([](double a, double b) { return a * b; })},
      {"z", result([](double a, double b) { return a * b + 2 * b; })}};
  const std::string computed = node("Add", {"c", "c"}, {"k"}), run = node("Mul", {"x", "c"}, {"y"});
  const std::string both = node("Add", {"y", "k"}, {"z"});
  std::vector<std::string> outputs{"c", "k", "y", "z"};
  std::size_t cases = 0;
  do {
    for (std::size_t count = 1; count <= outputs.size(); ++count) {
      const std::vector<std::string> some(outputs.begin(),
                                          outputs.begin() + static_cast<std::ptrdiff_t>(count));
      for (const bool is_first : {false, true}) {
        const std::vector<std::string> nodes{is_first ? computed : run, is_first ? run : computed,
                                             both};
        const OnnxRun made =
            run_onnx(model({.nodes = nodes,
                            .initializers = {tensor("c", 1, {3}, raw_floats(values))},
                            .inputs = values_of({"x"}),
                            .outputs = values_of(some)}),
                     given({"x"}));
        CHECK(made.findings == "");
        REQUIRE(made.outputs.size() == count);
        for (std::size_t i = 0; i < count; ++i)
          CHECK(difference(made.outputs[i], expected.at(some[i])) == "");
        ++cases;
      }
    }
  } while (std::next_permutation(outputs.begin(), outputs.end()));
  CHECK(cases == 24 * 4 * 2);
}

// HardSwish becomes two operators, with an edge of its own between them.
TEST_CASE("onnx uses: edges of dmlop's own have names that no value of the model has") {
  const Numbers x = some_numbers({2, 3});
  const auto mapped = [&](const std::function<double(double)>& function) {
    Numbers made = x;
    for (double& number : made.values) number = function(number);
    return made;
  };
  const Numbers negative = mapped([](double v) { return -v; });
  const Numbers swish = mapped([](double v) { return v * std::clamp(v / 6 + 0.5, 0.0, 1.0); });
  const std::string own = node("HardSwish", {"x"}, {"y"});
  const auto check = [&](const Parts& parts, const std::vector<Numbers>& expected,
                         const std::map<std::string, Numbers>& more = {}) {
    std::map<std::string, Numbers> files = more;
    files.emplace("x", x);
    const OnnxRun run = run_onnx(model(parts), files);
    CHECK(run.findings == "");
    REQUIRE(run.outputs.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(difference(run.outputs[i], expected[i]) == "");
  };
  const std::vector<std::string> inputs{value("x", {"2", "3"})}, both = values_of({"y", "y/part"});
  const std::string other = node("Neg", {"x"}, {"y/part"});
  check({.nodes = {own, other}, .inputs = inputs, .outputs = both}, {swish, negative});
  check({.nodes = {other, own}, .inputs = inputs, .outputs = both}, {swish, negative});
  const std::string sum = node("Add", {"y", "y/part"}, {"z"});
  const Numbers zero = mapped([](double) { return 0; });
  const std::string zeros = tensor("y/part", 1, {2, 3}, raw_floats(std::vector<float>(6, 0)));
  check(
      {.nodes = {own, sum}, .initializers = {zeros}, .inputs = inputs, .outputs = values_of({"z"})},
      {swish});
  check({.nodes = {own, sum},
         .inputs = {inputs[0], value("y/part", {"2", "3"})},
         .outputs = values_of({"z"})},
        {swish}, {{"y/part", zero}});
  // Constants and inputs that are outputs have a copy.
  const std::string constant = tensor("k", 1, {3}, raw_floats({1, 2, 3}));
  for (const std::vector<std::string>& outputs :
       {std::vector<std::string>{"k", "k/value"}, {"k/value", "k"}}) {
    std::vector<Numbers> expected{{{3}, {1, 2, 3}}, negative};
    if (outputs[0] != "k") std::swap(expected[0], expected[1]);
    check({.nodes = {node("Neg", {"x"}, {"k/value"})},
           .initializers = {constant},
           .inputs = inputs,
           .outputs = values_of(outputs)},
          expected);
  }
  for (const char* name : {"x/output", "x/value"})
    check({.nodes = {node("Neg", {"x"}, {name})},
           .inputs = inputs,
           .outputs = values_of({name, "x"})},
          {negative, x});
}

// Files give the inputs, so that their edges need no name that people write.
TEST_CASE("onnx uses: an output has the name and the sizes that the model says") {
  const Numbers x = some_numbers({2, 3});
  const std::vector<std::string> nodes{node("Add", {"x", "k"}, {"y"})};
  const std::string constant = tensor("k", 1, {3}, raw_floats({1, 2, 3}));
  const std::vector<std::string> outputs{"x", "y", "k"};
  const OnnxRun run = run_onnx(model({.nodes = nodes,
                                      .initializers = {constant},
                                      .inputs = {value("x", {"2", "3"})},
                                      .outputs = values_of(outputs)}),
                               {{"x", x}});
  CHECK(run.findings == "");
  CHECK(run.graph.outputs == outputs);
  CHECK(run.graph.sizes.at("x") == Sizes{2, 3});
  CHECK(run.graph.sizes.at("k") == Sizes{3});
}

TEST_CASE("onnx uses: a node may have any of its outputs") {
  struct Row {
    const char* type;
    std::vector<Numbers> inputs;
    std::size_t outputs;
    std::vector<std::string> attributes = {};
  };
  const Numbers steps = some_numbers({3, 2, 4});
  const std::vector<Row> rows{
      {"RNN", {steps, some_numbers({1, 5, 4}), some_numbers({1, 5, 5})}, 2},
      {"GRU", {steps, some_numbers({1, 15, 4}), some_numbers({1, 15, 5})}, 2},
      {"LSTM", {steps, some_numbers({1, 20, 4}), some_numbers({1, 20, 5})}, 3},
      {"TopK", {steps, whole_numbers({2})}, 2},
      {"Split", {steps, whole_numbers({1, 2, 1})}, 3, {integer("axis", 2)}},
      {"MaxPool", {steps}, 2, {integers("kernel_shape", {2})}},
      {"DynamicQuantizeLinear", {steps}, 3},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.type));
    const OnnxRun all = run_node({row.type, row.inputs, row.attributes, row.outputs});
    REQUIRE(all.findings == "");
    for (unsigned bits = 1; bits < 1U << row.outputs; ++bits) {
      CAPTURE(bits);
      std::vector<std::string> names, read, outputs;
      std::map<std::string, Numbers> files;
      std::vector<std::string> values;
      for (std::size_t i = 0; i < row.inputs.size(); ++i) {
        read.push_back("i" + std::to_string(i));
        files.emplace(read.back(), row.inputs[i]);
        std::vector<std::string> sizes;
        for (const std::uint64_t size : row.inputs[i].sizes) sizes.push_back(std::to_string(size));
        values.push_back(value(read.back(), sizes, row.inputs[i].type == DataType::Int64 ? 7 : 1));
      }
      std::vector<Numbers> expected;
      for (std::size_t i = 0; i < row.outputs; ++i) {
        const bool is_there = (bits >> i & 1) != 0;
        names.push_back(is_there ? "o" + std::to_string(i) : "");
        if (!is_there) continue;
        outputs.push_back(names.back());
        expected.push_back(all.outputs[i]);
      }
      const OnnxRun made = run_onnx(model({.nodes = {node(row.type, read, names, row.attributes)},
                                           .inputs = values,
                                           .outputs = values_of(outputs)}),
                                    files);
      CHECK(made.findings == "");
      REQUIRE(made.outputs.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        CHECK(difference(made.outputs[i], expected[i]) == "");
    }
  }
}

// Exporters leave outputs behind that nothing reads, and nodes that only training used.
TEST_CASE("onnx uses: what no output of the model needs is not read") {
  const Numbers& x = inputs.at("x");
  const auto result_of = [&](const std::vector<std::string>& nodes,
                             const std::vector<std::string>& functions = {}) {
    const OnnxRun run = run_onnx(
        model({.nodes = nodes,
               .initializers = {tensor("k", 7, {1}, raw_integers({1})), truth("is_first", true)},
               .inputs = values_of({"x"}),
               .outputs = values_of({"y"})},
              functions),
        given({"x"}));
    return run.findings.empty() ? difference(run.outputs.at(0), x) : run.findings;
  };
  const std::string unknown = node("Unheard", {"x"}, {"u"});
  const std::string copy = node("Identity", {"x"}, {"y"});
  const std::string in_branch = node("Identity", {"h"}, {"t"});
  const auto choose = [&](const std::vector<std::string>& then_nodes) {
    const std::vector<std::string> output{value("t", {})};
    return node(
        "If", {"is_first"}, {"y"},
        {graph_attribute("then_branch", {.nodes = then_nodes, .inputs = {}, .outputs = output}),
         graph_attribute(
             "else_branch",
             {.nodes = {node("Unheard", {"x"}, {"t"})}, .inputs = {}, .outputs = output})});
  };
  const std::string two = function(
      {"Two", {"a"}, {"r", "s"}, {node("Unheard", {"a"}, {"s"}), node("Identity", {"a"}, {"r"})}});
  const std::string add_nothing = node("Add", {"x", "zero"}, {"y"});

  // Nodes, and those that only such nodes read.
  CHECK(result_of({unknown, copy}) == "");
  CHECK(result_of({unknown, node("Relu", {"u"}, {"v"}), copy}) == "");
  // Outputs that DirectML does not make, or does not leave out.
  CHECK(result_of({node("Dropout", {"x"}, {"y", "mask"})}) == "");
  CHECK(result_of({node("Split", {"x"}, {"first", "rest"}, {integer("axis", 0)}),
                   node("Sub", {"first", "first"}, {"zero"}), add_nothing}) == "");
  CHECK(result_of({node("TopK", {"x", "k"}, {"values", "places"}),
                   node("Cast", {"places"}, {"real"}, {integer("to", 1)}),
                   node("Sub", {"real", "real"}, {"zero"}), add_nothing}) == "");
  // A branch reads values around it: in its nodes, in those of a branch inside it, or as its
  // output.
  const std::string around = node("Identity", {"x"}, {"h"});
  CHECK(result_of({around, choose({in_branch, node("Unheard", {"t"}, {"u"})})}) == "");
  CHECK(result_of({node("Identity", {"x"}, {"t"}), choose({})}) == "");
  const std::vector<std::string> inner{value("q", {})};
  const Parts branch{.nodes = {node("Identity", {"h"}, {"q"})}, .inputs = {}, .outputs = inner};
  CHECK(result_of({around, choose({node("If", {"is_first"}, {"t"},
                                        {graph_attribute("then_branch", branch),
                                         graph_attribute("else_branch", branch)})})}) == "");
  // So does a function, whose second output is not read.
  CHECK(result_of({node_of("own", "Two", {"x"}, {"y", "s"})}, {two}) == "");
  // What is needed is refused as ever.
  CHECK(result_of({node_of("own", "Two", {"x"}, {"q", "y"})}, {two}) != "");
  CHECK(result_of({node("Dropout", {"x"}, {"d", "mask"}),
                   node("Cast", {"mask"}, {"y"}, {integer("to", 1)})}) != "");
  CHECK(result_of({unknown, node("Relu", {"u"}, {"y"})}) != "");
}

TEST_CASE("onnx uses: statistics of a normalization that nothing reads are left out") {
  const Numbers& image = inputs.at("image");
  for (const std::string& with_statistics :
       {node("LayerNormalization", {"image", "ones"}, {"y", "mean", "deviation"}),
        node("BatchNormalization", {"image", "s", "s", "s", "v"},
             {"y", "mean", "variance", "saved_mean", "saved_variance"})}) {
    const OnnxRun run =
        run_onnx(model({.nodes = {with_statistics},
                        .initializers = {tensor("ones", 1, {5}, raw_floats({1, 1, 1, 1, 1}))},
                        .inputs = values_of({"image", "s", "v"}),
                        .outputs = values_of({"y"})}),
                 given({"image", "s", "v"}));
    CHECK(run.findings == "");
    CHECK(run.outputs.at(0).sizes == image.sizes);
  }
}

}  // namespace dmlop::test::onnx_uses_test
