// Memory whose size files decide. It starts as zeros, which take no time before they are used. If
// there is no room, the error names the number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>

namespace dmlop {

class Buffer {
 public:
  Buffer() = default;
  /// Makes `bytes` zeros. `what` names their purpose in the message: "the output". Errors:
  /// run_failed.
  Buffer(std::uint64_t bytes, const std::string& what);

  std::byte* data() { return memory_.get(); }
  const std::byte* data() const { return memory_.get(); }
  std::uint64_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data(), static_cast<std::size_t>(size_)}; }
  std::span<const std::byte> bytes() const { return {data(), static_cast<std::size_t>(size_)}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::uint64_t size_ = 0;
};

/// Copies any number of bytes. Errors: as check_for_stop().
void copy_in_pieces(std::span<const std::byte> from, std::byte* to);

}  // namespace dmlop
