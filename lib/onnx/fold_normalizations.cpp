#include "onnx/fold_normalizations.hpp"

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
  return a.data_type == b.data_type && !a.strides && !b.strides &&
         a.total_size_in_bytes == b.total_size_in_bytes && a.sizes.size() == b.sizes.size() &&
         a.sizes.size() > 1 && a.sizes[0] == b.sizes[0] && a.sizes[1] == b.sizes[1];
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

/// What a normalization does to each channel: x * factor + term.
struct ChannelFactors {
  Numbers factors, terms;
};

/// The filter and the bias of a convolution with its normalization.
struct Folded {
  GraphTensor filter, bias;
  std::vector<std::byte> weights, terms;
};

class Folding {
 public:
  Folding(Graph& graph, const std::function<std::string(const std::string&)>& free_edge)
      : graph_(graph), free_edge_(free_edge), uses_(graph) {}

  void fold() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (operator_of_type(graph_.nodes[i], "BATCH_NORMALIZATION") != nullptr) fold(i);
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
  // The constant of an edge, if it is in memory, packed and of so many elements; otherwise null.
  const GraphConstant* constant(const GraphUse& use, DataType type, std::uint64_t elements) const {
    const auto writer = uses_.writer(use.edge);
    const bool has_shape = use.tensor != nullptr && real_type(*use.tensor) == type &&
                           !use.tensor->strides && elements_of_constant(*use.tensor) == elements;
    if (!has_shape || !writer) return nullptr;
    const auto* constant = std::get_if<GraphConstant>(&graph_.nodes[*writer].content);
    const bool has_size =
        constant != nullptr && bytes_in_memory(*constant).size() == elements * size_of(type);
    return has_size ? constant : nullptr;
  }

  // Its numbers; nothing if there is none.
  std::optional<Numbers> read(const GraphUse& use, DataType type, std::uint64_t elements) const {
    const GraphConstant* const constant = this->constant(use, type, elements);
    return constant != nullptr ? std::optional(numbers_in(*constant, type)) : std::nullopt;
  }

  // What the page says: scale * (x - mean) / sqrt(variance + epsilon) + bias.
  std::optional<ChannelFactors> channels_of(const GraphOperator& operation,
                                            const std::vector<GraphUse>& uses, DataType type,
                                            std::uint64_t count) const {
    const auto* epsilon = value_of_attribute<float>(operation, "Epsilon");
    if (uses.size() != 5 || epsilon == nullptr || !is_set(operation, "Spatial") ||
        has_activation(operation))
      return std::nullopt;
    const auto means = read(uses[1], type, count), variances = read(uses[2], type, count);
    const auto scales = read(uses[3], type, count), biases = read(uses[4], type, count);
    if (!means || !variances || !scales || !biases) return std::nullopt;
    ChannelFactors channels;
    for (std::size_t i = 0; i < count; ++i) {
      const double variance = (*variances)[i] + static_cast<double>(*epsilon);
      channels.factors.push_back((*scales)[i] / std::sqrt(variance));
      channels.terms.push_back((*biases)[i] - (*means)[i] * channels.factors.back());
    }
    return channels;
  }

  std::optional<Folded> folded(const GraphNode& convolving, const GraphNode& normalizing) {
    const auto& convolution = std::get<GraphOperator>(convolving.content);
    const auto& normalization = std::get<GraphOperator>(normalizing.content);
    const auto read_by = uses_of(convolving.inputs, convolution.inputs);
    const auto read_after = uses_of(normalizing.inputs, normalization.inputs);
    const bool is_plain = read_by && read_by->size() >= 2 && (*read_by)[1].tensor != nullptr &&
                          read_after && !is_set(convolution, "Direction") &&
                          !has_activation(convolution) &&
                          are_alike(convolution.outputs.front(), normalization.inputs.front()) &&
                          normalization.inputs.front() == normalization.outputs.front() &&
                          uses_.readers(convolving.inputs[1]) == 1;
    const auto type = is_plain ? real_type(*(*read_by)[1].tensor) : std::nullopt;
    if (!type) return std::nullopt;
    const GraphTensor& filter = *(*read_by)[1].tensor;
    const std::uint64_t channels = filter.sizes.front();
    // Several edges may be one constant in other shapes.
    const GraphConstant* const shared =
        constant((*read_by)[1], *type, elements_of_constant(filter));
    if (shared == nullptr || !folded_from_.insert(bytes_in_memory(*shared).data()).second)
      return std::nullopt;
    auto weights = read((*read_by)[1], *type, elements_of_constant(filter));
    const auto after = channels_of(normalization, *read_after, *type, channels);
    const bool has_bias = read_by->size() > 2 && !(*read_by)[2].edge.empty();
    auto terms = has_bias ? read((*read_by)[2], *type, channels) : Numbers(channels);
    if (!weights || !after || !terms) return std::nullopt;
    const std::size_t each = weights->size() / channels;
    for (std::size_t i = 0; i < weights->size(); ++i) (*weights)[i] *= after->factors[i / each];
    for (std::size_t i = 0; i < channels; ++i)
      (*terms)[i] = (*terms)[i] * after->factors[i] + after->terms[i];
    if (*type == DataType::Float16 && loses_channel(*weights, each)) return std::nullopt;
    auto filter_bytes = bytes_of_numbers(*weights, *type);
    auto bias_bytes = bytes_of_numbers(*terms, *type);
    if (!filter_bytes || !bias_bytes) return std::nullopt;
    // The bias is described as that of the normalization.
    return Folded{filter, *(*read_after)[4].tensor, std::move(*filter_bytes),
                  std::move(*bias_bytes)};
  }

  void fold(std::size_t at) {
    GraphNode& normalizing = graph_.nodes[at];
    const std::string between = normalizing.inputs.front();
    const auto writer = uses_.writer(between);
    if (!writer || uses_.readers(between) != 1) return;
    GraphNode& convolving = graph_.nodes[*writer];
    if (operator_of_type(convolving, "CONVOLUTION") == nullptr) return;
    auto folded = this->folded(convolving, normalizing);
    if (!folded) return;
    uses_.remove_readers(convolving);
    uses_.remove_readers(normalizing);
    auto& convolution = std::get<GraphOperator>(convolving.content);
    convolution.inputs = {convolution.inputs.front(), folded->filter, folded->bias};
    convolving.inputs = {
        convolving.inputs.front(),
        add_constant(*writer, convolving.name + "/filter", std::move(folded->weights)),
        add_constant(*writer, convolving.name + "/bias", std::move(folded->terms))};
    convolving.name = normalizing.name;
    convolving.outputs = normalizing.outputs;
    graph_.sizes.erase(between);
    uses_.add_readers(convolving);
    uses_.set_writer(convolving.outputs.front(), *writer);
    gone_.insert(at);
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
  std::set<std::size_t> gone_;  // normalizations that are part of a convolution now
};

}  // namespace

void fold_batch_normalizations(Graph& graph,
                               const std::function<std::string(const std::string&)>& free_edge) {
  Folding(graph, free_edge).fold();
}

}  // namespace dmlop::onnx
