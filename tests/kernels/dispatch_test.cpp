// From plans to kernel launches (gpu/dispatch.hpp): names, constants and thread groups.
#include "gpu/dispatch.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "built_kernels.hpp"
#include "gpu/kernels/parameters.hpp"
#include "gpu/steps.hpp"
#include "gpu_device.hpp"
#include "norm_windows.hpp"
#include "ops/operator.hpp"
#include "spec/description.hpp"

namespace dmlop::test::dispatch_test {
namespace {

using gpu::kernels::uint;
using gpu::kernels::uint4;
#include "../../shaders/parameters/index_map.hlsli"
#include "../../shaders/parameters/reverse_columns.hlsli"
#include "../../shaders/parameters/transpose.hlsli"
#include "../../shaders/parameters/window_norm.hlsli"

gpu::Dispatch make_dispatch(const Kernel& kernel) {
  const gpu::Dispatches made = gpu::make_dispatches(kernel);
  REQUIRE(made.refusal == "");
  REQUIRE(made.dispatches.size() == 1);
  return made.dispatches.front();
}

using Words = std::vector<std::uint32_t>;

/// The numbers of a struct of shaders/parameters/.
template <typename Struct>
Struct numbers(const Words& words) {
  Struct read;
  REQUIRE(words.size() * 4 == sizeof read);
  std::memcpy(&read, words.data(), sizeof read);
  return read;
}

Words words(const uint4& row) {
  return {row.x, row.y, row.z, row.w};
}

constexpr std::uint32_t negative(std::uint32_t value) {
  return ~value + 1;
}

TEST_CASE("dispatch: every kernel that a kernel can need is built") {
  CHECK(kernels_of_dispatches().size() >= 4 * 5 * 8 - 4 + 8);
  for (const std::string& name : kernels_of_dispatches()) {
    CAPTURE(name);
    CHECK(has_kernel(name.substr(0, name.find(' '))));
  }
  CHECK(has_kernel(gpu::copy_dispatch(64).kernel));
  CHECK_FALSE(has_kernel("index_map_3_0"));
}

TEST_CASE("dispatch: an index map's name and constants") {
  IndexMapKernel kernel{.element_size = 2, .offset = 9};
  kernel.axes = {{.extent = 5, .stride = -7},
                 {.extent = 6,
                  .stride = 1,
                  .boundary = Boundary::edge,
                  .start_padding = 2,
                  .input_extent = 3}};
  kernel.fill = {std::byte{0x34}, std::byte{0x12}};
  const gpu::Dispatch dispatch = make_dispatch(kernel);
  CHECK(dispatch.kernel == "index_map_2_1");  // runs
  CHECK(dispatch.specialization == Words{2, 2, 0, 4});
  const auto constants = numbers<IndexMapConstants>(dispatch.constants);
  CHECK(constants.elements == 30);
  CHECK(constants.offset == 9 + gpu::slack_bytes / 2);
  CHECK(constants.rank == 2);
  CHECK(constants.fill_low == 0x1234);
  CHECK(words(constants.axis0) == Words{5, negative(7), 0, 5});
  CHECK(words(constants.axis1) == Words{6, 1, 2, 3});
  CHECK(dispatch.parameters.empty());
  CHECK(dispatch.loads_around);
  CHECK(dispatch.inputs == std::vector<std::size_t>{0});
}

TEST_CASE("dispatch: a reversal's axis, lengths and kernel") {
  IndexMapKernel kernel{.element_size = 8};
  kernel.axes = {{.extent = 3, .stride = 4, .lengths_stride = 1}, {.extent = 4, .stride = 1}};
  kernel.reversal = Reversal{1, DataType::UInt64};
  gpu::Dispatch dispatch = make_dispatch(kernel);
  CHECK(dispatch.kernel == "index_map_8_1");
  CHECK(dispatch.specialization == Words{0, 2, 1, 4});
  auto constants = numbers<IndexMapConstants>(dispatch.constants);
  CHECK(constants.length_words == 2);
  CHECK(constants.reversed_axis == 1);
  CHECK(words(constants.axis4) == Words{1, 0, 0, 0});
  CHECK(dispatch.inputs == std::vector<std::size_t>{0, 1});
  kernel.reversal = Reversal{0, DataType::UInt32};
  kernel.axes[1].stride = 2;
  dispatch = make_dispatch(kernel);
  CHECK(dispatch.kernel == "index_map_8_0");  // elements
  CHECK(dispatch.specialization == Words{0, 2, 2, 1});
  constants = numbers<IndexMapConstants>(dispatch.constants);
  CHECK(constants.length_words == 1);
  CHECK(constants.reversed_axis == 0);
}

/// A packed tensor of bytes, reversed along the axis before the last one.
IndexMapKernel reversed_columns(std::uint64_t outer, std::uint64_t rows, std::uint64_t width) {
  IndexMapKernel kernel{.element_size = 1};
  const auto stride = static_cast<std::int64_t>(width);
  kernel.axes = {{.extent = outer,
                  .stride = static_cast<std::int64_t>(rows) * stride,
                  .lengths_stride = width},
                 {.extent = rows, .stride = stride},
                 {.extent = width, .stride = 1, .lengths_stride = 1}};
  kernel.reversal = Reversal{1, DataType::UInt64};
  return kernel;
}

TEST_CASE("dispatch: threads move columns of words where words of an input stand below words") {
  IndexMapKernel kernel = reversed_columns(3, 5, 2 * 4 * 256 + 4);
  const gpu::Dispatch dispatch = make_dispatch(kernel);
  CHECK(dispatch.kernel == "reverse_columns_staged");
  CHECK(dispatch.specialization == Words{1, 5});
  const auto constants = numbers<ReverseColumnsConstants>(dispatch.constants);
  CHECK(constants.length_words == 2);
  CHECK(constants.offset == gpu::slack_bytes / 4);
  CHECK(constants.columns == 513);
  CHECK(constants.rows == 5);
  CHECK(constants.thread_rows == 5);
  CHECK(constants.parts == 1);
  CHECK(constants.row_stride == 513);
  CHECK(constants.block_columns == 171);
  CHECK(constants.blocks == 3);
  CHECK(constants.length_stride == 1);
  CHECK(words(constants.outermost) == Words{1, 0, 0, 0});
  CHECK(words(constants.outer) == Words{3, 5 * 513, 2052, 0});
  REQUIRE(dispatch.stages.size() == 1);
  CHECK(dispatch.stages[0].end == 3 * 513);

  const auto is_by_columns = [](const IndexMapKernel& changed) {
    return make_dispatch(changed).kernel.starts_with("reverse_columns");
  };
  CHECK_FALSE(is_by_columns(reversed_columns(3, 5, 2050)));  // rows begin within words
  kernel.offset = 2;
  CHECK_FALSE(is_by_columns(kernel));
  kernel.element_size = 2;
  CHECK(is_by_columns(kernel));
  kernel.axes[2].stride = 2;
  CHECK_FALSE(is_by_columns(kernel));
}

TEST_CASE("dispatch: threads keep whole columns of up to 16 words") {
  constexpr std::uint64_t many = 1 << 20;
  CHECK(make_dispatch(reversed_columns(1, 16, many)).kernel == "reverse_columns_staged");
  CHECK(make_dispatch(reversed_columns(1, 16, many)).specialization == Words{1, 16});
  CHECK(make_dispatch(reversed_columns(1, 17, many)).kernel == "reverse_columns");
  // Few columns are shared by several threads.
  CHECK(make_dispatch(reversed_columns(1, 16, 2048)).kernel == "reverse_columns");
}

TEST_CASE("dispatch: long columns of words are shared by several threads") {
  const auto parts = [](const IndexMapKernel& kernel) {
    const gpu::Dispatch dispatch = make_dispatch(kernel);
    const auto constants = numbers<ReverseColumnsConstants>(dispatch.constants);
    CHECK(constants.thread_rows * constants.parts >= constants.rows);
    return constants.parts;
  };
  CHECK(parts(reversed_columns(1, 9, 4)) == 2);                  // of 8 rows
  CHECK(parts(reversed_columns(1, 1000, 1 << 20)) == 16);        // of 64
  CHECK(parts(reversed_columns(1, 1000, 1 << 14)) == 1000 / 8);  // so that there are threads enough
}

IndexMapKernel plain_kernel(std::size_t element_size,
                            const std::vector<std::pair<std::uint64_t, std::int64_t>>& axes) {
  IndexMapKernel kernel{.element_size = element_size};
  for (const auto& [extent, stride] : axes)
    kernel.axes.push_back({.extent = extent, .stride = stride});
  return kernel;
}

TEST_CASE(
    "dispatch: a transposed matrix goes through tiles, where it fills them and has whole vectors") {
  const auto is_in_tiles = [](const IndexMapKernel& kernel) {
    return make_dispatch(kernel).kernel == "transpose";
  };
  IndexMapKernel kernel = plain_kernel(2, {{3, 70000}, {200, 1}, {136, 302}});
  const gpu::Dispatch dispatch = make_dispatch(kernel);
  CHECK(dispatch.kernel == "transpose");
  CHECK(dispatch.specialization == Words{2, 1, 1});
  const auto constants = numbers<TransposeConstants>(dispatch.constants);
  CHECK(constants.offset == gpu::slack_bytes / 2);
  CHECK(constants.columns == 200);
  CHECK(constants.column_stride == 136);
  CHECK(constants.column_tiles == 4);
  CHECK(constants.rows == 136);
  CHECK(constants.row_stride == 302);
  CHECK(constants.row_tiles == 2);
  CHECK(words(constants.axis0) == Words{3, 70000, 200 * 136, 0});
  CHECK(dispatch.stages.at(0).end == 3 * 4 * 2 * 256);
  kernel.axes[0].stride = 70001;
  CHECK(make_dispatch(kernel).specialization == Words{2, 0, 1});  // halves of words
  CHECK(is_in_tiles(plain_kernel(4, {{40, 1}, {40, 40}})));
  CHECK_FALSE(is_in_tiles(plain_kernel(4, {{40, 1}, {42, 40}})));  // no whole vectors
  CHECK_FALSE(is_in_tiles(plain_kernel(4, {{7, 1}, {40, 40}})));
  CHECK_FALSE(is_in_tiles(plain_kernel(4, {{40, 1}, {28, 40}})));
  CHECK_FALSE(is_in_tiles(plain_kernel(4, {{40, 40}, {40, 1}})));
  CHECK_FALSE(is_in_tiles(plain_kernel(4, {{40, 1}, {40, 0}})));
  CHECK_FALSE(
      is_in_tiles(plain_kernel(4, {{2, 9}, {2, 8}, {2, 7}, {2, 6}, {2, 5}, {40, 1}, {40, 40}})));
}

TEST_CASE("dispatch: few rows whose elements take turns are moved a unit of each at once") {
  gpu::Dispatch dispatch = make_dispatch(plain_kernel(2, {{4, 1}, {80, 4}}));
  CHECK(dispatch.kernel == "interleave");
  CHECK(dispatch.specialization == Words{2, 4, 1, 0});
  auto constants = numbers<InterleaveConstants>(dispatch.constants);
  CHECK(constants.units == 10);  // vectors
  CHECK(constants.row_units == 10);
  CHECK(constants.output_stride == 80);
  dispatch = make_dispatch(plain_kernel(2, {{5, 400}, {82, 1}, {4, 84}}));
  CHECK(dispatch.kernel == "interleave");
  CHECK(dispatch.specialization == Words{2, 4, 0, 1});
  constants = numbers<InterleaveConstants>(dispatch.constants);
  CHECK(constants.units == 5 * 41);  // words
  CHECK(constants.row_units == 41);
  CHECK(constants.source_stride == 84);
  const auto is_interleaved = [](const IndexMapKernel& kernel) {
    return make_dispatch(kernel).kernel == "interleave";
  };
  CHECK_FALSE(is_interleaved(plain_kernel(2, {{81, 1}, {4, 84}})));  // halves of words
  CHECK_FALSE(is_interleaved(plain_kernel(2, {{82, 1}, {4, 83}})));
  CHECK_FALSE(is_interleaved(plain_kernel(2, {{82, 1}, {5, 84}})));
  CHECK_FALSE(is_interleaved(plain_kernel(2, {{4, 1}, {80, 6}})));
}

TEST_CASE("dispatch: copies of whole rows are an axis of their own") {
  IndexMapKernel kernel = plain_kernel(4, {{3, 10}, {40, 1}});
  kernel.axes[1].boundary = Boundary::wrap;
  kernel.axes[1].input_extent = 10;
  const gpu::Dispatch dispatch = make_dispatch(kernel);
  CHECK(dispatch.kernel == "index_map_4_1");
  CHECK(dispatch.specialization == Words{0, 3, 0, 1});
  const auto constants = numbers<IndexMapConstants>(dispatch.constants);
  CHECK(words(constants.axis1) == Words{4, 0, 0, 4});
  CHECK(words(constants.axis2) == Words{10, 1, 0, 10});
  kernel.axes[1].extent = 41;  // the last copy ends early
  CHECK(make_dispatch(kernel).specialization == Words{5, 2, 0, 4});
}

IndexMapKernel kernel_of_axes(std::uint64_t count) {
  IndexMapKernel kernel{.element_size = 1};
  for (std::uint64_t i = 1; i <= count; ++i) {
    kernel.axes.push_back(
        {.extent = i, .stride = static_cast<std::int64_t>(10 * i), .lengths_stride = i});
  }
  return kernel;
}

TEST_CASE("dispatch: a fifth axis takes the place of the strides of lengths") {
  const gpu::Dispatch dispatch = make_dispatch(kernel_of_axes(5));
  CHECK(dispatch.kernel == "index_map_1_0");
  CHECK(dispatch.specialization == Words{0, 5, 0, 1});
  CHECK(dispatch.parameters.empty());
  const auto constants = numbers<IndexMapConstants>(dispatch.constants);
  CHECK(words(constants.axis3) == Words{4, 40, 0, 4});
  CHECK(words(constants.axis4) == Words{5, 50, 0, 5});
}

TEST_CASE("dispatch: more axes than fit the constants stand in a table") {
  IndexMapKernel kernel = kernel_of_axes(5);
  kernel.reversal = Reversal{.axis = 1};
  const gpu::Dispatch reversed = make_dispatch(kernel);
  CHECK(reversed.specialization == Words{0, 8, 2, 1});
  CHECK(numbers<IndexMapConstants>(reversed.constants).rank == 5);
  const auto table = numbers<IndexMapAxes>(reversed.parameters);
  CHECK(words(table.axes[4]) == Words{5, 50, 0, 5});
  CHECK(table.lengths_strides[4] == 5);
  const gpu::Dispatch plain = make_dispatch(kernel_of_axes(6));
  CHECK(plain.specialization == Words{0, 8, 0, 1});
  CHECK(words(numbers<IndexMapAxes>(plain.parameters).axes[5]) == Words{6, 60, 0, 6});
}

TEST_CASE("dispatch: the name and constants of norms") {
  WindowKernel kernel = norm_windows(DataType::Float16, 4);
  kernel.axes[along_batch] = {2, 2, 60};
  kernel.axes[along_channel] = {3, 3, 20};
  kernel.axes[along_depth].reach = Windows{.dilation = 5};
  kernel.axes[along_height].reach = Windows{.dilation = 7};
  kernel.axes[along_width] = {20, 9, 1,
                              Windows{.size = 4, .stride = 2, .dilation = 3, .start_padding = 1}};
  const gpu::Dispatch dispatch = make_dispatch(kernel);
  CHECK(dispatch.kernel == "window_norm_float16");
  CHECK(dispatch.specialization == Words{0});
  const auto constants = numbers<WindowNormConstants>(dispatch.constants);
  CHECK(constants.elements == 54);
  CHECK(constants.exponent == 4);
  CHECK(constants.channels == 3);
  CHECK(constants.batch_stride == 60);
  CHECK(constants.channel_stride == 20);
  CHECK(words(constants.width) == Words{20, 9, 1, 4});
  CHECK(words(constants.strides) == Words{1, 1, 2, 5});
  CHECK(words(constants.paddings) == Words{0, 0, 1, 7});
  CHECK(constants.width_dilation == 3);
  for (const std::uint32_t p : {1U, 2U, 3U}) {
    kernel.p = p;
    CHECK(make_dispatch(kernel).specialization == Words{p});
  }
  kernel.axes[along_channel].reach = Windows{.size = 2};
  CHECK(gpu::make_dispatches(kernel).refusal == "its windows lie over more than three axes");
}

/// A kernel with one window of these sizes over an input of the same, or a smaller one.
WindowKernel windows_of(DataType type, std::uint64_t p, const std::array<std::uint64_t, 3>& window,
                        std::uint64_t outputs, std::uint64_t most_input) {
  WindowKernel kernel = norm_windows(type, p);
  for (std::size_t i = 0; i < 3; ++i) {
    kernel.axes[along_depth + i] = {.input_extent = std::min(window[i], most_input),
                                    .reach = Windows{.size = window[i]}};
  }
  kernel.axes[along_width].output_extent = outputs;
  return kernel;
}

TEST_CASE("dispatch: no thread does more than drivers let it, whatever the window") {
  const auto within_limit = [](const gpu::Stage& stage) {
    return stage.work <= gpu::thread_work_limit;
  };
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const std::uint64_t p : {1ULL, 2ULL, 3ULL, 4ULL, 1000ULL, 4294967295ULL}) {
      for (const std::array<std::uint64_t, 3>& window : {std::array<std::uint64_t, 3>{1, 7, 7},
                                                         {1, 1, 4097},
                                                         {1, 4097, 1},
                                                         {4097, 1, 1},
                                                         {3, 64, 64},
                                                         {1, 1, 100'000'000},
                                                         {1, 5000, 5000},
                                                         {300, 300, 300}}) {
        for (const std::uint64_t outputs : {1U, 3U, 1000U}) {
          for (const std::uint64_t most_input : {2U, 100'000'000U}) {
            const WindowKernel kernel = windows_of(type, p, window, outputs, most_input);
            CAPTURE(p);
            CAPTURE(outputs);
            CAPTURE(most_input);
            const gpu::Dispatch dispatch = make_dispatch(kernel);
            REQUIRE_FALSE(dispatch.stages.empty());
            CHECK(std::all_of(dispatch.stages.begin(), dispatch.stages.end(), within_limit));
            CHECK(dispatch.scratch_bytes <= 16 << 20);
          }
        }
      }
    }
  }
  CHECK_THROWS_AS(gpu::Stage(0, 1, gpu::thread_work_limit + 1), std::logic_error);
  CHECK_THROWS_AS(gpu::Stage(0, 1, 0), std::logic_error);
}

