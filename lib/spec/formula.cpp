#include "spec/formula.hpp"

#include <algorithm>
#include <cmath>

#include "spec/formula_node.hpp"

namespace dmlop {
namespace {

bool compare(std::string_view comparison, const Number& a, const Number& b) {
  if (comparison == "==") return a == b;
  if (comparison == "!=") return !(a == b);
  if (comparison == "<=") return a < b || a == b;
  if (comparison == ">=") return b < a || a == b;
  if (comparison == "<") return a < b;
  return b < a;
}

// How the left side must relate to the right, in words.
std::string words_for(std::string_view comparison) {
  if (comparison == "==") return "must be";
  if (comparison == "!=") return "must not be";
  if (comparison == "<=") return "must be at most";
  if (comparison == ">=") return "must be at least";
  if (comparison == "<") return "must be less than";
  return "must be greater than";
}

std::string_view mirrored(std::string_view comparison) {
  if (comparison == "<=") return ">=";
  if (comparison == ">=") return "<=";
  if (comparison == "<") return ">";
  if (comparison == ">") return "<";
  return comparison;
}

std::optional<std::size_t> as_subscript(const std::optional<Number>& value) {
  if (!value || value->is_real() || value->integer() < 0) return std::nullopt;
  return static_cast<std::size_t>(value->integer());
}

std::optional<Number> truth(std::optional<bool> value) {
  return value ? std::optional<Number>(*value ? 1 : 0) : std::nullopt;
}

/// The values of a variable: from `begin` up to but not including `end`.
struct Range {
  std::int64_t begin = 0;
  std::optional<std::int64_t> end = std::nullopt;  // absent: no limit

  void limit(std::int64_t low, std::int64_t high) {
    begin = std::max(begin, low);
    end = std::min(end.value_or(high), high);
  }
};

}  // namespace

/// Evaluates the tree with the values of a scope and of variables.
class FormulaEvaluator {
 public:
  using Node = Formula::Node;
  using Index = Formula::NodeIndex;

  FormulaEvaluator(const Formula& formula, const Scope& scope, const Variables& variables)
      : nodes_(formula.nodes_), scope_(scope), variables_(variables) {}

  std::optional<Number> value(Index index) {
    const Node& node = nodes_[index];
    if (node.is_aggregate()) return aggregate(node);
    switch (node.kind) {
      case NodeKind::constant:
        return node.value;
      case NodeKind::variable:
        return Number(variables_[index_of(node.variable)]);
      case NodeKind::reference: {
        const auto place = this->place(node);
        return place ? scope_.value(*place) : std::nullopt;
      }
      case NodeKind::parentheses:
        return value(node.children[0]);
      case NodeKind::conditional: {
        const auto condition = value(node.children[0]);
        if (!condition) return std::nullopt;
        return value(node.children[condition->is_true() ? 1 : 2]);
      }
      case NodeKind::present:
      case NodeKind::length:
      case NodeKind::distinct:
        return of_field(node);
      case NodeKind::logical_and:
      case NodeKind::logical_or:
      case NodeKind::implication:
      case NodeKind::logical_not:
      case NodeKind::comparison:
      case NodeKind::in_set:
      case NodeKind::in_array:
        return truth(holds(node));
      default:
        return arithmetic(node);
    }
  }

  std::optional<Place> place(const Node& node) {
    Place place{.reference = node.reference};
    if (node.element && !(place.element = as_subscript(value(*node.element)))) return std::nullopt;
    if (node.subscript && !(place.subscript = as_subscript(value(*node.subscript))))
      return std::nullopt;
    return place;
  }

  /// The range that the subscripts below `index` allow for the variable. If the equation's target
  /// has the variable and a known length, only the target's subscripts count.
  Range range_of(char variable, Index index, std::optional<Index> target = std::nullopt) {
    if (target) {
      Range range;
      limit_by(nodes_[*target], variable, range);
      if (range.end) return range;
    }
    Range firm, loose;
    collect(index, variable, false, firm, loose);
    return firm.end ? firm : loose;
  }

