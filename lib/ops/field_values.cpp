#include "ops/field_values.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "tensor/element.hpp"

namespace dmlop {
namespace {

// A whole number with all its digits.
std::string whole_text(double number) {
  std::array<char, 48> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, 0);
  return {text.data(), end};
}

}  // namespace

std::array<std::byte, 8> scalar(const Description& description, std::string_view field) {
  std::array<std::byte, 8> bytes{};
  std::memcpy(bytes.data(), &std::get<Scalar>(description.find(field)->value).bits, bytes.size());
  return bytes;
}

void check_fits(const Description& description, std::string_view field,
                std::optional<DataType> type, Diagnostics& diagnostics) {
  const std::string name(field), type_name(type ? name_of(*type) : "");
  const json::Value* written = description.find(field)->written;
  const auto* value = std::get_if<double>(&description.find(field)->value);
  if (value == nullptr || !type || converts_to(*type, *value)) return;
  Diagnostic diagnostic =
      description.at({name, ""}, std::nullopt,
                     name + " is " + float_text(*value) + ", which does not fit " + type_name);
  diagnostic.rule =
      type_name + " holds " + range_text(*type) + "; " + name + " is truncated toward zero";
  if (description.judge == Judge::directml) {
    diagnostic.message = name + " is " + float_text(*value) + ", and " +
                         element_text(*type, element_from(*type, *value).data()) +
                         " is stored, because it is " + type_name;
    diagnostic.note = page_refuses_note(Evidence::verdict);
    diagnostics.push_back(std::move(diagnostic));
    return;
  }
  diagnostic.note = directml_accepts_note(Evidence::verdict);
  diagnostic.suggestion = Alternative::write("a value from " + range_text(*type));
  // FLOAT keeps 24 bits of a number, and may have rounded this one out of the range.
  const double below = double{std::nextafter(static_cast<float>(*value), 0.0F)};
  if (written != nullptr && converts_to(*type, below) && written->text != whole_text(*value)) {
    diagnostic.message = name + " is " + written->text + ", which is " + whole_text(*value) +
                         " as FLOAT and does not fit " + std::string(name_of(*type));
    diagnostic.suggestion = Alternative::write(whole_text(below), ", the next FLOAT that fits");
  }
  diagnostics.push_back(std::move(diagnostic));
}

}  // namespace dmlop