TEST_CASE("dispatch: a thread walks down as many rows of norms as its work allows") {
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const std::uint64_t p : {1ULL, 3ULL, 4294967295ULL}) {
      for (std::uint64_t size = 2; size <= 7; ++size) {
        CAPTURE(p);
        CAPTURE(size);
        WindowKernel kernel = norm_windows(type, p);
        kernel.axes[along_batch] = {64, 64};
        kernel.axes[along_channel] = {3, 3};
        kernel.axes[along_height] = {100, 101 - size, 100, Windows{.size = size}};
        kernel.axes[along_width] = {100, 101 - size, 1, Windows{.size = size}};
        const gpu::Dispatch dispatch = make_dispatch(kernel);
        const bool is_aligned = dispatch.kernel == "norm_walk_aligned";
        REQUIRE((is_aligned || dispatch.kernel == "norm_walk"));
        REQUIRE(dispatch.stages.size() == 1);
        const gpu::Stage& stage = dispatch.stages.front();
        CHECK(stage.work <= gpu::thread_work_limit);
        const auto constants = numbers<WindowNormConstants>(dispatch.constants);
        const std::uint32_t column_blocks = constants.column_blocks;
        const std::uint32_t row_blocks = constants.row_blocks, rows = constants.strides.w;
        CHECK(rows <= 32);  // bits of a word
        const std::uint64_t walks = std::uint64_t{64} * 3 * column_blocks * row_blocks;
        // The first of 256 threads stores nothing where they store results of one another.
        CHECK(stage.end - (is_aligned ? 0 : 1 + (stage.end - 1) / 256) == walks);
        CHECK(row_blocks * rows >= 101 - size);
        for (const NormAxis axis : {along_height, along_width}) {
          WindowKernel apart = kernel;
          windows_along(apart.axes[axis]).dilation = 2;
          CHECK(make_dispatch(apart).kernel.find("walk") == std::string::npos);
        }
        kernel.axes[along_width].input_stride = 2;
        CHECK(make_dispatch(kernel).kernel.find("walk") == std::string::npos);
      }
    }
  }
}

