// DML_OPERATOR_MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1 by their definitions, one query of one
// head at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "reference/values.hpp"

namespace dmlop::test {

/// Query, key and value are {batch, length, heads * size}.
struct MultiheadAttention {
  std::uint64_t heads = 1, key_heads = 1;
  Tensor query, key, value;
  std::optional<Tensor> bias, mask, position_bias, past_key, past_value;
  std::optional<Tensor> past_lengths;  // {batch}: how many of the earlier keys there are
  std::uint64_t total = 0;             // with lengths, the keys that there is room for
  std::string mask_type = "NONE";
  double scale = 1, filter = 0;

  std::uint64_t batch() const { return query.sizes[0]; }
  std::uint64_t queries() const { return query.sizes[1]; }
  std::uint64_t size() const { return query.sizes[2] / heads; }
  std::uint64_t value_size() const { return value.sizes[2] / key_heads; }
  std::uint64_t past() const { return past_key ? past_key->sizes[2] : 0; }
  std::uint64_t keys() const { return past_lengths ? total : past() + key.sizes[1]; }

  /// {batch, heads, past and new, size}, biases added to the new ones.
  Tensor present_key() const { return present(key, past_key, query.sizes[2]); }
  Tensor present_value() const { return present(value, past_value, query.sizes[2] + key.sizes[2]); }

  Tensor result() const {
    Tensor output = Tensor::packed(query.type, {batch(), queries(), heads * value_size()});
    for_each_index({batch(), heads, queries()}, [&](const Index& at) {
      const std::vector<double> weights = softmax(scores(at[0], at[1], at[2]));
      for (std::uint64_t i = 0; i < value_size(); ++i) {
        double sum = 0;
        for (std::uint64_t k = 0; k < counted_keys(at[0], at[2]); ++k)
          sum += weights[k] * row(value, past_value, query.sizes[2] + key.sizes[2], at[0],
                                  at[1] / (heads / key_heads), k, i);
        set_value(output, {at[0], at[2], at[1] * value_size() + i}, sum);
      }
    });
    return output;
  }

 private:
  double biased(const Tensor& tensor, std::uint64_t bias_begin, const Index& at) const {
    return value_at(tensor, at) + (bias ? value_at(*bias, {bias_begin + at[2]}) : 0);
  }

  /// Element i of key or value k of a head.
  double row(const Tensor& tensor, const std::optional<Tensor>& earlier, std::uint64_t bias_begin,
             std::uint64_t b, std::uint64_t head, std::uint64_t k, std::uint64_t i) const {
    if (k < length(b)) return value_at(*earlier, {b, head, k, i});
    if (k - length(b) >= tensor.sizes[1]) return 0;
    const std::uint64_t each = tensor.sizes[2] / key_heads;
    return biased(tensor, bias_begin, {b, k - length(b), head * each + i});
  }

  /// The keys that a query sees.
  std::uint64_t counted_keys(std::uint64_t b, std::uint64_t q) const {
    return past_lengths ? std::min(keys(), length(b) + q + 1) : keys();
  }

  /// The earlier keys of a sequence.
  std::uint64_t length(std::uint64_t b) const {
    if (!past_lengths) return past();
    const double length = value_at(*past_lengths, {b});
    return length <= 0 ? 0 : std::min(static_cast<std::uint64_t>(length), past());
  }

  Tensor present(const Tensor& tensor, const std::optional<Tensor>& earlier,
                 std::uint64_t bias_begin) const {
    Tensor output =
        Tensor::packed(tensor.type, {batch(), key_heads, keys(), tensor.sizes[2] / key_heads});
    for_each_index(output.sizes, [&](const Index& at) {
      set_value(output, at, row(tensor, earlier, bias_begin, at[0], at[1], at[2], at[3]));
    });
    return output;
  }

  std::vector<double> scores(std::uint64_t b, std::uint64_t head, std::uint64_t q) const {
    std::vector<double> scores;
    for (std::uint64_t k = 0; k < keys(); ++k) {
      double sum = 0;
      for (std::uint64_t i = 0; i < size(); ++i)
        sum += biased(query, 0, {b, q, head * size() + i}) *
               row(key, past_key, query.sizes[2], b, head / (heads / key_heads), k, i);
      const double added = position_bias ? value_at(*position_bias, {b, head, q, k}) : 0;
      double score = mask_type == "BOOLEAN" ? (sum + added) * scale : sum * scale + added;
      if (mask && !counts(b, head, q, k)) score += filter;
      if (k >= counted_keys(b, q)) score = -HUGE_VAL;
      scores.push_back(score);
    }
    return scores;
  }

  bool counts(std::uint64_t b, std::uint64_t head, std::uint64_t q, std::uint64_t k) const {
    const auto at = [&](const Index& index) { return value_at(*mask, index); };
    const auto key_place = static_cast<double>(b * keys() + k);
    const auto query_place = static_cast<double>(b * queries() + q);
    const std::uint64_t n = batch();
    if (mask_type == "BOOLEAN") return at({b, head, q, k}) != 0;
    if (mask_type == "KEY_SEQUENCE_LENGTH") return static_cast<double>(k) < at({0, b});
    if (mask_type == "KEY_SEQUENCE_END_START")
      return static_cast<double>(k) < at({0, b}) && static_cast<double>(k) >= at({1, b});
    return static_cast<double>(k) < at({b}) && query_place >= at({n + b}) &&
           query_place < at({n + b + 1}) && key_place >= at({2 * n + 1 + b}) &&
           key_place < at({2 * n + 2 + b});
  }

  static std::vector<double> softmax(std::vector<double> scores) {
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - largest);
    for (double& score : scores) score /= sum;
    return scores;
  }
};

}  // namespace dmlop::test
