// dmlop for C++ programs: checks descriptions of DirectML operators and runs them on the CPU or on
// a GPU. This is the whole interface for C++; <dmlop/dmlop.h> is that for C and other languages.
//
//   std::vector<float> image(16, 1.0F);
//   dmlop::Runner runner;
//   const auto outputs = runner.run({.file = "op.json"},
//                                   {{"InputTensor", dmlop::view(image, {1, 1, 4, 4})}});
//   for (const float element : outputs.at(0).elements<float>()) ...
//
// Tensors have the names of the operator's fields: "InputTensor", "OutputTensors[1]". Sizes and
// strides count elements; the last dimension is the fastest. Text is UTF-8. What goes wrong is a
// Failure, unless memory ends (std::bad_alloc) or an argument is no value of its type
// (std::invalid_argument). All functions may be called from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#if !defined(DMLOP_SHARED)
#define DMLOP_API
#elif !defined(_WIN32)
#define DMLOP_API __attribute__((visibility("default")))
#elif defined(DMLOP_EXPORTS)
#define DMLOP_API __declspec(dllexport)
#else
#define DMLOP_API __declspec(dllimport)
#endif

// The inline namespace keeps these names apart from all others of the library.
namespace dmlop::inline v0 {

/// The type of a tensor's elements: the values of DML_TENSOR_DATA_TYPE.
enum class ElementType : std::uint8_t {
  float32 = 1,
  float16,
  uint32,
  uint16,
  uint8,
  int32,
  int16,
  int8,
  float64,
  uint64,
  int64,
  uint4,
  int4,
};

/// DirectML's name of a type, such as "FLOAT32".
DMLOP_API std::string_view name_of(ElementType type);

/// The bytes of an element in memory and in files. UINT4 and INT4 take a whole byte.
DMLOP_API std::size_t size_of(ElementType type);

/// The type of a C++ number: float, double, or an integer other than bool.
template <typename Number>
constexpr ElementType element_type_of();

/// Elements in memory that belong to the caller, who keeps them until the call with them returns.
struct TensorView {
  ElementType type = ElementType::float32;
  std::vector<std::uint64_t> sizes = {};
  /// Native byte order, any alignment: exactly the elements or, with strides, all that these reach.
  std::span<const std::byte> bytes = {};
  /// In elements; empty: packed. The operator must allow Strides.
  std::vector<std::uint64_t> strides = {};
};

/// A view of a vector, array or span of numbers.
template <typename Range>
TensorView view(const Range& elements, std::vector<std::uint64_t> sizes,
                std::vector<std::uint64_t> strides = {});

/// An input: elements in memory, or the path of a .npy file. An optional one may be left out.
struct Input {
  std::string name;
  std::variant<TensorView, std::filesystem::path> contents;
};

/// Memory of the caller for an output: as many bytes as its packed elements have. A type or sizes
/// that are given have to be those of the output.
struct OutputBuffer {
  std::string name;
  std::span<std::byte> bytes;
  std::optional<ElementType> type = std::nullopt;
  std::optional<std::vector<std::uint64_t>> sizes = std::nullopt;
};

/// The .npy file that an output is written to. It appears complete or not at all.
struct Target {
  std::string name;
  std::filesystem::path path;
};

struct TensorInfo {
  std::string name = {};
  ElementType type = ElementType::float32;
  std::vector<std::uint64_t> sizes = {};
};

/// An output in memory: packed elements in native byte order.
struct Tensor : TensorInfo {
  std::vector<std::byte> bytes = {};

