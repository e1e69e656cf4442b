// Multi-head attention.
#pragma once

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

/// Rows of all heads as they are used: {batch, heads, rows, size}. The earlier ones come first; the
/// bias is added to the others. Inputs: the rows, the bias and the earlier rows, as far as they are
/// there.
struct HeadRowsKernel {
  DataType output_type = DataType::Float32;
  std::uint64_t batch = 1, heads = 1, rows = 1, size = 1;
  AttentionInput input;
  std::optional<AttentionInput> bias;  // without batch and rows
  std::optional<AttentionInput> past;
  std::uint64_t past_rows = 0;  // of `rows`

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
/// value_size}. Inputs are query, key and value, then the mask and the position bias if they are
/// there. Heads of keys and values serve `group` heads of queries each.
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

  std::uint64_t output_elements() const { return batch * queries * heads * value_size; }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(output_type)}; }
};

}  // namespace dmlop
