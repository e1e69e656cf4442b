#include "spec/formula.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"
#include "spec/formula_node.hpp"

namespace dmlop {
namespace {

using Int = std::int64_t;

// Arithmetic that ends in nothing instead of leaving 64 bits.
std::optional<Int> combine(NodeKind kind, Int a, Int b) {
  switch (kind) {
    case NodeKind::add:
      return checked_add(a, b);
    case NodeKind::subtract:
      return checked_subtract(a, b);
    case NodeKind::multiply:
      return checked_multiply(a, b);
    case NodeKind::divide:
    case NodeKind::remainder:
      if (b == 0 || (a == std::numeric_limits<Int>::min() && b == -1)) return std::nullopt;
      return kind == NodeKind::divide ? a / b : a % b;
    default:
      return std::nullopt;
  }
}

bool compare(std::string_view comparison, Int a, Int b) {
  if (comparison == "==") return a == b;
  if (comparison == "!=") return a != b;
  if (comparison == "<=") return a <= b;
  if (comparison == ">=") return a >= b;
  if (comparison == "<") return a < b;
  return a > b;
}

// What the left side must be in relation to the right.
std::string_view words_for(std::string_view comparison) {
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

std::string_view symbol_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::add:
      return " + ";
    case NodeKind::subtract:
      return " - ";
    case NodeKind::multiply:
      return " * ";
    case NodeKind::divide:
      return " / ";
    case NodeKind::remainder:
      return " % ";
    case NodeKind::logical_and:
      return " && ";
    default:
      return " || ";
  }
}

std::optional<std::size_t> as_subscript(std::optional<Int> value) {
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

}  // namespace

Formula::Formula() = default;
Formula::Formula(const Formula&) = default;
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;
Formula::~Formula() = default;

std::string to_text(const Reference& reference, std::optional<std::size_t> subscript) {
  std::string text = reference.field;
  if (!reference.attribute.empty()) text += "." + reference.attribute;
  if (subscript) text += "[" + std::to_string(*subscript) + "]";
  return text;
}

std::optional<Int> Formula::evaluate(NodeIndex index, const Scope& scope, std::size_t i) const {
  const Node& node = nodes_[index];
  const auto child = [&](std::size_t n) { return evaluate(node.children[n], scope, i); };
  switch (node.kind) {
    case NodeKind::constant:
      return node.value;
    case NodeKind::index:
      return static_cast<Int>(i);
    case NodeKind::reference: {
      if (node.children.empty()) return scope.value(node.reference, std::nullopt);
      const auto subscript = as_subscript(child(0));
      return subscript ? scope.value(node.reference, subscript) : std::nullopt;
    }
    case NodeKind::parentheses:
      return child(0);
    case NodeKind::negate: {
      const auto value = child(0);
      return value ? combine(NodeKind::subtract, 0, *value) : std::nullopt;
    }
    case NodeKind::absolute: {
      const auto value = child(0);
      return value && *value < 0 ? combine(NodeKind::subtract, 0, *value) : value;
    }
    case NodeKind::logical_not: {
      const auto value = child(0);
      return value ? std::optional<Int>(*value == 0) : std::nullopt;
    }
    case NodeKind::logical_and:
    case NodeKind::logical_or: {
      const Int decides = node.kind == NodeKind::logical_or;
      const auto left = child(0), right = child(1);
      for (const auto& side : {left, right}) {
        if (side && (*side != 0) == (decides != 0)) return decides;
      }
      return left && right ? std::optional<Int>(!decides) : std::nullopt;
    }
    case NodeKind::conditional: {
      const auto condition = child(0);
      if (!condition) return std::nullopt;
      return child(*condition != 0 ? 1 : 2);
    }
    case NodeKind::comparison: {
      for (std::size_t n = 0; n < node.comparisons.size(); ++n) {
        const auto left = child(n), right = child(n + 1);
        if (!left || !right) return std::nullopt;
        if (!compare(node.comparisons[n], *left, *right)) return 0;
      }
      return 1;
    }
    default: {
      const auto left = child(0), right = child(1);
      return left && right ? combine(node.kind, *left, *right) : std::nullopt;
    }
  }
}

std::size_t Formula::index_count(const Scope& scope) const {
  bool uses_index = false;
  std::optional<std::size_t> count;
  for (const Node& node : nodes_) {
    if (node.kind != NodeKind::reference || node.children.empty()) continue;
    // Subscripts are i, i + constant or a constant; at i = 0 the value is what is added to i.
    const auto at_zero = evaluate(node.children[0], scope, 0);
    const auto at_one = evaluate(node.children[0], scope, 1);
    if (!at_zero || at_zero == at_one) continue;
    uses_index = true;
    const auto length = scope.length(node.reference);
    if (!length) continue;
    const auto offset = static_cast<std::size_t>(*at_zero);
    const std::size_t in_range = *length > offset ? *length - offset : 0;
    count = std::min(count.value_or(in_range), in_range);
  }
  return uses_index ? count.value_or(0) : 1;
}

std::optional<Formula::Violation> Formula::check(const Scope& scope, std::size_t i) const {
  const Node& root = nodes_[root_];
  if (root.kind != NodeKind::comparison) {
    const auto value = evaluate(root_, scope, i);
    if (!value || *value != 0) return std::nullopt;
    return Violation{root_, "does not hold", root_};
  }
  for (std::size_t n = 0; n < root.comparisons.size(); ++n) {
    const NodeIndex left = root.children[n], right = root.children[n + 1];
    const auto a = evaluate(left, scope, i), b = evaluate(right, scope, i);
    if (!a || !b || compare(root.comparisons[n], *a, *b)) continue;
    if (nodes_[left].kind == NodeKind::constant) {
      return Violation{right, words_for(mirrored(root.comparisons[n])), left};
    }
    return Violation{left, words_for(root.comparisons[n]), right};
  }
  return std::nullopt;
}

void Formula::find_equation() {
  const Node& root = nodes_[root_];
  if (root.kind != NodeKind::comparison) return;
  const bool exact = root.comparisons == std::vector<std::string>{"=="};
  const bool bounded = root.comparisons == std::vector<std::string>{"<=", "<="};
  if (!exact && !bounded) return;
  const Node& target = nodes_[root.children[exact ? 0 : 1]];
  if (target.kind != NodeKind::reference) return;
  const auto subscript = target.children.empty() ? std::nullopt : std::optional(target.children[0]);
  equation_ = Equation{target.reference, subscript, root.children.back(), exact};
}

std::vector<std::pair<Reference, std::optional<std::size_t>>> Formula::references(
    const Scope& scope, std::size_t i, std::optional<NodeIndex> first) const {
  std::vector<std::pair<Reference, std::optional<std::size_t>>> found;
  const auto collect = [&](auto& self, NodeIndex index) -> void {
    const Node& node = nodes_[index];
    if (node.kind == NodeKind::reference) {
      const auto subscript =
          node.children.empty() ? std::nullopt : as_subscript(evaluate(node.children[0], scope, i));
      const std::pair entry(node.reference, subscript);
      if (std::find(found.begin(), found.end(), entry) == found.end()) found.push_back(entry);
      return;
    }
    for (const NodeIndex child : node.children) self(self, child);
  };
  if (first) collect(collect, *first);
  collect(collect, root_);
  return found;
}

const Reference* Formula::reference_at(NodeIndex node) const {
  return nodes_[node].kind == NodeKind::reference ? &nodes_[node].reference : nullptr;
}

std::string Formula::show_symbols(const Scope& scope, std::size_t i) const {
  return render(root_, scope, i, false);
}

std::string Formula::show_symbols(NodeIndex node, const Scope& scope, std::size_t i) const {
  return render(node, scope, i, false);
}

std::string Formula::show_numbers(NodeIndex node, const Scope& scope, std::size_t i) const {
  const auto value = evaluate(node, scope, i);
  std::string text = render(node, scope, i, true);
  if (!value) return text;
  const std::string shown = show_value(node, scope, *value);
  return text == shown ? text : text + " = " + shown;
}

std::string Formula::show_value(NodeIndex node, const Scope& scope, Int value) const {
  const Reference* reference = reference_at(node);
  return reference != nullptr ? scope.show(*reference, value) : std::to_string(value);
}

std::string Formula::render(NodeIndex index, const Scope& scope, std::size_t i,
                            bool numbers) const {
  const Node& node = nodes_[index];
  const auto child = [&](std::size_t n) { return render(node.children[n], scope, i, numbers); };
  switch (node.kind) {
    case NodeKind::constant:
      return node.name.empty() ? std::to_string(node.value) : node.name;
    case NodeKind::index:
      return std::to_string(i);
    case NodeKind::reference: {
      const auto subscript =
          node.children.empty() ? std::nullopt : as_subscript(evaluate(node.children[0], scope, i));
      const auto value = evaluate(index, scope, i);
      return numbers && value ? scope.show(node.reference, *value)
                              : to_text(node.reference, subscript);
    }
    case NodeKind::parentheses:
      return "(" + child(0) + ")";
    case NodeKind::negate:
      return "-" + child(0);
    case NodeKind::absolute:
      return "abs(" + child(0) + ")";
    case NodeKind::logical_not:
      return "!" + child(0);
    case NodeKind::conditional:
      return child(0) + " ? " + child(1) + " : " + child(2);
    case NodeKind::comparison: {
      std::string text = child(0);
      for (std::size_t n = 0; n < node.comparisons.size(); ++n) {
        text += " " + node.comparisons[n] + " " + child(n + 1);
      }
      return text;
    }
    default:
      return child(0) + std::string(symbol_of(node.kind)) + child(1);
  }
}

}  // namespace dmlop
