// Cuts kernels into tiles (ops/tiling.hpp): all tiles together are the kernel.
#include "ops/tiling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cpu/execute.hpp"
#include "norm_windows.hpp"
#include "ops/index_map.hpp"
#include "sweep.hpp"
#include "tile_run.hpp"

namespace dmlop::test::tiling_test {
namespace {

using Bytes = std::vector<std::byte>;
using Int = std::int64_t;

const std::vector<Boundary> boundaries{Boundary::none,       Boundary::constant,  Boundary::edge,
                                       Boundary::reflection, Boundary::symmetric, Boundary::wrap};

/// A kernel with inputs that hold all it reads.
struct Work {
  Kernel kernel;
  std::vector<Bytes> inputs;
};

Bytes execute_on_cpu(const Kernel& kernel, const std::vector<Bytes>& inputs) {
  const std::vector<std::span<const std::byte>> spans(inputs.begin(), inputs.end());
  Bytes output(output_elements(kernel) * output_element_size(kernel));
  cpu::execute(kernel, spans, 0, output_elements(kernel), output.data());
  return output;
}

Bytes random_bytes(std::uint64_t count, Random& random) {
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

/// From the first element of a window to its last.
std::uint64_t reach_of(const Windows& windows) {
  return (windows.size - 1) * windows.dilation + 1;
}

/// Of one reversed sequence, one pooling window or one row: what no cut can
/// make smaller.
std::uint64_t least_elements(const Kernel& kernel) {
  if (const auto* map = std::get_if<IndexMapKernel>(&kernel)) {
    return map->reversal ? map->axes[map->reversal->axis].extent : 1;
  }
  std::uint64_t elements = 1;
  if (const auto* pooling = std::get_if<WindowKernel>(&kernel)) {
    for (const WindowAxis& axis : pooling->axes)
      elements *= std::min(reach_of(std::get<Windows>(axis.reach)), axis.input_extent);
  }
  return elements;
}

void check_tiles(const Work& work, const TileLimits& limits) {
  CAPTURE(limits.buffer_bytes);
  CAPTURE(limits.buffer_elements);
  const auto grid = TileGrid::make(work.kernel, limits);
  if (!grid) {
    const std::uint64_t least = least_elements(work.kernel);
    const bool too_large = least * output_element_size(work.kernel) > limits.buffer_bytes ||
                           least > limits.buffer_elements;
    CHECK_MESSAGE(too_large, "no grid, although single sequences and windows fit");
    return;
  }
  const std::vector<std::span<const std::byte>> spans(work.inputs.begin(), work.inputs.end());
  CHECK((run_in_tiles(work.kernel, spans, *grid, limits) ==
         execute_on_cpu(work.kernel, work.inputs)));
}

IndexMapAxis random_axis(Boundary boundary, Random& random) {
  IndexMapAxis axis;
  const std::uint64_t n = random.one_in(8) ? 1 : random.from_to(1, random.one_in(4) ? 60 : 8);
  axis.extent = n;
  axis.stride = static_cast<Int>(random.below(7)) - 3;
  if (boundary == Boundary::none || random.one_in(3)) return axis;
  const std::uint64_t longest = random.one_in(6) ? 4 * n + 2 : n;
  axis.boundary = boundary;
  axis.input_extent = n;
  axis.start_padding = static_cast<Int>(random.below(longest + 1));
  axis.extent = n + static_cast<std::uint64_t>(axis.start_padding) + random.below(longest + 1);
  return axis;
}

Work random_index_map(Random& random) {
  IndexMapKernel kernel{.element_size = random.one_of<std::size_t>({1, 2, 4, 8})};
  const Boundary boundary = random.one_of(boundaries);
  const std::size_t rank = random.from_to(1, 4);
  Int low = 0, high = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    IndexMapAxis axis = random_axis(boundary, random);
    if (output_elements(Kernel(kernel)) * axis.extent > 4000) axis = {};
    const std::uint64_t indices = axis.boundary == Boundary::none ? axis.extent : axis.input_extent;
    const Int reach = static_cast<Int>(indices - 1) * axis.stride;
    low += std::min<Int>(reach, 0);
    high += std::max<Int>(reach, 0);
    kernel.axes.push_back(axis);
  }
  for (std::byte& byte : kernel.fill) byte = static_cast<std::byte>(random.below(256));
  kernel.offset = static_cast<Int>(random.below(3)) - low;
  const auto elements = static_cast<std::uint64_t>(kernel.offset + high + 1);
  Work work{kernel, {random_bytes(elements * kernel.element_size, random)}};
  return work;
}

/// Makes one of the axes of a kernel without boundaries a reversed one.
Work random_reversal(Random& random) {
  Work work = random_index_map(random);
  while (std::any_of(std::get<IndexMapKernel>(work.kernel).axes.begin(),
                     std::get<IndexMapKernel>(work.kernel).axes.end(),
                     [](const IndexMapAxis& axis) { return axis.boundary != Boundary::none; })) {
    work = random_index_map(random);
  }
  auto& kernel = std::get<IndexMapKernel>(work.kernel);
  const bool wide = random.one_in(2);
  const std::size_t reversed = random.below(kernel.axes.size());
  kernel.reversal = Reversal{reversed, wide ? DataType::UInt64 : DataType::UInt32};
  std::uint64_t elements = 1;
  for (std::size_t i = kernel.axes.size(); i-- > 0;) {
    if (i == reversed) continue;
    kernel.axes[i].lengths_stride = random.one_in(4) ? 0 : elements;
    elements *= kernel.axes[i].extent;
  }
  Bytes lengths(elements * (wide ? 8 : 4));
  for (std::uint64_t at = 0; at < lengths.size(); at += wide ? 8 : 4) {
    const std::uint64_t length = random.below(kernel.axes[reversed].extent + 3);
    std::memcpy(&lengths[at], &length, wide ? 8 : 4);
  }
  work.inputs.push_back(lengths);
  return work;
}

Work random_pooling(Random& random) {
  WindowKernel kernel =
      norm_windows(random.one_in(2) ? DataType::Float16 : DataType::Float32, random.from_to(1, 3));
  static const std::vector functions{WindowFunction::sum, WindowFunction::maximum,
                                     WindowFunction::norm};
  kernel.function = random.one_of(functions);
  std::uint64_t stride = random.from_to(1, 2);
  for (const NormAxis a : {along_width, along_height, along_depth}) {
    WindowAxis& axis = kernel.axes[a];
    Windows& windows = windows_along(axis);
    axis.input_extent = random.from_to(1, 12);
    axis.input_stride = random.one_in(8) ? 0 : stride;
    if (axis.input_stride != 0) stride *= axis.input_extent;
    windows.start_padding = random.below(6);
    const std::uint64_t padded = axis.input_extent + windows.start_padding + random.below(6);
    windows.dilation = random.one_in(2) ? 1 : random.from_to(2, 4);
    windows.size =
        random.from_to(1, std::min<std::uint64_t>((padded - 1) / windows.dilation + 1, 6));
    windows.stride = random.below(6);
    if (kernel.function == WindowFunction::sum && random.one_in(2))
      windows.divisor = random.one_in(2) ? Divisor::elements_inside : Divisor::elements_and_padding;
    axis.output_extent = windows.stride == 0 ? random.from_to(1, 5)
                                             : (padded - reach_of(windows)) / windows.stride + 1;
  }
  for (const NormAxis a : {along_channel, along_batch}) {
    WindowAxis& axis = kernel.axes[a];
    axis.input_extent = axis.output_extent = random.from_to(1, 3);
    axis.input_stride = stride;
    stride *= axis.input_extent;
  }
  Work work{kernel, {Bytes(stride * 2 * size_of(kernel.data_type))}};
  for (std::size_t at = 0; at < work.inputs[0].size(); at += size_of(kernel.data_type)) {
    const auto half = static_cast<std::uint16_t>(random.below(0x7C00));
    const auto value = static_cast<float>(random.below(1000));
    if (kernel.data_type == DataType::Float16) {
      std::memcpy(&work.inputs[0][at], &half, 2);
    } else {
      std::memcpy(&work.inputs[0][at], &value, 4);
    }
  }
  return work;
}

/// a + b, of inputs with strides that repeat rows or leave gaps.
Work random_sum(Random& random) {
  ElementWiseKernel kernel{.expression = Expression::add, .compute = ComputeType::int32};
  kernel.output_type = DataType::Int16;
  std::uint64_t count = 1;
  for (std::uint64_t rank = random.from_to(1, 4); rank > 0; --rank) {
    kernel.extents.push_back(random.from_to(1, 9));
    count *= kernel.extents.back();
  }
  Work work;
  for (const DataType type : {DataType::Int8, DataType::Int32}) {
    ElementWiseInput input{.type = type,
                           .strides = std::vector<std::uint64_t>(kernel.extents.size())};
    std::uint64_t next = random.from_to(1, 2);
    for (std::size_t a = kernel.extents.size(); a-- > 0;) {
      if (random.one_in(4)) continue;
      input.strides[a] = next;
      next *= kernel.extents[a] + random.below(2);
    }
    work.inputs.push_back(random_bytes(next * 2 * size_of(type), random));
    kernel.inputs.push_back(input);
  }
  if (random.one_in(8)) {  // a number takes the place of the first input
    kernel.inputs.front().constant = 3.0F;
    work.inputs.erase(work.inputs.begin());
  }
  work.kernel = kernel;
  return work;
}

/// Parts whose rows are packed, or turned around, along an axis between others.
Work random_join(Random& random) {
  JoinKernel kernel{.parts = {}, .outer = random.from_to(1, 20)};
  Work work;
  const std::size_t size = random.one_of<std::size_t>({1, 2, 4, 8});
  const std::uint64_t inner = random.from_to(1, 4);
  for (std::uint64_t parts = random.from_to(1, 10); parts > 0; --parts) {
    const std::uint64_t joined = random.from_to(1, 12);
    const std::uint64_t elements = kernel.outer * joined * inner;
    IndexMapKernel part{.element_size = size};
    if (random.one_in(2)) {
      part.axes = {{.extent = elements, .stride = 1}};
    } else {
      part.axes = {{.extent = kernel.outer, .stride = 1},
                   {.extent = joined * inner, .stride = static_cast<Int>(kernel.outer)}};
    }
    if (random.one_in(8)) {  // backwards, which the kernel of joins cannot read
      part.axes.front().stride = -part.axes.front().stride;
      part.offset = -part.axes.front().stride * static_cast<Int>(part.axes.front().extent - 1);
    }
    kernel.parts.push_back(part);
    work.inputs.push_back(random_bytes(elements * size, random));
  }
  work.kernel = kernel;
  return work;
}

/// Strides of axes that lie in any order, with gaps, and some of which repeat;
/// the elements between the first and the last.
struct RandomLayout {
  std::vector<std::uint64_t> strides;
  std::uint64_t elements = 1;

