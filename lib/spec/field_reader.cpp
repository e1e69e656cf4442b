#include "spec/field_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "spec/fields.hpp"
#include "spec/meant_values.hpp"
#include "spec/near_operators.hpp"

namespace dmlop {
namespace {

// After this many findings in one array or object, the rest are not listed.
constexpr std::size_t findings_listed = 8;

// No operator has this many dimensions or tensors.
constexpr std::size_t array_length_max = 4096;

bool is_digit_only(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

void FieldReader::expected(const json::Value& value, const std::string& name,
                           const std::string& what, Advice suggestion) {
  Diagnostic diagnostic =
      document_.at(value, name + " is " + json::describe(value) + ", must be " + what);
  diagnostic.suggestion = std::move(suggestion);
  if (diagnostic.suggestion.empty()) propose_example(diagnostic, value, "");
  add(std::move(diagnostic));
}

void FieldReader::expected(const json::Value& value, const std::string& name,
                           const Wanted& wanted) {
  Diagnostic diagnostic =
      document_.at(value, name + " is " + json::describe(value) + ", must be " + wanted.words);
  if (!propose_meaning(diagnostic, value, wanted))
    propose_example(diagnostic, value, wanted.example);
  add(std::move(diagnostic));
}

// What is proposed stays a sentence: it is what was meant, even where it breaks another rule.
bool FieldReader::propose_meaning(Diagnostic& finding, const json::Value& value,
                                  const Wanted& wanted) const {
  if (!wanted.meant.empty()) {
    finding.suggestion = "write " + wanted.meant;
    finding.ideas = {{{finding.pointer, wanted.meant}}};
    return true;
  }
  for (const std::string& json : meant_by(document_, value, wanted.form)) {
    Diagnostics ignored;
    const auto meant = json::Document::parse("", json, ignored);
    if (!meant || !ignored.empty() || !wanted.takes(meant->root())) continue;
    const bool loses_quotes = value.kind == json::Value::Kind::string && !json.starts_with('"');
    finding.suggestion = "write " + json + (loses_quotes ? ", without the quotes" : "");
    finding.ideas = {{{finding.pointer, json}}};
    return true;
  }
  return false;
}

// Null stands for nothing, so leaving the field out may be right as well.
void FieldReader::propose_example(Diagnostic& finding, const json::Value& value,
                                  std::string example) const {
  if (std::string shown = example_at(finding.pointer); !shown.empty()) example = std::move(shown);
  if (!example.empty()) {
    finding.suggestion = "write " + example + ", for example";
    finding.ideas = {{{finding.pointer, example}}};
  }
  const bool is_element = is_digit_only(finding.pointer.substr(finding.pointer.rfind('/') + 1));
  if (value.kind == json::Value::Kind::null && !is_element)
    finding.ideas.push_back({{finding.pointer, "null"}});
}

// What the operator's example has at a place in the field that is shown; "" where it has nothing.
std::string FieldReader::example_at(const std::string& pointer) const {
  if (shown_.spec == nullptr) return "";
  const std::string whole = document_.at(*shown_.written, "").pointer;
  if (!pointer.starts_with(whole)) return "";
  Diagnostics none;
  const auto example = json::Document::parse("", example_value(*shown_.spec, shown_.name), none);
  const json::Value* part = &example->root();
  std::istringstream steps(pointer.substr(whole.size()));
  for (std::string step; std::getline(steps, step, '/');) {
    if (step.empty()) continue;
    const json::Value* next = part->items.empty() ? part->find(step) : &part->items.back();
    if (next == nullptr && step != "Desc") return "";  // one more level of DxDispatch
    if (next != nullptr) part = next;
  }
  const bool is_something = part->kind != json::Value::Kind::null;
  return is_something ? std::string(example->source(*part)) : "";
}

void FieldReader::refuse(const json::Value& value, std::string message, std::string rule,
                         Advice suggestion) {
  Diagnostic diagnostic = document_.at(value, std::move(message));
  diagnostic.rule = std::move(rule);
  diagnostic.suggestion = std::move(suggestion);
  add(std::move(diagnostic));
}

void FieldReader::missing(const json::Value& object, const std::string& name, std::string rule,
                          Advice suggestion, const std::string& example) {
  Diagnostic diagnostic = document_.at(object, "the field \"" + name + "\" is missing");
  diagnostic.value.clear();
  diagnostic.rule = std::move(rule);
  diagnostic.suggestion = std::move(suggestion);
  if (!example.empty()) diagnostic.ideas = {{{diagnostic.pointer + "/" + name, example}}};
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

// The integers next to a number in a range: "0 or more", "2 or 3".
std::string nearest_integers(double number, std::int64_t low, std::int64_t high) {
  if (number < static_cast<double>(low)) return std::to_string(low) + " or more";
  if (number > static_cast<double>(high)) return std::to_string(high) + " or less";
  const auto below = static_cast<std::int64_t>(std::floor(number));
  const std::string next = std::to_string(below + 1);
  if (std::floor(number) == number) return std::to_string(below);
  return below < low ? next : std::to_string(below) + " or " + next;
}

// SLICE1 takes the negative strides that SLICE does not, and calls its fields otherwise. "" where
// no version takes them.
std::string signed_version(const ShownField& unsigned_field) {
  for (const std::string& version : versions_of(unsigned_field.spec->name)) {
    std::string taken;
    std::vector<std::string> names;
    for (const FieldSpec& field : find_spec(version)->fields) {
      for (const FieldSpec& old : unsigned_field.spec->fields) {
        if (field.name == old.name || !field.name.ends_with(old.name)) continue;
        names.push_back(field.name + " for " + old.name);
        const bool is_signed = field.kind == FieldKind::int_array;
        if (is_signed && old.name == unsigned_field.name) taken = field.name;
      }
    }
    if (!taken.empty())
      return "DML_OPERATOR_" + version + " takes negative " + taken + "; there, write " +
             join(names);
  }
  return "";
}

}  // namespace

void FieldReader::refuse_integer(const json::Value& value, const std::string& name,
                                 std::string_view type, std::int64_t low, std::int64_t high) {
  const std::string words = "an integer from " + std::to_string(low) + " to " +
                            std::to_string(high) + " (" + std::string(type) + ")";
  const auto number = json::nearest_double(value);
  if (!number) {
    const auto takes = [=](const json::Value& other) {
      return integer_in(other, low, high).has_value();
    };
    const std::string example = std::to_string(std::clamp<std::int64_t>(1, low, high));
    expected(value, name, {words, Form::number, example, takes});
    return;
  }
  const std::string nearest = nearest_integers(*number, low, high);
  const std::string version = *number < 0 && shown_.spec != nullptr ? signed_version(shown_) : "";
  expected(value, name, words, version.empty() ? "write " + nearest : version);
  const bool is_same = nearest.find(' ') == nearest.npos && std::floor(*number) == *number;
  if (is_same) diagnostics_.back().ideas = {{{diagnostics_.back().pointer, nearest}}};
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
  const auto takes = [](const json::Value& other) {
    return other.kind == json::Value::Kind::boolean;
  };
  if (!number) expected(value, name, {"true, false, 1 or 0 (BOOL)", Form::flag, "false", takes});
  return number;
}

bool FieldReader::is_list(const json::Value& value, const std::string& name, const Wanted& wanted) {
  const bool is_in_list = value.items.size() == 1 && wanted.takes(value.items.front());
  if (value.kind != json::Value::Kind::array || is_in_list) {
    expected(value, name, wanted);
    return false;
  }
  if (value.items.size() <= array_length_max) return true;
  add(document_.at(value, name + " has " + std::to_string(value.items.size()) +
                              " values, must have at most " + std::to_string(array_length_max)));
  diagnostics_.back().suggestion =
      "leave all but " + std::to_string(array_length_max) + " values out";
  return false;
}

// `read` gives one element or nothing, and `refuse` adds the finding about it.
template <typename T, typename Read, typename Refuse>
std::optional<std::vector<T>> FieldReader::list_of(const json::Value& value,
                                                   const std::string& name, std::string_view type,
                                                   Read&& read, Refuse&& refuse) {
  const auto takes = [&](const json::Value& list) {
    const auto is_read = [&](const json::Value& item) { return read(item).has_value(); };
    return list.kind == json::Value::Kind::array && !list.items.empty() &&
           std::all_of(list.items.begin(), list.items.end(), is_read);
  };
  const Wanted wanted{"an array of " + std::string(type), Form::numbers, "[1, 1, 2, 2]", takes};
  if (!is_list(value, name, wanted)) return std::nullopt;
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
    const auto takes = [](const json::Value& other) { return float32_in(other).has_value(); };
    expected(value, name,
             {"a number, \"inf\", \"-inf\" or \"nan\" (FLOAT)", Form::number, "0.5", takes});
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
  refuse_name(value, name, names, enum_name + "_", join(is_number ? numbered : names));
  return std::nullopt;
}

std::optional<std::size_t> FieldReader::name_of(const json::Value& value, const std::string& name,
                                                const std::vector<std::string>& names,
                                                const std::string& prefix) {
  const auto index = index_of_name(value, names, prefix);
  if (!index) refuse_name(value, name, names, prefix, join(names));
  return index;
}

void FieldReader::refuse_name(const json::Value& value, const std::string& name,
                              const std::vector<std::string>& names, const std::string& prefix,
                              const std::string& listed) {
  if (const std::string nearest = meant_name(value, names, prefix); !nearest.empty()) {
    const std::string json = '"' + nearest + '"';
    expected(value, name, "one of " + listed,
             Alternative{.kind = Alternative::Kind::mean, .value = json});
    diagnostics_.back().ideas = {{{diagnostics_.back().pointer, json}}};
    return;
  }
  const auto takes = [&](const json::Value& other) {
    return index_of_name(other, names, prefix).has_value();
  };
  expected(value, name, {"one of " + listed, Form::name, '"' + names.front() + '"', takes});
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
  const auto takes = [](const json::Value& other) {
    return json::nearest_double(other).value_or(-1) >= 0;
  };
  expected(value, name,
           {"a number that is not negative, such as 1e-5", Form::number, "1e-5", takes});
  return std::nullopt;
}

std::optional<bool> FieldReader::boolean(const json::Value& value, const std::string& name) {
  if (value.kind == json::Value::Kind::boolean) return value.boolean;
  const auto takes = [](const json::Value& other) {
    return other.kind == json::Value::Kind::boolean;
  };
  expected(value, name, {"true or false", Form::flag, "false", takes});
  return std::nullopt;
}

std::optional<std::string> FieldReader::string(const json::Value& value, const std::string& name) {
  if (value.kind == json::Value::Kind::string) return value.text;
  const auto takes = [](const json::Value& other) {
    return other.kind == json::Value::Kind::string;
  };
  expected(value, name, {"a string", Form::name, "\"x\"", takes});
  return std::nullopt;
}

std::vector<std::string> FieldReader::refuse_unknown(const json::Value& object,
                                                     const std::vector<std::string>& known,
                                                     const std::string& where,
                                                     const StandsFor& stands_for) {
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
    std::string nearest = nearest_name(member.name, known);
    std::string did_you = did_you_mean(member.name, known);
    const bool is_unclear = nearest.empty() || object.find(nearest) != nullptr;
    if (const std::string other = is_unclear && stands_for ? stands_for(member) : "";
        !other.empty()) {
      nearest = other;
      did_you = "did you mean \"" + other + "\"?";
    }
    if (!nearest.empty()) meant.push_back(nearest);
    Diagnostic diagnostic =
        document_.at(member, "unknown field \"" + printable(member.name) + "\"" +
                                 (did_you.empty() ? "" : "; " + did_you));
    diagnostic.value = printable(member.name);
    diagnostic.rule = "the fields of " + where + " are " + join(known);
    if (did_you.empty()) {
      diagnostic.suggestion = Alternative::leave_out();
      diagnostic.ideas = {{{diagnostic.pointer, "null"}}};
    } else if (!nearest.empty() && object.find(nearest) == nullptr) {
      const std::string parent = diagnostic.pointer.substr(0, diagnostic.pointer.rfind('/') + 1);
      diagnostic.ideas = {{{diagnostic.pointer, "null"},
                           {parent + nearest, std::string(document_.source(member.value))}}};
    }
    add(std::move(diagnostic));
  }
  return meant;
}

}  // namespace dmlop
