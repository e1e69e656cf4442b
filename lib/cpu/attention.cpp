// Attention on the CPU: a block of queries of one head at a time, and a block of keys after the
// other. Only the scores of these two blocks are in memory. The weights of a block are relative to
// the largest score so far; where a later block has a larger one, what the earlier ones gave is
// made smaller.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/block_product.hpp"
#include "cpu/exponentials.hpp"
#include "cpu/kinds.hpp"
#include "cpu/packing.hpp"

namespace dmlop::cpu {
namespace {

/// The vectors of one head.
struct Vectors {
  DataType type;
  const std::byte* data;
  std::uint64_t row_stride, element_stride;

  Vectors(const AttentionInput& input, std::span<const std::byte> bytes, std::uint64_t batch,
          std::uint64_t head)
      : type(input.data_type),
        data(bytes.data() + (input.offset + batch * input.batch_stride + head * input.head_stride) *
                                size_of(input.data_type)),
        row_stride(input.row_stride),
        element_stride(input.element_stride) {}

  const std::byte* row(std::uint64_t row) const { return data + row * row_stride * size_of(type); }
  const std::byte* element(std::uint64_t i) const {
    return data + i * element_stride * size_of(type);
  }
  /// Rows from there on if they are floats side by side, otherwise null.
  const float* floats(std::uint64_t first) const {
    const bool are_floats = type == DataType::Float32 && element_stride == 1 && row_stride != 0 &&
                            reinterpret_cast<std::uintptr_t>(data) % alignof(float) == 0;
    return are_floats ? reinterpret_cast<const float*>(row(first)) : nullptr;
  }
};

/// Queries [query, query + count) of a head; the results go to `to`, `pitch` bytes apart.
struct Queries {
  std::uint64_t batch, head, query, count;
  std::byte* to;
  std::uint64_t pitch;
};

std::uint64_t past_length(const PastLengths& lengths, const std::byte* data, std::uint64_t batch) {
  std::int32_t value;
  std::memcpy(&value, data + batch * lengths.stride * sizeof value, sizeof value);
  return lengths.length(value);
}

/// Keys of a block.
constexpr const Threshold& keys_at_once = sum_block;

class Attention {
 public:
  Attention(const AttentionKernel& kernel, Inputs inputs) : kernel_(kernel), inputs_(inputs) {
    const std::size_t after_mask = kernel.mask == AttentionMask::none ? 3 : 4;
    if (kernel.mask != AttentionMask::none) mask_ = inputs[3].data();
    if (kernel.position_bias) position_bias_ = inputs[after_mask];
    if (kernel.past_lengths) past_lengths_ = inputs.back().data();
  }

  // The scores again for each block of values, of which there is more than one only where heads are
  // very large.
  void run(const Queries& queries) {
    for (std::uint64_t first = 0; first < kernel_.value_size; first += columns_at_once)
      run_values(queries, first,
                 std::min<std::uint64_t>(columns_at_once, kernel_.value_size - first));
  }

 private:
  struct Range {
    std::uint64_t first, count;
  };

  // Elements [first, first + count) of the values.
  void run_values(const Queries& queries, std::uint64_t first, std::uint64_t count) {
    rows_.assign(queries.count, Row{});
    scores_ = memory_.at_least<float>(queries.count * keys_at_once);
    const std::uint64_t last_query = queries.query + queries.count - 1;
    const std::uint64_t end = kernel_.past_lengths
                                  ? std::min(kernel_.keys, counted_keys(queries.batch, last_query))
                                  : kernel_.keys;
    for (std::uint64_t key = 0; key < end; key += keys_at_once) {
      const Range keys{key, std::min<std::uint64_t>(keys_at_once, end - key)};
      multiply_keys(queries, keys);
      for (std::uint64_t q = 0; q < queries.count; ++q) {
        const std::span<float> scores(scores_ + q * keys_at_once, keys.count);
        finish_scores(queries, queries.query + q, keys.first, scores);
        weigh(scores, rows_[q], std::span(key == 0 ? nullptr : values_.row(q), count));
      }
      multiply_values(queries, keys, {first, count});
    }
    const std::size_t size = size_of(kernel_.output_type);
    for (std::uint64_t q = 0; q < queries.count; ++q) {
      const std::span<double> row(values_.row(q), count);
      for (double& value : row) value *= 1 / rows_[q].sum;
      write_elements(kernel_.output_type, row, queries.to + q * queries.pitch + first * size);
    }
  }

