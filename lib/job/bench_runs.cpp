#include "job/bench_runs.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

namespace dmlop {

Bytes bench_bytes(std::uint64_t count) {
  try {
    return Bytes(count);
  } catch (const std::exception&) {  // bad_alloc, length_error
    throw Error(ErrorKind::run_failed, "out of memory for " + counted(count, "byte"));
  }
}

PlanInMemory::PlanInMemory(const Plan& plan, SlotBytes inputs, unsigned threads)
    : plan_(plan), inputs_(inputs), threads_(threads) {
  for (const Slot& slot : plan.slots)
    outputs_.push_back(slot.kind == SlotKind::output ? bench_bytes(slot.bytes()) : Bytes{});
  for (Bytes& output : outputs_) memory_.emplace_back(output);
}

void PlanInMemory::run() {
  plan_.run_into(inputs_, memory_, threads_);
}

}  // namespace dmlop
