// Kernels that move data, on a GPU: sizes that reach each path of a kernel, single kernels against
// the CPU. The operators' own tests say what the results must be.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "gpu/dispatch.hpp"
#include "gpu_device.hpp"
#include "job/backend.hpp"
#include "job/host_plan.hpp"
#include "random.hpp"
#include "reference/number.hpp"
#include "sweep.hpp"
#include "tensor/element.hpp"
#include "types.hpp"

namespace dmlop::test::moves_on_gpu_test {
namespace {

using Bytes = std::vector<std::byte>;

const std::vector<DataType> index_types{DataType::UInt32, DataType::Int32, DataType::UInt64,
                                        DataType::Int64};

Bytes random_bytes(std::uint64_t count, Random& random) {
  Bytes bytes(count);
  random.fill(bytes);
  return bytes;
}

template <typename T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Indices of a type, some of which are beyond `extent`.
Bytes random_indices(DataType type, std::uint64_t count, std::uint64_t extent, Random& random) {
  Bytes bytes(count * size_of(type));
  for (std::uint64_t i = 0; i < count; ++i) {
    auto index = static_cast<std::int64_t>(random.below(extent + extent / 8 + 1));
    if (random.one_in(4)) index = -index;
    std::memcpy(&bytes[i * size_of(type)], &index, size_of(type));
  }
  return bytes;
}

/// A plan of one kernel.
Plan plan_of(const Kernel& kernel, const std::vector<Bytes>& inputs) {
  Plan plan;
  Pass pass{kernel, {}, {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    pass.reads.push_back(plan.slots.size());
    plan.slots.push_back({SlotKind::input, "Input", i, inputs[i].size(), 1});
  }
  pass.writes.push_back(plan.slots.size());
  plan.slots.push_back(
      {SlotKind::output, "Output", {}, output_elements(kernel), output_element_size(kernel)});
  plan.passes.push_back(std::move(pass));
  return plan;
}

dmlop::Backend& backend() {
  static dmlop::Backend backend(open_gpu());
  return backend;
}

// Which NaN a kernel computes depends on the device. (What is moved is compared as integers.)
void make_nan_alike(DataType type, Bytes& elements) {
  if (info(type).kind != NumberKind::floating) return;
  const Bytes nan = element(type, std::nan(""));
  for (std::size_t at = 0; at < elements.size(); at += nan.size()) {
    if (std::isnan(element_value(type, &elements[at])))
      std::copy(nan.begin(), nan.end(), &elements[at]);
  }
}

/// Runs a kernel on the GPU and on the CPU. Elements of `type` may differ by `ulp`; any NaN equals
/// any other.
void check_like_cpu(const Kernel& kernel, const std::vector<Bytes>& inputs, DataType type,
                    std::uint64_t ulp = 0) {
  if (!has_gpu()) return;
  REQUIRE(gpu::make_dispatches(kernel).refusal == "");
  const Plan plan = plan_of(kernel, inputs);
  std::vector<std::span<const std::byte>> spans(inputs.begin(), inputs.end());
  spans.emplace_back();
  Bytes expected(plan.slots.back().bytes()), found(expected.size(), std::byte{0xA5});
  const auto sink_to = [](Bytes& to) {
    return [&to](std::size_t, std::uint64_t offset, std::span<const std::byte> part) {
      std::copy(part.begin(), part.end(), to.begin() + static_cast<std::ptrdiff_t>(offset));
    };
  };
  run_on_host(plan, spans, 1, sink_to(expected));
  const Execution execution = backend().execute(plan, spans, {}, sink_to(found));
  CHECK(execution.notice == "");
  make_nan_alike(type, expected);
  make_nan_alike(type, found);
  CHECK(difference(type, found, expected, ulp) == "");
}

DataType bits_of_size(std::uint64_t size) {
  return size == 1   ? DataType::UInt8
         : size == 2 ? DataType::UInt16
         : size == 4 ? DataType::UInt32
                     : DataType::UInt64;
}

TEST_CASE("GPU: up to 20 tensors are joined, whatever their rows are") {
  Random random(601);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t size = random.one_of<std::uint64_t>({1, 2, 4, 8});
    JoinKernel kernel{.parts = {}, .outer = random.from_to(1, 6)};
    std::vector<Bytes> inputs;
    const bool has_long_rows = random.one_in(2);
    for (std::uint64_t p = random.from_to(1, 20); p > 0; --p) {
      const std::uint64_t run = random.from_to(1, has_long_rows ? 200 : 5);
      // Packed, or with every other element left out, or with gaps between rows.
      const std::uint64_t step = random.one_in(3) ? 2 : 1, gap = random.below(3);
      const std::uint64_t row = run * step + gap, offset = random.below(4);
      kernel.parts.push_back({.element_size = size,
                              .offset = static_cast<std::int64_t>(offset),
                              .axes = {{.extent = kernel.outer, .stride = std::int64_t(row)},
                                       {.extent = run, .stride = std::int64_t(step)}}});
      inputs.push_back(random_bytes((offset + kernel.outer * row) * size, random));
    }
    CAPTURE(size);
    CAPTURE(inputs.size());
    check_like_cpu(kernel, inputs, bits_of_size(size));
  }
}

TEST_CASE("GPU: gathered rows stand at any place of a word") {
  Random random(602);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t size = random.one_of<std::uint64_t>({1, 2, 4, 8});
    const std::uint64_t rows = random.from_to(1, 40), picked = random.from_to(1, 60);
    const std::uint64_t row = random.from_to(1, random.one_in(2) ? 4096 / size : 20);
    const GatherKernel kernel{.element_size = size,
                              .index = {.type = random.one_of(index_types)},
                              .axes = {{picked, {0, 1}}, {row, {1, 0}}},
                              .coordinates = {{rows, row, 0}}};
    CAPTURE(size);
    CAPTURE(row);
    check_like_cpu(kernel,
                   {random_bytes(rows * row * size, random),
                    random_indices(kernel.index.type, picked, rows, random)},
                   bits_of_size(size));
  }
}

TEST_CASE("GPU: scattered rows and elements, many of them to the same place") {
  Random random(603);
  for (int i = 0; i < 80; ++i) {
    const std::uint64_t size = random.one_of<std::uint64_t>({1, 2, 4, 8});
    const std::uint64_t outer = random.from_to(1, 3), places = random.from_to(1, 20);
    const std::uint64_t count = random.one_in(4) ? 1 : random.from_to(1, 200);
    const std::uint64_t row = random.from_to(1, random.one_in(2) ? 100 : 5);
    const bool shares_index = random.one_in(2);
    const std::uint64_t index = shares_index ? 0 : 1;  // stride of the indices along a row
    ScatterKernel kernel{.element_size = size,
                         .index = {random.one_of(index_types), LargeIndex::signed_low_bits}};
    kernel.outer = {{outer, {shares_index ? count : count * row, count * row, places * row}}};
    kernel.coordinates = {{places, row, 0}};
    kernel.updates = {{count, {shares_index ? 1 : row, row, 0}}};
    kernel.inner = {{row, {index, 1, 1}}};
    CAPTURE(size);
    CAPTURE(shares_index);
    check_like_cpu(kernel,
                   {random_bytes(outer * places * row * size, random),
                    random_indices(kernel.index.type, outer * count * (shares_index ? 1 : row),
                                   places, random),
                    random_bytes(outer * count * row * size, random)},
                   bits_of_size(size));
  }
}

/// FLOAT32 or FLOAT16 of any magnitude, or an infinity, NaN, zero or denormal.
std::array<std::byte, 8> random_number(DataType type, Random& random) {
  std::array<std::byte, 8> number{};
  std::uint64_t bits = random.below(std::uint64_t{1} << 32);
  if (type == DataType::Float32 && random.one_in(2)) bits = (bits & 0x81FFFFFF) | 0x3E000000;
  if (random.one_in(10)) bits &= type == DataType::Float32 ? 0x807FFFFF : 0x83FF;
  if (random.one_in(20)) bits = 0;
  std::memcpy(number.data(), &bits, size_of(type));
  return number;
}

TEST_CASE("GPU: sequences of numbers have the bits that the CPU gives them") {
  Random random(604);
  for (int i = 0; i < 300; ++i) {
    const DataType type = random.one_of(F2);
    SequenceKernel kernel{.data_type = type, .elements = random.from_to(1, 600)};
    kernel.start = random_number(type, random);
    kernel.delta = random_number(type, random);
    CAPTURE(type);
    check_like_cpu(kernel, {}, type, 0);
  }
}

TEST_CASE("GPU: bands of wide matrices, from an input that may be a single element") {
  Random random(605);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t size = random.one_of<std::uint64_t>({1, 2, 4, 8});
    const std::uint64_t batches = random.from_to(1, 3), rows = random.from_to(1, 20),
                        columns = random.from_to(1, 120);
    BandKernel kernel{.element_size = size, .is_inverted = random.one_in(2)};
    kernel.begin = static_cast<std::int64_t>(random.below(200)) - 100;
    kernel.end = kernel.begin + static_cast<std::int64_t>(random.below(100));
    kernel.rows = rows;
    kernel.has_input = true;
    kernel.lines = {{batches * rows, {columns}}};
    kernel.columns = {columns, {1}};
    if (random.one_in(4)) {
      kernel.lines = {{batches * rows, {0}}};
      kernel.columns = {columns, {0}};
    }
    if (random.one_in(4)) {
      kernel.lines = {{batches, {1}}, {rows, {batches}}};
      kernel.columns = {columns, {2}};
    }
    random.fill(std::span(kernel.value).first(size));
    const std::uint64_t elements = batches * (rows + 1) * 2 * (columns + 1);
    CAPTURE(size);
    check_like_cpu(kernel, {random_bytes(elements * size, random)}, bits_of_size(size));
  }
}

