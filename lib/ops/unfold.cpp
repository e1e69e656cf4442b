// DML_OPERATOR_UNFOLD: Out[n, (c, k...), (l...)] = In[n, c, Strides * l + Dilations * k - padding],
// where k is the place in the window and l that of the window in each spatial dimension.
#include <algorithm>

#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

struct Window {
  std::uint64_t size, stride, dilation, places;
};

struct Axis {
  std::uint64_t extent, stride;
};

/// The image, some of whose spatial dimensions are unfolded: batch, channel and places in the
/// window, then the other spatial dimensions, then the window's own places.
struct Image {
  std::vector<Axis> columns, spatial, places;

  /// What a kernel wrote has no gaps.
  void pack() {
    std::uint64_t stride = 1;
    for (auto* axes : {&places, &spatial, &columns}) {
      for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis) {
        axis->stride = stride;
        stride *= axis->extent;
      }
    }
  }
  /// Unfolds the first of the spatial dimensions that are left.
  void unfold(const Window& window) {
    const Axis axis = spatial.front();
    spatial.erase(spatial.begin());
    columns.push_back({window.size, window.dilation * axis.stride});
    places.push_back({window.places, window.stride * axis.stride});
  }
  IndexMapKernel kernel(std::size_t element_size) const {
    IndexMapKernel kernel{.element_size = element_size};
    for (const auto* axes : {&columns, &spatial, &places}) {
      for (const Axis& axis : *axes)
        kernel.axes.push_back({axis.extent, static_cast<std::int64_t>(axis.stride)});
    }
    return simplified(std::move(kernel));
  }
};

// So many dimensions at once leave a kernel with at most 8 axes.
constexpr std::size_t unfolded_at_once = 3;

}  // namespace

Plan plan_unfold(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const auto& start = description.integers("StartPadding");
  const auto& end = description.integers("EndPadding");
  const std::size_t size = size_of(*input.data_type);
  const Strides strides = input_strides(input);
  Image image;
  std::vector<Window> windows;
  IndexMapKernel padding{.element_size = size};
  for (std::size_t i = 0; i < input.sizes.size(); ++i) {
    padding.axes.push_back(
        {.extent = input.sizes[i], .stride = static_cast<std::int64_t>(strides[i])});
    if (i < 2) {
      image.columns.push_back({input.sizes[i], strides[i]});
      continue;
    }
    const auto at = [&](const char* field) {
      return static_cast<std::uint64_t>(description.integers(field)[i - 2]);
    };
    IndexMapAxis& axis = padding.axes.back();
    axis.boundary = Boundary::constant;
    axis.start_padding = start[i - 2];
    axis.input_extent = input.sizes[i];
    axis.extent += static_cast<std::uint64_t>(start[i - 2] + end[i - 2]);
    image.spatial.push_back({axis.extent, strides[i]});
    const Window window{at("WindowSizes"), at("Strides"), at("Dilations"), 0};
    windows.push_back(window);
    windows.back().places =
        (axis.extent - window.dilation * (window.size - 1) - 1) / window.stride + 1;
  }

  std::size_t source = plan.tensor("InputTensor");
  const auto store = [&](const char* what, IndexMapKernel kernel) {
    const std::size_t temporary = plan.temporary(what, kernel.output_elements(), size);
    plan.add(simplified(std::move(kernel)), {source}, {temporary});
    source = temporary;
    image.pack();
  };
  const auto is_not_zero = [](std::int64_t count) { return count != 0; };
  if (std::any_of(start.begin(), start.end(), is_not_zero) ||
      std::any_of(end.begin(), end.end(), is_not_zero) || windows.size() > unfolded_at_once)
    store("the padded image", padding);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (i == unfolded_at_once) store("the image, partly unfolded", image.kernel(size));
    image.unfold(windows[i]);
  }
  plan.add(image.kernel(size), {source}, {plan.tensor("OutputTensor")});
  return plan.take();
}

}  // namespace dmlop
