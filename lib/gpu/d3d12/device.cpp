#include "gpu/d3d12/device.hpp"

#include <algorithm>

#include "gpu/d3d12/commands.hpp"
#include "gpu/staging.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

class Direct3DDevice : public Device {
 public:
  Direct3DDevice(IDXGIAdapter1& adapter, const DeviceInfo& info) : info_(info) {
    check(libraries().create_device(&adapter, D3D_FEATURE_LEVEL_11_0,
                                    IID_PPV_ARGS(context_.device.GetAddressOf())),
          "opening " + info_.name);
    context_.messages.listen_to(*context_.device.Get());
    if (FAILED(adapter.QueryInterface(IID_PPV_ARGS(context_.adapter.GetAddressOf()))))
      context_.adapter.Reset();
    create_queue();
    std::uint64_t frequency = 0;
    if (SUCCEEDED(context_.queue->GetTimestampFrequency(&frequency)) && frequency != 0)
      context_.seconds_per_tick = 1 / static_cast<double>(frequency);
    context_.pipelines = std::make_unique<Pipelines>(*context_.device.Get());
  }

  const DeviceInfo& info() const override { return info_; }
  // Every device has room for the buffers of a kernel.
  std::string refusal() const override { return ""; }
  void prepare(const Dispatch& dispatch) override { context_.pipelines->find(dispatch); }
  std::unique_ptr<Commands> make_commands() override {
    check_alive();
    return d3d12::make_commands(context_);
  }
  std::unique_ptr<ResidentBuffer> make_buffer(Place place, std::uint64_t bytes) override {
    check_alive();
    return d3d12::make_buffer(context_, place, bytes);
  }
  Paces& paces() override { return context_.paces; }

  // What every device must take (D3D12_REQ_RESOURCE_SIZE_IN_MEGABYTES_EXPRESSION), and the 2^27
  // elements that a buffer of words may have in a shader.
  std::uint64_t buffer_bytes_limit() const override {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    const std::uint64_t limit = std::clamp(info_.memory_bytes / 4, 128 * mebibyte, 512 * mebibyte);
    return (info_.kind == DeviceKind::software ? 128 * mebibyte : limit) - 2 * slack_bytes;
  }

 private:
  void check_alive() const {
    if (context_.hung) throw hanging(info_);
  }

  // Work comes in short pieces (gpu/launches.hpp). Where one takes longer than Windows allows, on a
  // slow or a busy GPU, it is not to cost the device; a driver that does not accept this is asked
  // without.
  void create_queue() {
    D3D12_COMMAND_QUEUE_DESC desc{.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE,
                                  .Flags = D3D12_COMMAND_QUEUE_FLAG_DISABLE_GPU_TIMEOUT};
    const auto create = [&] {
      return context_.device->CreateCommandQueue(&desc,
                                                 IID_PPV_ARGS(context_.queue.GetAddressOf()));
    };
    if (SUCCEEDED(create())) return;
    desc.Flags = D3D12_COMMAND_QUEUE_FLAG_NONE;
    check(create(), "creating a command queue", context_.device.Get());
  }

  DeviceInfo info_;
  Context context_;
};

}  // namespace

std::unique_ptr<Device> make_device(IDXGIAdapter1& adapter, const DeviceInfo& info) {
  return std::make_unique<Direct3DDevice>(adapter, info);
}

}  // namespace dmlop::gpu::d3d12
