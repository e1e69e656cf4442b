// RotaryEmbedding and GroupQueryAttention, compared with plain arithmetic: pairs of elements turn
// by the angles of their position, and a query sees no later key.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_rotary_test {
namespace {

using namespace onnx_bytes;

constexpr std::uint64_t positions = 9;

struct Cache {
  Numbers cosines, sines;
};

/// Angles of so many pairs, at all positions.
Cache cache_of(std::uint64_t pairs) {
  const auto angle = [](const Sizes& place) {
    return static_cast<double>(place[0] + 1) / static_cast<double>(place[1] + 2);
  };
  return {
      numbers_at({positions, pairs}, [&](const Sizes& place) { return std::cos(angle(place)); }),
      numbers_at({positions, pairs}, [&](const Sizes& place) { return std::sin(angle(place)); })};
}

/// Heads {batch, heads, rows, size} at their positions {batch, rows}.
Numbers turned(const Numbers& tensor, const Cache& cache, const Numbers& rows, bool interleaved) {
  const std::uint64_t half = cache.cosines.sizes[1];
  return numbers_at(tensor.sizes, [&](const Sizes& place) {
    const std::uint64_t i = place[3];
    if (i >= 2 * half) return at(tensor, place);
    const std::uint64_t pair = interleaved ? i / 2 : i % half;
    const bool is_first = interleaved ? i % 2 == 0 : i < half;
    const std::uint64_t other = interleaved ? i ^ 1 : is_first ? i + half : i - half;
    const auto position = static_cast<std::uint64_t>(at(rows, {place[0], place[2]}));
    const double sine = at(cache.sines, {position, pair});
    return at(tensor, place) * at(cache.cosines, {position, pair}) +
           at(tensor, {place[0], place[1], place[2], other}) * (is_first ? -sine : sine);
  });
}

Numbers int32_of(const Sizes& sizes, const std::vector<double>& values) {
  return {sizes, values, DataType::Int32};
}

}  // namespace

TEST_CASE("onnx rotary: pairs turn, side by side or in halves, wholly or in part") {
  constexpr std::uint64_t batch = 2, rows = 3, heads = 2, size = 6;
  const Numbers input = some_numbers({batch, rows, heads * size}, 1);
  const Numbers by_head = heads_apart(input, heads);
  const Numbers ids{{batch, rows}, {4, 0, 8, 1, 7, 2}, DataType::Int64};
  for (const std::uint64_t half : {size / 2, std::uint64_t{2}}) {
    for (const bool interleaved : {false, true}) {
      CAPTURE(half);
      CAPTURE(interleaved);
      const Cache cache = cache_of(half);
      const Numbers expected = turned(by_head, cache, ids, interleaved);
      std::vector<std::string> written{integer("interleaved", interleaved),
                                       integer("num_heads", heads)};
      if (2 * half < size)
        written.push_back(integer("rotary_embedding_dim", static_cast<std::int64_t>(2 * half)));
      OneNode node{"RotaryEmbedding", {input, ids, cache.cosines, cache.sines}, written};
      node.domain = "com.microsoft";
      CHECK(difference(node, {heads_together(expected)}) == "");
      const auto onnx_node = [&](const Numbers& from) {
        return OneNode{"RotaryEmbedding", {from, cache.cosines, cache.sines, ids}, written, 1, 23};
      };
      CHECK(difference(onnx_node(input), {heads_together(expected)}) == "");
      CHECK(difference(onnx_node(by_head), {expected}) == "");
    }
  }
}

TEST_CASE("onnx rotary: positions may be the first one, or stand in the angles already") {
  constexpr std::uint64_t batch = 3, rows = 2, heads = 2, size = 4;
  const Numbers input = some_numbers({batch, rows, heads * size}, 1);
  const Cache cache = cache_of(size / 2);
  const Numbers ids{{batch, rows}, {5, 6, 5, 6, 5, 6}, DataType::Int64};
  const Numbers expected = heads_together(turned(heads_apart(input, heads), cache, ids, false));
  OneNode offset{"RotaryEmbedding", {input, whole_numbers({5}), cache.cosines, cache.sines}};
  offset.domain = "com.microsoft";
  CHECK(difference(offset, {expected}) == "");

  const auto at_rows = [&](const Numbers& angles) {
    return numbers_at({batch, rows, size / 2}, [&](const Sizes& place) {
      return at(angles, {static_cast<std::uint64_t>(at(ids, {place[0], place[1]})), place[2]});
    });
  };
  CHECK(difference({"RotaryEmbedding",
                    {input, at_rows(cache.cosines), at_rows(cache.sines)},
                    {integer("num_heads", heads)},
                    1,
                    23},
                   {expected}) == "");
}

