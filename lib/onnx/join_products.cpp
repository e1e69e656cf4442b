#include "onnx/join_products.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/edge_uses.hpp"
#include "onnx/graph_nodes.hpp"
#include "onnx/skip_copies.hpp"

namespace dmlop::onnx {
namespace {

using Sizes32 = std::vector<std::uint32_t>;

Sizes32 packed_strides_of(const Sizes32& sizes) {
  Sizes32 strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

Sizes32 strides_of(const GraphTensor& tensor) {
  return tensor.strides.value_or(packed_strides_of(tensor.sizes));
}

std::span<const std::uint32_t> without_leading_ones(const Sizes32& sizes) {
  const auto first = std::ranges::find_if(sizes, [](std::uint32_t size) { return size != 1; });
  return {first, sizes.end()};
}

/// Whether two tensors without strides are the same but for dimensions of 1 in front.
bool are_same(const GraphTensor& a, const GraphTensor& b) {
  return are_same_bytes(a, b) &&
         std::ranges::equal(without_leading_ones(a.sizes), without_leading_ones(b.sizes));
}

/// A tensor with these sizes, which differ in dimensions of 1 in front.
GraphTensor with_sizes(GraphTensor tensor, const Sizes32& sizes) {
  Sizes32 own = strides_of(tensor), strides(sizes.size(), 0);
  const std::size_t shared = std::min(own.size(), sizes.size());
  std::copy(own.end() - static_cast<std::ptrdiff_t>(shared), own.end(),
            strides.end() - static_cast<std::ptrdiff_t>(shared));
  if (tensor.strides) tensor.strides = std::move(strides);
  tensor.sizes = sizes;
  return tensor;
}

class ProductJoining {
 public:
  explicit ProductJoining(Graph& graph)
      : graph_(graph), uses_(graph), is_gone_(graph.nodes.size(), false) {}

  void join() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      GraphNode& node = graph_.nodes[i];
      if (operator_of_type(node, "GEMM") != nullptr) {
        read_behind_copies(node);
      } else if (operator_of_type(node, "ELEMENT_WISE_ADD") != nullptr) {
        take_sum(node);
      } else {
        take_factor(node);
      }
    }
    for (std::size_t i = 0; i < is_gone_.size(); ++i)
      is_gone_[i] = is_gone_[i] || uses_.is_left_over(graph_.nodes[i]);
    remove_nodes(graph_, is_gone_);
  }

 private:
  static bool is_copy(const GraphNode& node) {
    const auto* copy = operator_of_type(node, "ELEMENT_WISE_IDENTITY");
    return copy != nullptr && find_attribute(*copy, "ScaleBias") == nullptr &&
           !copy->outputs.front().strides;
  }

  // The number of the node that writes what an operator reads, if nothing else reads that.
  std::optional<std::size_t> only_writer(const std::string& edge) const {
    return uses_.readers(edge) == 1 ? uses_.writer(edge) : std::nullopt;
  }

  // The GEMM that writes an operand as it is read, and to which more can be done.
  std::optional<std::size_t> product_behind(const Operand& operand) const {
    const auto number = only_writer(operand.edge);
    if (!number) return std::nullopt;
    const auto* product = operator_of_type(graph_.nodes[*number], "GEMM");
    const bool is_open = product != nullptr && !has_activation(*product) &&
                         are_same(product->outputs.front(), operand.tensor);
    return is_open ? number : std::nullopt;
  }

  std::optional<double> constant(const Operand& operand) const {
    const GraphConstant* const constant = uses_.constant(graph_, operand.edge);
    return constant != nullptr ? scalar_in(*constant, operand.tensor) : std::nullopt;
  }

  // A node becomes the product whose output it read.
  GraphOperator& move_product(std::size_t from, GraphNode& node) {
    GraphNode& product = graph_.nodes[from];
    uses_.remove_readers(node);
    forget_edge(graph_, product.outputs.front());
    is_gone_[from] = true;
    node.inputs = std::move(product.inputs);
    node.content = std::move(product.content);
    product.inputs.clear();
    product.content = GraphConstant{};
    return std::get<GraphOperator>(node.content);
  }

