// Operations of <dmlop/dmlop.h>: contexts, check, run, and prepared ones.
#include "c/handles.hpp"

using namespace dmlop::c;

namespace dmlop::c {
namespace {

// An output is written as packed elements to memory.
void refuse_other_layout(const dmlop_tensor& tensor, const std::string& place) {
  if (tensor.path != nullptr)
    refuse(place + ".path is \"" + tensor.path +
           "\", but an output is written to memory: set path to NULL, and write the result with "
           "dmlop_write_npy");
  if (tensor.strides == nullptr) return;
  if (tensor.sizes == nullptr)
    refuse(place + ".strides is set, but sizes is NULL: set both, or neither");
  std::uint64_t packed = 1;
  for (std::uint32_t i = tensor.rank; i-- > 0;) {
    if (tensor.sizes[i] != 1 && tensor.strides[i] != packed)
      refuse(place + ".strides[" + std::to_string(i) + "] is " + std::to_string(tensor.strides[i]) +
             ", but an output is packed, which makes it " + std::to_string(packed) +
             ": set strides to NULL");
    packed *= tensor.sizes[i];
  }
}

OutputBuffer to_buffer(const dmlop_tensor& tensor, const std::string& place) {
  required(tensor.name, (place + ".name").c_str());
  auto& data = required(static_cast<std::byte*>(tensor.data), (place + ".data").c_str());
  refuse_other_layout(tensor, place);
  OutputBuffer buffer{tensor.name, {&data, static_cast<std::size_t>(tensor.bytes)}};
  if (tensor.type != 0) buffer.type = to_element_type(tensor.type, place);
  if (tensor.sizes != nullptr)
    buffer.sizes = std::vector<std::uint64_t>(tensor.sizes, tensor.sizes + tensor.rank);
  return buffer;
}

std::vector<OutputBuffer> to_buffers(const dmlop_tensor* outputs, std::size_t count) {
  if (count != 0) required(outputs, "outputs");
  std::vector<OutputBuffer> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    buffers.push_back(to_buffer(outputs[i], "outputs[" + std::to_string(i) + "]"));
  }
  return buffers;
}

void* memory_of(const std::vector<OutputBuffer>& buffers, const std::string& name) {
  for (const OutputBuffer& buffer : buffers) {
    if (buffer.name == name) return buffer.bytes.data();
  }
  return nullptr;
}

// All fields of both by name: one that is added to either compiles only when it is passed on.
RunnerOptions runner_options(const dmlop_context_options& given) {
  const auto& [size, spec, cpu_threads, are_indices_strict, gpu_bytes, cpu_bytes] = given;
  RunnerOptions options;
  auto& [device, threads, device_memory_bytes, host_memory_bytes, strict_indices] = options;
  device = spec == nullptr ? "" : spec;
  threads = cpu_threads;
  device_memory_bytes = gpu_bytes;
  host_memory_bytes = cpu_bytes;
  strict_indices = are_indices_strict != 0;
  return options;
}

}  // namespace
}  // namespace dmlop::c

