#include "gpu/d3d12/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "gpu/d3d12/buffer.hpp"
#include "gpu/d3d12/pipelines.hpp"
#include "gpu/launches.hpp"
#include "gpu/staging.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

using Clock = std::chrono::steady_clock;

constexpr UINT timestamp_count = 4;       // begin, uploaded, computed, downloaded
constexpr DWORD step_milliseconds = 100;  // of waiting
constexpr std::uint64_t timestamp_bytes = timestamp_count * sizeof(std::uint64_t);

/// What device and streams share.
struct Context {
  ComPtr<ID3D12Device> device;
  ComPtr<ID3D12CommandQueue> queue;
  std::unique_ptr<Pipelines> pipelines;
  double seconds_per_tick = 0;  // 0: no timestamps
  Pace pace;
};

/// The end of submitted work, to wait for.
class Fence {
 public:
  explicit Fence(Context& context) : context_(context) {
    check(
        context.device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(fence_.GetAddressOf())),
        "creating a fence", context.device.Get());
    event_ = CreateEventW(nullptr, FALSE, FALSE, nullptr);
    if (event_ == nullptr) check(HRESULT_FROM_WIN32(GetLastError()), "creating an event");
  }
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  ~Fence() { CloseHandle(event_); }

  /// Marks the end of what the queue was given.
  void signal() {
    check(context_.queue->Signal(fence_.Get(), ++value_), "signalling a fence",
          context_.device.Get());
  }
  /// True when the end is reached, or the device lost: that completes every fence.
  bool wait(DWORD milliseconds) {
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

 private:
  Context& context_;
  ComPtr<ID3D12Fence> fence_;
  HANDLE event_ = nullptr;
  std::uint64_t value_ = 0;
  std::uint64_t awaited_ = 0;  // the value that the event was asked for
};

class Direct3DResidentBuffer : public ResidentBuffer {
 public:
  Direct3DResidentBuffer(ID3D12Device& device, std::uint64_t bytes)
      : buffer_(device, Place::device) {
    buffer_.grow(rounded_up(bytes));
  }
  ID3D12Resource* resource() const { return buffer_.resource(); }

 private:
  Buffer buffer_;
};

ID3D12Resource* resource_of(const ResidentRange& range) {
  return static_cast<const Direct3DResidentBuffer*>(range.buffer)->resource();
}

/// Where an input of the next dispatch comes from: staging, or a buffer of the device.
struct InputSource {
  ID3D12Resource* resource = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // 0: there is no such input
  bool is_resident = false;
};

class Direct3DStream : public Stream {
 public:
  explicit Direct3DStream(Context& context)
      : context_(context),
        device_(*context.device.Get()),
        output_(device_, Place::device),
        download_(device_, Place::download),
        ticks_(device_, Place::download),
        fence_(context) {
    for (std::size_t i = 0; i < input_count; ++i) {
      inputs_.push_back(std::make_unique<Buffer>(device_, Place::device));
      uploads_.push_back(std::make_unique<Buffer>(device_, Place::upload));
    }
    constexpr auto type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    check(device_.CreateCommandAllocator(type, IID_PPV_ARGS(allocator_.GetAddressOf())),
          "creating a command allocator", &device_);
    check(device_.CreateCommandList(0, type, allocator_.Get(), nullptr,
                                    IID_PPV_ARGS(commands_.GetAddressOf())),
          "creating a command list", &device_);
    check(commands_->Close(), "closing a command list", &device_);
    const D3D12_QUERY_HEAP_DESC queries{.Type = D3D12_QUERY_HEAP_TYPE_TIMESTAMP,
                                        .Count = timestamp_count};
    check(device_.CreateQueryHeap(&queries, IID_PPV_ARGS(queries_.GetAddressOf())),
          "creating a query heap", &device_);
    ticks_.grow(timestamp_bytes);
  }

  ~Direct3DStream() override {
    for (std::uint64_t waited = 0; busy_ && waited < timeout_seconds * 1000;
         waited += step_milliseconds)
      busy_ = !fence_.wait(step_milliseconds);
  }

  std::span<std::byte> input(std::size_t index, std::uint64_t bytes) override {
    wait();
    uploads_[index]->grow(rounded_up(bytes));
    sources_[index] = {uploads_[index]->resource(), 0, bytes};
    return {uploads_[index]->data(), bytes};
  }

