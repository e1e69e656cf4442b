#include "onnx/join_operators.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/edge_uses.hpp"
#include "onnx/graph_nodes.hpp"

namespace dmlop::onnx {
namespace {

constexpr FeatureLevel level_of_gelu{5, 1}, level_of_swish{6, 2}, level_of_normalization{6, 3};

class Joining {
 public:
  Joining(Graph& graph, FeatureLevel level)
      : graph_(graph), level_(level), uses_(graph), is_gone_(graph.nodes.size(), false) {}

  void join() {
    for (GraphNode& node : graph_.nodes) {
      joined_.clear();
      if (operator_of_type(node, "ELEMENT_WISE_MULTIPLY") != nullptr) {
        join_product(node);
      } else if (operator_of_type(node, "ELEMENT_WISE_ADD") != nullptr) {
        join_normalization(node);
      }
    }
    for (std::size_t i = 0; i < is_gone_.size(); ++i)
      is_gone_[i] = is_gone_[i] || uses_.is_left_over(graph_.nodes[i]);
    remove_nodes(graph_, is_gone_);
  }

 private:
  // What the node that writes an edge reads, if it is such an operator and the edge has so many
  // readers. It becomes part of another one if all others do, too.
  std::vector<Operand> behind(const Operand& operand, std::string_view type,
                              std::size_t readers = 1) {
    const auto number = uses_.writer(operand.edge);
    if (!number || uses_.readers(operand.edge) != readers) return {};
    const GraphNode& writer = graph_.nodes[*number];
    if (operator_of_type(writer, type) == nullptr) return {};
    if (std::ranges::find(joined_, *number) == joined_.end()) joined_.push_back(*number);
    return operands_of(writer);
  }
  const GraphOperator& operator_behind(const Operand& operand) const {
    return std::get<GraphOperator>(graph_.nodes[*uses_.writer(operand.edge)].content);
  }

  std::optional<double> constant(const Operand& operand) const {
    const GraphConstant* const constant = uses_.constant(graph_, operand.edge);
    return constant != nullptr ? scalar_in(*constant, operand.tensor) : std::nullopt;
  }
  bool is_about(const Operand& operand, double expected) const {
    const bool is_half = operand.tensor.data_type == "DML_TENSOR_DATA_TYPE_FLOAT16";
    const double tolerance = is_half ? 3e-4 : 1e-5;
    const auto number = constant(operand);
    return number && std::abs(*number - expected) <= tolerance * expected;
  }
  // Of two operands, the one beside a constant.
  std::optional<Operand> beside(const std::vector<Operand>& operands, double expected) const {
    if (operands.size() != 2) return std::nullopt;
    if (is_about(operands[1], expected)) return operands[0];
    if (is_about(operands[0], expected)) return operands[1];
    return std::nullopt;
  }

  void join_product(GraphNode& node) {
    const std::vector<Operand> factors = operands_of(node);
    if (factors.size() != 2) return;
    for (const std::size_t side : {0U, 1U}) {
      const Operand& x = factors[1 - side];
      joined_.clear();
      if (level_ >= level_of_swish && is_sigmoid(factors[side], x) && has_shape(node, x))
        return replace(node, "ACTIVATION_SWISH", {x}, {{"SigmoidInputScale", 1.0F}});
    }
    if (level_ < level_of_gelu) return;
    joined_.clear();
    const auto x = gelu_input(factors);
    if (x && has_shape(node, *x)) replace(node, "ACTIVATION_GELU", {*x}, {});
  }

  bool is_sigmoid(const Operand& operand, const Operand& x) {
    return behind(operand, "ACTIVATION_SIGMOID") == std::vector{x};
  }

