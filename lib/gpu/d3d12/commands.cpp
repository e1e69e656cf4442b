#include "gpu/d3d12/commands.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "gpu/d3d12/buffer.hpp"
#include "gpu/d3d12/fence.hpp"
#include "gpu/staging.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

constexpr DWORD step_milliseconds = 100;  // of waiting
constexpr std::uint64_t timestamp_bytes = moment_count * sizeof(std::uint64_t);

// Buffers are in this state between command lists, as the runtime has it.
constexpr auto common = D3D12_RESOURCE_STATE_COMMON;

void require_room(const Context& context, std::uint64_t bytes) {
  const MemoryBudget memory = context.memory();
  if (memory.has_room_for(rounded_up(bytes))) return;
  throw Error(ErrorKind::run_failed,
              "allocating " + std::to_string(bytes) + " bytes of device memory: of the " +
                  std::to_string(memory.budget) + " bytes that the system grants, " +
                  std::to_string(memory.used) + " are in use");
}

class Direct3DBuffer : public ResidentBuffer {
 public:
  Direct3DBuffer(Context& context, Place place, std::uint64_t bytes)
      : ResidentBuffer(bytes),
        context_(context),
        place_(place),
        buffer_(*context.device.Get(), place) {
    if (place == Place::device) require_room(context, bytes);
    buffer_.grow(rounded_up(bytes) + 2 * first());
  }
  ~Direct3DBuffer() override {
    if (context_.hung) buffer_.abandon();
  }
  std::span<std::byte> mapped() override { return {buffer_.data(), bytes()}; }
  ID3D12Resource* resource() const { return buffer_.resource(); }
  /// Where its first byte stands, behind the slack.
  std::uint64_t first() const { return is_on_device() ? slack_bytes : 0; }
  bool is_on_device() const { return place_ == Place::device; }

 private:
  Context& context_;
  Place place_;
  Buffer buffer_;
};

const Direct3DBuffer& buffer_of(const ResidentRange& range) {
  return static_cast<const Direct3DBuffer&>(*range.buffer);
}

D3D12_GPU_VIRTUAL_ADDRESS address_of(const Binding& binding) {
  const Direct3DBuffer& buffer = buffer_of(binding.range);
  return buffer.resource()->GetGPUVirtualAddress() + buffer.first() + binding.range.offset -
         binding.slack;
}

class Direct3DCommands : public Commands {
 public:
  explicit Direct3DCommands(Context& context)
      : context_(context),
        device_(*context.device.Get()),
        ticks_(device_, Place::download),
        fence_(context) {
    constexpr auto type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    check(device_.CreateCommandAllocator(type, IID_PPV_ARGS(allocator_.GetAddressOf())),
          "creating a command allocator", &device_);
    check(device_.CreateCommandList(0, type, allocator_.Get(), nullptr,
                                    IID_PPV_ARGS(commands_.GetAddressOf())),
          "creating a command list", &device_);
    check(commands_->Close(), "closing a command list", &device_);
    const D3D12_QUERY_HEAP_DESC queries{.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP,
                                        .Count = moment_count};
    check(device_.CreateQueryHeap(&queries, IID_PPV_ARGS(queries_.GetAddressOf())),
          "creating a query heap", &device_);
    ticks_.grow(timestamp_bytes);
  }

  ~Direct3DCommands() override {
    if (becomes_idle()) return;
    context_.hung = true;  // so that the copies are abandoned, too
    fence_.abandon();
    ticks_.abandon();
    static_cast<void>(queries_.Detach());
    static_cast<void>(commands_.Detach());
    static_cast<void>(allocator_.Detach());
  }

  void begin() override {
    check(allocator_->Reset(), "resetting a command allocator", &device_);
    check(commands_->Reset(allocator_.Get(), nullptr), "resetting a command list", &device_);
    stamped_.fill(false);
    outgrown_.clear();
  }

  void stamp(Moment moment) override {
    const auto query = static_cast<UINT>(moment);
    stamped_[query] = true;
    commands_->EndQuery(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, query);
  }

  void copy(const ResidentRange& from, const ResidentRange& to) override {
    const Direct3DBuffer &source = buffer_of(from), &target = buffer_of(to);
    // Buffers of the host keep the state that they have.
    if (source.is_on_device()) require(source.resource(), D3D12_RESOURCE_STATE_COPY_SOURCE);
    if (target.is_on_device()) require(target.resource(), D3D12_RESOURCE_STATE_COPY_DEST);
    commands_->CopyBufferRegion(target.resource(), target.first() + to.offset, source.resource(),
                                source.first() + from.offset, from.bytes);
  }

