// What the names of a job's files mean: which tensor a file is for, and where it lies.
#pragma once

#include <optional>
#include <string>

#include "base/diagnostic.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// "InputTensors.0" and "InputTensors[0]" are the first of InputTensors.
struct ElementName {
  std::string field;
  std::optional<std::size_t> element;
};
ElementName element_name(const std::string& name);

/// The field that a file's name is about: "InputTensors" for "InputTensors.0".
std::string field_of_file(const std::string& name);

/// Splits the texts of the bindings into paths and the forms of raw files. What is wrong in them is
/// a finding.
void read_file_texts(Description& description, Diagnostics& diagnostics);

/// A path that is written in `file` and relative to it; "-" and what stands in "-" stay as they
/// are.
std::string path_beside(const std::string& file, const std::string& path);

/// Whether there is no such file. Errors: io_failed if the system cannot tell, as it may exist.
bool is_absent(const std::string& path);

}  // namespace dmlop
