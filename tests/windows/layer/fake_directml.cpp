// A DirectML.dll that makes objects of every kind and computes nothing. It accepts everything until
// it is told to refuse, and counts its objects.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "layer/dll/directml.hpp"

namespace {

using namespace dmlop::layer;

std::atomic<long> living{0};
thread_local HRESULT verdict = S_OK;
thread_local bool calls_itself = false;

struct GuidOrder {
  bool operator()(const GUID& a, const GUID& b) const { return std::memcmp(&a, &b, sizeof(a)) < 0; }
};

/// What all objects of DirectML have in common.
template <typename Interface>
class Object : public Interface {
 public:
  Object() { ++living; }
  Object(const Object&) = delete;

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    if (object == nullptr) return E_POINTER;
    *object = nullptr;
    if (!IsEqualGUID(riid, IID_IUnknown) && !IsEqualGUID(riid, iid_object) && !is(riid))
      return E_NOINTERFACE;
    *object = this;
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID guid, UINT* size, void* data) override {
    const std::scoped_lock lock(mutex_);
    const auto found = interfaces_.find(guid);
    if (found == interfaces_.end() || *size < sizeof(void*)) return E_INVALIDARG;
    *size = sizeof(void*);
    std::memcpy(data, &found->second, sizeof(void*));
    found->second->AddRef();
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID guid, IUnknown* data) override {
    const std::scoped_lock lock(mutex_);
    if (data != nullptr) data->AddRef();
    IUnknown*& kept = interfaces_[guid];
    if (kept != nullptr) kept->Release();
    kept = data;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetName(const wchar_t*) override { return S_OK; }

 protected:
  virtual ~Object() {
    for (const auto& [guid, data] : interfaces_) {
      if (data != nullptr) data->Release();
    }
    --living;
  }
  virtual bool is(REFIID riid) const = 0;

 private:
  std::atomic<ULONG> references_ = 1;
  std::mutex mutex_;
  std::map<GUID, IUnknown*, GuidOrder> interfaces_;
};

class Child final : public Object<IDMLDispatchable> {
 public:
  explicit Child(const GUID& iid) : iid_(iid) {}
  HRESULT STDMETHODCALLTYPE GetDevice(REFIID, void**) override { return E_NOTIMPL; }
  BindingProperties* STDMETHODCALLTYPE GetBindingProperties(BindingProperties* result) override {
    *result = {4, 0, 0};
    return result;
  }

 protected:
  bool is(REFIID riid) const override {
    return IsEqualGUID(riid, iid_) ||
           (IsEqualGUID(riid, iid_dispatchable) && !IsEqualGUID(iid_, iid_operator));
  }

 private:
  GUID iid_;
};

/// The verdict, with an object if it is good.
HRESULT make(const GUID& iid, REFIID riid, void** made) {
  if (made != nullptr) *made = nullptr;
  if (FAILED(verdict)) return verdict;
  if (made == nullptr) return S_FALSE;
  auto* child = new Child(iid);
  const HRESULT result = child->QueryInterface(riid, made);
  child->Release();
  return result;
}

/// As DirectML does inside CompileGraph: by the table of its own device.
[[gnu::noinline]] void call_itself(IDMLDevice* device) {
  void* made = nullptr;
  device->CompileOperator(nullptr, 0, iid_compiled_operator, &made);
  if (made != nullptr) static_cast<IUnknown*>(made)->Release();
}

/// The debug layer of DirectML has a class of its own.
template <bool is_debug>
class Device final : public Object<IDMLDevice1> {
 public:
  HRESULT STDMETHODCALLTYPE CheckFeatureSupport(INT feature, UINT query_size, const void* query,
                                                UINT data_size, void* data) override {
    if (feature != 1 || query_size != 16 || data_size != 4 || query == nullptr || data == nullptr)
      return E_INVALIDARG;
    const UINT level = is_debug ? 0x5000 : 0x6400;
    std::memcpy(data, &level, sizeof(level));
    return verdict;
  }
  HRESULT STDMETHODCALLTYPE CreateOperator(const void*, REFIID riid, void** made) override {
    return make(iid_operator, riid, made);
  }
  HRESULT STDMETHODCALLTYPE CompileOperator(IDMLOperator*, INT, REFIID riid, void** made) override {
    return make(iid_compiled_operator, riid, made);
  }
  HRESULT STDMETHODCALLTYPE CreateOperatorInitializer(UINT, IDMLCompiledOperator* const*,
                                                      REFIID riid, void** made) override {
    return make(iid_operator_initializer, riid, made);
  }
  HRESULT STDMETHODCALLTYPE CreateCommandRecorder(REFIID, void**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CreateBindingTable(const void*, REFIID, void**) override {
    return verdict;
  }
  HRESULT STDMETHODCALLTYPE Evict(UINT, void* const*) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE MakeResident(UINT, void* const*) override { return S_OK; }
  HRESULT STDMETHODCALLTYPE GetDeviceRemovedReason() override { return S_OK; }
  HRESULT STDMETHODCALLTYPE GetParentDevice(REFIID, void**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CompileGraph(const void*, INT, REFIID riid, void** made) override {
    if (calls_itself) call_itself(this);
    return make(iid_compiled_operator, riid, made);
  }

 protected:
  bool is(REFIID riid) const override {
    return IsEqualGUID(riid, iid_device) || IsEqualGUID(riid, iid_device1);
  }
};

HRESULT make_device(INT flags, REFIID riid, void** made) {
  if (made != nullptr) *made = nullptr;
  if (FAILED(verdict)) return verdict;
  if (made == nullptr) return S_FALSE;
  IUnknown* device = nullptr;
  if ((flags & 1) != 0) {
    device = new Device<true>;
  } else {
    device = new Device<false>;
  }
  const HRESULT result = device->QueryInterface(riid, made);
  device->Release();
  return result;
}

}  // namespace

extern "C" {

HRESULT WINAPI DMLCreateDevice(IUnknown*, INT flags, REFIID riid, void** made) {
  return make_device(flags, riid, made);
}

HRESULT WINAPI DMLCreateDevice1(IUnknown*, INT flags, INT, REFIID riid, void** made) {
  return make_device(flags, riid, made);
}

/// What this thread's calls return from now on.
void fake_verdict(HRESULT result) {
  verdict = result;
}

/// Whether CompileGraph calls CompileOperator, which has the same verdict.
void fake_calls_itself(bool does) {
  calls_itself = does;
}

long fake_living() {
  return living;
}
}
