#include "gpu/d3d12/stream.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
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

using Clock = std::chrono::steady_clock;

constexpr UINT timestamp_count = 4;       // begin, uploaded, computed, downloaded
constexpr DWORD step_milliseconds = 100;  // of waiting
constexpr std::uint64_t timestamp_bytes = timestamp_count * sizeof(std::uint64_t);

// Buffers are in this state between command lists, as the runtime has it.
constexpr auto common = D3D12_RESOURCE_STATE_COMMON;

class Direct3DResidentBuffer : public ResidentBuffer {
 public:
  Direct3DResidentBuffer(Context& context, std::uint64_t bytes)
      : ResidentBuffer(bytes), buffer_(*context.device.Get(), Place::device) {
    const MemoryBudget memory = context.memory();
    if (!memory.has_room_for(rounded_up(bytes))) {
      throw Error(ErrorKind::run_failed,
                  "allocating " + std::to_string(bytes) + " bytes of device memory: of the " +
                      std::to_string(memory.budget) + " bytes that the system grants, " +
                      std::to_string(memory.used) + " are in use");
    }
    buffer_.grow(rounded_up(bytes));
  }
  ID3D12Resource* resource() const { return buffer_.resource(); }

 private:
  Buffer buffer_;
};

ID3D12Resource* resource_of(const ResidentRange& range) {
  return static_cast<const Direct3DResidentBuffer*>(range.buffer)->resource();
}

D3D12_GPU_VIRTUAL_ADDRESS address_of(const ResidentRange& range) {
  return resource_of(range)->GetGPUVirtualAddress() + range.offset;
}

/// The buffers of a resident dispatch: where they are bound, and the device's own, each once.
struct ResidentBindings {
  std::vector<D3D12_GPU_VIRTUAL_ADDRESS> inputs;
  std::vector<D3D12_GPU_VIRTUAL_ADDRESS> outputs;
  std::vector<ID3D12Resource*> read;
  std::vector<ID3D12Resource*> written;
};

bool is_among(ID3D12Resource* resource, const std::vector<ID3D12Resource*>& resources) {
  return std::find(resources.begin(), resources.end(), resource) != resources.end();
}

