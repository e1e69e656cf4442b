// A tensor in which elements are replaced by index: shaders/scatter.hlsl.
#include <algorithm>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/scatter.hlsli"

DMLOP_SPECIALIZATION(ScatterSpecialization, SCATTER_SPECIALIZATION)

constexpr std::size_t axes_most = 8;
constexpr std::uint64_t numbers_most = 0xFFFFFFFF;

enum Step : uint { clears = CLEARS, finds = FINDS, moves = MOVES };

std::uint64_t places_of(const ScatterKernel& kernel) {
  std::uint64_t count = 1;
  for (const IndexedAxis& axis : kernel.coordinates) count *= axis.extent;
  return count;
}

/// How elements are grouped by their indices.
struct Keys {
  bool takes_inner;         // a key is all elements inside of a place, which share their index
  std::uint64_t per_place;  // of the coordinates
  std::uint64_t count;
  std::uint64_t updates;  // of all keys

  explicit Keys(const ScatterKernel& kernel) {
    takes_inner = std::all_of(
        kernel.inner.begin(), kernel.inner.end(),
        [](const StridedAxis& axis) { return axis.extent == 1 || axis.strides[0] == 0; });
    per_place = takes_inner ? 1 : elements_of(kernel.inner);
    const std::uint64_t outer = elements_of(kernel.outer);
    count = outer * places_of(kernel) * per_place;
    updates = outer * elements_of(kernel.updates) * per_place;
  }
};

/// Through the output: the input, the indices and the updates.
StridedAxes output_walk(const ScatterKernel& kernel) {
  const std::uint64_t words = moved_per_element(kernel.element_size);
  StridedAxes axes;
  const auto add = [&](const StridedAxis& axis) {
    axes.push_back(
        {axis.extent, {axis.strides[2] * words, axis.strides[0], axis.strides[1] * words}});
  };
  std::for_each(kernel.outer.begin(), kernel.outer.end(), add);
  for (const IndexedAxis& axis : kernel.coordinates)
    axes.push_back({axis.extent, {axis.stride * words, 0, 0}});
  std::for_each(kernel.inner.begin(), kernel.inner.end(), add);
  axes.push_back({words, {1, 0, 1}});
  return merged(axes);
}

/// Through the updates of keys: the indices, the key for the first place and the number.
StridedAxes updates_walk(const ScatterKernel& kernel, const Keys& keys) {
  StridedAxes axes;  // from the innermost one on
  std::uint64_t key = 1, number = 1;
  const auto add = [&](const StridedAxes& some) {
    for (auto axis = some.rbegin(); axis != some.rend(); ++axis) {
      axes.push_back({axis->extent, {axis->strides[0], key, 0}});
      key *= axis->extent;
    }
  };
  if (!keys.takes_inner) add(kernel.inner);
  key *= places_of(kernel);
  for (auto axis = kernel.updates.rbegin(); axis != kernel.updates.rend(); ++axis) {
    axes.push_back({axis->extent, {axis->strides[0], 0, number}});
    number *= axis->extent;
  }
  add(kernel.outer);
  std::reverse(axes.begin(), axes.end());
  return merged(axes);
}

ScatterParameters parameters_of(const ScatterKernel& kernel, const Keys& keys) {
  const std::uint64_t words = moved_per_element(kernel.element_size);
  ScatterParameters parameters{};
  parameters.elements = word(kernel.output_elements() * words);
  parameters.keys = word(keys.count);
  parameters.key_elements = word(words * (keys.takes_inner ? elements_of(kernel.inner) : 1));
  parameters.place_keys = word(keys.per_place);
  parameters.places = word(places_of(kernel));
  parameters.coordinates = word(kernel.coordinates.size());
  for (std::size_t c = 0; c < kernel.coordinates.size(); ++c) {
    parameters.extents[c] = word(kernel.coordinates[c].extent);
    parameters.offsets[c] = word(kernel.coordinates[c].indices_offset);
  }
  parameters.updates_offset = word(kernel.updates_offset * words);
  parameters.update_rank = word(kernel.updates.size());
  for (std::size_t a = 0; a < kernel.updates.size(); ++a) {
    const StridedAxis& axis = kernel.updates[a];
    parameters.update_extents[a] = word(axis.extent);
    parameters.update_strides[a] = word(axis.strides[1] * words);
  }
  return parameters;
}

void add_stage(Dispatch& dispatch, Step step, std::uint64_t threads, std::uint64_t work) {
  dispatch.stages.emplace_back(0, threads, work);
  dispatch.stages.back().step = step;
}

}  // namespace

Dispatches dispatches_of(const ScatterKernel& kernel) {
  if (kernel.coordinates.size() > axes_most || kernel.updates.size() > axes_most)
    return refused("it has more than 8 dimensions");
  const Keys keys(kernel);
  const StridedAxes output = output_walk(kernel), updates = updates_walk(kernel, keys);
  for (const auto* walk : {&output, &updates}) {
    if (const std::string refusal = walk_refusal(*walk); !refusal.empty()) return refused(refusal);
  }
  if (keys.updates >= numbers_most || keys.count > numbers_most / sizeof(uint))
    return refused("it has more updates or places than a GPU kernel can number");
  const std::uint64_t size = moved_size(kernel.element_size);
  const bool has_runs = output.back().strides == StridedAxis{1, {1, 0, 1}}.strides;
  const bool has_one = elements_of(kernel.updates) == 1;
  ScatterParameters parameters = parameters_of(kernel, keys);
  parameters.walks[0] = walk_parameters(output);
  Dispatch dispatch;
  dispatch.kernel = "scatter";
  set_specialization(dispatch, ScatterSpecialization{.ELEMENT_SIZE = size,
                                                     .INDEX_TYPE = any_type(kernel.index.type),
                                                     .LARGE_INDEX = kernel.index.large,
                                                     .HAS_RUNS = has_runs,
                                                     .HAS_ONE = has_one});
  dispatch.inputs = {0, 1, 2};
  const std::uint64_t index_work = kernel.coordinates.size() + 2;
  if (!has_one) {
    parameters.walks[1] = walk_parameters(updates);
    dispatch.scratch_bytes = keys.count * sizeof(uint);
    add_stage(dispatch, clears, keys.count, 1);
    add_stage(dispatch, finds, keys.updates, updates.size() + index_work);
  }
  set_parameters(dispatch, parameters);
  const std::uint64_t element_work = index_work + kernel.updates.size() + 1;
  add_stage(dispatch, moves, threads_for(kernel.output_elements() * kernel.element_size),
            walk_work(size, output.size() + element_work));
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
