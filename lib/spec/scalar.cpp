#include "spec/scalar.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/text.hpp"
#include "json/meant_number.hpp"
#include "tensor/element.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop {
namespace {

std::optional<double> word_value(const std::string& word) {
  const std::string text = lower_case(word);
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

template <typename T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// The value that was read or, if it could not be read, what it must be.
struct Reading {
  bool fits = false;
  std::uint64_t bits = 0;
  double approximate = 0;
  std::string must_be = {};
  std::string remedy = {};
};

// The largest number, and how to write what is larger.
void refuse_size(Reading& reading, DataType type) {
  std::string most = element_text(type, highest_element(type).data());
  std::erase(most, '+');  // of the exponent
  reading.must_be = std::string("from -") + most + " to " + most;
  reading.remedy = "write \"inf\" or \"-inf\" for infinity";
}

template <typename T>
Reading read_integer(const json::Value& written, DataType type) {
  std::int64_t low = std::numeric_limits<T>::min();
  std::uint64_t high = std::numeric_limits<T>::max();
  if (has_4_bits(type)) low >>= 4, high >>= 4;
  Reading reading{.must_be =
                      "an integer from " + std::to_string(low) + " to " + std::to_string(high)};
  T number{};
  const char* end = written.text.data() + written.text.size();
  const auto [stop, error] = std::from_chars(written.text.data(), end, number);
  if (written.kind != json::Value::Kind::number || error != std::errc{} || stop != end)
    return reading;
  const bool in_range = number < 0 ? static_cast<std::int64_t>(number) >= low
                                   : static_cast<std::uint64_t>(number) <= high;
  if (!in_range) return reading;
  reading.fits = true;
  reading.bits = bits_of(number);
  reading.approximate = static_cast<double>(number);
  return reading;
}

Reading read_float(const json::Value& written, DataType type, bool may_be_infinite) {
  Reading reading{.must_be = "a number, \"inf\", \"-inf\" or \"nan\""};
  const bool is_word = written.kind == json::Value::Kind::string;
  const auto number = is_word ? word_value(written.text) : json::nearest_double(written);
  if (!number) return reading;
  const auto element = element_from(type, *number);
  const double narrow = element_value(type, element.data());
  if (!is_word && !may_be_infinite && std::isinf(narrow)) {
    refuse_size(reading, type);
    return reading;
  }
  reading.fits = true;
  reading.approximate = narrow;
  reading.bits = std::bit_cast<std::uint64_t>(element);
  return reading;
}

Reading read_as(const json::Value& written, DataType type, bool may_be_infinite = false) {
  if (is_floating(type)) return read_float(written, type, may_be_infinite);
  return visit_type(type, [&](auto value) -> Reading {
    using T = decltype(value);
    if constexpr (std::is_integral_v<T>) {
      return read_integer<T>(written, type);
    } else {
      return {};
    }
  });
}

// The union's member must be that of the type. DxDispatch puts the bits of a FLOAT16 into UInt16.
Reading read_member(const Scalar& scalar) {
  const DataType type = *scalar.type;
  if (scalar.member.empty()) return read_as(*scalar.written, type, scalar.is_narrowed);
  const std::string wanted = union_member(type);
  if (scalar.member != wanted)
    return {.must_be = "in the union's member " + wanted + ", not " + scalar.member,
            .remedy = is_held_as_bits(type)
                          ? "write a number alone, or its bits as {\"" + wanted + "\": 15360}"
                          : "write the number alone, or as {\"" + wanted + "\": 1}"};
  if (!is_held_as_bits(type)) return read_as(*scalar.written, type);
  Reading reading = read_as(*scalar.written, *data_type_named(upper_case(wanted)));
  const auto element = std::bit_cast<std::array<std::byte, 8>>(reading.bits);
  reading.approximate = element_value(type, element.data());
  return reading;
}

// Where a value is no number of its type.
std::string how_to_write_number(const Scalar& scalar) {
  const bool is_text = scalar.written->kind == json::Value::Kind::string;
  const auto meant = is_text ? json::meant_number(scalar.written->text) : std::nullopt;
  if (meant) return "write " + *meant + ", without the quotes";
  return is_floating(*scalar.type) ? "write a number, such as 0.5" : "write an integer, such as 1";
}

/// The rule that gives a field its value.
const Rule* rule_that_gives(const OperatorSpec& spec, const std::string& field) {
  const auto gives_it = [&](const Rule& rule) {
    const auto& equation = rule.formula.equation();
    return equation && *rule.formula.reference_at(equation->target) == Reference{field, ""};
  };
  const auto found = std::ranges::find_if(spec.rules, gives_it);
  return found == spec.rules.end() ? nullptr : &*found;
}

}  // namespace

std::string union_member(DataType type) {
  const std::string digits = std::to_string(info(type).bits);
  if (is_held_as_bits(type)) return "UInt" + digits;
  return (is_floating(type) ? "Float" : is_signed_integer(type) ? "Int" : "UInt") + digits;
}

bool is_unknown_type(const json::Value& value) {
  return value.text == (value.kind == json::Value::Kind::number ? "0" : "UNKNOWN") ||
         value.text == "DML_TENSOR_DATA_TYPE_UNKNOWN";
}

void open_unknown_types(Description& description, Diagnostics& diagnostics) {
  const bool is_page = description.judge == Judge::page;
  // ONNX Runtime writes it for this operator.
  const Evidence evidence =
      description.spec->name == "ELEMENT_WISE_CLIP1" ? Evidence::results : Evidence::none;
  for (Field& field : description.fields) {
    const auto* value = std::get_if<std::int64_t>(&field.value);
    if (field.spec->enum_name != "DML_TENSOR_DATA_TYPE" || value == nullptr || *value != 0)
      continue;
    const std::string& name = field.spec->name;
    const Rule* rule = rule_that_gives(*description.spec, name);
    Diagnostic diagnostic = description.at(
        Place{{name}}, name + " is UNKNOWN" + (is_page ? ", must be a data type" : ""));
    if (rule != nullptr) diagnostic.rule = rule->formula.text();
    diagnostic.note = "It stands for the tensor's type. " +
                      (is_page ? directml_accepts_note(evidence) : page_refuses_note(evidence));
    if (is_page) diagnostic.suggestion = Alternative::leave_out();
    (is_page ? diagnostics : description.warnings).push_back(std::move(diagnostic));
    field.value = std::monostate{};
    field.written = nullptr;
  }
}

void type_scalars(FieldSet& fields, Diagnostics& diagnostics) {
  for (Field& field : fields.fields) {
    auto* scalar = std::get_if<Scalar>(&field.value);
    if (scalar == nullptr) continue;
    const auto* type = std::get_if<std::int64_t>(&fields.find(field.spec->type_field)->value);
    if (type == nullptr || *type == 0) continue;
    scalar->type = static_cast<DataType>(*type);
    const Reading reading = read_member(*scalar);
    scalar->bits = reading.bits;
    scalar->approximate = reading.approximate;
    if (reading.fits) continue;
    const std::string name(name_of(*scalar->type));
    Diagnostic diagnostic = fields.at(Place{{field.spec->name}},
                                      field.spec->name + " is " + json::describe(*scalar->written) +
                                          ", must be " + reading.must_be + " (" + name + ")");
    diagnostic.rule = field.spec->type_field + " is " + name + ", so " + field.spec->name +
                      " is a number of that type";
    diagnostic.suggestion = reading.remedy.empty() ? how_to_write_number(*scalar) : reading.remedy;
    diagnostics.push_back(std::move(diagnostic));
    scalar->type.reset();
  }
}

}  // namespace dmlop