void add_once(std::vector<ID3D12Resource*>& resources, ID3D12Resource* resource) {
  if (!is_among(resource, resources)) resources.push_back(resource);
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
        parameters_(device_, Place::upload),
        scratch_(device_, Place::device),
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

  ~Direct3DStream() override { become_idle(); }

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
    const auto record = [&](const Submission& launches) { record_launches(dispatch, launches); };
    run_kernel(dispatch.kernel, dispatch.stages, record, [&] { record_output(output); });
    sources_ = {};
  }

  void run(const ResidentDispatch& dispatch, std::span<const ResidentRange> inputs,
           std::span<const ResidentRange> outputs) override {
    wait();
    output_bytes_ = 0;
    const auto parameters = std::as_bytes(std::span(dispatch.parameters));
    parameters_.grow(rounded_up(parameters.size()));
    std::copy(parameters.begin(), parameters.end(), parameters_.data());
    scratch_.grow(rounded_up(dispatch.scratch_bytes));
    times_ = {};
    begin_commands();
    const ResidentBindings bindings = record_bindings(inputs, outputs);
    stamp(1);
    const auto record = [&](const Submission& launches) {
      record_launches(dispatch, bindings, launches);
    };
    run_kernel(dispatch.kernel, dispatch.stages, record, [] {});
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
      transition(resource_of(from), common, D3D12_RESOURCE_STATE_COPY_SOURCE);
      commands_->CopyBufferRegion(download_.resource(), 0, resource_of(from), from.offset + at,
                                  count);
      transition(resource_of(from), D3D12_RESOURCE_STATE_COPY_SOURCE, common);
      end_copy(count);
      std::memcpy(bytes.data() + at, download_.data(), count);
    });
  }

  DispatchTimes times() const override { return times_; }

  std::optional<double> repeat(const Dispatch& dispatch) override {
    times_ = {};
    begin_commands();
    stamp(1);
    const auto record = [&](const Submission& launches) { record_launches(dispatch, launches); };
    run_kernel(dispatch.kernel, dispatch.stages, record, [] {});
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
  void transition(const std::vector<ID3D12Resource*>& resources, D3D12_RESOURCE_STATES from,
                  D3D12_RESOURCE_STATES to) {
    for (ID3D12Resource* const resource : resources) transition(resource, from, to);
  }
  void transition(const Buffer& buffer, D3D12_RESOURCE_STATES from, D3D12_RESOURCE_STATES to) {
    transition(buffer.resource(), from, to);
  }

  void record_upload() {
    for (std::size_t i = 0; i < input_count; ++i) {
      const InputSource& source = sources_[i];
      if (source.bytes == 0) continue;
      const Buffer& input = *inputs_[i];
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
  template <typename Record, typename RecordEnd>
  void run_kernel(const std::string& kernel, std::span<const Stage> stages, Record&& record,
                  RecordEnd&& record_end) {
    const std::string doing = "running " + kernel;
    Launches launches(stages);
    for (;;) {
      const Submission submission = launches.next(context_.pace.work());
      record(submission);
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

  void bind(ID3D12PipelineState* pipeline, const RootLayout& layout) {
    commands_->SetComputeRootSignature(layout.signature.Get());
    commands_->SetPipelineState(pipeline);
  }

  void record_launches(const Dispatch& dispatch, const Submission& submission) {
    bind(context_.pipelines->find(dispatch), context_.pipelines->tiled());
    std::array<std::uint32_t, tiled_constants> constants{};
    std::copy(dispatch.constants.begin(), dispatch.constants.end(), constants.begin());
    for (const Launch& launch : submission.launches) {
      std::copy(launch.row.begin(), launch.row.end(), constants.end() - launch.row.size());
      record_launch(launch, constants);
    }
  }

  // The transitions also make it wait for the launch before it.
  void record_launch(const Launch& launch, std::span<const std::uint32_t> constants) {
    constexpr auto read = D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE;
    constexpr auto written = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    const RootLayout& layout = context_.pipelines->tiled();
    const Buffer& output = launch.writes_state ? *inputs_[1] : output_;
    // A stage that writes the state reads no input 1 or 2.
    const std::array inputs{inputs_[0].get(), inputs_[launch.writes_state ? 2 : 1].get(),
                            inputs_[2].get()};
    const std::size_t distinct = launch.writes_state ? 2 : input_count;
    for (std::size_t i = 0; i < distinct; ++i) transition(*inputs[i], common, read);
    transition(output, common, written);
    for (UINT i = 0; i < input_count; ++i)
      commands_->SetComputeRootShaderResourceView(layout.first_input() + i, inputs[i]->address());
    commands_->SetComputeRootUnorderedAccessView(layout.first_output(), output.address());
    dispatch_groups(launch, constants);
    transition(output, written, common);
    for (std::size_t i = 0; i < distinct; ++i) transition(*inputs[i], read, common);
  }

  // What the kernel does not use are the parameters, and the scratch.
  ResidentBindings record_bindings(std::span<const ResidentRange> inputs,
                                   std::span<const ResidentRange> outputs) {
    const RootLayout& layout = context_.pipelines->resident();
    ResidentBindings bindings{.inputs = std::vector(layout.inputs, parameters_.address()),
                              .outputs = std::vector(layout.outputs, scratch_.address()),
                              .written = {scratch_.resource()}};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      bindings.outputs.at(i) = address_of(outputs[i]);
      add_once(bindings.written, resource_of(outputs[i]));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const bool is_written = is_among(resource_of(inputs[i]), bindings.written);
      ID3D12Resource* const read = is_written ? record_copy(i, inputs[i]) : resource_of(inputs[i]);
      bindings.inputs.at(1 + i) = is_written ? read->GetGPUVirtualAddress() : address_of(inputs[i]);
      add_once(bindings.read, read);
    }
    return bindings;
  }

  // A buffer is not read and written at the same time, not even in different ranges: of an input
  // that shares an output's buffer, the kernel reads a copy.
  ID3D12Resource* record_copy(std::size_t index, const ResidentRange& input) {
    while (copies_.size() <= index)
      copies_.push_back(std::make_unique<Buffer>(device_, Place::device));
    Buffer& copy = *copies_[index];
    copy.grow(rounded_up(input.bytes));
    transition(copy, common, D3D12_RESOURCE_STATE_COPY_DEST);
    transition(resource_of(input), common, D3D12_RESOURCE_STATE_COPY_SOURCE);
    commands_->CopyBufferRegion(copy.resource(), 0, resource_of(input), input.offset, input.bytes);
    transition(resource_of(input), D3D12_RESOURCE_STATE_COPY_SOURCE, common);
    transition(copy, D3D12_RESOURCE_STATE_COPY_DEST, common);
    return copy.resource();
  }

  void record_launches(const ResidentDispatch& dispatch, const ResidentBindings& bindings,
                       const Submission& submission) {
    constexpr auto read = D3D12_RESOURCE_STATE_NON_PIXEL_SHADER_RESOURCE;
    constexpr auto written = D3D12_RESOURCE_STATE_UNORDERED_ACCESS;
    const RootLayout& layout = context_.pipelines->resident();
    bind(context_.pipelines->find(dispatch), layout);
    transition(bindings.read, common, read);
    transition(bindings.written, common, written);
    for (UINT i = 0; i < layout.inputs; ++i)
      commands_->SetComputeRootShaderResourceView(layout.first_input() + i, bindings.inputs[i]);
    for (UINT i = 0; i < layout.outputs; ++i)
      commands_->SetComputeRootUnorderedAccessView(layout.first_output() + i, bindings.outputs[i]);
    for (const Launch& launch : submission.launches) {
      if (launch.awaits_writes) await_writes();
      dispatch_groups(launch, launch.row);
    }
    transition(bindings.written, written, common);
    transition(bindings.read, read, common);
  }

  void await_writes() {
    const D3D12_RESOURCE_BARRIER barrier{.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV};
    commands_->ResourceBarrier(1, &barrier);
  }

  void dispatch_groups(const Launch& launch, std::span<const std::uint32_t> constants) {
    commands_->SetComputeRoot32BitConstants(0, static_cast<UINT>(constants.size()),
                                            constants.data(), 0);
    commands_->Dispatch(launch.groups[0], launch.groups[1], 1);
  }

  // To a buffer of the device, or to the host.
  void record_output(const ResidentRange* to) {
    transition(output_, common, D3D12_RESOURCE_STATE_COPY_SOURCE);
    if (to != nullptr) {
      copy_to_resident(*to, 0, output_.resource(), to->bytes);
    } else {
      commands_->CopyBufferRegion(download_.resource(), 0, output_.resource(), 0,
                                  rounded_up(output_bytes_));
    }
    transition(output_, D3D12_RESOURCE_STATE_COPY_SOURCE, common);
  }

  void copy_to_resident(const ResidentRange& to, std::uint64_t at, ID3D12Resource* from,
                        std::uint64_t bytes) {
    transition(resource_of(to), common, D3D12_RESOURCE_STATE_COPY_DEST);
    commands_->CopyBufferRegion(resource_of(to), to.offset + at, from, 0, bytes);
    transition(resource_of(to), D3D12_RESOURCE_STATE_COPY_DEST, common);
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

  void become_idle() {
    for (std::uint64_t waited = 0; busy_ && !timed_out_ && waited < timeout_seconds * 1000;
         waited += step_milliseconds)
      busy_ = !fence_.wait(step_milliseconds);
  }

  // Whoever gives up here frees what the commands work on, so they must be done in any case.
  void wait() {
    if (!busy_) return;
    try {
      wait_for_fence();
    } catch (...) {
      become_idle();
      throw;
    }
    if (work_ > 0) take_times();
    work_ = 0;
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
  Buffer parameters_;
  Buffer scratch_;
  std::vector<std::unique_ptr<Buffer>> copies_;  // of resident inputs
  std::array<InputSource, input_count> sources_{};
  std::uint64_t output_bytes_ = 0;
  ComPtr<ID3D12CommandAllocator> allocator_;
  ComPtr<ID3D12GraphicsCommandList> commands_;
  ComPtr<ID3D12QueryHeap> queries_;
  Fence fence_;
  bool busy_ = false;
  bool timed_out_ = false;
  std::string doing_;
  std::uint64_t work_ = 0;  // of the launches in flight
  Clock::time_point submitted_;
  DispatchTimes times_;
};

}  // namespace

std::unique_ptr<Stream> make_stream(Context& context) {
  return std::make_unique<Direct3DStream>(context);
}

std::unique_ptr<ResidentBuffer> make_resident_buffer(Context& context, std::uint64_t bytes) {
  return std::make_unique<Direct3DResidentBuffer>(context, bytes);
}

}  // namespace dmlop::gpu::d3d12
