#include "job/host_plan.hpp"

#include <algorithm>
#include <vector>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "cpu/execute.hpp"
#include "cpu/plan.hpp"

namespace dmlop {
namespace {

class HostRun {
 public:
  /// A plan for the CPU. Outputs go to their memory if there is any, and otherwise to the sink.
  HostRun(const Plan& plan, SlotBytes inputs, SlotMemory outputs, unsigned threads,
          const OutputSink& sink, std::uint64_t part_bytes,
          std::deque<cpu::ConstantInputs>* constants)
      : plan_(plan),
        inputs_(inputs),
        outputs_(outputs),
        threads_(threads),
        sink_(sink),
        part_bytes_(part_bytes),
        constants_(constants),
        temporaries_(plan.slots.size()) {}

  void run() {
    for (std::size_t at = 0; at < plan_.passes.size(); ++at) {
      const Pass& pass = plan_.passes[at];
      const Pass* follower = follower_of(at);
      if (follower != nullptr) ++at;
      for (const std::size_t slot : (follower != nullptr ? *follower : pass).writes) {
        if (is_temporary(slot))
          temporaries_[slot] =
              Buffer::to_overwrite(plan_.slots[slot].bytes(), plan_.slots[slot].field);
      }
      if (follower != nullptr)
        run_together(pass, *follower);
      else
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

  // The pass after this one, if it computes each element of its output from the same element of
  // what this one writes: then each part is passed on while it is in the cache.
  const Pass* follower_of(std::size_t at) const {
    if (outputs_.empty() || at + 1 == plan_.passes.size()) return nullptr;
    const Pass& next = plan_.passes[at + 1];
    const std::size_t slot = plan_.passes[at].writes.front();
    const bool is_only_for_it = plan_.passes[at].writes.size() == 1 && is_temporary(slot) &&
                                std::ranges::count(next.reads, slot) == 1 &&
                                last_use(plan_, slot) == at + 1;
    if (!is_only_for_it) return nullptr;
    const auto input =
        static_cast<std::size_t>(std::ranges::find(next.reads, slot) - next.reads.begin());
    return cpu::computes_in_place(next.kernel, input) ? &next : nullptr;
  }

  std::vector<std::span<const std::byte>> inputs_of(const Pass& pass) const {
    std::vector<std::span<const std::byte>> inputs;
    for (const std::size_t slot : pass.reads)
      inputs.push_back(is_temporary(slot) ? temporaries_[slot].bytes() : inputs_[slot]);
    return inputs;
  }

  std::byte* memory_of(std::size_t slot) {
    return is_temporary(slot) ? temporaries_[slot].data() : outputs_[slot].data();
  }

  // What the first pass writes stands where the second one writes.
  void run_together(const Pass& pass, const Pass& follower) {
    const auto inputs = inputs_of(pass);
    auto inputs_of_follower = inputs_of(follower);
    const std::size_t size = plan_.slots[pass.writes.front()].element_size;
    std::byte* const memory = memory_of(follower.writes.front());
    const auto between = std::ranges::find(follower.reads, pass.writes.front());
    inputs_of_follower[static_cast<std::size_t>(between - follower.reads.begin())] = {
        memory, plan_.slots[pass.writes.front()].bytes()};
    const cpu::Prepared prepared = prepare(pass, inputs);
    const cpu::Parts parts(pass.kernel, part_bytes_);
    parallel_for(threads_, parts.count(), [&](unsigned, std::uint64_t index) {
      const cpu::Part part = parts[index];
      const cpu::Destination to{memory + part.begin * size, part.step * size};
      cpu::execute_part(pass.kernel, inputs, prepared.get(), part, cpu::Stores::cached, {&to, 1});
      cpu::execute_part(follower.kernel, inputs_of_follower, nullptr, part, cpu::Stores::cached,
                        {&to, 1});
    });
  }

  void run(const Pass& pass) {
    const auto inputs = inputs_of(pass);
    if (!outputs_.empty()) return run_into_memory(pass, inputs);
    const cpu::Parts parts(pass.kernel, part_bytes_);
    const cpu::Prepared prepared = prepare(pass, inputs);
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
      memory.push_back(memory_of(slot));
    }
    const cpu::Prepared prepared = prepare(pass, inputs);
    if (writes_outputs)
      return cpu::execute_all(pass.kernel, inputs, prepared.get(), threads_, memory);
    // Temporaries are read again soon, so that they stay in the cache.
    const cpu::Parts parts(pass.kernel, part_bytes_);
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

  cpu::Prepared prepare(const Pass& pass, cpu::Inputs inputs) {
    const auto number = static_cast<std::size_t>(&pass - plan_.passes.data());
    return cpu::prepare(pass.kernel, inputs, threads_,
                        constants_ != nullptr ? &(*constants_)[number] : nullptr);
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
  std::deque<cpu::ConstantInputs>* constants_;  // of each pass; null: none are known
  std::vector<Buffer> temporaries_;             // by slot
};

}  // namespace

void run_on_host(const Plan& plan, SlotBytes inputs, unsigned threads, const OutputSink& sink,
                 std::uint64_t part_bytes) {
  const std::optional<Plan> other = cpu::plan_for_cpu(plan);
  HostRun(other ? *other : plan, inputs, {}, threads, sink, part_bytes, nullptr).run();
}

HostPlan::HostPlan(const Plan& plan, const std::vector<bool>& are_constant)
    : other_(cpu::plan_for_cpu(plan)), plan_(other_ ? *other_ : plan) {
  if (std::ranges::count(are_constant, true) == 0) return;
  for (const Pass& pass : plan_.passes) {
    std::vector<bool> of_pass;
    for (const std::size_t slot : pass.reads)
      of_pass.push_back(slot < are_constant.size() && are_constant[slot]);
    constants_.emplace_back(std::move(of_pass));
  }
}

void HostPlan::run_into(SlotBytes inputs, SlotMemory outputs, unsigned threads,
                        std::uint64_t part_bytes) {
  const OutputSink none;
  HostRun(plan_, inputs, outputs, threads, none, part_bytes,
          constants_.empty() ? nullptr : &constants_)
      .run();
}

}  // namespace dmlop
