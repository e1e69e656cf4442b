// Reads the bytes of a flatbuffer without its schema. Every offset, count and length is checked
// against the file before it is followed, and each part is copied out, so that nothing depends on
// the file afterwards. Errors: invalid_input with the byte at which something is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace dmlop::flatbuffer {

/// Parts may be shared, so a small file may describe much. What is read takes no more memory than
/// this, nor than so many times the file's size and a little more.
inline constexpr std::uint64_t read_bytes_max = std::uint64_t{64} << 20;
inline constexpr std::uint64_t read_bytes_per_byte = 64;
inline constexpr std::uint64_t read_bytes_at_least = std::uint64_t{64} << 10;

/// The bytes of a file, and how many may still be copied out of them.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes);

  std::uint64_t size() const { return bytes_.size(); }
  /// A little-endian number of `size` bytes. `what` names the part for the message.
  std::uint64_t number(std::uint64_t at, std::size_t size, const char* what) const;
  /// The place that the offset stored at `at` leads to.
  std::uint64_t target(std::uint64_t at, const char* what) const;
  /// `size` bytes, a copy of which is counted.
  std::span<const std::byte> take(std::uint64_t at, std::uint64_t size, const char* what);
  /// The first item of a vector at `at`, with items of `item_size` bytes, and their number. As many
  /// times `cost` bytes are counted.
  struct Items {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  Items items(std::uint64_t at, std::size_t item_size, std::size_t cost, const char* what);
  /// The text at `at`.
  std::string text(std::uint64_t at, const char* what);

 private:
  void spend(std::uint64_t bytes);

  std::span<const std::byte> bytes_;
  std::uint64_t left_;
};

/// A table, whose fields are numbered in the order of its schema. Reading an absent field gives
/// nothing, or 0 for a number. `what` names the field in messages.
class Table {
 public:
  /// The root of the file.
  static Table root(Bytes& bytes);

  std::uint64_t place() const { return place_; }
  bool has(std::size_t field) const { return field_at(field).has_value(); }

  std::uint8_t byte(std::size_t field, const char* what) const;
  std::uint64_t uint64(std::size_t field, const char* what) const;
  std::optional<Table> table(std::size_t field, const char* what) const;
  std::vector<Table> tables(std::size_t field, const char* what) const;
  std::optional<std::string> string(std::size_t field, const char* what) const;
  std::vector<std::string> strings(std::size_t field, const char* what) const;
  /// Vectors of 32-bit numbers and of bytes.
  std::optional<std::vector<std::uint32_t>> numbers(std::size_t field, const char* what) const;
  std::optional<std::vector<std::byte>> bytes(std::size_t field, const char* what) const;
  /// The struct of `size` bytes that a union's value is.
  std::optional<std::vector<std::byte>> structure(std::size_t field, std::size_t size,
                                                  const char* what) const;

 private:
  Table(Bytes& bytes, std::uint64_t place, const char* what);
  std::optional<std::uint64_t> field_at(std::size_t field) const;
  /// The place of what a field refers to.
  std::optional<std::uint64_t> referred(std::size_t field, const char* what) const;
  std::uint64_t scalar(std::size_t field, std::size_t size, const char* what) const;

  Bytes* bytes_;
  std::uint64_t place_;
  std::uint64_t size_ = 0;         // of the table itself
  std::uint64_t fields_ = 0;       // the place of the list of its fields
  std::uint64_t fields_size_ = 0;  // in bytes
};

}  // namespace dmlop::flatbuffer