  RandomLayout(const std::vector<std::uint64_t>& extents, Random& random)
      : strides(extents.size()) {
    std::vector<std::size_t> order(extents.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    for (const std::size_t axis : order) {
      if (random.one_in(5)) continue;
      strides[axis] = elements;
      elements *= extents[axis] + random.below(2);
    }
  }
};

/// A product of 8-bit integers, which is exact, with any of what may follow.
class RandomProduct {
 public:
  explicit RandomProduct(Random& random) : random_(random) {}

  Work make() {
    for (std::uint64_t i = random_.below(3); i > 0; --i)
      kernel_.batches.push_back(random_.from_to(1, 3));
    kernel_.rows = random_.from_to(1, 9);
    kernel_.depth = random_.from_to(1, 7);
    if (random_.one_in(2)) {
      kernel_.columns = random_.from_to(1, 9);
    } else {
      for (std::uint64_t i = random_.from_to(1, 2); i > 0; --i) kernel_.windows.push_back(window());
    }
    lay_out_matrices();
    kernel_.output_type = DataType::Int32;
    if (random_.one_in(2)) kernel_.left_zero = further(DataType::Int8);
    if (random_.one_in(2)) kernel_.right_zero = further(DataType::UInt8);
    if (random_.one_in(2)) add_scales();
    for (auto* of_left : {&kernel_.left_zero, &kernel_.left_scale})
      if (*of_left) (*of_left)->column_stride = 0;
    for (auto* of_right : {&kernel_.right_zero, &kernel_.right_scale})
      if (*of_right) (*of_right)->row_stride = 0;
    if (random_.one_in(2)) kernel_.added = further(kernel_.output_type);
    return {kernel_, std::move(inputs_)};
  }

