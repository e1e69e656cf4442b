// DxDispatch models for tests: texts with marks and the findings they have, and models that run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "model/model.hpp"

namespace dmlop::test {

/// A part of a model. Each ^ marks the place of a finding and each ~ the place of a warning. The
/// marks are removed from the text. Both lists are in the order of the places.
struct ModelRow {
  std::string text;
  std::vector<std::string> findings = {};  // message, rule and help
  std::vector<std::string> warnings = {};
};

/// Checks all findings in whole models.
void check_models(const std::vector<ModelRow>& rows);
/// The text is the object of the resource "A" of a model that has nothing else.
void check_resources(const std::vector<ModelRow>& rows);
/// The text is the object of the dispatchable "pad", which nothing dispatches.
void check_dispatchables(const std::vector<ModelRow>& rows);
/// The text is one command. There are the resources "In" (4 FLOAT32: 1, 2, 3, 4), "Out" (6 FLOAT32
/// zeros), "Halves" (5 FLOAT16), "Mixed" (several types, 8 bytes) and "Later" (deferred), and the
/// dispatchable "pad", which pads FLOAT32 [4] to [6].
void check_commands(const std::vector<ModelRow>& rows);

/// The members of that model: resources and dispatchables.
std::string usual_members();

struct ReadModel {
  std::optional<Model> model;
  std::string findings;  // one after another, with all their lines
  std::string warnings;
};
ReadModel read(const std::string& text, const ModelRequest& request = {},
               const std::string& file = "model.json");

/// A model that has no findings.
Model valid_model(const std::string& text, const ModelRequest& request = {});

}  // namespace dmlop::test
