#include "gpu/d3d12/pipelines.hpp"

#include <tuple>

#include "gpu/commands.hpp"
#include "gpu/d3d12/shaders.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

ComPtr<ID3D12RootSignature> make_signature(ID3D12Device& device, const RootLayout& layout) {
  std::vector<D3D12_ROOT_PARAMETER> parameters(layout.parameters());
  parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[0].Constants = {.Num32BitValues = layout.constants};
  const auto add_buffers = [&](UINT first, UINT count, D3D12_ROOT_PARAMETER_TYPE type) {
    for (UINT i = 0; i < count; ++i) {
      parameters[first + i].ParameterType = type;
      parameters[first + i].Descriptor = {.ShaderRegister = i};
    }
  };
  add_buffers(layout.first_input(), layout.inputs, D3D12_ROOT_PARAMETER_TYPE_SRV);
  add_buffers(layout.first_output(), layout.outputs, D3D12_ROOT_PARAMETER_TYPE_UAV);
  const D3D12_ROOT_SIGNATURE_DESC desc{.NumParameters = layout.parameters(),
                                       .pParameters = parameters.data()};
  ComPtr<ID3DBlob> text;
  ComPtr<ID3DBlob> messages;
  check(libraries().serialize_root_signature(&desc, D3D_ROOT_SIGNATURE_VERSION_1,
                                             text.GetAddressOf(), messages.GetAddressOf()),
        "making a root signature");
  ComPtr<ID3D12RootSignature> signature;
  check(device.CreateRootSignature(0, text->GetBufferPointer(), text->GetBufferSize(),
                                   IID_PPV_ARGS(signature.GetAddressOf())),
        "creating a root signature", &device);
  return signature;
}

}  // namespace

Pipelines::Pipelines(ID3D12Device& device)
    : device_(device),
      layout_{.constants = std::tuple_size_v<decltype(Launch::row)> + constants_most,
              .inputs = first_output_slot,
              .outputs = slot_count - first_output_slot} {
  layout_.signature = make_signature(device, layout_);
}

ID3D12PipelineState* Pipelines::find(const Dispatch& dispatch) {
  const auto& [kernel, specialization] = std::tie(dispatch.kernel, dispatch.specialization);
  Slot& slot = find_slot(kernel, specialization);
  const std::scoped_lock lock(slot.mutex);  // others compile meanwhile
  ComPtr<ID3D12PipelineState>& pipeline = slot.pipeline;
  if (pipeline) return pipeline.Get();
  const auto create = [&](std::span<const std::byte> code) {
    const D3D12_COMPUTE_PIPELINE_STATE_DESC desc{.pRootSignature = layout_.signature.Get(),
                                                 .CS = {code.data(), code.size()}};
    return device_.CreateComputePipelineState(&desc, IID_PPV_ARGS(pipeline.GetAddressOf()));
  };
  const ShaderCode code = shader_code(kernel, specialization);
  HRESULT result = create(code.bytes);
  // Another compiler, or another driver, may have been there when it was kept.
  if (FAILED(result) && code.is_kept) result = create(compile_again(kernel, specialization));
  check(result, "loading kernel " + kernel, &device_);
  return pipeline.Get();
}

Pipelines::Slot& Pipelines::find_slot(const std::string& kernel,
                                      std::span<const std::uint32_t> specialization) {
  const std::scoped_lock lock(mutex_);
  return slots_[{kernel, std::vector(specialization.begin(), specialization.end())}];
}

}  // namespace dmlop::gpu::d3d12
