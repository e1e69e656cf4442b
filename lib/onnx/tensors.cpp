#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/checked.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "npy/elements.hpp"
#include "onnx/tensor_message.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {
namespace {

namespace tensor_field {
constexpr std::uint32_t sizes = 1, element_type = 2, floats = 4, int32s = 5, int64s = 7, name = 8,
                        raw = 9, doubles = 10, uint64s = 11, external = 13, location = 14;
}
namespace entry_field {
constexpr std::uint32_t key = 1, value = 2;
}

// Values that are written as numbers take up to 10 times their bytes while they are read.
constexpr std::uint64_t written_elements_max = std::uint64_t{1} << 28;

struct TypeRow {
  std::int64_t number;
  const char* name;
  std::optional<DataType> type;
};

constexpr std::array<TypeRow, 24> type_rows{{
    {0, "UNDEFINED", std::nullopt},       {1, "FLOAT", DataType::Float32},
    {2, "UINT8", DataType::UInt8},        {3, "INT8", DataType::Int8},
    {4, "UINT16", DataType::UInt16},      {5, "INT16", DataType::Int16},
    {6, "INT32", DataType::Int32},        {7, "INT64", DataType::Int64},
    {8, "STRING", std::nullopt},          {9, "BOOL", DataType::UInt8},
    {10, "FLOAT16", DataType::Float16},   {11, "DOUBLE", DataType::Float64},
    {12, "UINT32", DataType::UInt32},     {13, "UINT64", DataType::UInt64},
    {14, "COMPLEX64", std::nullopt},      {15, "COMPLEX128", std::nullopt},
    {16, "BFLOAT16", std::nullopt},       {17, "FLOAT8E4M3FN", std::nullopt},
    {18, "FLOAT8E4M3FNUZ", std::nullopt}, {19, "FLOAT8E5M2", std::nullopt},
    {20, "FLOAT8E5M2FNUZ", std::nullopt}, {21, "UINT4", DataType::UInt4},
    {22, "INT4", DataType::Int4},         {23, "FLOAT4E2M1", std::nullopt},
}};

[[noreturn]] void refuse(const std::string& what, ErrorKind kind = ErrorKind::invalid_input) {
  throw Error(kind, what);
}

std::uint64_t number_of(std::string_view text, const char* what, std::uint64_t other) {
  if (text.empty()) return other;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    refuse(std::string("the ") + what + " of external data is \"" + printable(std::string(text)) +
           "\", must be a number");
  return number;
}

void read_external(Message message, Tensor& tensor) {
  std::string_view key, value;
  while (message.next()) {
    if (message.field() == entry_field::key)
      key = message.text();
    else if (message.field() == entry_field::value)
      value = message.text();
  }
  if (key == "location") tensor.location = value;
  if (key == "offset") tensor.offset = value;
  if (key == "length") tensor.length = value;
}

DataType known_type(std::int64_t element_type) {
  if (const auto type = data_type_of(element_type)) return *type;
  refuse("it is " + name_of_type(element_type) + ", a type that DirectML does not have",
         ErrorKind::unavailable);
}

Sizes checked_sizes(const std::vector<std::int64_t>& written) {
  Sizes sizes;
  for (const std::int64_t size : written) {
    if (size < 0) refuse("it has the size " + std::to_string(size) + ", must be at least 0");
    sizes.push_back(static_cast<std::uint64_t>(size));
  }
  if (!element_count(sizes)) refuse("it has more elements than 64 bits can count");
  return sizes;
}

template <typename T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

void append_integer(std::vector<std::byte>& bytes, DataType type, std::int64_t value) {
  const std::size_t size = size_of(type);
  const auto* first = reinterpret_cast<const std::byte*>(&value);  // little-endian
  bytes.insert(bytes.end(), first, first + size);
}

/// Elements that stand as numbers in the message: float_data, int32_data and so on.
class WrittenNumbers {
 public:
  WrittenNumbers(const Tensor& tensor, DataType type, std::uint64_t count)
      : message_(tensor.message, tensor.message), type_(type), count_(count) {}