TEST_CASE("GPU: folds of windows that take several stages") {
  Random random(606);
  const Types types{DataType::Float32, DataType::Float16, DataType::Int8,
                    DataType::Int16,   DataType::UInt32,  DataType::Int64};
  for (const DataType type : types) {
    FoldAxis outer{.extent = 5, .start_padding = 10, .window = 13, .window_stride = 2, .places = 8};
    FoldAxis inner{
        .extent = 60, .start_padding = 600, .window = 650, .window_stride = 3, .places = 20};
    inner.place_stride = 1;
    outer.place_stride = inner.places;
    inner.element_stride = outer.places * inner.places;
    outer.element_stride = inner.element_stride * inner.window;
    const std::uint64_t columns = outer.element_stride * outer.window;
    const FoldKernel kernel{.data_type = type, .batches = {{2, {columns}}}, .axes = {outer, inner}};
    Tensor input = Tensor::packed(type, {2 * columns});
    random.fill(input.bytes);
    const bool is_float = info(type).kind == NumberKind::floating;
    if (is_float) {  // numbers near 1, so that sums of them are exact but for the last place
      const std::vector<float> near_one{1, -1.5F, 0.75F, 1.25F, 3};
      for (std::uint64_t at = 0; at < 2 * columns; ++at) {
        const Bytes number = element(type, random.one_of(near_one));
        std::copy(number.begin(), number.end(), input.at({at}));
      }
    }
    CAPTURE(type);
    CHECK(gpu::make_dispatches(kernel).dispatches.front().stages.size() > 1);
    check_like_cpu(kernel, {input.bytes}, type, is_float ? 1 : 0);
  }
}