  // The products of queries and keys.
  void multiply_keys(const Queries& queries, const Range& keys) {
    const Vectors query(kernel_.query, inputs_[0], queries.batch, queries.head);
    const Vectors key(kernel_.key, inputs_[1], queries.batch, queries.head / kernel_.group);
    const double scale = kernel_.is_bias_scaled ? 1 : kernel_.scale;
    const auto pack = [&](const Vectors& from, std::uint64_t row, std::uint64_t rows,
                          std::size_t width, std::uint64_t k, std::size_t depth, float* to) {
      set_depth(k, depth, from.element_stride);
      pack_lines<float>({from.type, from.row(row), from.row_stride, depth_}, rows, width, line_,
                        to);
    };
    const auto left = [&](std::uint64_t k, std::size_t depth, float* to) {
      if (const float* rows = query.floats(queries.query))
        return LeftBlock<float>{rows + k, query.row_stride};
      pack(query, queries.query, queries.count, panel_rows(), k, depth, to);
      return LeftBlock<float>{to};
    };
    const auto right = [&](std::uint64_t k, std::size_t depth, float* to) {
      pack(key, keys.first, keys.count, product_.width(), k, depth, to);
      return RightBlock<float>{to};
    };
    product_.run_rounded(queries.count, keys.count, kernel_.size, left, right,
                         {.to = scores_, .pitch = keys_at_once, .factor = scale});
  }

  /// An element of the values that is infinite or NaN.
  struct Special {
    std::uint64_t key, element;  // within a block
    double value;
  };

  // Those of a block of keys, if a query of the block does not count a key that has one: a weight
  // of 0 would make it NaN.
  void find_specials(const Queries& queries, const Vectors& value, const Range& keys,
                     const Range& elements) {
    specials_.clear();
    if (!kernel_.past_lengths) return;
    const PastLengths& lengths = *kernel_.past_lengths;
    const std::uint64_t counted = counted_keys(queries.batch, queries.query);
    bool is_hidden = false;
    std::vector<double> row(kernel_.value_size);
    // What is behind the new keys is 0.
    const std::uint64_t end = past_length(lengths, past_lengths_, queries.batch) + lengths.new_rows;
    std::uint64_t k = end <= keys.first ? 0 : std::min(keys.count, end - keys.first);
    while (k-- > 0) {
      if (keys.first + k < counted && !is_hidden) break;
      read_elements(value.type, value.row(keys.first + k), value.element_stride, kernel_.value_size,
                    row.data());
      for (std::uint64_t i = 0; i < elements.count; ++i) {
        if (std::isfinite(row[elements.first + i])) continue;
        specials_.push_back({k, i, row[elements.first + i]});
        is_hidden = true;
      }
    }
  }

  void add_specials(const Queries& queries, const Range& keys) {
    for (const Special& special : specials_) {
      for (std::uint64_t q = 0; q < queries.count; ++q) {
        if (keys.first + special.key < counted_keys(queries.batch, queries.query + q))
          values_.row(q)[special.element] +=
              scores_[q * keys_at_once + special.key] * special.value;
      }
    }
  }

  // Adds the products of the weights and the values of some keys.
  void multiply_values(const Queries& queries, const Range& keys, const Range& elements) {
    const Vectors value(kernel_.value, inputs_[2], queries.batch, queries.head / kernel_.group);
    find_specials(queries, value, keys, elements);
    values_.run(
        queries.count, elements.count, keys.count,
        [&](std::uint64_t k, std::size_t, float*) {
          return LeftBlock<float>{scores_ + k, keys_at_once};
        },
        [&](std::uint64_t k, std::size_t depth, float* to) {
          set_depth(keys.first + k, depth, value.row_stride);
          pack_lines<float>(
              {value.type, value.element(elements.first), value.element_stride, depth_},
              elements.count, values_.width(), line_, to);
          if (!specials_.empty()) {
            const std::size_t lines = divided_up(elements.count, values_.width()) * values_.width();
            std::replace_if(
                to, to + lines * depth, [](float number) { return !std::isfinite(number); }, 0.0F);
          }
          return RightBlock<float>{to};
        },
        keys.first != 0);
    add_specials(queries, keys);
  }

  void set_depth(std::uint64_t k, std::size_t count, std::uint64_t stride) {
    depth_.resize(count);
    for (std::size_t i = 0; i < count; ++i) depth_[i] = (k + i) * stride;
  }