  void bind(const Dispatch& dispatch, const Bindings& bindings) override {
    const RootLayout& layout = context_.pipelines->layout();
    commands_->SetComputeRootSignature(layout.signature.Get());
    commands_->SetPipelineState(context_.pipelines->find(dispatch));
    const auto inputs = std::span(bindings).first(first_output_slot);
    const auto outputs = std::span(bindings).subspan(first_output_slot);
    std::vector<D3D12_GPU_VIRTUAL_ADDRESS> addresses;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      addresses.push_back(address_to_read(i, bindings));
    for (UINT i = 0; i < layout.inputs; ++i)
      commands_->SetComputeRootShaderResourceView(layout.first_input() + i, addresses[i]);
    for (UINT i = 0; i < layout.outputs; ++i) {
      require(buffer_of(outputs[i].range).resource(), D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
      commands_->SetComputeRootUnorderedAccessView(layout.first_output() + i,
                                                   address_of(outputs[i]));
    }
  }

  void launch(std::array<std::uint32_t, 2> groups, std::span<const std::uint32_t> words) override {
    commands_->SetComputeRoot32BitConstants(0, static_cast<UINT>(words.size()), words.data(), 0);
    commands_->Dispatch(groups[0], groups[1], 1);
  }

  // Transitions make commands wait for each other where one does something else with a buffer.
  void barrier() override {
    const D3D12_RESOURCE_BARRIER barrier{.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV};
    commands_->ResourceBarrier(1, &barrier);
  }

  void submit(const std::string& doing) override {
    for (const auto& [resource, state] : states_) transition(resource, state, common);
    states_.clear();
    for (UINT query = 0; query < moment_count; ++query) {
      if (!stamped_[query]) stamp(static_cast<Moment>(query));  // all are resolved together
    }
    commands_->ResolveQueryData(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, moment_count,
                                ticks_.resource(), 0);
    check(commands_->Close(), doing, &device_);
    doing_ = doing;
    ID3D12CommandList* const lists[] = {commands_.Get()};
    busy_ = true;  // also where the fence is not signalled: then the device is lost
    context_.queue->ExecuteCommandLists(1, lists);
    fence_.signal();
  }

  // Whoever gives up here frees what the commands work on, so they must be done in any case.
  void wait() override {
    if (!busy_) return;
    try {
      wait_for_fence();
    } catch (...) {
      if (!becomes_idle()) context_.hung = true;
      throw;
    }
  }

  std::optional<std::array<double, moment_count - 1>> seconds() const override {
    if (context_.seconds_per_tick == 0) return std::nullopt;
    std::array<std::uint64_t, moment_count> ticks;
    std::memcpy(ticks.data(), ticks_.data(), timestamp_bytes);
    return seconds_between(ticks, context_.seconds_per_tick);
  }

 private:
  void transition(ID3D12Resource* resource, D3D12_RESOURCE_STATES from, D3D12_RESOURCE_STATES to) {
    if (from == to) return;
    D3D12_RESOURCE_BARRIER barrier{.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};
    barrier.Transition = {resource, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, from, to};
    commands_->ResourceBarrier(1, &barrier);
  }

  void require(ID3D12Resource* resource, D3D12_RESOURCE_STATES state) {
    D3D12_RESOURCE_STATES& current = states_.try_emplace(resource, common).first->second;
    transition(resource, current, state);
    current = state;
  }

  // A buffer is not read and written at the same time, not even in different ranges: of an input
  // that shares an output's buffer, the kernel reads a copy.
  D3D12_GPU_VIRTUAL_ADDRESS address_to_read(std::size_t slot, const Bindings& bindings) {
    const auto outputs = std::span(bindings).subspan(first_output_slot);
    const bool is_written = std::any_of(outputs.begin(), outputs.end(), [&](const Binding& output) {
      return output.range.buffer == bindings[slot].range.buffer;
    });
    Binding read = bindings[slot];
    if (is_written) {
      copies_.resize(slot_count);
      if (!copies_[slot] || copies_[slot]->bytes() < read.range.bytes) {
        outgrown_.push_back(std::move(copies_[slot]));
        copies_[slot] = std::make_unique<Direct3DBuffer>(context_, Place::device, read.range.bytes);
      }
      copy(read.range, {copies_[slot].get(), 0, read.range.bytes});
      read.range = {copies_[slot].get(), 0, read.range.bytes};
    }
    require(buffer_of(read.range).resource(), D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE);
    return address_of(read);
  }

  // False where commands may still run. A lost device runs none.
  bool becomes_idle() {
    const auto gives_up = [&] { return timed_out_ || context_.hung; };
    for (std::uint64_t waited = 0; busy_ && !gives_up() && waited < timeout_seconds * 1000;
         waited += step_milliseconds)
      busy_ = !fence_.wait(step_milliseconds);
    return !busy_;
  }

  void wait_for_fence() {
    // In steps, so that what asks to stop is seen, and no later dispatch begins.
    bool done = false;
    for (std::uint64_t waited = 0; !done && waited < timeout_seconds * 1000;
         waited += step_milliseconds) {
      check_for_stop();
      done = fence_.wait(step_milliseconds);
    }
    busy_ = !done;
    context_.messages.print_new();
    // Whatever the reason is, there is one only where the device is gone.
    if (FAILED(device_.GetDeviceRemovedReason()))
      check(DXGI_ERROR_DEVICE_REMOVED, doing_, &device_);
    timed_out_ = !done;
    if (timed_out_) throw Error(ErrorKind::run_failed, doing_ + ": timeout");
  }

  Context& context_;
  ID3D12Device& device_;
  Buffer ticks_;
  std::vector<std::unique_ptr<Direct3DBuffer>> copies_;    // of inputs, by slot
  std::vector<std::unique_ptr<Direct3DBuffer>> outgrown_;  // that the list still uses
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> commands_;
  ComPtr<ID3D12QueryHeap> queries_;
  Fence fence_;
  std::map<ID3D12Resource*, D3D12_RESOURCE_STATES> states_;  // of what was recorded
  std::array<bool, moment_count> stamped_{};
  bool busy_ = false;
  bool timed_out_ = false;
  std::string doing_;
};

}  // namespace

std::unique_ptr<Commands> make_commands(Context& context) {
  return std::make_unique<Direct3DCommands>(context);
}

std::unique_ptr<ResidentBuffer> make_buffer(Context& context, Place place, std::uint64_t bytes) {
  return std::make_unique<Direct3DBuffer>(context, place, bytes);
}

}  // namespace dmlop::gpu::d3d12
