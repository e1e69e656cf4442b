// What DirectML 1.15.4 accepts and an operator's page does not: the page refuses it, and with
// DirectML as the judge it runs. Every rule that only the page keeps has a case here. Outputs of
// other sizes than the formula's are recordings (conformance/README.md); directml_accepts.inc has
// the rest.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "described.hpp"
#include "paths.hpp"
#include "plan_case.hpp"
#include "reference/tensor.hpp"
#include "spec/field_scope.hpp"
#include "spec/spec.hpp"
#include "tensor/element.hpp"

namespace dmlop::test::directml_accepts_test {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<Json>& recordings() {
  static const std::vector<Json> rows = [] {
    std::ifstream stream(conformance_path("output_sizes/output_sizes.jsonl"));
    std::vector<Json> read;
    for (std::string line; std::getline(stream, line);) read.push_back(Json::parse(line));
    return read;
  }();
  return rows;
}

/// Operators that share their fields, and a description with its inputs and outputs.
struct Row {
  const char* operators;
  const char* json;
};
constexpr Row rows[] = {
#include "directml_accepts.inc"
};

/// The rows in the form of a recording, one for each of their operators.
const std::vector<Json>& written_rows() {
  static const std::vector<Json> written = [] {
    std::vector<Json> each;
    for (const auto& [operators, json] : rows) {
      std::istringstream names(operators);
      for (std::string name; names >> name;) {
        Json row = Json::parse(json);
        row["type"] = name;
        const bool is_dilated = find_spec(name)->find_field("Dilations") != nullptr;
        if (is_dilated) row["desc"]["Dilations"] = List(row["desc"]["Strides"].size(), 1);
        each.push_back(row);
      }
    }
    return each;
  }();
  return written;
}

std::vector<std::byte> element_of(DataType type, const Json& number) {
  const double value =
      number.is_string() ? std::stod(number.get<std::string>()) : number.get<double>();
  const auto bytes = element_from(type, value);
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size_of(type))};
}

/// A tensor of the description with such numbers, or words such as "nan".
Tensor tensor_of(const Json& desc, const Json& numbers) {
  Tensor tensor = Tensor::packed(*data_type_named(desc.at("DataType").get<std::string>()),
                                 desc.at("Sizes").get<List>());
  std::size_t i = 0;
  for_each_index(tensor.sizes, [&](const Index& at) {
    const std::vector<std::byte> bytes = element_of(tensor.type, numbers.at(i++));
    std::memcpy(tensor.at(at), bytes.data(), bytes.size());
  });
  REQUIRE(i == numbers.size());
  return tensor;
}

PlanCase case_of(const Json& row) {
  PlanCase a_case{row.at("type"), row.at("desc"), {}, {}, Judge::directml};
  a_case.is_for_every_gpu = true;
  std::size_t outputs = 0;
  for (const auto& [field, desc] : row.at("desc").items()) {
    if (!desc.is_object()) continue;
    a_case.fields.erase(field);
    if (row.at("inputs").contains(field)) {
      a_case.inputs.push_back({field, tensor_of(desc, row.at("inputs").at(field))});
    } else {
      const Tensor expected = tensor_of(desc, row.at("outputs").at(outputs++));
      const bool is_float = expected.type == DataType::Float32;
      a_case.outputs.push_back({field, expected, std::nullopt, 0, is_float ? 1e-6 : 0});
    }
  }
  CHECK(outputs == row.at("outputs").size());
  return a_case;
}

TEST_CASE("output sizes: DirectML's recordings, with DirectML as the judge") {
  std::set<std::string> operators;
  for (const Json& row : recordings()) {
    operators.insert(row.at("type"));
    REQUIRE(row.at("hresult") == "S_OK");
    check_plan_case(case_of(row));
  }
  CHECK(recordings().size() == 107);
  CHECK(operators.size() == 8);
}

TEST_CASE("output sizes: the page refuses those that its formula does not give") {
  std::size_t refused = 0;
  for (const Json& row : recordings()) {
    const Checked by_page = check_desc(row.at("type"), row.at("desc"));
    const Checked by_directml = check_desc(row.at("type"), row.at("desc"), Judge::directml);
    CAPTURE(row.dump());
    CHECK(by_directml.diagnostics.empty());
    CHECK(by_page.diagnostics.size() == by_directml.description->warnings.size());
    for (const Diagnostic& warning : by_directml.description->warnings)
      CHECK(warning.note.find("its results are known") != std::string::npos);
    refused += by_page.diagnostics.empty() ? 0 : 1;
  }
  CHECK(refused > 80);
}

TEST_CASE("what only DirectML accepts is refused as the page says, and runs as DirectML") {
  for (const Json& row : written_rows()) {
    CAPTURE(row.dump());
    const Checked by_page = check_desc(row.at("type"), row.at("desc"));
    REQUIRE(!by_page.diagnostics.empty());
    for (const Diagnostic& finding : by_page.diagnostics)
      CHECK(finding.note.ends_with("with --as directml-1.15.4."));
    check_plan_case(case_of(row));
    const Checked by_directml = check_desc(row.at("type"), row.at("desc"), Judge::directml);
    CHECK(by_directml.description->warnings.size() >= by_page.diagnostics.size());
  }
}

/// Whether a description breaks the rule, which its judge does not keep.
bool breaks(const Rule& rule, const Description& description) {
  const FieldScope scope(description);
  bool is_broken = false;
  rule.formula.for_each(scope, [&](const Variables& variables) {
    is_broken = is_broken || rule.formula.check(scope, variables).has_value();
    return true;
  });
  return is_broken;
}

TEST_CASE("every rule that only the page keeps is broken by a case that runs as DirectML") {
  std::map<std::string, std::vector<Description>> cases;
  for (const auto* list : {&written_rows(), &recordings()}) {
    for (const Json& row : *list) {
      const std::string type = row.at("type");
      Checked checked = check_desc(type, row.at("desc"), Judge::directml);
      cases[checked.description->spec->name].push_back(std::move(*checked.description));
    }
  }
  std::size_t count = 0;
  for (const std::string& name : specified_operators()) {
    for (const Rule& rule : find_spec(name)->rules) {
      if (rule.by != Authority::page) continue;
      ++count;
      CHECK_MESSAGE(std::ranges::any_of(cases[name],
                                        [&](const Description& one) { return breaks(rule, one); }),
                    name << ": " << rule.formula.text());
    }
  }
  CHECK(count > 30);
}

}  // namespace
}  // namespace dmlop::test::directml_accepts_test
