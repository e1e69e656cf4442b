#include "described.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "ops/operator.hpp"
#include "paths.hpp"

namespace dmlop::test {

const std::vector<OrderedJson>& golden_descriptions() {
  static const std::vector<OrderedJson> list = [] {
    std::ifstream stream(conformance_path("descriptions/golden.jsonl"));
    REQUIRE(stream.good());
    std::vector<OrderedJson> rows;
    for (std::string line; std::getline(stream, line);) rows.push_back(OrderedJson::parse(line));
    return rows;
  }();
  return list;
}

std::vector<const OrderedJson*> golden_descs_of(const std::string& operator_name) {
  static const auto rows_by_operator = [] {
    std::map<std::string, std::vector<std::pair<std::size_t, const OrderedJson*>>> rows;
    for (const OrderedJson& row : golden_descriptions()) {
      const std::string name = row.at("case");
      if (row.at("ran").get<bool>())
        rows[name.substr(0, name.find('/'))].emplace_back(row.at("desc").dump().size(),
                                                          &row.at("desc"));
    }
    const auto is_shorter = [](const auto& a, const auto& b) { return a.first < b.first; };
    for (auto& [name, list] : rows) std::stable_sort(list.begin(), list.end(), is_shorter);
    return rows;
  }();
  std::vector<const OrderedJson*> descs;
  const auto rows = rows_by_operator.find(operator_name);
  if (rows == rows_by_operator.end()) return descs;  // a new operator has no recorded cases
  for (const auto& [size, desc] : rows->second) descs.push_back(desc);
  return descs;
}

OrderedJson with_outputs_left_out(const OperatorSpec& spec, OrderedJson desc) {
  for (const FieldSpec& field : spec.fields) {
    if (!desc.contains(field.name)) continue;
    if (spec.is_count(field.name)) desc.erase(field.name);
    if (field.kind != FieldKind::output_tensor) continue;
    if (field.optional) desc[field.name] = OrderedJson::object();
    if (!field.optional) desc.erase(field.name);
  }
  return desc;
}

Checked check_desc(const std::string& operator_name, const OrderedJson& desc, Judge judge) {
  Checked checked;
  const OrderedJson json{{"type", operator_name}, {"desc", desc}};
  checked.description = read_description("op.json", json.dump(), std::nullopt, checked.diagnostics);
  if (!checked.description) return checked;
  checked.description->judge = judge;
  check_description(*checked.description, checked.diagnostics);
  return checked;
}

}  // namespace dmlop::test
