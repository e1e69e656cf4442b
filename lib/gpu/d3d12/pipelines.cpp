#include "gpu/d3d12/pipelines.hpp"

#include <array>
#include <cstdio>
#include <span>
#include <vector>

#include "base/error.hpp"
#include "gpu/cache_file.hpp"
#include "gpu/d3d12/kernels.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

constexpr UINT constant_count = 32;
constexpr const char* shader_model = "cs_5_1";
constexpr UINT optimize_most = 1U << 15;  // D3DCOMPILE_OPTIMIZATION_LEVEL3

std::string text_of(ID3DBlob* blob) {
  if (blob == nullptr) return "";
  return {static_cast<const char*>(blob->GetBufferPointer()), blob->GetBufferSize()};
}

// One file per kernel; another source or other definitions have another name.
std::string cache_path_for(const std::string& kernel, const KernelSource& source) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const std::string_view text : {source.text, source.definitions}) {
    for (const char letter : text)
      sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  }
  std::array<char, 17> number{};
  std::snprintf(number.data(), number.size(), "%016llx", static_cast<unsigned long long>(sum));
  return cache_path("d3d12-" + kernel + "-" + number.data() + ".cache");
}

/// "RANK=3;REVERSAL=0" as the compiler wants it.
class Definitions {
 public:
  explicit Definitions(std::string_view list) {
    while (!list.empty()) {
      const std::string_view one = list.substr(0, list.find(';'));
      list.remove_prefix(std::min(list.size(), one.size() + 1));
      const std::size_t equals = one.find('=');
      names_.emplace_back(one.substr(0, equals));
      values_.emplace_back(one.substr(equals + 1));
    }
    for (std::size_t i = 0; i < names_.size(); ++i)
      rows_.push_back({names_[i].c_str(), values_[i].c_str()});
    rows_.push_back({});
  }
  const D3D_SHADER_MACRO* rows() const { return rows_.data(); }

 private:
  std::vector<std::string> names_;
  std::vector<std::string> values_;
  std::vector<D3D_SHADER_MACRO> rows_;
};

std::vector<std::byte> compile(const std::string& kernel, const KernelSource& source) {
  ComPtr<ID3DBlob> code;
  ComPtr<ID3DBlob> messages;
  const HRESULT result =
      compiler()(source.text.data(), source.text.size(), std::string(source.file).c_str(),
                 Definitions(source.definitions).rows(), nullptr, "main", shader_model,
                 optimize_most, 0, code.GetAddressOf(), messages.GetAddressOf());
  if (FAILED(result)) {
    throw Error(ErrorKind::run_failed, "compiling kernel " + kernel + ": " + name_of(result) +
                                           "\n" + text_of(messages.Get()));
  }
  const auto* bytes = static_cast<const std::byte*>(code->GetBufferPointer());
  return {bytes, bytes + code->GetBufferSize()};
}

std::vector<std::byte> shader_of(const std::string& kernel) {
  const auto source = find_kernel(kernel);
  if (!source) throw Error(ErrorKind::run_failed, "no kernel is called " + kernel);
  const std::string path = cache_path_for(kernel, *source);
  std::vector<std::byte> shader = read_cache(path);
  if (!shader.empty()) return shader;
  shader = compile(kernel, *source);
  write_cache(path, shader);
  return shader;
}

ComPtr<ID3D12RootSignature> make_root_signature(ID3D12Device& device) {
  std::array<D3D12_ROOT_PARAMETER, output_parameter + 1> parameters{};
  parameters[constants_parameter].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
  parameters[constants_parameter].Constants = {.Num32BitValues = constant_count};
  for (UINT i = first_input_parameter; i < output_parameter; ++i) {
    parameters[i].ParameterType = D3D12_ROOT_PARAMETER_TYPE_SRV;
    parameters[i].Descriptor = {.ShaderRegister = i - first_input_parameter};
  }
  parameters[output_parameter].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
  const D3D12_ROOT_SIGNATURE_DESC desc{.NumParameters = static_cast<UINT>(parameters.size()),
                                       .pParameters = parameters.data()};
  ComPtr<ID3DBlob> text;
  ComPtr<ID3DBlob> messages;
  check(libraries().serialize_root_signature(&desc, D3D_ROOT_SIGNATURE_VERSION_1,
                                             text.GetAddressOf(), messages.GetAddressOf()),
        "making the root signature");
  ComPtr<ID3D12RootSignature> signature;
  check(device.CreateRootSignature(0, text->GetBufferPointer(), text->GetBufferSize(),
                                   IID_PPV_ARGS(signature.GetAddressOf())),
        "creating the root signature", &device);
  return signature;
}

}  // namespace

Pipelines::Pipelines(ID3D12Device& device)
    : device_(device), root_signature_(make_root_signature(device)) {}

ID3D12PipelineState* Pipelines::find(const std::string& kernel) {
  const std::scoped_lock lock(mutex_);
  ComPtr<ID3D12PipelineState>& pipeline = pipelines_[kernel];
  if (pipeline) return pipeline.Get();
  const std::vector<std::byte> shader = shader_of(kernel);
  const D3D12_COMPUTE_PIPELINE_STATE_DESC desc{.pRootSignature = root_signature_.Get(),
                                               .CS = {shader.data(), shader.size()}};
  check(device_.CreateComputePipelineState(&desc, IID_PPV_ARGS(pipeline.GetAddressOf())),
        "loading kernel " + kernel, &device_);
  return pipeline.Get();
}

}  // namespace dmlop::gpu::d3d12
