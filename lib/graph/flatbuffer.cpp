#include "graph/flatbuffer.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace dmlop::flatbuffer {
namespace {

// What an offset, a table and the list of its fields are aligned to.
constexpr std::uint64_t offset_alignment = 4;
constexpr std::uint64_t list_alignment = 2;

// The list of a table's fields starts with its own size and that of the table.
constexpr std::uint64_t list_head_bytes = 4;

// What a table costs in memory, about.
constexpr std::size_t table_cost = 128;

[[noreturn]] void refuse(std::uint64_t at, const std::string& what) {
  throw Error(ErrorKind::invalid_input, "byte " + std::to_string(at) + ": " + what);
}

}  // namespace

Bytes::Bytes(std::span<const std::byte> bytes)
    : bytes_(bytes),
      left_(std::min(read_bytes_max, read_bytes_at_least + read_bytes_per_byte * bytes.size())) {}

std::uint64_t Bytes::number(std::uint64_t at, std::size_t size, const char* what) const {
  if (at > bytes_.size() || bytes_.size() - at < size)
    refuse(at, std::string(what) + " lies beyond the end of the file, which has " +
                   std::to_string(bytes_.size()) + " bytes");
  std::uint64_t number = 0;
  for (std::size_t i = size; i-- > 0;)
    number = number << 8U | std::to_integer<std::uint64_t>(bytes_[at + i]);
  return number;
}

std::uint64_t Bytes::target(std::uint64_t at, const char* what) const {
  const std::uint64_t offset = number(at, 4, what);
  if (offset < offset_alignment || at + offset >= bytes_.size())
    refuse(at, "the offset of " + std::string(what) + " is " + std::to_string(offset) +
                   ", which leads nowhere in the file of " + std::to_string(bytes_.size()) +
                   " bytes");
  return at + offset;
}

void Bytes::spend(std::uint64_t bytes) {
  if (bytes > left_)
    throw Error(ErrorKind::invalid_input,
                "its parts, counted as often as they are used, are too large for a file of " +
                    counted(bytes_.size(), "byte"));
  left_ -= bytes;
}

std::span<const std::byte> Bytes::take(std::uint64_t at, std::uint64_t size, const char* what) {
  if (at > bytes_.size() || bytes_.size() - at < size)
    refuse(at, std::string(what) + " has " + std::to_string(size) +
                   " bytes, more than the file has from there on");
  spend(size);
  return bytes_.subspan(at, size);
}

Bytes::Items Bytes::items(std::uint64_t at, std::size_t item_size, std::size_t cost,
                          const char* what) {
  const std::uint64_t count = number(at, 4, what);
  if (count > (bytes_.size() - at - 4) / item_size)
    refuse(at, std::string(what) + " has " + std::to_string(count) +
                   " items, more than the file has room for");
  spend(count * cost);
  return {at + 4, count};
}

std::string Bytes::text(std::uint64_t at, const char* what) {
  const Items items = this->items(at, 1, 0, what);
  const auto taken = take(items.first, items.count, what);
  spend(sizeof(std::string));
  if (number(items.first + items.count, 1, what) != 0)
    refuse(items.first + items.count, std::string(what) + " does not end with a zero");
  std::string text(taken.size(), '\0');
  std::transform(taken.begin(), taken.end(), text.begin(),
                 [](std::byte byte) { return static_cast<char>(byte); });
  return text;
}

Table Table::root(Bytes& bytes) {
  return {bytes, bytes.target(0, "the root table"), "the root table"};
}

Table::Table(Bytes& bytes, std::uint64_t place, const char* what) : bytes_(&bytes), place_(place) {
  if (place % offset_alignment != 0)
    refuse(place, std::string(what) + " is not aligned to 4 bytes");
  const auto distance = static_cast<std::int32_t>(bytes.number(place, 4, what));
  const std::int64_t fields = static_cast<std::int64_t>(place) - distance;
  if (fields < 0 || static_cast<std::uint64_t>(fields) % list_alignment != 0)
    refuse(place, "the list of the fields of " + std::string(what) + " would start at byte " +
                      std::to_string(fields));
  fields_ = static_cast<std::uint64_t>(fields);
  fields_size_ = bytes.number(fields_, 2, what);
  size_ = bytes.number(fields_ + 2, 2, what);
  if (fields_size_ < list_head_bytes || fields_size_ % 2 != 0)
    refuse(fields_, "the list of the fields of " + std::string(what) + " has " +
                        std::to_string(fields_size_) + " bytes");
  bytes.number(fields_ + fields_size_ - 2, 2, what);
  if (size_ < 4 || size_ > bytes.size() - place)
    refuse(place, std::string(what) + " has " + std::to_string(size_) +
                      " bytes, which the file has no room for");
}

