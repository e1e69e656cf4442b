// What the attention operators of ONNX share.
#pragma once

#include "onnx/mapping.hpp"

namespace dmlop::onnx {

/// What a node attends to: its numbers of sequences, heads, queries and keys, earlier ones
/// included.
struct AttentionSizes {
  std::uint64_t batch = 0, heads = 0, queries = 0, keys = 0;
};

/// The size of each of so many heads that lie side by side. Refuses what has no equal parts.
std::uint64_t size_of_heads(const char* what, std::uint64_t hidden, std::uint64_t heads);

/// The node's factor of the products of queries and keys: 1 / sqrt(head size) if it says none.
float scale_of(const Mapping& node, std::uint64_t head_size);

/// Whether an input is there and not empty, as a cache is before the first run.
bool has_elements(const Mapping& node, std::size_t input);

/// {batch, heads, rows, size} as {batch, rows, heads * size}.
View heads_side_by_side(Mapping& node, const View& view);

/// Binds earlier keys or values {batch, heads, rows, size}. Returns how many there are.
std::uint64_t bind_past(Mapping& node, DmlOperator& operation, std::size_t input, const char* name,
                        const char* field, const AttentionSizes& sizes, std::uint64_t size);

}  // namespace dmlop::onnx
