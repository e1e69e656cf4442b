#include "run_progress.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#ifndef _WIN32
#include <unistd.h>
#endif

#include "base/output.hpp"
#include "base/output_progress.hpp"
#include "base/text.hpp"

namespace dmlop::app {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t large_run_bytes = std::uint64_t{1} << 30;

std::uint64_t bytes_of(const TensorDesc& desc) {
  return element_count(desc.sizes).value_or(0) * size_of(*desc.data_type);
}

std::uint64_t output_bytes(const Job& job, bool to_standard_output) {
  std::uint64_t bytes = 0;
  for (const BoundOutput& output : job.outputs) {
    const TensorDesc* desc = job.description.find_tensor(output.tensor, output.element);
    if ((output.path == "-") == to_standard_output && desc != nullptr) bytes += bytes_of(*desc);
  }
  return bytes;
}

std::string gibibytes(std::uint64_t bytes) {
  return with_decimals(static_cast<double>(bytes) / (1 << 30), 1) + " GiB";
}

// 0 where the system does not say.
std::uint64_t machine_memory() {
#ifdef _WIN32
  return 0;
#else
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size)
             : 0;
#endif
}

std::string progress_text(double seconds, std::uint64_t done, std::uint64_t total) {
  std::string text = with_decimals(seconds, 0) + " s";
  if (total == 0) return text + ", running";
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  text += ", " + with_decimals(100 * share, 0) + " percent of " + gibibytes(total) + " written";
  if (share > 0) text += ", " + rounded(std::max(1.0, seconds / share - seconds)) + " s left";
  return text;
}

}  // namespace

std::string large_run_notice(const Job& job) {
  std::uint64_t inputs = 0, kept = output_bytes(job, true);
  for (const BoundInput& input : job.inputs) {
    inputs += input.file.data().size();
    if (input.file.header().big_endian) kept += input.file.data().size();
  }
  const std::uint64_t outputs = output_bytes(job, false);
  kept += temporary_bytes(job);
  if (inputs + outputs + kept < large_run_bytes) return "";
  const std::uint64_t memory = machine_memory();
  return "reads " + gibibytes(inputs) + " and writes " + gibibytes(outputs) +
         " in parts; whole tensors in memory: " + gibibytes(kept) +
         (memory == 0 ? "" : " of " + gibibytes(memory));
}

RunProgress::RunProgress(const Job& job, bool quiet) : total_bytes_(output_bytes(job, false)) {
  if (quiet || !is_terminal(StandardStream::error)) return;
  try {
    thread_ = std::thread([this] { show_until_end(); });
  } catch (const std::system_error&) {  // a run goes without
  }
}

RunProgress::~RunProgress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  end_.notify_one();
  thread_.join();
}

void RunProgress::show_until_end() {
  const auto start = Clock::now();
  const std::uint64_t before = output_bytes_written();
  bool is_shown = false;
  std::unique_lock lock(mutex_);
  auto step = std::chrono::milliseconds(1000);
  while (!end_.wait_for(lock, step, [this] { return has_ended_; })) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::string text = progress_text(seconds, output_bytes_written() - before, total_bytes_);
    print(StandardStream::error, {"\r\033[K", text});
    flush_output(StandardStream::error);
    is_shown = true;
    step = 200ms;
  }
  if (!is_shown) return;
  print(StandardStream::error, {"\r\033[K"});
  flush_output(StandardStream::error);
}

}  // namespace dmlop::app
