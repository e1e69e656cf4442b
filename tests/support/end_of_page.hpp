// Memory that nothing may be read behind.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <span>

namespace dmlop::test {

/// Bytes whose last one is the last of a page that nothing follows: reading on ends the program.
/// So does reading before the first, where they fill whole pages.
class EndOfPage {
 public:
  explicit EndOfPage(std::span<const std::byte> bytes) : size_(bytes.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    readable_ = (size_ + page - 1) / page * page;
    mapped_ = readable_ + 2 * page;
    void* at = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    pages_ = static_cast<std::byte*>(at);
    begin_ = pages_ + page + readable_ - size_;
    REQUIRE(mprotect(pages_ + page, readable_, PROT_READ | PROT_WRITE) == 0);
    std::memcpy(begin_, bytes.data(), size_);
  }
  EndOfPage(const EndOfPage&) = delete;
  EndOfPage& operator=(const EndOfPage&) = delete;
  ~EndOfPage() { munmap(pages_, mapped_); }

  std::span<const std::byte> bytes() const { return {begin_, size_}; }

 private:
  std::byte* pages_ = nullptr;
  std::byte* begin_ = nullptr;
  std::size_t size_;
  std::size_t readable_ = 0;
  std::size_t mapped_ = 0;
};

}  // namespace dmlop::test
