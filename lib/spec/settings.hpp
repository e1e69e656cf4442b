// --set of a command line: fields of a description, and parts of them, one by one. They become
// values of the description's document, so that one reader judges them as it judges a file's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/document.hpp"
#include "spec/spec.hpp"

namespace dmlop {

/// "StartPadding=0,1": a field or a part of one (FusedActivation.Alpha, InputTensors[1].Sizes), and
/// its value as it was typed.
struct Setting {
  std::string path;
  std::string value;
};

/// Nothing where the text is no such setting.
std::optional<Setting> parse_setting(std::string_view text);

/// A description that has no file and no fields yet: its operator is `argument` of a command line.
json::Document operator_document(std::string argument, const OperatorSpec& spec,
                                 const std::string& desc = "{}");

/// Puts the settings into the description that is the document's root, in their order; each
/// replaces what is there. Adds a finding for one that is given twice or is no JSON.
void apply_settings(json::Document& document, const std::vector<Setting>& settings,
                    Diagnostics& diagnostics);

/// How to give the member `name` of an object of the document a value, for example this JSON: in
/// the file, or with --set where there is none.
Alternative how_to_write(const json::Document& document, const json::Value& object,
                         const std::string& name, const std::string& example);

}  // namespace dmlop
