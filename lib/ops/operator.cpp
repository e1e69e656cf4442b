#include "ops/operator.hpp"

#include <array>

#include "ops/element_wise.hpp"
#include "spec/validate.hpp"

namespace dmlop {

#define DMLOP_OPERATOR(name, plan, check)    \
  Plan plan(const Description& description); \
  void check(const Description& description, Diagnostics& diagnostics);
#include "ops/operators.def"
#undef DMLOP_OPERATOR

namespace {

constexpr std::array operators{
#define DMLOP_OPERATOR(name, plan, check) Operator{#name, plan, check},
#include "ops/operators.def"
#undef DMLOP_OPERATOR
#define DMLOP_ELEMENT_WISE(name, expression) Operator{#name, plan_element_wise, no_more_checks},
#include "ops/element_wise.def"
#undef DMLOP_ELEMENT_WISE
};

}  // namespace

const Operator* find_operator(std::string_view name) {
  for (const Operator& row : operators) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

void check_description(Description& description, Diagnostics& diagnostics) {
  validate(description, diagnostics);
  const Operator* row = find_operator(description.spec->name);
  if (row == nullptr) return;
  const bool is_page = description.judge == Judge::page;
  row->check(description, is_page ? diagnostics : description.warnings);
}

Plan make_plan(const Description& description) {
  const std::string& name = description.spec->name;
  if (const Operator* row = find_operator(name)) return row->plan(description);
  throw Error(ErrorKind::unavailable, "nothing runs DML_OPERATOR_" + name +
                                          " yet: it has no row in lib/ops/operators.def or "
                                          "lib/ops/element_wise.def");
}

Strides input_strides(const TensorDesc& tensor) {
  return tensor.strides ? *tensor.strides : packed_strides(tensor.sizes);
}

SequenceAxes sequences_of(const Description& description, const TensorDesc& input) {
  return sequences_along(strided_axes(input.sizes, {input_strides(input)}),
                         static_cast<std::size_t>(description.integer("Axis")));
}

}  // namespace dmlop
