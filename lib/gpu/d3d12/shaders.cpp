#include "gpu/d3d12/shaders.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.hpp"
#include "gpu/cache_file.hpp"
#include "gpu/d3d12/api.hpp"
#include "gpu/d3d12/kernels.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

constexpr const char* shader_model = "cs_5_1";
constexpr UINT optimize_most = 1U << 15;    // D3DCOMPILE_OPTIMIZATION_LEVEL3
constexpr UINT ieee_strictness = 1U << 13;  // D3DCOMPILE_IEEE_STRICTNESS: NaN and infinity count
constexpr UINT compiler_options = optimize_most | ieee_strictness;

/// What a shader is compiled from.
struct ShaderSource {
  KernelSource kernel;
  std::string definitions;  // "RANK=3;SPECIALIZATION_0=7"
};

ShaderSource source_of(const std::string& name, std::span<const std::uint32_t> specialization) {
  const auto kernel = find_kernel(name);
  if (!kernel) throw Error(ErrorKind::run_failed, "no kernel is called " + name);
  std::string definitions(kernel->definitions);
  for (std::size_t i = 0; i < specialization.size(); ++i) {
    definitions += (definitions.empty() ? "SPECIALIZATION_" : ";SPECIALIZATION_") +
                   std::to_string(i) + "=" + std::to_string(specialization[i]);
  }
  return {*kernel, definitions};
}

// One file per kernel and specialization; whatever else the compiler is given has another name.
std::string cache_path_for(const ShaderSource& shader) {
  std::uint64_t sum = 0xcbf29ce484222325ULL;  // FNV-1a
  const auto add = [&](std::string_view text) {
    for (const char letter : text)
      sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
    sum *= 0x100000001b3ULL;  // the end of a text counts
  };
  add(shader.kernel.text);
  add(shader.definitions);
  add(shader_model);
  add(std::to_string(compiler_options));
  std::array<char, 17> number{};
  std::snprintf(number.data(), number.size(), "%016llx", static_cast<unsigned long long>(sum));
  return cache_path("d3d12-" + std::string(shader.kernel.name) + "-" + number.data() + ".cache");
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

std::string text_of(ID3DBlob* blob) {
  if (blob == nullptr) return "";
  return {static_cast<const char*>(blob->GetBufferPointer()), blob->GetBufferSize()};
}

std::vector<std::byte> compile(const ShaderSource& shader) {
  const KernelSource& kernel = shader.kernel;
  ComPtr<ID3DBlob> code;
  ComPtr<ID3DBlob> messages;
  const HRESULT result =
      compiler()(kernel.text.data(), kernel.text.size(), std::string(kernel.file).c_str(),
                 Definitions(shader.definitions).rows(), nullptr, "main", shader_model,
                 compiler_options, 0, code.GetAddressOf(), messages.GetAddressOf());
  if (FAILED(result)) {
    throw Error(ErrorKind::run_failed, "compiling kernel " + std::string(kernel.name) + ": " +
                                           name_of(result) + "\n" + text_of(messages.Get()));
  }
  const auto* bytes = static_cast<const std::byte*>(code->GetBufferPointer());
  return {bytes, bytes + code->GetBufferSize()};
}

}  // namespace

ShaderCode shader_code(const std::string& kernel, std::span<const std::uint32_t> specialization) {
  ShaderCode kept{read_cache(cache_path_for(source_of(kernel, specialization))), /*is_kept=*/true};
  if (!kept.bytes.empty()) return kept;
  return {compile_again(kernel, specialization)};
}

std::vector<std::byte> compile_again(const std::string& kernel,
                                     std::span<const std::uint32_t> specialization) {
  const ShaderSource shader = source_of(kernel, specialization);
  std::vector<std::byte> code = compile(shader);
  write_cache(cache_path_for(shader), code);
  return code;
}

std::vector<std::byte> compile_shader(const std::string& kernel,
                                      std::span<const std::uint32_t> specialization) {
  return compile(source_of(kernel, specialization));
}

}  // namespace dmlop::gpu::d3d12
