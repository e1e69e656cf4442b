// Graphs made in memory: what is said about their edges and nodes, and that only bytes go over an
// edge.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/text.hpp"
#include "graph.hpp"
#include "model/outputs.hpp"
#include "model/run_commands.hpp"
#include "model/runtime.hpp"

namespace dmlop::test::graph_lower_test {
namespace {

using Numbers = std::vector<std::uint32_t>;

GraphTensor tensor(Numbers sizes, std::optional<Numbers> strides = {},
                   const std::string& type = "FLOAT32", std::uint64_t element_size = 4) {
  std::uint64_t bytes = element_size;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!strides || (*strides)[i] != 0) bytes *= sizes[i];
  }
  return {"DML_TENSOR_DATA_TYPE_" + type, std::move(sizes), std::move(strides),
          (bytes + 3) / 4 * 4};
}

GraphNode node(const std::string& name, const std::string& type, std::vector<std::string> inputs,
               std::vector<GraphTensor> input_tensors, std::vector<std::string> outputs,
               std::vector<GraphTensor> output_tensors,
               std::vector<GraphAttribute> attributes = {}) {
  return {name,
          GraphOperator{"DML_OPERATOR_" + type, std::move(input_tensors), std::move(output_tensors),
                        std::move(attributes)},
          std::move(inputs), std::move(outputs)};
}

/// Copies an edge as one tensor to another edge as another.
GraphNode identity(const std::string& from, const GraphTensor& as, const std::string& to,
                   const GraphTensor& other) {
  return node("to_" + to, "ELEMENT_WISE_IDENTITY", {from}, {as}, {to}, {other}, {{"", {}}});
}

GraphNode add(const std::string& a, const std::string& b, const std::string& to,
              const GraphTensor& as) {
  return node("add", "ELEMENT_WISE_ADD", {a, b}, {as, as}, {to}, {as});
}

GraphNode raw_constant(const std::string& edge, std::vector<int> values) {
  GraphConstant constant;
  for (const int value : values) constant.bytes.push_back(static_cast<std::byte>(value));
  return {edge, constant, {}, {edge}};
}

GraphNode named_constant(const std::string& edge, const std::string& name) {
  return {edge, GraphConstant{name, {}}, {}, {edge}};
}

Graph graph(std::vector<std::string> inputs, std::vector<std::string> outputs,
            std::vector<GraphNode> nodes, const std::string& file = "graph.bin") {
  return {file, std::move(inputs), std::move(outputs), std::move(nodes)};
}

LoweredGraph lowered(const Graph& graph) {
  Diagnostics diagnostics, notes;
  auto lowered = lower_graph(graph, {}, diagnostics, notes);
  REQUIRE_MESSAGE(lowered, to_text(diagnostics.front()));
  return std::move(*lowered);
}

