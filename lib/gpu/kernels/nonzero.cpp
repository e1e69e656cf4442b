// Elements that are not zero: shaders/nonzero_count.hlsl and shaders/nonzero.hlsl.
#include <algorithm>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/nonzero.hlsli"

DMLOP_SPECIALIZATION(NonzeroSpecialization, NONZERO_SPECIALIZATION)

constexpr std::uint64_t lanes = LANES;  // threads that count a block
constexpr std::uint64_t word_elements = 32;
constexpr std::uint64_t run_words = RUN_WORDS;
constexpr std::uint64_t run_elements = run_words * word_elements;

NonzeroParameters parameters_of(const NonzeroCountKernel& kernel) {
  NonzeroParameters parameters{};
  parameters.elements = word(elements_of(kernel.axes));
  parameters.block = word(kernel.block);
  parameters.blocks = word(kernel.output_elements());
  parameters.walk = walk_parameters(kernel.axes);
  return parameters;
}

NonzeroSpecialization specialization_of(const NonzeroCountKernel& kernel) {
  const StridedAxis& first = kernel.axes.front();
  const bool is_packed = kernel.axes.size() == 1 && (first.stride() == 1 || first.extent == 1);
  return {.SIZE = size_of(kernel.data_type),
          .IS_REAL = is_floating(kernel.data_type),
          .IS_PACKED = is_packed};
}

/// The iterations for one element.
std::uint64_t element_work(const NonzeroCountKernel& kernel) {
  return 1 + kernel.axes.size();
}

/// The iterations of a thread that counts its part of a block.
std::uint64_t counting_work(const NonzeroCountKernel& kernel) {
  return (divided_up(kernel.block, lanes) + 1) * element_work(kernel);
}

void add_stage(Dispatch& dispatch, std::uint64_t threads, std::uint64_t work) {
  const uint step = word(dispatch.stages.size());
  dispatch.stages.emplace_back(0, threads, work);
  dispatch.stages.back().step = step;
}

/// Why no GPU counts or finds the elements; "" where one can.
std::string count_refusal(const NonzeroCountKernel& kernel) {
  if (const std::string refusal = walk_refusal(kernel.axes); !refusal.empty()) return refusal;
  if (elements_of(kernel.axes) > 0xFFFFFFFF)
    return "it has more elements than a GPU kernel can number";
  return counting_work(kernel) <= thread_work_limit && kernel.block % run_elements == 0
             ? ""
             : "its blocks do not suit a GPU kernel";
}

}  // namespace

Dispatches dispatches_of(const NonzeroCountKernel& kernel) {
  if (const std::string refusal = count_refusal(kernel); !refusal.empty()) return refused(refusal);
  const std::uint64_t blocks = kernel.output_elements();
  Dispatch dispatch;
  dispatch.kernel = "nonzero_count";
  set_specialization(dispatch, specialization_of(kernel));
  dispatch.inputs = {0};
  dispatch.scratch_bytes = blocks * lanes * sizeof(uint);
  set_parameters(dispatch, parameters_of(kernel));
  add_stage(dispatch, blocks * lanes, counting_work(kernel));
  add_stage(dispatch, threads_for(blocks * sizeof(std::uint64_t)), 2 * (lanes + 1));
  return dispatch;
}

Dispatches dispatches_of(const NonzeroKernel& kernel) {
  if (kernel.extents.size() > std::extent_v<decltype(NonzeroParameters::extents)>)
    return refused("a row has too many coordinates");
  if (const std::string refusal = count_refusal(kernel.count); !refusal.empty())
    return refused(refusal);
  NonzeroParameters parameters = parameters_of(kernel.count);
  parameters.output_elements = word(kernel.output_elements());
  parameters.coordinates = word(kernel.extents.size());
  std::transform(kernel.extents.begin(), kernel.extents.end(), parameters.extents, word);
  const std::uint64_t words = divided_up(parameters.elements, word_elements);
  const std::uint64_t runs = divided_up(words, run_words);
  Dispatch dispatch;
  dispatch.kernel = "nonzero";
  set_specialization(dispatch, specialization_of(kernel.count));
  dispatch.inputs = {0, 1};
  dispatch.scratch_bytes = (2 * words + runs) * sizeof(uint);
  set_parameters(dispatch, parameters);
  add_stage(dispatch, words, (word_elements + 1) * element_work(kernel.count));
  add_stage(dispatch, runs, run_words + 1);
  add_stage(dispatch, parameters.blocks, kernel.count.block / run_elements + 1);
  // Each of four rows has a search of 32 bits for its block and of 16 in it.
  constexpr std::uint64_t row_work = 33 + 3 * 17;
  add_stage(dispatch, threads_for(kernel.output_elements() * sizeof(uint)),
            4 * (row_work + kernel.extents.size() + 2));
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
