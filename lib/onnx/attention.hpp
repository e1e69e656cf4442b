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

/// Binds earlier keys and, in the next input, values {batch, heads, rows, size}. Returns how many
/// there are. Refuses one without the other.
std::uint64_t bind_past(Mapping& node, DmlOperator& operation, std::size_t input,
                        const AttentionSizes& sizes, std::uint64_t size, std::uint64_t value_size);

/// Makes the keys and values of all rows, earlier ones included, outputs 1 and 2 if something reads
/// them.
void bind_present(Mapping& node, DmlOperator& operation, const AttentionSizes& sizes,
                  std::uint64_t size, std::uint64_t value_size);

/// Refuses what the provider's Attention and QAttention do not have: earlier keys, which is an
/// input, their output, and flags.
void require_plain_attention(const Mapping& node, std::size_t past);

/// Refuses past_key without past_value, which is the next input, and the opposite.
void require_both_past(const Mapping& node, std::size_t input);

/// Whether NumPy's rules broadcast `sizes` to `all`.
bool fits_into(const Sizes& sizes, const Sizes& all);

}  // namespace dmlop::onnx
