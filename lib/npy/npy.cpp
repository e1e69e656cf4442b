#include "npy/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "base/text.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

using namespace std::string_view_literals;

static_assert(std::endian::native == std::endian::little, "'=' in a header means little-endian");

constexpr std::string_view magic = "\x93NUMPY"sv;
// NumPy writes about 128 bytes and refuses to read more than 10000.
constexpr std::size_t max_header_length = 65536;
constexpr std::size_t max_dimensions = 64;  // NumPy's own limit
constexpr std::string_view whitespace = " \t\n\r\f"sv;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorKind::invalid_input, message);
}

bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The first bytes of `bytes` for a message. Bytes other than printable ASCII become \xNN.
std::string printable(std::string_view bytes) {
  constexpr std::size_t max_shown = 60;
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text;
  for (const char c : bytes.substr(0, max_shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    }
  }
  if (bytes.size() > max_shown) text += "...";
  return text;
}

/// A shape as Python writes a tuple: "(3,)", "(2, 3)".
std::string tuple_text(std::span<const std::uint64_t> sizes) {
  std::string text = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(sizes[i]);
  }
  return text + (sizes.size() == 1 ? ",)" : ")");
}

// Recognizes a file that does not start with .npy's magic bytes.

struct Lookalike {
  std::string_view start;
  std::string_view message;
};

constexpr std::array<Lookalike, 7> lookalikes{{
    {"version https://git-lfs.github.com/spec/",
     "the file is a Git LFS pointer, not the array itself; run 'git lfs pull' to fetch the array"},
    {"PK\x03\x04",
     "the file is a zip archive, probably .npz; take one array out of it with "
     "numpy.load and save that with numpy.save"},
    {"PK\x05\x06", "the file is an empty zip archive, probably .npz, and holds no array"},
    {"\x1f\x8b", "the file is compressed with gzip; decompress it with gunzip"},
    {"\x80",
     "the file is probably a Python pickle; load it in Python and save the array with "
     "numpy.save"},
    {"\xc2\x93NUMPY",
     "the file is .npy that was re-encoded as UTF-8 text; copy the original again "
     "as a binary file"},
    {"\xef\xbf\xbdNUMPY",
     "the file is .npy that was damaged by re-encoding it as UTF-8 text; copy "
     "the original again as a binary file"},
}};

[[noreturn]] void refuse_start(std::string_view file) {
  for (const Lookalike& lookalike : lookalikes) {
    if (file.starts_with(lookalike.start)) refuse(std::string(lookalike.message));
  }
  const std::string_view start = file.substr(0, 16);
  const bool is_text = std::all_of(start.begin(), start.end(), [](char c) {
    return (0x20 <= c && c < 0x7f) || whitespace.find(c) != std::string_view::npos;
  });
  const std::size_t first = start.find_first_not_of(whitespace);
  if (is_text && first != std::string_view::npos && (start[first] == '{' || start[first] == '[')) {
    refuse("the file is JSON that starts with \"" + printable(start) +
           "\", not .npy; name the .npy file of the array");
  }
  if (is_text) {
    refuse("the file is text that starts with \"" + printable(start) +
           "\", not .npy; load it with numpy.loadtxt and save it with numpy.save");
  }
  refuse("the file is not .npy: it starts with \"" + printable(start) +
         "\", not with \"\\x93NUMPY\"; save the array with numpy.save");
}

/// Where the header's dictionary lies in the file.
struct HeaderExtent {
  std::size_t offset;
  std::size_t length;
};

/// The size of the field that holds the header's length.
std::size_t length_field_size(unsigned major, unsigned minor) {
  if (minor == 0 && major == 1) return 2;
  if (minor == 0 && (major == 2 || major == 3)) return 4;
  refuse(".npy version " + std::to_string(major) + "." + std::to_string(minor) +
         " is unknown; versions 1.0, 2.0 and 3.0 can be read, and numpy.save writes them");
}

/// The most bytes that can stand before the header.
constexpr std::size_t max_header_offset = magic.size() + 6;