TEST_CASE("dispatch: windows that one thread can take stay whole") {
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (std::uint64_t size = 1; size <= 15; ++size) {
      CAPTURE(size);
      const WindowKernel kernel = windows_of(type, 4, {1, size, size}, 100, 100);
      CHECK(make_dispatch(kernel).stages.size() == 1);
    }
  }
}

TEST_CASE("dispatch: the parts of a window, for as many outputs as the state has room for") {
  constexpr std::uint32_t room = 1 << 20;  // outputs
  WindowKernel kernel = windows_of(DataType::Float16, 2, {1, 100, 100}, room + 44, 100);
  const gpu::Dispatch dispatch = make_dispatch(kernel);
  CHECK(dispatch.kernel == "window_norm_parts_float16");
  CHECK(dispatch.specialization == Words{2});
  CHECK(dispatch.scratch_bytes == 16 * room);
  auto constants = numbers<WindowNormConstants>(dispatch.constants);
  CHECK(constants.row_blocks == 40);  // of 100
  CHECK(constants.column_blocks == 100);
  REQUIRE(dispatch.stages.size() == 2 * 7);
  for (std::size_t i = 0; i < dispatch.stages.size(); ++i) {
    CAPTURE(i);
    const gpu::Stage& stage = dispatch.stages[i];
    const std::uint32_t first = i < 7 ? 0 : room, end = i < 7 ? room : room + 44;
    const bool is_last = i % 7 == 6;
    CHECK(stage.step == i % 7);
    CHECK(stage.base == first);
    CHECK(stage.first == (is_last ? first / 8 : first));
    CHECK(stage.end == (is_last ? (end + 7) / 8 : end));
  }
  // Rows longer than a part are cut evenly.
  kernel = windows_of(DataType::Float32, 2, {1, 2, 5000}, 1, 5000);
  constants = numbers<WindowNormConstants>(make_dispatch(kernel).constants);
  CHECK(constants.row_blocks == 2);
  CHECK(constants.column_blocks == 1667);
  CHECK(make_dispatch(kernel).stages.size() == 2 * 3 + 1);
  // Parts have elements of windows, not what lies between them.
  for (WindowAxis& axis : kernel.axes) {
    windows_along(axis).dilation = 3;
    axis.input_extent *= 3;
  }
  const gpu::Dispatch apart = make_dispatch(kernel);
  CHECK(apart.stages.size() == 2 * 3 + 1);
  constants = numbers<WindowNormConstants>(apart.constants);
  CHECK(constants.row_blocks == 2);
  CHECK(constants.column_blocks == 1667);
}