 private:
  ProductWindow window() {
    ProductWindow made{.output_extent = random_.from_to(1, 5)};
    made.computed = random_.from_to(1, made.output_extent);
    made.taps = random_.from_to(1, 3);
    made.input_extent = random_.from_to(1, 7);
    made.step = static_cast<Int>(random_.from_to(1, 2));
    made.tap_step = static_cast<Int>(random_.from_to(1, 2));
    made.offset = static_cast<Int>(random_.below(5)) - 2;
    return made;
  }

  // The bytes of an input that begins at an element other than the first.
  std::uint64_t add_input(DataType type, std::uint64_t elements) {
    const std::uint64_t offset = random_.below(4);
    if (type == DataType::Float32) {
      Bytes& bytes = inputs_.emplace_back((offset + elements) * sizeof(float));
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
        const auto value = static_cast<float>(random_.from_to(1, 9)) / 4;
        std::memcpy(&bytes[at], &value, sizeof value);
      }
    } else {
      inputs_.push_back(random_bytes((offset + elements) * size_of(type), random_));
    }
    return offset;
  }

  void lay_out_matrices() {
    std::vector<std::uint64_t> left = kernel_.batches, right = kernel_.batches;
    left.insert(left.end(), {kernel_.rows, kernel_.depth});
    right.push_back(kernel_.depth);
    if (kernel_.windows.empty()) right.push_back(kernel_.columns);
    for (const ProductWindow& window : kernel_.windows) {
      left.push_back(window.taps);
      right.push_back(window.input_extent);
    }
    const RandomLayout of_left(left, random_), of_right(right, random_);
    const std::size_t batches = kernel_.batches.size();
    const auto batch_strides = [&](const RandomLayout& layout) {
      return std::vector(layout.strides.begin(),
                         layout.strides.begin() + static_cast<std::ptrdiff_t>(batches));
    };
    kernel_.left = {DataType::Int8, batch_strides(of_left)};
    kernel_.left.row_stride = of_left.strides[batches];
    kernel_.left_depth_stride = of_left.strides[batches + 1];
    kernel_.right = {DataType::UInt8, batch_strides(of_right)};
    kernel_.right_depth_stride = of_right.strides[batches];
    if (kernel_.windows.empty()) kernel_.right.column_stride = of_right.strides[batches + 1];
    for (std::size_t i = 0; i < kernel_.windows.size(); ++i) {
      kernel_.windows[i].left_stride = of_left.strides[batches + 2 + i];
      kernel_.windows[i].input_stride = of_right.strides[batches + 1 + i];
    }
    kernel_.left.offset = add_input(DataType::Int8, of_left.elements);
    kernel_.right.offset = add_input(DataType::UInt8, of_right.elements);
  }