/// Where the first bytes of the file say that the header is, whether or not all of it has been
/// read.
HeaderExtent header_extent(std::string_view file) {
  if (file.empty()) refuse("the file is empty; save the array with numpy.save");
  if (!file.starts_with(magic.substr(0, file.size()))) refuse_start(file);
  const std::size_t version_end = magic.size() + 2;
  const std::string truncated = "the file is truncated: ";
  if (file.size() < version_end) {
    refuse(truncated + "it has " + std::to_string(file.size()) + " bytes and ends in its first 8");
  }
  const auto byte_at = [file](std::size_t i) { return static_cast<unsigned char>(file[i]); };
  const std::size_t field = length_field_size(byte_at(magic.size()), byte_at(magic.size() + 1));
  const std::size_t offset = version_end + field;
  if (file.size() < offset) {
    refuse(truncated + "it has " + std::to_string(file.size()) +
           " bytes and ends before the length of its header");
  }
  std::size_t length = 0;
  for (std::size_t i = field; i-- > 0;) length = length << 8 | byte_at(version_end + i);
  if (length > max_header_length) {
    refuse("the header's length is " + std::to_string(length) + " bytes; at most " +
           std::to_string(max_header_length) +
           " are read, and a tensor needs about 128; save the array again with numpy.save");
  }
  return {offset, length};
}

HeaderExtent find_header(std::string_view file) {
  const auto [offset, length] = header_extent(file);
  if (length > file.size() - offset) {
    refuse("the file is truncated: its header has " + std::to_string(length) + " bytes and only " +
           std::to_string(file.size() - offset) + " follow");
  }
  return {offset, length};
}

struct RefusedType {
  char code;
  std::string_view name;
  std::string_view remedy;
};

constexpr std::array<RefusedType, 8> refused_types{{
    {'O', "object",
     "convert it with array.astype(numpy.float32), or to whatever numbers its elements are"},
    {'c', "complex", "save array.real and array.imag as two files"},
    {'S', "bytes", "save the characters as numbers, array.view(numpy.uint8)"},
    {'U', "str", "save the characters as numbers, array.view(numpy.uint32)"},
    {'M', "datetime64", "convert it with array.astype(numpy.int64)"},
    {'m', "timedelta64", "convert it with array.astype(numpy.int64)"},
    {'f', "longdouble", "convert it with array.astype(numpy.float64)"},
    {'V', "void",
     "if it is bfloat16 or another type that NumPy itself lacks, convert it with "
     "array.astype(numpy.float32) before saving"},
}};

/// Whether `type` looks like a type of `code` that DirectML does not have.
bool is_refused_type(char code, std::string_view type) {
  if (type.empty() || type[0] != code) return false;
  const std::string_view rest = type.substr(1);
  if (code == 'O') return rest.empty() || is_digit(rest[0]);
  if (code == 'f') return rest == "12" || rest == "16";
  return !rest.empty() && is_digit(rest[0]);
}

[[noreturn]] void refuse_type(std::string_view descr, std::string_view type) {
  const std::string value = "('" + printable(descr) + "') ";
  for (const RefusedType& refused : refused_types) {
    if (!is_refused_type(refused.code, type)) continue;
    refuse("dtype " + std::string(refused.name) + " " + value +
           "is not a tensor type of DirectML; " + std::string(refused.remedy));
  }
  std::string known;
  for (const DataTypeInfo& entry : data_types) {
    if (stored_as(entry.type) == entry.type) known += " " + std::string(entry.numpy);
  }
  refuse("dtype '" + printable(descr) + "' is not a tensor type of DirectML; those are" + known +
         ": convert the array with array.astype");
}

struct ElementType {
  DataType data_type;
  bool big_endian;
};

ElementType element_type(std::string_view descr) {
  std::string_view type = descr;
  char order = '=';
  if (!type.empty() && "<>|="sv.find(type[0]) != std::string_view::npos) {
    order = type[0];
    type.remove_prefix(1);
  }
  if (type == "b1" || type == "?")
    return {DataType::UInt8, false};  // numpy.bool_: bytes of 0 and 1
  const auto* const entry = std::find_if(data_types.begin(), data_types.end(),
                                         [type](const auto& e) { return e.numpy == type; });
  if (entry == data_types.end()) refuse_type(descr, type);
  if (order == '|' && entry->size > 1) {
    refuse("dtype '" + printable(descr) + "' gives elements of " + std::to_string(entry->size) +
           " bytes no byte order; '<" + std::string(type) + "' (little-endian) or '>" +
           std::string(type) + "' (big-endian) does");
  }
  return {entry->type, order == '>' && entry->size > 1};
}

struct Fields {
  std::optional<ElementType> element;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::uint64_t>> sizes;
};

/// Reads the literal of a Python dictionary with exactly the three keys of .npy, in one pass.
class DictionaryReader {
 public:
  explicit DictionaryReader(std::string_view text) : text_(text) {}