TEST_CASE("dispatch: windows whose numbers leave 32 bits are not for the kernels") {
  WindowKernel kernel = windows_of(DataType::Float32, 2, {1, 1U << 15, 1U << 15}, 1, 1U << 15);
  CHECK(gpu::make_dispatches(kernel).refusal.empty());
  kernel.axes[along_depth] = {.input_extent = 2, .reach = Windows{.size = 2}};
  CHECK_FALSE(gpu::make_dispatches(kernel).refusal.empty());
  kernel = windows_of(DataType::Float32, 2, {1, 1, 1U << 28}, 1, 1);
  CHECK_FALSE(gpu::make_dispatches(kernel).refusal.empty());
  kernel = windows_of(DataType::Float32, 2, {1, 1, 3}, 1, 3);
  windows_along(kernel.axes[along_width]).dilation = (1U << 27) - 1;
  CHECK(gpu::make_dispatches(kernel).refusal.empty());
  windows_along(kernel.axes[along_width]).dilation = 1U << 27;
  CHECK_FALSE(gpu::make_dispatches(kernel).refusal.empty());
}

/// Windows of the same size over two axes of an image.
WindowKernel image_windows(std::uint64_t extent, std::uint64_t size) {
  const Windows windows{.size = size, .divisor = Divisor::elements_inside};
  const std::uint64_t outputs = extent - size + 1;
  return {.axes = {{extent, outputs, extent, windows}, {extent, outputs, 1, windows}}};
}