  // Of an element for each output, or for some.
  ProductInput laid_out(DataType type, std::uint64_t& elements) {
    std::vector<std::uint64_t> extents = kernel_.batches;
    extents.insert(extents.end(), {kernel_.rows, kernel_.column_count()});
    RandomLayout layout(extents, random_);
    elements = layout.elements;
    ProductInput input{type, std::move(layout.strides)};
    input.column_stride = input.batch_strides.back();
    input.batch_strides.pop_back();
    input.row_stride = input.batch_strides.back();
    input.batch_strides.pop_back();
    return input;
  }

  ProductInput further(DataType type) {
    std::uint64_t elements = 0;
    ProductInput input = laid_out(type, elements);
    input.offset = add_input(type, elements);
    return input;
  }

  void add_scales() {
    kernel_.output_type = DataType::Float32;
    if (random_.one_in(2)) {
      kernel_.left_scale = further(DataType::Float32);
      kernel_.right_scale = further(DataType::Float32);
      return;
    }
    std::uint64_t left = 0, right = 0;
    kernel_.left_scale = laid_out(DataType::Float32, left);
    kernel_.right_scale = laid_out(DataType::Float32, right);
    kernel_.has_joined_scales = true;
    kernel_.left_scale->offset = add_input(DataType::Float32, left + right);
    kernel_.right_scale->offset = kernel_.left_scale->offset + left;
    if (random_.one_in(2)) std::swap(kernel_.left_scale, kernel_.right_scale);
  }

