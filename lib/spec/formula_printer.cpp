// Prints formulas for messages: with variables replaced by values, or with all known values.
#include <vector>

#include "spec/formula_node.hpp"

namespace dmlop {
namespace {

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
    case NodeKind::logical_or:
      return " || ";
    case NodeKind::implication:
      return " => ";
    case NodeKind::in_array:
      return " in ";
    default:
      return ", ";  // separates the arguments of a function
  }
}

std::string_view name_of_function(NodeKind kind) {
  switch (kind) {
    case NodeKind::absolute:
      return "abs";
    case NodeKind::round_down:
      return "floor";
    case NodeKind::minimum:
      return "min";
    case NodeKind::maximum:
      return "max";
    case NodeKind::present:
      return "present";
    case NodeKind::length:
      return "length";
    case NodeKind::distinct:
      return "distinct";
    case NodeKind::finite:
      return "finite";
    case NodeKind::sum:
      return "sum";
    case NodeKind::product:
      return "product";
    case NodeKind::count:
      return "count";
    case NodeKind::all:
      return "all";
    case NodeKind::any:
      return "any";
    default:
      return "";
  }
}

}  // namespace

std::string to_text(const Place& place) {
  std::string text = place.reference.field;
  if (place.element) text += "[" + std::to_string(*place.element) + "]";
  if (!place.reference.attribute.empty()) text += "." + place.reference.attribute;
  if (place.subscript) text += "[" + std::to_string(*place.subscript) + "]";
  return text;
}

class FormulaPrinter {
 public:
  using Node = Formula::Node;

  FormulaPrinter(const Formula& formula, const Scope& scope, const Variables& variables,
                 bool numbers)
      : formula_(formula), scope_(scope), variables_(variables), numbers_(numbers) {}

  std::string print(Formula::NodeIndex index) {
    const Node& node = formula_.nodes_[index];
    if (node.is_aggregate()) return print_aggregate(index, node);
    switch (node.kind) {
      case NodeKind::constant:
        return node.name.empty() ? to_text(node.value) : node.name;
      case NodeKind::variable:
        return is_bound(node.variable) ? std::string(1, node.variable)
                                       : std::to_string(variables_[index_of(node.variable)]);
      case NodeKind::reference:
        return print_reference(index, node);
      case NodeKind::parentheses: {
        const Node& inner = formula_.nodes_[node.children[0]];
        const std::string text = print(node.children[0]);
        // What is left of a choice needs parentheses only if it still has operators.
        const bool is_choice = inner.kind == NodeKind::conditional;
        return is_choice && text.find(' ') == std::string::npos ? text : "(" + text + ")";
      }
      case NodeKind::negate:
        return "-" + print(node.children[0]);
      case NodeKind::logical_not:
        return "!" + print(node.children[0]);
      case NodeKind::implication:
        if (is_known_true(node.children[0])) return print(node.children[1]);
        return print(node.children[0]) + " => " + print(node.children[1]);
      case NodeKind::conditional:
        if (const auto condition = known(node.children[0]))
          return print(node.children[condition->is_true() ? 1 : 2]);
        return print(node.children[0]) + " ? " + print(node.children[1]) + " : " +
               print(node.children[2]);
      case NodeKind::comparison:
        return print_chain(node);
      case NodeKind::in_set:
        return print(node.children[0]) + " in {" + print_list(node, 1, ", ") + "}";
      default: {
        const std::string_view function = name_of_function(node.kind);
        const bool is_of_field = node.kind == NodeKind::present || node.kind == NodeKind::length ||
                                 node.kind == NodeKind::distinct;
        const bool outer = numbers_;
        if (is_of_field || node.kind == NodeKind::in_array) numbers_ = numbers_ && !is_of_field;
        const std::string list = print_list(node, 0, symbol_of(node.kind));
        numbers_ = outer;
        return function.empty() ? list : std::string(function) + "(" + list + ")";
      }
    }
  }

