// The CPU kernels against memcpy of the same bytes on the same cores, taken in turns.
//
//   dmlop_cpu_bench [--benchmark_filter=REGEX] ...
//
// Every iteration runs the kernel, then memcpy; of_memcpy is the ratio of their shortest times,
// goal what it should be; of_memcpy_busy is the ratio of processor times, for machines that do
// other work meanwhile. Bytes are elements read once and outputs written once. Before it is
// measured a row is checked, on a small tensor, against tests/reference.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "base/parallel.hpp"
#include "cpu/execute.hpp"
#include "ops/operator.hpp"
#include "reference/lp_pooling.hpp"
#include "reference/padding.hpp"
#include "reference/reverse_subsequences.hpp"
#include "reference/slice1.hpp"
#include "spec/description.hpp"

namespace dmlop::test {
namespace {

const List large_shape{16, 4, 1024, 1024};  // elements of 4 bytes: 256 MiB
const List small_shape{2, 3, 19, 67};

using Clock = std::chrono::steady_clock;

/// Times of runs of the same work: of the clock, and of all cores together.
struct Times {
  std::vector<double> wall;
  std::vector<double> processor;

  void add(const std::function<void()>& action) {
    const auto begin = Clock::now();
    const std::clock_t processor_begin = std::clock();
    action();
    processor.push_back(static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC);
    wall.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
};

double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// Bytes that are there before anything is measured.
class Buffer {
 public:
  explicit Buffer(std::uint64_t size) : bytes_(new std::byte[size]), size_(size) {
    std::memset(bytes_.get(), 0, size);
  }
  std::byte* data() { return bytes_.get(); }
  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
  std::uint64_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::uint64_t size_;
};

/// A stream of random 64-bit words (splitmix64).
class Words {
 public:
  explicit Words(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Numbers between -2 and 2 for floating types, any bytes for others.
void randomize(DataType type, std::byte* bytes, std::uint64_t size) {
  // Clears the highest bit of each exponent but keeps the one below.
  const std::uint64_t mask = type == DataType::Float32   ? 0xBFFFFFFFBFFFFFFFULL
                             : type == DataType::Float16 ? 0xBFFFBFFFBFFFBFFFULL
                                                         : ~std::uint64_t{0};
  const std::uint64_t bits = type == DataType::Float32   ? 0x3000000030000000ULL
                             : type == DataType::Float16 ? 0x3000300030003000ULL
                                                         : 0;
  Words words(size);
  for (std::uint64_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = (words.next() & mask) | bits;
    std::memcpy(bytes + at, &word, std::min<std::uint64_t>(sizeof word, size - at));
  }
}

void randomize_lengths(std::uint64_t longest, std::byte* bytes, std::uint64_t size) {
  Words words(longest);
  for (std::uint64_t at = 0; at < size; at += sizeof(std::uint32_t)) {
    const auto length = static_cast<std::uint32_t>(words.next() % (longest + 1));
    std::memcpy(bytes + at, &length, sizeof length);
  }
}

struct Input {
  DataType type;
  List sizes;
};

/// One row of the table: a use of an operator and how fast it should be.
struct Row {
  std::string name;
  double goal = 0;
  std::vector<Input> inputs;
  std::uint64_t longest = 0;   // of the random lengths of a reversal
  bool reads_outputs = false;  // the elements read are as many as those written
  nlohmann::ordered_json description;
  std::function<Tensor(const std::vector<Tensor>&)> reference;
};

template <typename Operator>
Row row_of(const Operator& use, const std::vector<Input>& inputs) {
  Row row;
  row.inputs = inputs;
  nlohmann::ordered_json fields = use.fields();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    fields[Operator::inputs[i]] = {{"DataType", name_of(inputs[i].type)},
                                   {"Sizes", inputs[i].sizes}};
  }
  row.description = {{"type", Operator::name}, {"desc", fields}};
  row.reference = [use](const std::vector<Tensor>& tensors) { return use.result(tensors); };
  return row;
}

Kernel kernel_of(const nlohmann::ordered_json& description) {
  Diagnostics diagnostics;
  auto read = read_description("op.json", description.dump(), newest_feature_level, diagnostics);
  if (read) check_description(*read, diagnostics);
  if (!diagnostics.empty()) throw std::runtime_error(to_text(diagnostics.front()));
  return make_plan(*read).passes.at(0).kernel;
}

const std::vector<DataType> types_by_size{DataType::UInt8, DataType::UInt16, DataType::Float32,
                                          DataType::Float64};

/// The shape with its second size such that elements of this size fill the same bytes.
List shape_for(const List& shape, DataType type) {
  List sizes = shape;
  if (shape == large_shape) sizes[1] = sizes[1] * 4 / size_of(type);
  return sizes;
}

using Rows = std::vector<Row>;

void add(Rows& rows, std::string name, double goal, Row row) {
  row.name = std::move(name);
  row.goal = goal;
  rows.push_back(std::move(row));
}

std::string bytes_text(DataType type) {
  return ", " + std::to_string(size_of(type)) + "-byte";
}

void add_padding(Rows& rows, const List& shape) {
  for (const char* mode : {"CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP"}) {
    for (const DataType type : types_by_size) {
      const Padding padding{mode, {0, 0, 2, 3}, {0, 0, 4, 2}, 1};
      add(rows, std::string("PADDING ") + mode + bytes_text(type), 0.9,
          row_of(padding, {{type, shape_for(shape, type)}}));
    }
  }
}

void add_slice1(Rows& rows, const List& shape) {
  const auto add_slice = [&](const char* name, double goal, bool whole,
                             const std::vector<std::int64_t>& steps) {
    for (const DataType type : types_by_size) {
      const List sizes = shape_for(shape, type);
      List window = sizes;
      if (!whole) {
        window[2] -= 2;
        window[3] -= 6;
      }
      const List offsets = whole ? List{0, 0, 0, 0} : List{0, 0, 1, 3};
      Row row = row_of(Slice1{offsets, window, steps}, {{type, sizes}});
      row.reads_outputs = true;
      add(rows, std::string("SLICE1 ") + name + bytes_text(type), goal, std::move(row));
    }
  };
  add_slice("unit strides", 0.9, false, {1, 1, 1, 1});
  add_slice("last axis backwards", 0.8, false, {1, 1, 1, -1});
  add_slice("strides 2x2", 0.6, true, {1, 1, 2, 2});
}

void add_reversal(Rows& rows, const List& shape) {
  const auto add_axis = [&](const char* name, double goal, std::size_t axis) {
    for (const DataType type : types_by_size) {
      // Sequences of 16 where the axis is the second.
      List sizes = shape_for(shape, type);
      if (axis == 1 && shape == large_shape) sizes = {sizes[0] * sizes[1] / 16, 16, 1024, 1024};
      List lengths = sizes;
      lengths[axis] = 1;
      Row row = row_of(ReverseSubsequences{axis}, {{type, sizes}, {DataType::UInt32, lengths}});
      row.longest = sizes[axis];
      add(rows, std::string("REVERSE_SUBSEQUENCES ") + name + bytes_text(type), goal,
          std::move(row));
    }
  };
  add_axis("last axis", 0.8, 3);
  add_axis("axis 1", 0.9, 1);
}

void add_pooling(Rows& rows, const List& shape) {
  const auto add_window = [&](std::uint64_t window, std::uint64_t stride, std::uint64_t p,
                              double goal, DataType type) {
    const LpPooling pooling{.p = p,
                            .window = {window, window},
                            .strides = {stride, stride},
                            .start = {0, 0},
                            .end = {0, 0}};
    add(rows,
        "LP_POOLING window " + std::to_string(window) + " stride " + std::to_string(stride) +
            " P " + std::to_string(p) + (type == DataType::Float32 ? ", float32" : ", float16"),
        goal, row_of(pooling, {{type, shape_for(shape, type)}}));
  };
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const std::uint64_t p : {1U, 2U}) add_window(2, 2, p, 0.7, type);
  }
  add_window(3, 1, 2, 0.5, DataType::Float32);
  add_window(7, 1, 2, 0.3, DataType::Float32);
  add_window(3, 1, 3, 0.3, DataType::Float32);
  for (const std::uint64_t p : {4U, 5U, 1000U}) add_window(3, 1, p, 0, DataType::Float32);
  add_window(3, 1, 2, 0, DataType::Float16);
}

Rows all_rows(const List& shape) {
  Rows rows;
  add_padding(rows, shape);
  add_slice1(rows, shape);
  add_reversal(rows, shape);
  add_pooling(rows, shape);
  return rows;
}

void fill_input(const Row& row, std::size_t i, std::byte* bytes, std::uint64_t size) {
  if (i == 0) return randomize(row.inputs[0].type, bytes, size);
  randomize_lengths(row.longest, bytes, size);
}

// Within the 4 units in the last place that are promised of norms; the same bytes otherwise.
bool agrees(const Row& row, const Tensor& found, const Tensor& expected) {
  if (!row.name.starts_with("LP_POOLING")) return found == expected;
  const double tolerance = expected.type == DataType::Float16 ? 0x4p-11 : 0x4p-24;
  for (std::size_t at = 0; at < found.bytes.size(); at += found.element_size()) {
    const double a = number(found.type, &found.bytes[at]);
    const double b = number(expected.type, &expected.bytes[at]);
    if (!(std::abs(a - b) <= tolerance * std::abs(b))) return false;
  }
  return true;
}

void check(const Row& row) {
  std::vector<Tensor> tensors;
  std::vector<std::span<const std::byte>> spans;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    Tensor tensor = Tensor::packed(row.inputs[i].type, row.inputs[i].sizes);
    fill_input(row, i, tensor.bytes.data(), tensor.bytes.size());
    tensors.push_back(std::move(tensor));
  }
  for (const Tensor& tensor : tensors) spans.push_back(tensor.bytes);
  const Tensor expected = row.reference(tensors);
  Tensor found = Tensor::packed(expected.type, expected.sizes);
  cpu::execute_all(kernel_of(row.description), spans, hardware_threads(), found.bytes.data());
  if (!agrees(row, found, expected)) throw std::runtime_error(row.name + " is wrong");
}

// Every core copies a share of its own.
void copy(std::byte* to, const std::byte* from, std::uint64_t size) {
  const std::uint64_t threads = hardware_threads();
  const std::uint64_t share = (size + threads - 1) / threads;
  parallel_for(hardware_threads(), threads, [&](unsigned, std::uint64_t part) {
    const std::uint64_t begin = std::min(size, part * share);
    std::memcpy(to + begin, from + begin, std::min(share, size - begin));
  });
}

std::uint64_t elements_of(const Input& input) {
  std::uint64_t count = 1;
  for (const std::uint64_t size : input.sizes) count *= size;
  return count;
}

void measure(benchmark::State& state, const Row& row) {
  const Kernel kernel = kernel_of(row.description);
  const std::uint64_t output_bytes = output_elements(kernel) * output_element_size(kernel);
  std::vector<Buffer> inputs;
  std::vector<std::span<const std::byte>> spans;
  std::uint64_t input_bytes = 0;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    Buffer& buffer = inputs.emplace_back(elements_of(row.inputs[i]) * size_of(row.inputs[i].type));
    fill_input(row, i, buffer.data(), buffer.size());
    input_bytes += buffer.size();
    spans.push_back(buffer.bytes());
  }
  if (row.reads_outputs) input_bytes = output_bytes;
  const std::uint64_t bytes = input_bytes + output_bytes;
  Buffer output(std::max(output_bytes, bytes / 2));
  // Longer than the input where the output is: what is copied is of no matter.
  const std::uint64_t copied = std::min(bytes / 2, inputs[0].size());