TEST_CASE("onnx rotary: angles and heads that do not fit are refused") {
  const Numbers input = some_numbers({2, 3, 8}), ids{{2, 3}, {0, 1, 2, 0, 1, 2}, DataType::Int64};
  const Cache cache = cache_of(2);
  const auto node = [&](const Numbers& from, const Numbers& at_places, const Cache& angles,
                        const std::vector<std::string>& attributes = {}) {
    OneNode one{"RotaryEmbedding", {from, at_places, angles.cosines, angles.sines}, attributes};
    one.domain = "com.microsoft";
    return one;
  };
  CHECK(run_node(node(input, ids, cache)).findings == "");
  check_refused(node(input, ids, cache, {integer("num_heads", 3)}), "its num_heads is 3");
  check_refused(node(input, ids, cache, {integer("num_heads", -2)}), "its num_heads is -2");
  check_refused(node(input, ids, cache_of(3)), "its num_heads is 0");
  check_refused(node(input, ids, cache_of(1), {integer("rotary_embedding_dim", 2)}), "num_heads");
  check_refused({"RotaryEmbedding", {input, cache.cosines, cache.sines, ids}, {}, 1, 23},
                "num_heads");
  Cache half = cache;
  half.sines.type = DataType::Float16;
  check_refused(node(input, ids, half),
                "its cosines or sines are FLOAT16, but its input is FLOAT32");
  check_refused(node(some_numbers({1, 10, 4}), whole_numbers({0}), cache),
                "it has 10 rows, but cosines of 9 positions");
  check_refused(node(input, ids, cache_of(3), {integer("num_heads", 2)}),
                "its heads have 4 elements, but its cosines are for 6");
  check_refused(
      node(input, ids, cache, {integer("rotary_embedding_dim", 2), integer("num_heads", 2)}),
      "its rotary_embedding_dim is 2");
  check_refused(node(input, {{3, 2}, ids.values, DataType::Int64}, cache),
                "its positions have the sizes [3, 2]\n  rule: there is one for each row [2, 3]");
  check_refused(node(input, whole_numbers({1, 2}), cache), "its position_ids have the sizes [2]");
  check_refused(node(input, ids, {cache.cosines, cache_of(3).sines}),
                "its cosines and sines have the sizes [9, 2] and [9, 3]");
  check_refused(node(some_numbers({2, 24}), ids, cache), "its input has 2 dimensions");
  check_refused(node(input, ids, cache, {real("scale", 2)}), "its scale is not 1");
}

namespace {

constexpr std::uint64_t batch = 2, heads = 4, key_heads = 2, size = 4;

/// A run of GroupQueryAttention: `rows` new rows behind earlier ones, which the first places of the
/// cache have.
struct Group {
  std::vector<std::uint64_t> earlier;  // of each sequence
  std::uint64_t rows = 1;
  std::uint64_t cached = 0;  // rows of the cache
  DataType type = DataType::Float32;
  bool is_rotary = false;
  bool is_packed = false;

  std::uint64_t count() const { return earlier.size(); }
  std::uint64_t total() const { return rows + *std::max_element(earlier.begin(), earlier.end()); }
  Numbers some(const Sizes& sizes, std::uint64_t seed) const {
    Numbers numbers = some_numbers(sizes, seed);
    numbers.type = type;
    return numbers;
  }
  Numbers query() const { return some({count(), rows, heads * size}, 1); }
  Numbers key() const { return some({count(), rows, key_heads * size}, 2); }
  Numbers value() const { return some({count(), rows, key_heads * size}, 3); }
  Numbers past_key() const { return some({count(), key_heads, cached, size}, 4); }
  Numbers past_value() const { return some({count(), key_heads, cached, size}, 5); }
  Cache angles() const {
    Cache cache = cache_of(size / 2);
    cache.cosines.type = cache.sines.type = type;
    return cache;
  }