  void input(std::size_t index, const ResidentRange& range) override {
    wait();
    sources_[index] = {resource_of(range), range.offset, range.bytes, /*is_resident=*/true};
  }

  void submit(const Dispatch& dispatch, const ResidentRange* output) override {
    wait();
    if (!dispatch.table.empty()) {
      const auto table = std::as_bytes(std::span(dispatch.table));
      std::copy(table.begin(), table.end(), input(2, table.size()).begin());
    }
    for (std::size_t i = 0; i < input_count; ++i) {
      const std::uint64_t bytes = i == 1 ? dispatch.state_bytes : 0;
      inputs_[i]->grow(rounded_up(std::max(bytes, sources_[i].bytes) + 2 * input_slack_bytes));
    }
    output_bytes_ = output != nullptr ? 0 : dispatch.output_bytes;
    output_.grow(rounded_up(dispatch.output_bytes));
    download_.grow(rounded_up(output_bytes_));
    times_ = {};
    begin_commands();
    record_upload();
    stamp(1);
    run_kernel(dispatch, [&] { record_output(output); });
    sources_ = {};
  }

  std::span<const std::byte> finish() override {
    wait();
    return {download_.data(), output_bytes_};
  }

  void write(const ResidentRange& to, std::span<const std::byte> bytes) override {
    in_staging_steps(bytes.size(), [&](std::uint64_t at, std::uint64_t count) {
      uploads_[0]->grow(rounded_up(std::min<std::uint64_t>(bytes.size(), staging_bytes)));
      std::memcpy(uploads_[0]->data(), bytes.data() + at, count);
      begin_copy();
      copy_to_resident(to, at, uploads_[0]->resource(), count);
      end_copy(count);
    });
  }

  void read(const ResidentRange& from, std::span<std::byte> bytes) override {
    in_staging_steps(bytes.size(), [&](std::uint64_t at, std::uint64_t count) {
      download_.grow(rounded_up(std::min<std::uint64_t>(bytes.size(), staging_bytes)));
      begin_copy();
      transition(resource_of(from), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_SOURCE);
      commands_->CopyBufferRegion(download_.resource(), 0, resource_of(from), from.offset + at,
                                  count);
      transition(resource_of(from), D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COMMON);
      end_copy(count);
      std::memcpy(bytes.data() + at, download_.data(), count);
    });
  }

  DispatchTimes times() const override { return times_; }

  std::optional<double> repeat(const Dispatch& dispatch) override {
    times_ = {};
    begin_commands();
    stamp(1);
    run_kernel(dispatch, [] {});
    wait();
    return times_.kernel;
  }

 private:
  void begin_commands() {
    check(allocator_->Reset(), "resetting a command allocator", &device_);
    check(commands_->Reset(allocator_.Get(), nullptr), "resetting a command list", &device_);
    stamp(0);
  }

  void stamp(UINT query) { commands_->EndQuery(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, query); }

  void transition(ID3D12Resource* resource, D3D12_RESOURCE_STATES from, D3D12_RESOURCE_STATES to) {
    D3D12_RESOURCE_BARRIER barrier{.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION};
    barrier.Transition = {resource, D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES, from, to};
    commands_->ResourceBarrier(1, &barrier);
  }
  void transition(const Buffer& buffer, D3D12_RESOURCE_STATES from, D3D12_RESOURCE_STATES to) {
    transition(buffer.resource(), from, to);
  }

  // Buffers are in the common state between command lists.
  void record_upload() {
    for (std::size_t i = 0; i < input_count; ++i) {
      const InputSource& source = sources_[i];
      if (source.bytes == 0) continue;
      const Buffer& input = *inputs_[i];
      constexpr auto common = D3D12_RESOURCE_STATE_COMMON;
      transition(input, common, D3D12_RESOURCE_STATE_COPY_DEST);
      if (source.is_resident) transition(source.resource, common, D3D12_RESOURCE_STATE_COPY_SOURCE);
      commands_->CopyBufferRegion(input.resource(), i == 0 ? input_slack_bytes : 0, source.resource,
                                  source.offset, source.bytes);
      if (source.is_resident) transition(source.resource, D3D12_RESOURCE_STATE_COPY_SOURCE, common);
      transition(input, D3D12_RESOURCE_STATE_COPY_DEST, common);
    }
  }

