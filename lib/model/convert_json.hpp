// The JSON of op descriptions and models that convert writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/convert.hpp"

namespace dmlop {

/// All fields of a checked description in the operator's order. Outputs lose their strides.
nlohmann::ordered_json fields_json(const Description& description);

/// Indented JSON with arrays of plain values on one line and a newline at the end. Errors:
/// invalid_input if a name is not UTF-8.
std::string readable_text(const nlohmann::ordered_json& json);

/// `path` as written in the file `base`: relative to its folder, with forward slashes.
std::string path_from(const std::string& base, const std::string& path);

/// "FOLDER/STEM.TENSOR.npy" for the JSON file "FOLDER/STEM.json".
std::string companion_path(const std::string& json_path, const std::string& tensor);

}  // namespace dmlop
