// Mapped files of base/system_file.hpp on POSIX. If a mapped file loses a page, because the file
// was truncated or its disk failed, reading the page raises SIGBUS. The handler here replaces this
// page and those after it with zeros and marks the mapping, so that the reader can continue and be
// told.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/mappings.hpp"
#include "base/system_file.hpp"

namespace dmlop {
namespace {

struct sigaction earlier_action {};

bool put_zeros_at(void* lost) {
  const auto address = reinterpret_cast<std::uintptr_t>(lost);
  Mapping* const mapping = mapping_around(address);
  if (mapping == nullptr) return false;
  mapping->has_lost_bytes = true;
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const std::uintptr_t into_page = address % page_bytes;
  void* const page = static_cast<std::byte*>(lost) - into_page;
  const std::uintptr_t bytes = mapping->end - (address - into_page);
  return ::mmap(page, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, /*fd=*/-1,
                /*offset=*/0) == page;
}

// Does what would have happened without this handler.
void do_as_before(int signal, siginfo_t* info, void* context) {
  if ((earlier_action.sa_flags & SA_SIGINFO) != 0) {
    earlier_action.sa_sigaction(signal, info, context);
  } else if (earlier_action.sa_handler != SIG_DFL && earlier_action.sa_handler != SIG_IGN) {
    earlier_action.sa_handler(signal);
  } else {
    ::sigaction(signal, &earlier_action, nullptr);
    ::raise(signal);  // takes effect when the handler returns; a read that failed then fails again
  }
}

extern "C" void read_lost_page(int signal, siginfo_t* info, void* context) {
  const int number = errno;
  const bool is_fault = info->si_code > 0;  // and was not sent by a process
  if (!is_fault || !put_zeros_at(info->si_addr)) do_as_before(signal, info, context);
  errno = number;
}

bool install_handler() {
  struct sigaction action {};
  action.sa_sigaction = read_lost_page;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, &earlier_action) == 0;
}

}  // namespace

const std::byte* map_to_read(const SystemFile& file, std::uint64_t bytes, std::error_code& error) {
  static const bool is_guarded = install_handler();
  Mapping* const entry = is_guarded ? reserve_mapping() : nullptr;
  error = std::make_error_code(std::errc::no_such_device);
  if (entry == nullptr) return nullptr;
  void* const address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.handle(), /*offset=*/0);
  error =
      address == MAP_FAILED ? std::error_code{errno, std::generic_category()} : std::error_code{};
  if (error) {
    free_mapping(*entry);
    return nullptr;
  }
  fill_mapping(*entry, address, bytes);
  return static_cast<const std::byte*>(address);
}

void unmap(const std::byte* address, std::uint64_t bytes) noexcept {
  if (Mapping* const entry = mapping_at(address)) free_mapping(*entry);
  ::munmap(const_cast<std::byte*>(address), bytes);
}

bool has_lost_bytes(const std::byte* address) noexcept {
  const Mapping* const entry = mapping_at(address);
  return entry != nullptr && entry->has_lost_bytes;
}

}  // namespace dmlop
