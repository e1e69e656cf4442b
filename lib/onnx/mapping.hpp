// What the function that maps an ONNX operator sees: one node with its inputs, attributes and the
// outputs that it declares, and the DirectML operators that it makes.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "onnx/dml_operator.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop::onnx {

/// A value of the graph: an edge, and its elements if they are known.
struct Value {
  std::string edge;
  DataType type = DataType::Float32;
  bool is_boolean = false;
  Sizes sizes;
  std::optional<TensorData> constant;  // its elements never change
  std::optional<TensorData> given;     // its elements in this run, by the files of the inputs
  std::string way_to_give = {};        // of an input without elements: what gives them

  const TensorData* known() const { return constant ? &*constant : given ? &*given : nullptr; }
};

/// Names of edges: those that the model gives its values, and those that are made beside them.
class EdgeNames {
 public:
  void take(std::string_view name) { taken_.emplace(name); }
  /// A name that is not taken: the one that is wanted, or that with a number. It is taken then.
  std::string free(const std::string& wanted);

 private:
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> tried_;  // how many names each one led to
};

/// Why a node becomes no operator of DirectML. It ends the mapping of one node.
struct Refusal {
  std::string message;
  std::string rule = {};
  std::string suggestion = {};
  ErrorKind kind = ErrorKind::unavailable;
};

class Mapping;

/// A row of the table of ONNX operators.
struct OnnxOperator {
  const char* name;
  const char* domain;       // "" is ONNX's own
  const char* becomes;      // operators of DirectML, for people; "": none
  void (*map)(Mapping&);    // null: not supported
  const char* reason = "";  // why not
};

class Mapping {
 public:
  /// `inputs` are null where one is left out. `names`, which must outlive this, gives edges of the
  /// node's own theirs.
  Mapping(const Node& node, const OnnxOperator& row, std::int64_t version,
          std::vector<const Value*> inputs, EdgeNames& names)
      : node_(node),
        row_(row),
        version_(version),
        inputs_(std::move(inputs)),
        names_(names),
        is_input_read_(inputs_.size()),
        is_attribute_read_(node.attributes.size()) {}

  const OnnxOperator& row() const { return row_; }
  /// The version of the operator set that the node belongs to.
  std::int64_t version() const { return version_; }

  [[noreturn]] static void refuse(std::string message, std::string rule = "");
  [[noreturn]] static void refuse_invalid(std::string message, std::string rule = "");

  /// Refuses an input, or an output that something reads, which no operator of DirectML has.
  void require_no_input(std::size_t input, const char* name) const;
  void require_no_output(std::size_t output, const char* name) const;
  /// Refuses other sizes of what messages call `name`.
  static void require_sizes(const std::string& name, const Sizes& sizes, const Sizes& expected,
                            const std::string& rule);
  /// Refuses a tensor that DirectML cannot hold: one without elements, or with more than 64 bits
  /// count.
  static void require_elements(const std::string& tensor, const Sizes& sizes);

  // Inputs.
  std::size_t input_count() const { return inputs_.size(); }
  bool has(std::size_t input) const;
  /// Refuses if it is left out.
  const Value& in(std::size_t input) const;
  /// "input 1 "scale"", for messages.
  std::string title_of_input(std::size_t input) const;
  /// An input as an edge with its own sizes. It may be empty if the outputs are, too.
  View view(std::size_t input);
  /// Elements that must be known before anything runs; the rule says why.
  const TensorData& known(std::size_t input, const char* rule = fixed_fields) const;
  std::vector<std::int64_t> known_integers(std::size_t input) const;
  std::vector<double> known_reals(std::size_t input) const;

  // Attributes. One of another type is refused.
  bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
  void require_attribute(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t other) const;
  std::int64_t required_integer(std::string_view name) const;
  /// A required number from 1 on, of heads, rows or the like.
  std::uint64_t required_count(std::string_view name) const;
  float real(std::string_view name, float other) const;
  std::string text(std::string_view name, std::string_view other) const;
  /// One of several words, the first of which is the default. Others are refused.
  std::string_view choice(std::string_view name,
                          std::initializer_list<std::string_view> words) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<float> reals(std::string_view name) const;
  std::vector<std::string> texts(std::string_view name) const;
  const Attribute* find(std::string_view name) const;
  /// Attributes and inputs that change no output, so that they may stay unread.
  void ignore(std::initializer_list<std::string_view> attributes) const;
  void ignore_input(std::size_t input) const;