  Fields read() {
    skip_whitespace();
    if (!take('{')) {
      refuse("the header is not a Python dictionary: it is \"" + printable(rest()) +
             "\"; save the array again with numpy.save");
    }
    Fields fields;
    while (!take('}')) {
      read_entry(fields);
      if (take(',')) continue;
      if (!take('}')) malformed("',' or '}' after a value");
      break;
    }
    skip_whitespace();
    if (!rest().empty()) malformed("nothing after the dictionary");
    require(fields.element.has_value(), "descr");
    require(fields.fortran_order.has_value(), "fortran_order");
    require(fields.sizes.has_value(), "shape");
    return fields;
  }

 private:
  std::string_view rest() const { return text_.substr(position_); }

  void skip_whitespace() {
    position_ = std::min(text_.find_first_not_of(whitespace, position_), text_.size());
  }

  /// Skips whitespace, and then `c` if it comes next.
  bool take(char c) {
    skip_whitespace();
    if (!rest().starts_with(c)) return false;
    ++position_;
    return true;
  }

  [[noreturn]] void malformed(std::string_view expected) const {
    refuse("the header is malformed: expected " + std::string(expected) + " at byte " +
           std::to_string(position_) + " of the header, found " +
           (rest().empty() ? "its end" : "\"" + printable(rest()) + "\"") +
           "; save the array again with numpy.save");
  }

  static void require(bool present, const std::string& key) {
    if (!present) {
      refuse("the header has no key '" + key + "'; save the array again with numpy.save");
    }
  }

  /// The value that starts here, for a message: everything up to what would end it in a well-formed
  /// header.
  std::string value_text() const {
    const std::string_view value = rest();
    const std::size_t bracket = value.empty() ? value.npos : "([{"sv.find(value[0]);
    const bool in_brackets = bracket != value.npos;
    const std::string_view ends = in_brackets ? ")]}"sv.substr(bracket, 1) : ",)}\n"sv;
    const std::size_t end = value.find_first_of(ends);
    const std::size_t size = std::min(end, value.size()) + (in_brackets ? 1 : 0);
    return size == 0 ? "missing" : printable(value.substr(0, size));
  }

  /// The text of a quoted string without its quotes. Escapes are left unchanged.
  std::optional<std::string_view> take_string() {
    skip_whitespace();
    const std::size_t start = position_;
    if (rest().starts_with('u') || rest().starts_with('U')) ++position_;  // Python 2's unicode
    if (!rest().starts_with('\'') && !rest().starts_with('"')) {
      position_ = start;
      return std::nullopt;
    }
    const char quote = text_[position_++];
    const std::size_t first = position_;
    for (; position_ < text_.size() && text_[position_] != '\n'; ++position_) {
      if (text_[position_] == '\\') {
        ++position_;
      } else if (text_[position_] == quote) {
        return text_.substr(first, position_++ - first);
      }
    }
    position_ = start;
    malformed("a string with its closing quote");
  }

  void read_entry(Fields& fields) {
    const std::optional<std::string_view> key = take_string();
    if (!key) malformed("a quoted key");
    if (!take(':')) malformed("':' after a key");
    skip_whitespace();
    if (*key == "descr") {
      read_once(fields.element, *key, [this] { return read_descr(); });
    } else if (*key == "fortran_order") {
      read_once(fields.fortran_order, *key, [this] { return read_bool(); });
    } else if (*key == "shape") {
      read_once(fields.sizes, *key, [this] { return read_sizes(); });
    } else {
      refuse("the header has the unknown key '" + printable(*key) +
             "'; its keys are 'descr', 'fortran_order' and 'shape'");
    }
  }

  template <typename Value, typename Read>
  static void read_once(std::optional<Value>& field, std::string_view key, Read read_value) {
    if (field) refuse("the header has the key '" + std::string(key) + "' twice");
    field = read_value();
  }

  ElementType read_descr() {
    if (const std::optional<std::string_view> descr = take_string()) return element_type(*descr);
    if (rest().starts_with('[') || rest().starts_with('(')) {
      refuse("the structured dtype " + value_text() +
             " is not a tensor type of DirectML; save one of its fields, array['NAME']");
    }
    refuse("'descr' is " + value_text() + "; it must be a string such as '<f4'");
  }

