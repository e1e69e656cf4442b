// JSON of op descriptions and models, as convert writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/convert.hpp"

namespace dmlop {

/// The fields of a checked description, each of them, in the operator's order. Outputs lose their
/// strides.
nlohmann::ordered_json fields_json(const Description& description);

/// Indented; arrays of plain values on one line. Ends with a newline. Errors: invalid_input where a
/// name is no UTF-8.
std::string readable_text(const nlohmann::ordered_json& json);

/// `path` as a file at `base` names it: relative to its folder, with forward slashes.
std::string path_from(const std::string& base, const std::string& path);

/// "FOLDER/STEM.TENSOR.npy" for the JSON file "FOLDER/STEM.json".
std::string companion_path(const std::string& json_path, const std::string& tensor);

}  // namespace dmlop
