// Numbers that are made up for an input, in place of a file: {"random": "normal", "seed": 1}.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spec/field_reader.hpp"

namespace dmlop {

struct RandomNumbers {
  std::uint64_t seed = 1;
  bool is_normal = false;  // else evenly spread over what suits the field
};

/// What messages call them, where they call others by the paths of their files.
std::string name_of(const RandomNumbers& numbers);

/// Reads {"random": "uniform" or "normal", "seed": …}. Nothing, with findings, where it is wrong.
std::optional<RandomNumbers> read_random_numbers(FieldReader& reader, const json::Value& value,
                                                 const std::string& name);

}  // namespace dmlop