  /// Aggregates in words.
  std::string describe(Formula::NodeIndex index) {
    const Node& node = formula_.nodes_[index];
    if (node.kind == NodeKind::parentheses) return describe(node.children[0]);
    const bool is_number = node.kind == NodeKind::sum || node.kind == NodeKind::product ||
                           node.kind == NodeKind::count;
    if (!is_number) return print(index);
    const Node& term = formula_.nodes_[node.children[0]];
    const bool is_size = term.kind == NodeKind::reference && term.reference.attribute == "Sizes";
    if (node.kind == NodeKind::product && is_size && !term.element)
      return "the number of elements of " + term.reference.field;
    bound_ += node.variable;
    const std::string text = print(node.children[0]);
    bound_.pop_back();
    const std::string variable(1, node.variable);
    if (node.kind == NodeKind::count) return "the number of " + variable + " with " + text;
    return std::string(node.kind == NodeKind::sum ? "the sum" : "the product") + " of " + text +
           " over all " + variable;
  }

  /// The fields of present(A) + present(B) or present(A) || present(B); empty for other forms.
  std::vector<Formula::NodeIndex> fields_asked_for(Formula::NodeIndex index, NodeKind kind) const {
    const Node& node = formula_.nodes_[index];
    if (node.kind == NodeKind::parentheses) return fields_asked_for(node.children[0], kind);
    if (node.kind == NodeKind::present) return {node.children[0]};
    if (node.kind != kind) return {};
    std::vector<Formula::NodeIndex> fields;
    for (const Formula::NodeIndex child : node.children) {
      const auto more = fields_asked_for(child, kind);
      if (more.empty()) return {};
      fields.insert(fields.end(), more.begin(), more.end());
    }
    return fields;
  }

 private:
  // The value that a choice depends on, unless it uses the variable of an aggregate around it.
  std::optional<Number> known(Formula::NodeIndex index) const {
    return bound_.empty() ? formula_.evaluate(index, scope_, variables_) : std::nullopt;
  }
  bool is_known_true(Formula::NodeIndex index) const {
    const auto value = known(index);
    return value && value->is_true();
  }

  bool is_bound(char variable) const { return bound_.find(variable) != std::string::npos; }

  std::string print_list(const Node& node, std::size_t first, std::string_view separator) {
    std::string text;
    for (std::size_t n = first; n < node.children.size(); ++n) {
      if (n > first) text += separator;
      text += print(node.children[n]);
    }
    return text;
  }

  std::string print_chain(const Node& node) {
    std::string text = print(node.children[0]);
    for (std::size_t n = 0; n < node.comparisons.size(); ++n)
      text += " " + node.comparisons[n] + " " + print(node.children[n + 1]);
    return text;
  }

  // Prints an aggregate as one number if values are shown, because it may have many terms.
  std::string print_aggregate(Formula::NodeIndex index, const Node& node) {
    if (numbers_ && bound_.empty()) {
      if (const auto value = formula_.evaluate(index, scope_, variables_)) return to_text(*value);
    }
    bound_ += node.variable;
    const bool outer = numbers_;
    numbers_ = false;
    std::string text = std::string(name_of_function(node.kind)) + "(" + node.variable + ": " +
                       print(node.children[0]) + ")";
    numbers_ = outer;
    bound_.pop_back();
    return text;
  }

  std::string print_reference(Formula::NodeIndex index, const Node& node) {
    if (numbers_) {
      if (const auto value = formula_.evaluate(index, scope_, variables_))
        return scope_.show(node.reference, *value);
    }
    if (bound_.empty()) {
      if (const auto place = formula_.place_at(index, scope_, variables_)) return to_text(*place);
    }
    const bool outer = numbers_;
    numbers_ = false;
    std::string text = node.reference.field;
    if (node.element) text += "[" + print(*node.element) + "]";
    if (!node.reference.attribute.empty()) text += "." + node.reference.attribute;
    if (node.subscript) text += "[" + print(*node.subscript) + "]";
    numbers_ = outer;
    return text;
  }

