// Values that a user gives to names whose value a text does not say: -D batch=2.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cpp/value.hpp"

namespace dmlop::cpp {

class Definitions {
 public:
  /// Takes "NAME=VALUE", where VALUE is a constant of C++ or a list of them in braces; without a
  /// value it is 1. Errors: usage for another text.
  void add(const std::string& text);

  /// The value of a name; null without one. A value that is asked for is a used one.
  const Value* use(std::string_view name) const;

  /// The names whose values nobody asked for.
  std::vector<std::string> unused() const;

 private:
  std::map<std::string, Value, std::less<>> values_;
  mutable std::set<std::string, std::less<>> used_;
};

/// A value as one that stands at another place in a text.
Value moved_to(Value value, Span written);

}  // namespace dmlop::cpp