  /// The elements as numbers. Errors: std::invalid_argument if they are of another type.
  template <typename Number>
  std::span<const Number> elements() const;
};

/// One use of an operator, as JSON: {"type": "PADDING", "desc": {...}, "bindings": {...}}. Whatever
/// the inputs and the operator's rules determine, such as sizes of outputs, may be left out.
struct Operation {
  /// The JSON; empty: that of `file`.
  std::string text = {};
  /// Findings name it, and paths in the JSON are relative to it. If it is read and called op.json,
  /// .npy files beside it are the inputs that have their names.
  std::filesystem::path file = {};
  /// Takes precedence over the JSON's: "5_0". Empty: the JSON's, else the newest.
  std::string feature_level = {};
  /// The judge of what is valid where they disagree, "page" (Microsoft's documentation page) or
  /// "directml-1.15.4"; takes precedence over the JSON's. Empty: the JSON's, else "page".
  std::string as = {};
  /// The folder that paths in the JSON may not leave; empty: they may name any file.
  std::filesystem::path confined_to = {};
  /// Of an ONNX model: the sizes of dimensions that have a name.
  std::map<std::string, std::uint64_t> dimensions = {};
  /// Of an ONNX model: inputs that become constants, because sizes or fields of its operators
  /// depend on their elements. They are no inputs of the program then.
  std::vector<Input> known_inputs = {};
  /// Of an ONNX model: fewer operators are made of it, as ONNX Runtime's optimizer does.
  /// Activations, batch normalizations, sums and factors become part of the operators before them.
  /// It runs faster, and rounds less.
  bool fuse = false;
};

enum class FailureKind : std::uint8_t {
  usage,          // the call is wrong: unknown names, missing inputs
  invalid_input,  // the JSON, the description, a buffer or a .npy file is wrong
  unavailable,    // valid, but not possible here: no such device, operator without kernels
  run_failed,     // the device or the computation failed
  io_failed,      // a file could not be read or written
  canceled,       // a StopCondition ended it
};

/// One mistake. Parts that do not apply are empty or 0.
struct Finding {
  FailureKind kind = FailureKind::invalid_input;
  std::string message;  // "OutputTensor.Sizes[3] is 11, must be 10"
  std::string rule;     // the rule that is broken, with its numbers
  std::string help;     // what to write instead
  std::string note;
  std::string file;
  std::uint32_t line = 0;    // from 1
  std::uint32_t column = 0;  // from 1, in characters
  std::string pointer;       // to the place in the JSON (RFC 6901)
  std::string text;          // all of it, on lines as `dmlop check` prints them
};

/// The one exception of this library. what() says what was being done and what failed.
class DMLOP_API Failure : public std::runtime_error {
 public:
  Failure(FailureKind kind, const std::string& message, std::vector<Finding> findings = {});
  FailureKind kind() const noexcept { return kind_; }
  /// The mistakes in the description or in the inputs, in the order of their places; else empty.
  const std::vector<Finding>& findings() const noexcept { return *findings_; }

 private:
  FailureKind kind_;
  std::shared_ptr<const std::vector<Finding>> findings_;
};

struct CheckResult {
  std::vector<Finding> findings;    // empty: valid
  std::vector<Finding> warnings;    // of what is valid, but perhaps not meant
  std::vector<TensorInfo> tensors;  // of what is valid: all tensors, with types and sizes
};

/// Checks a description, and that the inputs given fit it, or a program as Program reads it. All
/// mistakes are findings. Needs no device, and of .npy files only the headers. Errors: usage for an
/// unknown feature level or no JSON, and for inputs of a program; io_failed if the JSON cannot be
/// read.
DMLOP_API CheckResult check(const Operation& operation, const std::vector<Input>& inputs = {});

struct RunnerOptions {
  /// As `dmlop run --device`: "cpu", "gpu" (the best one in hardware), "vulkan:0"; empty: the best
  /// GPU in hardware or, where there is none or it cannot run an operator, the CPU.
  std::string device = {};
  unsigned threads = 0;                   // of the CPU; 0: as many as it has
  std::uint64_t device_memory_bytes = 0;  // limit for buffers on the GPU; 0: a sensible amount
  std::uint64_t host_memory_bytes = 0;    // limit for temporary tensors on the CPU; 0: none
  bool strict_indices = false;            // an index out of range in an input is a failure
};

/// While it lives, work that its thread starts ends soon after `condition` is true, with a Failure
/// of kind canceled. This thread asks the condition, every few milliseconds while it works.
class DMLOP_API StopCondition {
 public:
  explicit StopCondition(std::function<bool()> condition);
  StopCondition(const StopCondition&) = delete;
  StopCondition& operator=(const StopCondition&) = delete;
  ~StopCondition();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A tensor in a buffer that a call gets: how many bytes it has, and how they are laid out.
struct BufferInfo : TensorInfo {
  std::vector<std::uint64_t> strides = {};  // in elements; empty: packed
  std::uint64_t bytes = 0;
};

/// An operation that was checked and planned once, to run many times on buffers of the caller.
/// Several threads may run it at once. It may outlive its runner.
class DMLOP_API Prepared {
 public:
  /// What each run needs, in the order of the operator's fields.
  const std::vector<BufferInfo>& inputs() const noexcept;
  /// What each run computes: packed elements.
  const std::vector<BufferInfo>& outputs() const noexcept;
  const std::vector<Finding>& warnings() const noexcept;