  std::vector<std::byte> bytes() {
    if (count_ > written_elements_max)
      refuse("it has " + std::to_string(count_) + " elements as numbers, must have at most " +
                 std::to_string(written_elements_max) + "; write them as raw_data",
             ErrorKind::unavailable);
    most_ = has_4_bits(type_) ? (count_ + 1) / 2 : count_;
    while (message_.next()) read_field();
    if (found_ != most_)
      refuse("it has " + counted(found_, "value") + ", must have " + std::to_string(most_));
    return std::move(bytes_);
  }

 private:
  void read_field() {
    const auto most = static_cast<std::size_t>(most_ - found_);
    switch (message_.field()) {
      case tensor_field::floats: {
        std::vector<float> list;
        message_.add_floats(list, most);
        if (type_ != DataType::Float32) refuse_field();
        for (const float number : list) append(bytes_, number);
        found_ += list.size();
        return;
      }
      case tensor_field::doubles: {
        std::vector<double> list;
        message_.add_doubles(list, most);
        if (type_ != DataType::Float64) refuse_field();
        for (const double number : list) append(bytes_, number);
        found_ += list.size();
        return;
      }
      case tensor_field::int32s:
      case tensor_field::int64s:
      case tensor_field::uint64s: {
        std::vector<std::int64_t> list;
        message_.add_integers(list, most);
        if (type_ == DataType::Float32 || type_ == DataType::Float64) refuse_field();
        for (const std::int64_t number : list) append_integer(bytes_, type_, number);
        found_ += list.size();
        return;
      }
      default:
        return;
    }
  }

  [[noreturn]] void refuse_field() const {
    refuse("field " + std::to_string(message_.field()) + " does not hold values of " +
           std::string(dmlop::name_of(type_)));
  }

  Message message_;
  DataType type_;
  std::uint64_t count_;
  std::uint64_t most_ = 0;
  std::uint64_t found_ = 0;
  std::vector<std::byte> bytes_;
};

/// A part of a file beside the model.
void map_external(const Tensor& tensor, const std::string& path,
                  const SharedConfinement& confinement, std::uint64_t needed, TensorData& data) {
  const std::string location(tensor.location);
  if (location.empty()) refuse("its external data has no location");
  if (path.empty()) refuse("it has external data, which only initializers have");
  if (const PathProblem problem = Confinement::beside(path).problem_of_text(location))
    refuse("its external data \"" + printable(location) + "\" " + problem.what + " (" +
           problem.remedy + ")");
  data.path = to_text(to_path(path).parent_path() / to_path(location));
  const auto file = with_context("reading " + data.path, [&] {
    const PinnedFile pinned(
        confinement ? confinement : std::make_shared<const Confinement>(Confinement::beside(path)),
        data.path);
    return std::make_shared<const InputFile>(InputFile::open(pinned));
  });
  const std::uint64_t there = file->bytes().size();
  const std::uint64_t offset = number_of(tensor.offset, "offset", 0);
  const std::uint64_t length = number_of(tensor.length, "length", needed);
  if (length != needed)
    refuse("its external data has " + counted(length, "byte") + ", must have " +
           std::to_string(needed));
  if (offset > there || there - offset < needed)
    refuse("its external data ends at byte " +
           std::to_string(checked_add(offset, needed).value_or(~std::uint64_t{0})) + ", but " +
           data.path + " has " + std::to_string(there));
  data.bytes =
      file->bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(needed));
  data.file = file;
  data.owner = file;
}

}  // namespace

std::optional<DataType> data_type_of(std::int64_t element_type) {
  for (const TypeRow& row : type_rows) {
    if (row.number == element_type) return row.type;
  }
  return std::nullopt;
}

std::string name_of_type(std::int64_t element_type) {
  for (const TypeRow& row : type_rows) {
    if (row.number == element_type) return row.name;
  }
  return "of type " + std::to_string(element_type);
}

Tensor tensor_of(Message message) {
  Tensor tensor;
  tensor.message = message.all();
  std::int64_t location = 0;
  while (message.next()) {
    switch (message.field()) {
      case tensor_field::name:
        tensor.name = message.text();
        break;
      case tensor_field::element_type:
        tensor.element_type = message.integer();
        break;
      case tensor_field::sizes:
        message.add_integers(tensor.sizes, tensor_dimensions_max);
        break;
      case tensor_field::raw:
        tensor.raw = message.bytes();
        break;
      case tensor_field::location:
        location = message.integer();
        break;
      case tensor_field::external:
        read_external(message.message(), tensor);
        break;
      default:
        break;
    }
  }
  tensor.is_external = location == 1;
  return tensor;
}

