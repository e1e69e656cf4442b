// Memory of a size that files decide: zeros that take no time before they are used, and a message
// with the number of bytes where there is no room for them.
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
  /// So many zeros. `what` they are for stands in the message: "the output". Errors: run_failed.
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

/// Copies bytes, however many. Errors: as check_for_stop().
void copy_in_pieces(std::span<const std::byte> from, std::byte* to);

}  // namespace dmlop
