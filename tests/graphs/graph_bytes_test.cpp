// The bytes of serialized graphs: what is one, and what is said about those that are damaged.
#include <cstring>
#include <numeric>

#include "base/text.hpp"
#include "fuzz/files.hpp"
#include "graph.hpp"
#include "graph/flatbuffer.hpp"
#include "paths.hpp"
#include "random.hpp"

namespace dmlop::test::graph_bytes_test {
namespace {

std::span<const std::byte> as_bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// The findings of some bytes, one line each; "" if they are a graph.
std::string findings_in(const std::string& bytes) {
  Diagnostics diagnostics;
  const auto graph = read_graph("x.bin", as_bytes(bytes), diagnostics);
  REQUIRE(graph.has_value() == diagnostics.empty());
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : diagnostics) messages.push_back(diagnostic.message);
  return join(messages, "\n");
}

/// The graph's bytes with one of them replaced.
std::string with_byte(std::string bytes, std::size_t at, int value) {
  bytes.at(at) = static_cast<char>(value);
  return bytes;
}

std::string number_bytes(std::uint32_t number) {
  return bytes_of<std::uint32_t>({number});
}

/// A graph without outputs, whose nodes are all the same empty table and whose inputs all have the
/// same name.
std::string repeating_graph(std::uint32_t nodes, std::uint32_t names, const std::string& name) {
  const std::uint32_t root = 16, nodes_at = root + 16, names_at = nodes_at + 4 + 4 * nodes,
                      outputs_at = names_at + 4 + 4 * names, table = outputs_at + 8,
                      name_at = table + 4;
  std::string bytes = number_bytes(root);
  const auto refer = [&](std::uint32_t target) {
    bytes += number_bytes(target - static_cast<std::uint32_t>(bytes.size()));
  };
  bytes += bytes_of<std::uint16_t>({10, 16, 4, 8, 12, 0});  // the fields of the root, at byte 4
  bytes += number_bytes(root - 4);
  for (const std::uint32_t list : {nodes_at, names_at, outputs_at}) refer(list);
  bytes += number_bytes(nodes);
  for (std::uint32_t i = 0; i < nodes; ++i) refer(table);
  bytes += number_bytes(names);
  for (std::uint32_t i = 0; i < names; ++i) refer(name_at);
  bytes += number_bytes(0);                  // outputs
  bytes += bytes_of<std::uint16_t>({4, 4});  // the fields of the table: none
  bytes += number_bytes(4);                  // the table
  return bytes + number_bytes(static_cast<std::uint32_t>(name.size())) + name + '\0';
}

/// A few graphs that together have every kind of part.
std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  for (const char* name : {"odd_names", "maxpool_indices_only", "slice_pad_concat", "gru_forward"})
    seeds.push_back(read_file(to_path(graph_file(name))));
  return seeds;
}

TEST_CASE("graph bytes: every graph is recognized, and no other file") {
  std::size_t graphs = 0, others = 0;
  for (const auto& path : files_below(conformance_path("graphs"), "")) {
    CAPTURE(path);
    const bool is_graph = path.filename().string().starts_with("Partition_");
    ++(is_graph ? graphs : others);
    CHECK(is_serialized_graph(as_bytes(read_file(path))) == is_graph);
  }
  CHECK(graphs == 86);
  CHECK(others > 200);
}

TEST_CASE("graph bytes: no tensor is a graph") {
  for (const std::size_t size : {0, 1, 3, 4, 5, 64, 4096})
    for (const int byte : {0, 1, 4, 8, 16, 0x7f, 0xff})
      CHECK_FALSE(is_serialized_graph(as_bytes(std::string(size, static_cast<char>(byte)))));
  std::vector<std::uint32_t> counted(1 << 12);
  for (const std::uint32_t step : {1U, 2U, 4U, 8U, 16U}) {
    for (std::size_t i = 0; i < counted.size(); ++i)
      counted[i] = static_cast<std::uint32_t>(i) * step;
    CHECK_FALSE(is_serialized_graph(as_bytes(bytes_of(counted))));
  }
  Random random(1);
  for (int repeat = 0; repeat < 2000; ++repeat) {
    std::vector<std::uint16_t> words(random.below(200));
    for (auto& word : words) word = static_cast<std::uint16_t>(random.below(40));
    CHECK_FALSE(is_serialized_graph(as_bytes(bytes_of(words))));
  }
}