namespace {

void add_locations(const OnnxGraph& graph, std::set<std::string_view>& locations) {
  for (const Tensor& tensor : graph.initializers) {
    if (tensor.is_external) locations.insert(tensor.location);
  }
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      if (attribute.graph) add_locations(*attribute.graph, locations);
    }
  }
}

}  // namespace

std::vector<std::string> external_files(const OnnxModel& model) {
  std::set<std::string_view> locations;
  add_locations(model, locations);
  std::set<std::string> files;
  for (const std::string_view location : locations)
    files.insert(to_text(to_path(model.path).parent_path() / to_path(std::string(location))));
  return {files.begin(), files.end()};
}

std::uint64_t bytes_of(DataType type, std::uint64_t count) {
  if (has_4_bits(type)) return count / 2 + count % 2;
  const auto bytes = checked_multiply(count, std::uint64_t{size_of(type)});
  if (!bytes) refuse("it has more bytes than 64 bits can count");
  return *bytes;
}

TensorData data_of(const Tensor& tensor, const std::string& path,
                   const std::shared_ptr<const InputFile>& file,
                   const SharedConfinement& confinement) {
  TensorData data{
      .type = known_type(tensor.element_type),
      .is_boolean = tensor.element_type == static_cast<std::int64_t>(ElementType::boolean),
      .sizes = checked_sizes(tensor.sizes),
      .bytes = {},
      .owner = {},
      .file = {},
      .path = path};
  const std::uint64_t needed = bytes_of(data.type, data.count());
  if (tensor.is_external) {
    map_external(tensor, path, confinement, needed, data);
    return data;
  }
  if (tensor.raw) {
    if (tensor.raw->size() != needed)
      refuse("its raw_data has " + counted(tensor.raw->size(), "byte") + ", must have " +
             std::to_string(needed));
    data.bytes = *tensor.raw;
    data.file = file;
    data.owner = file;
    return data;
  }
  const auto numbers = std::make_shared<const std::vector<std::byte>>(
      WrittenNumbers(tensor, data.type, data.count()).bytes());
  data.bytes = *numbers;
  data.owner = numbers;
  return data;
}

TensorData read_tensor_file(const std::string& path, const SharedConfinement& confinement) {
  return with_context("reading " + path, [&] {
    const auto file =
        std::make_shared<const InputFile>(InputFile::open(PinnedFile(confinement, path)));
    return file->read_intact([&](std::span<const std::byte> bytes) {
      const Tensor tensor = tensor_of(Message(bytes, bytes));
      if (tensor.element_type == 0) refuse("this is not a TensorProto");
      return data_of(tensor, path, file, {});
    });
  });
}

TensorData read_npy_file(const std::string& path, const SharedConfinement& confinement,
                         const std::optional<RawForm>& form) {
  const NpyFile npy = with_context("reading " + path, [&] {
    const PinnedFile file(confinement, path);
    return form ? NpyFile::open_raw(file, *form) : NpyFile::open(file, EmptyArrays::allowed);
  });
  const NpyHeader& header = npy.header();
  std::vector<std::byte> bytes(npy.data().size());
  copy_elements(Elements(npy), bytes.data());
  require_intact(npy, path);
  TensorData data = data_of_elements(header.data_type, header.sizes, std::move(bytes));
  data.path = path;
  return data;
}

TensorData data_of_elements(DataType type, Sizes sizes, std::vector<std::byte> elements) {
  if (!has_4_bits(type)) return new_data(type, std::move(sizes), std::move(elements));
  if (const auto beyond = first_beyond_4_bits(type, elements))
    throw Error(ErrorKind::invalid_input, "element " + std::to_string(*beyond) + " is " +
                                              element_text(stored_as(type), &elements[*beyond]) +
                                              ", which does not fit " + std::string(name_of(type)));
  return new_data(type, std::move(sizes), packed_4_bits(elements));
}

TensorData new_data(DataType type, Sizes sizes, std::vector<std::byte> bytes) {
  const auto shared = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {.type = type,
          .is_boolean = false,
          .sizes = std::move(sizes),
          .bytes = *shared,
          .owner = shared,
          .file = {},
          .path = {}};
}

}  // namespace dmlop::onnx
