#include "job/other_device.hpp"

namespace dmlop {
namespace {

Expectation expectation_of(const OutputInMemory& output, const std::string& device,
                           const Tolerance& tolerance) {
  const TensorDesc& desc = *output.desc;
  Expectation expectation{.tensor = output.field,
                          .path = device,
                          .file = NpyFile::in_memory({.data_type = stored_as(*desc.data_type),
                                                      .sizes = desc.sizes,
                                                      .strides = {},
                                                      .bytes = output.bytes.bytes()}),
                          .tolerance = tolerance,
                          .element = output.element};
  return expectation;
}

}  // namespace

std::vector<OutputInMemory> expect_other_device(Job& job, Backend& other,
                                                const ExecutionOptions& options,
                                                const std::optional<Tolerance>& tolerance) {
  JobResult result;
  std::vector<OutputInMemory> outputs = outputs_in_memory(job, other, options, &result);
  for (const OutputInMemory& output : outputs) {
    const Tolerance used = resolved_tolerance(tolerance, job.description, *output.desc->data_type);
    job.expected.push_back(expectation_of(output, result.device, used));
  }
  return outputs;
}

}  // namespace dmlop
