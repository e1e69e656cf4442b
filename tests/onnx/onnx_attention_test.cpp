// Attention operators of ONNX, compared with the definition: the weights of the values are the
// softmax of what a query has in common with each key.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_attention_test {
namespace {

using namespace onnx_bytes;

constexpr double filter = -10000;

/// The first `rows` rows of a cache {batch, heads, rows, size}, and other ones behind them.
Numbers behind(const Numbers& cache, std::uint64_t rows, const Numbers& more) {
  Sizes sizes = more.sizes;
  sizes[2] += rows;
  return numbers_at(sizes, [&](Sizes place) {
    if (place[2] < rows) return at(cache, place);
    place[2] -= rows;
    return at(more, place);
  });
}

/// What is added to the product of a query and a key, at {batch, head, query, key}.
using Added = std::function<double(const Sizes&)>;

/// The definition, of heads {batch, heads, rows, size}. Keys may have fewer heads than queries.
Numbers attention(const Numbers& query, const Numbers& key, const Numbers& value, double scale,
                  const Added& added) {
  const std::uint64_t group = query.sizes[1] / key.sizes[1];
  Sizes sizes = query.sizes;
  sizes[3] = value.sizes[3];
  return numbers_at(sizes, [&](const Sizes& place) {
    double sum = 0, weights = 0;
    for (std::uint64_t k = 0; k < key.sizes[2]; ++k) {
      double product = 0;
      for (std::uint64_t i = 0; i < key.sizes[3]; ++i)
        product += at(query, {place[0], place[1], place[2], i}) *
                   at(key, {place[0], place[1] / group, k, i});
      const double weight = std::exp(product * scale + added({place[0], place[1], place[2], k}));
      weights += weight;
      sum += weight * at(value, {place[0], place[1] / group, k, place[3]});
    }
    return sum / weights;
  });
}

double nothing(const Sizes&) {
  return 0;
}

Numbers integers_of(const Sizes& sizes, const std::vector<double>& values) {
  return {sizes, values, DataType::Int32};
}

constexpr std::uint64_t batch = 2, queries = 3, keys = 5, heads = 2, size = 4;
const double usual_scale = 1 / std::sqrt(double{size});

OneNode multihead(std::vector<Numbers> inputs, std::size_t outputs = 1) {
  OneNode node{"MultiHeadAttention", std::move(inputs), {integer("num_heads", heads)}, outputs};
  node.domain = "com.microsoft";
  return node;
}

struct Tensors {
  Numbers query = some_numbers({batch, queries, heads* size}, 1);
  Numbers key = some_numbers({batch, keys, heads* size}, 2);
  Numbers value = some_numbers({batch, keys, heads* size}, 3);

  Numbers attended(const Added& added) const {
    return heads_together(attention(heads_apart(query, heads), heads_apart(key, heads),
                                    heads_apart(value, heads), usual_scale, added));
  }
};

/// A random place counts or does not; the first one always does, so that no row is empty.
Numbers some_mask(const Sizes& sizes) {
  Numbers mask = some_numbers(sizes, 7);
  mask.type = DataType::Int32;
  for (std::size_t i = 0; i < mask.values.size(); ++i)
    mask.values[i] = mask.values[i] > 0 || i % sizes.back() == 0;
  return mask;
}

}  // namespace

TEST_CASE("onnx attention: a mask says which keys count, in each of its forms") {
  const Tensors given;
  const auto check = [&](const Numbers& mask, const Added& counts) {
    CAPTURE(mask.sizes.size());
    const Numbers expected =
        given.attended([&](const Sizes& place) { return counts(place) != 0 ? 0 : filter; });
    CHECK(difference(multihead({given.query, given.key, given.value, {}, mask}), {expected}) == "");
  };
  const Numbers of_keys = some_mask({batch, keys});
  check(of_keys, [&](const Sizes& place) { return at(of_keys, {place[0], place[3]}); });
  const Numbers of_queries = some_mask({batch, queries, keys});
  check(of_queries, [&](const Sizes& place) {
    return at(of_queries, {place[0], place[2], place[3]});
  });
  const Numbers of_heads = some_mask({batch, heads, queries, keys});
  check(of_heads, [&](const Sizes& place) { return at(of_heads, place); });
  const Numbers of_one_head = some_mask({1, 1, queries, keys});
  check(of_one_head, [&](const Sizes& place) {
    return at(of_one_head, {0, 0, place[2], place[3]});
  });
  const Numbers lengths = integers_of({batch}, {4, 2});
  check(lengths, [&](const Sizes& place) {
    return static_cast<double>(place[3]) < lengths.values[place[0]];
  });
  const Numbers ends_and_starts = integers_of({2 * batch}, {4, 5, 1, 2});
  check(ends_and_starts, [&](const Sizes& place) {
    const auto key = static_cast<double>(place[3]);
    return key < ends_and_starts.values[place[0]] && key >= ends_and_starts.values[2 + place[0]];
  });
}

