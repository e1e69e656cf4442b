#include "gpu/d3d12/debug.hpp"

#include <exception>
#include <mutex>
#include <vector>

#include "base/output.hpp"
#include "base/system_file.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

void print_message(ID3D12InfoQueue& messages, std::uint64_t index) {
  SIZE_T bytes = 0;
  if (FAILED(messages.GetMessage(index, nullptr, &bytes)) || bytes == 0) return;
  std::vector<std::uint64_t> room((bytes + 7) / 8);  // aligned for what stands at its beginning
  auto* const message = reinterpret_cast<D3D12_MESSAGE*>(room.data());
  if (FAILED(messages.GetMessage(index, message, &bytes)) ||
      message->Severity > D3D12_MESSAGE_SEVERITY_WARNING || message->DescriptionByteLength == 0)
    return;
  const std::string_view text(message->pDescription, message->DescriptionByteLength - 1);
  print(StandardStream::error, {"direct3d debug: ", Text::lines(text), "\n"});
}

}  // namespace

std::string enable_debug_layer() {
  if (environment_variable("DMLOP_D3D12_DEBUG").empty()) return "";
  ComPtr<ID3D12Debug> layer;
  const auto get = libraries().get_debug_interface;
  const HRESULT result =
      get == nullptr ? E_NOTIMPL
                     : get(__uuidof(ID3D12Debug), reinterpret_cast<void**>(layer.GetAddressOf()));
  if (FAILED(result) || !layer) {
    return "DMLOP_D3D12_DEBUG is set, but Direct3D's debug layer cannot be loaded: " +
           name_of(result) +
           "; install Graphics Tools (Settings, optional features), or unset the variable";
  }
  layer->EnableDebugLayer();
  return "";
}

void DebugMessages::listen_to(ID3D12Device& device) {
  // Without the layer the device has no such interface.
  if (FAILED(device.QueryInterface(IID_PPV_ARGS(messages_.GetAddressOf())))) messages_.Reset();
}

void DebugMessages::print_new() noexcept {
  if (!messages_) return;
  static std::mutex mutex;
  try {
    const std::scoped_lock lock(mutex);
    const std::uint64_t count = messages_->GetNumStoredMessages();
    for (std::uint64_t i = 0; i < count; ++i) print_message(*messages_.Get(), i);
    messages_->ClearStoredMessages();
  } catch (const std::exception&) {  // no memory for a message
  }
}

}  // namespace dmlop::gpu::d3d12