TEST_CASE("graph bytes: findings name the byte and the node") {
  const std::string bytes = read_file(to_path(graph_file("odd_names")));
  CHECK(findings_in(bytes) == "");
  struct Row {
    std::size_t at;
    int value;
    const char* finding;
  };
  for (const auto& [at, value, finding] : std::initializer_list<Row>{
           {0, 0,
            "this is not a serialized DirectML graph: byte 0: the offset of the root table is 0, "
            "which leads nowhere in the file of 1208 bytes"},
           {0, 0x15,
            "this is not a serialized DirectML graph: byte 21: the root table is not aligned to 4 "
            "bytes"},
           {0x17, 0x7f,
            "this is not a serialized DirectML graph: byte 20: the list of the fields of the root "
            "table would start at byte -2130706422"},
           {0x26, 1,
            "this is not a serialized DirectML graph: byte 36: the name of an output of the graph "
            "has "
            "65537 items, more than the file has room for"},
           {0x5b, 3, "node 2 \"relu_5_dmlEp_0\": byte 84: a node is of kind 3, must be 1 or 2"},
           {0xa1, 'X',
            "node 2 \"relu_5_dmlEp_0\": byte 161: the type of an operator does not end with a "
            "zero"},
           {0x8e, 1,
            "node 2 \"relu_5_dmlEp_0\": byte 140: the type of an operator has 65553 items, more "
            "than the file has room for"},
           {0xdb, 14,
            "node 2 \"relu_5_dmlEp_0\": byte 212: an attribute has the type 14, which is unknown"},
           {0x383, 5, "node 1 \"a b.c\": byte 892: a constant is of kind 5, must be 1 or 2"}}) {
    CAPTURE(at);
    const std::string found = findings_in(with_byte(bytes, at, value));
    CHECK(found.substr(0, std::strlen(finding)) == finding);
  }
}

TEST_CASE("graph bytes: a graph that is cut off anywhere is refused") {
  for (const std::string& seed : seeds()) {
    std::size_t survivors = 0;
    for (std::size_t size = 0; size < seed.size(); ++size) {
      const bool is_refused = !findings_in(seed.substr(0, size)).empty();
      // The last bytes may be padding.
      if (!is_refused) ++survivors;
      CHECK((is_refused || seed.size() - size < 8));
    }
    CHECK(survivors < 8);
  }
}

TEST_CASE("graph bytes: with any byte changed there is a graph or a finding") {
  std::size_t refused = 0, read = 0, run = 0;
  for (const std::string& seed : seeds()) {
    for (std::size_t at = 0; at < seed.size(); ++at) {
      for (const int value : {0, 0x7f, 0xff}) {
        Diagnostics diagnostics, notes;
        const std::string bytes = with_byte(seed, at, value);
        const auto graph = read_graph(graph_file("odd_names"), as_bytes(bytes), diagnostics);
        REQUIRE(graph.has_value() == diagnostics.empty());
        ++(graph ? read : refused);
        if (!graph) continue;
        const auto lowered =
            lower_graph(*graph, {.constants_may_be_missing = true}, diagnostics, notes);
        REQUIRE(lowered.has_value() == diagnostics.empty());
        if (lowered) ++run;
      }
    }
  }
  CHECK(refused > 4000);
  CHECK(read > 1000);
  CHECK(run > 500);
}

TEST_CASE("graph bytes: parts that are used again and again do not fill the memory") {
  CHECK(findings_in(repeating_graph(1, 0, "")).starts_with("node 0: byte "));
  CHECK(findings_in(repeating_graph(10'000, 1, "x")).starts_with("node 0: byte "));
  CHECK(findings_in(repeating_graph(10'001, 0, "")) ==
        "this is not a serialized DirectML graph: the graph has 10001 nodes, must have at most "
        "10000");
  const auto is_too_much = [](const std::string& bytes) {
    return findings_in(bytes) ==
           "this is not a serialized DirectML graph: its parts, counted as often as they are used, "
           "are "
           "too large for a file of " +
               std::to_string(bytes.size()) + " bytes";
  };
  CHECK(is_too_much(repeating_graph(1, 70'000, std::string(1000, 'x'))));
  CHECK(is_too_much(repeating_graph(1'000'000, 0, "")));
  // The limit is the file's size times 64, and 64 KiB.
  CHECK(is_too_much(repeating_graph(1, 1'000, std::string(1000, 'x'))));
  CHECK_FALSE(is_too_much(repeating_graph(1, 100, std::string(1000, 'x'))));
}

}  // namespace
}  // namespace dmlop::test::graph_bytes_test