std::optional<std::uint64_t> Table::field_at(std::size_t field) const {
  const std::uint64_t entry = list_head_bytes + 2 * field;
  if (entry + 2 > fields_size_) return std::nullopt;
  const std::uint64_t offset = bytes_->number(fields_ + entry, 2, "a field");
  if (offset == 0) return std::nullopt;
  if (offset < 4 || offset >= size_)
    refuse(fields_ + entry, "field " + std::to_string(field) + " of the table at byte " +
                                std::to_string(place_) + " lies outside of it");
  return place_ + offset;
}

std::uint64_t Table::scalar(std::size_t field, std::size_t size, const char* what) const {
  const auto at = field_at(field);
  if (!at) return 0;
  if (*at + size > place_ + size_)
    refuse(*at, std::string(what) + " lies outside of its table at byte " + std::to_string(place_));
  return bytes_->number(*at, size, what);
}

std::uint8_t Table::byte(std::size_t field, const char* what) const {
  return static_cast<std::uint8_t>(scalar(field, 1, what));
}

std::uint64_t Table::uint64(std::size_t field, const char* what) const {
  return scalar(field, 8, what);
}

std::optional<std::uint64_t> Table::referred(std::size_t field, const char* what) const {
  const auto at = field_at(field);
  return at ? std::optional(bytes_->target(*at, what)) : std::nullopt;
}

std::optional<Table> Table::table(std::size_t field, const char* what) const {
  const auto at = referred(field, what);
  return at ? std::optional(Table(*bytes_, *at, what)) : std::nullopt;
}

std::vector<Table> Table::tables(std::size_t field, const char* what) const {
  const auto at = referred(field, what);
  if (!at) return {};
  const Bytes::Items items = bytes_->items(*at, 4, table_cost, what);
  std::vector<Table> tables;
  tables.reserve(items.count);
  for (std::uint64_t i = 0; i < items.count; ++i)
    tables.push_back(Table(*bytes_, bytes_->target(items.first + 4 * i, what), what));
  return tables;
}

std::optional<std::string> Table::string(std::size_t field, const char* what) const {
  const auto at = referred(field, what);
  return at ? std::optional(bytes_->text(*at, what)) : std::nullopt;
}

std::vector<std::string> Table::strings(std::size_t field, const char* what) const {
  const auto at = referred(field, what);
  if (!at) return {};
  const Bytes::Items items = bytes_->items(*at, 4, sizeof(std::string), what);
  std::vector<std::string> strings;
  strings.reserve(items.count);
  for (std::uint64_t i = 0; i < items.count; ++i)
    strings.push_back(bytes_->text(bytes_->target(items.first + 4 * i, what), what));
  return strings;
}

std::optional<std::vector<std::uint32_t>> Table::numbers(std::size_t field,
                                                         const char* what) const {
  const auto at = referred(field, what);
  if (!at) return std::nullopt;
  const Bytes::Items items = bytes_->items(*at, 4, 4, what);
  std::vector<std::uint32_t> numbers;
  numbers.reserve(items.count);
  for (std::uint64_t i = 0; i < items.count; ++i)
    numbers.push_back(static_cast<std::uint32_t>(bytes_->number(items.first + 4 * i, 4, what)));
  return numbers;
}

std::optional<std::vector<std::byte>> Table::bytes(std::size_t field, const char* what) const {
  const auto at = referred(field, what);
  if (!at) return std::nullopt;
  const Bytes::Items items = bytes_->items(*at, 1, 0, what);
  const auto taken = bytes_->take(items.first, items.count, what);
  return std::vector(taken.begin(), taken.end());
}

std::optional<std::vector<std::byte>> Table::structure(std::size_t field, std::size_t size,
                                                       const char* what) const {
  const auto at = referred(field, what);
  if (!at) return std::nullopt;
  const auto taken = bytes_->take(*at, size, what);
  return std::vector(taken.begin(), taken.end());
}

}  // namespace dmlop::flatbuffer
