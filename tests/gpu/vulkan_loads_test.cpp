// Finds loads outside of buffers with the validation layer's GPU-assisted checks, which ctest turns
// on (CMakeLists.txt). Results cannot show such loads, because their values are not used.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "gpu/dispatch.hpp"
#include "gpu/execute.hpp"
#include "gpu/vulkan/instance.hpp"
#include "gpu_device.hpp"
#include "norm_windows.hpp"
#include "random.hpp"

namespace dmlop::test::vulkan_loads_test {
namespace {

/// Runs plans in buffers of their own, which have no bytes more than the kernel needs.
class Checked {
 public:
  Checked() : device_(open_gpu()), executor_(*device_) {}

  /// How many messages the layer has sent about the kernel.
  unsigned messages(const Kernel& kernel, const std::vector<std::vector<std::byte>>& inputs) {
    const unsigned before = gpu::vulkan::validation_messages();
    std::vector<std::span<const std::byte>> spans(inputs.begin(), inputs.end());
    gpu::DispatchTimes times;
    const auto ignore = [](std::uint64_t, std::span<const std::byte>) {};
    REQUIRE(executor_.execute(kernel, spans, {.threads = 1}, ignore, times));
    executor_.reset();
    return gpu::vulkan::validation_messages() - before;
  }

  /// Whether the layer finds loads outside: a copy of more than the input has.
  bool checks_loads() {
    const unsigned before = gpu::vulkan::validation_messages();
    const auto from = device_->make_resident_buffer(64), to = device_->make_resident_buffer(1024);
    gpu::Stream stream(*device_);
    const gpu::Dispatch copy = gpu::copy_dispatch(1024);
    stream.run({.kernels = {{&copy, {{from.get(), 0, 64}}, {{to.get(), 0, 1024}}}}});
    stream.finish();
    return gpu::vulkan::validation_messages() > before;
  }

 private:
  std::unique_ptr<gpu::Device> device_;
  gpu::Executor executor_;
};

/// Packed elements for the extents of these axes; sets the strides.
template <typename Axes, typename Extent, typename SetStride>
std::uint64_t pack(Axes& axes, Extent&& extent, SetStride&& set_stride) {
  std::uint64_t stride = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    set_stride(axes[i], stride);
    stride *= extent(axes[i]);
  }
  return stride;
}

std::uint64_t pack_input(WindowKernel& kernel) {
  return pack(
      kernel.axes, [](const WindowAxis& axis) { return axis.input_extent; },
      [](WindowAxis& axis, std::uint64_t stride) { axis.input_stride = stride; });
}

/// Windows that begin and end far outside of the input, as far as paddings may lead them.
WindowKernel random_norms(DataType type, std::uint64_t p, Random& random) {
  WindowKernel kernel = norm_windows(type, p);
  const std::uint64_t far = random.one_in(2) ? 5 : 50'000;
  for (const NormAxis a : {along_depth, along_height, along_width}) {
    WindowAxis& axis = kernel.axes[a];
    Windows& windows = windows_along(axis);
    axis.input_extent = random.from_to(1, 4);
    windows.size = random.from_to(1, 4);
    axis.output_extent = random.from_to(1, 6);
    windows.stride = random.from_to(1, 1 + far / 5);
    if (random.one_in(2)) windows.dilation = random.from_to(1, 1 + far / 4);
    windows.start_padding = random.below(far);
  }
  return kernel;
}

enum class Padding { none, narrow, wide };  // wide: most outputs to the right see no input

/// Small windows over so many outputs that threads walk down, unless paddings are too wide for it.
WindowKernel walked_norms(DataType type, std::uint64_t p, Padding padding, Random& random) {
  WindowKernel kernel = norm_windows(type, p);
  for (const NormAxis a : {along_height, along_width}) {
    WindowAxis& axis = kernel.axes[a];
    Windows& windows = windows_along(axis);
    windows.size = random.from_to(2, 7);
    windows.stride = std::min<std::uint64_t>(windows.size, random.from_to(1, 3));
    axis.output_extent = random.from_to(128, 140);
    axis.input_extent = (axis.output_extent - 1) * windows.stride + windows.size;
    if (padding == Padding::none) continue;
    windows.start_padding = random.below(windows.size);
    axis.input_extent -= random.below(windows.size) + windows.start_padding;
    if (padding == Padding::wide && a == along_width) axis.input_extent /= 2;
  }
  return kernel;
}

IndexMapKernel random_map(std::size_t element_size, Boundary boundary, std::size_t rank,
                          Random& random) {
  IndexMapKernel kernel{.element_size = element_size, .axes = std::vector<IndexMapAxis>(rank)};
  const std::uint64_t far = random.one_in(2) ? 5 : 300;
  for (IndexMapAxis& axis : kernel.axes) {
    axis.boundary = random.one_in(4) ? Boundary::none : boundary;
    axis.extent = random.from_to(1, rank > 2 ? 6 : 40);
    axis.input_extent = axis.boundary == Boundary::none ? axis.extent : random.from_to(1, 6);
    if (axis.boundary != Boundary::none)
      axis.start_padding = static_cast<std::int64_t>(random.below(far));
  }
  return kernel;
}

TEST_CASE("vulkan loads: kernels load nothing outside of their buffers") {
  const char* const layers = std::getenv("VK_LAYER_ENABLES");
  if (layers == nullptr || !has_gpu()) return;
  Checked checked;
  REQUIRE_MESSAGE(checked.checks_loads(), "the validation layer checks no loads");
  Random random(90);
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const std::uint64_t p : {2U, 4U}) {
      for (int repeat = 0; repeat < 6; ++repeat) {
        WindowKernel kernel = random_norms(type, p, random);
        if (repeat % 3 != 0)
          windows_along(kernel.axes[along_width]).size = static_cast<std::uint64_t>(1 + repeat % 3);
        const std::uint64_t elements = pack_input(kernel);
        CAPTURE(repeat);
        CHECK(checked.messages(kernel, {std::vector<std::byte>(elements * size_of(type))}) == 0);
      }
      for (const Padding padding : {Padding::none, Padding::narrow, Padding::wide}) {
        for (int repeat = 0; repeat < 3; ++repeat) {
          WindowKernel walked = walked_norms(type, p, padding, random);
          const std::uint64_t elements = pack_input(walked);
          CAPTURE(repeat);
          CHECK(checked.messages(walked, {std::vector<std::byte>(elements * size_of(type))}) == 0);
        }
      }
      WindowKernel large = norm_windows(type, p);
      large.axes[along_height] = {
          45, 3, 45, Windows{.size = 100, .stride = 20, .dilation = 2, .start_padding = 90}};
      large.axes[along_width] = {45, 2, 1, Windows{.size = 90, .stride = 30, .start_padding = 50}};
      CHECK(checked.messages(large, {std::vector<std::byte>(45 * 45 * size_of(type))}) == 0);
    }
  }
}