  /// A dimension that may count from the end: an axis of a tensor with so many dimensions. A tensor
  /// without dimensions has none.
  static std::size_t axis_of(std::int64_t axis, std::size_t dimensions, bool may_be_end = false);
  /// Refuses a dimension that is named twice.
  static std::vector<std::size_t> axes_as_written(const std::vector<std::int64_t>& axes,
                                                  std::size_t dimensions);
  /// The same, sorted. A dimension that is named twice counts once, as in ONNX Runtime.
  static std::vector<std::size_t> axes_of(const std::vector<std::int64_t>& axes,
                                          std::size_t dimensions);

  // Outputs.
  std::size_t output_count() const { return node_.outputs.size(); }
  /// Whether something reads an output.
  bool wants(std::size_t output) const {
    return output < node_.outputs.size() && !node_.outputs[output].empty();
  }
  /// Says what an output is. One that the model leaves out gets an edge without a name. One without
  /// elements is known: it becomes a constant.
  View output(std::size_t output, DataType type, const Sizes& sizes, bool is_boolean = false);
  /// An output with the elements of another value: BOOL stays BOOL.
  View output(std::size_t output, const Value& like, const Sizes& sizes);
  /// An output whose elements are known.
  void constant_output(std::size_t output, TensorData data);
  /// An edge between two operators of this node.
  View temporary(DataType type, const Sizes& sizes);
  /// The view itself if it has the type, or what CAST makes of it.
  View converted(const View& view, DataType type);
  /// The packed elements, or the view's own if they are packed.
  View packed(const View& view);
  /// The view with its first dimensions as one, so that it has at most so many. Where strides do
  /// not allow that, it is copied.
  View merged(const View& view, std::size_t most);
  /// The rows of a table {rows, size} that indices {batch, count} name: {batch, count, size}.
  View rows_of(const View& table, const View& indices);
  /// A constant that the mapping makes.
  View constant(DataType type, const Sizes& sizes, std::vector<std::byte> bytes);
  View constant_number(DataType type, double number);

  void add(const DmlOperator& operation);
  /// An operator with one input and one output.
  void add_unary(const std::string& type, const View& from, const View& to);
  void add_binary(const std::string& type, const View& a, const View& b, const View& to);
  void add_identity(const View& from, const View& to);

  const Node& node() const { return node_; }

  /// Refuses inputs and attributes that the mapping has not read, which would be ignored. Call it
  /// after the mapping.
  void require_all_read() const;
  /// Ends the mapping. Without an output that an operator writes, none is needed. Refuses an empty
  /// input of an output that has elements.
  void finish();

  // What was made.
  struct Constant {
    std::string edge;
    TensorData data;
  };
  std::vector<DmlOperator> operators;
  std::vector<std::optional<Value>> outputs;
  std::vector<Constant> constants;
  std::vector<const Value*> used;            // inputs that became edges
  std::vector<Refusal> warnings;             // of what is mapped all the same
  std::shared_ptr<const OnnxGraph> inlined;  // the graph whose nodes stand for this one
  std::shared_ptr<const Function> function;  // the same, with names of its own

 private:
  static constexpr const char* fixed_fields =
      "sizes and fields of an operator are fixed when DirectML creates it";

  void require_full_inputs() const;
  std::string own_edge(const char* what);
  const Attribute* find_of_kind(std::string_view name, AttributeKind kind) const;

  const Node& node_;
  const OnnxOperator& row_;
  std::int64_t version_;
  std::vector<const Value*> inputs_;
  EdgeNames& names_;
  std::optional<std::size_t> empty_input_;  // the first one that was viewed
  mutable std::vector<bool> is_input_read_;
  mutable std::vector<bool> is_attribute_read_;
};

/// The sizes that NumPy's rules give several tensors; nothing if they do not fit together.
std::optional<Sizes> try_broadcast_sizes(const std::vector<Sizes>& all);
/// The same. Refuses if they do not fit together.
Sizes broadcast_sizes(const std::vector<Sizes>& all);

/// The sizes of tensors that are put together along an axis. Refuses if the others differ.
Sizes joined_sizes(const std::vector<Sizes>& all, std::size_t axis);

/// The place of an axis in the view that is padded to 4 dimensions.
std::uint64_t padded_axis(std::size_t axis, std::size_t dimensions);

/// The view with sizes of 1 behind, so that it has 4 dimensions: channels stay in their place.
View padded_behind(View view);

/// All operators that are known, by name and domain.
std::span<const OnnxOperator> onnx_operators();
const OnnxOperator* find_onnx_operator(std::string_view name, std::string_view domain);
/// The remedy for a name that no operator has: the one that may be meant, or what lists them. With
/// a domain, one of that domain that is mapped.
std::string remedy_of_unknown_operator(std::string_view name,
                                       std::optional<std::string_view> domain = {});

}  // namespace dmlop::onnx
