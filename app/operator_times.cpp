#include "operator_times.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/text.hpp"

namespace dmlop::app {

void OperatorTimes::add(const Dispatchable& node, double seconds) {
  const std::string& name = node.description->spec->name;
  const auto is_it = [&](const Row& row) { return row.name == name; };
  auto row = std::find_if(rows_.begin(), rows_.end(), is_it);
  if (row == rows_.end()) row = rows_.insert(row, {name});
  ++row->nodes;
  row->seconds += seconds;
}

void OperatorTimes::print() const {
  for (const Row& row : rows_)
    dmlop::print(StandardStream::error, {"Operator '", row.name, "': ", counted(row.nodes, "run"),
                                         ", ", with_decimals(row.seconds * 1e3, 4), " ms (CPU)\n"});
}

nlohmann::ordered_json OperatorTimes::json() const {
  auto list = nlohmann::ordered_json::array();
  for (const Row& row : rows_)
    list.push_back({{"operator", row.name}, {"runs", row.nodes}, {"seconds", row.seconds}});
  return list;
}

}  // namespace dmlop::app
