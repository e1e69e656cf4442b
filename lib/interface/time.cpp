// time() of <dmlop/dmlop.hpp>.
#include <algorithm>

#include "interface/translate.hpp"
#include "job/bench.hpp"

namespace dmlop {

Timing v0::time(const Operation& operation, const std::vector<Input>& inputs,
                const TimingOptions& options) {
  return with_failures([&]() -> Timing {
    if (!(options.min_seconds >= 0 && options.min_seconds <= 1e9))
      throw Error(ErrorKind::usage, "min_seconds must be a number from 0 to 1e9");
    CheckedOperation checked = check_operation(operation, inputs, nullptr, Purpose::check);
    if (!checked.job) throw to_failure(checked.findings);
    Job& job = *checked.job;
    std::erase_if(job.inputs,
                  [](const BoundInput& input) { return input.file.data().data() == nullptr; });
    const BenchResult result = bench(job, gpu::DeviceRequest{options.device},
                                     {.min_seconds = options.min_seconds,
                                      .min_runs = std::max(1U, options.min_runs),
                                      .execution = {.threads = options.threads}});
    return {result.device,         result.clock,       result.median(),    result.percentile95(),
            result.seconds.size(), result.input_bytes, result.output_bytes};
  });
}

}  // namespace dmlop
