// Direct3D's entry points, loaded when the program first looks for a GPU, and the handling of its
// result codes. The program starts where these libraries are missing.
#pragma once

#include "base/windows.hpp"
// In this order. The compiler's own headers of remote procedure calls first: those of
// DirectX-Headers ask for newer ones than mingw-w64 has, and need nothing of them.
// clang-format off
#include <rpc.h>
#include <rpcndr.h>
#include <d3d12.h>
#include <d3d12sdklayers.h>
#include <dxguids.h>
#include <dxgi1_4.h>
#include <wrl/client.h>
// clang-format on

#include <string>

namespace dmlop::gpu::d3d12 {

using Microsoft::WRL::ComPtr;

/// The functions of d3d12.dll and dxgi.dll; `missing` names what could not be loaded.
struct Libraries {
  std::string missing;
  PFN_D3D12_CREATE_DEVICE create_device = nullptr;
  PFN_D3D12_SERIALIZE_ROOT_SIGNATURE serialize_root_signature = nullptr;
  PFN_D3D12_GET_DEBUG_INTERFACE get_debug_interface = nullptr;  // may be null
  HRESULT(WINAPI* create_factory)(REFIID, void**) = nullptr;
};
const Libraries& libraries();

/// D3DCompile of d3dcompiler_47.dll. Errors: unavailable where the library is missing.
using CompileFunction = HRESULT(WINAPI*)(LPCVOID source, SIZE_T bytes, LPCSTR name,
                                         const D3D_SHADER_MACRO* definitions, void* include,
                                         LPCSTR entry, LPCSTR target, UINT options,
                                         UINT effect_options, ID3DBlob** code, ID3DBlob** messages);
CompileFunction compiler();

/// "DXGI_ERROR_DEVICE_HUNG (0x887A0006)".
std::string name_of(HRESULT result);

/// Throws Error with the code by name and what was being done, unless it is a success: device_lost
/// where the device is gone, with the reason that `device` gives, else run_failed.
void check(HRESULT result, const std::string& doing, ID3D12Device* device = nullptr);

}  // namespace dmlop::gpu::d3d12
