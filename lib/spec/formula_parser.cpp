// The parser of formulas: recursive descent, one function per level of precedence.
#include <cctype>
#include <charconv>
#include <stdexcept>

#include "spec/formula_node.hpp"

namespace dmlop {

class FormulaParser {
 public:
  FormulaParser(std::string_view text, const Formula::EnumLookup& enum_value)
      : text_(text), enum_value_(enum_value) {}

  Formula parse() {
    formula_.text_ = std::string(text_);
    formula_.root_ = conditional();
    skip_space();
    if (at_ != text_.size()) fail("expected an operator");
    return std::move(formula_);
  }

 private:
  using Index = Formula::NodeIndex;

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
    Formula::Node node{.kind = NodeKind::comparison, .children = {sum()}};
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
    return node.comparisons.empty() ? node.children[0] : add(std::move(node));
  }

  Index sum() {
    Index left = product();
    while (true) {
      if (accept("+")) {
        left = add({.kind = NodeKind::add, .children = {left, product()}});
      } else if (accept("-")) {
        left = add({.kind = NodeKind::subtract, .children = {left, product()}});
      } else {
        return left;
      }
    }
  }

  Index product() {
    Index left = unary();
    while (true) {
      if (accept("*")) {
        left = add({.kind = NodeKind::multiply, .children = {left, unary()}});
      } else if (accept("/")) {
        left = add({.kind = NodeKind::divide, .children = {left, unary()}});
      } else if (accept("%")) {
        left = add({.kind = NodeKind::remainder, .children = {left, unary()}});
      } else {
        return left;
      }
    }
  }

  Index unary() {
    if (accept("-")) return add({.kind = NodeKind::negate, .children = {unary()}});
    if (accept("!")) return add({.kind = NodeKind::logical_not, .children = {unary()}});
    if (accept("(")) {
      const Index inner = conditional();
      expect(")");
      return add({.kind = NodeKind::parentheses, .children = {inner}});
    }
    skip_space();
    if (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) return number();
    return named();
  }

  Index number() {
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail("the number does not fit 64 bits");
    at_ += static_cast<std::size_t>(end - begin);
    return add({.kind = NodeKind::constant, .value = value});
  }

  Index named() {
    const std::string name = identifier();
    if (name == "i") return add({.kind = NodeKind::index});
    if (name == "abs") {
      expect("(");
      const Index inner = conditional();
      expect(")");
      return add({.kind = NodeKind::absolute, .children = {inner}});
    }
    if (const auto value = enum_value_(name)) {
      return add({.kind = NodeKind::constant, .value = *value, .name = name});
    }
    Formula::Node node{.kind = NodeKind::reference, .reference = {name, ""}};
    if (accept(".")) node.reference.attribute = identifier();
    if (accept("[")) {
      node.children.push_back(conditional());
      expect("]");
    }
    return add(std::move(node));
  }

  std::string identifier() {
    skip_space();
    const std::size_t begin = at_;
    const auto is_part = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    if (at_ == begin) fail("expected a name, a number or (");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  bool accept(std::string_view symbol) {
    skip_space();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    // "!" is not the beginning of "!=".
    if (symbol == "!" && text_.substr(at_).starts_with("!=")) return false;
    at_ += symbol.size();
    return true;
  }

  void expect(std::string_view symbol) {
    if (!accept(symbol)) fail("expected " + std::string(symbol));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("formula \"" + std::string(text_) + "\", position " +
                                std::to_string(at_) + ": " + what);
  }

  Index add(Formula::Node node) {
    formula_.nodes_.push_back(std::move(node));
    return formula_.nodes_.size() - 1;
  }

  std::string_view text_;
  const Formula::EnumLookup& enum_value_;
  std::size_t at_ = 0;
  Formula formula_;
};

Formula Formula::parse(std::string_view text, const EnumLookup& enum_value) {
  Formula formula = FormulaParser(text, enum_value).parse();
  formula.find_equation();
  return formula;
}

}  // namespace dmlop