TEST_CASE("onnx attention: a bias of attention is added for all heads, or for each") {
  const Tensors given;
  for (const Sizes& sizes : {Sizes{batch, heads, queries, keys}, Sizes{1, heads, queries, keys},
                             Sizes{batch, 1, queries, keys}, Sizes{1, 1, queries, keys}}) {
    CAPTURE(sizes[0]);
    CAPTURE(sizes[1]);
    const Numbers bias = some_numbers(sizes, 4);
    const Numbers expected = given.attended([&](const Sizes& place) {
      return at(bias, {place[0] % sizes[0], place[1] % sizes[1], place[2], place[3]});
    });
    CHECK(difference(multihead({given.query, given.key, given.value, {}, {}, bias}), {expected}) ==
          "");
  }
}

// As DirectML does, though ONNX scales the products only.
TEST_CASE("onnx attention: with a mask of keys the bias is scaled, too, but not with lengths") {
  const Tensors given;
  const Numbers bias = some_numbers({batch, heads, queries, keys}, 4);
  const Numbers of_keys = some_mask({batch, keys}), lengths = integers_of({batch}, {4, 2});
  const auto check = [&](const Numbers& mask, double factor, const Added& counts) {
    const Numbers expected = given.attended([&](const Sizes& place) {
      return factor * at(bias, place) + (counts(place) != 0 ? 0 : filter);
    });
    const OneNode node = multihead({given.query, given.key, given.value, {}, mask, bias});
    CHECK(difference(node, {expected}) == "");
    std::string warnings;
    for (const Diagnostic& warning : run_node(node).graph.warnings) warnings += to_text(warning);
    CAPTURE(warnings);
    const bool is_warned = warnings.find(
                               "(com.microsoft.MultiHeadAttention): its attention_bias is "
                               "multiplied by ") != std::string::npos;
    CHECK(is_warned == (factor != 1));
    const bool is_advised =
        warnings.find("help: give the mask as lengths, or add it to the attention_bias") !=
        std::string::npos;
    CHECK(is_advised == (factor != 1));
  };
  check(of_keys, usual_scale, [&](const Sizes& place) {
    return at(of_keys, {place[0], place[3]});
  });
  check(lengths, 1, [&](const Sizes& place) {
    return static_cast<double>(place[3]) < lengths.values[place[0]];
  });
}

TEST_CASE("onnx attention: keys and values may come together, with the queries, or from a node") {
  const Tensors given;
  const Numbers key = heads_apart(given.key, heads), value = heads_apart(given.value, heads);
  const Numbers expected = given.attended(nothing);
  const auto stacked = [](const Sizes& place, const std::vector<const Numbers*>& parts) {
    return at(*parts[place[3]], {place[0], place[2], place[1], place[4]});
  };
  const Numbers two = numbers_at({batch, keys, heads, 2, size}, [&](const Sizes& place) {
    return stacked(place, {&key, &value});
  });
  CHECK(difference(multihead({given.query, two}), {expected}) == "");
  CHECK(difference(multihead({given.query, key, value}), {expected}) == "");

  const Numbers query = heads_apart(some_numbers({batch, keys, heads * size}, 5), heads);
  const Numbers three = numbers_at({batch, keys, heads, 3, size}, [&](const Sizes& place) {
    return stacked(place, {&query, &key, &value});
  });
  CHECK(difference(multihead({three}),
                   {heads_together(attention(query, key, value, usual_scale, nothing))}) == "");
}

