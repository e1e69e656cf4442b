#include "job/random_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string_view>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "ops/operator.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

constexpr std::uint64_t bytes_made_at_once = std::uint64_t{1} << 20;

using Ranges = std::vector<NumberRange>;

/// An input of a description.
struct BenchInput {
  const Description& description;
  const TensorDesc& desc;

  const Sizes& sizes_of(const char* tensor) const { return description.tensor(tensor).sizes; }
  std::size_t unsigned_of(const char* field) const {
    return static_cast<std::size_t>(description.integer(field));
  }
  bool is_float() const { return is_floating(*desc.data_type); }
};

NumberRange below(std::uint64_t size) {
  return {0, static_cast<double>(std::max<std::uint64_t>(size, 1) - 1)};
}

Ranges along_axis(const BenchInput& input) {
  return {below(input.sizes_of("InputTensor")[input.unsigned_of("Axis")])};
}

Ranges along_output_axis(const BenchInput& input) {
  return {below(input.sizes_of("OutputTensor")[input.unsigned_of("Axis")])};
}

/// Coordinates in the last dimensions of the input, behind those of batches.
Ranges coordinates(const BenchInput& input) {
  const Sizes& sizes = input.sizes_of("InputTensor");
  const Field* batches = input.description.find("BatchDimensionCount");
  const std::size_t first = sizes.size() - input.unsigned_of("InputDimensionCount") +
                            (batches == nullptr ? 0 : input.unsigned_of("BatchDimensionCount"));
  Ranges ranges;
  for (std::size_t i = 0; i < input.desc.sizes.back(); ++i)
    ranges.push_back(below(sizes[first + i]));
  return ranges;
}

Ranges places_in_output(const BenchInput& input) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : input.sizes_of("OutputTensor")) count *= size;
  return {below(count)};
}

Ranges lengths(const BenchInput& input) {
  const bool has_axis = input.description.find("Axis") != nullptr;
  const Sizes& sizes = input.sizes_of("InputTensor");
  return {{1, static_cast<double>(sizes[has_axis ? input.unsigned_of("Axis") : 1])}};
}

/// All earlier keys count.
Ranges lengths_of_past(const BenchInput& input) {
  const TensorDesc* past = input.description.find_tensor("PastKeyTensor");
  const double rows = past == nullptr ? 0 : static_cast<double>(past->sizes.end()[-2]);
  return {{rows, rows}};
}

/// The images that regions lie in: the input or, where a gradient goes without it, its gradient.
const Sizes& images(const BenchInput& input) {
  const TensorDesc* tensor = input.description.find_tensor("InputTensor");
  return tensor != nullptr ? tensor->sizes : input.sizes_of("OutputGradientTensor");
}

Ranges images_of_batch(const BenchInput& input) {
  return {below(images(input)[0])};
}

/// Upper left corners in one half of the image, lower right ones in the other.
Ranges regions(const BenchInput& input) {
  const bool has_batch = input.description.find("SpatialScale") != nullptr;
  const double scale_x = input.description.number(has_batch ? "SpatialScale" : "SpatialScaleX", 1);
  const double scale_y = input.description.number(has_batch ? "SpatialScale" : "SpatialScaleY", 1);
  const Sizes& sizes = images(input);
  const double width = static_cast<double>(sizes[3]) / scale_x;
  const double height = static_cast<double>(sizes[2]) / scale_y;
  Ranges ranges{{0, width / 2}, {0, height / 2}, {width / 2, width}, {height / 2, height}};
  if (has_batch) ranges.insert(ranges.begin(), {0, 0});
  return ranges;
}

