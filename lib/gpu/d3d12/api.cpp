#include "gpu/d3d12/api.hpp"

#include <array>
#include <cstdio>

#include "base/caller.hpp"
#include "base/error.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

struct NamedResult {
  HRESULT result;
  const char* name;
};

constexpr std::array named_results{
    NamedResult{E_OUTOFMEMORY, "E_OUTOFMEMORY"},
    NamedResult{E_INVALIDARG, "E_INVALIDARG"},
    NamedResult{E_NOINTERFACE, "E_NOINTERFACE"},
    NamedResult{E_NOTIMPL, "E_NOTIMPL"},
    NamedResult{E_FAIL, "E_FAIL"},
    NamedResult{DXGI_ERROR_DEVICE_REMOVED, "DXGI_ERROR_DEVICE_REMOVED"},
    NamedResult{DXGI_ERROR_DEVICE_HUNG, "DXGI_ERROR_DEVICE_HUNG"},
    NamedResult{DXGI_ERROR_DEVICE_RESET, "DXGI_ERROR_DEVICE_RESET"},
    NamedResult{DXGI_ERROR_DRIVER_INTERNAL_ERROR, "DXGI_ERROR_DRIVER_INTERNAL_ERROR"},
    NamedResult{DXGI_ERROR_INVALID_CALL, "DXGI_ERROR_INVALID_CALL"},
    NamedResult{DXGI_ERROR_NOT_FOUND, "DXGI_ERROR_NOT_FOUND"},
    NamedResult{DXGI_ERROR_UNSUPPORTED, "DXGI_ERROR_UNSUPPORTED"},
    NamedResult{D3D12_ERROR_ADAPTER_NOT_FOUND, "D3D12_ERROR_ADAPTER_NOT_FOUND"},
    NamedResult{D3D12_ERROR_DRIVER_VERSION_MISMATCH, "D3D12_ERROR_DRIVER_VERSION_MISMATCH"},
};

bool is_loss(HRESULT result) {
  return result == DXGI_ERROR_DEVICE_REMOVED || result == DXGI_ERROR_DEVICE_HUNG ||
         result == DXGI_ERROR_DEVICE_RESET || result == DXGI_ERROR_DRIVER_INTERNAL_ERROR;
}

// Where libraries are looked for: never in the current folder or those of PATH, where the files of
// a stranger may lie.
constexpr DWORD in_system_folder = LOAD_LIBRARY_SEARCH_SYSTEM32;
constexpr DWORD beside_program = LOAD_LIBRARY_SEARCH_APPLICATION_DIR;

/// A function of a library, kept loaded; null where either is missing.
template <typename Function>
Function load(const wchar_t* library, const char* name, DWORD folders = in_system_folder) {
  const HMODULE module = LoadLibraryExW(library, nullptr, folders);
  if (module == nullptr) return nullptr;
  // By way of an untyped pointer: no function has the type of GetProcAddress's result.
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(module, name)));
}

}  // namespace

const Libraries& libraries() {
  static const Libraries loaded = [] {
    Libraries fresh;
    fresh.create_device = load<PFN_D3D12_CREATE_DEVICE>(L"d3d12.dll", "D3D12CreateDevice");
    fresh.serialize_root_signature =
        load<PFN_D3D12_SERIALIZE_ROOT_SIGNATURE>(L"d3d12.dll", "D3D12SerializeRootSignature");
    fresh.get_debug_interface =
        load<PFN_D3D12_GET_DEBUG_INTERFACE>(L"d3d12.dll", "D3D12GetDebugInterface");
    fresh.create_factory = load<decltype(fresh.create_factory)>(L"dxgi.dll", "CreateDXGIFactory1");
    if (fresh.create_device == nullptr || fresh.serialize_root_signature == nullptr) {
      fresh.missing = "Direct3D 12 (d3d12.dll) cannot be loaded";
    } else if (fresh.create_factory == nullptr) {
      fresh.missing = "DXGI (dxgi.dll) cannot be loaded";
    }
    return fresh;
  }();
  return loaded;
}

CompileFunction compiler() {
  static const auto compile =
      load<CompileFunction>(L"d3dcompiler_47.dll", "D3DCompile", beside_program | in_system_folder);
  if (compile != nullptr) return compile;
  throw Error(ErrorKind::unavailable,
              "the compiler of shaders (d3dcompiler_47.dll) cannot be loaded; it is part of "
              "Windows 10 and later, and can stand beside dmlop.exe; " +
                  option_text("--cpu") + " needs none");
}

std::string name_of(HRESULT result) {
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "0x%08lX",
                static_cast<unsigned long>(static_cast<std::uint32_t>(result)));
  for (const NamedResult& known : named_results) {
    if (known.result == result) return std::string(known.name) + " (" + number.data() + ")";
  }
  return std::string("HRESULT ") + number.data();
}

void check(HRESULT result, const std::string& doing, ID3D12Device* device) {
  if (SUCCEEDED(result)) return;
  if (!is_loss(result)) throw Error(ErrorKind::run_failed, doing + ": " + name_of(result));
  std::string why = name_of(result);
  if (device != nullptr) why += ", because of " + name_of(device->GetDeviceRemovedReason());
  throw Error(ErrorKind::device_lost, doing + ": the device was lost: " + why);
}

}  // namespace dmlop::gpu::d3d12