TEST_CASE("onnx attention: earlier keys stand before the new ones and are given on") {
  const Tensors given;
  for (const std::uint64_t past : {0U, 3U}) {
    CAPTURE(past);
    const Numbers past_key = some_numbers({batch, heads, past, size}, 5);
    const Numbers past_value = some_numbers({batch, heads, past, size}, 6);
    const Numbers key = behind(past_key, past, heads_apart(given.key, heads));
    const Numbers value = behind(past_value, past, heads_apart(given.value, heads));
    const Numbers expected = heads_together(
        attention(heads_apart(given.query, heads), key, value, usual_scale, nothing));
    CHECK(difference(
              multihead({given.query, given.key, given.value, {}, {}, {}, past_key, past_value}, 3),
              {expected, key, value}) == "");
  }
}

TEST_CASE("onnx attention: what does not fit is refused with its sizes") {
  const Tensors given;
  const auto& [query, key, value] = given;
  check_refused(multihead({query, key, value, {}, some_mask({batch, keys + 1})}),
                "its mask has the sizes [2, 6]");
  check_refused(multihead({query, key, value, {}, integers_of({3}, {1, 1, 1})}),
                "its mask has the sizes [3]");
  check_refused(multihead({query, key, value, {}, {}, some_numbers({batch, heads, keys, keys})}),
                "its attention_bias has the sizes [2, 2, 5, 5]");
  check_refused(multihead({query, key, some_numbers({batch, queries, heads * size})}),
                "its value has the sizes [2, 3, 8], must have [2, 5, 8]");
  check_refused(multihead({query, some_numbers({1, keys, heads * size}), value}),
                "its key has the sizes [1, 5, 8], must have [2, 5, 8]");
  check_refused(
      multihead({query, key, value, {}, {}, {}, some_numbers({batch, heads, 3, size}), {}}),
      "its past_value is missing, but it has a past_key");
  check_refused(multihead({query,
                           key,
                           value,
                           {},
                           {},
                           {},
                           some_numbers({batch, heads, 3, 3}),
                           some_numbers({batch, heads, 3, 3})}),
                "its past_key has the sizes [2, 2, 3, 3], must have [2, 2, 3, 4]");
  OneNode odd = multihead({query, key, value});
  odd.attributes = {integer("num_heads", 3)};
  check_refused(odd, "its query has 8 for its last dimension, which does not fit its 3 heads");
  odd.attributes = {integer("num_heads", 0)};
  check_refused(odd, "its num_heads is 0");
  check_refused(
      multihead({query, key, value, {}, {}, {}, {}, some_numbers({batch, heads, 3, size})}),
      "its past_key is missing, but it has a past_value");
  check_refused(multihead({query,
                           key,
                           value,
                           {},
                           {},
                           {},
                           some_numbers({batch, heads, 3, size}),
                           some_numbers({batch, heads, 2, size})}),
                "its past_value has the sizes [2, 2, 2, 4], must have [2, 2, 3, 4]");
  check_refused(multihead({query,
                           key,
                           value,
                           {},
                           {},
                           {},
                           some_numbers({batch, heads, 0, size}),
                           some_numbers({batch, heads, 2, size})}),
                "its past_value has the sizes [2, 2, 2, 4], must have [2, 2, 0, 4]");
  check_refused(multihead({query, key, value, {}, {}, some_numbers({3, heads, queries, keys})}),
                "its attention_bias has the sizes [3, 2, 3, 5]");
  check_refused(multihead({query, key, value, {}, some_numbers({batch, keys})}),
                "its mask is FLOAT32");
  const Numbers apart = some_numbers({batch, heads, keys, size});
  const Numbers past = some_numbers({batch, heads, 2, size});
  check_refused(multihead({query, apart, value}),
                "its key and value have the sizes [2, 2, 5, 4] and [2, 5, 8]");
  check_refused(multihead({query, apart, apart, {}, {}, {}, past, past}),
                "it has a past and keys {batch, heads, rows, size}");
  check_refused(multihead({query, some_numbers({batch, keys, heads, 2, size}), value}),
                "its key has values in it, but it has others, too");
  check_refused(multihead({query, key, value}, 4), "its output qk is used");
  OneNode shared = multihead({query, key, value});
  shared.inputs.resize(8);
  shared.inputs.push_back(integers_of({1}, {0}));
  check_refused(shared, "it has the input past_sequence_length");
  OneNode causal = multihead({query, key, value});
  causal.attributes.push_back(integer("unidirectional", 1));
  check_refused(causal, "it is unidirectional");
}

