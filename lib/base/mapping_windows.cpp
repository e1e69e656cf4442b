// Mapped files of base/system_file.hpp on Windows. If a page of a mapped file cannot be read,
// because its disk or its network failed, reading the page raises EXCEPTION_IN_PAGE_ERROR. The
// handler here replaces the whole mapping with zeros and marks it, so that the reader can continue
// and be told.
#include "base/mappings.hpp"
#include "base/system_file.hpp"
#include "base/windows.hpp"

namespace dmlop {
namespace {

// Threads that read the mapping meanwhile meet no memory, and wait in read_lost_page().
bool put_zeros(Mapping& mapping) {
  void* const address = reinterpret_cast<void*>(mapping.begin.load());
  if (UnmapViewOfFile(address) == 0) return false;
  if (VirtualAlloc(address, mapping.end - mapping.begin, MEM_RESERVE | MEM_COMMIT, PAGE_READONLY) !=
      address)
    return false;
  mapping.has_zeros = true;
  return true;
}

bool await_zeros(const Mapping& mapping) {
  constexpr int patience_milliseconds = 1000;
  for (int waited = 0; !mapping.has_zeros && waited < patience_milliseconds; ++waited) Sleep(1);
  return mapping.has_zeros;
}

LONG CALLBACK read_lost_page(EXCEPTION_POINTERS* exception) {
  const EXCEPTION_RECORD& record = *exception->ExceptionRecord;
  const bool is_lost = record.ExceptionCode == EXCEPTION_IN_PAGE_ERROR;
  if (!is_lost && record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION)
    return EXCEPTION_CONTINUE_SEARCH;
  constexpr ULONG_PTR reading = 0;
  if (record.NumberParameters < 2 || record.ExceptionInformation[0] != reading)
    return EXCEPTION_CONTINUE_SEARCH;
  Mapping* const mapping = mapping_around(record.ExceptionInformation[1]);
  if (mapping == nullptr) return EXCEPTION_CONTINUE_SEARCH;
  const bool is_first = is_lost && !mapping->has_lost_bytes.exchange(true);
  if (!mapping->has_lost_bytes) return EXCEPTION_CONTINUE_SEARCH;
  return (is_first ? put_zeros(*mapping) : await_zeros(*mapping)) ? EXCEPTION_CONTINUE_EXECUTION
                                                                  : EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

const std::byte* map_to_read(const SystemFile& file, std::uint64_t bytes, std::error_code& error) {
  static const bool is_guarded =
      AddVectoredExceptionHandler(/*First=*/1, read_lost_page) != nullptr;
  Mapping* const entry = is_guarded ? reserve_mapping() : nullptr;
  error = std::make_error_code(std::errc::no_such_device);
  if (entry == nullptr) return nullptr;
  error.clear();
  const HANDLE mapping =
      CreateFileMappingW(file.handle(), nullptr, PAGE_READONLY, static_cast<DWORD>(bytes >> 32),
                         static_cast<DWORD>(bytes), nullptr);
  const void* address =
      mapping == nullptr ? nullptr : MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, bytes);
  if (address == nullptr) error = {static_cast<int>(GetLastError()), std::system_category()};
  if (mapping != nullptr) CloseHandle(mapping);  // the view keeps it
  if (address == nullptr) {
    free_mapping(*entry);
  } else {
    fill_mapping(*entry, address, bytes);
  }
  return static_cast<const std::byte*>(address);
}

void unmap(const std::byte* address, std::uint64_t) noexcept {
  Mapping* const entry = mapping_at(address);
  const bool has_zeros = entry != nullptr && entry->has_zeros;
  if (entry != nullptr) free_mapping(*entry);
  if (has_zeros) {
    VirtualFree(const_cast<std::byte*>(address), 0, MEM_RELEASE);
  } else {
    UnmapViewOfFile(address);
  }
}

bool has_lost_bytes(const std::byte* address) noexcept {
  const Mapping* const entry = mapping_at(address);
  return entry != nullptr && entry->has_lost_bytes;
}

}  // namespace dmlop