// Specialization constants of window.hlsl.
constexpr std::size_t in_parts = 5, quick_width = 7, quick_stride = 8, quick_taps = 9;

gpu::Dispatch window_dispatch(const WindowKernel& kernel) {
  return make_dispatch(kernel);
}

TEST_CASE("dispatch: short windows in single rows are found four at once") {
  WindowKernel kernel = image_windows(600, 3);
  kernel.axes.erase(kernel.axes.begin());
  CHECK(window_dispatch(kernel).specialization[quick_width] == 3);
  CHECK(window_dispatch(kernel).specialization[quick_stride] == 1);
  CHECK(window_dispatch(kernel).specialization[quick_taps] == 0);
  kernel.axes[0].input_stride = 2;
  CHECK(window_dispatch(kernel).specialization[quick_width] == 0);
  kernel.axes[0].output_extent = 1200;
  kernel.axes[0].reach = Interpolation{.scale = 2, .input_offset = 0.5F, .output_offset = -0.5F};
  CHECK(window_dispatch(kernel).specialization[quick_width] == 2);
  CHECK(window_dispatch(kernel).specialization[quick_taps] == 1);
  kernel = image_windows(600, 9);
  kernel.axes.erase(kernel.axes.begin());
  CHECK(window_dispatch(kernel).specialization[quick_width] == 0);
}

