#include "spec/field_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "spec/fields.hpp"

namespace dmlop {
namespace {

// After this many findings in one array or object, the rest are not listed.
constexpr std::size_t findings_listed = 8;

// No operator has this many dimensions or tensors.
constexpr std::size_t array_length_max = 4096;

}  // namespace

void FieldReader::expected(const json::Value& value, const std::string& name,
                           const std::string& what, Advice suggestion) {
  Diagnostic diagnostic =
      document_.at(value, name + " is " + json::describe(value) + ", must be " + what);
  diagnostic.suggestion = std::move(suggestion);
  add(std::move(diagnostic));
}

void FieldReader::refuse(const json::Value& value, std::string message, std::string rule,
                         Advice suggestion) {
  Diagnostic diagnostic = document_.at(value, std::move(message));
  diagnostic.rule = std::move(rule);
  diagnostic.suggestion = std::move(suggestion);
  add(std::move(diagnostic));
}

void FieldReader::missing(const json::Value& object, const std::string& name, std::string rule,
                          Advice suggestion) {
  Diagnostic diagnostic = document_.at(object, "the field \"" + name + "\" is missing");
  diagnostic.value.clear();
  diagnostic.rule = std::move(rule);
  diagnostic.suggestion = std::move(suggestion);
  add(std::move(diagnostic));
}

namespace {

// Returns nothing if the value is not an integer from `low` to `high`.
std::optional<std::int64_t> integer_in(const json::Value& value, std::int64_t low,
                                       std::int64_t high) {
  if (value.kind != json::Value::Kind::number) return std::nullopt;
  std::int64_t number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  const bool fits = error == std::errc{} && stop == end && number >= low && number <= high;
  return fits ? std::optional(number) : std::nullopt;
}

// Nothing where the value is no number of FLOAT's range and no word for another one.
std::optional<double> float32_in(const json::Value& value) {
  if (value.kind == json::Value::Kind::string) {
    const std::string word = lower_case(value.text);
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  const auto number = json::nearest_double(value);
  if (!number) return std::nullopt;
  const auto narrow = static_cast<float>(*number);
  return std::isinf(narrow) ? std::nullopt : std::optional<double>(narrow);
}

}  // namespace

namespace {

// A string that holds a number, as code generators write them; its text without quotes.
std::string unquoted_number(const json::Value& value) {
  if (value.kind != json::Value::Kind::string || value.text.empty()) return "";
  double number = 0;
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  const bool is_number = error == std::errc{} && stop == end && std::isfinite(number);
  return is_number ? value.text : "";
}

// The integer that is written as a float: 2.0. JSON of it, or "".
std::string whole_number(const json::Value& value, std::int64_t low, std::int64_t high) {
  if (value.kind != json::Value::Kind::number) return "";
  const auto number = json::nearest_double(value);
  const bool is_whole = number && std::trunc(*number) == *number &&
                        *number >= static_cast<double>(low) && *number <= static_cast<double>(high);
  return is_whole ? std::to_string(static_cast<std::int64_t>(*number)) : "";
}

Advice without_quotes(const json::Value& value) {
  const std::string number = unquoted_number(value);
  return number.empty() ? Advice() : Alternative::write(number, ", without the quotes");
}

}  // namespace

void FieldReader::refuse_integer(const json::Value& value, const std::string& name,
                                 std::string_view type, std::int64_t low, std::int64_t high) {
  const std::string whole = whole_number(value, low, high);
  expected(value, name,
           "an integer from " + std::to_string(low) + " to " + std::to_string(high) + " (" +
               std::string(type) + ")",
           whole.empty() ? without_quotes(value) : Advice(Alternative::write(whole)));
  Diagnostic& finding = diagnostics_.back();
  if (!whole.empty()) finding.ideas = {{{finding.pointer, whole}}};
}

std::optional<std::int64_t> FieldReader::integer(const json::Value& value, const std::string& name,
                                                 std::string_view type, std::int64_t low,
                                                 std::int64_t high) {
  const auto number = integer_in(value, low, high);
  if (!number) refuse_integer(value, name, type, low, high);
  return number;
}

std::optional<std::int64_t> FieldReader::uint(const json::Value& value, const std::string& name) {
  return integer(value, name, "UINT", 0, uint_max);
}

std::optional<std::int64_t> FieldReader::int32(const json::Value& value, const std::string& name) {
  return integer(value, name, "INT", std::numeric_limits<std::int32_t>::min(),
                 std::numeric_limits<std::int32_t>::max());
}

std::optional<std::int64_t> FieldReader::flag(const json::Value& value, const std::string& name) {
  if (value.kind == json::Value::Kind::boolean) return value.boolean ? 1 : 0;
  const auto number = integer_in(value, 0, 1);
  if (!number) expected(value, name, "true, false, 1 or 0 (BOOL)");
  return number;
}

bool FieldReader::is_list(const json::Value& value, const std::string& name,
                          const std::string& what, Advice suggestion) {
  if (value.kind != json::Value::Kind::array) {
    expected(value, name, what, std::move(suggestion));
    return false;
  }
  if (value.items.size() <= array_length_max) return true;
  add(document_.at(value, name + " has " + std::to_string(value.items.size()) +
                              " values, must have at most " + std::to_string(array_length_max)));
  return false;
}

// `read` gives one element or nothing, and `refuse` adds the finding about it.
template <typename T, typename Read, typename Refuse>
std::optional<std::vector<T>> FieldReader::list_of(const json::Value& value,
                                                   const std::string& name, std::string_view type,
                                                   Read&& read, Refuse&& refuse) {
  if (!is_list(value, name, "an array of " + std::string(type),
               "write one value for each dimension in brackets, such as [1, 1, 2, 2]"))
    return std::nullopt;
  std::vector<T> numbers;
  numbers.reserve(value.items.size());
  std::size_t findings = 0;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::optional<T> number = read(value.items[i]);
    numbers.push_back(number.value_or(T{}));
    if (number) continue;
    if (++findings <= findings_listed) {
      refuse(value.items[i], name + "[" + std::to_string(i) + "]");
    } else {
      ++diagnostics_.back().more;
    }
  }
  return findings == 0 ? std::optional(numbers) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> FieldReader::integers(const json::Value& value,
                                                               const std::string& name,
                                                               std::string_view type,
                                                               std::int64_t low, std::int64_t high,
                                                               std::int64_t shown_low) {
  return list_of<std::int64_t>(
      value, name, type, [&](const json::Value& item) { return integer_in(item, low, high); },
      [&](const json::Value& item, const std::string& element) {
        refuse_integer(item, element, type, shown_low, high);
      });
}

std::optional<std::vector<double>> FieldReader::float_array(const json::Value& value,
                                                            const std::string& name) {
  return list_of<double>(
      value, name, "FLOAT", float32_in,
      [&](const json::Value& item, const std::string& element) { refuse_float32(item, element); });
}

std::optional<std::vector<std::int64_t>> FieldReader::uint_array(const json::Value& value,
                                                                 const std::string& name) {
  return integers(value, name, "UINT", 0, uint_max, 0);
}

std::optional<std::vector<std::int64_t>> FieldReader::sizes(const json::Value& value,
                                                            const std::string& name) {
  return integers(value, name, "UINT", 0, uint_max, 1);
}

std::optional<std::vector<std::int64_t>> FieldReader::int_array(const json::Value& value,
                                                                const std::string& name) {
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
  return integers(value, name, "INT", low, std::numeric_limits<std::int32_t>::max(), low);
}

std::optional<double> FieldReader::float32(const json::Value& value, const std::string& name) {
  const auto number = float32_in(value);
  if (!number) refuse_float32(value, name);
  return number;
}

void FieldReader::refuse_float32(const json::Value& value, const std::string& name) {
  const auto number = json::nearest_double(value);
  if (!number) {
    expected(value, name, "a number, \"inf\", \"-inf\" or \"nan\" (FLOAT)", without_quotes(value));
    return;
  }
  const std::string infinity = *number < 0 ? "\"-inf\"" : "\"inf\"";
  expected(value, name, "within the range of FLOAT (up to 3.4028235e38)",
           Alternative::write(infinity, " for infinity"));
}

namespace {

// The index of the name that a string is, with or without the prefix.
std::optional<std::size_t> index_of_name(const json::Value& value,
                                         const std::vector<std::string>& names,
                                         const std::string& prefix) {
  if (value.kind != json::Value::Kind::string) return std::nullopt;
  std::string_view text = value.text;
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

Advice nearest_of(const json::Value& value, const std::vector<std::string>& names,
                  const std::string& prefix) {
  if (value.kind != json::Value::Kind::string) return {};
  std::string_view text = value.text;
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  const std::string nearest = nearest_name(text, names);
  if (nearest.empty()) return {};
  return Alternative{.kind = Alternative::Kind::mean, .value = '"' + nearest + '"'};
}

}  // namespace

std::optional<std::int64_t> FieldReader::enumeration(const json::Value& value,
                                                     const std::string& name,
                                                     const std::string& enum_name,
                                                     const std::vector<EnumValue>& values) {
  std::vector<std::string> names, numbered;
  for (const EnumValue& entry : values) {
    names.push_back(entry.name);
    numbered.push_back(entry.name + " (" + std::to_string(entry.value) + ")");
  }
  if (const auto index = index_of_name(value, names, enum_name + "_")) return values[*index].value;
  const bool is_number = value.kind == json::Value::Kind::number;
  for (const EnumValue& entry : values) {
    if (integer_in(value, entry.value, entry.value)) return entry.value;
  }
  expected(value, name, "one of " + join(is_number ? numbered : names),
           nearest_of(value, names, enum_name + "_"));
  return std::nullopt;
}

std::optional<std::size_t> FieldReader::name_of(const json::Value& value, const std::string& name,
                                                const std::vector<std::string>& names,
                                                const std::string& prefix) {
  const auto index = index_of_name(value, names, prefix);
  if (!index) expected(value, name, "one of " + join(names), nearest_of(value, names, prefix));
  return index;
}

std::vector<std::size_t> FieldReader::names_of(const json::Value& value, const std::string& name,
                                               const std::vector<std::string>& names,
                                               const std::string& prefix) {
  std::vector<std::size_t> found;
  std::size_t findings = 0;
  const auto read_one = [&](const json::Value& item) {
    const auto index = index_of_name(item, names, prefix);
    if (index) {
      found.push_back(*index);
    } else if (++findings <= findings_listed) {
      name_of(item, name, names, prefix);
    } else {
      ++diagnostics_.back().more;
    }
  };
  if (value.kind != json::Value::Kind::array) read_one(value);
  for (const json::Value& item : value.items) read_one(item);
  return found;
}

std::optional<double> FieldReader::nonnegative(const json::Value& value, const std::string& name) {
  const auto number = json::nearest_double(value);
  if (number && *number >= 0 && !std::isinf(*number)) return number;
  expected(value, name, "a number that is not negative, such as 1e-5");
  return std::nullopt;
}

std::optional<bool> FieldReader::boolean(const json::Value& value, const std::string& name) {
  if (value.kind == json::Value::Kind::boolean) return value.boolean;
  expected(value, name, "true or false");
  return std::nullopt;
}

std::optional<std::string> FieldReader::string(const json::Value& value, const std::string& name) {
  if (value.kind == json::Value::Kind::string) return value.text;
  expected(value, name, "a string");
  return std::nullopt;
}

std::vector<std::string> FieldReader::refuse_unknown(const json::Value& object,
                                                     const std::vector<std::string>& known,
                                                     const std::string& where) {
  std::vector<std::string> meant;
  std::vector<std::string> listed;
  for (const json::Member& member : object.members) {
    if (std::find(known.begin(), known.end(), member.name) != known.end()) continue;
    if (std::find(listed.begin(), listed.end(), member.name) != listed.end()) continue;
    if (listed.size() == findings_listed) {
      ++diagnostics_.back().more;
      continue;
    }
    listed.push_back(member.name);
    const std::string nearest = nearest_name(member.name, known);
    if (!nearest.empty()) meant.push_back(nearest);
    const std::string did_you = did_you_mean(member.name, known);
    Diagnostic diagnostic =
        document_.at(member, "unknown field \"" + printable(member.name) + "\"" +
                                 (did_you.empty() ? "" : "; " + did_you));
    diagnostic.value = printable(member.name);
    diagnostic.rule = "the fields of " + where + " are " + join(known);
    add(std::move(diagnostic));
  }
  return meant;
}

}  // namespace dmlop