  /// Computes the outputs from the inputs, with buffers in the order of inputs() and outputs(). An
  /// output may be the buffer of an input. If the call fails, outputs have any contents. Errors:
  /// usage for another number of buffers, or of bytes in one; else as Runner::run.
  void run(std::span<const std::span<const std::byte>> inputs,
           std::span<const std::span<std::byte>> outputs) const;

 private:
  friend class Runner;
  struct State;
  explicit Prepared(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// A node of a program, with the names of the edges that it reads and writes.
struct NodeInfo {
  std::string name;
  std::string operator_name;  // "PADDING"
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

/// A graph of operators: what ONNX Runtime serialized (Partition_N.bin), a graph as JSON, an ONNX
/// model (a file *.onnx), or a DxDispatch model, whose print and
/// writeFile commands are left out.
class DMLOP_API Program {
 public:
  /// Reads and checks it: a file, or the text of one in `source.text`. Errors: as check() finds;
  /// usage for an op description; io_failed.
  explicit Program(const Operation& source);

  const std::vector<BufferInfo>& inputs() const noexcept;
  const std::vector<TensorInfo>& outputs() const noexcept;
  const std::vector<NodeInfo>& nodes() const noexcept;
  const std::vector<Finding>& warnings() const noexcept;

 private:
  friend class Runner;
  struct State;
  std::shared_ptr<const State> state_;
};

/// Runs operations on one device, which it opens once.
class DMLOP_API Runner {
 public:
  /// Errors: usage (what the device text is not), unavailable (no such device), run_failed.
  explicit Runner(const RunnerOptions& options = {});
  Runner(Runner&&) noexcept;
  Runner& operator=(Runner&&) noexcept;
  ~Runner();

  /// "cpu", or the GPU's spec such as "vulkan:0".
  std::string device() const;

  /// Checks an operation, runs it, and returns its outputs in the order of the operator's fields.
  /// Those with a buffer are written there, and have no bytes of their own; if the call fails,
  /// buffers have any contents. Writes no file. Errors: as check() finds, all together;
  /// invalid_input for indices out of range, if these are strict; usage for buffers that do not
  /// fit; unavailable, run_failed, io_failed.
  std::vector<Tensor> run(const Operation& operation, const std::vector<Input>& inputs = {},
                          const std::vector<OutputBuffer>& buffers = {});

  /// The same, but writes the outputs to .npy files: all or none. An output without a target goes
  /// where the JSON's bindings say; one without either is an error.
  std::vector<TensorInfo> run_to_files(const Operation& operation, const std::vector<Input>& inputs,
                                       const std::vector<Target>& targets);

  /// Checks and plans an operation for many runs. Inputs with elements, and those that are files,
  /// stay what they are: the caller keeps their memory as long as the Prepared. An input whose view
  /// has sizes and no bytes is given to each run; so is one that only the JSON describes. Errors:
  /// as check() finds; unavailable.
  Prepared prepare(const Operation& operation, const std::vector<Input>& inputs = {});

  /// Runs a program and returns its outputs in their order. `edges`, if given, gets what each node
  /// wrote, named after its edge. Constants stay on a GPU for the next run, until the program or
  /// the runner is gone, or other runs need the room. Errors: invalid_input for inputs that do not
  /// fit, usage for those that are missing or unknown; run_failed, io_failed.
  std::vector<Tensor> run(const Program& program, const std::vector<Input>& inputs,
                          std::vector<Tensor>* edges = nullptr);

 private:
  friend class Prepared;
  struct State;
  std::shared_ptr<State> state_;
};

struct OperatorInfo {
  std::string name;                  // without DML_OPERATOR_: "PADDING"
  std::string family;                // "data_movement"
  std::string feature_level;         // that introduced it: "1_0"
  std::vector<std::string> runs_on;  // "cpu", and the GPU backends of this build: "vulkan"
};

/// All operators of DirectML, by name.
DMLOP_API std::vector<OperatorInfo> operators();

/// All that is known about an operator, as `dmlop ops NAME --format json` prints it: fields, rules,
/// support, tolerances, an example. Errors: usage for an unknown operator.
DMLOP_API std::string operator_json(const std::string& name);

/// The operator that the JSON of an operation names, such as "PADDING", whatever else may be wrong
/// there; "" for a program. Errors: invalid_input, with findings, where no operator can be read;
/// usage for no JSON; io_failed.
DMLOP_API std::string operator_of(const Operation& operation);

/// How far an element may be from the expected one. It passes if any criterion that is given allows
/// it: |actual - expected| <= atol + rtol * |expected|, or at most `ulp` representable values
/// between. Without any, elements must be equal bit for bit.
struct Criteria {
  std::optional<double> rtol = {};
  std::optional<double> atol = {};
  std::optional<std::uint64_t> ulp = {};
  bool nan_equals_nan = true;
  // Whether a match that proves nothing may pass: all of `actual` is NaN, or all is zero and
  // `expected` holds different numbers.
  bool allow_trivial = false;
};

/// The tolerance of an operator for a type; bit for bit where it has none. Errors: usage for an
/// unknown operator.
DMLOP_API Criteria criteria_of(const std::string& operator_name, ElementType type);

struct CompareResult {
  bool passed = false;
  std::string summary;  // "3 of 80 elements differ (3.75%)"
  std::string text;     // the details, as `dmlop compare` prints them
  std::string json;     // all numbers
};

/// Compares two tensors, packed elements in memory or .npy files, element by element. Errors:
/// invalid_input for a buffer or a file that is wrong; io_failed.
DMLOP_API CompareResult compare(const std::variant<TensorView, std::filesystem::path>& actual,
                                const std::variant<TensorView, std::filesystem::path>& expected,
                                const Criteria& criteria = {});

struct TimingOptions {
  std::string device = {};  // as RunnerOptions::device
  unsigned threads = 0;     // of the CPU; 0: as many as it has
  double min_seconds = 1;   // runs go on until both are reached
  unsigned min_runs = 10;
};

/// How long an operation takes on a device, with its tensors there.
struct Timing {
  std::string device;
  std::string clock;  // "device": that of the GPU; "wall"
  double median_seconds = 0;
  double percentile95_seconds = 0;
  std::uint64_t runs = 0;
  std::uint64_t input_bytes = 0;  // that a run reads
  std::uint64_t output_bytes = 0;
};

/// Measures an operation, as `dmlop bench` does. Inputs without elements get random ones. Errors:
/// as Runner::run; run_failed where the device's result is wrong, or tensors are too large for it.
DMLOP_API Timing time(const Operation& operation, const std::vector<Input>& inputs = {},
                      const TimingOptions& options = {});

/// Writes elements as numpy.save does. The file appears complete or not at all. Errors:
/// invalid_input, io_failed.
DMLOP_API void write_npy(const std::filesystem::path& path, const TensorView& tensor);

/// The library's version, MAJOR.MINOR.PATCH.
DMLOP_API std::string_view version() noexcept;

struct DeviceInfo {
  std::string spec;  // what RunnerOptions::device takes: "cpu", "vulkan:0"
  std::string name;
  std::string kind;  // "cpu", "discrete", "integrated", "virtual", "software", "other"
  std::string driver;
  std::uint64_t memory_bytes = 0;  // of a GPU
};

/// The CPU and all GPUs of this machine, as they were at the first call.
DMLOP_API std::vector<DeviceInfo> devices();

// Definitions of the templates.

template <typename Number>
constexpr ElementType element_type_of() {
  static_assert(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool> &&
                    !std::is_same_v<Number, long double>,
                "float, double, or an integer other than bool");
  constexpr bool is_signed = std::is_signed_v<Number>;
  if constexpr (std::is_floating_point_v<Number>)
    return sizeof(Number) == 4 ? ElementType::float32 : ElementType::float64;
  else if constexpr (sizeof(Number) == 1)
    return is_signed ? ElementType::int8 : ElementType::uint8;
  else if constexpr (sizeof(Number) == 2)
    return is_signed ? ElementType::int16 : ElementType::uint16;
  else if constexpr (sizeof(Number) == 4)
    return is_signed ? ElementType::int32 : ElementType::uint32;
  else
    return is_signed ? ElementType::int64 : ElementType::uint64;
}

template <typename Range>
TensorView view(const Range& elements, std::vector<std::uint64_t> sizes,
                std::vector<std::uint64_t> strides) {
  const std::span numbers(elements);
  using Number = std::remove_cv_t<typename decltype(numbers)::element_type>;
  return {element_type_of<Number>(), std::move(sizes), std::as_bytes(numbers), std::move(strides)};
}

template <typename Number>
std::span<const Number> Tensor::elements() const {
  if (element_type_of<Number>() != type)
    throw std::invalid_argument(name + " has elements of type " + std::string(name_of(type)) +
                                ", not " + std::string(name_of(element_type_of<Number>())));
  return {reinterpret_cast<const Number*>(bytes.data()), bytes.size() / sizeof(Number)};
}

}  // namespace dmlop::inline v0
