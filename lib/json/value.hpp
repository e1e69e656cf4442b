// JSON values, each with its place in the text.
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

  /// The member's value; null if it is absent or left out, or this is not an object.
  const Value* find(std::string_view name) const;
};

struct Member {
  std::string name;
  std::size_t begin = 0;  // of the quoted name
  Value value;
  bool is_left_out = false;  // --set NAME=null: the name must be known, and there is no value
};

/// The double nearest to a number as written: an infinity if it is larger than all doubles, 0 if it
/// is smaller than the smallest. Nothing if the value is not a number.
std::optional<double> nearest_double(const Value& value);

/// How a message calls a value: "an array", "the string \"x\"", "1.5".
std::string describe(const Value& value);

}  // namespace dmlop::json
