// The structs of DirectML.h that are the same for all operators, as a 64-bit program has them in
// memory. Pointers are numbers here: they belong to the application and may point anywhere. The
// structs of operators follow from their specs (layer/struct_layout.hpp).
#pragma once

#include <cstdint>

namespace dmlop::layer {

using Address = std::uint64_t;

/// DML_OPERATOR_DESC, DML_TENSOR_DESC, DML_GRAPH_NODE_DESC and DML_GRAPH_EDGE_DESC: what follows,
/// and where.
struct TypedDesc {
  std::int32_t type;
  Address desc;
};

struct BufferTensorDesc {  // DML_BUFFER_TENSOR_DESC
  std::int32_t data_type;
  std::uint32_t flags;
  std::uint32_t dimension_count;
  Address sizes;
  Address strides;
  std::uint64_t total_size_in_bytes;
  std::uint32_t guaranteed_base_offset_alignment;
};

struct OperatorNodeDesc {  // DML_OPERATOR_GRAPH_NODE_DESC
  Address operation;
  Address name;
};

struct ConstantNodeDesc {  // DML_CONSTANT_DATA_GRAPH_NODE_DESC
  Address data;
  std::uint64_t data_size;
  Address name;
};

struct InputEdgeDesc {  // DML_INPUT_GRAPH_EDGE_DESC
  std::uint32_t graph_input;
  std::uint32_t to_node;
  std::uint32_t to_input;
  Address name;
};

struct OutputEdgeDesc {  // DML_OUTPUT_GRAPH_EDGE_DESC
  std::uint32_t from_node;
  std::uint32_t from_output;
  std::uint32_t graph_output;
  Address name;
};

struct IntermediateEdgeDesc {  // DML_INTERMEDIATE_GRAPH_EDGE_DESC
  std::uint32_t from_node;
  std::uint32_t from_output;
  std::uint32_t to_node;
  std::uint32_t to_input;
  Address name;
};

struct GraphDesc {  // DML_GRAPH_DESC
  std::uint32_t input_count;
  std::uint32_t output_count;
  std::uint32_t node_count;
  Address nodes;
  std::uint32_t input_edge_count;
  Address input_edges;
  std::uint32_t output_edge_count;
  Address output_edges;
  std::uint32_t intermediate_edge_count;
  Address intermediate_edges;
};

struct BindingTableDesc {  // DML_BINDING_TABLE_DESC
  Address dispatchable;
  Address cpu_descriptor_handle;
  std::uint64_t gpu_descriptor_handle;
  std::uint32_t size_in_descriptors;
};

struct BindingProperties {  // DML_BINDING_PROPERTIES
  std::uint32_t required_descriptor_count;
  std::uint64_t temporary_resource_size;
  std::uint64_t persistent_resource_size;
};

}  // namespace dmlop::layer