  Numbers packed() const {
    const std::uint64_t width = heads * size, part = key_heads * size;
    const Numbers a = query(), b = key(), c = value();
    return numbers_at(
        {count(), rows, width + 2 * part},
        [&](Sizes place) {
          const std::uint64_t column = place[2];
          place[2] = column < width ? column : (column - width) % part;
          return at(column < width ? a : column < width + part ? b : c, place);
        },
        type);
  }

  OneNode node() const {
    Numbers lengths = int32_of({count()}, {});
    for (const std::uint64_t length : earlier)
      lengths.values.push_back(static_cast<double>(length + rows - 1));
    OneNode one{"GroupQueryAttention",
                {query(), key(), value(), past_key(), past_value(), lengths,
                 int32_of({1}, {static_cast<double>(total())})},
                {integer("num_heads", heads), integer("kv_num_heads", key_heads)},
                3};
    if (is_packed) {
      one.inputs[0] = packed();
      one.inputs[1] = one.inputs[2] = {};
    }
    if (is_rotary) {
      one.inputs.push_back(angles().cosines);
      one.inputs.push_back(angles().sines);
      one.attributes.push_back(integer("do_rotary", 1));
    }
    one.domain = "com.microsoft";
    return one;
  }

  /// The output, and the new cache as far as it has keys and values.
  std::vector<Numbers> expected() const {
    Numbers query = heads_apart(this->query(), heads), key = heads_apart(this->key(), key_heads);
    if (is_rotary) {
      const Numbers places = numbers_at({count(), rows}, [&](const Sizes& place) {
        return static_cast<double>(earlier[place[0]] + place[1]);
      });
      query = turned(query, angles(), places, false);
      key = turned(key, angles(), places, false);
    }
    const auto with_past = [&](const Numbers& past, const Numbers& added) {
      return numbers_at({count(), key_heads, std::max(cached, total()), size}, [&](Sizes place) {
        const std::uint64_t before = earlier[place[0]];
        if (place[2] < before) return at(past, place);
        place[2] -= before;
        return place[2] < rows ? at(added, place) : 0;
      });
    };
    const Numbers keys = with_past(past_key(), key);
    const Numbers values = with_past(past_value(), heads_apart(value(), key_heads));
    const Numbers output = numbers_at({count(), heads, rows, size}, [&](const Sizes& place) {
      const std::uint64_t head = place[1] / (heads / key_heads);
      double sum = 0, weights = 0;
      for (std::uint64_t k = 0; k <= earlier[place[0]] + place[2]; ++k) {
        double product = 0;
        for (std::uint64_t i = 0; i < size; ++i)
          product +=
              at(query, {place[0], place[1], place[2], i}) * at(keys, {place[0], head, k, i});
        const double weight = std::exp(product / std::sqrt(double{size}));
        weights += weight;
        sum += weight * at(values, {place[0], head, k, place[3]});
      }
      return sum / weights;
    });
    return {heads_together(output), keys, values};
  }
};

/// Compares where there are keys; what is behind them in the cache is not defined.
void check_group(const Group& group) {
  CAPTURE(group.rows);
  CAPTURE(group.cached);
  OnnxRun run = run_node(group.node());
  REQUIRE(run.findings == "");
  const std::vector<Numbers> expected = group.expected();
  REQUIRE(run.outputs.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    REQUIRE(run.outputs[i].sizes == expected[i].sizes);
    CHECK(run.outputs[i].type == group.type);
    const double near = group.type == DataType::Float16 ? 4e-3 : 1e-4;
    for (const Sizes& place : places_of(expected[i].sizes)) {
      if (i > 0 && place[2] >= group.earlier[place[0]] + group.rows) continue;
      const double number = at(expected[i], place);
      CHECK(std::abs(at(run.outputs[i], place) - number) <= near * (1 + std::abs(number)));
    }
  }
}

}  // namespace