  bool uses(Index index, char variable) const {
    const Node& node = nodes_[index];
    if (node.kind == NodeKind::variable) return node.variable == variable;
    const auto below = [&](Index child) { return uses(child, variable); };
    return (node.element && below(*node.element)) || (node.subscript && below(*node.subscript)) ||
           std::any_of(node.children.begin(), node.children.end(), below);
  }

  void set(char variable, std::int64_t value) { variables_[index_of(variable)] = value; }
  const Variables& variables() const { return variables_; }

 private:
  std::optional<Number> arithmetic(const Node& node) {
    const auto left = value(node.children[0]);
    if (!left) return std::nullopt;
    if (node.kind == NodeKind::negate) return subtract(0, *left);
    if (node.kind == NodeKind::absolute) return *left < 0 ? subtract(0, *left) : left;
    if (node.kind == NodeKind::round_down) return floor(*left);
    if (node.kind == NodeKind::finite) return truth(std::isfinite(left->as_double()));
    const auto right = value(node.children[1]);
    if (!right) return std::nullopt;
    switch (node.kind) {
      case NodeKind::add:
        return add(*left, *right);
      case NodeKind::subtract:
        return subtract(*left, *right);
      case NodeKind::multiply:
        return multiply(*left, *right);
      case NodeKind::divide:
        return divide(*left, *right);
      case NodeKind::remainder:
        return remainder(*left, *right);
      case NodeKind::minimum:
        return *right < *left ? right : left;
      case NodeKind::maximum:
        return *left < *right ? right : left;
      default:
        return std::nullopt;
    }
  }

  std::optional<bool> is_true(Index index) {
    const auto number = value(index);
    return number ? std::optional(number->is_true()) : std::nullopt;
  }

  std::optional<bool> holds(const Node& node) {
    if (node.kind == NodeKind::comparison) return chain_holds(node);
    if (node.kind == NodeKind::in_set) return is_in_set(node);
    if (node.kind == NodeKind::in_array) return is_in_array(node);
    auto left = is_true(node.children[0]);
    if (node.kind == NodeKind::logical_not) return left ? std::optional(!*left) : std::nullopt;
    if (node.kind == NodeKind::implication && left) left = !*left;  // "not left, or right"
    const bool decides = node.kind != NodeKind::logical_and;
    if (left && *left == decides) return decides;
    const auto right = is_true(node.children[1]);
    if (right && *right == decides) return decides;
    return left && right ? std::optional(!decides) : std::nullopt;
  }

  std::optional<bool> chain_holds(const Node& node) {
    for (std::size_t n = 0; n < node.comparisons.size(); ++n) {
      const auto left = value(node.children[n]), right = value(node.children[n + 1]);
      if (!left || !right) return std::nullopt;
      if (!compare(node.comparisons[n], *left, *right)) return false;
    }
    return true;
  }

  std::optional<bool> is_in_set(const Node& node) {
    const auto subject = value(node.children[0]);
    bool is_known = subject.has_value();
    for (std::size_t n = 1; n < node.children.size() && subject; ++n) {
      const auto member = value(node.children[n]);
      if (member && *member == *subject) return true;
      is_known = is_known && member;
    }
    return is_known ? std::optional(false) : std::nullopt;
  }

  std::optional<bool> is_in_array(const Node& node) {
    const auto subject = value(node.children[0]);
    const auto members = elements(node.children[1]);
    if (!subject || !members) return std::nullopt;
    return std::find(members->begin(), members->end(), *subject) != members->end();
  }

  std::optional<std::vector<Number>> elements(Index index) {
    auto place = this->place(nodes_[index]);
    const auto length = place ? scope_.length(*place) : std::nullopt;
    if (!length) return std::nullopt;
    std::vector<Number> numbers;
    for (std::size_t n = 0; n < *length; ++n) {
      place->subscript = n;
      const auto number = scope_.value(*place);
      if (!number) return std::nullopt;
      numbers.push_back(*number);
    }
    return numbers;
  }