TEST_CASE("dispatch: threads walk down small windows and few taps of images") {
  WindowKernel kernel = image_windows(600, 3);
  CHECK(window_dispatch(kernel).kernel == "pooling_walk");
  kernel.function = WindowFunction::maximum;
  CHECK(window_dispatch(kernel).kernel == "pooling_walk");
  kernel.data_type = DataType::Int8;
  CHECK(window_dispatch(kernel).kernel == "window");
  kernel = image_windows(600, 3);
  kernel.axes[1].input_stride = 2;
  CHECK(window_dispatch(kernel).kernel == "window");
  // Few outputs are not worth a pipeline.
  CHECK(window_dispatch(image_windows(100, 3)).kernel == "window");
  CHECK(window_dispatch(image_windows(600, 8)).kernel == "window");
  for (WindowAxis& axis : kernel.axes) {
    axis.output_extent = 2 * axis.input_extent;
    axis.reach = Interpolation{.scale = 2, .input_offset = 0.5F, .output_offset = -0.5F};
  }
  CHECK(window_dispatch(kernel).kernel == "resample_walk");
  constexpr std::size_t words_loaded = 4;
  CHECK(window_dispatch(kernel).specialization[words_loaded] == 0);
  kernel.axes[1].input_stride = 1;
  kernel.data_type = DataType::Float16;
  CHECK(window_dispatch(kernel).specialization[words_loaded] == 4);
  kernel.axes[1].reach = Interpolation{.scale = 1.5F};
  CHECK(window_dispatch(kernel).specialization[words_loaded] == 0);
  for (const gpu::Stage& stage : window_dispatch(image_windows(600, 7)).stages)
    CHECK(stage.work <= gpu::thread_work_limit);
}

TEST_CASE("dispatch: threads that walk down find planes along six axes") {
  WindowKernel kernel = image_windows(600, 3);
  for (std::uint64_t a = 1; a <= 6; ++a)
    kernel.axes.insert(kernel.axes.begin(), {a + 1, a + 1, 1'000'000 * a * a, Windows{}});
  constexpr std::size_t plane_axes = 13, axes = 16;  // of PoolingWalkConstants
  const std::vector<std::uint32_t> constants = window_dispatch(kernel).constants;
  REQUIRE(constants.size() == axes + 12);
  CHECK(constants[plane_axes] == 6);
  for (std::uint32_t a = 1; a <= 6; ++a) {  // innermost first
    CHECK(constants[axes + 2 * (a - 1)] == a + 1);
    CHECK(constants[axes + 2 * (a - 1) + 1] == 1'000'000 * a * a);
  }
}

