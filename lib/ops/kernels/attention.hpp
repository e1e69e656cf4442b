// Multi-head attention.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop {

/// The vectors of all heads: element i of row r of a head.
struct AttentionInput {
  DataType data_type;
  std::uint64_t offset = 0;
  std::uint64_t batch_stride = 0;
  std::uint64_t head_stride = 0;
  std::uint64_t row_stride = 0;
  std::uint64_t element_stride = 0;
};

/// How many earlier rows each sequence of the batch has, at most `rows`: INT32, `stride` apart. New
/// rows follow them; what is behind these is 0.
struct PastLengths {
  std::uint64_t stride = 0;
  std::uint64_t rows = 0;      // that there are, of which the length is a part
  std::uint64_t new_rows = 0;  // behind them

  std::uint64_t length(std::int32_t value) const {
    return value <= 0 ? 0 : std::min<std::uint64_t>(static_cast<std::uint64_t>(value), rows);
  }
};

/// Rows of all heads as they are used: {batch, heads, rows, size}. The earlier ones come first; the
/// bias is added to the others. Inputs: the rows, the bias, the earlier rows and their lengths, as
/// far as they are there.
struct HeadRowsKernel {
  DataType output_type = DataType::Float32;
  std::uint64_t batch = 1, heads = 1, rows = 1, size = 1;
  AttentionInput input;
  std::optional<AttentionInput> bias;  // without batch and rows
  std::optional<AttentionInput> past;
  std::uint64_t past_rows = 0;  // of `rows`
  std::optional<PastLengths> past_lengths;

  std::uint64_t output_elements() const { return batch * heads * rows * size; }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(output_type)}; }
};

/// Which keys count for a query. What a mask leaves out gets AttentionKernel::filter added to its
/// score; it is not removed.
enum class AttentionMask : std::uint8_t {
  none,
  lengths,         // {1, batch}: the first so many
  ends_starts,     // {2, batch}: those from the start to the end
  packed_lengths,  // {3 * batch + 2}: lengths, starts of queries, and of keys, in one sequence each
  booleans,        // {batch, head, query, key}: where it is not 0
};

/// softmax(query x key * scale + position_bias) x value, for each head. Output {batch, query, head,
/// value_size}. Inputs are query, key and value, then the mask, the position bias and the lengths
/// if they are there. Heads of keys and values serve `group` heads of queries each.
struct AttentionKernel {
  DataType output_type = DataType::Float32;
  std::uint64_t batch = 1, heads = 1, group = 1;
  std::uint64_t queries = 1, keys = 1, size = 1, value_size = 1;
  AttentionInput query, key, value;
  double scale = 1;

  AttentionMask mask = AttentionMask::none;
  std::vector<std::uint64_t> mask_strides;  // of its dimensions, INT32
  double filter = 0;
  std::optional<AttentionInput> position_bias;  // rows are queries, elements keys
  bool is_bias_scaled = false;
  /// Query i is that of the new key i. Keys behind it do not count at all.
  std::optional<PastLengths> past_lengths;

  std::uint64_t output_elements() const { return batch * queries * heads * value_size; }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(output_type)}; }
};

}  // namespace dmlop
