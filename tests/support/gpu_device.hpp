// The GPU of the tests, opened once per process and watched. DMLOP_TEST_DEVICE chooses it (a spec
// as for --device). By default it is llvmpipe if that is installed, otherwise the first device.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/error.hpp"
#include "gpu/device.hpp"
#include "ops/kernel.hpp"

namespace dmlop::test {

/// Why there is no GPU; "" if there is one.
const std::string& gpu_unavailable();

/// Whether there is a GPU. Prints the reason if there is none.
bool has_gpu();

/// What --device takes for it: DMLOP_TEST_DEVICE, or else the first device.
std::string tested_device();

/// Opens the device again for one test.
std::unique_ptr<gpu::Device> open_gpu();

/// How an action ended. It may throw only errors with a kind.
struct Ending {
  std::optional<ErrorKind> kind;
  std::string message;
};
template <typename Action>
Ending ending_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

/// Executes a whole kernel on the device, and checks that every byte is handed out exactly once.
void execute_on_gpu(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
                    std::uint64_t begin, std::uint64_t end, std::byte* output);

/// The same with so little device memory that most kernels are cut into tiles. Checks that the
/// buffers stay within it. Kernels that do not fit any tile are executed whole.
void execute_in_tiles_on_gpu(const Kernel& kernel,
                             std::span<const std::span<const std::byte>> inputs,
                             std::uint64_t begin, std::uint64_t end, std::byte* output);

/// Counts of the work that the device got in this process.
struct GpuCounts {
  std::set<std::string> kernels;  // with their specializations
  std::uint64_t dispatches = 0;
  std::uint64_t tiled_kernels = 0;    // ran as two tiles or more
  std::uint64_t refused_kernels = 0;  // no tile could hold them
};
const GpuCounts& gpu_counts();

/// Every kernel that make_dispatch can name, with a specialization: "index_map_4_1 1 2 0 1".
std::set<std::string> kernels_of_dispatches();

}  // namespace dmlop::test
