// Ideas of what would mend a finding, as data. Whoever makes a finding adds those that it knows;
// fixes/fixes.hpp tries them out.
#pragma once

#include <string>

#include "spec/fields.hpp"

namespace dmlop {

/// The JSON pointer to a place of the fields, whether or not the file has something there.
std::string pointer_to(const FieldSet& fields, const Place& place);

/// The replacement of what stands at a place by JSON; null leaves it out.
inline Replacement replacement(const FieldSet& fields, const Place& place, std::string json) {
  return {pointer_to(fields, place), std::move(json)};
}

}  // namespace dmlop
