// The syntax tree of a formula: shared by its parser, evaluator and printer only.
#pragma once

#include "spec/formula.hpp"

namespace dmlop {

enum class NodeKind {
  constant,   // value; name when it was written as one
  reference,  // reference, element and subscript
  variable,   // variable
  negate,
  absolute,
  round_down,
  minimum,
  maximum,
  logical_not,
  parentheses,  // kept so that formulas print as they were written
  add,
  subtract,
  multiply,
  divide,
  remainder,
  logical_and,
  logical_or,
  implication,  // children: condition, consequence
  conditional,  // children: condition, then, else
  comparison,   // a chain: children are the operands, comparisons stand between them
  in_set,       // children: subject, members
  in_array,     // children: subject, a reference to an array
  present,      // children: a reference
  length,       // children: a reference to an array
  distinct,     // children: a reference to an array
  finite,       // children: a number
  sum,          // over `variable`; children: the term
  product,
  count,
  all,
  any,
};

struct Formula::Node {
  NodeKind kind = NodeKind::constant;
  Number value = 0;
  std::string name = {};
  char variable = 0;
  Reference reference = {};
  std::optional<NodeIndex> element = {};
  std::optional<NodeIndex> subscript = {};
  std::vector<NodeIndex> children = {};
  std::vector<std::string> comparisons = {};

  bool is_aggregate() const { return kind >= NodeKind::sum; }
};

inline std::size_t index_of(char variable) {
  return static_cast<std::size_t>(variable - 'a');
}

}  // namespace dmlop
