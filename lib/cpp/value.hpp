// The values of a text's variables, as far as the text says them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cpp/number.hpp"
#include "cpp/tokens.hpp"

namespace dmlop::cpp {

/// A variable, or a part of one: members by name, elements by index.
struct Place {
  std::size_t variable = 0;
  std::vector<std::variant<std::string, std::size_t>> path = {};
};

struct Entry;

struct Value {
  enum class Kind {
    unset,       // never given a value
    unresolved,  // the text does not say it; `why` does
    number,
    word,      // a name that the text does not declare: an enumeration's constant, perhaps
    null,      // nullptr
    list,      // an array, or a struct with named members
    pointer,   // to `target`
    function,  // of the text, or several of one name: `entries` has their numbers
    address,   // a number that a debugger shows for a pointer, of which it shows nothing else
  };
  Kind kind = Kind::unset;
  Span written = {};  // where the text gives it
  std::string word = {};
  std::string why = {};     // "it is a parameter"
  std::string remedy = {};  // "write its value"
  Number number = {};
  std::vector<Entry> entries;
  std::string type = {};   // of a struct
  bool is_zeroed = false;  // members that are not named are zero
  Place target = {};

  Entry* find(std::string_view member);
  const Entry* find(std::string_view member) const;
};

struct Entry {
  std::string name;  // "" in an array
  Value value;
};

Value unresolved(Span written, std::string why, std::string remedy);
Value number_value(Span written, const Number& number);
Value word_value(Span written, std::string word);

/// What to do about a name that a text does not declare.
std::string remedy_of_undeclared(const std::string& name);
/// What an expression with this operand, which is no number, is worth: the operand's own reason.
Value why_no_number(const Value& operand, Span written);
/// What C++ takes a condition of this value for; nothing where that is not known.
std::optional<bool> truth_of(const Value& value);
/// How many values there are, with those in it.
std::size_t size_of(const Value& value);

struct Variable {
  std::string name;  // "" of a temporary
  std::string type;  // "DML_PADDING_OPERATOR_DESC", "UINT", "auto"; of an array, its elements'
  Span declared;
  Value value;
  bool is_array = false;      // in C's sense, so that it becomes a pointer
  bool is_container = false;  // std::vector or the like
  bool is_constant = false;   // nothing can change it
  std::size_t scope = 0;
  std::size_t conditions = 0;   // so many conditions and loops are around its declaration
  std::optional<Place> refers;  // a reference stands for this
  bool has_escaped = false;     // something that is not followed may change it at any time
  bool is_static = false;
  bool is_superseded = false;  // a call of its function has the values that count
  std::size_t call = 0;        // in which it lives; 0: in none
};

/// All variables of a text.
class Memory {
 public:
  /// Errors: invalid_input where the text describes more values than any description has.
  std::size_t add(Variable variable);
  std::vector<Variable>& variables() { return variables_; }
  const std::vector<Variable>& variables() const { return variables_; }

  /// The value at a place; null where there is none.
  const Value* find(const Place& place) const;
  /// The same, for assignment: what is not there yet is made. Null where a part is no struct or
  /// array, or an array has fewer elements.
  Value* make(const Place& place);
  /// What a pointer shows, through pointers to pointers; null where it shows nothing.
  const Value* shown_by(const Value& pointer) const;

  /// Counts a value that is copied. Errors: as add().
  void count(const Value& value);

  /// The number of a call that is made in the call `caller`.
  std::size_t begin_call(std::size_t caller);
  /// Whether what lives in one call is still there in another one, after the former has ended.
  bool outlives(std::size_t call, std::size_t other) const;

 private:
  std::vector<std::size_t> callers_{0};  // of calls, by their numbers
  std::vector<Variable> variables_;
  std::size_t counted_ = 0;
};

}  // namespace dmlop::cpp
