// What an operator is, as data: fields, rules, support by feature level, tolerances and an example.
// The files of specs/ are embedded in the program, and each is parsed when it is first needed.
// specs/README.md describes the format.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/facts.hpp"
#include "spec/formula.hpp"
#include "spec/judge.hpp"
#include "tensor/data_type.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop {

enum class FieldKind {
  input_tensor,
  output_tensor,
  input_tensor_array,
  output_tensor_array,
  enumeration,
  uint,
  int32,
  float32,
  boolean,
  uint_array,
  int_array,
  float_array,
  scalar_union,
  size_2d,
  scale_bias,
  fused_activation,
  activation_array,
};

struct FieldSpec {
  std::string name;
  FieldKind kind;
  std::string enum_name;                 // of an enumeration: "DML_PADDING_MODE"
  std::string count_field;               // of an array: the field that holds its length
  std::string type_field;                // of a scalar union: the field that holds its type
  bool optional = false;                 // DirectML.h allows null
  std::optional<Formula> optional_when;  // the field may be left out if this holds
  std::string text;                      // one sentence
  // Of an output that may have more dimensions, the first ones 1: how many it has if nothing says.
  std::optional<std::size_t> usual_dimensions = {};

  /// When the field may be left out: "PaddingMode != CONSTANT", "CTensor is left out".
  std::string optional_words() const;
  /// What the dimensions are, if the text says it: "InputTensor is {batch, channel, width}."; or
  /// "".
  std::string layout_words() const;
  bool is_input() const {
    return kind == FieldKind::input_tensor || kind == FieldKind::input_tensor_array;
  }
  bool is_output() const {
    return kind == FieldKind::output_tensor || kind == FieldKind::output_tensor_array;
  }
  bool is_tensor_array() const {
    return kind == FieldKind::input_tensor_array || kind == FieldKind::output_tensor_array;
  }
  /// Whether it is a tensor or an array of tensors.
  bool is_tensor() const { return is_input() || is_output(); }
  bool is_nested_operator() const {
    return kind == FieldKind::fused_activation || kind == FieldKind::activation_array;
  }
};

/// The name of a kind in specs/: "uint_array".
std::string_view name_of(FieldKind kind);

/// Who keeps a rule: the operator's page and DirectML 1.15.4, or one of them alone.
enum class Authority { both, page, directml };

struct Rule {
  Formula formula;
  std::string text = {};  // one sentence if the formula alone says too little
  Authority by = Authority::both;
  std::string difference = {};  // the row of differences.json that says what DirectML accepts
  Evidence evidence = Evidence::none;  // of what breaks a rule by the page alone
};

/// What some tensors may be, from one feature level up to the next row's.
struct SupportRow {
  FeatureLevel from;
  std::vector<std::string> tensors;
  std::size_t min_dimensions;
  std::size_t max_dimensions;
  std::vector<DataType> types;
  std::optional<Formula> when = {};    // the row applies only if this holds
  Evidence evidence = Evidence::none;  // of what a row of DirectML alone adds

  bool has(DataType type) const;
  bool has(std::size_t dimensions) const {
    return dimensions >= min_dimensions && dimensions <= max_dimensions;
  }
  bool covers(std::string_view tensor) const;
};

/// What each term of a sum adds to the absolute tolerance.
inline constexpr double tolerance_of_term = 0x1p-23;

struct OperatorSpec {
  std::string name;    // without DML_OPERATOR_: "PADDING"
  std::string family;  // the folder of its file: "data_movement"
  std::string summary;
  std::string source;  // the operator's page
  FeatureLevel introduced;
  bool in_place = false;  // its page lets the output be bound to an input's buffer
  std::vector<FieldSpec> fields;
  std::vector<Rule> rules;
  std::vector<SupportRow> support;           // newest level first
  std::vector<SupportRow> support_directml;  // for tensors where DirectML 1.15.4 differs
  std::string example;                       // the description's fields, as JSON text
  std::map<DataType, Tolerance> tolerances;  // of results that may differ in their last bits
  std::string tolerance_reason;
  std::optional<Formula> tolerance_terms;  // of a sum; see Description::default_tolerance()

  const FieldSpec* find_field(std::string_view field) const;
  std::vector<std::string> field_names() const;
  /// Whether the field holds the length of an array.
  bool is_count(std::string_view field) const;
  /// How far a result of short sums may be from the expected one, unless the user gives a
  /// tolerance.
  Tolerance default_tolerance(DataType type) const;
};

/// All operators in the order of their names. Each has a spec.
const std::vector<std::string>& specified_operators();

/// The spec of an operator named without DML_OPERATOR_ or by its alias, or null. Errors:
/// std::logic_error if the embedded spec itself is wrong.
const OperatorSpec* find_spec(std::string_view name);

/// The family of an operator named without DML_OPERATOR_, found without parsing its spec; "" for
/// other names.
std::string_view family_of(std::string_view name);

/// A field's value in the spec's example, as JSON on one line.
std::string example_value(const OperatorSpec& spec, std::string_view field);

}  // namespace dmlop
