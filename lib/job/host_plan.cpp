#include "job/host_plan.hpp"

#include <vector>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "cpu/execute.hpp"
#include "cpu/plan.hpp"

namespace dmlop {
namespace {

class HostPlan {
 public:
  /// A plan for the CPU. Outputs go to their memory if there is any, and otherwise to the sink.
  HostPlan(const Plan& plan, SlotBytes inputs, SlotMemory outputs, unsigned threads,
           const OutputSink& sink, std::uint64_t part_bytes)
      : plan_(plan),
        inputs_(inputs),
        outputs_(outputs),
        threads_(threads),
        sink_(sink),
        part_bytes_(part_bytes),
        temporaries_(plan.slots.size()) {}

  void run() {
    for (std::size_t at = 0; at < plan_.passes.size(); ++at) {
      const Pass& pass = plan_.passes[at];
      for (const std::size_t slot : pass.writes) {
        if (is_temporary(slot))
          temporaries_[slot] =
              Buffer::to_overwrite(plan_.slots[slot].bytes(), plan_.slots[slot].field);
      }
      run(pass);
      for (std::size_t slot = 0; slot < temporaries_.size(); ++slot) {
        if (is_temporary(slot) && last_use(plan_, slot) <= at) temporaries_[slot] = Buffer();
      }
    }
  }

 private:
  /// What a thread has for the outputs of its part.
  using PartBuffers = std::vector<std::vector<std::byte>>;

  bool is_temporary(std::size_t slot) const {
    return plan_.slots[slot].kind == SlotKind::temporary;
  }

  void run(const Pass& pass) {
    std::vector<std::span<const std::byte>> inputs;
    for (const std::size_t slot : pass.reads)
      inputs.push_back(is_temporary(slot) ? temporaries_[slot].bytes() : inputs_[slot]);
    if (!outputs_.empty()) return run_into_memory(pass, inputs);
    const cpu::Parts parts(pass.kernel, part_bytes_);
    const cpu::Prepared prepared = cpu::prepare(pass.kernel, inputs, threads_);
    std::vector<PartBuffers> buffers(threads_, PartBuffers(pass.writes.size()));
    parallel_for(threads_, parts.count(), [&](unsigned worker, std::uint64_t index) {
      run_part(pass, inputs, prepared.get(), parts[index], buffers[worker]);
    });
  }

  void run_into_memory(const Pass& pass, cpu::Inputs inputs) {
    std::vector<std::byte*> memory;
    bool writes_outputs = true;
    for (const std::size_t slot : pass.writes) {
      writes_outputs = writes_outputs && !is_temporary(slot);
      memory.push_back(is_temporary(slot) ? temporaries_[slot].data() : outputs_[slot].data());
    }
    if (writes_outputs) return cpu::execute_all(pass.kernel, inputs, threads_, memory);
    // Temporaries are read again soon, so that they stay in the cache.
    const cpu::Parts parts(pass.kernel, part_bytes_);
    const cpu::Prepared prepared = cpu::prepare(pass.kernel, inputs, threads_);
    parallel_for(threads_, parts.count(), [&](unsigned, std::uint64_t index) {
      const cpu::Part part = parts[index];
      std::vector<cpu::Destination> destinations;
      for (std::size_t k = 0; k < memory.size(); ++k) {
        const std::uint64_t size = plan_.slots[pass.writes[k]].element_size;
        destinations.push_back({memory[k] + part.begin * size, part.step * size});
      }
      cpu::execute_part(pass.kernel, inputs, prepared.get(), part, cpu::Stores::cached,
                        destinations);
    });
  }

  // Temporaries are written where they belong, outputs to a buffer that then goes to the sink.
  void run_part(const Pass& pass, cpu::Inputs inputs, const cpu::Preparation* prepared,
                const cpu::Part& part, PartBuffers& buffers) {
    const std::vector<std::size_t>& writes = pass.writes;
    std::vector<cpu::Destination> destinations;
    for (std::size_t k = 0; k < writes.size(); ++k) {
      const std::uint64_t size = plan_.slots[writes[k]].element_size;
      if (is_temporary(writes[k])) {
        std::byte* whole = temporaries_[writes[k]].data();
        destinations.push_back({whole + part.begin * size, part.step * size});
        continue;
      }
      const std::uint64_t bytes = part.length * size;
      if (buffers[k].size() < part.count * bytes) buffers[k].resize(part.count * bytes);
      destinations.push_back({buffers[k].data(), bytes});
    }
    cpu::execute_part(pass.kernel, inputs, prepared, part, cpu::Stores::cached, destinations);
    for (std::size_t k = 0; k < writes.size(); ++k) {
      if (is_temporary(writes[k])) continue;
      const std::uint64_t size = plan_.slots[writes[k]].element_size;
      // Ranges that follow each other are one.
      const bool is_one = part.step == part.length;
      const std::uint64_t count = is_one ? 1 : part.count;
      const std::uint64_t bytes = part.length * (is_one ? part.count : 1) * size;
      for (std::uint64_t i = 0; i < count; ++i) {
        sink_(writes[k], (part.begin + i * part.step) * size,
              std::span(buffers[k]).subspan(i * bytes, bytes));
      }
    }
  }

  const Plan& plan_;
  SlotBytes inputs_;
  SlotMemory outputs_;
  unsigned threads_;
  const OutputSink& sink_;
  std::uint64_t part_bytes_;
  std::vector<Buffer> temporaries_;  // by slot
};

}  // namespace

void run_on_host(const Plan& plan, SlotBytes inputs, unsigned threads, const OutputSink& sink,
                 std::uint64_t part_bytes) {
  const std::optional<Plan> other = cpu::plan_for_cpu(plan);
  HostPlan(other ? *other : plan, inputs, {}, threads, sink, part_bytes).run();
}

void run_on_host_into(const Plan& plan, SlotBytes inputs, SlotMemory outputs, unsigned threads,
                      std::uint64_t part_bytes) {
  const OutputSink none;
  const std::optional<Plan> other = cpu::plan_for_cpu(plan);
  HostPlan(other ? *other : plan, inputs, outputs, threads, none, part_bytes).run();
}

}  // namespace dmlop
