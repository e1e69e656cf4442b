// What may mend a finding: what its maker proposes, and what mends most mistakes of this kind.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "spec/spec.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

/// Ideas for a finding whose pointer is one into `root`, an op description, the likeliest first.
/// `dimensions` is how many the first tensor has that has any; 0: unknown.
std::vector<Fix> ideas_for(const Diagnostic& finding, const nlohmann::ordered_json& root,
                           const OperatorSpec& spec, std::size_t dimensions);

/// Whether the first idea is what somebody means who wrote the value: "did you mean".
bool is_meant(const Diagnostic& finding);

/// Other values of the fields of a description that choose something: enumerations, axes, flags.
std::vector<Replacement> choices(const nlohmann::ordered_json& root, const OperatorSpec& spec);

/// Other small numbers for the values that a finding names or stands at, one field after the other,
/// those nearest to what is there first.
std::vector<Replacement> other_numbers(const Diagnostic& finding,
                                       const nlohmann::ordered_json& root,
                                       const OperatorSpec& spec);

/// Whether a field says which axis or mode is meant. Other numbers, such as the size of a block,
/// mend a finding by making the operator another one.
bool says_which(const OperatorSpec& spec, const Replacement& choice);

/// Other shapes in which an array may be saved, the likeliest first: what a finding proposes, what
/// the rules say, dimensions of size 1 in other places, and merged dimensions.
std::vector<Sizes> shapes_for(const Sizes& sizes, const Replacement& proposed,
                              const std::vector<Sizes>& ruled);

/// "CTensor.Sizes" of "/desc/CTensor/Sizes".
std::string name_of_place(const std::string& pointer);

/// JSON with a space behind each comma and colon.
std::string text_of(const nlohmann::ordered_json& json);

}  // namespace dmlop
