// A graph of DirectML operators as ONNX Runtime's DirectML provider serializes it
// (Partition_N.bin), as data: nodes in the order in which they run, and edges, which are names.
// Nothing here knows what an operator is; graph/lower.hpp asks the specs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/file.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// A tensor desc. It belongs to the node: another node may see the same bytes in another way.
struct GraphTensor {
  std::string data_type;  // "DML_TENSOR_DATA_TYPE_FLOAT32"
  std::vector<std::uint32_t> sizes;
  std::optional<std::vector<std::uint32_t>> strides;
  std::uint64_t total_size_in_bytes = 0;

  bool operator==(const GraphTensor&) const = default;
};

struct GraphAttribute;

/// An operator without tensors, fused into another one.
struct GraphActivation {
  std::string type;  // "DML_OPERATOR_ACTIVATION_RELU"
  std::vector<GraphAttribute> attributes;

  bool operator==(const GraphActivation&) const;
};

struct GraphScaleBias {
  float scale = 0;
  float bias = 0;

  bool operator==(const GraphScaleBias&) const = default;
};

struct GraphSize2d {
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  bool operator==(const GraphSize2d&) const = default;
};

/// A DML_SCALAR_UNION, whose type another attribute says.
struct GraphScalar {
  std::array<std::byte, 8> bytes{};

  bool operator==(const GraphScalar&) const = default;
};

/// monostate: the attribute is optional and left out.
using GraphValue = std::variant<std::monostate, GraphActivation, std::vector<GraphActivation>,
                                std::uint32_t, std::uint64_t, std::int32_t, float,
                                std::vector<std::uint32_t>, std::vector<std::int32_t>,
                                std::vector<float>, GraphScaleBias, GraphSize2d, GraphScalar, bool>;

/// A field of an operator that is no tensor.
struct GraphAttribute {
  std::string name;  // "" if it is left out
  GraphValue value;

  bool operator==(const GraphAttribute&) const = default;
};

inline bool GraphActivation::operator==(const GraphActivation& other) const {
  return type == other.type && attributes == other.attributes;
}

struct GraphOperator {
  std::string type;                  // "DML_OPERATOR_CONVOLUTION"
  std::vector<GraphTensor> inputs;   // those that are there, in the order of the fields
  std::vector<GraphTensor> outputs;  // the same
  std::vector<GraphAttribute> attributes;

  bool operator==(const GraphOperator&) const = default;
};

/// Bytes that stay where they are, in memory or in a file that is mapped.
struct GraphBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;      // keeps them
  std::shared_ptr<const InputFile> file;  // null: memory
  std::string path;                       // of the file
};

/// A tensor of raw bytes, which stand in the graph or in a file. A serialized graph has files
/// beside it; one in JSON may have any, and .npy files, too.
struct GraphConstant {
  std::optional<std::string> name = {};  // of the file beside the graph, without .bin
  std::string path = {};                 // of a file that JSON names; "": none
  std::vector<std::byte> bytes = {};
  std::shared_ptr<const GraphBytes> view = {};  // null: none

  bool operator==(const GraphConstant&) const = default;
};

struct GraphNode {
  std::string name;
  std::variant<GraphOperator, GraphConstant> content;
  std::vector<std::string> inputs;   // names of edges; "" for an optional tensor that is left out
  std::vector<std::string> outputs;  // the same; "" also for one that nothing reads

  bool operator==(const GraphNode&) const = default;
};

struct Graph {
  std::string file;
  std::vector<std::string> inputs;   // names of edges; "" for one that no node reads
  std::vector<std::string> outputs;  // names of edges
  std::vector<GraphNode> nodes;
  std::map<std::string, std::vector<std::uint64_t>> sizes = {};  // of edges whose file says them
  std::map<std::string, DataType> types = {};                    // the same
  std::map<std::string, std::uint64_t> input_bytes = {};         // of inputs whose file says them
  std::vector<std::string> unread_inputs = {};                   // the file's names for them
  std::vector<std::string> external_files = {};  // with data of an ONNX model, beside constants'
  bool has_written_descs = true;  // false: they follow from the nodes of an ONNX model
  Diagnostics warnings = {};      // of whoever made the graph, for whoever lowers it
};

/// The names of all inputs, also of those that no node reads; "" where the file has none.
std::vector<std::string> input_names(const Graph& graph);

/// A tensor of a node and the edge that it is bound to: "" for none.
struct GraphUse {
  std::string edge;
  const GraphTensor* tensor = nullptr;  // null: it is left out
};

/// The places of a node's inputs or outputs. A place without an edge has a desc only if all places
/// have one. Nothing if there are other numbers of descs.
std::optional<std::vector<GraphUse>> uses_of(const std::vector<std::string>& edges,
                                             const std::vector<GraphTensor>& tensors);

/// The most nodes of a graph.
inline constexpr std::size_t graph_nodes_max = 10'000;

/// How findings call a node: node "Conv_3" (DML_OPERATOR_CONVOLUTION).
std::string title_of(const GraphNode& node);

/// Whether a file is a serialized graph, by its structure alone: three lists in a root table, nodes
/// that are operators or constants, and an operator of DirectML among them. The bytes of a tensor
/// are not taken for one.
bool is_serialized_graph(std::span<const std::byte> bytes);

/// Reads a serialized graph. What is wrong becomes a finding that says at which byte and in which
/// node; then it returns nothing. Neither operators nor edges are checked.
std::optional<Graph> read_graph(const std::string& file, std::span<const std::byte> bytes,
                                Diagnostics& diagnostics);

/// The bytes of a graph in the form that read_graph reads, and ONNX Runtime and DxDispatch do.
/// Errors: run_failed beyond 2 GiB.
std::vector<std::byte> write_graph(const Graph& graph);

}  // namespace dmlop
