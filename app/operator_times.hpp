// How long the nodes of each operator took in a run.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/model.hpp"

namespace dmlop::app {

/// In the order of the first nodes.
class OperatorTimes {
 public:
  void add(const Dispatchable& node, double seconds);
  void print() const;  // to standard error
  nlohmann::ordered_json json() const;

 private:
  struct Row {
    std::string name;
    std::size_t nodes = 0;
    double seconds = 0;
  };
  std::vector<Row> rows_;
};

}  // namespace dmlop::app
