#include "onnx/needed.hpp"

#include <algorithm>
#include <unordered_map>

namespace dmlop::onnx {
namespace {

std::vector<std::string_view> reads_of(const Node& node);

/// What a graph inside a node reads of the values around it.
std::vector<std::string_view> reads_of(const OnnxGraph& graph) {
  std::vector<std::string_view> inputs;
  std::unordered_set<std::string_view> own;
  for (const Tensor& tensor : graph.initializers) own.insert(tensor.name);
  for (const ValueInfo& input : graph.inputs) own.insert(input.name);
  for (const Node& node : graph.nodes) {
    own.insert(node.outputs.begin(), node.outputs.end());
    const auto read = reads_of(node);
    inputs.insert(inputs.end(), read.begin(), read.end());
  }
  for (const ValueInfo& output : graph.outputs) inputs.push_back(output.name);
  std::erase_if(inputs, [&](std::string_view input) { return own.contains(input); });
  return inputs;
}

/// The values that a node reads, with those that graphs inside it read.
std::vector<std::string_view> reads_of(const Node& node) {
  std::vector<std::string_view> inputs = node.inputs;
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph == nullptr) continue;
    const auto read = reads_of(*attribute.graph);
    inputs.insert(inputs.end(), read.begin(), read.end());
  }
  return inputs;
}

/// Visits each node after those that it reads from, without recursion: models have long chains.
class Order {
 public:
  explicit Order(const std::vector<Node>& nodes) : nodes_(nodes), is_visited_(nodes.size()) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const std::string_view output : nodes[i].outputs) {
        if (!output.empty()) writers_.try_emplace(output, i);
      }
    }
  }

  std::vector<std::size_t> of_all() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      visit(i);
      while (!visits_.empty()) go_on();
    }
    return std::move(order_);
  }

 private:
  struct Visit {
    std::size_t node;
    std::vector<std::string_view> inputs;
    std::size_t seen = 0;
  };

  void visit(std::size_t node) {
    if (is_visited_[node]) return;
    is_visited_[node] = true;
    visits_.push_back({node, reads_of(nodes_[node])});
  }

  void go_on() {
    Visit& last = visits_.back();
    if (last.seen == last.inputs.size()) {
      order_.push_back(last.node);
      return visits_.pop_back();
    }
    const auto writer = writers_.find(last.inputs[last.seen++]);
    if (writer != writers_.end()) visit(writer->second);
  }

  const std::vector<Node>& nodes_;
  std::unordered_map<std::string_view, std::size_t> writers_;
  std::vector<bool> is_visited_;
  std::vector<Visit> visits_;
  std::vector<std::size_t> order_;
};

}  // namespace

std::vector<std::size_t> running_order(const std::vector<Node>& nodes) {
  return Order(nodes).of_all();
}

Needed::Needed(const std::vector<Node>& nodes, const std::vector<std::size_t>& order,
               const std::vector<std::string_view>& outputs) {
  for (const std::string_view output : outputs) add(output);
  for (auto place = order.rbegin(); place != order.rend(); ++place) {
    const Node& node = nodes[*place];
    if (!has(node)) continue;
    for (const std::string_view input : reads_of(node)) add(input);
  }
}

bool Needed::has(const Node& node) const {
  return std::ranges::any_of(node.outputs,
                             [&](std::string_view output) { return values_.contains(output); });
}

Node Needed::without_others(Node node) const {
  for (std::string_view& output : node.outputs) {
    if (!values_.contains(output)) output = {};
  }
  return node;
}

void Needed::add(std::string_view value) {
  bytes_ += sizeof value + value.size();
  if (!value.empty()) values_.insert(value);
}

}  // namespace dmlop::onnx
