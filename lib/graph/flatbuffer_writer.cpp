#include "graph/flatbuffer_writer.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace dmlop::flatbuffer {
namespace {

constexpr std::size_t offset_size = 4;
constexpr std::uint64_t file_bytes_max = std::uint64_t{1} << 31;

}  // namespace

Fields& Fields::byte(std::size_t number, std::uint8_t value) {
  list_.push_back({number, 1, value});
  return *this;
}

Fields& Fields::uint64(std::size_t number, std::uint64_t value) {
  list_.push_back({number, 8, value});
  return *this;
}

Fields& Fields::part(std::size_t number, Field::Part part) {
  list_.push_back({number, offset_size, 0, std::move(part)});
  return *this;
}

Fields& Fields::string(std::size_t number, std::string_view text) {
  return part(number, [text](Writer& writer) { return writer.string(text); });
}

Fields& Fields::strings(std::size_t number, std::span<const std::string> texts) {
  std::vector<Field::Part> parts;
  for (const std::string& text : texts)
    parts.emplace_back([&text](Writer& writer) { return writer.string(text); });
  return tables(number, std::move(parts));
}

Fields& Fields::numbers(std::size_t number, std::span<const std::uint32_t> numbers) {
  return part(number, [numbers](Writer& writer) { return writer.numbers(numbers); });
}

Fields& Fields::bytes(std::size_t number, std::span<const std::byte> bytes) {
  return part(number, [bytes](Writer& writer) { return writer.bytes(bytes); });
}

Fields& Fields::structure(std::size_t number, std::span<const std::byte> bytes,
                          std::size_t alignment) {
  const std::vector<std::byte> kept(bytes.begin(), bytes.end());
  return part(number,
              [kept, alignment](Writer& writer) { return writer.structure(kept, alignment); });
}

Fields& Fields::tables(std::size_t number, std::vector<Field::Part> tables) {
  return part(number,
              [tables = std::move(tables)](Writer& writer) { return writer.parts(tables); });
}

std::vector<std::byte> Writer::file(const Fields& root) {
  Writer writer;
  writer.number(0, offset_size);
  writer.refer(0, [&](Writer& to) { return to.table(root); });
  return std::move(writer.bytes_);
}

void Writer::align(std::size_t alignment, std::size_t remainder) {
  while (place() % alignment != remainder) bytes_.push_back(std::byte{0});
}

void Writer::number(std::uint64_t value, std::size_t size) {
  bytes_.resize(place() + size);
  number_at(place() - size, value, size);
}

void Writer::number_at(std::uint64_t at, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    bytes_[at + i] = static_cast<std::byte>(value >> 8 * i & 0xFF);
}

void Writer::refer(std::uint64_t at, const Field::Part& part) {
  const std::uint64_t target = part(*this);
  if (place() > file_bytes_max)
    throw Error(ErrorKind::run_failed, "a serialized graph has at most 2 GiB");
  number_at(at, target - at, offset_size);
}

// The list of the fields' places, then the table: how far back the list is, then the fields, the
// largest first.
std::uint64_t Writer::table(const Fields& fields) {
  std::vector<Field> list = fields.list();
  std::ranges::stable_sort(list, std::greater<>(), &Field::size);
  std::size_t count = 0;
  std::size_t table_size = offset_size;
  for (const Field& field : list) {
    count = std::max(count, field.number + 1);
    table_size += field.size;
  }
  const std::size_t list_size = 2 * (2 + count);
  const bool has_large = !list.empty() && list.front().size == 8;
  // The first field stands 4 bytes behind the table's begin and is aligned to its size.
  while ((place() + list_size) % (has_large ? 8 : 4) != (has_large ? 4 : 0))
    bytes_.push_back(std::byte{0});
  const std::uint64_t places = place();
  number(list_size, 2);
  number(table_size, 2);
  for (std::size_t i = 0; i < count; ++i) number(0, 2);
  const std::uint64_t table = place();
  number(table - places, offset_size);
  std::vector<std::uint64_t> ats;
  for (const Field& field : list) {
    number_at(places + 4 + 2 * field.number, place() - table, 2);
    ats.push_back(place());
    number(field.value, field.size);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].part) refer(ats[i], list[i].part);
  }
  return table;
}

std::uint64_t Writer::string(std::string_view text) {
  align(4);
  const std::uint64_t begin = place();
  number(text.size(), 4);
  const auto bytes = std::as_bytes(std::span(text));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  number(0, 1);
  return begin;
}

std::uint64_t Writer::numbers(std::span<const std::uint32_t> numbers) {
  align(4);
  const std::uint64_t begin = place();
  number(numbers.size(), 4);
  for (const std::uint32_t value : numbers) number(value, 4);
  return begin;
}

std::uint64_t Writer::bytes(std::span<const std::byte> bytes) {
  align(4);
  const std::uint64_t begin = place();
  number(bytes.size(), 4);
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return begin;
}

std::uint64_t Writer::structure(std::span<const std::byte> bytes, std::size_t alignment) {
  align(alignment);
  const std::uint64_t begin = place();
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return begin;
}

std::uint64_t Writer::parts(const std::vector<Field::Part>& parts) {
  align(4);
  const std::uint64_t begin = place();
  number(parts.size(), 4);
  const std::uint64_t first = place();
  bytes_.resize(first + offset_size * parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) refer(first + offset_size * i, parts[i]);
  return begin;
}

}  // namespace dmlop::flatbuffer