/// Every key counts, by all types of masks.
Ranges mask(const BenchInput& input) {
  enum : std::int64_t { lengths_of_keys = 1, ends_and_starts = 2, starts_of_both = 3 };
  const auto size_of = [&](const char* field) {
    const TensorDesc* tensor = input.description.find_tensor(field);
    return tensor == nullptr ? 0.0 : static_cast<double>(tensor->sizes.end()[-2]);
  };
  const Sizes& output = input.sizes_of("OutputTensor");
  const auto queries = static_cast<double>(output.end()[-2]);
  const double new_keys = size_of("KeyTensor");
  const double keys = (new_keys != 0 ? new_keys : queries) + size_of("PastKeyTensor");
  const std::size_t batch = output.end()[-3];
  Ranges ranges(batch, {keys, keys});
  switch (input.description.integer("MaskType")) {
    case lengths_of_keys:
      return ranges;
    case ends_and_starts:
      ranges.resize(2 * batch, {0, 0});
      return ranges;
    case starts_of_both:
      for (const double step : {queries, keys}) {
        for (std::size_t i = 0; i <= batch; ++i) {
          const double start = step * static_cast<double>(i);
          ranges.push_back({start, start});
        }
      }
      return ranges;
    default:
      return {{0, 1}};
  }
}

Ranges shifts(const BenchInput& input) {
  return {below(8 * size_of(*input.desc.data_type))};
}

Ranges divisors(const BenchInput& input) {
  return {input.is_float() ? NumberRange{0.5, 2} : NumberRange{1, 100}};
}

Ranges exponents(const BenchInput& input) {
  return {input.is_float() ? NumberRange{-3, 3} : NumberRange{0, 4}};
}

/// Floats only; integers are any.
template <int low_tenths, int high_tenths>
Ranges floats(const BenchInput& input) {
  if (!input.is_float()) return {};
  return {{low_tenths / 10.0, high_tenths / 10.0}};
}

Ranges truths(const BenchInput&) {
  return {{0, 1}};
}
Ranges steps(const BenchInput&) {
  return {{1, 100}};
}
Ranges positive(const BenchInput&) {
  return {{0.5, 1.5}};
}

/// Weights of recurrent networks: so small that a state forgets, and a last bit does not grow
/// into a difference from step to step.
Ranges weights(const BenchInput& input) {
  const double most = 1 / std::sqrt(static_cast<double>(input.desc.sizes.back()));
  return {{-most, most}};
}

/// What the fields of operators hold. The first row that fits counts.
struct Row {
  std::string_view operator_name;  // also with a 1 behind it; "ACTIVATION_": how it begins
  const char* field;               // what its name contains
  Ranges (*ranges)(const BenchInput& input);
};
constexpr Row rows[] = {
    {"GATHER_ND", "IndicesTensor", coordinates},
    {"SCATTER_ND", "IndicesTensor", coordinates},
    {"GATHER", "IndicesTensor", along_axis},
    {"GATHER_ELEMENTS", "IndicesTensor", along_axis},
    {"SCATTER_ELEMENTS", "IndicesTensor", along_axis},
    {"ONE_HOT", "IndicesTensor", along_output_axis},
    {"MAX_UNPOOLING", "IndicesTensor", places_in_output},
    {"", "BatchIndicesTensor", images_of_batch},
    {"MULTIHEAD_ATTENTION", "PastSequenceLengthsTensor", lengths_of_past},
    {"", "SequenceLengthsTensor", lengths},
    {"", "ROITensor", regions},
    {"MULTIHEAD_ATTENTION", "MaskTensor", mask},
    {"ELEMENT_WISE_BIT_SHIFT_", "BTensor", shifts},
    {"ELEMENT_WISE_DIVIDE", "BTensor", divisors},
    {"ELEMENT_WISE_MODULUS_", "BTensor", divisors},
    {"ELEMENT_WISE_RECIP", "InputTensor", positive},
    {"ELEMENT_WISE_POW", "ExponentTensor", exponents},
    {"ELEMENT_WISE_POW", "InputTensor", floats<1, 100>},
    {"ELEMENT_WISE_CONSTANT_POW", "InputTensor", floats<1, 100>},
    {"ELEMENT_WISE_LOG", "InputTensor", floats<1, 1000>},
    {"ELEMENT_WISE_SQRT", "InputTensor", floats<0, 1000>},
    {"ELEMENT_WISE_ACOSH", "InputTensor", floats<10, 1000>},
    {"ELEMENT_WISE_SIN", "InputTensor", floats<-1000, 1000>},
    {"ELEMENT_WISE_COS", "InputTensor", floats<-100, 100>},
    {"ELEMENT_WISE_TAN", "InputTensor", floats<-1000, 1000>},
    {"ELEMENT_WISE_LOGICAL_AND", "Tensor", truths},
    {"ELEMENT_WISE_LOGICAL_OR", "Tensor", truths},
    {"ELEMENT_WISE_LOGICAL_XOR", "Tensor", truths},
    {"ELEMENT_WISE_LOGICAL_NOT", "Tensor", truths},
    {"", "ConditionTensor", truths},
    {"NONZERO_COORDINATES", "InputTensor", truths},
    {"CAST", "InputTensor", floats<-1000, 1000>},
    {"ACTIVATION_", "InputTensor", floats<-80, 80>},
    {"ELEMENT_WISE_EXP", "InputTensor", floats<-80, 80>},
    {"ELEMENT_WISE_ERF", "InputTensor", floats<-40, 40>},
    {"CUMULATIVE_PRODUCT", "InputTensor", floats<9, 11>},
    {"REDUCE", "InputTensor", floats<5, 15>},
    {"RNN", "WeightTensor", weights},
    {"RNN", "RecurrenceTensor", weights},
    {"GRU", "WeightTensor", weights},
    {"GRU", "RecurrenceTensor", weights},
    {"LSTM", "WeightTensor", weights},
    {"LSTM", "RecurrenceTensor", weights},
    {"", "ScaleTensor", positive},
    {"", "VarianceTensor", positive},
    {"", "SecondMomentTensor", positive},
    {"", "TrainingStepTensor", steps},
};

