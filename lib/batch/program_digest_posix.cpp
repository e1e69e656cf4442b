#include "batch/program_digest.hpp"

#if __has_include(<link.h>)
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace dmlop {
namespace {

std::string hexadecimal_bytes(std::span<const std::byte> bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

// The build ID among the notes of a segment; empty if it is in another one. Names and contents of
// notes are padded to four bytes.
std::span<const std::byte> build_id_in(std::span<const std::byte> notes) {
  const auto padded = [](std::size_t size) { return (size + 3) / 4 * 4; };
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof header);
    const std::size_t name = sizeof header, content = name + padded(header.n_namesz);
    const std::size_t next = content + padded(header.n_descsz);
    if (next > notes.size()) break;
    const bool is_id = header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
                       std::memcmp(notes.data() + name, "GNU", 4) == 0;
    if (is_id) return notes.subspan(content, header.n_descsz);
    notes = notes.subspan(next);
  }
  return {};
}

// The first of the loaded objects is the program. Nothing here may throw, because the caller is C.
int find_build_id(dl_phdr_info* info, std::size_t, void* found) {
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // The loader says where the segment lies as a number.
    const auto* begin = reinterpret_cast<const std::byte*>(info->dlpi_addr + segment.p_vaddr);
    auto& id = *static_cast<std::span<const std::byte>*>(found);
    id = build_id_in({begin, static_cast<std::size_t>(segment.p_memsz)});
    if (!id.empty()) break;
  }
  return 1;
}

}  // namespace

std::string program_digest() {
  std::span<const std::byte> id;
  dl_iterate_phdr(find_build_id, &id);
  return hexadecimal_bytes(id);
}

}  // namespace dmlop
#else
namespace dmlop {

std::string program_digest() {
  return "";
}

}  // namespace dmlop
#endif