TEST_CASE("dispatch: threads walk down images for convolutions of single channels") {
  const auto window = [](std::uint64_t input, std::uint64_t taps, std::uint64_t stride) {
    return ProductWindow{.output_extent = input,
                         .computed = input,
                         .taps = taps,
                         .left_stride = taps,
                         .input_extent = input,
                         .input_stride = stride,
                         .offset = -1};
  };
  ProductKernel usual{.batches = {2, 3},
                      .windows = {window(100, 3, 100), window(100, 3, 1)},
                      .left = {DataType::Float32, {0, 9}},
                      .right = {DataType::Float32, {30000, 10000}}};
  const auto kernel_of = [](const ProductKernel& kernel) {
    return gpu::make_dispatches(kernel).dispatches.front().kernel;
  };
  CHECK(kernel_of(usual) == "convolution_walk_aligned");
  ProductKernel kernel = usual;
  kernel.depth = 2;
  CHECK(kernel_of(kernel) == "product_float_1");
  kernel = usual;
  kernel.windows[1].tap_step = 2;  // elements between taps
  CHECK(kernel_of(kernel) == "product_float_1");
  kernel = usual;
  kernel.windows[0].divisor = 2;
  CHECK(kernel_of(kernel) == "product_float_1");
  kernel = usual;
  kernel.output_type = DataType::Float16;
  CHECK(kernel_of(kernel) == "product_float_1");
  kernel = usual;
  kernel.batches = {1, 1};  // few outputs are not worth a pipeline
  CHECK(kernel_of(kernel) == "product_float_1");
}

TEST_CASE("dispatch: few rows of whole vectors have a kernel of their own") {
  const ProductKernel usual{.rows = 1,
                            .columns = 4096,
                            .left = {.data_type = DataType::Float16, .row_stride = 4096},
                            .right = {.data_type = DataType::Float16, .column_stride = 1},
                            .depth = 4096,
                            .left_depth_stride = 1,
                            .right_depth_stride = 4096};
  const auto kernel_of = [](const ProductKernel& kernel) {
    const gpu::Dispatch dispatch = gpu::make_dispatches(kernel).dispatches.front();
    CHECK(dispatch.stages[0].end % gpu::group_threads == 0);
    return dispatch.kernel;
  };
  CHECK(kernel_of(usual) == "product_few_rows");
  CHECK(gpu::make_dispatches(usual).dispatches.front().with_matrices.empty());
  const auto with = [&](const auto& change) {
    ProductKernel kernel = usual;
    change(kernel);
    return kernel_of(kernel);
  };
  CHECK(with([](ProductKernel& kernel) { kernel.rows = 16; }) == "product_few_rows");
  CHECK(with([](ProductKernel& kernel) { kernel.rows = 17; }) == "product_float_64");
  CHECK(with([](ProductKernel& kernel) { kernel.columns = 4098; }) == "product_float_64");
  CHECK(with([](ProductKernel& kernel) { kernel.depth = 4098; }) == "product_float_64");
  CHECK(with([](ProductKernel& kernel) { kernel.right.offset = 2; }) == "product_float_64");
  CHECK(with([](ProductKernel& kernel) { kernel.left.offset = 2; }) == "product_float_64");
  CHECK(with([](ProductKernel& kernel) { kernel.right_depth_stride = 4098; }) ==
        "product_float_64");
  CHECK(with([](ProductKernel& kernel) {
          kernel.right.column_stride = 4096;
          kernel.right_depth_stride = 1;
        }) == "product_few_rows");
  CHECK(with([](ProductKernel& kernel) {
          kernel.rows = 13;
          kernel.right.column_stride = 4096;
          kernel.right_depth_stride = 1;
        }) == "product_float_64");
  CHECK(with([](ProductKernel& kernel) {
          kernel.right.column_stride = 8192;
          kernel.right_depth_stride = 2;
        }) == "product_float_64");
  CHECK(with([](ProductKernel& kernel) { kernel.left_depth_stride = 2; }) == "product_float_64");
  CHECK(with([](ProductKernel& kernel) { kernel.right.data_type = DataType::Float32; }) ==
        "product_few_rows");
  CHECK(with([](ProductKernel& kernel) { kernel.right_zero = kernel.right; }) ==
        "product_float_64");
}

TEST_CASE("dispatch: windows that are too large or too few for whole threads are cut into parts") {
  CHECK(window_dispatch(image_windows(600, 30)).specialization[in_parts] == 0);
  for (const std::uint64_t size : {300U, 600U, 1000U, 20000U}) {
    CAPTURE(size);
    const gpu::Dispatch dispatch = window_dispatch(image_windows(size, size));
    CHECK(dispatch.specialization[in_parts] == 1);
    REQUIRE(dispatch.stages.size() == 2);
    CHECK(dispatch.scratch_bytes == dispatch.stages[0].end * std::uint64_t{4});
    for (const gpu::Stage& stage : dispatch.stages) CHECK(stage.work <= gpu::thread_work_limit);
  }
  WindowKernel kernel = image_windows(100, 3);
  kernel.axes[0].reach = Windows{.size = 3, .start_padding = std::uint64_t{1} << 31};
  CHECK_FALSE(gpu::make_dispatches(kernel).refusal == "");
}