  bool read_bool() {
    for (const auto& [word, value] : {std::pair("True"sv, true), std::pair("False"sv, false)}) {
      if (!rest().starts_with(word)) continue;
      const std::string_view after = rest().substr(word.size(), 1);
      if (!after.empty() && (",}"sv.find(after[0]) == std::string_view::npos) &&
          whitespace.find(after[0]) == std::string_view::npos) {
        break;
      }
      position_ += word.size();
      return value;
    }
    refuse("'fortran_order' is " + value_text() + "; it must be True or False");
  }

  std::vector<std::uint64_t> read_sizes() {
    const std::string whole = value_text();
    if (!take('(')) {
      refuse("'shape' is " + whole + "; it must be a tuple of integers such as (2, 3)");
    }
    std::vector<std::uint64_t> sizes;
    bool is_tuple = true;
    while (!take(')')) {
      sizes.push_back(read_size(whole));
      if (take(',')) continue;
      if (!take(')')) malformed("',' or ')' after a size");
      is_tuple = sizes.size() != 1;
      break;
    }
    if (!is_tuple) {
      refuse("'shape' is " + whole + ", a number in Python; a tuple of one number is written (" +
             std::to_string(sizes[0]) + ",)");
    }
    return sizes;
  }

  /// Reads one integer of the tuple `whole`. It may end with the L of a Python 2 long.
  std::uint64_t read_size(const std::string& whole) {
    skip_whitespace();
    const std::size_t token_size = std::min(rest().find_first_of(",) \t\n\r\f"sv), rest().size());
    const std::string_view token = rest().substr(0, token_size);
    const bool negative = token.starts_with('-');
    std::string_view number = token.substr(negative ? 1 : 0);
    if (number.ends_with('L')) number.remove_suffix(1);
    const bool has_leading_zero =
        number.starts_with('0') && number.find_first_not_of('0') < number.size();
    if (number.empty() || has_leading_zero ||
        !std::all_of(number.begin(), number.end(), is_digit)) {
      refuse("'shape' is " + whole + " and holds \"" + printable(token) +
             "\"; it must be a tuple of integers such as (2, 3)");
    }
    if (negative) refuse("'shape' is " + whole + "; a size cannot be negative");
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc()) {
      refuse("'shape' is " + whole + "; the size " + printable(number) +
             " needs more than 64 bits");
    }
    position_ += token_size;
    return value;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

void check_sizes(std::span<const std::uint64_t> sizes) {
  if (sizes.empty()) {
    refuse(
        "the array is a scalar, its shape (); a tensor has at least 1 dimension: save "
        "array.reshape(1)");
  }
  if (sizes.size() > max_dimensions) {
    refuse("the array has " + std::to_string(sizes.size()) + " dimensions; at most " +
           std::to_string(max_dimensions) + " can be read");
  }
  const auto zero = std::find(sizes.begin(), sizes.end(), 0u);
  if (zero != sizes.end()) {
    refuse("the shape " + tuple_text(sizes) + " has size 0 in dimension " +
           std::to_string(zero - sizes.begin()) +
           "; a tensor has at least one element, so every size is at least 1");
  }
}

/// The product of nonzero `sizes` and the element's size, if it fits 64 bits.
std::optional<std::uint64_t> byte_count(std::span<const std::uint64_t> sizes, DataType type) {
  std::uint64_t count = size_of(type);
  for (const std::uint64_t size : sizes) {
    if (size > std::numeric_limits<std::uint64_t>::max() / count) return std::nullopt;
    count *= size;
  }
  return count;
}

void check_data(const NpyHeader& header, std::uint64_t present, bool is_whole) {
  const std::string array = "shape " + tuple_text(header.sizes) + " of '" +
                            std::string(info(header.data_type).numpy) + "'";
  const std::optional<std::uint64_t> needed = byte_count(header.sizes, header.data_type);
  if (!needed) refuse("an array of " + array + " has more bytes than 64 bits can count");
  if (present == *needed) return;
  const std::string counts = "the header says " + array + ", " + std::to_string(*needed) +
                             " bytes, and " + (is_whole ? "" : "at least ") +
                             std::to_string(present) + " bytes follow it";
  if (present < *needed) refuse("the file is truncated: " + counts + "; copy or save it again");
  refuse("the file is longer than its array: " + counts +
         "; it must hold one array, from one call of numpy.save");
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> file, bool is_whole) {
  const std::string_view bytes = text_of(file);
  const HeaderExtent extent = find_header(bytes);
  Fields fields = DictionaryReader(bytes.substr(extent.offset, extent.length)).read();
  check_sizes(*fields.sizes);
  NpyHeader header{.data_type = fields.element->data_type,
                   .big_endian = fields.element->big_endian,
                   .fortran_order = *fields.fortran_order,
                   .sizes = std::move(*fields.sizes),
                   .data_offset = extent.offset + extent.length};
  check_data(header, bytes.size() - header.data_offset, is_whole);
  return header;
}

std::uint64_t npy_bytes_wanted(std::span<const std::byte> first) {
  if (first.size() < max_header_offset) return max_header_offset;
  const std::string_view bytes = text_of(first);
  const HeaderExtent extent = header_extent(bytes);
  const std::uint64_t end = extent.offset + extent.length;
  if (first.size() < end) return end;
  const Fields fields = DictionaryReader(bytes.substr(extent.offset, extent.length)).read();
  check_sizes(*fields.sizes);
  const auto needed = byte_count(*fields.sizes, fields.element->data_type);
  // A size that no file can have is refused when the whole header is parsed.
  if (!needed || *needed >= max_file_bytes - end) return first.size();
  return end + *needed + 1;  // one more byte reveals a file that is longer than its array
}

NpyFile::NpyFile(InputFile file)
    : file_(std::move(file)), header_(file_->read_intact([this](auto bytes) {
        return parse_npy_header(bytes, file_->is_whole());
      })) {}

NpyFile::NpyFile(const MemoryTensor& tensor)
    : memory_(tensor.bytes), header_{.data_type = tensor.data_type, .sizes = tensor.sizes} {}

NpyFile NpyFile::open(const std::string& path) {
  return NpyFile(InputFile::open(path, npy_bytes_wanted));
}

NpyFile NpyFile::open(const PinnedFile& file) {
  return NpyFile(InputFile::open(file, npy_bytes_wanted));
}

NpyFile NpyFile::in_memory(const MemoryTensor& tensor) {
  const bool is_strided = !tensor.strides.empty();
  if (is_strided && tensor.strides.size() != tensor.sizes.size())
    throw Error(ErrorKind::invalid_input, "it has " + counted(tensor.sizes.size(), "size") +
                                              " and " + counted(tensor.strides.size(), "stride") +
                                              ": give a stride for each size, or none");
  const std::size_t size = size_of(tensor.data_type);
  const bool is_empty = std::ranges::find(tensor.sizes, 0U) != tensor.sizes.end();
  const auto elements = is_strided && !is_empty ? reached_elements(tensor.sizes, tensor.strides)
                                                : dmlop::element_count(tensor.sizes);
  const std::uint64_t held = tensor.bytes.size();
  const bool fits =
      elements && *elements <= held / size && (is_strided || held == *elements * size);
  if (fits) return NpyFile(tensor);
  throw Error(ErrorKind::invalid_input,
              "it has " + counted(held, "byte") + ", but " +
                  std::string(name_of(tensor.data_type)) + " " + list_of(tensor.sizes) +
                  (is_strided ? " with strides " + list_of(tensor.strides) : "") + " needs " +
                  (elements ? std::to_string(*elements) + " elements of " + counted(size, "byte")
                            : "more than memory can have") +
                  ": give other sizes or another buffer");
}

std::span<const std::byte> NpyFile::data() const {
  return file_ ? file_->bytes().subspan(header_.data_offset) : memory_;
}

void require_intact(const NpyFile& file, const std::string& path) {
  with_context("reading " + path, [&] { file.require_intact(); });
}

std::uint64_t NpyFile::element_count() const {
  return data().size() / size_of(header_.data_type);
}

std::string npy_header_bytes(DataType data_type, std::span<const std::uint64_t> sizes) {
  constexpr std::size_t alignment = 64;
  constexpr std::size_t growth_digits =
      21;  // NumPy leaves room for the first size to grow to this many digits
  const DataTypeInfo& type = info(data_type);
  std::string text = "{'descr': '" + std::string(type.size == 1 ? "|" : "<") +
                     std::string(type.numpy) +
                     "', 'fortran_order': False, 'shape': " + tuple_text(sizes) + ", }";
  if (!sizes.empty()) text.append(growth_digits - std::to_string(sizes[0]).size(), ' ');
  const std::size_t prefix_size = magic.size() + 4;
  // From 1 to 64 spaces. NumPy adds 64 if none would be needed.
  text.append(alignment - (prefix_size + text.size() + 1) % alignment, ' ');
  text += '\n';
  const std::string length{static_cast<char>(text.size() & 0xff),
                           static_cast<char>(text.size() >> 8)};
  return std::string(magic) + std::string("\x01\x00", 2) + length + text;
}

}  // namespace dmlop
