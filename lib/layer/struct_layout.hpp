// Where the fields of DML_*_OPERATOR_DESC lie in the memory of a 64-bit program. It follows from
// the kinds of fields, in the order of the spec.
#pragma once

#include <cstddef>
#include <vector>

#include "spec/spec.hpp"

namespace dmlop::layer {

struct FieldLayout {
  const FieldSpec* field;
  std::size_t offset;
};

struct StructLayout {
  std::vector<FieldLayout> fields;
  std::size_t bytes = 0;  // with the padding at its end
};

StructLayout layout_of(const OperatorSpec& spec);

}  // namespace dmlop::layer
