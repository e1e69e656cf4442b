// The parser of formulas: recursive descent, one function per level of precedence.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <stdexcept>

#include "spec/formula_node.hpp"

namespace dmlop {
namespace {

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_variable(std::string_view name) {
  return name.size() == 1 && name[0] >= 'a' && name[0] <= 'z';
}

struct Function {
  std::string_view name;
  NodeKind kind;
  std::size_t arguments;
};

constexpr std::array functions{
    Function{"abs", NodeKind::absolute, 1},      Function{"floor", NodeKind::round_down, 1},
    Function{"min", NodeKind::minimum, 2},       Function{"max", NodeKind::maximum, 2},
    Function{"present", NodeKind::present, 1},   Function{"length", NodeKind::length, 1},
    Function{"distinct", NodeKind::distinct, 1}, Function{"finite", NodeKind::finite, 1}};

struct Aggregate {
  std::string_view name;
  NodeKind kind;
};

constexpr std::array aggregates{Aggregate{"sum", NodeKind::sum},
                                Aggregate{"product", NodeKind::product},
                                Aggregate{"count", NodeKind::count},
                                Aggregate{"all", NodeKind::all}, Aggregate{"any", NodeKind::any}};

}  // namespace

class FormulaParser {
 public:
  FormulaParser(std::string_view text, const Formula::ConstantLookup& constant)
      : text_(text), constant_(constant) {}

  Formula parse() {
    formula_.text_ = std::string(text_);
    formula_.root_ = implication();
    skip_space();
    if (at_ != text_.size()) fail("expected an operator");
    formula_.free_variables_ = element_variables_;
    for (const char variable : free_variables_) add_once(formula_.free_variables_, variable);
    return std::move(formula_);
  }

 private:
  using Index = Formula::NodeIndex;

  Index implication() {
    const Index condition = conditional();
    if (!accept("=>")) return condition;
    const Index consequence = implication();
    return add({.kind = NodeKind::implication, .children = {condition, consequence}});
  }

  Index conditional() {
    const Index condition = logical("||", NodeKind::logical_or);
    if (!accept("?")) return condition;
    const Index then = conditional();
    expect(":");
    const Index otherwise = conditional();
    return add({.kind = NodeKind::conditional, .children = {condition, then, otherwise}});
  }

  Index logical(std::string_view symbol, NodeKind kind) {
    const auto operand = [&] {
      return kind == NodeKind::logical_or ? logical("&&", NodeKind::logical_and) : comparison();
    };
    Index left = operand();
    while (accept(symbol)) {
      const Index right = operand();
      left = add({.kind = kind, .children = {left, right}});
    }
    return left;
  }

  Index comparison() {
    const Index first = sum();
    if (accept_word("in")) return membership(first);
    Formula::Node node{.kind = NodeKind::comparison, .children = {first}};
    while (true) {
      std::string_view found;
      for (const std::string_view symbol : {"==", "!=", "<=", ">=", "<", ">"}) {
        if (accept(symbol)) {
          found = symbol;
          break;
        }
      }
      if (found.empty()) break;
      node.comparisons.emplace_back(found);
      node.children.push_back(sum());
    }
    return node.comparisons.empty() ? first : add(std::move(node));
  }

  Index membership(Index subject) {
    if (!accept("{")) {
      const Index array = reference_argument("in");
      return add({.kind = NodeKind::in_array, .children = {subject, array}});
    }
    Formula::Node node{.kind = NodeKind::in_set, .children = {subject}};
    do {
      node.children.push_back(sum());
    } while (accept(","));
    expect("}");
    return add(std::move(node));
  }

  Index sum() {
    Index left = product();
    while (true) {
      if (accept("+")) {
        const Index right = product();
        left = add({.kind = NodeKind::add, .children = {left, right}});
      } else if (accept("-")) {
        const Index right = product();
        left = add({.kind = NodeKind::subtract, .children = {left, right}});
      } else {
        return left;
      }
    }
  }

  Index product() {
    Index left = unary();
    while (true) {
      NodeKind kind = NodeKind::constant;
      if (accept("*")) kind = NodeKind::multiply;
      if (kind == NodeKind::constant && accept("/")) kind = NodeKind::divide;
      if (kind == NodeKind::constant && accept("%")) kind = NodeKind::remainder;
      if (kind == NodeKind::constant) return left;
      const Index right = unary();
      left = add({.kind = kind, .children = {left, right}});
    }
  }

  Index unary() {
    if (accept("-")) return with_child(NodeKind::negate, unary());
    if (accept("!")) return with_child(NodeKind::logical_not, unary());
    if (accept("(")) {
      const Index inner = implication();
      expect(")");
      return with_child(NodeKind::parentheses, inner);
    }
    skip_space();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0)
      return number();
    return named();
  }

