// What DirectML.dll exports, in front of the real one.
#include <atomic>
#include <mutex>

#include "base/text.hpp"
#include "layer/dll/device.hpp"
#include "layer/dll/reports.hpp"
#include "layer/explain.hpp"
#include "layer/hresults.hpp"

namespace dmlop::layer {
namespace {

constexpr std::uint32_t e_invalidarg = 0x80070057;
constexpr HRESULT module_not_found = static_cast<HRESULT>(0x8007007E);

std::wstring system_folder() {
  std::wstring path(MAX_PATH + 1, L'\0');
  path.resize(GetSystemDirectoryW(path.data(), static_cast<UINT>(path.size())));
  return path;
}

bool has_export(HMODULE module, const char* name) {
  return GetProcAddress(module, name) != nullptr;
}

/// The DLL at a path, unless it is a layer, which would call itself.
HMODULE load(const std::wstring& path) {
  const HMODULE module = LoadLibraryExW(path.c_str(), nullptr, LOAD_WITH_ALTERED_SEARCH_PATH);
  if (module == nullptr || !has_export(module, "dmlop_layer_version")) return module;
  FreeLibrary(module);
  return nullptr;
}

/// DirectML.real.dll beside this DLL; null, which is said, if it is there and does not load.
HMODULE load_renamed() {
  const std::wstring path = to_utf16(own_folder()) + L"\\DirectML.real.dll";
  const HMODULE module = load(path);
  const DWORD error = GetLastError();
  if (module == nullptr && GetFileAttributesW(path.c_str()) != INVALID_FILE_ATTRIBUTES)
    report("DMLCreateDevice: " + own_folder() + "\\DirectML.real.dll does not load (error " +
           std::to_string(error) +
           "), so the DirectML.dll of Windows is used\n  help: put Microsoft's DirectML.dll for "
           "x64 there\n");
  return module;
}

/// DirectML.real.dll beside this DLL, or the DirectML.dll of Windows; null if there is neither.
HMODULE real_module() {
  static std::once_flag once;
  static HMODULE module = nullptr;
  std::call_once(once, [] {
    quietly([] {
      module = load_renamed();
      if (module == nullptr) module = load(system_folder() + L"\\DirectML.dll");
      if (module == nullptr)
        report("DMLCreateDevice: there is neither DirectML.real.dll in " + own_folder() +
               " nor a DirectML.dll of Windows\n  help: put Microsoft's DirectML.dll beside the "
               "application as DirectML.real.dll\n");
    });
    // The methods of devices point into this DLL from now on.
    HMODULE self = nullptr;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                       reinterpret_cast<const wchar_t*>(&real_module), &self);
  });
  return module;
}

template <typename Function>
Function real_function(const char* name) {
  const HMODULE module = real_module();
  if (module == nullptr) return nullptr;
  return reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(module, name)));
}

HRESULT after_creation(const char* call, HRESULT result, void** made) {
  quietly([&] {
    if (SUCCEEDED(result)) {
      if (made != nullptr && *made != nullptr) watch_device(static_cast<IUnknown*>(*made));
      return;
    }
    Refusal refusal{
        .call = call, .subject = "", .code = static_cast<std::uint32_t>(result), .findings = {}};
    if (refusal.code == e_invalidarg || find_hresult(refusal.code) == nullptr)
      refusal.findings.push_back(
          {.message = "the real DirectML.dll makes no device of this Direct3D 12 device, with "
                      "these flags and this feature level"});
    report(text_of(refusal));
  });
  return result;
}

}  // namespace
}  // namespace dmlop::layer

extern "C" {

HRESULT WINAPI DMLCreateDevice(IUnknown* d3d12_device, INT flags, REFIID riid, void** made) {
  using namespace dmlop::layer;
  const auto real = real_function<CreateDevice>("DMLCreateDevice");
  if (real == nullptr) return module_not_found;
  return after_creation("DMLCreateDevice", real(d3d12_device, flags, riid, made), made);
}

HRESULT WINAPI DMLCreateDevice1(IUnknown* d3d12_device, INT flags, INT minimum_level, REFIID riid,
                                void** made) {
  using namespace dmlop::layer;
  const auto real = real_function<CreateDevice1>("DMLCreateDevice1");
  if (real == nullptr) return module_not_found;
  return after_creation("DMLCreateDevice1", real(d3d12_device, flags, minimum_level, riid, made),
                        made);
}

/// Tells the layer from the DLL that it stands before.
const char* dmlop_layer_version() {
  return DMLOP_LAYER_MARK;
}
}
