// Rules as text: a small language over an operator's fields, described in specs/README.md. The same
// line is documentation, check, inference and message. This file knows syntax and arithmetic; a
// Scope gives the values of fields.
//
//   OutputTensor.Sizes[i + 2] == (InputTensor.Sizes[i + 2] - WindowSize[i]) / Strides[i] + 1
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/number.hpp"

namespace dmlop {

/// What a formula may refer to: a field ("P", "StartPadding") or an attribute of one
/// ("InputTensor.Sizes", "ScaleSize.Width").
struct Reference {
  std::string field;
  std::string attribute = {};
  bool operator==(const Reference&) const = default;
};

/// A reference with its subscripts evaluated: InputTensors[element].Sizes[subscript].
struct Place {
  Reference reference;
  std::optional<std::size_t> element = {};  // of an array of tensors or of activations
  std::optional<std::size_t> subscript = {};
  bool operator==(const Place&) const = default;
};

/// "InputTensors[0].Sizes[3]", "StartPadding[1]", "Axis".
std::string to_text(const Place& place);

/// The values of the variables a to z.
using Variables = std::array<std::int64_t, 26>;

/// Gives references their values. Unknown values make a formula undecided, not wrong.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual std::optional<Number> value(const Place& place) const = 0;
  /// The number of elements of an array: of a tensor's Sizes, of an array field or, if the place
  /// has no attribute, of an array of tensors. Nothing while it is unknown.
  virtual std::optional<std::size_t> length(const Place& place) const = 0;
  /// Whether an optional field is present. Nothing while that is unknown.
  virtual std::optional<bool> is_present(const Place& place) const = 0;
  /// How a message calls a value of this reference ("FLOAT32", "4").
  virtual std::string show(const Reference& reference, const Number& value) const = 0;
};

class Formula {
 public:
  struct Node;  // of the syntax tree; nodes refer to each other by index
  using NodeIndex = std::size_t;
  using ConstantLookup = std::function<std::optional<std::int64_t>(std::string_view)>;

  /// Parses `text`. `constant` gives the values of named constants; a name without a value there is
  /// a field. Errors: std::invalid_argument with the position.
  static Formula parse(std::string_view text, const ConstantLookup& constant);

  Formula(const Formula&);
  Formula(Formula&&) noexcept;
  Formula& operator=(Formula&&) noexcept;
  ~Formula();

  const std::string& text() const { return text_; }

  /// Calls `action` for every value of the formula's free variables for which all its subscripts
  /// are in range, until `action` returns false. A formula without free variables gets one call.
  void for_each(const Scope& scope, const std::function<bool(const Variables&)>& action) const;

  /// A statement that does not hold: "`subject` is 3, `words` `bound`".
  struct Violation {
    NodeIndex subject;
    std::string words;  // "must be", "must be at most"; without a bound, a whole sentence
    std::optional<NodeIndex> bound;  // absent if the words are a whole sentence
  };
  /// Checks the formula for one set of variables. Returns nothing if it holds or is undecided.
  std::optional<Violation> check(const Scope& scope, const Variables& variables) const;

  /// The value of the whole formula, which has no free variables; nothing as for a node.
  std::optional<Number> value(const Scope& scope) const;

  /// The value of a node; nothing if it is unknown, divides by zero or leaves 64 bits.
  std::optional<Number> evaluate(NodeIndex node, const Scope& scope,
                                 const Variables& variables) const;

  /// X and the expression of "X == expression" or "… <= X <= expression", where X is a single
  /// reference. A condition and => may come first.
  struct Equation {
    std::optional<NodeIndex> condition;
    NodeIndex target;
    NodeIndex value;
    bool exact;  // false: the expression is X's maximum
  };
  const std::optional<Equation>& equation() const { return equation_; }
  /// Whether the equation has no condition, or one that is known to hold.
  bool equation_applies(const Scope& scope, const Variables& variables) const;

  /// The place that a reference's node stands for; nothing if a subscript is unknown or negative.
  std::optional<Place> place_at(NodeIndex node, const Scope& scope,
                                const Variables& variables) const;
  /// All places in the order of the text, except that those of `first` come first.
  std::vector<Place> places(const Scope& scope, const Variables& variables,
                            std::optional<NodeIndex> first = std::nullopt) const;
  /// Every reference in the formula.
  std::vector<Reference> references() const;
  /// Whether one of these is to the field.
  bool names(std::string_view field) const;
  /// The reference that `node` consists of; null if it is more or something else.
  const Reference* reference_at(NodeIndex node) const;

  /// Whether `node` computes with numbers, so that its value says more than its text.
  bool is_computed(NodeIndex node) const;

  /// The formula, or a part of it, with variables replaced by their values. If it is known which
  /// branch of a choice applies, only that branch is shown. A condition that is known to hold is
  /// not shown.
  std::string show_symbols(const Scope& scope, const Variables& variables) const;
  std::string show_symbols(NodeIndex node, const Scope& scope, const Variables& variables) const;
  /// A part with references replaced by their values: "4 + 2 + 4". If it is more than one value, "
  /// = 10" follows.
  std::string show_numbers(NodeIndex node, const Scope& scope, const Variables& variables) const;
  /// A part as the subject of a sentence: "the number of elements of ScaleTensor".
  std::string show_subject(NodeIndex node, const Scope& scope, const Variables& variables) const;
  /// The sentence about which fields must be given, where a violation is about that: "one of
  /// ATensor and BTensor must be given, but none is".
  std::optional<std::string> show_presence(const Violation& violation, const Scope& scope,
                                           const Variables& variables) const;
  /// A value of `node` in words that suit its kind ("FLOAT32", "4", "given").
  std::string show_value(NodeIndex node, const Scope& scope, const Number& value) const;
  /// A value of `node` in words that suit the other side of its comparison.
  std::string show_value_like(NodeIndex node, NodeIndex other, const Scope& scope,
                              const Number& value) const;

 private:
  friend class FormulaParser;
  friend class FormulaEvaluator;
  friend class FormulaPrinter;
  Formula();

  void find_equation();
  std::string show_members(const Node& set, const Scope& scope, const Variables& variables) const;
  std::optional<Violation> check_node(NodeIndex node, const Scope& scope,
                                      const Variables& variables) const;

  std::string text_;
  std::vector<Node> nodes_;
  NodeIndex root_ = 0;
  std::vector<char> free_variables_;  // those that subscript arrays of tensors come first
  std::optional<Equation> equation_;
};

}  // namespace dmlop