TEST_CASE("dispatch: a kernel with more elements than 32 bits count is refused") {
  ElementWiseKernel kernel{.extents = {1U << 31}, .inputs = {{.strides = {1}}}};
  CHECK(gpu::make_dispatches(kernel).refusal == "");
  kernel.extents = {std::uint64_t{1} << 32};
  CHECK(gpu::make_dispatches(kernel).refusal ==
        "its numbers do not fit the 32 bits of a GPU kernel");
}

TEST_CASE("dispatch: a thread for every 16 bytes of output") {
  const auto threads = [](std::uint64_t bytes) {
    const IndexMapKernel kernel{.element_size = 1, .axes = {{.extent = bytes, .stride = 1}}};
    const gpu::Dispatch dispatch = make_dispatch(kernel);
    REQUIRE(dispatch.stages.size() == 1);
    CHECK(dispatch.stages[0].first == 0);
    return dispatch.stages[0].end;
  };
  CHECK(threads(1) == 1);
  CHECK(threads(16) == 1);
  CHECK(threads(17) == 2);
}

/// The plan of an operator of packed FLOAT32.
Plan plan_of(const std::string& type, const std::string& sizes, const std::string& fields) {
  Diagnostics diagnostics;
  const std::string text = R"({"type": ")" + type +
                           R"(", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [)" +
                           sizes + "]}, " + fields + "}}";
  auto description = read_description("op.json", text, newest_feature_level, diagnostics);
  if (description) check_description(*description, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
  return make_plan(*description);
}

TEST_CASE("steps: rows that a group can hold are read once, others by each pass") {
  const auto steps = [](const std::string& sizes, int axis, const std::string& more = "") {
    return gpu::steps_of(plan_of("MEAN_VARIANCE_NORMALIZATION1", sizes,
                                 R"("NormalizeVariance": true, "Epsilon": 1, "Axes": [)" +
                                     std::to_string(axis) + "]" + more))
        .steps;
  };
  const auto is_one = [](const std::vector<gpu::Step>& found, const std::string& kernel,
                         std::size_t stages) {
    REQUIRE(found.size() == 1);
    CHECK(found[0].dispatches.front().kernel == kernel);
    CHECK(found[0].dispatches.front().stages.size() == stages);
    CHECK(found[0].reads.size() == 1);
    CHECK(has_kernel(kernel));
  };
  is_one(steps("3, 1024", 1), "rows", 1);
  is_one(steps("3, 16384", 1), "rows", 1);
  is_one(steps("3, 16388", 1), "rows", 3);
  is_one(steps("3, 16, 1024", 1), "rows_columns", 1);
  is_one(steps("3, 1024, 16", 1), "rows_columns", 1);
  is_one(steps("3, 64", 1, R"(, "FusedActivation": {"Type": "ACTIVATION_RELU"})"), "rows", 1);
  CHECK(steps("3, 1023", 1).size() == 3);
  CHECK(steps("3, 1025, 16", 1).size() == 3);
  CHECK(steps("3, 16, 15", 1).size() == 3);
  CHECK(steps("3, 1024, 1024", 0).size() == 1);
}

TEST_CASE("steps: windows along one axis are read once for local response normalization") {
  const auto kernels = [](const std::string& sizes, int window) {
    std::vector<std::string> names;
    const gpu::Steps found = gpu::steps_of(
        plan_of("LOCAL_RESPONSE_NORMALIZATION", sizes,
                R"("CrossChannel": true, "Alpha": 1, "Beta": 0.75, "Bias": 1, "LocalSize": )" +
                    std::to_string(window)));
    for (const gpu::Step& step : found.steps) names.push_back(step.dispatches.front().kernel);
    return names;
  };
  CHECK(kernels("2, 9, 4, 6", 5) == std::vector<std::string>{"local_response"});
  CHECK(kernels("2, 9, 4, 6", 9).size() == 3);
  CHECK(kernels("2, 9, 3, 3", 5).size() == 3);
  CHECK(has_kernel("local_response"));
}

TEST_CASE("dispatch: packed running sums have one stage where there are enough of them") {
  const auto stages = [](const std::string& sizes, int axis) {
    const gpu::Steps found = gpu::steps_of(
        plan_of("CUMULATIVE_SUMMATION", sizes,
                R"("AxisDirection": "INCREASING", "HasExclusiveSum": false, "Axis": )" +
                    std::to_string(axis)));
    REQUIRE(found.steps.size() == 1);
    return found.steps[0].dispatches.front().stages.size();
  };
  CHECK(stages("4, 16, 1024, 1024", 2) == 1);
  CHECK(stages("4, 16, 1024, 1024", 3) == 1);
  CHECK(stages("1, 1, 1, 1048576", 3) > 1);
  CHECK(stages("1, 1, 1048576, 4", 2) > 1);
}

}  // namespace
}  // namespace dmlop::test::dispatch_test