  Random& random_;
  ProductKernel kernel_;
  std::vector<Bytes> inputs_;
};

TileLimits random_limits(Random& random) {
  TileLimits limits{.buffer_bytes = random.from_to(64, random.one_in(2) ? 256 : 4096)};
  if (random.one_in(4)) limits.buffer_elements = random.from_to(8, 256);
  return limits;
}

TEST_CASE("tiling: sweep over index maps of all boundaries") {
  Random random(60);
  for (int repeat = 0; repeat < 3000; ++repeat) {
    CAPTURE(repeat);
    Work work = random_index_map(random);
    if (random.one_in(2)) work.kernel = simplified(std::get<IndexMapKernel>(work.kernel));
    check_tiles(work, random_limits(random));
  }
}

TEST_CASE("tiling: sweep over reversals along every axis") {
  Random random(61);
  for (int repeat = 0; repeat < 1500; ++repeat) {
    CAPTURE(repeat);
    Work work = random_reversal(random);
    if (random.one_in(2)) work.kernel = simplified(std::get<IndexMapKernel>(work.kernel));
    check_tiles(work, random_limits(random));
  }
}

TEST_CASE("tiling: sweep over pooling") {
  Random random(62);
  for (int repeat = 0; repeat < 1500; ++repeat) {
    CAPTURE(repeat);
    check_tiles(random_pooling(random), random_limits(random));
  }
}

TEST_CASE("tiling: sweep over sums of tensors") {
  Random random(64);
  for (int repeat = 0; repeat < 1500; ++repeat) {
    CAPTURE(repeat);
    check_tiles(random_sum(random), random_limits(random));
  }
}

TEST_CASE("tiling: sweep over joins") {
  Random random(65);
  for (int repeat = 0; repeat < 1500; ++repeat) {
    CAPTURE(repeat);
    check_tiles(random_join(random), random_limits(random));
  }
}

TEST_CASE("tiling: sweep over products and convolutions") {
  Random random(66);
  int cut = 0;
  for (int repeat = 0; repeat < 1500; ++repeat) {
    CAPTURE(repeat);
    const Work work = RandomProduct(random).make();
    const TileLimits limits{.buffer_bytes = random.from_to(24, random.one_in(2) ? 128 : 512)};
    const auto grid = TileGrid::make(work.kernel, limits);
    if (!grid) continue;  // its sums do not fit
    cut += grid->size() > 1 ? 1 : 0;
    check_tiles(work, limits);
  }
  CHECK(cut >= 300);
}

TEST_CASE("tiling: an input that repeats counts once") {
  ElementWiseKernel kernel{.expression = Expression::add, .compute = ComputeType::int32};
  kernel.output_type = DataType::Int8;
  kernel.extents = {64, 8};
  kernel.inputs = {{.type = DataType::Int64, .strides = {0, 1}},
                   {.type = DataType::Int8, .strides = {8, 1}}};
  const auto grid = TileGrid::make(kernel, {.buffer_bytes = 256});
  REQUIRE(grid);
  CHECK(grid->size() == 2);  // 32 rows of the second input each
}

TEST_CASE("tiling: rows of a product are not cut because the right matrix is large") {
  ProductKernel kernel{.output_type = DataType::Int32, .rows = 64, .columns = 64};
  kernel.depth = 64;
  kernel.left = {.data_type = DataType::Int8, .batch_strides = {}, .row_stride = 64};
  kernel.right = {.data_type = DataType::Int8, .batch_strides = {}, .column_stride = 1};
  kernel.left_depth_stride = 1;
  kernel.right_depth_stride = 64;
  const auto grid = TileGrid::make(kernel, {.buffer_bytes = 2048});
  REQUIRE(grid);
  CHECK(grid->size() == 16);  // 8 rows and 32 columns each
  CHECK(grid->copies() == 5);
}

TEST_CASE(
    "tiling: a kernel that fits is one tile that reads the inputs as "
    "they lie") {
  IndexMapKernel kernel{.element_size = 1, .axes = {{.extent = 4, .stride = -2}}};
  kernel.offset = 6;
  const auto grid = TileGrid::make(kernel, {.buffer_bytes = 64});
  REQUIRE(grid);
  CHECK(grid->size() == 1);
  const Tile tile = grid->tile(0);
  CHECK(tile.gathers.front().map.axes == std::vector<IndexMapAxis>{{.extent = 7, .stride = 1}});
  CHECK(std::get<IndexMapKernel>(tile.kernel).axes == kernel.axes);
}

TEST_CASE(
    "tiling: the outermost axis is cut first, so that a tile's outputs "
    "lie together") {
  const IndexMapKernel kernel{.element_size = 4,
                              .axes = {{.extent = 8, .stride = 30}, {.extent = 10, .stride = 2}}};
  const auto grid = TileGrid::make(kernel, {.buffer_bytes = 100});
  REQUIRE(grid);
  CHECK(grid->size() == 4);
  int runs = 0;
  grid->for_each_run(grid->tile(1), [&](std::uint64_t to, std::uint64_t from, std::uint64_t count) {
    ++runs;
    CHECK(to == 20);
    CHECK(from == 0);
    CHECK(count == 20);
  });
  CHECK(runs == 1);
}

TEST_CASE(
    "tiling: a periodic axis larger than the limit is cut where its "
    "source turns or jumps") {
  constexpr std::uint64_t n = 1000, padding = 2500;
  Random random(63);
  for (const Boundary boundary : {Boundary::wrap, Boundary::symmetric, Boundary::reflection}) {
    IndexMapAxis axis{.extent = n + 2 * padding, .stride = 1, .boundary = boundary};
    axis.start_padding = padding;
    axis.input_extent = n;
    const Work work{IndexMapKernel{.element_size = 1, .axes = {axis}}, {random_bytes(n, random)}};
    const TileLimits limits{.buffer_bytes = 400};
    check_tiles(work, limits);
    const auto grid = TileGrid::make(work.kernel, limits);
    REQUIRE(grid);
    for (std::uint64_t i = 0; i < grid->size(); ++i) {
      const Tile tile = grid->tile(i);
      const Piece piece = piece_at(axis, tile.box[0].begin);
      CHECK(tile.box[0].end - tile.box[0].begin <= piece.count);
    }
  }
}

TEST_CASE(
    "tiling: windows at borders are smaller than those inside, which "
    "must fit too") {
  WindowKernel kernel = norm_windows(DataType::Float32, 1);
  const Windows windows{.size = 4, .stride = 3, .start_padding = 3};
  kernel.axes[along_depth] = {12, 5, 144, windows};
  kernel.axes[along_height] = {12, 5, 12, windows};
  kernel.axes[along_width] = {12, 5, 1, windows};
  const Work work{kernel, {Bytes(12 * 12 * 12 * 4)}};
  check_tiles(work, {.buffer_bytes = 4 * 4 * 4 * 4});
  check_tiles(work, {.buffer_bytes = 4 * 4 * 4 * 4 - 4});
}

TEST_CASE("tiling: paddings of far tiles stay within 32 bits") {
  constexpr std::uint64_t n = 1000, size = 4294967295;
  for (const Boundary boundary : boundaries) {
    if (boundary == Boundary::none) continue;
    for (const std::uint64_t start : {std::uint64_t{0}, size - n}) {
      IndexMapAxis axis{.extent = size, .stride = 1, .boundary = boundary};
      axis.start_padding = static_cast<Int>(start);
      axis.input_extent = n;
      const IndexMapKernel kernel{.element_size = 2, .axes = {axis}};
      const auto grid = TileGrid::make(kernel, {.buffer_bytes = 64 << 20});
      REQUIRE(grid);
      for (const std::uint64_t number : {std::uint64_t{0}, grid->size() / 2, grid->size() - 1}) {
        const Tile tile = grid->tile(number);
        const IndexMapAxis& inner = std::get<IndexMapKernel>(tile.kernel).axes.front();
        CHECK(std::abs(inner.start_padding) <= Int{64} << 20);
        const Piece whole = piece_at(axis, tile.box[0].begin);
        const Piece part = piece_at(inner, 0);
        CHECK(part.outside == whole.outside);
        const IndexMapKernel& gather = tile.gathers.front().map;
        const Int from = gather.offset + gather.axes.front().stride * part.offset;
        if (!whole.outside && part.count > 1) CHECK(from == whole.offset);
      }
    }
  }
}

TEST_CASE("tiling: one reversed sequence that is too large cannot be cut") {
  IndexMapKernel kernel{
      .element_size = 4,
      .axes = {{.extent = 5, .stride = 17, .lengths_stride = 1}, {.extent = 17, .stride = 1}}};
  kernel.reversal = Reversal{1, DataType::UInt32};
  CHECK(TileGrid::make(kernel, {.buffer_bytes = 17 * 4}).has_value());
  CHECK_FALSE(TileGrid::make(kernel, {.buffer_bytes = 17 * 4 - 1}).has_value());
}

TEST_CASE("tiling: one pooling window that is too large cannot be cut") {
  WindowKernel kernel = norm_windows();
  kernel.axes[along_width] = {40, 21, 1, Windows{.size = 20}};
  CHECK(TileGrid::make(kernel, {.buffer_bytes = 20 * 4}).has_value());
  CHECK_FALSE(TileGrid::make(kernel, {.buffer_bytes = 20 * 4 - 1}).has_value());
  kernel.axes[along_width].reach = Windows{.size = 7, .dilation = 3};
  CHECK(TileGrid::make(kernel, {.buffer_bytes = 19 * 4}).has_value());
  CHECK_FALSE(TileGrid::make(kernel, {.buffer_bytes = 19 * 4 - 1}).has_value());
}

}  // namespace
}  // namespace dmlop::test::tiling_test