  std::optional<Number> of_field(const Node& node) {
    const Node& field = nodes_[node.children[0]];
    const auto place = this->place(field);
    if (!place) return std::nullopt;
    if (node.kind == NodeKind::present) return truth(scope_.is_present(*place));
    if (node.kind == NodeKind::length) {
      const auto length = scope_.length(*place);
      if (!length) return std::nullopt;
      return Number(static_cast<std::int64_t>(*length));
    }
    const auto numbers = elements(node.children[0]);
    if (!numbers) return std::nullopt;
    for (auto at = numbers->begin(); at != numbers->end(); ++at) {
      if (std::find(at + 1, numbers->end(), *at) != numbers->end()) return Number(0);
    }
    return Number(1);
  }

  std::optional<Number> aggregate(const Node& node) {
    const Range range = range_of(node.variable, node.children[0]);
    if (!range.end) return std::nullopt;
    const bool decides = node.kind == NodeKind::any;
    const bool is_logical = node.kind == NodeKind::any || node.kind == NodeKind::all;
    std::optional<Number> result = Number(node.kind == NodeKind::product ? 1 : 0);
    bool is_unknown = false;
    const std::int64_t before = variables_[index_of(node.variable)];
    for (std::int64_t at = range.begin; at < *range.end && result; ++at) {
      set(node.variable, at);
      const auto term = value(node.children[0]);
      if (!term) {
        is_unknown = true;
      } else if (is_logical) {
        if (term->is_true() != decides) continue;
        set(node.variable, before);
        return Number(decides ? 1 : 0);
      } else if (node.kind == NodeKind::count) {
        result = add(*result, term->is_true() ? 1 : 0);
      } else {
        result = node.kind == NodeKind::sum ? add(*result, *term) : multiply(*result, *term);
      }
    }
    set(node.variable, before);
    if (is_unknown) return std::nullopt;
    return is_logical ? std::optional<Number>(decides ? 0 : 1) : result;
  }

  // The constant c of a subscript `variable + c`; nothing for any other form.
  std::optional<std::int64_t> offset_of(std::optional<Index> subscript, char variable) {
    if (!subscript) return std::nullopt;
    const Node& node = nodes_[*subscript];
    if (node.kind == NodeKind::variable)
      return node.variable == variable ? std::optional<std::int64_t>(0) : std::nullopt;
    if (node.kind != NodeKind::add && node.kind != NodeKind::subtract) return std::nullopt;
    const Node& left = nodes_[node.children[0]];
    const Node& right = nodes_[node.children[1]];
    if (left.kind != NodeKind::variable || left.variable != variable) return std::nullopt;
    if (right.kind != NodeKind::constant) return std::nullopt;
    const std::int64_t constant = right.value.integer();
    return node.kind == NodeKind::add ? constant : -constant;
  }

  void limit_by(const Node& node, char variable, Range& range) {
    if (node.kind != NodeKind::reference) return;
    const auto limit = [&](std::int64_t offset, std::optional<std::size_t> length) {
      if (length) range.limit(-offset, static_cast<std::int64_t>(*length) - offset);
    };
    if (const auto offset = offset_of(node.element, variable))
      limit(*offset, scope_.length({.reference = {node.reference.field}}));
    if (const auto offset = offset_of(node.subscript, variable)) {
      Place array{.reference = node.reference};
      if (node.element && !(array.element = as_subscript(value(*node.element)))) return;
      limit(*offset, scope_.length(array));
    }
  }