  // The x of x * 0.5 * (1 + erf(x / sqrt(2))), of which these are two factors.
  std::optional<Operand> gelu_input(const std::vector<Operand>& factors) {
    if (const auto product = beside(factors, 0.5)) {
      const auto both = behind(*product, "ELEMENT_WISE_MULTIPLY");
      return both.size() == 2 ? input_of_gate_and_itself(both) : std::nullopt;
    }
    for (const std::size_t side : {0U, 1U}) {
      joined_.clear();
      const auto x = beside(behind(factors[1 - side], "ELEMENT_WISE_MULTIPLY"), 0.5);
      if (x && gate_input(factors[side]) == x) return x;
    }
    return std::nullopt;
  }
  std::optional<Operand> input_of_gate_and_itself(const std::vector<Operand>& factors) {
    const std::vector<std::size_t> before = joined_;
    for (const std::size_t side : {0U, 1U}) {
      joined_ = before;
      if (gate_input(factors[side]) == factors[1 - side]) return factors[1 - side];
    }
    return std::nullopt;
  }
  // The x of 1 + erf(x / sqrt(2)).
  std::optional<Operand> gate_input(const Operand& gate) {
    const auto erf = beside(behind(gate, "ELEMENT_WISE_ADD"), 1);
    const auto angle = erf ? behind(*erf, "ELEMENT_WISE_ERF") : std::vector<Operand>{};
    if (angle.size() != 1) return std::nullopt;
    const auto quotient = behind(angle.front(), "ELEMENT_WISE_DIVIDE");
    if (quotient.size() == 2 && is_about(quotient[1], std::sqrt(2.0))) return quotient[0];
    return beside(behind(angle.front(), "ELEMENT_WISE_MULTIPLY"), std::sqrt(0.5));
  }

  void join_normalization(GraphNode& node) {
    if (level_ < level_of_normalization) return;
    const std::vector<Operand> terms = operands_of(node);
    if (terms.size() != 2) return;
    for (const std::size_t side : {0U, 1U}) {
      joined_.clear();
      const auto factors = behind(terms[side], "ELEMENT_WISE_MULTIPLY");
      if (factors.size() != 2) continue;
      const std::vector<std::size_t> before = joined_;
      for (const std::size_t factor : {0U, 1U}) {
        joined_ = before;
        if (join_normalization(node, factors[factor], factors[1 - factor], terms[1 - side])) return;
      }
    }
  }

  bool join_normalization(GraphNode& node, const Operand& normalized, const Operand& scale,
                          const Operand& bias) {
    const auto quotient = behind(normalized, "ELEMENT_WISE_DIVIDE");
    if (quotient.size() != 2) return false;
    const auto variance = behind(quotient[1], "ELEMENT_WISE_SQRT");
    const auto sum = variance.size() == 1 ? behind(variance.front(), "ELEMENT_WISE_ADD")
                                          : std::vector<Operand>{};
    if (sum.size() != 2) return false;
    const std::size_t side = constant(sum[0]) ? 1 : 0;
    const auto epsilon = constant(sum[1 - side]);
    const auto squares = behind(sum[side], "REDUCE");
    if (!epsilon || squares.size() != 1) return false;
    const Operand& deviation = quotient[0];
    if (!is_square_of(squares.front(), deviation)) return false;
    const std::size_t readers = uses_.readers(deviation.edge);
    const auto difference = behind(deviation, "ELEMENT_WISE_SUBTRACT", readers);
    if (difference.size() != 2) return false;
    const auto averaged = behind(difference[1], "REDUCE");
    if (averaged.size() != 1 || averaged.front().edge != difference[0].edge) return false;
    const auto axes = axes_of(operator_behind(difference[1]), difference[0].tensor);
    if (!axes || axes != axes_of(operator_behind(sum[side]), difference[0].tensor) ||
        !is_repeated(difference[1].tensor, *axes) || !is_repeated(quotient[1].tensor, *axes) ||
        !has_shape(node, difference[0]) || scale.tensor.sizes != difference[0].tensor.sizes ||
        bias.tensor.sizes != difference[0].tensor.sizes)
      return false;
    replace(node, "MEAN_VARIANCE_NORMALIZATION2", {difference[0], scale, bias},
            {{"AxisCount", static_cast<std::uint32_t>(axes->size())},
             {"Axes", *axes},
             {"UseMean", std::uint32_t{1}},
             {"UseVariance", std::uint32_t{1}},
             {"Epsilon", static_cast<float>(*epsilon)},
             {"", {}}});
    return true;
  }