bool is_about(const Row& row, std::string_view name) {
  const std::string_view begin = row.operator_name;
  if (begin.empty() || begin.ends_with('_')) return name.starts_with(begin);
  return name == begin || (name.starts_with(begin) && name.substr(begin.size()) == "1");
}

bool is_scale(const FieldSpec& field, std::optional<std::size_t> element) {
  return field.name == "QuantizationTensors" && element == 0;
}

/// The normal distribution as a sum of evenly spread numbers, which is the same on all machines.
/// None is further than this from 0.
constexpr double normal_most = 6;

double normal_number(std::mt19937_64& random) {
  constexpr int count = static_cast<int>(2 * normal_most);
  double sum = -normal_most;
  for (int i = 0; i < count; i += 2) {
    const std::uint64_t bits = random();
    sum += static_cast<double>(bits >> 32) * 0x1p-32;
    sum += static_cast<double>(bits & 0xFFFFFFFFU) * 0x1p-32;
  }
  return sum;
}

/// Writes one element of a type.
class MadeUp {
 public:
  MadeUp(DataType type, const Ranges& ranges, bool is_normal = false)
      : type_(type), ranges_(ranges), is_normal_(is_normal) {}

  void write(std::byte* to, std::uint64_t index, std::mt19937_64& random) const {
    if (is_normal_) {
      put_float(to, normal_number(random));
      return;
    }
    const std::uint64_t bits = random();
    if (is_floating(type_)) {
      write_float(to, index, static_cast<double>(bits >> 11) * 0x1p-53);
    } else {
      const std::uint64_t integer = ranges_.empty() ? bits : integer_of(index, bits);
      std::memcpy(to, &integer, size_of(type_));
    }
  }

 private:
  const NumberRange& range(std::uint64_t index) const { return ranges_[index % ranges_.size()]; }

  std::uint64_t integer_of(std::uint64_t index, std::uint64_t bits) const {
    const auto low = static_cast<std::int64_t>(std::ceil(range(index).low));
    const auto high = static_cast<std::int64_t>(range(index).high);
    return static_cast<std::uint64_t>(low) + bits % static_cast<std::uint64_t>(high - low + 1);
  }

  void write_float(std::byte* to, std::uint64_t index, double unit) const {
    const auto [low, high] = ranges_.empty() ? NumberRange{-1, 1} : range(index);
    put_float(to, low + (high - low) * unit);
  }

  void put_float(std::byte* to, double number) const {
    std::memcpy(to, element_from(type_, number).data(), size_of(type_));
  }

  DataType type_;
  const Ranges& ranges_;
  bool is_normal_;
};

