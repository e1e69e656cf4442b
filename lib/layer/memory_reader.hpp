// Reads structs and arrays of an application, and says in words what cannot be read.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/diagnostic.hpp"
#include "layer/memory.hpp"
#include "layer/structs.hpp"

namespace dmlop::layer {

/// "0x00007ff612345678".
std::string hex_address(Address address);

class MemoryReader {
 public:
  explicit MemoryReader(Diagnostics& findings) : findings_(findings) {}

  /// A struct. `name` is that of the pointer, `type` that of the struct: "DML_TENSOR_DESC".
  template <typename T>
  std::optional<T> read(Address address, const std::string& name, const std::string& type) {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!copy(address, std::as_writable_bytes(std::span(&value, 1)), name, type))
      return std::nullopt;
    return value;
  }

  /// `count` elements. Nothing, with a finding, also if they are more than `count_max`.
  template <typename T>
  std::optional<std::vector<T>> list(Address address, std::uint32_t count, const std::string& name,
                                     const std::string& count_name, std::uint32_t count_max) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (!may_read(address, count, name, count_name, count_max)) return std::nullopt;
    std::vector<T> values(count);
    if (!copy_memory(address, std::as_writable_bytes(std::span(values)))) {
      refuse_list(address, count, name, count_name);
      return std::nullopt;
    }
    return values;
  }

  /// Text up to its 0; "" for null, and for what cannot be read.
  static std::string text(Address address);

  /// Returns false, with a finding, if not all bytes can be read.
  bool copy(Address address, std::span<std::byte> to, const std::string& name,
            const std::string& type);
  void refuse(std::string message, std::string rule = "",
              ErrorKind kind = ErrorKind::invalid_input);

 private:
  bool may_read(Address address, std::uint32_t count, const std::string& name,
                const std::string& count_name, std::uint32_t count_max);
  void refuse_list(Address address, std::uint32_t count, const std::string& name,
                   const std::string& count_name);

  Diagnostics& findings_;
};

}  // namespace dmlop::layer
