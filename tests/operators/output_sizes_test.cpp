// Outputs of sizes that the formula of the page does not give: what DirectML 1.15.4 was recorded to
// compute (conformance/README.md), of pooling and convolutions.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <set>

#include "described.hpp"
#include "plan_case.hpp"
#include "reference/values.hpp"

namespace dmlop::test {
namespace {

const std::vector<Json>& recordings() {
  static const std::vector<Json> rows = [] {
    std::ifstream stream(DMLOP_CONFORMANCE "/output_sizes/output_sizes.jsonl");
    std::vector<Json> read;
    for (std::string line; std::getline(stream, line);) read.push_back(Json::parse(line));
    return read;
  }();
  return rows;
}

/// A tensor of the description with such numbers; "nan" stands for NaN.
Tensor tensor_of(const Json& desc, const Json& numbers) {
  Tensor tensor = Tensor::packed(*data_type_named(desc.at("DataType").get<std::string>()),
                                 desc.at("Sizes").get<List>());
  std::size_t i = 0;
  for_each_index(tensor.sizes, [&](const Index& at) {
    const Json& number = numbers.at(i++);
    set_value(tensor, at, number.is_string() ? std::nan("") : number.get<double>());
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

TEST_CASE("output sizes: all recordings, which DirectML is the judge of") {
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

}  // namespace
}  // namespace dmlop::test
