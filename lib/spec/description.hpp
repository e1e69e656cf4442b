// One use of an operator: the fields of an OP.json typed by the operator's spec. Built in three
// steps, each adding findings instead of stopping: read (this file's functions), bind to .npy
// headers (job/), complete and check against the rules (spec/validate.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/document.hpp"
#include "spec/spec.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

/// A tensor desc as far as it is known: what was left out is empty until it is bound or inferred.
struct TensorDesc {
  std::optional<DataType> data_type;
  std::optional<std::size_t> dimension_count;
  Sizes sizes;                     // empty: unknown
  std::optional<Strides> strides;  // in elements; absent: packed
  std::optional<std::uint64_t> total_size_in_bytes;
  std::uint64_t base_offset_alignment = 0;
  std::vector<std::string> flags;
  bool has_file = false;  // a .npy file is named: what is left out is its matter
};

/// monostate: left out. Enumerations and integers are std::int64_t.
using FieldValue =
    std::variant<std::monostate, TensorDesc, std::int64_t, double, std::vector<std::int64_t>>;

struct Field {
  const FieldSpec* spec;
  FieldValue value;
  const json::Value* written = nullptr;  // where the file has it
  bool is_misspelt = false;              // an unknown field was probably meant to be this one
};

/// Names a file for a tensor, from OP.json's `bindings` or from the command line.
struct Binding {
  std::string tensor;
  std::string path;  // "": written, but no path
  const json::Value* written = nullptr;
};

class Description {
 public:
  const OperatorSpec* spec = nullptr;
  FeatureLevel feature_level = newest_feature_level;
  std::vector<Field> fields;  // in the spec's order
  std::vector<Binding> bindings;

  const std::string& file() const { return document_->file(); }
  const json::Document& document() const { return *document_; }
  const json::Value& root() const { return *root_; }
  const json::Value& fields_object() const { return *fields_object_; }

  Field* find(std::string_view name);
  const Field* find(std::string_view name) const;

  /// Accessors for operators, after validation. The field must exist and be of that kind.
  const TensorDesc& tensor(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name, double otherwise) const;
  const std::vector<std::int64_t>& integers(std::string_view name) const;

  /// A finding at a part of a field ("Sizes", 3), or at the nearest thing that the file has.
  Diagnostic at(const Reference& reference, std::optional<std::size_t> subscript,
                std::string message) const;
  /// Whether the file itself states the reference, rather than a .npy file or an inference.
  bool is_written(const Reference& reference) const;

 private:
  friend class DescriptionReader;
  std::shared_ptr<const json::Document> document_;
  std::shared_ptr<const json::Value> root_;
  const json::Value* fields_object_ = nullptr;
};

/// Reads the text of an OP.json. `level` is the command line's choice and wins over the file's.
/// Structural findings (unknown fields and names, wrong kinds, numbers out of range) are added to
/// `diagnostics`; returns nothing when no operator could be made out at all. An operator of
/// DirectML.h without a spec is a finding of kind `unavailable`.
std::optional<Description> read_description(std::string file, std::string text,
                                            std::optional<FeatureLevel> level,
                                            Diagnostics& diagnostics);

/// What a description must say: all that nothing else gives, or every field of the operator and the
/// type and sizes of every tensor, as DxDispatch demands.
enum class Completeness { as_needed, complete };

/// The same for a description that is part of a document, such as a job of a batch. `root` holds
/// values of the document; fields named in `beside` may stand beside the description's own.
std::optional<Description> read_description(std::shared_ptr<const json::Document> document,
                                            std::shared_ptr<const json::Value> root,
                                            const std::vector<std::string>& beside,
                                            std::optional<FeatureLevel> level,
                                            Diagnostics& diagnostics,
                                            Completeness completeness = Completeness::as_needed);

}  // namespace dmlop
