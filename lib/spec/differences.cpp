#include "spec/differences.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "base/per_process.hpp"
#include "spec/embedded_facts.hpp"

namespace dmlop {

using Json = nlohmann::ordered_json;

const std::vector<Difference>& differences() {
  return made_once([] {
    std::map<std::string, std::string> reasons;
    for_each_row("reasons", [&](const Json& row) { reasons.emplace(row.at(0), row.at(1)); });
    std::vector<Difference> rows;
    for_each_row("differences", [&](const Json& row) {
      const auto reason = reasons.find(row.at(1));
      if (reason == reasons.end())
        throw std::logic_error("specs/differences.json: unknown reason " + row.at(1).dump());
      rows.push_back({row.at(0), reason->second, row.at(2), row.at(3)});
    });
    return rows;
  });
}

std::vector<const Difference*> differences_of(std::string_view operator_name) {
  std::vector<const Difference*> found;
  for (const Difference& row : differences()) {
    if (std::ranges::find(row.operators, operator_name) != row.operators.end())
      found.push_back(&row);
  }
  return found;
}

}  // namespace dmlop
