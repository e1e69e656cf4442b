#include "npy/dictionary.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "npy/refuse.hpp"

namespace dmlop::npy {
namespace {

using namespace std::string_view_literals;

bool is_digit(char c) {
  return '0' <= c && c <= '9';
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

ElementType element_type(std::string_view descr) {
  std::string_view type = descr;
  char order = '=';
  if (!type.empty() && "<>|="sv.find(type[0]) != std::string_view::npos) {
    order = type[0];
    type.remove_prefix(1);
  }
  if (type == "b1" || type == "?")
    return {DataType::UInt8, false};  // numpy.bool_: bytes of 0 and 1
  const auto entry = std::find_if(data_types.begin(), data_types.end(),
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

}  // namespace

Dictionary read_dictionary(std::string_view text) {
  Fields fields = DictionaryReader(text).read();
  return {*fields.element, *fields.fortran_order, std::move(*fields.sizes)};
}

}  // namespace dmlop::npy
