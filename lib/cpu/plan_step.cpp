#include "cpu/plan_step.hpp"

#include "cpu/elements.hpp"
#include "cpu/kinds.hpp"

namespace dmlop::cpu {

PlanStep::PlanStep(const Plan& plan, std::size_t first)
    : pass_(plan.passes[first]), rows_(fused_rows(plan, first)) {
  writes_ = rows_ ? std::vector{rows_->write} : pass_.writes;
}

Parts PlanStep::parts(std::uint64_t most) const {
  if (!rows_) return {pass_.kernel, most};
  const ElementWiseKernel& map = *rows_->passes.map;
  const std::uint64_t elements = map.output_elements();
  const std::size_t size = size_of(map.output_type);
  return {PartShape{.granule = rows_->row_length()}, elements, size,
          bytes_of_part(most, elements * size)};
}

Prepared PlanStep::prepare(Inputs inputs, unsigned threads) const {
  return rows_ ? nullptr : cpu::prepare(pass_.kernel, inputs, threads);
}

void PlanStep::execute_part(Inputs inputs, const Preparation* prepared, const Part& part,
                            Stores stores, Destinations outputs) const {
  if (!rows_) return cpu::execute_part(pass_.kernel, inputs, prepared, part, stores, outputs);
  run_rows(rows_->passes, inputs, part, stores, outputs.front());
  if (stores == Stores::streaming) finish_streams();
}

void PlanStep::execute_all(Inputs inputs, unsigned threads,
                           std::span<std::byte* const> outputs) const {
  if (!rows_) return cpu::execute_all(pass_.kernel, inputs, threads, outputs);
  for_each_part(parts(part_bytes), std::vector{size_of(rows_->passes.map->output_type)}, threads,
                outputs, [&](const Part& part, Stores stores, Destinations destinations) {
                  execute_part(inputs, nullptr, part, stores, destinations);
                });
}

}  // namespace dmlop::cpu
