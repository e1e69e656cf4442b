#include "faulty_device.hpp"

#include <new>
#include <type_traits>
#include <utility>

#include "base/error.hpp"

namespace dmlop::test {

void FaultInjector::arm(GpuFault fault, std::uint64_t call, bool afterwards) {
  fault_ = fault;
  wanted_ = call;
  afterwards_ = afterwards;
  armed_ = true;
  fired_ = lost_ = false;
  calls_ = 0;
  call_.clear();
}

void FaultInjector::before(const char* call) {
  if (lost_) {
    throw Error(ErrorKind::device_lost,
                std::string(injected_call) + call + ": the device was lost");
  }
  if (armed_ && !afterwards_ && calls_ == wanted_) fail(call);
}

void FaultInjector::after(const char* call) {
  const bool is_wanted = calls_++ == wanted_;
  if (armed_ && afterwards_ && is_wanted) fail(call);
}

void FaultInjector::fail(const char* call) {
  armed_ = false;
  fired_ = true;
  call_ = call;
  const std::string doing = std::string(injected_call) + call + ": ";
  switch (fault_) {
    case GpuFault::out_of_device_memory:
      throw Error(ErrorKind::run_failed, doing + "out of device memory");
    case GpuFault::out_of_host_memory:
      throw std::bad_alloc();
    case GpuFault::device_lost:
      lost_ = true;
      throw Error(ErrorKind::device_lost, doing + "the device was lost");
  }
}

namespace {

template <typename Action>
auto faulty(FaultInjector& injector, const char* call, Action&& action) {
  injector.before(call);
  if constexpr (std::is_void_v<decltype(action())>) {
    action();
    injector.after(call);
  } else {
    auto result = action();
    injector.after(call);
    return result;
  }
}

class FaultyStream : public gpu::Stream {
 public:
  FaultyStream(std::unique_ptr<gpu::Stream> stream, FaultInjector& injector)
      : stream_(std::move(stream)), injector_(injector) {
    ++injector_.streams;
  }
  ~FaultyStream() override { --injector_.streams; }

  std::span<std::byte> input(std::size_t index, std::uint64_t bytes) override {
    return faulty(injector_, "input", [&] { return stream_->input(index, bytes); });
  }
  void input(std::size_t index, const gpu::ResidentRange& range) override {
    faulty(injector_, "input of a range", [&] { stream_->input(index, range); });
  }
  void submit(const gpu::Dispatch& dispatch, const gpu::ResidentRange* output) override {
    faulty(injector_, "submit", [&] { stream_->submit(dispatch, output); });
  }
  void run(const gpu::ResidentDispatch& dispatch, std::span<const gpu::ResidentRange> inputs,
           std::span<const gpu::ResidentRange> outputs) override {
    faulty(injector_, "run", [&] { stream_->run(dispatch, inputs, outputs); });
  }
  std::span<const std::byte> finish() override {
    return faulty(injector_, "finish", [&] { return stream_->finish(); });
  }
  gpu::DispatchTimes times() const override { return stream_->times(); }
  void write(const gpu::ResidentRange& to, std::span<const std::byte> bytes) override {
    faulty(injector_, "write", [&] { stream_->write(to, bytes); });
  }
  void read(const gpu::ResidentRange& from, std::span<std::byte> bytes) override {
    faulty(injector_, "read", [&] { stream_->read(from, bytes); });
  }
  std::optional<double> repeat(const gpu::Dispatch& dispatch) override {
    return faulty(injector_, "repeat", [&] { return stream_->repeat(dispatch); });
  }

 private:
  std::unique_ptr<gpu::Stream> stream_;
  FaultInjector& injector_;
};

class FaultyDevice : public gpu::Device {
 public:
  FaultyDevice(gpu::Device& inner, FaultInjector& injector) : inner_(inner), injector_(injector) {}

  const gpu::DeviceInfo& info() const override { return inner_.info(); }
  std::uint64_t buffer_bytes_limit() const override { return inner_.buffer_bytes_limit(); }
  std::string resident_refusal() const override { return inner_.resident_refusal(); }
  void prepare(const gpu::ResidentDispatch& dispatch) override {
    faulty(injector_, "prepare", [&] { inner_.prepare(dispatch); });
  }
  std::unique_ptr<gpu::Stream> make_stream() override {
    return faulty(injector_, "make_stream", [&]() -> std::unique_ptr<gpu::Stream> {
      return std::make_unique<FaultyStream>(inner_.make_stream(), injector_);
    });
  }
  std::unique_ptr<gpu::ResidentBuffer> make_resident_buffer(std::uint64_t bytes) override {
    return faulty(injector_, "make_resident_buffer",
                  [&] { return inner_.make_resident_buffer(bytes); });
  }

 private:
  gpu::Device& inner_;
  FaultInjector& injector_;
};

}  // namespace

std::unique_ptr<gpu::Device> make_faulty_device(gpu::Device& inner, FaultInjector& injector) {
  return std::make_unique<FaultyDevice>(inner, injector);
}

}  // namespace dmlop::test