TEST_CASE("vulkan loads: data movement loads nothing outside of its buffers") {
  if (std::getenv("VK_LAYER_ENABLES") == nullptr || !has_gpu()) return;
  Checked checked;
  Random random(91);
  for (const std::size_t size : {1U, 4U}) {
    for (int boundary = 0; boundary <= 3; ++boundary) {
      for (const std::size_t rank : {2U, 3U}) {
        if (rank > 2 && boundary != 1) continue;
        for (int repeat = 0; repeat < 3; ++repeat) {
          IndexMapKernel kernel = random_map(size, static_cast<Boundary>(boundary), rank, random);
          const std::uint64_t elements = pack(
              kernel.axes, [](const IndexMapAxis& axis) { return axis.input_extent; },
              [](IndexMapAxis& axis, std::uint64_t stride) {
                axis.stride = static_cast<std::int64_t>(stride);
              });
          CAPTURE(size);
          CAPTURE(boundary);
          CAPTURE(rank);
          CHECK(checked.messages(kernel, {std::vector<std::byte>(elements * size)}) == 0);
        }
      }
    }
    for (const DataType lengths_type : {DataType::UInt32, DataType::UInt64}) {
      for (const std::size_t axis : {0U, 1U}) {
        IndexMapKernel kernel{.element_size = size};
        kernel.axes = {{.extent = 7, .stride = 11}, {.extent = 11, .stride = 1}};
        kernel.axes[1 - axis].lengths_stride = 1;
        kernel.reversal = Reversal{axis, lengths_type};
        const std::uint64_t lengths = kernel.axes[1 - axis].extent;
        CHECK(checked.messages(kernel, {std::vector<std::byte>(77 * size),
                                        std::vector<std::byte>(lengths * size_of(lengths_type),
                                                               std::byte{3})}) == 0);
      }
    }
  }
}

}  // namespace
}  // namespace dmlop::test::vulkan_loads_test
