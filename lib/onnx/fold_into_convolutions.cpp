#include "onnx/fold_into_convolutions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/edge_uses.hpp"
#include "onnx/graph_nodes.hpp"
#include "tensor/half.hpp"

namespace dmlop::onnx {
namespace {

using Numbers = std::vector<double>;

/// Nothing if the type cannot hold a number: in a filter, infinity would make NaN of zeros.
std::optional<std::vector<std::byte>> bytes_of_numbers(const Numbers& numbers, DataType type) {
  std::vector<std::byte> bytes(numbers.size() * size_of(type));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::byte* to = bytes.data() + i * size_of(type);
    if (type == DataType::Float32) {
      const auto number = static_cast<float>(numbers[i]);
      if (!std::isfinite(number)) return std::nullopt;
      std::memcpy(to, &number, sizeof number);
    } else {
      const std::uint16_t bits = half_from_double(numbers[i]);
      if (!std::isfinite(half_to_float(bits))) return std::nullopt;
      std::memcpy(to, &bits, sizeof bits);
    }
  }
  return bytes;
}

/// Whether FLOAT16 has few digits for all weights of a channel, of `each`.
bool loses_channel(const Numbers& weights, std::size_t each) {
  constexpr double least_normal = 0x1p-14;
  for (std::size_t begin = 0; begin < weights.size(); begin += each) {
    double largest = 0;
    for (std::size_t i = begin; i < begin + each; ++i)
      largest = std::max(largest, std::abs(weights[i]));
    if (largest > 0 && largest < least_normal) return true;
  }
  return false;
}

/// Whether two tensors without strides have the same elements in the same channels: a line of
/// numbers may be the width or the height of an image.
bool are_alike(const GraphTensor& a, const GraphTensor& b) {
  return are_same_bytes(a, b) && a.sizes.size() == b.sizes.size() && a.sizes.size() > 1 &&
         a.sizes[0] == b.sizes[0] && a.sizes[1] == b.sizes[1];
}

std::uint64_t elements_of_constant(const GraphTensor& tensor) {
  return std::accumulate(tensor.sizes.begin(), tensor.sizes.end(), std::uint64_t{1},
                         [](std::uint64_t count, std::uint32_t size) { return count * size; });
}

/// A flag, or a direction that is backward.
bool is_set(const GraphOperator& operation, std::string_view name) {
  const auto* number = value_of_attribute<std::uint32_t>(operation, name);
  return number != nullptr && *number != 0;
}

/// What is done to each channel: x * factor + term.
struct ChannelFactors {
  Numbers factors, terms;