  // 12, 0.5 or 1e-3.
  Index number() {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    double real = 0;
    const auto [real_end, real_error] = std::from_chars(begin, end, real);
    std::int64_t integer = 0;
    const auto [integer_end, integer_error] = std::from_chars(begin, end, integer);
    if (real_error != std::errc{} || (real_end == integer_end && integer_error != std::errc{}))
      fail("the number does not fit 64 bits");
    at_ += static_cast<std::size_t>(real_end - begin);
    const bool is_integer = real_end == integer_end;
    return add({.value = is_integer ? Number(integer) : Number::real(real)});
  }

  Index named() {
    const std::string name = identifier();
    if (is_variable(name)) {
      if (std::find(bound_.begin(), bound_.end(), name[0]) == bound_.end())
        add_once(free_variables_, name[0]);
      return add({.kind = NodeKind::variable, .variable = name[0]});
    }
    for (const auto& [word, kind, arguments] : functions) {
      if (word == name && accept("(")) return function(name, kind, arguments);
    }
    for (const auto& [word, kind] : aggregates) {
      if (word == name && accept("(")) return aggregate(kind);
    }
    if (const auto value = constant_(name)) return add({.value = *value, .name = name});
    return reference(name);
  }

  Index function(const std::string& name, NodeKind kind, std::size_t arguments) {
    Formula::Node node{.kind = kind};
    const bool of_field =
        kind == NodeKind::present || kind == NodeKind::length || kind == NodeKind::distinct;
    for (std::size_t n = 0; n < arguments; ++n) {
      if (n > 0) expect(",");
      node.children.push_back(of_field ? reference_argument(name) : implication());
    }
    expect(")");
    return add(std::move(node));
  }

  Index aggregate(NodeKind kind) {
    const std::string variable = identifier();
    if (!is_variable(variable)) fail("expected a variable, a small letter");
    expect(":");
    bound_.push_back(variable[0]);
    const Index term = implication();
    bound_.pop_back();
    expect(")");
    return add({.kind = kind, .variable = variable[0], .children = {term}});
  }

  Index reference_argument(const std::string& function) {
    const Index index = named();
    if (formula_.nodes_[index].kind != NodeKind::reference) fail(function + " needs a field");
    return index;
  }

  Index reference(const std::string& name) {
    Formula::Node node{.kind = NodeKind::reference, .reference = {name}};
    const auto subscript = optional_subscript();
    if (accept(".")) {
      node.reference.attribute = identifier();
      node.element = subscript;
      if (subscript) note_element_variable(*subscript);
      node.subscript = optional_subscript();
    } else {
      node.subscript = subscript;
    }
    return add(std::move(node));
  }

  std::optional<Index> optional_subscript() {
    if (!accept("[")) return std::nullopt;
    const Index index = conditional();
    expect("]");
    return index;
  }

  void note_element_variable(Index index) {
    const Formula::Node& node = formula_.nodes_[index];
    const bool is_free = node.kind == NodeKind::variable &&
                         std::find(bound_.begin(), bound_.end(), node.variable) == bound_.end();
    if (is_free) add_once(element_variables_, node.variable);
  }

  std::string identifier() {
    skip_space();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_part(text_[at_])) ++at_;
    const bool is_number =
        at_ > begin && std::isdigit(static_cast<unsigned char>(text_[begin])) != 0;
    if (is_number) at_ = begin;
    if (at_ == begin) fail("expected a name, a number or (");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool accept(std::string_view symbol) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(symbol)) return false;
    // "!" must not be the beginning of "!=".
    if (symbol == "!" && rest.starts_with("!=")) return false;
    at_ += symbol.size();
    return true;
  }

  bool accept_word(std::string_view word) {
    skip_space();
    const std::string_view rest = text_.substr(at_);
    if (!rest.starts_with(word)) return false;
    if (rest.size() > word.size() && is_name_part(rest[word.size()])) return false;
    at_ += word.size();
    return true;
  }

  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail("expected " + std::string(symbol));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("formula \"" + std::string(text_) + "\", position " +
                                std::to_string(at_) + ": " + what);
  }

  static void add_once(std::vector<char>& variables, char variable) {
    if (std::find(variables.begin(), variables.end(), variable) == variables.end())
      variables.push_back(variable);
  }

  Index with_child(NodeKind kind, Index child) { return add({.kind = kind, .children = {child}}); }

  Index add(Formula::Node node) {
    formula_.nodes_.push_back(std::move(node));
    return formula_.nodes_.size() - 1;
  }

  std::string_view text_;
  const Formula::ConstantLookup& constant_;
  std::size_t at_ = 0;
  std::vector<char> bound_;  // by the aggregates around this place
  std::vector<char> free_variables_;
  std::vector<char> element_variables_;
  Formula formula_;
};

Formula Formula::parse(std::string_view text, const ConstantLookup& constant) {
  Formula formula = FormulaParser(text, constant).parse();
  formula.find_equation();
  return formula;
}

}  // namespace dmlop
