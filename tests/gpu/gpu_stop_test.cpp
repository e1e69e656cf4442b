// A request to stop ends work on a GPU soon, however long it would take.
#include <doctest/doctest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "base/parallel.hpp"
#include "batch.hpp"
#include "gpu/execute.hpp"
#include "gpu_device.hpp"
#include "norm_windows.hpp"
#include "program.hpp"

namespace dmlop::test::gpu_stop_test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// What is in flight when the request comes is a few tenths of a second on an idle machine.
constexpr double soon_seconds = 5;

constexpr std::uint64_t outputs = 2000, window = 4096, extent = outputs + window - 1;

/// 1.3e14 elements of windows, of an input that is one element: minutes on any GPU.
WindowKernel endless_plan() {
  WindowKernel kernel = norm_windows();
  for (const NormAxis axis : {along_height, along_width})
    kernel.axes[axis] = {extent, outputs, 0, Windows{.size = window}};
  return kernel;
}

TEST_CASE("gpu stop: a deadline ends work on the device") {
  if (!has_gpu()) return;
  const auto device = open_gpu();
  const std::array<float, 1> one{1};
  const std::array<std::span<const std::byte>, 1> inputs{std::as_bytes(std::span(one))};
  Clock::time_point end;
  const Ending ending = ending_of([&] {
    gpu::Executor executor(*device);
    gpu::DispatchTimes times;
    end = Clock::now() + std::chrono::seconds(1);
    const Deadline deadline(1);
    static_cast<void>(executor.execute(
        endless_plan(), inputs, {.threads = 1}, [](std::uint64_t, auto) {}, times));
  });
  CHECK(ending.kind == ErrorKind::run_failed);
  CHECK(seconds_since(end) >= 0);
  CHECK(seconds_since(end) < soon_seconds);
}

/// The seconds that `dmlop batch` takes on the GPU with a job that would not end, after it was
/// asked to stop; `expected` is its exit code.
double seconds_to_stop(const std::vector<std::string>& options, std::optional<int> signal,
                       int expected) {
  const BatchFolder folder({long_job()});
  std::vector<std::string> command{program_path(), "batch", "jobs.jsonl", "--device",
                                   program_gpu()};
  command.insert(command.end(), options.begin(), options.end());
  Process process(command, {.folder = folder.path()});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  REQUIRE(process.is_running());
  const auto start = Clock::now();
  if (signal) process.send(*signal);
  const ProgramResult result = process.wait();
  CAPTURE(result.output);
  CAPTURE(result.error);
  CHECK(result.code == expected);
  return seconds_since(start);
}

TEST_CASE("gpu stop: signals and --timeout end a batch on the device") {
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  CHECK(seconds_to_stop({}, SIGTERM, 128 + SIGTERM) < soon_seconds);
  CHECK(seconds_to_stop({}, SIGINT, 128 + SIGINT) < soon_seconds);
  CHECK(seconds_to_stop({"--timeout", "3"}, std::nullopt, 5) < 1 + soon_seconds);
}

}  // namespace
}  // namespace dmlop::test::gpu_stop_test
