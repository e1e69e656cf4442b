#include "end_of_page.hpp"

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <doctest/doctest.h>

#include <cstring>

namespace dmlop::test {
namespace {

#ifdef _WIN32

std::size_t page_size() {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

void* reserve(std::size_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_NOACCESS);
}

bool make_usable(std::byte* at, std::size_t bytes) {
  return bytes == 0 || VirtualAlloc(at, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

void release(std::byte* at, std::size_t) {
  VirtualFree(at, 0, MEM_RELEASE);
}

#else

std::size_t page_size() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void* reserve(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

bool make_usable(std::byte* at, std::size_t bytes) {
  return mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;
}

void release(std::byte* at, std::size_t bytes) {
  munmap(at, bytes);
}

#endif

}  // namespace

EndOfPage::EndOfPage(std::span<const std::byte> bytes) : size_(bytes.size()) {
  const std::size_t page = page_size();
  const std::size_t usable = (size_ + page - 1) / page * page;
  mapped_ = usable + 2 * page;
  pages_ = static_cast<std::byte*>(reserve(mapped_));
  REQUIRE(pages_ != nullptr);
  begin_ = pages_ + page + usable - size_;
  REQUIRE(make_usable(pages_ + page, usable));
  if (size_ != 0) std::memcpy(begin_, bytes.data(), size_);
}

EndOfPage::~EndOfPage() {
  release(pages_, mapped_);
}

}  // namespace dmlop::test
