#include "layer/memory_reader.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace dmlop::layer {

std::string hex_address(Address address) {
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[address >> shift & 15];
  return text;
}

std::string MemoryReader::text(Address address) {
  constexpr std::size_t text_max = 1024;
  std::string text;
  while (address != 0 && text.size() < text_max) {
    std::byte byte{};
    if (!copy_memory(address + text.size(), std::span(&byte, 1))) return "";
    if (byte == std::byte{0}) break;
    text += static_cast<char>(byte);
  }
  return text;
}

bool MemoryReader::copy(Address address, std::span<std::byte> to, const std::string& name,
                        const std::string& type) {
  if (address == 0) {
    refuse(name + " is null, must point to a " + type);
    return false;
  }
  if (copy_memory(address, to)) return true;
  refuse(name + " is " + hex_address(address) + ", where no " + type + " can be read",
         "a pointer points to memory that is there; this one was never set, or what it points to "
         "was freed",
         ErrorKind::io_failed);
  return false;
}

bool MemoryReader::may_read(Address address, std::uint32_t count, const std::string& name,
                            const std::string& count_name, std::uint32_t count_max) {
  if (count > count_max) {
    refuse(count_name + " is " + std::to_string(count) + ", must be at most " +
           std::to_string(count_max));
    return false;
  }
  if (count > 0 && address == 0) {
    refuse(name + " is null, and " + count_name + " is " + std::to_string(count));
    return false;
  }
  return true;
}

void MemoryReader::refuse_list(Address address, std::uint32_t count, const std::string& name,
                               const std::string& count_name) {
  refuse(name + " is " + hex_address(address) + ", where " + counted(count, "element") +
             " cannot be read",
         "it points to as many elements as " + count_name + " says", ErrorKind::io_failed);
}

void MemoryReader::refuse(std::string message, std::string rule, ErrorKind kind) {
  findings_.push_back({.kind = kind, .message = std::move(message), .rule = std::move(rule)});
}

}  // namespace dmlop::layer
