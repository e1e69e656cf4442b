#include "spec/field_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.hpp"

namespace dmlop {
namespace {

constexpr std::int64_t uint_max = std::numeric_limits<std::uint32_t>::max();

// After this many findings in one array or object, the rest are not listed.
constexpr std::size_t findings_listed = 8;

// No operator has this many dimensions or tensors.
constexpr std::size_t array_length_max = 4096;

}  // namespace

void FieldReader::expected(const json::Value& value, const std::string& name,
                           const std::string& what, std::string suggestion) {
  Diagnostic diagnostic =
      document_.at(value, name + " is " + json::describe(value) + ", must be " + what);
  diagnostic.suggestion = std::move(suggestion);
  add(std::move(diagnostic));
}

void FieldReader::missing(const json::Value& object, const std::string& name, std::string rule,
                          std::string suggestion) {
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

}  // namespace

std::optional<std::int64_t> FieldReader::integer(const json::Value& value, const std::string& name,
                                                 std::string_view type, std::int64_t low,
                                                 std::int64_t high) {
  const auto number = integer_in(value, low, high);
  if (!number) {
    expected(value, name,
             "an integer from " + std::to_string(low) + " to " + std::to_string(high) + " (" +
                 std::string(type) + ")");
  }
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
                          const std::string& what, std::string suggestion) {
  if (value.kind != json::Value::Kind::array) {
    expected(value, name, what, std::move(suggestion));
    return false;
  }
  if (value.items.size() <= array_length_max) return true;
  add(document_.at(value, name + " has " + std::to_string(value.items.size()) +
                              " values, must have at most " + std::to_string(array_length_max)));
  return false;
}

// `read` returns one element or adds a finding.
template <typename T, typename Read>
std::optional<std::vector<T>> FieldReader::list_of(const json::Value& value,
                                                   const std::string& name, std::string_view type,
                                                   Read&& read) {
  if (!is_list(value, name, "an array of " + std::string(type),
               "write one value for each dimension in brackets, such as [1, 1, 2, 2]"))
    return std::nullopt;
  std::vector<T> numbers;
  numbers.reserve(value.items.size());
  std::size_t findings = 0;
  for (std::size_t i = 0; i < value.items.size() && findings < findings_listed; ++i) {
    const std::optional<T> number = read(value.items[i], i);
    if (!number) ++findings;
    numbers.push_back(number.value_or(T{}));
  }
  return findings == 0 ? std::optional(numbers) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> FieldReader::integers(const json::Value& value,
                                                               const std::string& name,
                                                               std::string_view type,
                                                               std::int64_t low,
                                                               std::int64_t high) {
  return list_of<std::int64_t>(value, name, type, [&](const json::Value& item, std::size_t i) {
    const auto number = integer_in(item, low, high);
    if (!number) integer(item, name + "[" + std::to_string(i) + "]", type, low, high);
    return number;
  });
}

std::optional<std::vector<double>> FieldReader::float_array(const json::Value& value,
                                                            const std::string& name) {
  return list_of<double>(value, name, "FLOAT", [&](const json::Value& item, std::size_t i) {
    return float32(item, name + "[" + std::to_string(i) + "]");
  });
}

std::optional<std::vector<std::int64_t>> FieldReader::uint_array(const json::Value& value,
                                                                 const std::string& name) {
  return integers(value, name, "UINT", 0, uint_max);
}

std::optional<std::vector<std::int64_t>> FieldReader::int_array(const json::Value& value,
                                                                const std::string& name) {
  return integers(value, name, "INT", std::numeric_limits<std::int32_t>::min(),
                  std::numeric_limits<std::int32_t>::max());
}

std::optional<double> FieldReader::float32(const json::Value& value, const std::string& name) {
  const std::string what = "a number, \"inf\", \"-inf\" or \"nan\" (FLOAT)";
  if (value.kind == json::Value::Kind::string) {
    std::string word = value.text;
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  }
  const auto number = json::nearest_double(value);
  if (!number) {
    expected(value, name, what);
    return std::nullopt;
  }
  const auto narrow = static_cast<float>(*number);
  if (std::isinf(narrow)) {
    const std::string infinity = *number < 0 ? "\"-inf\"" : "\"inf\"";
    expected(value, name, "within the range of FLOAT (up to 3.4028235e38)",
             "write " + infinity + " for infinity");
    return std::nullopt;
  }
  return narrow;
}

std::optional<std::size_t> FieldReader::name_of(const json::Value& value, const std::string& name,
                                                const std::vector<std::string>& names,
                                                const std::string& prefix) {
  if (value.kind != json::Value::Kind::string) {
    expected(value, name, "one of " + join(names));
    return std::nullopt;
  }
  std::string_view text = value.text;
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == text) return i;
  }
  const std::string nearest = nearest_name(text, names);
  expected(value, name, "one of " + join(names),
           nearest.empty() ? "" : "did you mean \"" + nearest + "\"?");
  return std::nullopt;
}

std::vector<std::size_t> FieldReader::names_of(const json::Value& value, const std::string& name,
                                               const std::vector<std::string>& names,
                                               const std::string& prefix) {
  std::vector<std::size_t> found;
  std::size_t findings = 0;
  const auto read_one = [&](const json::Value& item) {
    const auto index = name_of(item, name, names, prefix);
    if (index) found.push_back(*index);
    if (!index) ++findings;
  };
  if (value.kind != json::Value::Kind::array) read_one(value);
  for (const json::Value& item : value.items) {
    if (findings < findings_listed) read_one(item);
  }
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
    if (listed.size() == findings_listed) break;
    listed.push_back(member.name);
    const std::string nearest = nearest_name(member.name, known);
    if (!nearest.empty()) meant.push_back(nearest);
    Diagnostic diagnostic =
        document_.at(member, "unknown field \"" + printable(member.name) + "\"" +
                                 (nearest.empty() ? "" : "; did you mean \"" + nearest + "\"?"));
    diagnostic.value = printable(member.name);
    diagnostic.rule = "the fields of " + where + " are " + join(known);
    add(std::move(diagnostic));
  }
  return meant;
}

}  // namespace dmlop