TEST_CASE("onnx attention: Attention projects its input to queries, keys and values") {
  constexpr std::uint64_t width = 6;
  for (const std::uint64_t value_size : {size, std::uint64_t{3}}) {
    const std::uint64_t hidden = heads * size, columns = 2 * hidden + heads * value_size;
    const Numbers input = some_numbers({batch, keys, width}, 1);
    Numbers weights = some_numbers({width, columns}, 2);
    for (double& weight : weights.values) weight /= 4;
    const Numbers bias = some_numbers({columns}, 3);
    for (const bool has_bias : {false, true}) {
      CAPTURE(value_size);
      CAPTURE(has_bias);
      const auto projected = [&](std::uint64_t first, std::uint64_t count) {
        return heads_apart(
            numbers_at(
                {batch, keys, count},
                [&](const Sizes& place) {
                  double sum = has_bias ? bias.values[first + place[2]] : 0;
                  for (std::uint64_t i = 0; i < width; ++i)
                    sum += at(input, {place[0], place[1], i}) * at(weights, {i, first + place[2]});
                  return sum;
                }),
            heads);
      };
      const Numbers mask = some_mask({batch, keys});
      // A mask for more places than there are: the first ones count.
      const Numbers large = some_mask({1, 1, keys + 2, keys + 2});
      const auto check = [&](const Numbers& given, const Added& counts) {
        const Numbers expected = heads_together(
            attention(projected(0, hidden), projected(hidden, hidden),
                      projected(2 * hidden, heads * value_size), usual_scale,
                      [&](const Sizes& place) { return counts(place) != 0 ? 0 : filter; }));
        OneNode node{"Attention", {input, weights, has_bias ? bias : Numbers{}, given}};
        node.attributes = {integer("num_heads", heads)};
        const auto written = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
        if (value_size != size)
          node.attributes.push_back(integers(
              "qkv_hidden_sizes", {written(hidden), written(hidden), written(heads * value_size)}));
        node.domain = "com.microsoft";
        CHECK(difference(node, {expected}) == "");
      };
      check(mask, [&](const Sizes& place) { return at(mask, {place[0], place[3]}); });
      check(large, [&](const Sizes& place) { return at(large, {0, 0, place[2], place[3]}); });
      check({}, [](const Sizes&) { return 1; });
    }
  }
}

TEST_CASE("onnx attention: QAttention projects quantized numbers") {
  constexpr std::uint64_t width = 6, hidden = heads * size;
  constexpr double input_scale = 0.0625, weight_scale = 0.03125, input_zero = 120, weight_zero = 9;
  const auto quantized = [](const Sizes& sizes, std::uint64_t seed) {
    Numbers numbers = some_numbers(sizes, seed);
    for (double& number : numbers.values) number = std::round((number + 3.125) * 40);
    numbers.type = DataType::UInt8;
    return numbers;
  };
  const Numbers input = quantized({batch, keys, width}, 1);
  const Numbers weights = quantized({width, 3 * hidden}, 2), bias = some_numbers({3 * hidden}, 3);
  const Numbers mask = some_mask({batch, keys});
  for (const bool has_all : {false, true}) {
    CAPTURE(has_all);
    const auto projected = [&](std::uint64_t first) {
      return heads_apart(
          numbers_at({batch, keys, hidden},
                     [&](const Sizes& place) {
                       double sum = 0;
                       for (std::uint64_t i = 0; i < width; ++i)
                         sum += (at(input, {place[0], place[1], i}) - (has_all ? input_zero : 0)) *
                                (at(weights, {i, first + place[2]}) - (has_all ? weight_zero : 0));
                       return sum * input_scale * weight_scale / 16 + bias.values[first + place[2]];
                     }),
          heads);
    };
    const Numbers expected = heads_together(
        attention(projected(0), projected(hidden), projected(2 * hidden),
                  has_all ? 0.25 : usual_scale, [&](const Sizes& place) {
                    return has_all && at(mask, {place[0], place[3]}) == 0 ? filter : 0;
                  }));
    OneNode node{"QAttention",
                 {input, weights, bias, {{}, {input_scale}}, {{}, {weight_scale / 16}}}};
    node.attributes = {integer("num_heads", heads)};
    node.domain = "com.microsoft";
    if (has_all) {
      node.inputs.push_back(mask);
      node.inputs.push_back({{}, {input_zero}, DataType::UInt8});
      node.inputs.push_back({{}, {weight_zero}, DataType::UInt8});
      node.attributes.push_back(real("scale", 0.25F));
    }
    CHECK(difference(node, {expected}) == "");
    OneNode wrong = node;
    wrong.inputs[1] = quantized({width, 3 * hidden + 1}, 2);
    check_refused(wrong, "its input and weight have the sizes");
    wrong = node;
    wrong.inputs[0].type = DataType::Int32;
    check_refused(wrong,
                  "its input 0 \"input0\" is INT32\n  rule: input and weight are UINT8 or INT8");
    wrong = node;
    wrong.inputs[3] = {{2}, {1, 1}};
    check_refused(wrong, "its input 3 \"input3\" has the sizes [2]");
    node.attributes.push_back(integer("unidirectional", 1));
    check_refused(node, "it has unidirectional");
  }
}

