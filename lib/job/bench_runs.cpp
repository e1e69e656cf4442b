#include "job/bench_runs.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "cpu/execute.hpp"
#include "cpu/plan.hpp"

namespace dmlop {

Bytes bench_bytes(std::uint64_t count) {
  try {
    return Bytes(count);
  } catch (const std::exception&) {  // bad_alloc, length_error
    throw Error(ErrorKind::run_failed, "out of memory for " + counted(count, "byte"));
  }
}

PlanInMemory::PlanInMemory(const Plan& plan, SlotBytes inputs, unsigned threads)
    : plan_(cpu::plan_for_cpu(plan).value_or(plan)), inputs_(inputs), threads_(threads) {
  for (const Slot& slot : plan_.slots)
    written_.push_back(slot.kind == SlotKind::input ? Bytes{} : bench_bytes(slot.bytes()));
}

void PlanInMemory::run() {
  for (const Pass& pass : plan_.passes) {
    std::vector<std::span<const std::byte>> read;
    std::vector<std::byte*> write;
    for (const std::size_t slot : pass.reads)
      read.push_back(plan_.slots[slot].kind == SlotKind::input ? inputs_[slot] : written_[slot]);
    for (const std::size_t slot : pass.writes) write.push_back(written_[slot].data());
    cpu::execute_all(pass.kernel, read, threads_, write);
  }
}

}  // namespace dmlop
