// Values as people type them behind --set, made JSON: "EDGE" for a name, "0,1" for numbers. Whether
// a field may have such a value is the reader's matter, which reads the JSON.
#pragma once

#include <string>
#include <string_view>

#include "spec/spec.hpp"

namespace dmlop {

/// How a value is typed. `any`: nothing is known of the place that it is for.
enum class Form {
  any,
  name,
  names,
  number,
  numbers,
  flag,
  tensor,
  tensors,
  size_2d,
  scale_bias,
  activation,
  activations,
};

Form form_of(FieldKind kind);

/// The value as JSON. What begins like JSON ({, [ or ") and null are JSON already; what does not
/// look like its form becomes a string, which a finding then shows.
std::string json_of(Form form, std::string_view typed);

/// A JSON value as it is typed behind --set.
std::string typed_value(const std::string& json);

}  // namespace dmlop