  static float& number_of(GraphOperator& product, std::string_view name) {
    for (GraphAttribute& attribute : product.attributes) {
      if (attribute.name == name) return std::get<float>(attribute.value);
    }
    throw std::logic_error("GEMM without " + std::string(name));
  }

  // Nothing where FLOAT32 has too few digits or no number for it.
  static std::optional<float> scaled(float number, double factor) {
    const auto product = static_cast<float>(number * factor);
    const bool is_right = std::isnormal(product) || number == 0 || factor == 0;
    return is_right && std::isfinite(product) ? std::optional(product) : std::nullopt;
  }

  void take_factor(GraphNode& node) {
    const bool divides = operator_of_type(node, "ELEMENT_WISE_DIVIDE") != nullptr;
    if (!divides && operator_of_type(node, "ELEMENT_WISE_MULTIPLY") == nullptr) return;
    const std::vector<Operand> operands = operands_of(node);
    if (operands.size() != 2) return;
    const auto& output = std::get<GraphOperator>(node.content).outputs.front();
    for (const std::size_t side : {0U, 1U}) {
      const auto number = constant(operands[1 - side]);
      if (!number || (divides && side == 1)) continue;
      const auto product = product_behind(operands[side]);
      if (!product || !are_same(output, operands[side].tensor)) continue;
      const double factor = divides ? 1 / *number : *number;
      auto& multiplied = std::get<GraphOperator>(graph_.nodes[*product].content);
      const auto alpha = scaled(number_of(multiplied, "Alpha"), factor);
      const auto beta = scaled(number_of(multiplied, "Beta"), factor);
      if (!alpha || !beta) continue;
      GraphOperator& joined = move_product(*product, node);
      number_of(joined, "Alpha") = *alpha;
      number_of(joined, "Beta") = *beta;
      return;
    }
  }

  void take_sum(GraphNode& node) {
    const std::vector<Operand> terms = operands_of(node);
    if (terms.size() != 2) return;
    const auto& output = std::get<GraphOperator>(node.content).outputs.front();
    for (const std::size_t side : {0U, 1U}) {
      const auto product = product_behind(terms[side]);
      if (!product || !are_same(output, terms[side].tensor) ||
          operands_of(graph_.nodes[*product]).size() != 2)
        continue;
      const Operand& added = terms[1 - side];
      GraphOperator& joined = move_product(*product, node);
      node.inputs.resize(2);
      node.inputs.push_back(added.edge);
      joined.inputs.resize(2);
      joined.inputs.push_back(with_sizes(added.tensor, joined.outputs.front().sizes));
      number_of(joined, "Beta") = 1;
      uses_.add_reader(added.edge);
      return;
    }
  }

  // A product reads what a copy of its matrices reads.
  void read_behind_copies(GraphNode& node) {
    auto& product = std::get<GraphOperator>(node.content);
    for (const std::size_t side : {0U, 1U}) {
      while (const auto number = only_writer(node.inputs[side])) {
        GraphNode& copying = graph_.nodes[*number];
        if (!is_copy(copying)) break;
        const auto& copy = std::get<GraphOperator>(copying.content);
        if (is_plain_copy(copy)) break;  // of an input
        if (!are_same(copy.outputs.front(), product.inputs[side])) break;
        GraphTensor read = with_sizes(copy.inputs.front(), product.inputs[side].sizes);
        product.inputs[side] = std::move(read);
        forget_edge(graph_, node.inputs[side]);
        node.inputs[side] = copying.inputs.front();
        is_gone_[*number] = true;
      }
    }
  }

  Graph& graph_;
  EdgeUses uses_;
  std::vector<bool> is_gone_;
};

}  // namespace

void join_products(Graph& graph) {
  ProductJoining(graph).join();
}

}  // namespace dmlop::onnx
