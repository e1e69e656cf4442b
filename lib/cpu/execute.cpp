#include "cpu/execute.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/elements.hpp"
#include "cpu/kinds.hpp"
#include "cpu/preparation.hpp"
#include "cpu/sequences.hpp"
#include "cpu/transpose.hpp"

namespace dmlop::cpu {
namespace {

// Outputs from this size on are not kept in the caches, however large these are.
constexpr Threshold streamed_bytes{std::uint64_t{16} << 20, 33};

// The ranges of a part in turns, a little of each: what one of them read is still near for the
// next.
void execute_interleaved(const IndexMapKernel& kernel, Inputs inputs, const Part& part,
                         Stores stores, const Destination& to) {
  constexpr Threshold bytes_at_once{std::uint64_t{16} << 10, 8};
  const std::uint64_t at_once = bytes_at_once / kernel.element_size;
  const auto mover = make_mover(kernel, inputs);
  std::deque<Output> outputs;
  for (std::uint64_t i = 0; i < part.count; ++i)
    outputs.emplace_back(to.to + i * to.pitch, stores, kernel.element_size);
  for (std::uint64_t done = 0; done < part.length; done += at_once) {
    const std::uint64_t count = std::min(at_once, part.length - done);
    for (std::uint64_t i = 0; i < part.count; ++i) {
      const std::uint64_t begin = part.begin + i * part.step + done;
      mover->run(begin, begin + count, outputs[i]);
    }
  }
  for (Output& output : outputs) output.finish();
}

}  // namespace

void run_part(const IndexMapKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  const Destination& output = outputs.front();
  if (part.count > 1 && kernel.reversal)
    return execute_sequences(kernel, inputs, part, stores, output.to, output.pitch);
  if (is_transposed(kernel, part)) return execute_transposed(kernel, inputs, part, stores, output);
  if (part.count > 1) return execute_interleaved(kernel, inputs, part, stores, output);
  run_stretch(stores, part, kernel.element_size, output,
              [&](std::uint64_t begin, std::uint64_t end, Output& to) {
                execute_index_map(kernel, inputs, begin, end, to);
              });
}

Prepared prepare(const Kernel& kernel, Inputs inputs, unsigned threads, ConstantInputs* constants) {
  return std::visit(
      [&]<typename Kind>(const Kind& kind) -> Prepared {
        if constexpr (KeepsConstants<Kind>)
          return prepare(kind, inputs, threads, constants);
        else if constexpr (Prepares<Kind>)
          return prepare(kind, inputs, threads);
        return nullptr;
      },
      kernel);
}

void execute_part(const Kernel& kernel, Inputs inputs, const Preparation* prepared,
                  const Part& part, Stores stores, Destinations outputs) {
  std::visit(
      [&]<typename Kind>(const Kind& kind) {
        if constexpr (Prepares<Kind>) {
          run_part(kind, inputs, prepared, part, stores, outputs);
        } else {
          run_part(kind, inputs, part, stores, outputs);
        }
      },
      kernel);
  if (stores == Stores::streaming) finish_streams();
}

bool computes_in_place(const Kernel& kernel, std::size_t input) {
  const auto* element_wise = std::get_if<ElementWiseKernel>(&kernel);
  if (element_wise == nullptr || element_wise->expression == Expression::cast) return false;
  for (const ElementWiseInput& one : element_wise->inputs) {
    if (one.constant || input-- > 0) continue;
    return is_packed(*element_wise, one) && size_of(one.type) == size_of(element_wise->output_type);
  }
  return false;
}

void execute_part(const Kernel& kernel, Inputs inputs, const Part& part, Stores stores,
                  Destinations outputs) {
  const Prepared prepared = prepare(kernel, inputs, 1);
  execute_part(kernel, inputs, prepared.get(), part, stores, outputs);
}

void execute(const Kernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
             std::byte* output) {
  const Destination destination{output, 0};
  execute_part(kernel, inputs, {.begin = begin, .length = end - begin, .step = 0, .count = 1},
               Stores::cached, {&destination, 1});
}

void execute_all(const Kernel& kernel, Inputs inputs, const Preparation* prepared, unsigned threads,
                 std::span<std::byte* const> outputs) {
  std::vector<std::size_t> sizes;
  for (std::size_t k = 0; k < outputs.size(); ++k) sizes.push_back(output_element_size(kernel, k));
  const Parts parts(kernel, part_bytes);
  const bool is_small = parts.elements() * sizes.front() < streamed_bytes;
  const Stores stores = is_small ? Stores::cached : Stores::streaming;
  parallel_for(threads, parts.count(), [&](unsigned, std::uint64_t index) {
    const Part part = parts[index];
    std::vector<Destination> destinations;
    for (std::size_t k = 0; k < outputs.size(); ++k)
      destinations.push_back({outputs[k] + part.begin * sizes[k], part.step * sizes[k]});
    execute_part(kernel, inputs, prepared, part, stores, destinations);
  });
}

void execute_all(const Kernel& kernel, Inputs inputs, unsigned threads,
                 std::span<std::byte* const> outputs) {
  const Prepared prepared = prepare(kernel, inputs, threads);
  execute_all(kernel, inputs, prepared.get(), threads, outputs);
}

void execute_all(const Kernel& kernel, Inputs inputs, unsigned threads, std::byte* output) {
  execute_all(kernel, inputs, threads, std::span(&output, 1));
}

}  // namespace dmlop::cpu
