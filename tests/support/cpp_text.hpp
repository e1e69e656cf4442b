// What dmlop makes of a text of C++, for tests.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cpp/convert.hpp"

namespace dmlop::test {

/// A description, or why there is none.
struct MadeOfCpp {
  nlohmann::ordered_json desc;  // null where the text is refused
  std::string type, findings, warnings;
};

inline std::string text_of(const Diagnostics& findings) {
  std::string text;
  for (const auto& finding : findings) text += to_text(finding) + "\n";
  return text;
}

inline MadeOfCpp make(const std::string& text) {
  Diagnostics findings;
  const auto made = description_of_cpp("x.cpp", text, findings);
  CHECK(made.has_value() == findings.empty());
  if (!made) return {.desc = {}, .type = "", .findings = text_of(findings), .warnings = ""};
  const auto json = nlohmann::ordered_json::parse(made->text);
  return {.desc = json.at("desc"),
          .type = json.at("type"),
          .findings = "",
          .warnings = text_of(made->warnings)};
}

/// A description of one UINT: `Axis`, set to an expression after some other code.
inline MadeOfCpp make_axis(const std::string& code, const std::string& expression) {
  return make(code + "\nDML_ONE_HOT_OPERATOR_DESC desc = {nullptr, nullptr, nullptr, " +
              expression + "};");
}

/// A description of one FLOAT.
inline MadeOfCpp make_alpha(const std::string& code, const std::string& expression) {
  return make(code + "\nDML_ACTIVATION_ELU_OPERATOR_DESC desc = {nullptr, nullptr, " + expression +
              "};");
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace dmlop::test
