// What an operator is, as data: its fields, rules, support by feature level and an example, read
// from specs/*.json, which are embedded in the program and parsed when first asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/feature_level.hpp"
#include "spec/formula.hpp"
#include "tensor/data_type.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop {

enum class FieldKind {
  input_tensor,
  output_tensor,
  enumeration,
  uint,
  float32,
  uint_array,
  int_array,
};

struct FieldSpec {
  std::string name;
  FieldKind kind;
  std::string enum_name;                 // of an enumeration: "DML_PADDING_MODE"
  std::string count_field;               // of an array: the field that holds its length
  std::optional<Formula> optional_when;  // the field may be left out where this holds
  std::string text;                      // one sentence

  bool is_tensor() const {
    return kind == FieldKind::input_tensor || kind == FieldKind::output_tensor;
  }
};

/// What a set of tensors may be from one feature level up to the next row's.
struct SupportRow {
  FeatureLevel from;
  std::vector<std::string> tensors;
  std::size_t min_dimensions;
  std::size_t max_dimensions;
  std::vector<DataType> types;

  bool has(DataType type) const;
};

struct OperatorSpec {
  std::string name;  // without DML_OPERATOR_: "PADDING"
  std::string summary;
  std::string source;  // the operator's page
  FeatureLevel introduced;
  bool in_place = false;  // its page lets the output be bound to an input's buffer
  std::vector<FieldSpec> fields;
  std::vector<Formula> rules;
  std::vector<SupportRow> support;           // newest level first
  std::string example;                       // the description's fields, as JSON text
  std::map<DataType, Tolerance> tolerances;  // of results, where they may differ in the last bits

  const FieldSpec* find_field(std::string_view field) const;
  std::vector<std::string> field_names() const;
  /// The row that holds for a tensor at a level: the one with the highest from-level <= level.
  const SupportRow* support_at(std::string_view tensor, FeatureLevel level) const;
  /// How far a result may be from an expected one unless the user says otherwise.
  Tolerance default_tolerance(DataType type) const;
};

struct EnumValue {
  std::string name;  // without the enum's prefix: "CONSTANT"
  std::int64_t value;
  FeatureLevel introduced;
};

/// The operators that have a spec, in the order of their names.
const std::vector<std::string>& specified_operators();

/// The spec of an operator named without DML_OPERATOR_; null where none exists.
/// Errors: std::logic_error when the embedded spec itself is wrong.
const OperatorSpec* find_spec(std::string_view name);

/// A field's value in the spec's example, as JSON on one line.
std::string example_value(const OperatorSpec& spec, std::string_view field);

/// Facts of DirectML.h on all operators (specs/directml.json).
const std::vector<std::string>& known_operators();
std::optional<FeatureLevel> operator_introduced(std::string_view name);
const std::vector<EnumValue>& enum_values(std::string_view enum_name);

}  // namespace dmlop
