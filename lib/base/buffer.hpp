// Memory whose size files decide. If there is no room, the error names the number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace dmlop {

class Buffer {
 public:
  Buffer() = default;
  /// Makes `bytes` zeros, which take no time before they are used. `what` names their purpose in
  /// the message: "the output". Errors: run_failed.
  Buffer(std::uint64_t bytes, const std::string& what);
  /// The same for bytes that are written before they are read. What is in them is undefined: the
  /// memory may be that of an earlier buffer, as the system takes long to give fresh pages.
  static Buffer to_overwrite(std::uint64_t bytes, const std::string& what);

  std::byte* data() { return memory_.get(); }
  const std::byte* data() const { return memory_.get(); }
  std::uint64_t size() const { return size_; }
  std::span<std::byte> bytes() { return {data(), static_cast<std::size_t>(size_)}; }
  std::span<const std::byte> bytes() const { return {data(), static_cast<std::size_t>(size_)}; }

 private:
  /// Frees memory, or keeps it for the next buffer to overwrite.
  struct Free {
    std::size_t kept_bytes;  // of memory that may be kept; 0: it is not
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte[], Free> memory_;
  std::uint64_t size_ = 0;
};

/// Copies any number of bytes. Errors: as check_for_stop().
void copy_in_pieces(std::span<const std::byte> from, std::byte* to);

}  // namespace dmlop
