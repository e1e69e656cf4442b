#include "cpu/constant_inputs.hpp"

#include <atomic>

#include "base/error.hpp"
#include "base/per_process.hpp"

namespace dmlop::cpu {
namespace {

// More weights than a process should hold twice.
constexpr std::uint64_t kept_bytes_most = std::uint64_t{1} << 30;
constexpr std::size_t line = 64;

/// What a process keeps. A forked child cannot give back what its parent keeps, and begins at 0.
std::atomic<std::uint64_t>& kept_bytes() {
  static constinit KeptPerProcess<std::atomic<std::uint64_t>> of_process;
  return of_process.get();
}

}  // namespace

std::unique_ptr<KeptBytes> KeptBytes::make(std::uint64_t bytes) {
  std::unique_ptr<KeptBytes> kept(new KeptBytes);
  if (bytes > kept_bytes_most) return nullptr;
  kept->counted_in_ = &kept_bytes();
  kept->counted_ = bytes;
  if (kept->counted_in_->fetch_add(bytes) > kept_bytes_most - bytes) return nullptr;
  try {
    // That of an earlier buffer might be twice as large, and would not be counted.
    kept->buffer_ = Buffer(bytes + line, "the packed weights");
  } catch (const Error&) {
    return nullptr;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(kept->buffer_.data());
  kept->data_ = kept->buffer_.data() + (line - address % line) % line;
  return kept;
}

KeptBytes::~KeptBytes() {
  if (counted_in_ != nullptr) *counted_in_ -= counted_;
}

}  // namespace dmlop::cpu
