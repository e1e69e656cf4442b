// Writes a flatbuffer front to back: each table stands before what it refers to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace dmlop::flatbuffer {

class Writer;

/// A field of a table: a number, or a part that stands behind the table.
struct Field {
  /// Writes the part and returns its place.
  using Part = std::function<std::uint64_t(Writer&)>;

  std::size_t number = 0;   // in the order of the schema
  std::size_t size = 0;     // in bytes: 1, 4 or 8; 4 for a part
  std::uint64_t value = 0;  // of a number
  Part part = nullptr;
};

/// The fields of a table. Those that are left out are absent.
class Fields {
 public:
  Fields& byte(std::size_t number, std::uint8_t value);
  Fields& uint64(std::size_t number, std::uint64_t value);
  Fields& part(std::size_t number, Field::Part part);
  Fields& string(std::size_t number, std::string_view text);
  Fields& strings(std::size_t number, std::span<const std::string> texts);
  /// A vector of 32-bit numbers.
  Fields& numbers(std::size_t number, std::span<const std::uint32_t> numbers);
  Fields& bytes(std::size_t number, std::span<const std::byte> bytes);
  /// The struct that a union's value is; its size is its alignment, too, up to 8 bytes.
  Fields& structure(std::size_t number, std::span<const std::byte> bytes, std::size_t alignment);
  /// A vector of tables.
  Fields& tables(std::size_t number, std::vector<Field::Part> tables);

  const std::vector<Field>& list() const { return list_; }

 private:
  std::vector<Field> list_;
};

class Writer {
 public:
  /// The whole file with `root` as its root table. Errors: run_failed beyond 2 GiB.
  static std::vector<std::byte> file(const Fields& root);

  std::uint64_t table(const Fields& fields);
  std::uint64_t string(std::string_view text);
  std::uint64_t numbers(std::span<const std::uint32_t> numbers);
  std::uint64_t bytes(std::span<const std::byte> bytes);
  std::uint64_t structure(std::span<const std::byte> bytes, std::size_t alignment);
  /// A vector of offsets to parts, which follow it.
  std::uint64_t parts(const std::vector<Field::Part>& parts);

 private:
  std::uint64_t place() const { return bytes_.size(); }
  void align(std::size_t alignment, std::size_t remainder = 0);
  void number(std::uint64_t value, std::size_t size);
  void number_at(std::uint64_t at, std::uint64_t value, std::size_t size);
  /// Writes the part behind all others, and the offset to it at `at`.
  void refer(std::uint64_t at, const Field::Part& part);

  std::vector<std::byte> bytes_;
};

}  // namespace dmlop::flatbuffer
