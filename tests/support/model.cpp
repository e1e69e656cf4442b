#include "model.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "graph/models.hpp"
#include "model/open.hpp"
#include "refusal.hpp"

namespace dmlop::test {
namespace {

/// The text without marks, and where they were.
struct Marked {
  std::string text;
  std::vector<std::size_t> errors;
  std::vector<std::size_t> warnings;

  explicit Marked(const std::string& marked) {
    for (const char c : marked) {
      if (c == '^') {
        errors.push_back(text.size());
      } else if (c == '~') {
        warnings.push_back(text.size());
      } else {
        text += c;
      }
    }
  }

  std::string expected(const std::vector<std::string>& messages,
                       const std::vector<std::size_t>& places, const std::string& word) const {
    REQUIRE(places.size() == messages.size());
    std::string all;
    for (std::size_t i = 0; i < messages.size(); ++i)
      all += "model.json:" + place_of(text, places[i]) + ": " + word + ": " + messages[i] + "\n";
    return all;
  }
};

void check_wrapped(const std::string& before, const std::vector<ModelRow>& rows,
                   const std::string& after) {
  for (const ModelRow& row : rows) {
    const Marked marked(before + row.text + after);
    CAPTURE(row.text);
    const ReadModel found = read(marked.text);
    CHECK(found.findings == marked.expected(row.findings, marked.errors, "error"));
    CHECK(found.warnings == marked.expected(row.warnings, marked.warnings, "warning"));
    CHECK(found.model.has_value() == row.findings.empty());
  }
}

}  // namespace

ReadModel read(const std::string& text, const ModelRequest& request, const std::string& file) {
  Diagnostics diagnostics, notes;
  ReadModel result;
  const auto opened = parse_op_or_model(json::Source{file}, text, diagnostics);
  if (opened) {
    CHECK(opened->has_model);
    result.model = read_model_with_graphs(opened->document, opened->document->root(), request,
                                          diagnostics, notes);
  }
  for (const Diagnostic& finding : diagnostics) result.findings += to_text(finding) + "\n";
  for (const Diagnostic& note : notes) result.warnings += to_text(note, "warning") + "\n";
  return result;
}

Model valid_model(const std::string& text, const ModelRequest& request) {
  ReadModel found = read(text, request);
  REQUIRE_MESSAGE(found.model.has_value(), found.findings);
  return std::move(*found.model);
}

void check_models(const std::vector<ModelRow>& rows) {
  check_wrapped("", rows, "");
}

void check_resources(const std::vector<ModelRow>& rows) {
  check_wrapped(R"({"resources": {"A": )", rows, R"(}, "dispatchables": {}, "commands": []})");
}

void check_dispatchables(const std::vector<ModelRow>& rows) {
  check_wrapped(R"({"resources": {"R": {"initialValuesDataType": "UINT32", "initialValues": [1]}},
 "dispatchables": {"pad": )",
                rows, R"(}, "commands": []})");
}

std::string usual_members() {
  return R"("resources": {
    "In": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]},
    "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}},
    "Halves": {"initialValuesDataType": "FLOAT16", "initialValues": {"valueCount": 5, "value": 1}},
    "Mixed": {"initialValues": [{"type": "UINT32", "value": 1}, {"type": "FLOAT32", "value": 1}]},
    "Later": {"initialValues": "deferred"}
  },
  "dispatchables": {
    "pad": {"type": "PADDING", "desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [6]},
      "PaddingMode": "EDGE", "PaddingValue": 0, "DimensionCount": 1,
      "StartPadding": [1], "EndPadding": [1]}}
  })";
}

void check_commands(const std::vector<ModelRow>& rows) {
  check_wrapped("{" + usual_members() + ",\n\"commands\": [", rows, "]}");
}

}  // namespace dmlop::test
