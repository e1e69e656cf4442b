// Memory that nothing may be read behind.
#pragma once

#include <cstddef>
#include <span>

namespace dmlop::test {

/// Bytes whose last one is the last of a page that nothing follows: reading on ends the program.
/// So does reading before the first, where they fill whole pages.
class EndOfPage {
 public:
  explicit EndOfPage(std::span<const std::byte> bytes);
  EndOfPage(const EndOfPage&) = delete;
  EndOfPage& operator=(const EndOfPage&) = delete;
  ~EndOfPage();

  std::span<const std::byte> bytes() const { return {begin_, size_}; }

 private:
  std::byte* pages_ = nullptr;
  std::byte* begin_ = nullptr;
  std::size_t size_;
  std::size_t mapped_ = 0;
};

}  // namespace dmlop::test