  const Formula& formula_;
  const Scope& scope_;
  const Variables& variables_;
  bool numbers_;
  std::string bound_;  // the variables of the aggregates around this place
};

bool Formula::is_computed(NodeIndex index) const {
  const Node& node = nodes_[index];
  switch (node.kind) {
    case NodeKind::negate:
    case NodeKind::absolute:
    case NodeKind::round_down:
    case NodeKind::minimum:
    case NodeKind::maximum:
    case NodeKind::add:
    case NodeKind::subtract:
    case NodeKind::multiply:
    case NodeKind::divide:
    case NodeKind::remainder:
    case NodeKind::sum:
    case NodeKind::product:
    case NodeKind::count:
      return true;
    case NodeKind::parentheses:
      return is_computed(node.children[0]);
    case NodeKind::conditional:  // a choice between numbers, not between names
      return is_computed(node.children[1]) || is_computed(node.children[2]);
    default:
      return false;
  }
}

std::string Formula::show_symbols(const Scope& scope, const Variables& variables) const {
  return show_symbols(root_, scope, variables);
}

std::string Formula::show_symbols(NodeIndex node, const Scope& scope,
                                  const Variables& variables) const {
  return FormulaPrinter(*this, scope, variables, false).print(node);
}

std::string Formula::show_numbers(NodeIndex node, const Scope& scope,
                                  const Variables& variables) const {
  std::string text = FormulaPrinter(*this, scope, variables, true).print(node);
  const auto value = evaluate(node, scope, variables);
  if (!value) return text;
  const std::string shown = show_value(node, scope, *value);
  return text == shown ? text : text + " = " + shown;
}

std::string Formula::show_subject(NodeIndex node, const Scope& scope,
                                  const Variables& variables) const {
  return FormulaPrinter(*this, scope, variables, false).describe(node);
}

namespace {

// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& names, const std::string& conjunction) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " " + conjunction + " " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace

std::optional<std::string> Formula::show_presence(const Violation& violation, const Scope& scope,
                                                  const Variables& variables) const {
  FormulaPrinter printer(*this, scope, variables, false);
  const NodeKind kind = violation.bound ? NodeKind::add : NodeKind::logical_or;
  const auto fields = printer.fields_asked_for(violation.subject, kind);
  if (fields.size() < 2) return std::nullopt;
  std::vector<std::string> names, given;
  for (const NodeIndex field : fields) {
    names.push_back(printer.print(field));
    const auto place = place_at(field, scope, variables);
    if (place && scope.is_present(*place).value_or(false)) given.push_back(names.back());
  }
  if (!violation.bound) return listed(names, "or") + " must be given";
  const auto bound = evaluate(*violation.bound, scope, variables);
  if (!bound || !(*bound == 1)) return std::nullopt;
  const bool at_most = violation.words == "must be at most";
  if (!at_most && violation.words != "must be") return std::nullopt;
  return (at_most ? "only one of " : "one of ") + listed(names, "and") +
         (at_most ? " may be given, but " : " must be given, but ") +
         (given.empty()       ? "none is"
          : given.size() == 1 ? "only " + given.front() + " is"
                              : listed(given, "and") + " are");
}

std::string Formula::show_value(NodeIndex node, const Scope& scope, const Number& value) const {
  if (nodes_[node].kind == NodeKind::present) return value.is_true() ? "given" : "left out";
  if (nodes_[node].kind == NodeKind::constant && !nodes_[node].name.empty())
    return nodes_[node].name;
  const Reference* reference = reference_at(node);
  return reference != nullptr ? scope.show(*reference, value) : to_text(value);
}

std::string Formula::show_value_like(NodeIndex node, NodeIndex other, const Scope& scope,
                                     const Number& value) const {
  const bool is_plain = reference_at(node) == nullptr && nodes_[node].kind != NodeKind::present;
  return show_value(is_plain ? other : node, scope, value);
}

}  // namespace dmlop