  // Adds what is added to the scores of a query with keys from `first` on.
  void finish_scores(const Queries& at, std::uint64_t query, std::uint64_t first,
                     std::span<float> scores) {
    if (kernel_.position_bias) {
      const Vectors bias(*kernel_.position_bias, position_bias_, at.batch, at.head);
      line_.resize(std::max(line_.size(), scores.size()));
      const std::uint64_t skipped = first * bias.element_stride * size_of(bias.type);
      read_elements(bias.type, bias.row(query) + skipped, bias.element_stride, scores.size(),
                    line_.data());
      for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += line_[i];
      if (kernel_.is_bias_scaled) {
        for (float& score : scores) score = static_cast<float>(score * kernel_.scale);
      }
    }
    add_filter(at, query, first, scores);
    if (kernel_.past_lengths) leave_out_later(at.batch, query, first, scores);
  }

  // With lengths: earlier keys, and the new ones up to the query's own.
  std::uint64_t counted_keys(std::uint64_t batch, std::uint64_t query) const {
    return past_length(*kernel_.past_lengths, past_lengths_, batch) + query + 1;
  }

  void leave_out_later(std::uint64_t batch, std::uint64_t query, std::uint64_t first,
                       std::span<float> scores) const {
    const std::uint64_t counted = counted_keys(batch, query);
    const std::uint64_t here = counted <= first ? 0 : std::min(counted - first, scores.size());
    std::fill(scores.begin() + static_cast<std::ptrdiff_t>(here), scores.end(),
              -std::numeric_limits<float>::infinity());
  }

  // In float, as DirectML does, although large filters cost the scores their last digits.
  void add_filter(const Queries& at, std::uint64_t query, std::uint64_t first,
                  std::span<float> scores) const {
    if (kernel_.mask == AttentionMask::none) return;
    const auto filter = static_cast<float>(kernel_.filter);
    if (kernel_.mask != AttentionMask::booleans) {
      const Kept kept = kept_keys(at.batch, query);
      for (std::uint64_t i = 0; i < scores.size(); ++i) {
        if (first + i < kept.begin || first + i >= kept.end) scores[i] += filter;
      }
      return;
    }
    const auto& strides = kernel_.mask_strides;
    const std::uint64_t row =
        at.batch * strides[0] + at.head * strides[1] + query * strides[2] + first * strides[3];
    for (std::uint64_t i = 0; i < scores.size(); ++i) {
      if (mask_at(row + i * strides[3]) == 0) scores[i] += filter;
    }
  }

  /// The keys that count.
  struct Kept {
    std::uint64_t begin, end;
  };

  Kept kept_keys(std::uint64_t batch, std::uint64_t query) const {
    const auto keys = static_cast<std::int64_t>(kernel_.keys);
    const auto limited = [&](std::int64_t begin, std::int64_t end) {
      return Kept{static_cast<std::uint64_t>(std::clamp<std::int64_t>(begin, 0, keys)),
                  static_cast<std::uint64_t>(std::clamp<std::int64_t>(end, 0, keys))};
    };
    const auto& strides = kernel_.mask_strides;
    const std::uint64_t stride = strides.back();
    if (kernel_.mask == AttentionMask::lengths) return limited(0, mask_at(batch * stride));
    if (kernel_.mask == AttentionMask::ends_starts)
      return limited(mask_at(strides[0] + batch * stride), mask_at(batch * stride));
    // Starts of the queries, and of the keys, of all sequences one after the other.
    const auto query_start = [&](std::uint64_t b) { return mask_at((kernel_.batch + b) * stride); };
    const auto key_start = [&](std::uint64_t b) {
      return mask_at((2 * kernel_.batch + 1 + b) * stride);
    };
    const auto at = static_cast<std::int64_t>(batch * kernel_.queries + query);
    if (at < query_start(batch) || at >= query_start(batch + 1)) return {0, 0};
    const auto first = static_cast<std::int64_t>(batch * kernel_.keys);
    return limited(key_start(batch) - first,
                   std::min<std::int64_t>(key_start(batch + 1) - first, mask_at(batch * stride)));
  }

  std::int64_t mask_at(std::uint64_t offset) const {
    std::int32_t value;
    std::memcpy(&value, mask_ + offset * sizeof value, sizeof value);
    return value;
  }

  /// What is known of a query's scores so far.
  struct Row {
    float largest = -std::numeric_limits<float>::infinity();
    double sum = 0;  // of the weights
  };

  // Makes scores weights. `values` are the sums of the values that were weighed before.
  static void weigh(std::span<float> scores, Row& row, std::span<double> values) {
    const float largest = std::max(row.largest, largest_of(scores));
    if (largest != row.largest && values.data() != nullptr) {
      const double factor = std::exp(static_cast<double>(row.largest) - largest);
      row.sum *= factor;
      for (double& value : values) value *= factor;
    }
    row.largest = largest;
    // Where all are minus infinity so far, their weights are 0, and later ones count.
    row.sum += exponentials(scores, std::isinf(largest) && largest < 0 ? 0 : largest);
  }