TEST_CASE("onnx rotary: GroupQueryAttention sees the cache and no later key") {
  for (const DataType type : {DataType::Float32, DataType::Float16}) {
    for (const bool is_rotary : {false, true}) {
      for (const bool is_packed : {false, true}) {
        CAPTURE(is_rotary);
        CAPTURE(is_packed);
        const auto check = [&](std::vector<std::uint64_t> earlier, std::uint64_t rows,
                               std::uint64_t cached) {
          check_group({std::move(earlier), rows, cached, type, is_rotary, is_packed});
        };
        check({0, 0}, 3, 0);  // the first rows, without a cache or with one of all rows to come
        check({0, 0}, 3, 8);
        check({3, 3}, 1, 3);  // a row behind a cache that is full, or has more
        check({5, 2}, 1, 8);
        check({4}, 3, 4);  // several rows behind those of one sequence
        check({4}, 3, 8);
        check({0, 0}, 1, 0);
      }
    }
  }
}

TEST_CASE("onnx rotary: GroupQueryAttention without a cache, and what it refuses") {
  Group group{{0, 0}, 3, 0};
  OneNode node = group.node();
  node.inputs[3] = node.inputs[4] = {};
  CHECK(difference(node, group.expected()) == "");
  node.outputs = 1;
  CHECK(difference(node, {group.expected()[0]}) == "");

  const auto with = [&](const std::string& attribute) {
    OneNode changed = group.node();
    changed.attributes.push_back(attribute);
    return changed;
  };
  check_refused(with(integer("local_window_size", 4)), "it has a local window");
  check_refused(with(real("softcap", 4)), "it has a softcap");
  check_refused(with(integer("smooth_softmax", 1)), "its softmax is smooth");
  check_refused(with(integer("causal", 0)), "it is not causal");
  check_refused(with(text("k_quant_type", "PER_TENSOR")), "its cache is quantized");
  CHECK(run_node(with(real("scale", 0.5F))).findings == "");
  check_refused(Group{{4, 4}, 3, 4}.node(), "several new rows follow earlier ones in a batch of 2");
  OneNode short_total = group.node();
  short_total.inputs[6].values = {2};
  check_refused(short_total, "its total_sequence_length is 2");
  OneNode two_totals = group.node();
  two_totals.inputs[6] = int32_of({2}, {3, 3});
  check_refused(two_totals, "its total_sequence_length has 2 numbers");
  OneNode no_key = group.node();
  no_key.inputs[3] = {};
  check_refused(no_key, "its past_key is missing, but it has a past_value");
  for (const double length : {5.0, -1.0}) {
    OneNode wrong_length = Group{{4, 4}, 1, 8}.node();
    wrong_length.inputs[5].values[0] = length;
    check_refused(wrong_length, "its seqlens_k has " + std::to_string(static_cast<int>(length)));
  }
  Group long_one{{9}, 1, 9};
  long_one.is_rotary = true;
  check_refused(long_one.node(),
                "its total_sequence_length is 10, but its cosines have 9 positions");
  OneNode other_key = group.node();
  other_key.inputs[1] = some_numbers({batch, 3, heads * size});
  check_refused(other_key, "its key has the sizes [2, 3, 16], must have [2, 3, 8]");
  OneNode other_cache = Group{{4}, 1, 4}.node();
  other_cache.inputs[4] = some_numbers({1, heads, 4, size});
  check_refused(other_cache, "its past_value has the sizes [1, 4, 4, 4], must have [1, 2, 4, 4]");
  OneNode other_lengths = Group{{4, 4}, 1, 4}.node();
  other_lengths.inputs[5] = int32_of({3}, {4, 4, 4});
  check_refused(other_lengths, "its seqlens_k has the sizes [3]");
  OneNode with_positions = group.node();
  with_positions.inputs.resize(9);
  with_positions.inputs.push_back(whole_numbers({0, 1, 2}));
  check_refused(with_positions, "it has the input position_ids");
}

}  // namespace dmlop::test::onnx_rotary_test
