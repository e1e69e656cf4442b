// What those who rewrite a graph ask about its nodes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::onnx {

/// The operator of a node if it has this type, such as "GEMM"; otherwise null.
const GraphOperator* operator_of_type(const GraphNode& node, std::string_view type);

/// A tensor as a node reads it.
struct Operand {
  std::string edge;
  GraphTensor tensor;

  bool operator==(const Operand&) const = default;
};

/// What an operator reads, without the tensors that are left out.
std::vector<Operand> operands_of(const GraphNode& node);

/// An attribute; null if there is none of this name, or if it is left out.
const GraphValue* find_attribute(const GraphOperator& operation, std::string_view name);

/// The same, if it holds such a value.
template <typename Value>
const Value* value_of_attribute(const GraphOperator& operation, std::string_view name) {
  const GraphValue* value = find_attribute(operation, name);
  return value != nullptr ? std::get_if<Value>(value) : nullptr;
}

bool has_activation(const GraphOperator& operation);

/// FLOAT32 or FLOAT16; nothing for other types.
std::optional<DataType> real_type(const GraphTensor& tensor);

/// Whether two tensors without strides are the same bytes, maybe in other sizes.
bool are_same_bytes(const GraphTensor& a, const GraphTensor& b);

/// The bytes of a constant that is in memory or in a mapped file; otherwise none.
std::span<const std::byte> bytes_in_memory(const GraphConstant& constant);

/// Such a constant's numbers. Errors: io_failed if its file was changed.
std::vector<double> numbers_in(const GraphConstant& constant, DataType real_type);

/// The one number of such a constant; nothing if it has another type or more. Errors: the same.
std::optional<double> scalar_in(const GraphConstant& constant, const GraphTensor& tensor);

}  // namespace dmlop::onnx
