// The fields of one use of an operator, typed by its spec. The operator is that of a description,
// or one nested in it. The fields know where they stand in the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/document.hpp"
#include "spec/spec.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

inline constexpr std::int64_t uint_max = std::numeric_limits<std::uint32_t>::max();

/// A tensor desc as far as it is known. Anything left out is empty until it is bound or inferred.
struct TensorDesc {
  std::optional<DataType> data_type;
  std::optional<std::size_t> dimension_count;
  Sizes sizes;                     // empty: unknown
  std::optional<Strides> strides;  // in elements; absent: packed
  std::optional<std::uint64_t> total_size_in_bytes;
  std::uint64_t base_offset_alignment = 0;
  std::vector<std::string> flags;
  bool is_broadcast = false;  // it is to be stretched to the sizes of others
  Sizes stretched_from = {};  // the sizes before it was; empty: it was not
  bool has_file = false;      // a .npy file is named: what is left out is its matter
  std::string file = {};      // whose header says the sizes, where the desc does not

  bool is_owned_by_dml() const { return std::ranges::find(flags, "OWNED_BY_DML") != flags.end(); }
};

/// A DML_SCALAR_UNION: a number as written, and its bytes once its type is known.
struct Scalar {
  const json::Value* written = nullptr;
  std::string member = {};  // the union's member if one is written: "Float32"
  std::optional<DataType> type = {};
  std::uint64_t bits = 0;  // the union's eight bytes as a little-endian number
  double approximate = 0;  // for messages and formulas
  /// It was written for a wider type: beyond the range of its own type it is infinite.
  bool is_narrowed = false;
};

struct Size2d {
  std::int64_t width = 0;
  std::int64_t height = 0;
};

struct ScaleBias {
  double scale = 1;
  double bias = 0;
};

struct NestedOperator;

/// monostate means that the field is left out. Enumerations, integers and booleans are
/// std::int64_t.
using FieldValue = std::variant<std::monostate, TensorDesc, std::vector<TensorDesc>, std::int64_t,
                                double, std::vector<std::int64_t>, std::vector<double>, Scalar,
                                Size2d, ScaleBias, std::vector<NestedOperator>>;

struct Field {
  const FieldSpec* spec;
  FieldValue value;
  const json::Value* written = nullptr;  // its place in the file
  bool is_misspelt = false;              // an unknown field was probably meant to be this one

  bool is_absent() const;
};

/// The fields of one operator, in its spec's order.
class FieldSet {
 public:
  const OperatorSpec* spec = nullptr;
  std::vector<Field> fields;

  const json::Document& document() const { return *document_; }
  const json::Value& fields_object() const { return *fields_object_; }

  Field* find(std::string_view name);
  const Field* find(std::string_view name) const;

  /// The desc of a tensor, or of an element of an array of tensors; null if it is absent.
  TensorDesc* find_tensor(std::string_view name, std::optional<std::size_t> element = {});
  const TensorDesc* find_tensor(std::string_view name,
                                std::optional<std::size_t> element = {}) const;

  /// Accessors for operators, after validation. The field must exist and be of that kind.
  const TensorDesc& tensor(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  const std::vector<std::int64_t>& integers(std::string_view name) const;

  /// A finding at a part of a field ("Sizes", 3), or at the nearest part that the file has.
  Diagnostic at(const Place& place, std::string message) const;
  Diagnostic at(const Reference& reference, std::optional<std::size_t> subscript,
                std::string message) const {
    return at(Place{.reference = reference, .subscript = subscript}, std::move(message));
  }
  /// Whether the file itself gives the value at this place, rather than a .npy file or an
  /// inference.
  bool is_written(const Place& place) const;

 protected:
  friend class FieldsReader;
  const json::Value* value_of(const Place& place) const;

  std::shared_ptr<const json::Document> document_;
  const json::Value* fields_object_ = nullptr;
};

/// An operator that is fused into another one, or one of another operator's ActivationDescs. It has
/// no tensors.
struct NestedOperator : FieldSet {
  const json::Value* written = nullptr;
};

/// One tensor of a description: a field, or an element of an array of tensors.
struct TensorUse {
  const FieldSpec* spec;
  std::optional<std::size_t> element;
  TensorDesc* desc;

  /// How messages call it: "InputTensor" or "InputTensors[0]".
  std::string name() const;
  Place place(std::string attribute = "",
              std::optional<std::size_t> subscript = std::nullopt) const {
    return {{spec->name, std::move(attribute)}, element, subscript};
  }
};

/// The tensors that are present, in the order of the fields.
std::vector<TensorUse> tensors_of(FieldSet& fields);

}  // namespace dmlop
