// Operators of com.microsoft that ONNX Runtime's optimizer makes of embeddings, normalizations and
// quantized products, compared with plain arithmetic.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_contrib_test {
namespace {

using namespace onnx_bytes;

OneNode contrib(const std::string& type, std::vector<Numbers> inputs,
                const std::vector<std::string>& attributes = {}, std::size_t outputs = 1) {
  OneNode node{type, std::move(inputs), attributes, outputs};
  node.domain = "com.microsoft";
  return node;
}

Numbers ids(const Sizes& sizes, std::uint64_t count) {
  std::uint64_t next = 1;
  return numbers_at(
      sizes, [&](const Sizes&) { return static_cast<double>((next = next * 5 + 3) % count); },
      DataType::Int32);
}

/// (x - mean) / deviation of all places with one key, times and plus factors of the place.
Numbers normalized(const Numbers& x, const std::function<std::uint64_t(const Sizes&)>& key,
                   const std::function<std::uint64_t(const Sizes&)>& channel, const Numbers& scale,
                   const Numbers& bias, double epsilon) {
  return numbers_at(x.sizes, [&](const Sizes& place) {
    double sum = 0, squares = 0, count = 0;
    for (const Sizes& other : places_of(x.sizes)) {
      if (key(other) != key(place)) continue;
      sum += at(x, other);
      squares += at(x, other) * at(x, other);
      ++count;
    }
    const double mean = sum / count, variance = squares / count - mean * mean;
    return (at(x, place) - mean) / std::sqrt(variance + epsilon) * scale.values[channel(place)] +
           bias.values[channel(place)];
  });
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double gelu(double x) {
  return x / 2 * (1 + std::erf(x / std::sqrt(2)));
}

}  // namespace

TEST_CASE("onnx contrib: embeddings of words, positions and segments are added and normalized") {
  constexpr std::uint64_t batch = 2, words = 3, size = 5;
  const Numbers word_ids = ids({batch, words}, 7), segment_ids = ids({batch, words}, 2);
  const Numbers table = some_numbers({7, size}, 1), places = some_numbers({6, size}, 2);
  const Numbers segments = some_numbers({2, size}, 3);
  const Numbers gamma = some_numbers({size}, 4), beta = some_numbers({size}, 5);
  const Numbers mask{{batch, words}, {1, 1, 0, 1, 0, 0}, DataType::Int32};
  const Numbers shared_places = ids({1, words}, 6), own_places = ids({batch, words}, 6);
  for (const bool has_segments : {false, true}) {
    for (const Numbers& position_ids : {Numbers{}, shared_places, own_places}) {
      CAPTURE(has_segments);
      CAPTURE(position_ids.sizes.size());
      const auto row = [&](const Numbers& from, const Numbers& of, const Sizes& place) {
        const Sizes index{of.sizes[0] == 1 ? 0 : place[0], place[1]};
        return at(from, {static_cast<std::uint64_t>(at(of, index)), place[2]});
      };
      const Numbers sum = numbers_at({batch, words, size}, [&](const Sizes& place) {
        const double position = position_ids.values.empty() ? at(places, {place[1], place[2]})
                                                            : row(places, position_ids, place);
        return row(table, word_ids, place) + position +
               (has_segments ? row(segments, segment_ids, place) : 0);
      });
      const Numbers expected = normalized(
          sum, [](const Sizes& place) { return place[0] * words + place[1]; },
          [](const Sizes& place) { return place[2]; }, gamma, beta, 1e-3);
      const Numbers none{};
      const OneNode node =
          contrib("EmbedLayerNormalization",
                  {word_ids, has_segments ? segment_ids : none, table, places,
                   has_segments ? segments : none, gamma, beta, mask, position_ids},
                  {real("epsilon", 1e-3F)}, 3);
      CHECK(difference(node, {expected, {{batch}, {2, 1}}, sum}) == "");
    }
  }
  const OneNode without_mask =
      contrib("EmbedLayerNormalization", {word_ids, {}, table, places, {}, gamma, beta}, {}, 2);
  const OnnxRun run = run_node(without_mask);
  REQUIRE(run.findings == "");
  CHECK(difference(run.outputs.at(1), {{batch}, {0, 0}}) == "");
  check_refused(contrib("EmbedLayerNormalization",
                        {word_ids, {}, table, some_numbers({2, size}), {}, gamma, beta}),
                "its position_embedding has the sizes [2, 5]");
  check_refused(
      contrib("EmbedLayerNormalization", {word_ids, segment_ids, table, places, {}, gamma, beta}),
      "it has segment_ids, but no segment_embedding");
  check_refused(contrib("EmbedLayerNormalization",
                        {word_ids, {}, table, some_numbers({6, 4}), {}, gamma, beta}),
                "its embeddings have the sizes [7, 5] and [6, 4]");
  check_refused(contrib("EmbedLayerNormalization",
                        {word_ids, ids({1, words}, 2), table, places, segments, gamma, beta}),
                "its segment_ids has the sizes [1, 3], must have [2, 3]");
}

TEST_CASE("onnx contrib: GroupNorm normalizes groups of channels, which stand last or second") {
  constexpr std::uint64_t channels = 6, groups = 3;
  const Numbers gamma = some_numbers({channels}, 1), beta = some_numbers({channels}, 2);
  for (const bool is_last : {true, false}) {
    for (const bool is_active : {false, true}) {
      CAPTURE(is_last);
      CAPTURE(is_active);
      const Numbers x = some_numbers(is_last ? Sizes{2, 4, 5, channels} : Sizes{2, channels, 4, 5});
      const auto channel = [&](const Sizes& place) { return place[is_last ? 3 : 1]; };
      Numbers expected = normalized(
          x,
          [&](const Sizes& place) {
            return place[0] * groups + channel(place) / (channels / groups);
          },
          channel, gamma, beta, 1e-3);
      if (is_active) {
        for (double& number : expected.values) number *= sigmoid(number);
      }
      std::vector<std::string> attributes{integer("groups", groups), real("epsilon", 1e-3F),
                                          integer("activation", is_active)};
      if (!is_last) attributes.push_back(integer("channels_last", 0));
      CHECK(difference(contrib("GroupNorm", {x, gamma, beta}, attributes), {expected}) == "");
    }
  }
  const Numbers x = some_numbers({2, 4, 5, channels});
  const auto refused = [&](const std::string& attribute, const char* words) {
    check_refused(contrib("GroupNorm", {x, gamma, beta}, {attribute}), words);
  };
  refused(integer("groups", 2), "activation");
  refused(integer("groups", 4), "its 6 channels have no 4 equal groups");
  refused(integer("groups", 0), "its groups is 0");
  check_refused(
      contrib("GroupNorm", {x, gamma, beta}, {integer("groups", 2), integer("activation", 2)}),
      "its activation is 2");
  check_refused(contrib("GroupNorm", {x, some_numbers({4}), beta},
                        {integer("groups", 2), integer("activation", 0)}),
                "its gamma has the sizes [4], must have [6]");
}

TEST_CASE(
    "onnx contrib: SkipGroupNorm normalizes the sum with a skip and a bias, and gives it on") {
  constexpr std::uint64_t channels = 6, groups = 2;
  const Numbers gamma = some_numbers({channels}, 1), beta = some_numbers({channels}, 2);
  const Numbers bias = some_numbers({channels}, 3);
  for (const bool is_last : {true, false}) {
    const Sizes sizes = is_last ? Sizes{2, 4, 5, channels} : Sizes{2, channels, 4, 5};
    const Sizes pixel = is_last ? Sizes{2, 1, 1, channels} : Sizes{2, channels, 1, 1};
    const Numbers x = some_numbers(sizes, 4);
    for (const Sizes& skip_sizes : {sizes, pixel, Sizes{2, channels}}) {
      for (const bool has_bias : {false, true}) {
        CAPTURE(is_last);
        CAPTURE(skip_sizes.size());
        CAPTURE(has_bias);
        const Numbers skip = some_numbers(skip_sizes, 5);
        const auto channel = [&](const Sizes& place) { return place[is_last ? 3 : 1]; };
        const Numbers sum = numbers_at(sizes, [&](const Sizes& place) {
          const double skipped = skip_sizes == sizes
                                     ? at(skip, place)
                                     : skip.values[place[0] * channels + channel(place)];
          return at(x, place) + skipped + (has_bias ? bias.values[channel(place)] : 0);
        });
        const Numbers expected = normalized(
            sum,
            [&](const Sizes& place) {
              return place[0] * groups + channel(place) / (channels / groups);
            },
            channel, gamma, beta, 1e-3);
        std::vector<Numbers> inputs{x, gamma, beta, skip};
        if (has_bias) inputs.push_back(bias);
        CHECK(difference(contrib("SkipGroupNorm", inputs,
                                 {integer("groups", groups), real("epsilon", 1e-3F),
                                  integer("activation", 0), integer("channels_last", is_last)},
                                 2),
                         {expected, sum}) == "");
      }
    }
  }
  const Numbers x = some_numbers({2, 4, 5, channels});
  const auto refused = [&](const Numbers& skip, const Numbers& other_bias, const char* words) {
    check_refused(contrib("SkipGroupNorm", {x, gamma, beta, skip, other_bias},
                          {integer("groups", groups), integer("activation", 0)}),
                  words);
  };
  refused(some_numbers({2, 4}), bias,
          "its skip has the sizes [2, 4]\n  rule: it is [2, 4, 5, 6], [2, 1, 1, 6] or [2, 6]");
  refused(x, some_numbers({5}), "its bias has the sizes [5], must have [6]");
}

TEST_CASE("onnx contrib: biases are added to channels, with another tensor or a gate") {
  const Sizes sizes{2, 3, 4};
  const Numbers x = some_numbers(sizes, 1), bias = some_numbers({4}, 2),
                skip = some_numbers(sizes, 3);
  CHECK(difference(contrib("BiasAdd", {x, bias, skip}), {numbers_at(sizes, [&](const Sizes& place) {
                     return at(x, place) + bias.values[place[2]] + at(skip, place);
                   })}) == "");
  CHECK(difference(contrib("BiasSplitGelu", {x, bias}),
                   {numbers_at({2, 3, 2}, [&](const Sizes& place) {
                     const auto biased = [&](std::uint64_t channel) {
                       return at(x, {place[0], place[1], channel}) + bias.values[channel];
                     };
                     return biased(place[2]) * gelu(biased(place[2] + 2));
                   })}) == "");
  check_refused(contrib("BiasAdd", {x, some_numbers({3}), skip}),
                "its bias has the sizes [3], must have [4]");
  check_refused(contrib("BiasAdd", {x, bias, some_numbers({2, 3, 5})}),
                "its skip has the sizes [2, 3, 5], must have [2, 3, 4]");
  check_refused(contrib("BiasSplitGelu", {some_numbers({2, 3, 5}), some_numbers({5})}),
                "its input has the sizes [2, 3, 5]");
  check_refused(contrib("BiasSplitGelu", {x, some_numbers({2})}),
                "its bias has the sizes [2], must have [4]");
}

namespace {

Numbers whole(const Sizes& sizes, DataType type, std::uint64_t seed) {
  Numbers numbers = some_numbers(sizes, seed);
  numbers.type = type;
  for (double& number : numbers.values)
    number = std::floor(number * 16) + (type == DataType::UInt8 ? 60 : 0);
  return numbers;
}

/// The one number of a tensor, or that of a row or column.
double one_of(const Numbers& line, std::uint64_t place, double other) {
  if (line.values.empty()) return other;
  return line.values.size() == 1 ? line.values[0] : line.values[place];
}

}  // namespace

TEST_CASE("onnx contrib: a product of quantized matrices is one of numbers") {
  constexpr std::uint64_t rows = 3, inner = 4, columns = 5;
  const Numbers bias = some_numbers({columns}, 5);
  for (const DataType type : {DataType::UInt8, DataType::Int8}) {
    for (const bool has_all : {false, true}) {
      CAPTURE(has_all);
      const Numbers a = whole({2, rows, inner}, DataType::UInt8, 1);
      const Numbers b = whole({inner, columns}, type, 2);
      const Numbers a_scale{{}, {0.5}};
      const Numbers b_scale =
          has_all ? Numbers{{columns}, {0.5, 1, 2, 0.25, 4}} : Numbers{{1}, {0.25}};
      Numbers a_zero, b_zero;
      if (has_all) {
        a_zero = {{}, {7}, DataType::UInt8};
        b_zero = {{columns}, {1, 2, 3, 4, 5}, type};
      }
      const Numbers expected = numbers_at({2, rows, columns}, [&](const Sizes& place) {
        double sum = 0;
        for (std::uint64_t i = 0; i < inner; ++i)
          sum += (at(a, {place[0], place[1], i}) - one_of(a_zero, place[1], 0)) *
                 (at(b, {i, place[2]}) - one_of(b_zero, place[2], 0));
        return sum * 0.5 * one_of(b_scale, place[2], 1) + (has_all ? bias.values[place[2]] : 0);
      });
      CHECK(difference(contrib("MatMulIntegerToFloat", {a, b, a_scale, b_scale, a_zero, b_zero,
                                                        has_all ? bias : Numbers{}}),
                       {expected}) == "");
    }
  }
  check_refused(contrib("MatMulIntegerToFloat", {whole({rows, inner}, DataType::UInt8, 1),
                                                 whole({inner, columns}, DataType::UInt8, 2),
                                                 {{}, {1}},
                                                 {{}, {1}},
                                                 {},
                                                 {},
                                                 some_numbers({rows})}),
                "its bias has the sizes [3], must have [5]");
}

TEST_CASE("onnx contrib: DynamicQuantizeMatMul quantizes its left matrix itself") {
  constexpr std::uint64_t inner = 4, columns = 5;
  for (const Sizes& sizes : {Sizes{3, inner}, Sizes{2, 3, inner}}) {
    for (const bool has_all : {false, true}) {
      CAPTURE(sizes.size());
      CAPTURE(has_all);
      const Numbers a = some_numbers(sizes, 1), b = whole({inner, columns}, DataType::UInt8, 2);
      const Numbers b_scale{{}, {0.25}}, bias = some_numbers({columns}, 5);
      const Numbers b_zero = has_all ? Numbers{{}, {60}, DataType::UInt8} : Numbers{};
      const auto [least, most] = std::minmax_element(a.values.begin(), a.values.end());
      const double scale = (std::max(*most, 0.0) - std::min(*least, 0.0)) / 255;
      const double zero = std::nearbyint(-std::min(*least, 0.0) / scale);
      Sizes to = sizes;
      to.back() = columns;
      const Numbers expected = numbers_at(to, [&](const Sizes& place) {
        double sum = 0;
        Sizes from = place;
        for (std::uint64_t i = 0; i < inner; ++i) {
          from.back() = i;
          const double quantized =
              std::clamp(std::nearbyint(at(a, from) / scale) + zero, 0.0, 255.0);
          sum += (quantized - zero) * (at(b, {i, place.back()}) - (has_all ? 60 : 0));
        }
        return sum * scale * 0.25 + (has_all ? bias.values[place.back()] : 0);
      });
      CHECK(difference(contrib("DynamicQuantizeMatMul",
                               {a, b, b_scale, b_zero, has_all ? bias : Numbers{}}),
                       {expected}) == "");
    }
  }
}

}  // namespace dmlop::test::onnx_contrib_test