  void collect(Index index, char variable, bool is_branch, Range& firm, Range& loose) {
    const Node& node = nodes_[index];
    if (node.is_aggregate() && node.variable == variable) return;
    limit_by(node, variable, is_branch ? loose : firm);
    if (node.element) collect(*node.element, variable, is_branch, firm, loose);
    if (node.subscript) collect(*node.subscript, variable, is_branch, firm, loose);
    for (std::size_t n = 0; n < node.children.size(); ++n) {
      const bool is_choice = node.kind == NodeKind::conditional && n > 0;
      const bool is_condition = node.kind == NodeKind::implication && n == 0;
      collect(node.children[n], variable, is_branch || is_choice || is_condition, firm, loose);
    }
  }

  const std::vector<Node>& nodes_;
  const Scope& scope_;
  Variables variables_;
};

Formula::Formula() = default;
Formula::Formula(const Formula&) = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;
Formula::~Formula() = default;

void Formula::for_each(const Scope& scope,
                       const std::function<bool(const Variables&)>& action) const {
  FormulaEvaluator evaluator(*this, scope, Variables{});
  const auto target = equation_ ? std::optional(equation_->target) : std::nullopt;
  const auto visit = [&](auto& self, std::size_t depth) -> bool {
    if (depth == free_variables_.size()) return action(evaluator.variables());
    const char variable = free_variables_[depth];
    const Range range = evaluator.range_of(variable, root_, target);
    for (std::int64_t at = range.begin; at < range.end.value_or(range.begin); ++at) {
      evaluator.set(variable, at);
      if (!self(self, depth + 1)) return false;
    }
    return true;
  };
  visit(visit, 0);
}

std::optional<Number> Formula::evaluate(NodeIndex node, const Scope& scope,
                                        const Variables& variables) const {
  return FormulaEvaluator(*this, scope, variables).value(node);
}

std::optional<Place> Formula::place_at(NodeIndex node, const Scope& scope,
                                       const Variables& variables) const {
  if (nodes_[node].kind != NodeKind::reference) return std::nullopt;
  return FormulaEvaluator(*this, scope, variables).place(nodes_[node]);
}

std::optional<Formula::Violation> Formula::check(const Scope& scope,
                                                 const Variables& variables) const {
  return check_node(root_, scope, variables);
}

std::optional<Number> Formula::value(const Scope& scope) const {
  return evaluate(root_, scope, Variables{});
}

// Looks into conjunctions, so that a violation names the part that does not hold.
std::optional<Formula::Violation> Formula::check_node(NodeIndex index, const Scope& scope,
                                                      const Variables& variables) const {
  const Node& node = nodes_[index];
  const auto value = [&](NodeIndex n) { return evaluate(n, scope, variables); };
  if (node.kind == NodeKind::parentheses) return check_node(node.children[0], scope, variables);
  if (node.kind == NodeKind::logical_and) {
    const auto left = check_node(node.children[0], scope, variables);
    return left ? left : check_node(node.children[1], scope, variables);
  }
  if (node.kind == NodeKind::implication) {
    const auto condition = value(node.children[0]);
    if (!condition || !condition->is_true()) return std::nullopt;
    return check_node(node.children[1], scope, variables);
  }
  if (node.kind == NodeKind::comparison) {
    for (std::size_t n = 0; n < node.comparisons.size(); ++n) {
      const NodeIndex left = node.children[n], right = node.children[n + 1];
      const auto a = value(left), b = value(right);
      if (!a || !b || compare(node.comparisons[n], *a, *b)) continue;
      const bool is_divisibility =
          nodes_[left].kind == NodeKind::remainder && node.comparisons[n] == "==" && *b == 0;
      if (is_divisibility)
        return Violation{nodes_[left].children[0], "must be a multiple of",
                         nodes_[left].children[1]};
      if (nodes_[left].kind == NodeKind::constant)
        return Violation{right, words_for(mirrored(node.comparisons[n])), left};
      return Violation{left, words_for(node.comparisons[n]), right};
    }
    return std::nullopt;
  }
  const auto holds = value(index);
  if (!holds || holds->is_true()) return std::nullopt;
  if (node.kind == NodeKind::in_set)
    return Violation{
        node.children[0], "must be one of " + show_members(node, scope, variables), {}};
  if (node.kind == NodeKind::present) return Violation{node.children[0], "is missing", {}};
  if (node.kind == NodeKind::distinct)
    return Violation{node.children[0], "must not have a value twice", {}};
  if (node.kind == NodeKind::finite)
    return Violation{node.children[0], "must be a finite number", {}};
  if (node.kind == NodeKind::logical_not) {
    const Node* inner = &nodes_[node.children[0]];
    while (inner->kind == NodeKind::parentheses) inner = &nodes_[inner->children[0]];
    if (inner->kind == NodeKind::present)
      return Violation{inner->children[0], "must be left out", {}};
    if (inner->kind == NodeKind::in_set)
      return Violation{
          inner->children[0], "must not be one of " + show_members(*inner, scope, variables), {}};
  }
  return Violation{index, "does not hold", {}};
}

// "1, InputTensor.Sizes[0] = 3".
std::string Formula::show_members(const Node& set, const Scope& scope,
                                  const Variables& variables) const {
  std::string members;
  for (std::size_t n = 1; n < set.children.size(); ++n) {
    if (n > 1) members += ", ";
    const NodeIndex member = set.children[n];
    members += show_symbols(member, scope, variables);
    const auto value = evaluate(member, scope, variables);
    if (value && nodes_[member].kind != NodeKind::constant)
      members += " = " + show_value(member, scope, *value);
  }
  return members;
}

void Formula::find_equation() {
  const Node* root = &nodes_[root_];
  std::optional<NodeIndex> condition;
  if (root->kind == NodeKind::implication) {
    condition = root->children[0];
    root = &nodes_[root->children[1]];
  }
  if (root->kind != NodeKind::comparison) return;
  const bool exact = root->comparisons == std::vector<std::string>{"=="};
  const bool bounded = root->comparisons == std::vector<std::string>{"<=", "<="};
  if (!exact && !bounded) return;
  const NodeIndex target = root->children[exact ? 0 : 1];
  if (nodes_[target].kind != NodeKind::reference) return;
  equation_ = Equation{condition, target, root->children.back(), exact};
}

bool Formula::equation_applies(const Scope& scope, const Variables& variables) const {
  if (!equation_->condition) return true;
  const auto condition = evaluate(*equation_->condition, scope, variables);
  return condition && condition->is_true();
}

std::vector<Place> Formula::places(const Scope& scope, const Variables& variables,
                                   std::optional<NodeIndex> first) const {
  std::vector<Place> found;
  FormulaEvaluator evaluator(*this, scope, variables);
  const auto collect = [&](auto& self, NodeIndex index) -> void {
    const Node& node = nodes_[index];
    if (node.kind == NodeKind::reference) {
      const Place place = evaluator.place(node).value_or(Place{.reference = node.reference});
      if (std::find(found.begin(), found.end(), place) == found.end()) found.push_back(place);
    }
    if (node.kind == NodeKind::conditional) {
      // Shows only the branch that applies, and then the condition that chose it.
      const auto condition = evaluator.value(node.children[0]);
      if (condition) {
        self(self, node.children[condition->is_true() ? 1 : 2]);
        self(self, node.children[0]);
        return;
      }
    }
    for (const NodeIndex child : node.children) self(self, child);
  };
  if (first) collect(collect, *first);
  collect(collect, root_);
  return found;
}

std::vector<Reference> Formula::references() const {
  std::vector<Reference> found;
  for (const Node& node : nodes_) {
    if (node.kind == NodeKind::reference) found.push_back(node.reference);
  }
  return found;
}

bool Formula::names(std::string_view field) const {
  return std::ranges::any_of(nodes_, [&](const Node& node) {
    return node.kind == NodeKind::reference && node.reference.field == field;
  });
}

const Reference* Formula::reference_at(NodeIndex node) const {
  return nodes_[node].kind == NodeKind::reference ? &nodes_[node].reference : nullptr;
}

}  // namespace dmlop