  Times computed, memory;
  for ([[maybe_unused]] const auto _ : state) {
    computed.add([&] { cpu::execute_all(kernel, spans, hardware_threads(), output.data()); });
    memory.add([&] { copy(output.data(), inputs[0].bytes().data(), copied); });
    state.SetIterationTime(computed.wall.back());
  }
  // Bytes per second, as if both moved the bytes of the kernel.
  const double scale = static_cast<double>(bytes) / (2 * static_cast<double>(copied));
  const double kernel_seconds = least(computed.wall), memory_seconds = least(memory.wall) * scale;
  state.counters["GB_per_s"] = static_cast<double>(bytes) / kernel_seconds * 1e-9;
  state.counters["memcpy_GB_per_s"] = static_cast<double>(bytes) / memory_seconds * 1e-9;
  state.counters["of_memcpy"] = memory_seconds / kernel_seconds;
  state.counters["of_memcpy_busy"] = least(memory.processor) * scale / least(computed.processor);
  state.counters["goal"] = row.goal;
}

}  // namespace
}  // namespace dmlop::test

int main(int count, char** arguments) {
  using namespace dmlop::test;
  benchmark::Initialize(&count, arguments);
  for (const Row& row : all_rows(small_shape)) check(row);
  for (const Row& row : all_rows(large_shape)) {
    benchmark::RegisterBenchmark(row.name.c_str(), measure, row)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(15);
  }
  benchmark::RunSpecifiedBenchmarks();
}