TEST_CASE("GPU: rows of heads, with and without a bias and earlier rows") {
  Random random(607);
  const std::vector<float> some{1, -1.5F, 0.75F, 1.25F, 3};
  for (int i = 0; i < 60; ++i) {
    const DataType type = random.one_of(F2);
    const std::uint64_t batch = random.from_to(1, 3), heads = random.from_to(1, 3),
                        rows = random.from_to(1, 7), size = random.from_to(1, 9);
    HeadRowsKernel kernel{.output_type = random.one_of(F2),
                          .batch = batch,
                          .heads = heads,
                          .rows = rows,
                          .size = size};
    const auto numbers = [&](std::uint64_t count) {
      Bytes bytes;
      for (std::uint64_t k = 0; k < count; ++k) {
        const Bytes number = element(type, random.one_of(some));
        bytes.insert(bytes.end(), number.begin(), number.end());
      }
      return bytes;
    };
    // Rows of all heads stand side by side.
    kernel.input = {type, 2, heads * rows * size, size, heads * size, 1};
    std::vector<Bytes> inputs{numbers(2 + batch * heads * rows * size)};
    if (random.one_in(2)) {
      kernel.bias = AttentionInput{type, 1, 0, size, 0, 1};
      inputs.push_back(numbers(1 + heads * size));
    }
    if (random.one_in(2)) {
      kernel.past_rows = random.from_to(1, 5);
      kernel.rows += kernel.past_rows;
      kernel.past = AttentionInput{
          type, 0, heads * kernel.past_rows * size, kernel.past_rows * size, size, 1};
      inputs.push_back(numbers(batch * heads * kernel.past_rows * size));
    }
    check_like_cpu(kernel, inputs, kernel.output_type);
  }
}

TEST_CASE("GPU: elements that are not zero, in one block or several") {
  Random random(608);
  for (int i = 0; i < 40; ++i) {
    const DataType type = random.one_of(A11);
    const std::uint64_t size = size_of(type);
    const bool is_long = random.one_in(4);
    const std::uint64_t rows = random.from_to(1, 7),
                        columns = random.from_to(1, is_long ? 40000 : 300);
    const bool is_transposed = random.one_in(4);
    NonzeroCountKernel count{.data_type = type, .block = std::uint64_t{1} << 16};
    count.axes = {{rows * columns, {1}}};
    if (is_transposed) count.axes = {{rows, {1}}, {columns, {rows}}};
    Bytes input = random_bytes(rows * columns * size, random);
    const std::uint64_t one_stays = random.one_of<std::uint64_t>({1, 2, 40, 1000000});
    for (std::size_t at = 0; at < input.size(); at += size) {
      if (random.one_in(one_stays)) continue;
      std::fill_n(&input[at], size, std::byte{0});
      if (info(type).kind == NumberKind::floating) input[at + size - 1] = std::byte{0x80};
    }
    CAPTURE(type);
    check_like_cpu(count, {input}, DataType::UInt64);
    std::vector<std::uint64_t> sums(count.output_elements());
    const Plan plan = plan_of(count, {input});
    const std::vector<std::span<const std::byte>> spans{input, {}};
    run_on_host(
        plan, spans, 1, [&](std::size_t, std::uint64_t offset, std::span<const std::byte> part) {
          std::memcpy(reinterpret_cast<std::byte*>(sums.data()) + offset, part.data(), part.size());
        });
    for (std::size_t b = 1; b < sums.size(); ++b) sums[b] += sums[b - 1];
    NonzeroKernel kernel{.count = count, .extents = {rows, columns}};
    if (random.one_in(2)) kernel.extents = {1, rows, columns};
    check_like_cpu(kernel, {input, bytes_of(sums)}, DataType::UInt32);
  }
}

}  // namespace
}  // namespace dmlop::test::moves_on_gpu_test
