// What JSON holds, with the place of each value in its text.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop::json {

struct Member;

struct Value {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::size_t begin = 0;  // bytes [begin, end) of the text
  std::size_t end = 0;
  bool boolean = false;
  std::string text;             // a string's content; a number as written
  std::vector<Value> items;     // of an array
  std::vector<Member> members;  // of an object, in file order

  /// The member's value; null when absent or when this is not an object.
  const Value* find(std::string_view name) const;
};

struct Member {
  std::string name;
  std::size_t begin = 0;  // of the quoted name
  Value value;
};

/// The double nearest to a number as it is written: an infinity beyond all of them, 0 for what is
/// smaller than the smallest. Nothing where the value is no number.
std::optional<double> nearest_double(const Value& value);

/// "an array", "the string \"x\"", "1.5": how a message calls a value.
std::string describe(const Value& value);

}  // namespace dmlop::json
