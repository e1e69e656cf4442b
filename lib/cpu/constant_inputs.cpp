#include "cpu/constant_inputs.hpp"

#include <atomic>

#include "base/error.hpp"

namespace dmlop::cpu {
namespace {

// More weights than a process should hold twice.
constexpr std::uint64_t kept_bytes_most = std::uint64_t{1} << 30;
constexpr std::size_t line = 64;

std::atomic<std::uint64_t> kept_bytes{0};

}  // namespace

std::unique_ptr<KeptBytes> KeptBytes::make(std::uint64_t bytes) {
  std::unique_ptr<KeptBytes> kept(new KeptBytes);
  if (bytes > kept_bytes_most) return nullptr;
  kept->counted_ = bytes;
  if (kept_bytes.fetch_add(bytes) > kept_bytes_most - bytes) return nullptr;
  try {
    kept->buffer_ = Buffer::to_overwrite(bytes + line, "the packed weights");
  } catch (const Error&) {
    return nullptr;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(kept->buffer_.data());
  kept->data_ = kept->buffer_.data() + (line - address % line) % line;
  return kept;
}

KeptBytes::~KeptBytes() {
  kept_bytes -= counted_;
}

}  // namespace dmlop::cpu
