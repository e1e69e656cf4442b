// A DxDispatch model: buffers with initial values, operators on them, and commands in order.
// read_model reads and checks it as a whole; model/runtime.hpp runs it. The format is that of
// DxDispatch's parser (microsoft/DirectML, DxDispatch/src/model).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/confine.hpp"
#include "base/diagnostic.hpp"
#include "json/document.hpp"
#include "npy/npy.hpp"
#include "ops/kernel.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// What a resource holds when the model starts.
struct InitialValues {
  std::optional<DataType> data_type;  // absent if the values have several types or are deferred
  std::uint64_t bytes = 0;
  std::function<void(std::span<std::byte>)> fill;  // writes `bytes` bytes; may be called repeatedly
  std::shared_ptr<const NpyFile> file;             // if the values are a .npy file
  std::string path;                                // of the file that the values come from
  std::span<const std::byte> raw;                  // that file's bytes if it is not a .npy file
  /// What `fill` would write, if it is in memory or in a mapped file as it is; else empty. After
  /// reading it, require_intact() says whether the file changed meanwhile; absent: it cannot.
  std::span<const std::byte> mapped = {};
  std::function<void()> require_intact = {};
};

/// A buffer of bytes.
struct Resource {
  std::string name;
  InitialValues initial;
  std::uint64_t offset = 0;   // of the initial values
  std::uint64_t size = 0;     // of the buffer, including padding to 4 bytes
  bool has_own_size = false;  // the model gives the size
  bool is_deferred = false;
  bool is_usable = false;             // it was read without findings
  std::optional<Sizes> sizes = {};    // of what an operator writes, if the file says them
  std::optional<DataType> type = {};  // the same

  /// The number of elements of the initial values; 0 if they have several types.
  std::uint64_t value_count() const {
    return initial.data_type ? initial.bytes / size_of(*initial.data_type) : 0;
  }
  /// The number of elements that a file of the resource holds: the values or, if the model gives
  /// the buffer's size, the whole buffer.
  std::uint64_t element_count() const {
    if (!initial.data_type) return 0;
    return (has_own_size ? size : initial.bytes) / size_of(*initial.data_type);
  }
};

/// Bytes [offset, offset + size) of a resource, which belong to a tensor.
struct BufferRange {
  std::size_t resource = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;

  bool operator==(const BufferRange&) const = default;
};

struct TensorBinding {
  std::string tensor;
  BufferRange range;
  std::optional<std::size_t> element = {};  // of an array of tensors

  bool is(const std::string& field, std::optional<std::size_t> index) const {
    return tensor == field && element == index;
  }
};

struct Dispatchable {
  std::string name;
  std::optional<Description> description;  // absent if it has findings
  std::vector<TensorBinding> owned = {};   // inputs that are bound when the model starts
};

struct DispatchCommand {
  std::size_t dispatchable = 0;
  std::vector<TensorBinding> bindings = {};  // of the other tensors
};

struct PrintCommand {
  std::size_t resource = 0;
  bool verbose = false;
};

struct WriteFileCommand {
  std::size_t resource = 0;
  std::string target;                    // as written in the model
  std::string path;                      // where it goes
  std::optional<Sizes> dimensions = {};  // of a .npy file; absent: one
  bool is_npy = false;
};

using ModelCommand = std::variant<DispatchCommand, PrintCommand, WriteFileCommand>;

/// What messages call a program and its buffers.
struct ModelWords {
  const char* model = "model";
  const char* resource = "resource";
  const char* placeholder = "RESOURCE";
  bool has_commands = true;  // which the file lists; otherwise its nodes are dispatched
};

/// A file beside a model's own that it is read from.
struct SourceFile {
  std::string path;
  std::string role;  // "a graph of the model"
};

struct Model {
  std::string file;
  std::vector<Resource> resources;
  std::vector<Dispatchable> dispatchables;
  std::vector<ModelCommand> commands;
  std::vector<std::size_t> outputs = {};  // resources, where the file says what a program is for
  ModelWords words = {};
  std::vector<SourceFile> sources = {};  // also those of which nothing is left in a resource

  const Resource* find_resource(std::string_view name) const;
};

/// The most resources, dispatchables and commands that a model may have, of each.
inline constexpr std::size_t model_parts_max = 10'000;

struct GraphPart;
struct ModelRequest;

/// Reads a graph that is a dispatchable. Errors: io_failed.
using ReadGraphPart =
    std::function<std::optional<GraphPart>(const std::string& path, const ModelRequest& request,
                                           Diagnostics& diagnostics, Diagnostics& warnings)>;

struct ModelRequest {
  std::optional<std::string> input_folder = {};   // default: the model's own
  std::optional<std::string> output_folder = {};  // default: the current one
  Checking checking = {};                // the judge is DirectML, which models are written for
  SharedConfinement confinement = {};    // of sourcePath; a targetPath then stays in output_folder
  std::vector<std::string> beside = {};  // fields that may stand next to the model's own
  ReadGraphPart read_graph = {};         // absent: dispatchables are operators only
};

/// The names of a model's operators, such as "PADDING", each once.
std::vector<std::string> operators_of(const Model& model);

/// The bytes that a buffer must have for a tensor that was checked, as DirectML counts them.
std::uint64_t needed_bytes(const TensorDesc& desc);

/// Reads and checks the description of an operator that is a part of a model, which is complete and
/// states no feature level. `root` is a value of the document. Returns nothing if there are
/// findings. `warnings` gets those of the description.
std::optional<Description> read_part(std::shared_ptr<const json::Document> document,
                                     std::shared_ptr<const json::Value> root,
                                     std::optional<FeatureLevel> level, Judge judge,
                                     Diagnostics& diagnostics, Diagnostics& warnings);

/// Reads and checks a model, including one with mistakes. It reads the headers of files but no
/// values. Mistakes become findings; `warnings` gets what DxDispatch ignores or would not accept,
/// and the warnings of each operator. Returns a model only if there are no findings. Programs call
/// read_model_with_graphs() (graph/models.hpp).
std::optional<Model> read_model(std::shared_ptr<const json::Document> document,
                                const json::Value& root, const ModelRequest& request,
                                Diagnostics& diagnostics, Diagnostics& warnings);

}  // namespace dmlop
