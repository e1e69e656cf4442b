#include "gpu_device.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "gpu/backends.hpp"
#include "gpu/commands.hpp"
#include "gpu/device_info.hpp"
#include "gpu/dispatch.hpp"
#include "gpu/execute.hpp"
#include "norm_windows.hpp"

namespace dmlop::test {
namespace {

using Inputs = std::span<const std::span<const std::byte>>;

GpuCounts counted;

// What makes a variant: all that is known when a pipeline is made. Where that says much about
// shapes, there are too many to try each, and some of it counts.
std::string variant_of(const gpu::Dispatch& dispatch) {
  std::string name = dispatch.kernel;
  const std::size_t known = dispatch.specialization.size();
  const std::size_t compared = name == "interleave" || name == "transpose" ? 1
                               : name.starts_with("norm_walk")             ? 2
                                                                           : known;
  for (std::size_t i = 0; i < std::min(compared, known); ++i)
    name += " " + std::to_string(dispatch.specialization[i]);
  return name;
}

/// Passes everything on and writes down what was asked for.
class WatchedCommands : public gpu::Commands {
 public:
  explicit WatchedCommands(std::unique_ptr<gpu::Commands> commands)
      : commands_(std::move(commands)) {}

  void begin() override { commands_->begin(); }
  void stamp(gpu::Moment moment) override { commands_->stamp(moment); }
  void copy(const gpu::ResidentRange& from, const gpu::ResidentRange& to) override {
    commands_->copy(from, to);
  }
  void bind(const gpu::Dispatch& dispatch, const gpu::Bindings& bindings) override {
    counted.kernels.insert(variant_of(dispatch));
    ++counted.dispatches;
    commands_->bind(dispatch, bindings);
  }
  void launch(std::array<std::uint32_t, 2> groups, std::span<const std::uint32_t> words) override {
    commands_->launch(groups, words);
  }
  void barrier() override { commands_->barrier(); }
  void submit(const std::string& doing) override { commands_->submit(doing); }
  void wait() override { commands_->wait(); }
  std::optional<std::array<double, gpu::moment_count - 1>> seconds() const override {
    return commands_->seconds();
  }

 private:
  std::unique_ptr<gpu::Commands> commands_;
};

class WatchedDevice : public gpu::Device {
 public:
  explicit WatchedDevice(std::unique_ptr<gpu::Device> device) : device_(std::move(device)) {}
  const gpu::DeviceInfo& info() const override { return device_->info(); }
  std::uint64_t buffer_bytes_limit() const override { return device_->buffer_bytes_limit(); }
  std::string refusal() const override { return device_->refusal(); }
  void prepare(const gpu::Dispatch& dispatch) override { device_->prepare(dispatch); }
  std::unique_ptr<gpu::Commands> make_commands() override {
    return std::make_unique<WatchedCommands>(device_->make_commands());
  }
  std::unique_ptr<gpu::ResidentBuffer> make_buffer(gpu::Place place, std::uint64_t bytes) override {
    if (place == gpu::Place::device)
      made_bytes_ += (bytes + 15) / 16 * 16 + 2 * gpu::slack_bytes;  // as the backends allocate it
    return device_->make_buffer(place, bytes);
  }
  gpu::Paces& paces() override { return device_->paces(); }
  /// Of the device's memory, since it was last asked for.
  std::uint64_t take_made_bytes() { return std::exchange(made_bytes_, 0); }

 private:
  std::unique_ptr<gpu::Device> device_;
  std::uint64_t made_bytes_ = 0;
};

struct Choice {
  std::size_t index = 0;
  std::string unavailable;
};

Choice choose() {
  const gpu::DeviceList& list = gpu::list_devices();
  if (const char* spec = std::getenv("DMLOP_TEST_DEVICE"); spec != nullptr && *spec != '\0') {
    return {choose_device({spec}, list).index, ""};
  }
  if (list.devices.empty()) return {0, list.unavailable};
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    if (list.devices[i].name.find("llvmpipe") != std::string::npos) return {i, ""};
  }
  return {0, ""};
}

const Choice& choice() {
  static const Choice made = choose();
  return made;
}

}  // namespace

bool has_gpu() {
  if (gpu_unavailable().empty()) return true;
  MESSAGE("SKIPPED on gpu: " << gpu_unavailable());
  return false;
}

std::string tested_device() {
#if defined(_WIN32)
  constexpr const char* first = "d3d12:0";
#else
  constexpr const char* first = "vulkan:0";
#endif
  const char* device = std::getenv("DMLOP_TEST_DEVICE");
  return device != nullptr && *device != 0 ? device : first;
}

std::unique_ptr<gpu::Device> open_gpu() {
  return gpu::open_device(choice().index);
}

