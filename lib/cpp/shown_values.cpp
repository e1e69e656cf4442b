#include "cpp/shown_values.hpp"

#include <cmath>

namespace dmlop::cpp {
namespace {

using Kind = Value::Kind;

bool is_pointer(const Value& value) {
  return value.kind == Kind::pointer;
}

// A short "0x0" was read as a number.
bool is_null(const Value& value) {
  return value.kind == Kind::null || (value.kind == Kind::number && value.number.as_double() == 0);
}

// Whether two values that are shown for one place contradict each other.
bool contradict(const Value& a, const Value& b) {
  if (a.kind != b.kind) return (is_pointer(a) && is_null(b)) || (is_null(a) && is_pointer(b));
  if (a.kind == Kind::word) return a.word != b.word;
  if (a.kind == Kind::pointer) return a.target.variable != b.target.variable;
  if (a.kind != Kind::number) return false;
  const double x = a.number.as_double(), y = b.number.as_double();
  return x != y && !(std::isnan(x) && std::isnan(y));
}

}  // namespace

void compare_shown(Value& known, const Value& shown) {
  if (known.kind == Kind::unresolved) return;
  if (contradict(known, shown))
    known = unresolved(shown.written, "another value is shown for it before this",
                       "leave what the debugger shows at one moment");
  if (known.kind != Kind::list || shown.kind != Kind::list) return;
  for (std::size_t i = 0; i < known.entries.size(); ++i) {
    Entry& entry = known.entries[i];
    const Entry* same = !entry.name.empty()        ? shown.find(entry.name)
                        : i < shown.entries.size() ? &shown.entries[i]
                                                   : nullptr;
    if (same != nullptr && same->name == entry.name) compare_shown(entry.value, same->value);
  }
}

void merge_shown(Memory& memory, const Place& place, Value shown) {
  Value* known = memory.make(place);
  if (known == nullptr) return;
  const bool is_new = known->kind != Kind::list || shown.kind != Kind::list;
  if (is_new && (known->kind == Kind::address || known->kind == Kind::unset ||
                 known->kind == Kind::unresolved)) {
    *known = std::move(shown);
    return;
  }
  if (is_new) {
    compare_shown(*known, shown);
    return;
  }
  if (shown.entries.empty()) return;
  if (known->entries.empty()) {
    *known = std::move(shown);
    return;
  }
  const auto is_struct = [](const Value& v) {
    return !v.entries.empty() && !v.entries.front().name.empty();
  };
  if (is_struct(*known) != is_struct(shown)) return;
  compare_shown(*known, shown);
  if (!is_struct(shown)) {
    for (std::size_t i = known->entries.size(); i < shown.entries.size(); ++i)
      known->entries.push_back(std::move(shown.entries[i]));
    return;
  }
  for (Entry& entry : shown.entries) {
    if (known->find(entry.name) == nullptr) known->entries.push_back(std::move(entry));
  }
}

}  // namespace dmlop::cpp
