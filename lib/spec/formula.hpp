// Rules as text: a small language over an operator's fields, in checked 64-bit integers. The same
// line is documentation, check, inference and message. This file knows syntax and arithmetic; what
// a field is worth comes from a Scope.
//
//   OutputTensor.Sizes[i + 2] == (InputTensor.Sizes[i + 2] - WindowSize[i]) / Strides[i] + 1
//
// Operators, loosest first: ?:  ||  &&  == != < <= > >= (chains like 1 <= x <= 9)  + -  * / %
// then unary - and !, abs(x), parentheses. Division truncates toward zero. A formula with the
// variable i is a statement for every i for which all its subscripts are in range. Names in
// capitals that are no fields are enum values (CONSTANT).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

/// What a formula may refer to: a field ("P", "StartPadding") or a tensor field's attribute
/// ("InputTensor.Sizes"), with or without a subscript.
struct Reference {
  std::string field;
  std::string attribute;  // "", "DataType", "DimensionCount" or "Sizes"
  bool operator==(const Reference&) const = default;
};

/// "InputTensor.Sizes[3]"; without a subscript "InputTensor.DataType".
std::string to_text(const Reference& reference, std::optional<std::size_t> subscript);

/// Where values of references come from. Unknown values make a formula undecided, not wrong.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual std::optional<std::int64_t> value(const Reference& reference,
                                            std::optional<std::size_t> subscript) const = 0;
  /// The number of elements of an array reference; nothing while it is unknown.
  virtual std::optional<std::size_t> length(const Reference& reference) const = 0;
  /// How a message calls a value of this reference ("FLOAT32", "4").
  virtual std::string show(const Reference& reference, std::int64_t value) const = 0;
};

class Formula {
 public:
  struct Node;  // of the syntax tree; nodes refer to each other by index
  using NodeIndex = std::size_t;
  using EnumLookup = std::function<std::optional<std::int64_t>(std::string_view)>;

  /// Parses `text`. `enum_value` gives the values of names that are no references: a name counts
  /// as a field unless it has a value here. Errors: std::invalid_argument with the position.
  static Formula parse(std::string_view text, const EnumLookup& enum_value);

  Formula(const Formula&);
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;
  ~Formula();

  const std::string& text() const { return text_; }

  /// The values of i the formula speaks of: [0, n). 1 where the formula has no i. Arrays of unknown
  /// length do not count, unless all are unknown: then nothing is in range.
  std::size_t index_count(const Scope& scope) const;

  /// A comparison of a chain that does not hold: `subject` `comparison` `bound`.
  struct Violation {
    NodeIndex subject;
    std::string_view comparison;  // "must be", "must be at most"…
    NodeIndex bound;
  };
  /// Checks the formula for one i; nothing when it holds or is undecided.
  std::optional<Violation> check(const Scope& scope, std::size_t i) const;

  /// The value of a node; nothing when unknown, divided by zero or beyond 64 bits.
  std::optional<std::int64_t> evaluate(NodeIndex node, const Scope& scope, std::size_t i) const;

  /// For "X == expression" and "… <= X <= expression", X a single reference: X and the expression.
  struct Equation {
    Reference target;
    std::optional<NodeIndex> subscript;
    NodeIndex value;
    bool exact;  // false: the expression is X's maximum
  };
  const std::optional<Equation>& equation() const { return equation_; }

  /// All references in the text's order, those of `first` before the others.
  std::vector<std::pair<Reference, std::optional<std::size_t>>> references(
      const Scope& scope, std::size_t i, std::optional<NodeIndex> first = std::nullopt) const;

  /// The single reference that `node` is, if it is one.
  const Reference* reference_at(NodeIndex node) const;

  /// The formula or a part of it with i replaced by its value.
  std::string show_symbols(const Scope& scope, std::size_t i) const;
  std::string show_symbols(NodeIndex node, const Scope& scope, std::size_t i) const;
  /// A part with references replaced by their values: "4 + 2 + 4"; with " = 10" behind it when it
  /// is more than one value.
  std::string show_numbers(NodeIndex node, const Scope& scope, std::size_t i) const;
  /// A value of `node` in words that fit its kind ("FLOAT32", "4").
  std::string show_value(NodeIndex node, const Scope& scope, std::int64_t value) const;

 private:
  friend class FormulaParser;
  Formula();

  std::string render(NodeIndex node, const Scope& scope, std::size_t i, bool numbers) const;
  void find_equation();

  std::string text_;
  std::vector<Node> nodes_;
  NodeIndex root_ = 0;
  std::optional<Equation> equation_;
};

}  // namespace dmlop
