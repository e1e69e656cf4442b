// The tables of a serialized graph. No schema of them is published; the numbers are those of the
// fields in ONNX Runtime's files.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dmlop {

namespace graph_field {
constexpr std::size_t nodes = 0, inputs = 1, outputs = 2;
}
namespace node_field {
constexpr std::size_t kind = 0, content = 1, name = 2, inputs = 3, outputs = 4;
}
namespace operator_field {
constexpr std::size_t type = 0, inputs = 1, outputs = 2, attributes = 3;
}
namespace tensor_field {
constexpr std::size_t data_type = 0, sizes = 1, strides = 2, total_size_in_bytes = 3;
}
namespace activation_field {
constexpr std::size_t type = 0, attributes = 1;
}
namespace attribute_field {
constexpr std::size_t name = 0, kind = 1, value = 2;
}
namespace union_field {  // of constants and of DML_SCALAR_UNION
constexpr std::size_t kind = 0, value = 1;
}

enum class NodeKind : std::uint8_t { operation = 1, constant = 2 };
enum class ConstantKind : std::uint8_t { name = 1, raw = 2 };

/// The kind of the value of a DML_SCALAR_UNION, which is always written as 8 bytes.
inline constexpr std::uint8_t scalar_of_bytes = 1;

enum class ValueKind : std::uint8_t {
  none,
  activation,
  activations,
  uint32,
  uint64,
  int32,
  float32,
  uint32_array,
  int32_array,
  float32_array,
  scale_bias,
  size_2d,
  scalar,
  boolean,
};

}  // namespace dmlop
