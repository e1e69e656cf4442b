#include "faulty_device.hpp"

#include <new>
#include <type_traits>
#include <utility>

#include "base/error.hpp"
#include "gpu/commands.hpp"

namespace dmlop::test {

void FaultInjector::arm(GpuFault fault, std::uint64_t call, bool afterwards) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  wanted_ = call;
  afterwards_ = afterwards;
  armed_ = true;
  fired_ = lost_ = false;
  calls_ = 0;
  call_.clear();
}

void FaultInjector::disarm() {
  const std::lock_guard lock(mutex_);
  armed_ = false;
}

bool FaultInjector::fired() const {
  const std::lock_guard lock(mutex_);
  return fired_;
}

std::string FaultInjector::call() const {
  const std::lock_guard lock(mutex_);
  return call_;
}

bool FaultInjector::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void FaultInjector::before(const char* call) {
  const std::lock_guard lock(mutex_);
  if (lost_) {
    throw Error(ErrorKind::device_lost,
                std::string(injected_call) + call + ": the device was lost");
  }
  if (armed_ && !afterwards_ && calls_ == wanted_) fail(call);
}

void FaultInjector::after(const char* call) {
  const std::lock_guard lock(mutex_);
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

class FaultyCommands : public gpu::Commands {
 public:
  FaultyCommands(std::unique_ptr<gpu::Commands> commands, FaultInjector& injector)
      : commands_(std::move(commands)), injector_(injector) {
    ++injector_.streams;
  }
  ~FaultyCommands() override { --injector_.streams; }

  void begin() override {
    faulty(injector_, "begin", [&] { commands_->begin(); });
  }
  void stamp(gpu::Moment moment) override { commands_->stamp(moment); }
  void copy(const gpu::ResidentRange& from, const gpu::ResidentRange& to) override {
    faulty(injector_, "copy", [&] { commands_->copy(from, to); });
  }
  void bind(const gpu::Dispatch& dispatch, const gpu::Bindings& bindings) override {
    faulty(injector_, "bind", [&] { commands_->bind(dispatch, bindings); });
  }
  void launch(std::array<std::uint32_t, 2> groups, std::span<const std::uint32_t> words) override {
    commands_->launch(groups, words);
  }
  void barrier() override { commands_->barrier(); }
  void submit(const std::string& doing) override {
    faulty(injector_, "submit", [&] { commands_->submit(doing); });
  }
  void wait() override {
    faulty(injector_, "wait", [&] { commands_->wait(); });
  }
  std::optional<std::array<double, gpu::moment_count - 1>> seconds() const override {
    return commands_->seconds();
  }

 private:
  std::unique_ptr<gpu::Commands> commands_;
  FaultInjector& injector_;
};

class FaultyDevice : public gpu::Device {
 public:
  FaultyDevice(gpu::Device& inner, FaultInjector& injector) : inner_(inner), injector_(injector) {}

  const gpu::DeviceInfo& info() const override { return inner_.info(); }
  std::uint64_t buffer_bytes_limit() const override { return inner_.buffer_bytes_limit(); }
  std::string refusal() const override { return inner_.refusal(); }
  void prepare(const gpu::Dispatch& dispatch) override {
    faulty(injector_, "prepare", [&] { inner_.prepare(dispatch); });
  }
  std::unique_ptr<gpu::Commands> make_commands() override {
    return faulty(injector_, "make_commands", [&]() -> std::unique_ptr<gpu::Commands> {
      return std::make_unique<FaultyCommands>(inner_.make_commands(), injector_);
    });
  }
  std::unique_ptr<gpu::ResidentBuffer> make_buffer(gpu::Place place, std::uint64_t bytes) override {
    return faulty(injector_, "make_buffer", [&] { return inner_.make_buffer(place, bytes); });
  }
  gpu::Paces& paces() override { return inner_.paces(); }

 private:
  gpu::Device& inner_;
  FaultInjector& injector_;
};

}  // namespace

std::unique_ptr<gpu::Device> make_faulty_device(gpu::Device& inner, FaultInjector& injector) {
  return std::make_unique<FaultyDevice>(inner, injector);
}

}  // namespace dmlop::test
