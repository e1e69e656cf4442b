// Reads the fields of one operator from a JSON object, each according to its kind.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spec/field_reader.hpp"
#include "spec/fields.hpp"

namespace dmlop {

/// What a description must contain: everything that follows from nothing else, or, as DxDispatch
/// demands, every field of the operator and the type and sizes of every tensor.
enum class Completeness { as_needed, complete };

class FieldsReader {
 public:
  FieldsReader(std::shared_ptr<const json::Document> document, Completeness completeness,
               Diagnostics& diagnostics)
      : document_(std::move(document)),
        complete_(completeness == Completeness::complete),
        reader_(*document_, diagnostics) {}

  /// Fills `target`, whose spec is set, from the members of `object`. Fields named in `meant` were
  /// probably misspelt, so it is no extra finding that they are missing.
  void read(FieldSet& target, const json::Value& object, const std::vector<std::string>& meant);

  FieldReader& reader() { return reader_; }

 private:
  void read_field(FieldSet& target, const FieldSpec& spec, const std::vector<std::string>& meant);
  FieldValue read_value(const OperatorSpec& owner, const FieldSpec& spec, const json::Value& value);
  FieldValue read_tensors(const FieldSpec& spec, const json::Value& value);
  std::optional<TensorDesc> read_one_tensor(const FieldSpec& spec, const json::Value& value,
                                            const std::string& name);
  FieldValue read_enum(const FieldSpec& spec, const json::Value& value);
  FieldValue read_scalar(const FieldSpec& spec, const json::Value& value);
  /// How a field of two numbers is written, and how messages call it.
  struct PairForm {
    const char* type;
    const char* first;
    const char* second;
    const char* example;
    const char* number;
  };
  template <typename Number, typename Read>
  std::optional<std::pair<Number, Number>> read_pair(const FieldSpec& spec,
                                                     const json::Value& value, const PairForm& form,
                                                     Read&& read);
  FieldValue read_size(const FieldSpec& spec, const json::Value& value);
  FieldValue read_scale_bias(const FieldSpec& spec, const json::Value& value);
  FieldValue read_nested_operators(const OperatorSpec& owner, const FieldSpec& spec,
                                   const json::Value& value);
  std::optional<NestedOperator> read_nested(const OperatorSpec& owner, const json::Value& value,
                                            const std::string& name);
  void refuse_tensor_of_nested(const json::Value& object, const FieldSpec& field,
                               const std::string& name);
  const OperatorSpec* nested_spec(const OperatorSpec& owner, const json::Value& object,
                                  const std::string& name);

  void require_fields(FieldSet& target, bool is_nested);
  void require_type_and_sizes(const Field& field);
  void require(const json::Value& object, const std::string& name, std::string rule,
               const std::string& example, const std::string& prefix = "");

  std::shared_ptr<const json::Document> document_;
  bool complete_;
  FieldReader reader_;
};

/// Finds `desc` or `Desc`, `type` or `Type`: DxDispatch accepts both. Returns null if the object
/// has neither.
const json::Value* find_either(const json::Value& object, const char* name, const char* other);

/// Whether a rule of the operator determines the field if it is left out.
bool follows_from_rule(const OperatorSpec& spec, std::string_view field);

}  // namespace dmlop