  void add(const ChannelFactors& after) {
    after.apply_to(terms);
    for (std::size_t i = 0; i < factors.size(); ++i) factors[i] *= after.factors[i];
  }
  void apply_to(Numbers& channels) const {
    for (std::size_t i = 0; i < channels.size(); ++i)
      channels[i] = channels[i] * factors[i] + terms[i];
  }
  bool scales() const {
    return std::ranges::any_of(factors, [](double factor) { return factor != 1; });
  }
};

/// Nodes that follow a convolution, one after the other, and what they do all together.
struct Following {
  std::vector<std::size_t> nodes;
  ChannelFactors channels;
};

class Folding {
 public:
  Folding(Graph& graph, const std::function<std::string(const std::string&)>& free_edge)
      : graph_(graph), free_edge_(free_edge), uses_(graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string& input : graph.nodes[i].inputs) readers_[input] = i;
    }
  }

  void fold() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (operator_of_type(graph_.nodes[i], "CONVOLUTION") != nullptr) fold(i);
    }
    std::vector<GraphNode> kept;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      std::ranges::move(made_[i], std::back_inserter(kept));
      if (!gone_.contains(i) && !uses_.is_left_over(graph_.nodes[i]))
        kept.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(kept);
  }

 private:
  // The constant of an edge, if it is in memory and has so many elements; otherwise null.
  const GraphConstant* constant(const std::string& edge, DataType type,
                                std::uint64_t elements) const {
    const GraphConstant* const constant = uses_.constant(graph_, edge);
    const bool has_size =
        constant != nullptr && bytes_in_memory(*constant).size() == elements * size_of(type);
    return has_size ? constant : nullptr;
  }

  // Its numbers, if a node reads all of them as they are; otherwise nothing.
  std::optional<Numbers> read(const Operand& operand, DataType type, std::uint64_t elements) const {
    if (real_type(operand.tensor) != type || operand.tensor.strides ||
        elements_of_constant(operand.tensor) != elements)
      return std::nullopt;
    const GraphConstant* const constant = this->constant(operand.edge, type, elements);
    return constant != nullptr ? std::optional(numbers_in(*constant, type)) : std::nullopt;
  }

  // The numbers of a constant that has one for each channel, or one for all.
  std::optional<Numbers> read_channels(const Operand& operand, DataType type,
                                       std::uint64_t channels) const {
    if (real_type(operand.tensor) != type || operand.tensor.sizes[1] != channels)
      return std::nullopt;
    for (const std::uint64_t count : {channels, std::uint64_t{1}}) {
      const GraphConstant* const constant = this->constant(operand.edge, type, count);
      if (constant == nullptr || !repeats_channels(operand.tensor, count == 1 ? 0 : 1)) continue;
      const Numbers numbers = numbers_in(*constant, type);
      return count == channels ? numbers : Numbers(channels, numbers.front());
    }
    return std::nullopt;
  }
  static bool repeats_channels(const GraphTensor& tensor, std::uint32_t stride_of_channels) {
    if (!tensor.strides) return elements_of_constant(tensor) == tensor.sizes[1];
    for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
      if (tensor.sizes[i] > 1 && (*tensor.strides)[i] != (i == 1 ? stride_of_channels : 0))
        return false;
    }
    return true;
  }

  // What the page says: scale * (x - mean) / sqrt(variance + epsilon) + bias.
  std::optional<ChannelFactors> normalization(const GraphOperator& operation,
                                              const std::vector<Operand>& operands, DataType type,
                                              std::uint64_t count) const {
    const auto* epsilon = value_of_attribute<float>(operation, "Epsilon");
    if (operands.size() != 5 || epsilon == nullptr || !is_set(operation, "Spatial") ||
        has_activation(operation))
      return std::nullopt;
    const auto means = read(operands[1], type, count), variances = read(operands[2], type, count);
    const auto scales = read(operands[3], type, count), biases = read(operands[4], type, count);
    if (!means || !variances || !scales || !biases) return std::nullopt;
    ChannelFactors channels;
    for (std::size_t i = 0; i < count; ++i) {
      const double variance = (*variances)[i] + static_cast<double>(*epsilon);
      channels.factors.push_back((*scales)[i] / std::sqrt(variance));
      channels.terms.push_back((*biases)[i] - (*means)[i] * channels.factors.back());
    }
    return channels;
  }

  // What a node does to the channels of what it reads from an edge.
  std::optional<ChannelFactors> channels_of(const GraphNode& node, const std::string& edge,
                                            const GraphTensor& written) const {
    const auto* operation = std::get_if<GraphOperator>(&node.content);
    const auto type = real_type(written);
    if (operation == nullptr || !type) return std::nullopt;
    const std::vector<Operand> operands = operands_of(node);
    const auto its = std::ranges::find(operands, edge, &Operand::edge);
    if (its == operands.end() || !are_alike(written, its->tensor) ||
        its->tensor != operation->outputs.front())
      return std::nullopt;
    const std::uint64_t count = written.sizes[1];
    if (operator_of_type(node, "BATCH_NORMALIZATION") != nullptr)
      return its == operands.begin() ? normalization(*operation, operands, *type, count)
                                     : std::nullopt;
    const bool adds = operator_of_type(node, "ELEMENT_WISE_ADD") != nullptr;
    if (operands.size() != 2 ||
        (!adds && operator_of_type(node, "ELEMENT_WISE_MULTIPLY") == nullptr))
      return std::nullopt;
    auto numbers = read_channels(operands[its == operands.begin() ? 1 : 0], *type, count);
    if (!numbers) return std::nullopt;
    if (adds) return ChannelFactors{Numbers(count, 1), std::move(*numbers)};
    return ChannelFactors{std::move(*numbers), Numbers(count, 0)};
  }

  Following following(const GraphNode& convolving, const GraphTensor& written) const {
    const std::uint64_t channels = written.sizes[1];
    Following found{{}, {Numbers(channels, 1), Numbers(channels, 0)}};
    for (std::string edge = convolving.outputs.front(); uses_.readers(edge) == 1;) {
      const auto reader = readers_.find(edge);
      if (reader == readers_.end()) break;
      const auto after = channels_of(graph_.nodes[reader->second], edge, written);
      if (!after) break;
      found.channels.add(*after);
      found.nodes.push_back(reader->second);
      edge = graph_.nodes[reader->second].outputs.front();
    }
    return found;
  }

  // The filter with what follows; nothing if that cannot be, or if another convolution has it, too.
  std::optional<std::vector<std::byte>> scaled_filter(const Operand& filter, DataType type,
                                                      const Numbers& factors) {
    const std::uint64_t count = elements_of_constant(filter.tensor);
    // Several edges may be one constant in other shapes.
    const GraphConstant* const shared = constant(filter.edge, type, count);
    if (uses_.readers(filter.edge) != 1 || shared == nullptr ||
        !folded_from_.insert(bytes_in_memory(*shared).data()).second)
      return std::nullopt;
    auto weights = read(filter, type, count);
    if (!weights) return std::nullopt;
    const std::size_t each = weights->size() / factors.size();
    for (std::size_t i = 0; i < weights->size(); ++i) (*weights)[i] *= factors[i / each];
    if (type == DataType::Float16 && loses_channel(*weights, each)) return std::nullopt;
    return bytes_of_numbers(*weights, type);
  }

  void fold(std::size_t at) {
    GraphNode& node = graph_.nodes[at];
    auto& convolution = std::get<GraphOperator>(node.content);
    const std::vector<Operand> operands = operands_of(node);
    const auto type = real_type(convolution.outputs.front());
    if (!type || operands.size() < 2 || is_set(convolution, "Direction") ||
        has_activation(convolution))
      return;
    const auto [nodes, channels] = following(node, convolution.outputs.front());
    if (nodes.empty()) return;
    const std::size_t count = channels.factors.size();
    auto terms = operands.size() > 2 ? read(operands[2], *type, count) : Numbers(count);
    if (!terms) return;
    channels.apply_to(*terms);
    auto bias = bytes_of_numbers(*terms, *type);
    const bool scales = channels.scales();
    auto filter = scales && bias ? scaled_filter(operands[1], *type, channels.factors)
                                 : std::optional<std::vector<std::byte>>();
    if (!bias || (scales && !filter)) return;
    uses_.remove_readers(node);
    std::string filter_edge = operands[1].edge;
    if (filter) filter_edge = add_constant(at, node.name + "/filter", std::move(*filter));
    const std::string bias_edge = add_constant(at, node.name + "/bias", std::move(*bias));
    node.inputs = {operands[0].edge, filter_edge, bias_edge};
    convolution.inputs = {operands[0].tensor, operands[1].tensor,
                          bias_tensor(operands[1].tensor, count, *type)};
    uses_.add_readers(node);
    take_place(at, nodes);
  }

  static GraphTensor bias_tensor(const GraphTensor& filter, std::size_t count, DataType type) {
    GraphTensor bias{filter.data_type, std::vector<std::uint32_t>(filter.sizes.size(), 1),
                     std::nullopt, (count * size_of(type) + 3) / 4 * 4};
    bias.sizes[1] = static_cast<std::uint32_t>(count);
    return bias;
  }

  // A node takes the place of those that follow it.
  void take_place(std::size_t at, const std::vector<std::size_t>& nodes) {
    GraphNode& node = graph_.nodes[at];
    for (const std::size_t number : nodes) {
      forget_edge(graph_, node.outputs.front());
      uses_.remove_readers(graph_.nodes[number]);
      gone_.insert(number);
      node.name = graph_.nodes[number].name;
      node.outputs = graph_.nodes[number].outputs;
    }
    uses_.set_writer(node.outputs.front(), at);
  }

  std::string add_constant(std::size_t before, const std::string& wanted,
                           std::vector<std::byte> bytes) {
    const std::string edge = free_edge_(wanted);
    GraphNode& node = made_[before].emplace_back();
    node.name = edge;
    const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    node.content = GraphConstant{
        .view = std::make_shared<const GraphBytes>(GraphBytes{*owner, owner, nullptr, ""})};
    node.outputs = {edge};
    return edge;
  }

  Graph& graph_;
  const std::function<std::string(const std::string&)>& free_edge_;
  EdgeUses uses_;
  std::map<std::size_t, std::vector<GraphNode>> made_;  // constants, by the node that reads them
  std::set<const std::byte*> folded_from_;              // the bytes of filters
  std::map<std::string, std::size_t> readers_;          // of each edge the last one
  std::set<std::size_t> gone_;                          // nodes that are part of a convolution now
};

}  // namespace

void fold_into_convolutions(Graph& graph,
                            const std::function<std::string(const std::string&)>& free_edge) {
  Folding(graph, free_edge).fold();
}

}  // namespace dmlop::onnx
