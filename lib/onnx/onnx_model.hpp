// An ONNX model as its file says it: nodes, attributes, initializers, inputs and outputs. Names and
// weights are views of the file's bytes, which must outlive them. Nothing here knows what an
// operator is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/confine.hpp"
#include "base/diagnostic.hpp"
#include "base/file.hpp"
#include "npy/raw_form.hpp"
#include "tensor/data_type.hpp"
#include "tensor/layout.hpp"

namespace dmlop::onnx {

/// Numbers of TensorProto.DataType that are named here.
enum class ElementType : std::int32_t {
  undefined = 0,
  string = 8,
  boolean = 9,
  bfloat16 = 16,
};

/// DirectML's type; BOOL is UINT8. Nothing for types that DirectML lacks.
std::optional<DataType> data_type_of(std::int64_t element_type);
/// "BFLOAT16".
std::string name_of_type(std::int64_t element_type);

/// A TensorProto. Its values stay where they are until they are wanted.
struct Tensor {
  std::string_view name;
  std::int64_t element_type = 0;
  std::vector<std::int64_t> sizes;
  std::optional<std::span<const std::byte>> raw;
  std::span<const std::byte> message;  // all of it
  bool is_external = false;
  std::string_view location;  // of external data
  std::string_view offset;    // in the file, as text
  std::string_view length;
};

struct OnnxGraph;

/// AttributeProto.AttributeType.
enum class AttributeKind : std::int64_t {
  unknown,  // in old files
  real,
  integer,
  text,
  tensor,
  graph,
  reals,
  integers,
  texts
};

struct Attribute {
  std::string_view name;
  AttributeKind kind = AttributeKind::unknown;
  std::int64_t integer = 0;
  float real = 0;
  std::string_view text;
  std::optional<Tensor> tensor;
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string_view> texts;
  std::shared_ptr<const OnnxGraph> graph;  // of a node that runs other nodes
  std::string_view reference;  // in a function: the attribute of its call that this one stands for
};

struct Node {
  std::string_view name;
  std::string_view type;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<Attribute> attributes;

  /// The first output that is not left out; "" if there is none.
  std::string_view first_output() const;
  /// Its name, or that of its first output.
  std::string_view display_name() const { return name.empty() ? first_output() : name; }
};

/// A dimension: its size, its name, or neither.
struct Dimension {
  std::optional<std::int64_t> size;
  std::string_view name;
};

/// Sizes of dimensions by their names.
using NamedSizes = std::map<std::string, std::uint64_t>;

/// The type of an input or output. Without an element type it is no tensor.
struct ValueInfo {
  std::string_view name;
  std::int64_t element_type = 0;
  std::optional<std::vector<Dimension>> sizes;
  std::string_view other = {};  // "sequence", "map" or "optional" instead of a tensor
};

struct OperatorSet {
  std::string_view domain;
  std::int64_t version = 0;
};

/// The version of an operator set; 0 if it is none of these.
std::int64_t version_of(std::string_view domain, const std::vector<OperatorSet>& sets);

/// The graph of a model, or of a node that runs other nodes.
struct OnnxGraph {
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;
  bool has_sparse_initializers = false;
};

/// An operator that the model itself makes of nodes.
struct Function {
  std::string_view name;
  std::string_view domain;
  std::string_view overload;
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;  // without those that have a default
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  std::vector<OperatorSet> operator_sets;

  bool has_attribute(std::string_view attribute) const {
    return std::ranges::find(attributes, attribute) != attributes.end() ||
           std::ranges::find(defaults, attribute, &Attribute::name) != defaults.end();
  }
};

struct OnnxModel : OnnxGraph {
  std::string path;
  std::shared_ptr<const InputFile> file;  // null: the bytes are in memory
  std::shared_ptr<const void> owner;      // keeps bytes in memory; null: the caller does
  std::vector<OperatorSet> operator_sets;
  std::vector<Function> functions;
};

/// The most dimensions of a tensor that are read.
inline constexpr std::size_t tensor_dimensions_max = 64;
/// The most graphs of nodes inside each other.
inline constexpr std::size_t graphs_nested_max = 32;
/// The most nodes of a graph.
inline constexpr std::size_t nodes_max = 10'000;

/// Whether a file is an ONNX model by its name.
bool is_named_onnx(const std::string& path);
/// Whether bytes begin as all writers begin a ModelProto: with its ir_version.
bool is_onnx(std::span<const std::byte> bytes);

/// Reads a model from bytes. What is wrong becomes a finding that says at which byte, and in which
/// node; then it returns nothing.
std::optional<OnnxModel> read_onnx(const std::string& path, std::span<const std::byte> bytes,
                                   Diagnostics& diagnostics);
/// Maps a file and reads it. Errors: as InputFile::open.
std::optional<OnnxModel> open_onnx(const std::string& path, Diagnostics& diagnostics,
                                   const SharedConfinement& confinement = {});

/// The elements of a tensor. They lie in a file that is mapped, or in memory.
struct TensorData {
  DataType type = DataType::Float32;
  bool is_boolean = false;
  Sizes sizes;
  std::span<const std::byte> bytes;       // packed, two elements of 4 bits to a byte
  std::shared_ptr<const void> owner;      // keeps the bytes
  std::shared_ptr<const InputFile> file;  // that is mapped, or null
  std::string path;                       // of the file that the bytes come from

  std::uint64_t count() const { return element_count(sizes).value_or(0); }
};

/// The files beside the model that have external data, each once.
std::vector<std::string> external_files(const OnnxModel& model);

/// The bytes of so many elements, two of 4 bits in one.
std::uint64_t bytes_of(DataType type, std::uint64_t count);

/// The elements of a tensor of a file. External data is looked for beside `path`; without a path
/// there is none. Errors:
/// invalid_input, io_failed; unavailable for a type that DirectML lacks.
TensorData data_of(const Tensor& tensor, const std::string& path,
                   const std::shared_ptr<const InputFile>& file,
                   const SharedConfinement& confinement);

/// A TensorProto alone in a file, as test data is (*.pb). Errors: as data_of and InputFile::open.
TensorData read_tensor_file(const std::string& path, const SharedConfinement& confinement = {});
/// The elements of a .npy file, which may have none, or, with a form, of a raw file. Errors: as
/// NpyFile::open.
TensorData read_npy_file(const std::string& path, const SharedConfinement& confinement = {},
                         const std::optional<RawForm>& form = {});
/// New elements in memory that have a byte each if they are of 4 bits. Errors: invalid_input if one
/// does not fit 4 bits.
TensorData data_of_elements(DataType type, Sizes sizes, std::vector<std::byte> elements);
/// New elements in memory.
TensorData new_data(DataType type, Sizes sizes, std::vector<std::byte> bytes);

}  // namespace dmlop::onnx
