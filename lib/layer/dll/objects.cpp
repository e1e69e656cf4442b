#include "layer/dll/objects.hpp"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace dmlop::layer {
namespace {

// {0f1d3a52-5f0e-4f0b-9c57-0c6d3f1c9d11}
constexpr GUID private_data_of_layer{
    0x0f1d3a52, 0x5f0e, 0x4f0b, {0x9c, 0x57, 0x0c, 0x6d, 0x3f, 0x1c, 0x9d, 0x11}};

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<Address, std::shared_ptr<const ReadOperator>> operators;
};

// Never destroyed: objects may be released after everything else of this DLL.
Table& table() {
  static Table* const only = new Table;
  return *only;
}

/// Data of an operator, which DirectML releases with it.
class Memory final : public IUnknown {
 public:
  Memory(Address address, std::shared_ptr<const ReadOperator> operation)
      : address_(address), operation_(std::move(operation)) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID riid, void** object) override {
    if (object == nullptr) return E_POINTER;
    *object = nullptr;
    if (!IsEqualGUID(riid, IID_IUnknown)) return E_NOINTERFACE;
    *object = static_cast<IUnknown*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

 private:
  virtual ~Memory() {
    const std::unique_lock lock(table().mutex);
    const auto found = table().operators.find(address_);
    // The place may have become another operator's.
    if (found != table().operators.end() && found->second == operation_)
      table().operators.erase(found);
  }

  std::atomic<ULONG> references_ = 1;
  Address address_;
  std::shared_ptr<const ReadOperator> operation_;
};

}  // namespace

void remember_operator(void* made, ReadOperator operation) {
  IDMLOperator* object = nullptr;
  const HRESULT found =
      static_cast<IUnknown*>(made)->QueryInterface(iid_operator, reinterpret_cast<void**>(&object));
  if (FAILED(found) || object == nullptr) return;
  const auto address = reinterpret_cast<Address>(object);
  auto shared = std::make_shared<const ReadOperator>(std::move(operation));
  auto* memory = new Memory(address, shared);
  {
    const std::unique_lock lock(table().mutex);
    table().operators[address] = std::move(shared);
  }
  object->SetPrivateDataInterface(private_data_of_layer, memory);
  memory->Release();  // forgets the operator if the object did not take it
  object->Release();
}

std::shared_ptr<const ReadOperator> find_operator_object(Address address) {
  const std::shared_lock lock(table().mutex);
  const auto found = table().operators.find(address);
  return found == table().operators.end() ? nullptr : found->second;
}

}  // namespace dmlop::layer