namespace {

/// A device of its own for whole and for tiled plans each.
struct Opened {
  WatchedDevice device{open_gpu()};
  gpu::Executor executor{device};
};

/// Executes a kernel; false when the executor declines it.
bool execute(Opened& opened, const Kernel& kernel, Inputs inputs, std::uint64_t device_memory_bytes,
             std::byte* output) {
  const std::size_t size = output_elements(kernel) * output_element_size(kernel);
  std::vector<std::uint8_t> written(size, 0);
  std::mutex mutex;
  bool outside = false;
  const gpu::Sink sink = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    const std::scoped_lock lock(mutex);
    outside = outside || offset > size || bytes.size() > size - offset;
    if (outside) return;
    for (std::size_t i = 0; i < bytes.size(); ++i) ++written[offset + i];
    std::copy(bytes.begin(), bytes.end(), output + offset);
  };
  gpu::DispatchTimes times;
  const gpu::ExecuteOptions options{.threads = 1, .device_memory_bytes = device_memory_bytes};
  const bool done = opened.executor.execute(kernel, inputs, options, sink, times);
  CHECK_FALSE_MESSAGE(outside, "bytes outside the output were handed out");
  const std::uint8_t expected = done ? 1 : 0;
  const auto is_expected = [expected](std::uint8_t count) { return count == expected; };
  CHECK_MESSAGE(std::all_of(written.begin(), written.end(), is_expected),
                "bytes were handed out twice or not at all");
  return done;
}

}  // namespace

const std::string& gpu_unavailable() {
  return choice().unavailable;
}

const GpuCounts& gpu_counts() {
  return counted;
}

void execute_on_gpu(const Kernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
                    std::byte* output) {
  static Opened opened;
  REQUIRE(begin == 0);
  REQUIRE(end == output_elements(kernel));
  REQUIRE(execute(opened, kernel, inputs, 0, output));
}

void execute_in_tiles_on_gpu(const Kernel& kernel, Inputs inputs, std::uint64_t begin,
                             std::uint64_t end, std::byte* output) {
  static Opened opened;
  constexpr std::uint64_t device_memory_bytes = 11 << 10;  // leaves tiles of some 300 bytes
  // 16 KiB are always used; buffers that were freed for larger ones are counted, too.
  constexpr std::uint64_t least_bytes = 20 << 10;
  opened.executor.reset();
  opened.device.take_made_bytes();
  const std::uint64_t dispatches = counted.dispatches;
  if (!execute(opened, kernel, inputs, device_memory_bytes, output)) {
    ++counted.refused_kernels;
    return execute_on_gpu(kernel, inputs, begin, end, output);
  }
  if (counted.dispatches - dispatches > 1) ++counted.tiled_kernels;
  CHECK(opened.device.take_made_bytes() <= least_bytes);
}

std::set<std::string> kernels_of_dispatches() {
  std::set<std::string> names;
  const auto add = [&](const Kernel& kernel) {
    names.insert(variant_of(gpu::make_dispatches(kernel).dispatches.front()));
  };
  for (const std::size_t size : {1U, 2U, 4U, 8U}) {
    for (std::size_t rank = 1; rank <= 8; ++rank) {
      IndexMapKernel kernel{.element_size = size, .axes = std::vector<IndexMapAxis>(rank)};
      for (const std::int64_t stride : {1, 2, 3}) {
        kernel.axes.back().stride = stride;
        for (int boundary = 0; boundary <= 5; ++boundary) {
          kernel.axes.front().boundary = static_cast<Boundary>(boundary);
          add(kernel);
        }
        kernel.axes.front().boundary = Boundary::none;
        for (std::size_t axis = 0; axis < rank; ++axis) {
          kernel.reversal = Reversal{axis, DataType::UInt32};
          add(kernel);
        }
        kernel.reversal.reset();
      }
    }
  }
  const auto add_plain = [&](std::size_t size, std::uint64_t rows, std::uint64_t columns,
                             std::int64_t stride, std::int64_t column_stride) {
    add(IndexMapKernel{.element_size = size,
                       .axes = {{.extent = rows, .stride = stride},
                                {.extent = columns, .stride = column_stride}}});
  };
  for (const std::size_t size : {1U, 2U, 4U, 8U}) {
    add_plain(size, 256, 256, 1, 256);
    add_plain(size, 256, 256, 1, 257);
    for (const std::uint64_t few : {2U, 3U, 4U}) {
      add_plain(size, few, 64, 1, static_cast<std::int64_t>(few));
      add_plain(size, 64, few, 1, 64);
    }
  }
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (std::uint64_t p = 1; p <= 5; ++p) {
      for (std::uint64_t window = 1; window <= 5; ++window) {
        for (std::uint64_t width = 1; width <= 16; ++width) {
          WindowKernel kernel = norm_windows(type, p);
          kernel.axes[along_width] = {
              .input_extent = 20, .output_extent = width, .reach = Windows{.size = window}};
          add(kernel);
        }
      }
      WindowKernel walked = norm_windows(type, p);
      walked.axes[along_height] = {1002, 1000, 102, Windows{.size = 3}};
      walked.axes[along_width] = {102, 100, 1, Windows{.size = 3}};
      add(walked);
      WindowKernel large = norm_windows(type, p);
      large.axes[along_width] = {.input_extent = 100'000, .reach = Windows{.size = 100'000}};
      add(large);
    }
  }
  return names;
}

}  // namespace dmlop::test
