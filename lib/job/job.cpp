#include "job/job.hpp"

#include <algorithm>

#include "job/bind.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

std::string read_text(const std::string& path) {
  const InputFile file =
      with_context("reading the description " + path, [&] { return InputFile::open(path); });
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// An input in native byte order: the file's own bytes, or a swapped copy.
class NativeInput {
 public:
  explicit NativeInput(const NpyFile& file) : bytes_(file.data()) {
    const std::size_t size = size_of(file.header().data_type);
    if (!file.header().big_endian || size == 1) return;
    swapped_.assign(bytes_.begin(), bytes_.end());
    for (std::size_t at = 0; at < swapped_.size(); at += size) {
      std::reverse(swapped_.begin() + static_cast<std::ptrdiff_t>(at),
                   swapped_.begin() + static_cast<std::ptrdiff_t>(at + size));
    }
    bytes_ = swapped_;
  }
  NativeInput(NativeInput&&) = default;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> swapped_;
  std::span<const std::byte> bytes_;
};

}  // namespace

std::optional<Job> prepare_job(const JobRequest& request, Purpose purpose,
                               Diagnostics& diagnostics) {
  auto description = read_description(request.description_path, read_text(request.description_path),
                                      request.feature_level, diagnostics);
  if (!description) return std::nullopt;
  Job job{std::move(*description), {}, {}};
  job.inputs = bind_inputs(job.description, request, purpose, diagnostics);
  job.outputs = bind_outputs(job.description, request, purpose, diagnostics);
  check_description(job.description, diagnostics);
  sort_by_position(diagnostics);
  return diagnostics.empty() ? std::optional(std::move(job)) : std::nullopt;
}

gpu::DispatchTimes run_job(const Job& job, Backend& backend, const ExecutionOptions& options) {
  const Plan plan = make_plan(job.description);
  std::vector<NativeInput> natives;
  std::vector<std::span<const std::byte>> inputs;
  natives.reserve(job.inputs.size());
  for (const BoundInput& input : job.inputs) {
    natives.emplace_back(input.file);
    inputs.push_back(natives.back().bytes());
  }
  const BoundOutput& output = job.outputs.front();
  const TensorDesc& desc = job.description.tensor(output.tensor);
  const std::string header = npy_header_bytes(*desc.data_type, desc.sizes);
  const std::uint64_t bytes = output_elements(plan) * output_element_size(plan);
  OutputFile file(output.path, header.size() + bytes);
  file.write_at(0, std::as_bytes(std::span(header)));
  const auto times = backend.execute(plan, inputs, options,
                                     [&](std::uint64_t offset, std::span<const std::byte> part) {
                                       file.write_at(header.size() + offset, part);
                                     });
  file.commit();
  return times;
}

}  // namespace dmlop