  // Whether a tensor is another one times itself, and nothing else but its quotient reads that.
  bool is_square_of(const Operand& square, const Operand& x) {
    const auto power = behind(square, "ELEMENT_WISE_CONSTANT_POW");
    if (power.size() == 1) {
      const auto* exponent = value_of_attribute<float>(operator_behind(square), "Exponent");
      return exponent != nullptr && *exponent == 2 && power.front().edge == x.edge &&
             uses_.readers(x.edge) == 2;
    }
    const auto product = behind(square, "ELEMENT_WISE_MULTIPLY");
    return product.size() == 2 && product[0].edge == x.edge && product[1].edge == x.edge &&
           product[0].tensor == product[1].tensor && uses_.readers(x.edge) == 3;
  }

  // The axes over which an average is taken, as those of a tensor that has more dimensions of 1 in
  // front; nothing if it is something else.
  static std::optional<std::vector<std::uint32_t>> axes_of(const GraphOperator& reduction,
                                                           const GraphTensor& tensor) {
    constexpr std::uint32_t average = 2;  // DML_REDUCE_FUNCTION_AVERAGE
    const auto* function = value_of_attribute<std::uint32_t>(reduction, "Function");
    const auto* axes = value_of_attribute<std::vector<std::uint32_t>>(reduction, "Axes");
    const auto& sizes = reduction.inputs.front().sizes;
    const std::size_t added = tensor.sizes.size() - std::min(sizes.size(), tensor.sizes.size());
    const bool is_same =
        std::equal(tensor.sizes.begin() + static_cast<std::ptrdiff_t>(added), tensor.sizes.end(),
                   sizes.begin(), sizes.end()) &&
        std::all_of(tensor.sizes.begin(), tensor.sizes.begin() + static_cast<std::ptrdiff_t>(added),
                    [](std::uint32_t size) { return size == 1; });
    if (function == nullptr || *function != average || axes == nullptr || !is_same ||
        reduction.inputs.front().strides)
      return std::nullopt;
    std::vector<std::uint32_t> found = *axes;
    for (std::uint32_t& axis : found) axis += static_cast<std::uint32_t>(added);
    return found;
  }

  // Whether a tensor repeats what was reduced along these axes, and along no others.
  static bool is_repeated(const GraphTensor& tensor, const std::vector<std::uint32_t>& axes) {
    std::uint32_t packed = 1;
    for (std::size_t i = tensor.sizes.size(); i-- > 0;) {
      const bool is_reduced = std::ranges::find(axes, i) != axes.end();
      const std::uint32_t stride = tensor.strides ? (*tensor.strides)[i] : packed;
      if (tensor.sizes[i] > 1 && stride != (is_reduced ? 0 : packed)) return false;
      if (!is_reduced) packed *= tensor.sizes[i];
    }
    return true;
  }

  // Whether a node's output is packed and has the sizes of x, which is packed, too.
  static bool has_shape(const GraphNode& node, const Operand& x) {
    return !x.tensor.strides && std::get<GraphOperator>(node.content).outputs.front() == x.tensor;
  }

  void replace(GraphNode& node, const std::string& type, const std::vector<Operand>& inputs,
               std::vector<GraphAttribute> attributes) {
    for (const std::size_t number : joined_) {
      is_gone_[number] = true;
      uses_.remove_readers(graph_.nodes[number]);
      forget_edge(graph_, graph_.nodes[number].outputs.front());
    }
    uses_.remove_readers(node);
    auto& operation = std::get<GraphOperator>(node.content);
    operation.type = "DML_OPERATOR_" + type;
    operation.attributes = std::move(attributes);
    operation.inputs.clear();
    node.inputs.clear();
    for (const Operand& input : inputs) {
      operation.inputs.push_back(input.tensor);
      node.inputs.push_back(input.edge);
    }
    uses_.add_readers(node);
  }

  Graph& graph_;
  FeatureLevel level_;
  EdgeUses uses_;
  std::vector<bool> is_gone_;
  std::vector<std::size_t> joined_;  // nodes that become part of the one that is looked at
};

}  // namespace

void join_operators(Graph& graph, FeatureLevel level) {
  Joining(graph, level).join();
}

}  // namespace dmlop::onnx