void fill(std::span<std::byte> bytes, const MadeUp& made_up, std::size_t size, std::uint64_t seed,
          unsigned threads) {
  parallel_for(threads, divided_up(bytes.size(), bytes_made_at_once),
               [&](unsigned, std::uint64_t part) {
                 std::mt19937_64 random(seed + part);
                 const std::uint64_t end =
                     std::min<std::uint64_t>(bytes.size(), (part + 1) * bytes_made_at_once);
                 for (std::uint64_t at = part * bytes_made_at_once; at < end; at += size)
                   made_up.write(&bytes[at], at / size, random);
               });
}

// A seed for each field, so that two inputs are not the same numbers.
std::uint64_t seed_of(std::uint64_t seed, const std::string& field,
                      std::optional<std::size_t> element) {
  constexpr std::uint64_t prime = 0x100000001B3;
  std::uint64_t mixed = 0xCBF29CE484222325;
  for (const char c : field) mixed = (mixed ^ static_cast<unsigned char>(c)) * prime;
  mixed = (mixed ^ (element ? *element + 1 : 0)) * prime;
  return (mixed ^ seed) * prime;
}

// Normal numbers are floats of any size.
void refuse_normal(const Ranges& ranges, DataType type, const std::string& name) {
  const std::string remedy = ": write {\"random\": \"uniform\"}, or name a file";
  if (!is_floating(type))
    throw Error(ErrorKind::invalid_input, name + " is " + std::string(name_of(type)) +
                                              ", and normal numbers are floats" + remedy);
  for (const NumberRange& range : ranges) {
    if (range.low <= -normal_most && range.high >= normal_most) continue;
    throw Error(ErrorKind::invalid_input, name + " holds numbers from " + shortest_text(range.low) +
                                              " to " + shortest_text(range.high) +
                                              " if they are made up, and normal numbers lie " +
                                              "outside" + remedy);
  }
}

}  // namespace

std::vector<NumberRange> random_ranges(const Description& description, const FieldSpec& field,
                                       std::optional<std::size_t> element) {
  const BenchInput input{description, *description.find_tensor(field.name, element)};
  if (is_scale(field, element)) return positive(input);
  for (const Row& row : rows) {
    if (!is_about(row, description.spec->name) || field.name.find(row.field) == std::string::npos)
      continue;
    return row.ranges(input);
  }
  const DataType type = *input.desc.data_type;
  if (!has_4_bits(type)) return {};
  return {{element_value(type, lowest_element(type).data()),
           element_value(type, highest_element(type).data())}};
}

NpyFile random_file(const Description& description, const FieldSpec& field,
                    std::optional<std::size_t> element, const RandomNumbers& numbers) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  const TensorDesc& desc = *description.find_tensor(field.name, element);
  const std::string name = to_text(Place{{field.name}, element});
  const DataType type = *desc.data_type;
  const Ranges ranges = random_ranges(description, field, element);
  if (numbers.is_normal) refuse_normal(ranges, type, name);
  const std::uint64_t count = *reached_elements(desc.sizes, input_strides(desc));
  if (count > most_bytes / size_of(type))
    throw Error(ErrorKind::invalid_input, name + " has more than " + std::to_string(most_bytes) +
                                              " bytes, too many to make up: name a file");
  Buffer elements(count * size_of(type), "made-up numbers");
  fill(elements.bytes(), MadeUp(type, ranges, numbers.is_normal), size_of(type),
       seed_of(numbers.seed, field.name, element), hardware_threads());
  return NpyFile::holding(stored_as(type), desc.strides ? Sizes{count} : desc.sizes,
                          std::move(elements));
}

Bytes bench_input(const Description& description, const FieldSpec& field,
                  std::optional<std::size_t> element, std::uint64_t seed, unsigned threads) {
  const TensorDesc& desc = *description.find_tensor(field.name, element);
  const std::size_t size = size_of(*desc.data_type);
  const Ranges ranges = random_ranges(description, field, element);
  Bytes bytes = bench_bytes(*reached_elements(desc.sizes, input_strides(desc)) * size);
  fill(bytes, MadeUp(*desc.data_type, ranges), size, seed, threads);
  return bytes;
}

}  // namespace dmlop
