// The syntax tree of a formula: shared by its parser and its evaluator only.
#pragma once

#include "spec/formula.hpp"

namespace dmlop {

enum class NodeKind {
  constant,   // value; name when it was written as one
  reference,  // reference, with a subscript as children[0] if any
  index,      // the variable i
  negate,
  absolute,
  logical_not,
  parentheses,  // kept so that formulas print as they were written
  add,
  subtract,
  multiply,
  divide,
  remainder,
  logical_and,
  logical_or,
  conditional,  // children: condition, then, else
  comparison,   // a chain: children are the operands, comparisons stand between them
};

struct Formula::Node {
  NodeKind kind = NodeKind::constant;
  std::int64_t value = 0;
  std::string name;
  Reference reference;
  std::vector<NodeIndex> children;
  std::vector<std::string> comparisons;
};

}  // namespace dmlop
