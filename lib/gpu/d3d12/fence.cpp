#include "gpu/d3d12/fence.hpp"

namespace dmlop::gpu::d3d12 {

Fence::Fence(Context& context) : context_(context) {
  check(context.device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(fence_.GetAddressOf())),
        "creating a fence", context.device.Get());
  event_ = CreateEventW(nullptr, FALSE, FALSE, nullptr);
  if (event_ == nullptr) check(HRESULT_FROM_WIN32(GetLastError()), "creating an event");
}

void Fence::signal() {
  check(context_.queue->Signal(fence_.Get(), ++value_), "signalling a fence",
        context_.device.Get());
}

bool Fence::wait(DWORD milliseconds) {
  if (fence_->GetCompletedValue() >= value_) return true;
  // Once for each end: every call would set the event once more, at a time of its own.
  if (awaited_ == value_ || SUCCEEDED(fence_->SetEventOnCompletion(value_, event_))) {
    awaited_ = value_;
    WaitForSingleObject(event_, milliseconds);
  } else {  // for lack of memory: the work goes on
    Sleep(milliseconds);
  }
  return fence_->GetCompletedValue() >= value_;
}

void Fence::abandon() {
  static_cast<void>(fence_.Detach());
  event_ = nullptr;
}

}  // namespace dmlop::gpu::d3d12
