// dmlop for C++ programs: checks descriptions of DirectML operators and runs them on the CPU or on
// a GPU. This is the whole interface.
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
#include <memory>
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
  /// Who decides what is valid if they disagree, "page" (Microsoft's documentation page) or
  /// "directml-1.15.4"; takes precedence over the JSON's. Empty: the JSON's, else "page".
  std::string as = {};
  /// The folder that paths in the JSON may not leave; empty: they may name any file.
  std::filesystem::path confined_to = {};
};

enum class FailureKind : std::uint8_t {
  usage,          // the call is wrong: unknown names, missing inputs
  invalid_input,  // the JSON, the description, a buffer or a .npy file is wrong
  unavailable,    // valid, but not possible here: no such device, operator without kernels
  run_failed,     // the device or the computation failed
  io_failed,      // a file could not be read or written
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

/// Checks a description, and that the inputs given fit it. All mistakes are findings. Needs no
/// device, and of .npy files only the headers. Errors: usage for an unknown feature level or no
/// JSON; io_failed if the JSON cannot be read.
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
  /// Writes no file. Errors: as check() finds, all together; invalid_input for indices out of
  /// range, if these are strict; unavailable, run_failed, io_failed.
  std::vector<Tensor> run(const Operation& operation, const std::vector<Input>& inputs = {});

  /// The same, but writes the outputs to .npy files: all or none. An output without a target goes
  /// where the JSON's bindings say; one without either is an error.
  std::vector<TensorInfo> run_to_files(const Operation& operation, const std::vector<Input>& inputs,
                                       const std::vector<Target>& targets);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct OperatorInfo {
  std::string name;                  // without DML_OPERATOR_: "PADDING"
  std::string family;                // "data_movement"
  std::string feature_level;         // that introduced it: "1_0"
  std::vector<std::string> runs_on;  // "cpu", and the GPU backends of this build: "vulkan"
};

/// All operators of DirectML, by name.
DMLOP_API std::vector<OperatorInfo> operators();

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