  // Runs the launches of a dispatch, as many at a time as the pace allows; the last ones are left
  // to be waited for, with what `record_end` records behind them.
  template <typename RecordEnd>
  void run_kernel(const Dispatch& dispatch, RecordEnd&& record_end) {
    const std::string doing = "running " + dispatch.kernel;
    Launches launches(dispatch);
    for (;;) {
      const Submission submission = launches.next(context_.pace.work());
      commands_->SetComputeRootSignature(context_.pipelines->root_signature());
      commands_->SetPipelineState(context_.pipelines->find(dispatch.kernel));
      for (const Launch& launch : submission.launches) record_launch(launch);
      work_ = submission.work;
      stamp(2);
      if (launches.done()) break;
      stamp(3);
      end_commands(doing);
      wait();
      begin_commands();
      stamp(1);
    }
    record_end();
    stamp(3);
    end_commands(doing);
  }

  // The transitions also make it wait for the launch before it.
  void record_launch(const Launch& launch) {
    constexpr auto common = D3D12_RESOURCE_STATE_COMMON;
    constexpr auto read = D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE;
    constexpr auto written = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    const Buffer& output = launch.writes_state ? *inputs_[1] : output_;
    // A stage that writes the state reads no input 1 or 2.
    const std::array inputs{inputs_[0].get(), inputs_[launch.writes_state ? 2 : 1].get(),
                            inputs_[2].get()};
    const std::size_t distinct = launch.writes_state ? 2 : input_count;
    for (std::size_t i = 0; i < distinct; ++i) transition(*inputs[i], common, read);
    transition(output, common, written);
    commands_->SetComputeRoot32BitConstants(constants_parameter,
                                            static_cast<UINT>(launch.constants.size()),
                                            launch.constants.data(), 0);
    for (UINT i = 0; i < input_count; ++i)
      commands_->SetComputeRootShaderResourceView(first_input_parameter + i, inputs[i]->address());
    commands_->SetComputeRootUnorderedAccessView(output_parameter, output.address());
    commands_->Dispatch(launch.groups[0], launch.groups[1], 1);
    transition(output, written, common);
    for (std::size_t i = 0; i < distinct; ++i) transition(*inputs[i], read, common);
  }

  // To a buffer of the device, or to the host.
  void record_output(const ResidentRange* to) {
    transition(output_, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_SOURCE);
    if (to != nullptr) {
      copy_to_resident(*to, 0, output_.resource(), to->bytes);
    } else {
      commands_->CopyBufferRegion(download_.resource(), 0, output_.resource(), 0,
                                  rounded_up(output_bytes_));
    }
    transition(output_, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COMMON);
  }

  void copy_to_resident(const ResidentRange& to, std::uint64_t at, ID3D12Resource* from,
                        std::uint64_t bytes) {
    transition(resource_of(to), D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST);
    commands_->CopyBufferRegion(resource_of(to), to.offset + at, from, 0, bytes);
    transition(resource_of(to), D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COMMON);
  }

  // A copy by itself, done at the end.
  void begin_copy() {
    wait();
    begin_commands();
    for (UINT query = 1; query < timestamp_count; ++query) stamp(query);
  }
  void end_copy(std::uint64_t bytes) {
    end_commands("copying " + std::to_string(bytes) + " bytes");
    wait();
  }

  void end_commands(const std::string& doing) {
    commands_->ResolveQueryData(queries_.Get(), D3D12_QUERY_TYPE_TIMESTAMP, 0, timestamp_count,
                                ticks_.resource(), 0);
    check(commands_->Close(), doing, &device_);
    doing_ = doing;
    ID3D12CommandList* const lists[] = {commands_.Get()};
    busy_ = true;  // also where the fence is not signalled: then the device is lost
    context_.queue->ExecuteCommandLists(1, lists);
    fence_.signal();
    submitted_ = Clock::now();
  }

