// The interfaces of DirectML.h as far as the layer calls or watches them, in the order of their
// methods. The structs that they take are addresses here: layer/structs.hpp reads them.
#pragma once

#include <unknwn.h>

#include "base/windows.hpp"
#include "layer/structs.hpp"

namespace dmlop::layer {

struct IDMLObject : IUnknown {
  virtual HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID guid, UINT size, const void* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, IUnknown* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE SetName(const wchar_t* name) = 0;
};

struct IDMLDeviceChild : IDMLObject {
  virtual HRESULT STDMETHODCALLTYPE GetDevice(REFIID riid, void** device) = 0;
};

using IDMLOperator = IDMLDeviceChild;  // the same methods

struct IDMLDispatchable : IDMLDeviceChild {
  /// Microsoft's compiler hands over where the struct goes, behind the object.
  virtual BindingProperties* STDMETHODCALLTYPE GetBindingProperties(BindingProperties* result) = 0;
};

using IDMLCompiledOperator = IDMLDispatchable;

struct IDMLDevice : IDMLObject {
  virtual HRESULT STDMETHODCALLTYPE CheckFeatureSupport(INT feature, UINT query_size,
                                                        const void* query, UINT data_size,
                                                        void* data) = 0;
  virtual HRESULT STDMETHODCALLTYPE CreateOperator(const void* desc, REFIID riid, void** made) = 0;
  virtual HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator* operation, INT flags, REFIID riid,
                                                    void** made) = 0;
  virtual HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(
      UINT count, IDMLCompiledOperator* const* operators, REFIID riid, void** made) = 0;
  virtual HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID riid, void** made) = 0;
  virtual HRESULT STDMETHODCALLTYPE CreateBindingTable(const void* desc, REFIID riid,
                                                       void** made) = 0;
  virtual HRESULT STDMETHODCALLTYPE Evict(UINT count, void* const* objects) = 0;
  virtual HRESULT STDMETHODCALLTYPE MakeResident(UINT count, void* const* objects) = 0;
  virtual HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() = 0;
  virtual HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID riid, void** device) = 0;
};

struct IDMLDevice1 : IDMLDevice {
  virtual HRESULT STDMETHODCALLTYPE CompileGraph(const void* desc, INT flags, REFIID riid,
                                                 void** made) = 0;
};

// {c8263aac-9e0c-4a2d-9b8e-007521a3317c}
inline constexpr GUID iid_object{
    0xc8263aac, 0x9e0c, 0x4a2d, {0x9b, 0x8e, 0x00, 0x75, 0x21, 0xa3, 0x31, 0x7c}};
// {6dbd6437-96fd-423f-a98c-ae5e7c2a573f}
inline constexpr GUID iid_device{
    0x6dbd6437, 0x96fd, 0x423f, {0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f}};
// {a0884f9a-d2be-4355-aa5d-5901281ad1d2}
inline constexpr GUID iid_device1{
    0xa0884f9a, 0xd2be, 0x4355, {0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1, 0xd2}};
// {26caae7a-3081-4633-9581-226fbe57695d}
inline constexpr GUID iid_operator{
    0x26caae7a, 0x3081, 0x4633, {0x95, 0x81, 0x22, 0x6f, 0xbe, 0x57, 0x69, 0x5d}};
// {dcb821a8-1039-441e-9f1c-b1759c2f3cec}
inline constexpr GUID iid_dispatchable{
    0xdcb821a8, 0x1039, 0x441e, {0x9f, 0x1c, 0xb1, 0x75, 0x9c, 0x2f, 0x3c, 0xec}};
// {6b15e56a-bf5c-4902-92d8-da3a650afea4}
inline constexpr GUID iid_compiled_operator{
    0x6b15e56a, 0xbf5c, 0x4902, {0x92, 0xd8, 0xda, 0x3a, 0x65, 0x0a, 0xfe, 0xa4}};
// {427c1113-435c-469c-8676-4d5dd072f813}
inline constexpr GUID iid_operator_initializer{
    0x427c1113, 0x435c, 0x469c, {0x86, 0x76, 0x4d, 0x5d, 0xd0, 0x72, 0xf8, 0x13}};

using CreateDevice = HRESULT(WINAPI*)(IUnknown* d3d12_device, INT flags, REFIID riid, void** made);
using CreateDevice1 = HRESULT(WINAPI*)(IUnknown* d3d12_device, INT flags, INT minimum_level,
                                       REFIID riid, void** made);

}  // namespace dmlop::layer
