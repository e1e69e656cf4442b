#include "layer/struct_layout.hpp"

#include <algorithm>

namespace dmlop::layer {
namespace {

struct Room {
  std::size_t bytes;
  std::size_t alignment;
};

Room room_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::enumeration:
    case FieldKind::uint:
    case FieldKind::int32:
    case FieldKind::float32:
    case FieldKind::boolean:  // BOOL
      return {4, 4};
    case FieldKind::size_2d:  // two UINT
      return {8, 4};
    case FieldKind::scalar_union:
    case FieldKind::input_tensor:
    case FieldKind::output_tensor:
    case FieldKind::input_tensor_array:
    case FieldKind::output_tensor_array:
    case FieldKind::uint_array:
    case FieldKind::int_array:
    case FieldKind::float_array:
    case FieldKind::scale_bias:
    case FieldKind::fused_activation:
    case FieldKind::activation_array:
      return {8, 8};
  }
  return {8, 8};
}

std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace

StructLayout layout_of(const OperatorSpec& spec) {
  StructLayout layout;
  std::size_t alignment = 1;
  for (const FieldSpec& field : spec.fields) {
    const Room room = room_of(field.kind);
    const std::size_t offset = round_up(layout.bytes, room.alignment);
    layout.fields.push_back({&field, offset});
    layout.bytes = offset + room.bytes;
    alignment = std::max(alignment, room.alignment);
  }
  layout.bytes = round_up(layout.bytes, alignment);
  return layout;
}

}  // namespace dmlop::layer