/// The elements of all outputs of a graph, one after the other. Each input gets its file.
template <typename T>
std::vector<T> computed(const Graph& graph, const std::vector<NamedFile>& files = {}) {
  LoweredGraph made = lowered(graph);
  Diagnostics diagnostics;
  bind_inputs(made, {.inputs = files}, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
  Backend cpu;
  Runtime runtime(made.model, cpu, {});
  const auto ended = last_used(made.model, made.model.outputs);
  for (std::size_t i = 0; i < made.model.commands.size(); ++i) {
    runtime.dispatch(std::get<DispatchCommand>(made.model.commands[i]));
    for (const std::size_t resource : ended[i]) runtime.release(resource);
  }
  std::vector<T> values;
  for (const std::size_t output : made.model.outputs) {
    const Buffer packed = packed_elements(tensor_of(made.model, output), runtime.contents(output));
    const std::size_t before = values.size();
    values.resize(before + packed.size() / sizeof(T));
    std::memcpy(values.data() + before, packed.data(), packed.size());
  }
  return values;
}

const GraphTensor four = tensor({4});

TEST_CASE("graph edges: each has one source, before its readers") {
  CHECK(findings_of(graph({"x"}, {"y"}, {identity("x", four, "y", four)})) == "");
  CHECK(
      findings_of(graph({"x"}, {"y"}, {identity("z", four, "y", four)})) ==
      "node \"to_y\" (DML_OPERATOR_ELEMENT_WISE_IDENTITY): InputTensor is the edge \"z\", which is "
      "neither an input of the graph nor the output of an earlier node");
  // A node does not read what a later one writes.
  CHECK(
      findings_of(
          graph({"x"}, {"z"}, {identity("y", four, "z", four), identity("x", four, "y", four)})) ==
      "node \"to_z\" (DML_OPERATOR_ELEMENT_WISE_IDENTITY): InputTensor is the edge \"y\", which is "
      "neither an input of the graph nor the output of an earlier node");
  CHECK(findings_of(graph({"x"}, {"x"}, {identity("x", four, "x", four)})) ==
        "node \"to_x\" (DML_OPERATOR_ELEMENT_WISE_IDENTITY): OutputTensor: the edge \"x\" already "
        "exists\nthe output \"x\" of the graph is one of its inputs");
  CHECK(findings_of(graph({"x", "x"}, {"y"}, {identity("x", four, "y", four)})) ==
        "the inputs of the graph: the edge \"x\" already exists");
  CHECK(findings_of(graph({}, {"c"}, {raw_constant("c", {1, 2, 3, 4})})) ==
        "the output \"c\" of the graph is a constant");
  CHECK(findings_of(graph({"x"}, {"z"}, {identity("x", four, "y", four)})) ==
        "the output \"z\" of the graph is written by no node");
}

TEST_CASE("graph edges: those that nothing reads have names of their own") {
  const GraphTensor image = tensor({1, 1, 2, 2}), one = tensor({1, 1, 1, 1}),
                    index = tensor({1, 1, 1, 1}, {}, "UINT32");
  // Nothing reads the indices of either node, and another edge has the name that they would get.
  const auto pool = [&](const std::string& to) {
    return node("pool", "MAX_POOLING1", {"x"}, {image}, {to, ""}, {one, index},
                {{"DimensionCount", std::uint32_t{2}},
                 {"Strides", Numbers{1, 1}},
                 {"WindowSize", Numbers{2, 2}},
                 {"StartPadding", Numbers{0, 0}},
                 {"EndPadding", Numbers{0, 0}}});
  };
  const LoweredGraph made =
      lowered(graph({"x"}, {"y", "pool.OutputIndicesTensor"},
                    {pool("y"), pool("z"), identity("z", one, "pool.OutputIndicesTensor", one)}));
  std::vector<std::string> names;
  for (const Resource& resource : made.model.resources) names.push_back(resource.name);
  CHECK(names == std::vector<std::string>{"x", "y", "pool.OutputIndicesTensor_2", "z",
                                          "pool.OutputIndicesTensor_3",
                                          "pool.OutputIndicesTensor"});
}

TEST_CASE("graph edges: what is advised about a tensor of a node is about no file") {
  const GraphTensor of_double = tensor({4}, {}, "FLOAT64", 8);
  Diagnostics diagnostics, notes;
  lower_graph(graph({"x"}, {"y"}, {add("x", "x", "y", of_double)}), {}, diagnostics, notes);
  REQUIRE(diagnostics.size() > 0);
  CHECK(diagnostics.front().suggestion.text() == "write \"FLOAT32\"");
}

TEST_CASE("graph edges: a reader needs no more bytes than there are") {
  const GraphTensor five = tensor({5});
  CHECK(findings_of(graph({"x"}, {"z"},
                          {identity("x", four, "y", four), identity("y", five, "z", five)})) ==
        "node \"to_z\" (DML_OPERATOR_ELEMENT_WISE_IDENTITY): InputTensor needs 20 bytes, but the "
        "edge \"y\" has 16");
  CHECK(findings_of(graph({}, {"y"},
                          {raw_constant("c", {0, 0, 0, 0, 0}), identity("c", four, "y", four)})) ==
        "node \"to_y\" (DML_OPERATOR_ELEMENT_WISE_IDENTITY): InputTensor needs 16 bytes, but the "
        "edge \"c\" has 8");
}

TEST_CASE("graph nodes: descs, attributes and fields must fit together") {
  const std::string called = "node \"n\" (DML_OPERATOR_ELEMENT_WISE_IDENTITY): ";
  const auto found = [](const GraphNode& node) {
    return findings_of(graph({"x", "z"}, {}, {node}));
  };
  const GraphAttribute left_out{"", {}};
  const std::string type = "ELEMENT_WISE_IDENTITY";
  CHECK(found(node("n", type, {"x"}, {four}, {"y"}, {four}, {left_out})) == "");
  CHECK(found(node("n", type, {"x"}, {four}, {"y"}, {four})) ==
        called +
            "DML_OPERATOR_ELEMENT_WISE_IDENTITY has 1 field beside its tensors, but there are "
            "0 attributes");
  CHECK(found(node("n", type, {"x"}, {four}, {"y"}, {four}, {{"Scale", 1.0F}})) ==
        called +
            "attribute 0 of DML_OPERATOR_ELEMENT_WISE_IDENTITY is \"Scale\", must be "
            "\"ScaleBias\"");
  CHECK(found(node("n", type, {"x"}, {four}, {"y"}, {four}, {{"ScaleBias", 1.0F}})) ==
        called + "ScaleBias is 1, must be an object such as {\"Scale\": 2, \"Bias\": 0.5}");
  CHECK(found(node("n", type, {"x"}, {}, {"y"}, {four}, {left_out})) ==
        called + "it has 0 descs of inputs for 1 edge");
  CHECK(found(node("n", type, {""}, {four}, {"y"}, {four}, {left_out})) ==
        called + "InputTensor has a desc, but no edge");
  CHECK(found(node("n", type, {""}, {}, {"y"}, {four}, {left_out})) ==
        called + "the field \"InputTensor\" is missing\n" + called +
            "InputTensor.DataType and InputTensor.Sizes are missing");
  CHECK(found(node("n", type, {"x", "z"}, {four, four}, {"y"}, {four}, {left_out})) ==
        called + "it has 2 inputs, but DML_OPERATOR_ELEMENT_WISE_IDENTITY has 1");
  CHECK(found(node("n", "NO_SUCH", {"x"}, {four}, {"y"}, {four}))
            .starts_with("node \"n\" (DML_OPERATOR_NO_SUCH): type is "));
}

TEST_CASE("graph nodes: findings say the node, and the rule") {
  Diagnostics diagnostics, notes;
  const Graph wrong = graph({"x"}, {"y"}, {identity("x", four, "y", tensor({3}))});
  CHECK_FALSE(lower_graph(wrong, {}, diagnostics, notes));
  REQUIRE(!diagnostics.empty());
  CHECK(to_text(diagnostics[0])
            .starts_with("graph.bin: error: node \"to_y\" (DML_OPERATOR_ELEMENT_WISE_IDENTITY): "
                         "OutputTensor.Sizes[0] "
                         "is 3, must be 4\n  rule: "));
  CHECK(diagnostics[0].line == 0);
  CHECK(diagnostics[0].pointer.empty());
}

TEST_CASE("graph nodes: DirectML decides, and the feature level") {
  // The page of TILE has no FLOAT64.
  const GraphTensor doubles = tensor({4}, {}, "FLOAT64", 8);
  CHECK(findings_of(graph({"x"}, {"y"},
                          {node("t", "TILE", {"x"}, {doubles}, {"y"}, {doubles},
                                {{"RepeatsCount", std::uint32_t{1}}, {"Repeats", Numbers{1}}})})) ==
        "");
  const Graph level = graph({"x"}, {"y"}, {identity("x", four, "y", four)});
  CHECK(findings_of(level, {.checking = {.feature_level = feature_level_named("5_0")}}) == "");
  CHECK(findings_of(level, {.checking = {.feature_level = feature_level_named("1_0")}}) != "");
}

TEST_CASE("graph nodes: of very many mistakes the first are listed") {
  std::vector<GraphNode> nodes;
  for (int i = 0; i < 100; ++i)
    nodes.push_back(identity("no", four, "y" + std::to_string(i), four));
  Diagnostics diagnostics, notes;
  CHECK_FALSE(lower_graph(graph({}, {}, nodes), {}, diagnostics, notes));
  CHECK(diagnostics.size() == 64);
  CHECK(count_of(diagnostics) == 100);
}

TEST_CASE("graph constants: their files are beside the graph, or missing") {
  const Folder folder;
  folder.write("c.bin", bytes_of<float>({1, 2, 3, 4}));
  folder.write("out/c.bin", bytes_of<float>({1, 2, 3, 4}));
  const auto with_name = [&](const std::string& name) {
    return graph({}, {"y"}, {named_constant("c", name), identity("c", four, "y", four)},
                 folder / "graph.bin");
  };
  CHECK(computed<float>(with_name("c")) == std::vector<float>{1, 2, 3, 4});
  for (const char* name : {"out/c", "../c", "out\\c", "/tmp/c", "C:c", ""}) {
    CAPTURE(name);
    CHECK(findings_of(with_name(name)) == "node \"c\" (constant): its ConstantName \"" +
                                              printable(name) +
                                              "\" is not the name of a file beside the graph");
  }
  CHECK(findings_of(with_name("missing"))
            .starts_with("node \"c\" (constant): reading " + (folder / "missing.bin") + ": "));
  Diagnostics diagnostics, notes;
  CHECK(lower_graph(with_name("missing"), {.constants_may_be_missing = true}, diagnostics, notes));
  CHECK(notes.size() == 1);
#ifndef _WIN32
  std::filesystem::create_symlink(folder / "c.bin", folder / "out/link.bin");
  Graph linked = with_name("link");
  linked.file = folder / "out/graph.bin";
  CHECK(findings_of(linked) == "");
  const auto confined = std::make_shared<const Confinement>(folder / "out");
  CHECK(findings_of(linked, {.confinement = confined}) != "");
#endif
}

TEST_CASE("graph runs: only bytes go over an edge") {
  const Folder folder;
  const std::vector<NamedFile> x{
      {"x", folder.write("x.npy", float_npy("(2, 3)", {1, 2, 3, 4, 5, 6}))}};
  const GraphTensor rows = tensor({2, 3}), columns = tensor({3, 2});
  // Another shape, and more dimensions.
  CHECK(computed<float>(graph({"x"}, {"y"}, {identity("x", tensor({1, 6}), "y", tensor({1, 6}))}),
                        x) == std::vector<float>{1, 2, 3, 4, 5, 6});
  // A reader transposes what it reads.
  CHECK(computed<float>(
            graph({"x"}, {"y"}, {identity("x", tensor({3, 2}, Numbers{1, 3}), "y", columns)}), x) ==
        std::vector<float>{1, 4, 2, 5, 3, 6});
  // A writer transposes what it writes; the next node sees the bytes as they lie there.
  CHECK(computed<float>(graph({"x"}, {"z"},
                              {identity("x", rows, "y", tensor({2, 3}, Numbers{1, 2})),
                               identity("y", columns, "z", columns)}),
                        x) == std::vector<float>{1, 4, 2, 5, 3, 6});
  // An output with strides goes to a file as its desc says.
  CHECK(computed<float>(
            graph({"x"}, {"y"}, {identity("x", rows, "y", tensor({2, 3}, Numbers{1, 2}))}), x) ==
        std::vector<float>{1, 2, 3, 4, 5, 6});
  // A reader broadcasts.
  CHECK(computed<float>(graph({"x"}, {"z"},
                              {identity("x", rows, "y", rows),
                               identity("y", tensor({2, 3}, Numbers{0, 1}), "z", rows)}),
                        x) == std::vector<float>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("graph runs: an output may be read by nodes, and a constant be short") {
  const Folder folder;
  const std::vector<NamedFile> x{{"x", folder.write("x.npy", float_npy("(4,)", {1, 2, 3, 4}))}};
  CHECK(computed<float>(
            graph({"x"}, {"y", "z"}, {add("x", "x", "y", four), add("y", "x", "z", four)}), x) ==
        std::vector<float>{2, 4, 6, 8, 3, 6, 9, 12});
  const GraphTensor bytes = tensor({3}, {}, "UINT8", 1);
  CHECK(computed<std::uint8_t>(
            graph({}, {"y"}, {raw_constant("c", {7, 8, 9}), identity("c", bytes, "y", bytes)})) ==
        std::vector<std::uint8_t>{7, 8, 9});
}

// The first n elements go to an output of their own.
TEST_CASE("graph inputs: readers need as much as the one that needs most, in any order") {
  const Folder folder;
  const auto read = [](const std::string& from, std::uint32_t count, std::size_t reader) {
    return identity(from, tensor({count}), "y" + std::to_string(reader), tensor({count}));
  };
  const std::vector<std::string> outputs{"y0", "y1", "y2"};
  const std::string four_floats = folder.write("4.npy", float_npy("(4,)", {1, 2, 3, 4}));
  const std::string three_floats = folder.write("3.npy", float_npy("(3,)", {1, 2, 3}));
  const GraphNode constant = raw_constant("c", {0, 0, 0x80, 0x3F, 0, 0, 0, 0x40,  //
                                                0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40});
  std::vector<std::uint32_t> counts{1, 3, 4};
  do {
    CAPTURE(counts[0]);
    CAPTURE(counts[1]);
    std::vector<float> expected;
    for (const std::uint32_t count : counts) {
      for (std::uint32_t i = 0; i < count; ++i) expected.push_back(static_cast<float>(i + 1));
    }
    const auto readers = [&](const std::string& edge) {
      return std::vector<GraphNode>{read(edge, counts[0], 0), read(edge, counts[1], 1),
                                    read(edge, counts[2], 2)};
    };
    const Graph of_input = graph({"x"}, outputs, readers("x"));
    CHECK(computed<float>(of_input, {{"x", four_floats}}) == expected);
    LoweredGraph made = lowered(of_input);
    CHECK(made.inputs[0].bytes == 16);
    CHECK(made.inputs[0].element_bytes == 16);
    CHECK(made.model.resources[made.inputs[0].resource].size == 16);
    Diagnostics diagnostics;
    bind_inputs(made, {.inputs = {{"x", three_floats}}}, diagnostics);
    REQUIRE(diagnostics.size() == 1);
    CHECK(diagnostics[0].message == "the input \"x\" is FLOAT32 [" + std::to_string(counts[0]) +
                                        "], 16 bytes, but " + three_floats +
                                        " has FLOAT32 [3], 12 bytes");
    // A constant, and what a node writes.
    std::vector<GraphNode> nodes = readers("c");
    nodes.insert(nodes.begin(), constant);
    CHECK(computed<float>(graph({}, outputs, nodes)) == expected);
    nodes = readers("h");
    nodes.insert(nodes.begin(), identity("x", four, "h", four));
    CHECK(computed<float>(graph({"x"}, outputs, nodes), {{"x", four_floats}}) == expected);
    std::vector<std::string> with_edge = outputs;
    with_edge.emplace_back("h");
    expected.insert(expected.end(), {1, 2, 3, 4});
    CHECK(computed<float>(graph({"x"}, with_edge, nodes), {{"x", four_floats}}) == expected);
  } while (std::next_permutation(counts.begin(), counts.end()));
}

TEST_CASE("graph inputs: readers see one as different types, in any order") {
  const Folder folder;
  const auto read = [](const std::string& type, std::uint32_t count, std::uint64_t size) {
    const GraphTensor as = tensor({count}, {}, type, size);
    return identity("x", as, type, as);
  };
  const std::vector<GraphNode> readers{read("FLOAT32", 2, 4), read("UINT32", 1, 4),
                                       read("UINT16", 3, 2)};
  std::vector<std::size_t> order{0, 1, 2};
  const std::vector<std::string> types{"FLOAT32", "UINT32", "UINT16"};
  const std::string file = folder.write("x.npy", float_npy("(2,)", {1, -2}));
  do {
    std::vector<GraphNode> nodes;
    for (const std::size_t i : order) nodes.push_back(readers[i]);
    const Graph made = graph({"x"}, types, nodes);
    CAPTURE(order[0]);
    CAPTURE(order[1]);
    CHECK(lowered(made).inputs[0].types.size() == 3);
    CHECK(lowered(made).inputs[0].bytes == 8);
    CHECK(computed<std::uint16_t>(made, {{"x", file}}) ==
          std::vector<std::uint16_t>{0, 0x3F80, 0, 0xC000, 0, 0x3F80, 0, 0x3F80, 0});
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("graph runs: elements of 4 bits share a byte of a constant") {
  const auto dequantized = [](const std::string& type) {
    return computed<float>(
        graph({}, {"y"},
              {raw_constant("q", {0x21, 0x8F}), raw_constant("s", {0, 0, 0x80, 0x3F}),
               node("d", "DEQUANTIZE", {"q", "s"}, {tensor({1, 4}, {}, type, 1), tensor({1, 1})},
                    {"y"}, {tensor({1, 4})},
                    {{"QuantizationType", std::uint32_t{1}},
                     {"QuantizationTensorCount", std::uint32_t{1}}})}));
  };
  CHECK(dequantized("UINT4") == std::vector<float>{1 - 8, 2 - 8, 15 - 8, 8 - 8});  // its zero point
  CHECK(dequantized("INT4") == std::vector<float>{1, 2, -1, -8});
}

TEST_CASE("graph runs: readers of a constant of 4 bits see it in the type of each") {
  const auto read = [](const std::string& to, const std::string& type) {
    return node(
        to, "DEQUANTIZE", {"q", "s"}, {tensor({1, 4}, {}, type, 1), tensor({1, 1})}, {to},
        {tensor({1, 4})},
        {{"QuantizationType", std::uint32_t{1}}, {"QuantizationTensorCount", std::uint32_t{1}}});
  };
  const GraphNode q = raw_constant("q", {0x21, 0x8F}), s = raw_constant("s", {0, 0, 0x80, 0x3F});
  const std::vector<float> as_unsigned{1 - 8, 2 - 8, 15 - 8, 8 - 8}, as_signed{1, 2, -1, -8};
  for (const bool is_signed_first : {false, true}) {
    std::vector<float> expected = is_signed_first ? as_signed : as_unsigned;
    const auto& second = is_signed_first ? as_unsigned : as_signed;
    expected.insert(expected.end(), second.begin(), second.end());
    CHECK(computed<float>(graph({}, {"y", "z"},
                                {q, s, read("y", is_signed_first ? "INT4" : "UINT4"),
                                 read("z", is_signed_first ? "UINT4" : "INT4")})) == expected);
  }
}

TEST_CASE("graph runs: readers of a constant of 4 bits see as much of it as each needs") {
  const auto read = [](const std::string& to, std::uint32_t count) {
    return node(
        to, "DEQUANTIZE", {"q", "s"}, {tensor({1, count}, {}, "INT4", 1), tensor({1, 1})}, {to},
        {tensor({1, count})},
        {{"QuantizationType", std::uint32_t{1}}, {"QuantizationTensorCount", std::uint32_t{1}}});
  };
  const GraphNode q = raw_constant("q", {0x21, 0x8F, 0x43, 0x65, 0x17, 0xA9, 0xCB, 0xED});
  const GraphNode s = raw_constant("s", {0, 0, 0x80, 0x3F});
  const std::vector<float> all{1, 2, -1, -8, 3, 4, 5, 6, 7, 1, -7, -6, -5, -4, -3, -2};
  for (const auto& [first, second] : {std::pair{4U, 16U}, {16U, 4U}, {8U, 8U}, {1U, 9U}}) {
    CAPTURE(first);
    std::vector<float> expected(all.begin(), all.begin() + first);
    expected.insert(expected.end(), all.begin(), all.begin() + second);
    CHECK(computed<float>(graph({}, {"y", "z"}, {q, s, read("y", first), read("z", second)})) ==
          expected);
  }
}

TEST_CASE("graph inputs: every mistake is reported, and names may have marks") {
  const Folder folder;
  const std::string good = folder.write("good.npy", float_npy("(2, 2)", {1, 2, 3, 4}));
  const std::string longer = folder.write("longer.npy", float_npy("(5,)", {1, 2, 3, 4, 5}));
  const std::string integers =
      folder.write("integers.npy", npy("<i4", "(4,)", bytes_of<std::int32_t>({1, 2, 3, 4})));
  const auto found = [&](const std::vector<NamedFile>& files) {
    LoweredGraph made =
        lowered(graph({"a=b/c::0", "", "y"}, {"z"}, {add("a=b/c::0", "y", "z", four)}));
    Diagnostics diagnostics;
    bind_inputs(made, {.inputs = files}, diagnostics);
    std::vector<std::string> messages;
    for (const Diagnostic& diagnostic : diagnostics) messages.push_back(diagnostic.message);
    return messages;
  };
  using Messages = std::vector<std::string>;
  // As the command line is read: up to the first "=", or no name at all.
  CHECK(found({{"a", "b/c::0=" + good}, {"y", good}}) == Messages{});
  CHECK(found({{"", "a=b/c::0=" + good}, {"y", good}}) == Messages{});
  CHECK(found({}) == Messages{"the input \"a=b/c::0\" has no file", "the input \"y\" has no file"});
  const std::string is = " is FLOAT32 [4], 16 bytes, but ";
  CHECK(found({{"a", "b/c::0=" + longer}, {"y", integers}, {"no", good}}) ==
        Messages{"the input \"a=b/c::0\"" + is + longer + " has FLOAT32 [5], 20 bytes",
                 "the input \"y\"" + is + integers + " has INT32 [4], 16 bytes",
                 "the graph has no input \"no\""});
  CHECK(found({{"y", good}, {"y", longer}}) ==
        Messages{"the input \"y\" has two files: " + good + " and " + longer,
                 "the input \"a=b/c::0\" has no file"});
  CHECK(found({{"", good}})[0] == "which input is " + good + "? the graph has a=b/c::0, y");
}

TEST_CASE("commands: a buffer ends with the last command that uses it") {
  const Graph chain =
      graph({"x"}, {"z"},
            {identity("x", four, "a", four), add("a", "x", "b", four), add("b", "b", "z", four)});
  const Model model = lowered(chain).model;
  const auto names = [&](const std::vector<std::size_t>& kept) {
    std::string text;
    for (const auto& ended : last_used(model, kept)) {
      std::vector<std::string> list;
      for (const std::size_t resource : ended) list.push_back(model.resources[resource].name);
      std::sort(list.begin(), list.end());
      text += "[" + join(list) + "]";
    }
    return text;
  };
  CHECK(names(model.outputs) == "[][a, x][b]");
  CHECK(names({}) == "[][a, x][b, z]");
  CHECK(names({model.outputs[0], 0}) == "[][a][b]");
}

}  // namespace
}  // namespace dmlop::test::graph_lower_test
