// From plans to kernel launches (gpu/dispatch.hpp): names, constants and thread groups.
#include "gpu/dispatch.hpp"

#include <doctest/doctest.h>

#include "gpu_device.hpp"

#ifdef _WIN32
#include "gpu/d3d12/kernels.hpp"
#else
#include "gpu/vulkan/kernels.hpp"
#endif

namespace dmlop::test {
namespace {

/// Whether this build's backend has the kernel.
bool has_kernel(const std::string& name) {
#ifdef _WIN32
  return gpu::d3d12::find_kernel(name).has_value();
#else
  return !gpu::vulkan::find_kernel(name).empty();
#endif
}

using Words = std::vector<std::uint32_t>;

Words constants(const gpu::Dispatch& dispatch, std::size_t begin, std::size_t end) {
  return {dispatch.constants.begin() + static_cast<std::ptrdiff_t>(begin),
          dispatch.constants.begin() + static_cast<std::ptrdiff_t>(end)};
}

constexpr std::uint32_t negative(std::uint32_t value) {
  return ~value + 1;
}

TEST_CASE("dispatch: every kernel that a plan can need is built") {
  CHECK(kernels_of_plans().size() >= 4 * 5 * 8 - 4 + 8);
  for (const std::string& name : kernels_of_plans()) {
    CAPTURE(name);
    CHECK(has_kernel(name));
  }
  CHECK(has_kernel(gpu::copy_dispatch(64).kernel));
  CHECK_FALSE(has_kernel("index_map_3_0_1_0"));
}

TEST_CASE("dispatch: an index map's name and constants") {
  IndexMapPlan plan{.element_size = 2, .offset = 9};
  plan.axes = {{.extent = 5, .stride = -7},
               {.extent = 6,
                .stride = 1,
                .boundary = Boundary::edge,
                .start_padding = 2,
                .input_extent = 3}};
  plan.fill = {std::byte{0x34}, std::byte{0x12}};
  const gpu::Dispatch dispatch = gpu::make_dispatch(plan);
  CHECK(dispatch.kernel == "index_map_2_2_2_0");
  CHECK(dispatch.output_bytes == 60);
  CHECK(constants(dispatch, 0, 4) == Words{30, 1, 9 + gpu::input_slack_bytes / 2, 0});
  CHECK(constants(dispatch, 4, 8) == Words{2, 0, 0x1234, 0});
  CHECK(constants(dispatch, 8, 12) == Words{5, negative(7), 0, 5});
  CHECK(constants(dispatch, 12, 16) == Words{6, 1, 2, 3});
  CHECK(dispatch.table.empty());
}

TEST_CASE("dispatch: a reversal's axis, lengths and kernel") {
  IndexMapPlan plan{.element_size = 8};
  plan.axes = {{.extent = 3, .stride = 4, .lengths_stride = 1}, {.extent = 4, .stride = 1}};
  plan.reversal = Reversal{1, DataType::UInt64};
  gpu::Dispatch dispatch = gpu::make_dispatch(plan);
  CHECK(dispatch.kernel == "index_map_8_0_2_1");
  CHECK(dispatch.constants[3] == 2);
  CHECK(dispatch.constants[5] == 1);
  CHECK(constants(dispatch, 24, 26) == Words{1, 0});
  plan.reversal = Reversal{0, DataType::UInt32};
  dispatch = gpu::make_dispatch(plan);
  CHECK(dispatch.kernel == "index_map_8_0_2_2");
  CHECK(dispatch.constants[3] == 1);
  CHECK(dispatch.constants[5] == 0);
}

TEST_CASE("dispatch: five axes and more stand in a table") {
  IndexMapPlan plan{.element_size = 1};
  for (std::uint64_t i = 1; i <= 5; ++i) {
    plan.axes.push_back(
        {.extent = i, .stride = static_cast<std::int64_t>(10 * i), .lengths_stride = i});
  }
  const gpu::Dispatch dispatch = gpu::make_dispatch(plan);
  CHECK(dispatch.kernel == "index_map_1_0_8_0");
  CHECK(dispatch.constants[4] == 5);
  REQUIRE(dispatch.table.size() == 64);
  CHECK(Words(dispatch.table.begin() + 16, dispatch.table.begin() + 20) == Words{5, 50, 0, 5});
  CHECK(dispatch.table[48] == 5);
}

TEST_CASE("dispatch: LP pooling's name and constants") {
  LpPoolingPlan plan{
      .data_type = DataType::Float16, .batch_extents = {2, 3}, .batch_strides = {60, 20}, .p = 4};
  plan.axes[2] = {.input_extent = 20,
                  .output_extent = 9,
                  .input_stride = 1,
                  .window = 4,
                  .window_stride = 2,
                  .start_padding = -1};
  const gpu::Dispatch dispatch = gpu::make_dispatch(plan);
  CHECK(dispatch.kernel.starts_with("lp_pooling_2_0"));
  CHECK(dispatch.output_bytes == 2 * 3 * 9 * 2);
  CHECK(dispatch.constants[0] == 54);
  CHECK(constants(dispatch, 2, 4) == Words{gpu::input_slack_bytes / 2, 4});
  CHECK(constants(dispatch, 4, 7) == Words{3, 60, 20});
  CHECK(constants(dispatch, 16, 20) == Words{20, 9, 1, 4});
  CHECK(constants(dispatch, 20, 23) == Words{1, 1, 2});
  CHECK(constants(dispatch, 24, 27) == Words{0, 0, negative(1)});
  for (const std::uint64_t p : {1U, 2U, 3U}) {
    plan.p = p;
    CHECK(gpu::make_dispatch(plan).kernel.starts_with("lp_pooling_2_" + std::to_string(p)));
  }
}

TEST_CASE("dispatch: enough threads of 16 bytes each, in rows of at most 65535 groups") {
  const auto groups = [](std::uint64_t bytes) {
    const IndexMapPlan plan{.element_size = 1, .axes = {{.extent = bytes, .stride = 1}}};
    const gpu::Dispatch dispatch = gpu::make_dispatch(plan);
    CHECK(dispatch.constants[1] == dispatch.groups[0]);
    return dispatch.groups;
  };
  constexpr std::uint64_t group = 256 * 16;
  using Groups = std::array<std::uint32_t, 2>;
  CHECK(groups(1) == Groups{1, 1});
  CHECK(groups(group) == Groups{1, 1});
  CHECK(groups(group + 1) == Groups{2, 1});
  CHECK(groups(65535 * group) == Groups{65535, 1});
  CHECK(groups(65535 * group + 1) == Groups{65535, 2});
}

}  // namespace
}  // namespace dmlop::test