  const AttentionKernel& kernel_;
  Inputs inputs_;
  const std::byte* mask_ = nullptr;
  std::span<const std::byte> position_bias_;
  const std::byte* past_lengths_ = nullptr;
  BlockProduct<float> product_, values_;
  GrowingScratch memory_;
  float* scores_ = nullptr;
  std::vector<Row> rows_;
  std::vector<Special> specials_;  // of the block of keys that is multiplied
  std::vector<float> line_;
  std::vector<std::uint64_t> depth_;
};

/// A stretch of outputs, which need not end with a head.
void attend_stretch(const AttentionKernel& kernel, Attention& attention, const Part& part,
                    std::byte* to) {
  const std::uint64_t size = size_of(kernel.output_type), end = part.begin + part.length;
  std::vector<std::byte> whole(kernel.value_size * size);
  for (std::uint64_t at = part.begin; at < end;) {
    const std::uint64_t head = at / kernel.value_size, skipped = at % kernel.value_size;
    const std::uint64_t query = head / kernel.heads;
    attention.run(
        {query / kernel.queries, head % kernel.heads, query % kernel.queries, 1, whole.data(), 0});
    const std::uint64_t count = std::min(kernel.value_size - skipped, end - at);
    std::memcpy(to + (at - part.begin) * size, whole.data() + skipped * size, count * size);
    at += count;
  }
}

}  // namespace

// Some queries of a head.
PartShape part_shape(const AttentionKernel& kernel, std::uint64_t) {
  return {.blocks = Blocks{.ranges = even_block(kernel.queries, rows_at_once, panel_rows()),
                           .inner = kernel.heads * kernel.value_size,
                           .length = kernel.value_size,
                           .of = kernel.queries}};
}

void run_part(const AttentionKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  Attention attention(kernel, inputs);
  const Destination& output = outputs.front();
  if (part.count == 1) return attend_stretch(kernel, attention, part, output.to);
  const std::uint64_t inner = kernel.heads * kernel.value_size, query = part.begin / inner;
  attention.run({query / kernel.queries, part.begin % inner / kernel.value_size,
                 query % kernel.queries, part.count, output.to, output.pitch});
}

PartShape part_shape(const HeadRowsKernel& kernel, std::uint64_t) {
  return {.granule = kernel.size};
}

void run_part(const HeadRowsKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  const std::size_t size = size_of(kernel.output_type);
  std::vector<double> row(kernel.size), bias(kernel.size);
  const auto add_bias = [&](std::uint64_t batch, std::uint64_t head) {
    const Vectors vectors(*kernel.bias, inputs[1], batch, head);
    read_elements(vectors.type, vectors.row(0), vectors.element_stride, kernel.size, bias.data());
    for (std::uint64_t i = 0; i < kernel.size; ++i) row[i] += bias[i];
  };
  const std::size_t past_input = kernel.bias ? 2 : 1;
  Steps steps;
  const std::uint64_t end = part.begin + part.length;
  for (std::uint64_t at = part.begin; at < end;) {
    steps.add(2 * kernel.size);
    const std::uint64_t r = at / kernel.size % kernel.rows, skipped = at % kernel.size;
    const std::uint64_t head = at / kernel.size / kernel.rows % kernel.heads;
    const std::uint64_t batch = at / kernel.size / kernel.rows / kernel.heads;
    const auto& lengths = kernel.past_lengths;
    const std::uint64_t past_rows =
        lengths ? past_length(*lengths, inputs.back().data(), batch) : kernel.past_rows;
    const std::uint64_t count = std::min(kernel.size - skipped, end - at);
    std::byte* to = outputs.front().to + (at - part.begin) * size;
    if (lengths && r >= past_rows && r - past_rows >= lengths->new_rows) {
      std::memset(to, 0, count * size);
    } else {
      const bool is_past = r < past_rows;
      const Vectors vectors(is_past ? *kernel.past : kernel.input, inputs[is_past ? past_input : 0],
                            batch, head);
      const std::byte* from = vectors.row(is_past ? r : r - past_rows);
      const bool has_bias = kernel.bias && !is_past;
      if (vectors.type == kernel.output_type && vectors.element_stride == 1 && !has_bias) {
        std::memcpy(to, from + skipped * size, count * size);
      } else {
        read_elements(vectors.type, from, vectors.element_stride, kernel.size, row.data());
        if (has_bias) add_bias(batch, head);
        write_elements(kernel.output_type, std::span(row).subspan(skipped, count), to);
      }
    }
    at += count;
  }
}

}  // namespace dmlop::cpu