TEST_CASE("onnx attention: Attention refuses weights and attributes that it cannot follow") {
  const auto node_of = [](Numbers weights, const std::vector<std::string>& attributes) {
    OneNode node{"Attention", {some_numbers({batch, keys, 6}), std::move(weights)}, attributes};
    node.domain = "com.microsoft";
    return node;
  };
  const std::string two = integer("num_heads", 2);
  check_refused(node_of(some_numbers({6, 25}), {two}), "its weights have 25 columns");
  check_refused(node_of(some_numbers({6, 24}), {two, integers("qkv_hidden_sizes", {8, 8, 6})}),
                "its weights have 24 columns");
  check_refused(node_of(some_numbers({6, 24}), {two, integers("qkv_hidden_sizes", {8, 6, 10})}),
                "its weights have 24 columns");
  check_refused(node_of(some_numbers({7, 24}), {two}), "its input and weights have the sizes");
  check_refused(node_of(some_numbers({6, 24}), {two, integer("unidirectional", 1)}),
                "it has unidirectional");
  CHECK(run_node(node_of(some_numbers({6, 24}), {two})).findings == "");
}

TEST_CASE("onnx attention: ONNX's own has heads side by side or apart, and may share keys") {
  constexpr std::uint64_t key_heads = 2, query_heads = 4, value_size = 3;
  const Numbers query = some_numbers({batch, query_heads, queries, size}, 1);
  const Numbers key = some_numbers({batch, key_heads, keys, size}, 2);
  const Numbers value = some_numbers({batch, key_heads, keys, value_size}, 3);
  const Numbers past_key = some_numbers({batch, key_heads, 2, size}, 4);
  const Numbers past_value = some_numbers({batch, key_heads, 2, value_size}, 5);
  const std::vector<std::string> counts{integer("q_num_heads", query_heads),
                                        integer("kv_num_heads", key_heads)};
  const Numbers expected = attention(query, key, value, usual_scale, nothing);
  CHECK(difference({"Attention", {query, key, value}, {}, 1, 23}, {expected}) == "");
  CHECK(difference({"Attention",
                    {heads_together(query), heads_together(key), heads_together(value)},
                    counts,
                    1,
                    23},
                   {heads_together(expected)}) == "");
  const Numbers all_keys = behind(past_key, 2, key), all_values = behind(past_value, 2, value);
  CHECK(difference({"Attention", {query, key, value, {}, past_key, past_value}, {}, 3, 23},
                   {attention(query, all_keys, all_values, usual_scale, nothing), all_keys,
                    all_values}) == "");
  CHECK(difference({"Attention", {query, key, value}, {real("scale", 0.25F)}, 1, 23},
                   {attention(query, key, value, 0.25, nothing)}) == "");
  check_refused({"Attention",
                 {query, key, value, {}, past_key, past_value},
                 {integer("is_causal", 1)},
                 1,
                 23},
                "it is causal and has earlier keys");
  check_refused({"Attention", {query, key, value}, {real("softcap", 1)}, 1, 23},
                "it has a softcap");
  for (const char* side : {"left_window_size", "right_window_size"}) {
    CHECK(run_node({"Attention", {query, key, value}, {integer(side, -1)}, 1, 25}).findings == "");
    check_refused({"Attention", {query, key, value}, {integer(side, 0)}, 1, 25},
                  "its queries see a window of the keys only (" + std::string(side) + ")");
  }
  check_refused({"Attention", {query, key, value}, {}, 4, 23},
                "its output qk_matmul_output is used");
  check_refused({"Attention", {query, some_numbers({batch, key_heads, keys, 3}), value}, {}, 1, 23},
                "its key has the sizes [2, 5, 6], must have [2, 5, 8]");
  check_refused({"Attention", {query, key, value, some_numbers({queries, 4})}, {}, 1, 23},
                "its attn_mask has the sizes [3, 4]");
  const Numbers five = some_numbers({1, batch, 1, queries, keys});
  check_refused({"Attention", {query, key, value, five}, {}, 1, 23},
                "its attn_mask has the sizes [1, 2, 1, 3, 5]");
  check_refused({"Attention", {heads_together(query), key, value}, counts, 1, 23},
                "its query, key and value have 3, 4 and 4 dimensions");
  check_refused(
      {"Attention", {heads_together(query), heads_together(key), heads_together(value)}, {}, 1, 23},
      "q_num_heads");
  check_refused(
      {"Attention", {query, key, value}, {}, 1, 22},
      "version 22 of ONNX's operators does not have it\n  rule: it is there from version 23 on");
}