dmlop_status dmlop_check(const dmlop_operation* operation, const dmlop_tensor* inputs,
                         size_t input_count, char** report, dmlop_error** error) {
  if (report != nullptr) *report = nullptr;
  return guarded(error, [&] {
    const dmlop::CheckResult result =
        dmlop::check(to_operation(operation), to_inputs(inputs, input_count));
    if (!result.findings.empty()) refuse_findings(result.findings);
    if (report == nullptr) return;
    const Json json{{"tensors", to_json(result.tensors)}, {"warnings", to_json(result.warnings)}};
    *report = to_text(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  });
}

dmlop_status dmlop_open(const dmlop_context_options* options, dmlop_context** context,
                        dmlop_error** error) {
  if (context != nullptr) *context = nullptr;
  return guarded(error, [&] {
    auto& place = required(context, "context");
    const auto given = read_struct(options, dmlop_context_options DMLOP_CONTEXT_OPTIONS, "options");
    place = new dmlop_context(runner_options(given));
  });
}
const char* dmlop_context_device(const dmlop_context* context) {
  return context == nullptr ? "" : context->device.c_str();
}
void dmlop_close(dmlop_context* context) {
  delete context;
}

dmlop_status dmlop_run(dmlop_context* context, const dmlop_operation* operation,
                       const dmlop_tensor* inputs, size_t input_count, const dmlop_tensor* outputs,
                       size_t output_count, const dmlop_call* call, dmlop_result** result,
                       dmlop_error** error) {
  if (result != nullptr) *result = nullptr;
  return guarded(call, error, [&](const dmlop_call&) {
    const auto buffers = to_buffers(outputs, output_count);
    auto made = std::make_unique<dmlop_result>();
    made->owned = required(context, "context")
                      .runner.run(to_operation(operation), to_inputs(inputs, input_count), buffers);
    for (dmlop::Tensor& tensor : made->owned) {
      void* given = memory_of(buffers, tensor.name);
      if (given == nullptr && result == nullptr)
        refuse("result is NULL, and there is no memory for " + tensor.name);
      made->outputs.add(tensor, given);
    }
    if (result != nullptr) *result = made.release();
  });
}

dmlop_tensors dmlop_result_outputs(const dmlop_result* result) {
  return result == nullptr ? dmlop_tensors{nullptr, 0} : result->outputs.list();
}
dmlop_tensors dmlop_result_edges(const dmlop_result* result) {
  return result == nullptr ? dmlop_tensors{nullptr, 0} : result->edges.list();
}
void dmlop_result_free(dmlop_result* result) {
  delete result;
}

dmlop_status dmlop_prepare(dmlop_context* context, const dmlop_operation* operation,
                           const dmlop_tensor* inputs, size_t input_count,
                           dmlop_prepared** prepared, dmlop_error** error) {
  if (prepared != nullptr) *prepared = nullptr;
  return guarded(error, [&] {
    auto& place = required(prepared, "prepared");
    place = new dmlop_prepared(
        required(context, "context")
            .runner.prepare(to_operation(operation), to_inputs(inputs, input_count)));
  });
}

dmlop_tensors dmlop_prepared_inputs(const dmlop_prepared* prepared) {
  return prepared == nullptr ? dmlop_tensors{nullptr, 0} : prepared->inputs.list();
}
dmlop_tensors dmlop_prepared_outputs(const dmlop_prepared* prepared) {
  return prepared == nullptr ? dmlop_tensors{nullptr, 0} : prepared->outputs.list();
}

dmlop_status dmlop_prepared_run(const dmlop_prepared* prepared, const void* const* inputs,
                                void* const* outputs, const dmlop_call* call, dmlop_error** error) {
  return guarded(call, error, [&](const dmlop_call&) {
    const dmlop::Prepared& operation = required(prepared, "prepared").operation;
    std::vector<std::span<const std::byte>> read;
    std::vector<std::span<std::byte>> written;
    if (!operation.inputs().empty()) required(inputs, "inputs");
    required(outputs, "outputs");
    for (std::size_t i = 0; i < operation.inputs().size(); ++i) {
      const dmlop::BufferInfo& info = operation.inputs()[i];
      read.emplace_back(&required(static_cast<const std::byte*>(inputs[i]), info.name.c_str()),
                        static_cast<std::size_t>(info.bytes));
    }
    for (std::size_t i = 0; i < operation.outputs().size(); ++i) {
      const dmlop::BufferInfo& info = operation.outputs()[i];
      written.emplace_back(&required(static_cast<std::byte*>(outputs[i]), info.name.c_str()),
                           static_cast<std::size_t>(info.bytes));
    }
    operation.run(read, written);
  });
}
void dmlop_prepared_free(dmlop_prepared* prepared) {
  delete prepared;
}