  void wait() {
    if (!busy_) return;
    // In steps, so that an interruption is not held up by a long dispatch; the destructor waits for
    // it.
    bool done = false;
    for (std::uint64_t waited = 0; !done && waited < timeout_seconds * 1000;
         waited += step_milliseconds) {
      check_for_stop();
      done = fence_.wait(step_milliseconds);
    }
    busy_ = !done;
    // Whatever the reason is, there is one only where the device is gone.
    if (FAILED(device_.GetDeviceRemovedReason()))
      check(DXGI_ERROR_DEVICE_REMOVED, doing_, &device_);
    if (!done) throw Error(ErrorKind::run_failed, doing_ + ": timeout");
    if (work_ > 0) take_times();
    work_ = 0;
  }

  // Of launches that are done.
  void take_times() {
    const double waited = std::chrono::duration<double>(Clock::now() - submitted_).count();
    const bool has_ticks = context_.seconds_per_tick != 0;
    context_.pace.took(work_, has_ticks ? seconds(1, 2) : waited);
    if (!has_ticks) return;
    const auto add = [&](std::optional<double>& sum, std::size_t begin) {
      sum = sum.value_or(0) + seconds(begin, begin + 1);
    };
    add(times_.upload, 0);
    add(times_.kernel, 1);
    add(times_.download, 2);
  }

  double seconds(std::size_t begin, std::size_t end) const {
    std::array<std::uint64_t, timestamp_count> ticks;
    std::memcpy(ticks.data(), ticks_.data(), timestamp_bytes);
    return static_cast<double>(ticks[end] - ticks[begin]) * context_.seconds_per_tick;
  }

  Context& context_;
  ID3D12Device& device_;
  std::vector<std::unique_ptr<Buffer>> inputs_;
  std::vector<std::unique_ptr<Buffer>> uploads_;
  Buffer output_;
  Buffer download_;
  Buffer ticks_;
  std::array<InputSource, input_count> sources_{};
  std::uint64_t output_bytes_ = 0;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> commands_;
  ComPtr<ID3D12QueryHeap> queries_;
  Fence fence_;
  bool busy_ = false;
  std::string doing_;
  std::uint64_t work_ = 0;  // of the launches in flight
  Clock::time_point submitted_;
  DispatchTimes times_;
};

class Direct3DDevice : public Device {
 public:
  Direct3DDevice(IDXGIAdapter1& adapter, const DeviceInfo& info) : info_(info) {
    check(libraries().create_device(&adapter, D3D_FEATURE_LEVEL_11_0,
                                    IID_PPV_ARGS(context_.device.GetAddressOf())),
          "opening " + info_.name);
    const D3D12_COMMAND_QUEUE_DESC queue{.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE};
    check(context_.device->CreateCommandQueue(&queue, IID_PPV_ARGS(context_.queue.GetAddressOf())),
          "creating a command queue", context_.device.Get());
    std::uint64_t frequency = 0;
    if (SUCCEEDED(context_.queue->GetTimestampFrequency(&frequency)) && frequency != 0)
      context_.seconds_per_tick = 1 / static_cast<double>(frequency);
    context_.pipelines = std::make_unique<Pipelines>(*context_.device.Get());
  }

  const DeviceInfo& info() const override { return info_; }
  std::unique_ptr<Stream> make_stream() override {
    return std::make_unique<Direct3DStream>(context_);
  }
  std::unique_ptr<ResidentBuffer> make_resident_buffer(std::uint64_t bytes) override {
    return std::make_unique<Direct3DResidentBuffer>(*context_.device.Get(), bytes);
  }

  // What every device must take (D3D12_REQ_RESOURCE_SIZE_IN_MEGABYTES_EXPRESSION), and the 2^27
  // elements that a buffer of words may have in a shader.
  std::uint64_t buffer_bytes_limit() const override {
    constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
    const std::uint64_t limit = std::clamp(info_.memory_bytes / 4, 128 * mebibyte, 512 * mebibyte);
    return (info_.kind == DeviceKind::software ? 128 * mebibyte : limit) - 2 * input_slack_bytes;
  }

 private:
  DeviceInfo info_;
  Context context_;
};

}  // namespace

std::unique_ptr<Device> make_device(IDXGIAdapter1& adapter, const DeviceInfo& info) {
  return std::make_unique<Direct3DDevice>(adapter, info);
}

}  // namespace dmlop::gpu::d3d12