TEST_CASE("onnx attention: ONNX's own adds a mask, or minus infinity where a key does not count") {
  const Numbers query = some_numbers({batch, heads, queries, size}, 1);
  const Numbers key = some_numbers({batch, heads, keys, size}, 2);
  const Numbers value = some_numbers({batch, heads, keys, size}, 3);
  const double never = -std::numeric_limits<double>::infinity();
  for (const bool is_causal : {false, true}) {
    const auto check = [&](const Numbers& mask, bool is_boolean, const Added& added) {
      CAPTURE(is_causal);
      CAPTURE(mask.sizes.size());
      const Numbers expected = attention(query, key, value, usual_scale, [&](const Sizes& place) {
        return is_causal && place[3] > place[2] ? never : added(place);
      });
      const auto written = [](const Numbers& tensor) {
        std::vector<std::string> sizes;
        for (const std::uint64_t one : tensor.sizes) sizes.push_back(std::to_string(one));
        return sizes;
      };
      std::map<std::string, Numbers> given{{"q", query}, {"k", key}, {"v", value}};
      Parts parts{
          .inputs = {onnx_bytes::value("q", written(query)), onnx_bytes::value("k", written(key)),
                     onnx_bytes::value("v", written(value))},
          .outputs = {onnx_bytes::value("y", {})},
          .version = 23};
      std::vector<std::string> names{"q", "k", "v"};
      if (!mask.values.empty()) {
        constexpr std::int64_t boolean = 9;
        names.emplace_back("mask");
        parts.inputs.push_back(is_boolean ? onnx_bytes::value("mask", written(mask), boolean)
                                          : onnx_bytes::value("mask", written(mask)));
        given.emplace("mask", mask);
      }
      parts.nodes = {node("Attention", names, {"y"}, {integer("is_causal", is_causal)})};
      const OnnxRun run = run_onnx(model(parts), given);
      REQUIRE(run.findings == "");
      CHECK(difference(run.outputs.at(0), expected) == "");
    };
    check({}, false, nothing);
    const Numbers added = some_numbers({queries, keys}, 4);
    check(added, false, [&](const Sizes& place) { return at(added, {place[2], place[3]}); });
    const Numbers of_heads = some_numbers({batch, 1, queries, keys}, 5);
    check(of_heads, false, [&](const Sizes& place) {
      return at(of_heads, {place[0], 0, place[2], place[3]});
    });
    Numbers counts = some_mask({queries, keys});
    counts.type = DataType::UInt8;
    check(counts, true, [&](const Sizes& place) {
      return at(counts, {place[2], place[3]}) != 0 ? 0 : never;
    });
  }
}

}  // namespace dmlop::test::onnx_attention_test
