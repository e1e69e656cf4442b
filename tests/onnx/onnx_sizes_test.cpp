// ONNX's nodes with several inputs, none of whose sizes are alike: a size that is read from the
// wrong input, or from the wrong dimension, is then another number. Compared with plain arithmetic.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"
#include "reference/recurrent.hpp"

namespace dmlop::test::onnx_sizes_test {
namespace {

using namespace onnx_bytes;

using Line = std::vector<double>;
using Counts = std::vector<std::uint64_t>;

/// Whole numbers of an integer type.
Numbers whole(const Sizes& sizes, DataType type, std::int64_t low, std::int64_t high,
              std::uint64_t seed = 0) {
  Numbers numbers = some_numbers(sizes, seed);
  numbers.type = type;
  for (double& value : numbers.values) {
    const auto number = static_cast<std::int64_t>(value * 16 + 50);  // 0 to 100
    value = static_cast<double>(low + number % (high - low + 1));
  }
  return numbers;
}

}  // namespace

TEST_CASE("onnx sizes: attention of queries, keys and values that are not alike") {
  const std::uint64_t batch = 2, queries = 3, keys = 5, heads = 2, size = 4;
  for (const std::uint64_t value_size : {3U, 7U}) {
    const std::uint64_t hidden = heads * size, value_hidden = heads * value_size;
    const Numbers query = some_numbers({batch, queries, hidden}, 1);
    const Numbers key = some_numbers({batch, keys, hidden}, 2);
    const Numbers value = some_numbers({batch, keys, value_hidden}, 3);
    const Numbers bias = some_numbers({2 * hidden + value_hidden}, 4);
    for (const bool has_bias : {false, true}) {
      for (const float scale : {0.0F, 0.25F}) {
        CAPTURE(value_size);
        CAPTURE(has_bias);
        CAPTURE(scale);
        const auto biased = [&](const Numbers& tensor, const Sizes& place, std::uint64_t first) {
          return at(tensor, place) + (has_bias ? bias.values[first + place[2]] : 0);
        };
        const double factor = scale != 0 ? double{scale} : 1 / std::sqrt(size);
        const Numbers expected =
            numbers_at({batch, queries, value_hidden}, [&](const Sizes& place) {
              const std::uint64_t head = place[2] / value_size;
              double sum = 0, weights = 0;
              for (std::uint64_t k = 0; k < keys; ++k) {
                double product = 0;
                for (std::uint64_t i = head * size; i < (head + 1) * size; ++i)
                  product += biased(query, {place[0], place[1], i}, 0) *
                             biased(key, {place[0], k, i}, hidden);
                const double weight = std::exp(product * factor);
                weights += weight;
                sum += weight * biased(value, {place[0], k, place[2]}, 2 * hidden);
              }
              return sum / weights;
            });
        OneNode node{"MultiHeadAttention", {query, key, value}, {integer("num_heads", heads)}};
        node.domain = "com.microsoft";
        if (has_bias) node.inputs.push_back(bias);
        if (scale != 0) node.attributes.push_back(real("scale", scale));
        CHECK(difference(node, {expected}) == "");
      }
    }
  }
}

TEST_CASE("onnx sizes: Gemm, with either matrix turned and a C of every form") {
  const std::uint64_t m = 2, k = 3, n = 5;
  for (int turns = 0; turns < 4; ++turns) {
    const bool turns_a = (turns & 1) != 0, turns_b = (turns & 2) != 0;
    const Numbers a = some_numbers(turns_a ? Sizes{k, m} : Sizes{m, k}, 1);
    const Numbers b = some_numbers(turns_b ? Sizes{n, k} : Sizes{k, n}, 2);
    for (const Sizes& sizes : std::vector<Sizes>{{}, {1}, {n}, {1, n}, {m, 1}, {m, n}}) {
      CAPTURE(turns);
      CAPTURE(sizes.size());
      const Numbers c = some_numbers(sizes, 3);
      const Numbers expected = numbers_at({m, n}, [&](const Sizes& place) {
        double sum = 0;
        for (std::uint64_t i = 0; i < k; ++i)
          sum += at(a, turns_a ? Sizes{i, place[0]} : Sizes{place[0], i}) *
                 at(b, turns_b ? Sizes{place[1], i} : Sizes{i, place[1]});
        Sizes from;
        for (std::size_t i = 0; i < sizes.size(); ++i)
          from.push_back(sizes[i] == 1 ? 0 : place[2 - sizes.size() + i]);
        return 0.5 * sum + 2 * at(c, from);
      });
      CHECK(difference({"Gemm",
                        {a, b, c},
                        {integer("transA", turns_a), integer("transB", turns_b),
                         real("alpha", 0.5F), real("beta", 2)}},
                       {expected}) == "");
    }
  }
}

TEST_CASE("onnx sizes: MatMul of batches and of vectors") {
  struct Row {
    Sizes a, b, output;
  };
  const std::vector<Row> rows{
      {{3}, {3}, {}},
      {{3}, {3, 5}, {5}},
      {{2, 3}, {3}, {2}},
      {{2, 3}, {3, 5}, {2, 5}},
      {{4, 2, 3}, {3}, {4, 2}},
      {{3}, {4, 3, 5}, {4, 5}},
      {{2, 3}, {4, 3, 5}, {4, 2, 5}},
      {{4, 2, 3}, {3, 5}, {4, 2, 5}},
      {{4, 1, 2, 3}, {6, 3, 5}, {4, 6, 2, 5}},
      {{6, 2, 3}, {4, 1, 3, 5}, {4, 6, 2, 5}},
      // DirectML has 4 dimensions.
      {{2, 3, 4, 2, 3}, {2, 3, 4, 3, 5}, {2, 3, 4, 2, 5}},
      {{2, 3, 4, 2, 3}, {3, 5}, {2, 3, 4, 2, 5}},
      {{2, 3, 4, 2, 3}, {3}, {2, 3, 4, 2}},
      {{2, 3, 4, 2, 3}, {4, 3, 5}, {2, 3, 4, 2, 5}},
      {{2, 3, 4, 2, 3}, {2, 1, 4, 3, 5}, {2, 3, 4, 2, 5}},
      {{2, 1, 4, 2, 3}, {1, 3, 1, 3, 5}, {2, 3, 4, 2, 5}},
      {{2, 1, 3, 1, 2, 3}, {4, 1, 5, 3, 2}, {2, 4, 3, 5, 2, 2}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.a.size());
    CAPTURE(row.b.size());
    const Numbers a = some_numbers(row.a, 1), b = some_numbers(row.b, 2);
    const std::size_t vectors = (row.a.size() == 1 ? 1U : 0U) + (row.b.size() == 1 ? 1U : 0U);
    // The place in the batch counts from behind, where the matrices' dimensions are left out.
    const auto number = [&](const Numbers& matrix, const Sizes& place, const Sizes& inner) {
      const Sizes batch(place.begin(), place.end() - static_cast<std::ptrdiff_t>(2 - vectors));
      Sizes from;
      const std::size_t count = matrix.sizes.size() - inner.size();
      for (std::size_t i = 0; i < count; ++i)
        from.push_back(matrix.sizes[i] == 1 ? 0 : batch[batch.size() - count + i]);
      from.insert(from.end(), inner.begin(), inner.end());
      return at(matrix, from);
    };
    const Numbers expected = numbers_at(row.output, [&](const Sizes& place) {
      const bool is_row = row.a.size() == 1, is_column = row.b.size() == 1;
      double sum = 0;
      for (std::uint64_t i = 0; i < 3; ++i) {
        const Sizes in_a = is_row ? Sizes{i} : Sizes{place[place.size() - (is_column ? 1 : 2)], i};
        const Sizes in_b = is_column ? Sizes{i} : Sizes{i, place.back()};
        sum += number(a, place, in_a) * number(b, place, in_b);
      }
      return sum;
    });
    CHECK(difference({"MatMul", {a, b}}, {expected}) == "");
  }
}

TEST_CASE("onnx sizes: integer products have a zero point for each row and each column") {
  const std::uint64_t m = 2, k = 3, n = 5;
  const Numbers a = whole({m, k}, DataType::UInt8, 0, 90),
                b = whole({k, n}, DataType::Int8, -40, 40);
  const Numbers zeros_a = whole({m}, DataType::UInt8, 3, 60, 1);
  const Numbers zeros_b = whole({n}, DataType::Int8, -9, 9, 2);
  const auto product = [&](const Sizes& place) {
    double sum = 0;
    for (std::uint64_t i = 0; i < k; ++i)
      sum += (at(a, {place[0], i}) - zeros_a.values[place[0]]) *
             (at(b, {i, place[1]}) - zeros_b.values[place[1]]);
    return sum;
  };
  CHECK(difference({"MatMulInteger", {a, b, zeros_a, zeros_b}}, {numbers_at({m, n}, product)}) ==
        "");
  // DirectML has 4 dimensions.
  Numbers many{{2, 2, 2, m, k}, {}, DataType::UInt8};
  for (int i = 0; i < 8; ++i)
    many.values.insert(many.values.end(), a.values.begin(), a.values.end());
  const Numbers products = numbers_at({2, 2, 2, m, n}, [&](const Sizes& place) {
    return product({place[3], place[4]});
  });
  CHECK(difference({"MatMulInteger", {many, b, zeros_a, zeros_b}}, {products}) == "");
  const Numbers scales_a{{m}, {0.5, 0.25}}, scales_b{{n}, {0.125, 0.5, 1, 2, 0.25}};
  const Numbers scale{{}, {16}}, zero{{}, {7}, DataType::Int8};
  const Numbers expected = numbers_at({m, n}, [&](const Sizes& place) {
    const double number =
        product(place) * scales_a.values[place[0]] * scales_b.values[place[1]] / 16;
    return std::clamp(std::nearbyint(number) + 7, -128.0, 127.0);
  });
  CHECK(difference({"QLinearMatMul", {a, scales_a, zeros_a, b, scales_b, zeros_b, scale, zero}},
                   {expected}) == "");
}

namespace {

/// Numbers of one convolution, for each dimension behind the channels.
struct Shape {
  Sizes input, filter;  // without batch and channels
  Counts strides, dilations, start, end;

  std::vector<std::string> attributes(std::uint64_t groups) const {
    const auto list = [](const Counts& counts) {
      return std::vector<std::int64_t>(counts.begin(), counts.end());
    };
    std::vector<std::int64_t> pads = list(start);
    pads.insert(pads.end(), end.begin(), end.end());
    return {integer("group", static_cast<std::int64_t>(groups)), integers("pads", pads),
            integers("strides", list(strides)), integers("dilations", list(dilations))};
  }
};

const std::vector<Shape> shapes{
    {{7}, {3}, {2}, {1}, {1}, {2}},
    {{7, 5}, {3, 2}, {2, 1}, {1, 3}, {1, 0}, {2, 1}},
    {{5, 4, 6}, {3, 2, 1}, {1, 2, 3}, {2, 1, 1}, {1, 0, 0}, {0, 1, 2}},
};

Sizes joined(Sizes front, const Sizes& behind) {
  front.insert(front.end(), behind.begin(), behind.end());
  return front;
}

/// What a convolution of 2 batches of 6 channels with a filter for 4 sums up, in 2 groups.
double convolved(const Shape& shape, const Sizes& place,
                 const std::function<double(const Sizes&)>& input,
                 const std::function<double(const Sizes&)>& filter) {
  double sum = 0;
  for (std::uint64_t channel = 0; channel < 3; ++channel) {
    for (const Sizes& tap : places_of(shape.filter)) {
      Sizes from{place[0], place[1] / 2 * 3 + channel}, weight{place[1], channel};
      bool is_inside = true;
      for (std::size_t i = 0; i < tap.size(); ++i) {
        const std::uint64_t at = place[i + 2] * shape.strides[i] + tap[i] * shape.dilations[i];
        is_inside = is_inside && at >= shape.start[i] && at - shape.start[i] < shape.input[i];
        from.push_back(at - shape.start[i]);
      }
      if (is_inside) sum += input(from) * filter(joined(weight, tap));
    }
  }
  return sum;
}

Sizes convolved_sizes(const Shape& shape) {
  Sizes sizes{2, 4};
  for (std::size_t i = 0; i < shape.input.size(); ++i)
    sizes.push_back((shape.input[i] + shape.start[i] + shape.end[i] -
                     (shape.filter[i] - 1) * shape.dilations[i] - 1) /
                        shape.strides[i] +
                    1);
  return sizes;
}

}  // namespace

TEST_CASE("onnx sizes: convolutions in groups, over 1 to 3 dimensions") {
  for (const Shape& shape : shapes) {
    CAPTURE(shape.input.size());
    const Numbers x = some_numbers(joined({2, 6}, shape.input), 1);
    const Numbers filter = some_numbers(joined({4, 3}, shape.filter), 2);
    const Numbers bias = some_numbers({4}, 3);
    for (const bool has_bias : {false, true}) {
      const Numbers expected = numbers_at(convolved_sizes(shape), [&](const Sizes& place) {
        return convolved(
                   shape, place, [&](const Sizes& from) { return at(x, from); },
                   [&](const Sizes& from) { return at(filter, from); }) +
               (has_bias ? bias.values[place[1]] : 0);
      });
      OneNode node{"Conv", {x, filter}, shape.attributes(2)};
      if (has_bias) node.inputs.push_back(bias);
      CHECK(difference(node, {expected}) == "");
    }
  }
}

// DirectML has them over 1 and 2 dimensions.
TEST_CASE("onnx sizes: quantized convolutions have a scale for each output channel") {
  for (const Shape& shape : {shapes[0], shapes[1]}) {
    CAPTURE(shape.input.size());
    const Numbers x = whole(joined({2, 6}, shape.input), DataType::UInt8, 0, 90, 1);
    const Numbers filter = whole(joined({4, 3}, shape.filter), DataType::UInt8, 0, 90, 2);
    const Numbers zero{{}, {30}, DataType::UInt8}, zeros{{4}, {3, 40, 17, 60}, DataType::UInt8};
    const auto product = [&](const Sizes& place) {
      return convolved(
          shape, place, [&](const Sizes& from) { return at(x, from) - 30; },
          [&](const Sizes& from) { return at(filter, from) - zeros.values[from[0]]; });
    };
    const Sizes sizes = convolved_sizes(shape);
    CHECK(difference({"ConvInteger", {x, filter, zero, zeros}, shape.attributes(2)},
                     {numbers_at(sizes, product)}) == "");
    const Numbers scale{{}, {0.5}}, scales{{4}, {0.25, 0.5, 1, 2}}, output_scale{{}, {64}};
    const Numbers output_zero{{}, {101}, DataType::UInt8};
    const Numbers bias{{4}, {100, -300, 500, 70}, DataType::Int32};
    const Numbers expected = numbers_at(sizes, [&](const Sizes& place) {
      const std::uint64_t channel = place[1];
      const double number =
          (product(place) + bias.values[channel]) * 0.5 * scales.values[channel] / 64;
      return std::clamp(std::nearbyint(number) + 101, 0.0, 255.0);
    });
    CHECK(difference({"QLinearConv",
                      {x, scale, zero, filter, scales, zeros, output_scale, output_zero, bias},
                      shape.attributes(2)},
                     {expected}) == "");
  }
}

// Each element of the input is added to a window of the output: 6 channels become 10.
TEST_CASE("onnx sizes: integer convolutions over 3 dimensions are refused with a remedy") {
  const Numbers x = whole({1, 1, 2, 2, 2}, DataType::UInt8, 0, 90);
  const Numbers scale{{}, {1}}, zero{{}, {0}, DataType::UInt8};
  for (const OneNode& node :
       {OneNode{"ConvInteger", {x, x}},
        OneNode{"QLinearConv", {x, scale, zero, x, scale, zero, scale, zero}}}) {
    const std::string findings = run_node(node).findings;
    CHECK_MESSAGE(
        findings.find("Conv between DequantizeLinear and QuantizeLinear") != std::string::npos,
        findings);
  }
}

TEST_CASE("onnx sizes: transposed convolutions in groups, over 1 to 3 dimensions") {
  for (const Shape& shape : shapes) {
    CAPTURE(shape.input.size());
    const Numbers x = some_numbers(joined({2, 6}, shape.input), 1);
    const Numbers filter = some_numbers(joined({6, 5}, shape.filter), 2);
    const Numbers bias = some_numbers({10}, 3);
    std::vector<std::int64_t> more;
    Sizes sizes{2, 10};
    for (std::size_t i = 0; i < shape.input.size(); ++i) {
      more.push_back(static_cast<std::int64_t>(shape.strides[i]) - 1);
      sizes.push_back((shape.input[i] - 1) * shape.strides[i] + shape.strides[i] - 1 +
                      (shape.filter[i] - 1) * shape.dilations[i] + 1 - shape.start[i] -
                      shape.end[i]);
    }
    Numbers expected = numbers_at(sizes, [&](const Sizes& place) { return bias.values[place[1]]; });
    for (const Sizes& place : places_of(x.sizes)) {
      for (const Sizes& tap : places_of(joined({5}, shape.filter))) {
        std::size_t index = place[0] * 10 + place[1] / 3 * 5 + tap[0];
        bool is_inside = true;
        for (std::size_t i = 0; i < shape.input.size(); ++i) {
          const std::uint64_t to =
              place[i + 2] * shape.strides[i] + tap[i + 1] * shape.dilations[i];
          is_inside = is_inside && to >= shape.start[i] && to - shape.start[i] < sizes[i + 2];
          index = index * sizes[i + 2] + to - shape.start[i];
        }
        if (is_inside) expected.values[index] += at(x, place) * at(filter, joined({place[1]}, tap));
      }
    }
    OneNode node{"ConvTranspose", {x, filter, bias}, shape.attributes(2)};
    node.attributes.push_back(integers("output_padding", more));
    CHECK(difference(node, {expected}) == "");
  }
}

TEST_CASE("onnx sizes: recurrent networks, whose states are not as large as their input") {
  const std::uint64_t steps = 3, batch = 2, size = 4, hidden = 5;
  const auto tensor = [](const Numbers& numbers) {
    Sizes sizes = numbers.sizes;
    sizes.insert(sizes.begin(), 4 - sizes.size(), 1);
    Tensor made = Tensor::packed(DataType::Float32, sizes);
    std::size_t next = 0;
    for (const Sizes& place : places_of(sizes)) set_value(made, place, numbers.values[next++]);
    return made;
  };
  const auto numbers_of = [](const Tensor& made, const Sizes& sizes) {
    Numbers numbers{.sizes = sizes};
    for (const Sizes& place : places_of(made.sizes))
      numbers.values.push_back(value_at(made, place));
    return numbers;
  };
  struct Network {
    const char* cell;
    std::uint64_t gates;
    std::vector<std::string> activations;
  };
  for (const Network& network : {Network{"RNN", 1, {"TANH"}},
                                 {"GRU", 3, {"SIGMOID", "TANH"}},
                                 {"LSTM", 4, {"SIGMOID", "TANH", "TANH"}}}) {
    const std::string cell = network.cell;
    for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
      for (const bool has_all : {false, true}) {
        CAPTURE(cell);
        CAPTURE(direction);
        CAPTURE(has_all);
        const bool is_both = direction == "bidirectional", is_lstm = cell == "LSTM";
        const std::uint64_t directions = is_both ? 2 : 1;
        const Numbers x = some_numbers({steps, batch, size}, 1);
        const Numbers w = some_numbers({directions, network.gates * hidden, size}, 2);
        const Numbers r = some_numbers({directions, network.gates * hidden, hidden}, 3);
        const Numbers bias = some_numbers({directions, 2 * network.gates * hidden}, 4);
        const Numbers lengths{{batch}, {3, 2}, DataType::Int32};
        const Numbers h = some_numbers({directions, batch, hidden}, 5);
        const Numbers c = some_numbers({directions, batch, hidden}, 6);
        const Numbers peephole = some_numbers({directions, 3 * hidden}, 7);
        Recurrent reference{
            .cell = cell, .input = tensor(x), .weight = tensor(w), .recurrence = tensor(r)};
        for (std::uint64_t d = 0; d < directions; ++d) {
          reference.is_backward.push_back(direction == "reverse" || d == 1);
          reference.activations.insert(reference.activations.end(), network.activations.begin(),
                                       network.activations.end());
        }
        OneNode node{cell,
                     {x, w, r},
                     {text("direction", direction), integer("hidden_size", hidden)},
                     is_lstm ? 3U : 2U};
        if (has_all) {
          node.inputs.insert(node.inputs.end(), {bias, lengths, h});
          if (is_lstm) node.inputs.insert(node.inputs.end(), {c, peephole});
          reference.bias = tensor(bias);
          reference.lengths = Tensor::of<std::int32_t>(DataType::Int32, {1, 1, 1, batch}, {3, 2});
          reference.hidden_init = tensor(h);
          if (is_lstm) reference.cell_init = tensor(c);
          if (is_lstm) reference.peephole = tensor(peephole);
        }
        const auto outputs = reference.result();
        const Sizes last{directions, batch, hidden};
        std::vector<Numbers> expected{
            numbers_of(outputs.sequence, {steps, directions, batch, hidden}),
            numbers_of(outputs.last, last)};
        if (is_lstm) expected.push_back(numbers_of(outputs.last_cell, last));
        CHECK(difference(node, expected) == "");
      }
    }
  }
}

TEST_CASE("onnx sizes: ONNX Runtime's operators with biases, scales and a skip") {
  const std::uint64_t rows = 3, width = 5;
  for (const Sizes& sizes : {Sizes{rows, width}, Sizes{2, rows, width}}) {
    CAPTURE(sizes.size());
    const Numbers x = some_numbers(sizes, 1), skip = some_numbers(sizes, 2);
    const Numbers scale = some_numbers({width}, 3), shift = some_numbers({width}, 4);
    const Numbers bias = some_numbers({width}, 5);
    for (const bool has_all : {false, true}) {
      const auto sum = [&](const Sizes& place) {
        return at(x, place) + at(skip, place) + (has_all ? bias.values[place.back()] : 0);
      };
      const Numbers expected = numbers_at(sizes, [&](const Sizes& place) {
        double mean = 0, variance = 0;
        Sizes other = place;
        for (other.back() = 0; other.back() < width; ++other.back()) mean += sum(other) / width;
        for (other.back() = 0; other.back() < width; ++other.back())
          variance += (sum(other) - mean) * (sum(other) - mean) / width;
        return (sum(place) - mean) / std::sqrt(variance + 1e-3) * scale.values[place.back()] +
               (has_all ? shift.values[place.back()] : 0);
      });
      OneNode node{"SkipLayerNormalization", {x, skip, scale}, {real("epsilon", 1e-3F)}};
      node.domain = "com.microsoft";
      if (has_all) node.inputs.insert(node.inputs.end(), {shift, bias});
      CHECK(difference(node, {expected}) == "");
    }
    OneNode gelu{"BiasGelu", {x, bias}};
    gelu.domain = "com.microsoft";
    CHECK(difference(gelu, {numbers_at(sizes, [&](const Sizes& place) {
                       const double number = at(x, place) + bias.values[place.back()];
                       return number / 2 * (1 + std::erf(number / std::sqrt(2)));
                     })}) == "");
  }
}

TEST_CASE("onnx sizes: FusedMatMul turns its matrices and multiplies by alpha") {
  for (const bool turns_a : {false, true}) {
    for (const bool turns_b : {false, true}) {
      CAPTURE(turns_a);
      CAPTURE(turns_b);
      const Numbers a = some_numbers(turns_a ? Sizes{4, 3, 2} : Sizes{4, 2, 3}, 1);
      const Numbers b = some_numbers(turns_b ? Sizes{5, 3} : Sizes{3, 5}, 2);
      const Numbers expected = numbers_at({4, 2, 5}, [&](const Sizes& place) {
        double sum = 0;
        for (std::uint64_t i = 0; i < 3; ++i)
          sum += at(a, turns_a ? Sizes{place[0], i, place[1]} : Sizes{place[0], place[1], i}) *
                 at(b, turns_b ? Sizes{place[2], i} : Sizes{i, place[2]});
        return sum * 0.5;
      });
      OneNode node{"FusedMatMul",
                   {a, b},
                   {real("alpha", 0.5F), integer("transA", turns_a), integer("transB", turns_b)}};
      node.domain = "com.microsoft";
      CHECK(difference(node, {expected}) == "");
      node.attributes.push_back(integer("transBatchA", 1));
      CHECK(run_node(node).findings.find("it transposes a batch") != std::string::npos);
    }
  }
}

TEST_CASE("onnx sizes: products and sums by letters") {
  const Numbers a = some_numbers({2, 3, 4}, 1), b = some_numbers({2, 4, 5}, 2);
  const auto product = [&](std::uint64_t i, std::uint64_t j, std::uint64_t k) {
    double sum = 0;
    for (std::uint64_t n = 0; n < 4; ++n) sum += at(a, {i, j, n}) * at(b, {i, n, k});
    return sum;
  };
  CHECK(difference({"Einsum", {a, b}, {text("equation", "bij,bjk->bik")}},
                   {numbers_at({2, 3, 5}, [&](const Sizes& place) {
                     return product(place[0], place[1], place[2]);
                   })}) == "");
  CHECK(difference({"Einsum", {a, b}, {text("equation", "bij,bjk->ki")}},
                   {numbers_at({5, 3}, [&](const Sizes& place) {
                     return product(0, place[1], place[0]) + product(1, place[1], place[0]);
                   })}) == "");
  // A size 1 is repeated, wherever it is.
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Sizes sizes{2, 3, 4};
    sizes[axis] = 1;
    const Numbers one = some_numbers(sizes, 3);
    const Numbers repeated = numbers_at({2, 3, 4}, [&](const Sizes& place) {
      Sizes of_one = place;
      of_one[axis] = 0;
      return at(a, place) * at(one, of_one);
    });
    CAPTURE(axis);
    CHECK(difference({"Einsum", {a, one}, {text("equation", "abc,abc->abc")}}, {repeated}) == "");
    CHECK(difference({"Einsum", {one, a}, {text("equation", "abc,abc->abc")}}, {repeated}) == "");
  }
  CHECK(difference({"Einsum", {a}, {text("equation", "abc->cab")}},
                   {numbers_at({4, 2, 3}, [&](const Sizes& place) {
                     return at(a, {place[1], place[2], place[0]});
                   })}) == "");
  CHECK(difference({"Einsum", {a}, {text("equation", "abc->b")}},
                   {numbers_at({3}, [&](const Sizes& place) {
                     double sum = 0;
                     for (const Sizes& rest : places_of({2, 4}))
                       sum += at(a, {rest[0], place[0], rest[1]});
                     return sum;
                   })}) == "");
}

// Letters that stand once, in the order of ASCII, in which Z is before a.
TEST_CASE("onnx sizes: an equation without an arrow keeps the letters that stand once") {
  const Numbers a = some_numbers({2, 3, 4}, 1), b = some_numbers({2, 4, 5}, 2);
  const Numbers c = some_numbers({2, 3, 4}, 3);
  const auto same = [](const std::vector<Numbers>& inputs, const char* without, const char* with) {
    CAPTURE(without);
    const OnnxRun expected = run_node({"Einsum", inputs, {text("equation", with)}});
    REQUIRE(expected.findings == "");
    CHECK(difference({"Einsum", inputs, {text("equation", without)}}, expected.outputs) == "");
  };
  same({a, b}, "bij,bjk", "bij,bjk->ik");
  same({a, b}, " c i b , c b a ", "cib,cba->ai");
  same({a, c}, "abc,abc", "abc,abc->");
  same({a}, "cab", "cab->abc");
  same({a}, "bZa", "bZa->Zab");
  same({some_numbers({3}), some_numbers({2})}, "y,x", "y,x->xy");
  const std::string twice =
      run_node({"Einsum", {some_numbers({3, 3})}, {text("equation", "ii")}}).findings;
  CHECK(twice.find("an input names a letter twice") != std::string::npos);
}

// The last dimension of the indices says how many of the input's they pick.
TEST_CASE("onnx sizes: GatherND and ScatterND pick any number of dimensions") {
  const Sizes sizes{3, 2, 4, 5};
  const Numbers x = some_numbers(sizes);
  for (std::uint64_t batches = 0; batches <= 2; ++batches) {
    for (std::uint64_t picked = 1; batches + picked <= 4; ++picked) {
      CAPTURE(batches);
      CAPTURE(picked);
      Sizes index_sizes(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(batches));
      index_sizes.insert(index_sizes.end(), {7, picked});
      std::uint64_t turn = 0;
      const Numbers indices = numbers_at(
          index_sizes,
          [&](const Sizes& place) {
            turn += 5;
            return static_cast<double>(turn % sizes[batches + place.back()]);
          },
          DataType::Int64);
      Sizes output(index_sizes.begin(), index_sizes.end() - 1);
      const auto first = static_cast<std::ptrdiff_t>(batches + picked);
      output.insert(output.end(), sizes.begin() + first, sizes.end());
      const Numbers expected = numbers_at(output, [&](const Sizes& place) {
        const auto middle = place.begin() + static_cast<std::ptrdiff_t>(batches);
        Sizes from(place.begin(), middle), of_indices(place.begin(), middle + 1);
        of_indices.push_back(0);
        for (; of_indices.back() < picked; ++of_indices.back())
          from.push_back(static_cast<std::uint64_t>(at(indices, of_indices)));
        from.insert(from.end(), middle + 1, place.end());
        return at(x, from);
      });
      CHECK(difference({"GatherND",
                        {x, indices},
                        {integer("batch_dims", static_cast<std::int64_t>(batches))}},
                       {expected}) == "");
    }
  }
  for (std::uint64_t picked = 1; picked <= 4; ++picked) {
    CAPTURE(picked);
    const Numbers indices = numbers_at(
        {2, picked},
        [&](const Sizes& place) {
          return static_cast<double>(place[0] == 0 ? sizes[place[1]] - 1 : place[1] % 2);
        },
        DataType::Int64);
    Sizes of_updates{2};
    of_updates.insert(of_updates.end(), sizes.begin() + static_cast<std::ptrdiff_t>(picked),
                      sizes.end());
    const Numbers updates = some_numbers(of_updates, 1);
    const Numbers expected = numbers_at(sizes, [&](const Sizes& place) {
      for (std::uint64_t i = 0; i < 2; ++i) {
        bool is_it = true;
        for (std::uint64_t j = 0; j < picked; ++j)
          is_it = is_it && at(indices, {i, j}) == static_cast<double>(place[j]);
        Sizes from{i};
        from.insert(from.end(), place.begin() + static_cast<std::ptrdiff_t>(picked), place.end());
        if (is_it) return at(updates, from);
      }
      return at(x, place);
    });
    CHECK(difference({"ScatterND", {x, indices, updates}}, {expected}) == "");
  }
}

TEST_CASE("onnx sizes: depth becomes space in rows and columns that are not alike") {
  const Numbers x = some_numbers({2, 12, 3, 5});
  for (const bool is_crd : {false, true}) {
    const Numbers expected = numbers_at({2, 3, 6, 10}, [&](const Sizes& place) {
      const std::uint64_t block = place[2] % 2 * 2 + place[3] % 2;
      const std::uint64_t channel = is_crd ? place[1] * 4 + block : block * 3 + place[1];
      return at(x, {place[0], channel, place[2] / 2, place[3] / 2});
    });
    CHECK(
        difference(
            {"DepthToSpace", {x}, {integer("blocksize", 2), text("mode", is_crd ? "CRD" : "DCR")}},
            {expected}) == "");
    if (!is_crd)
      CHECK(difference({"SpaceToDepth", {expected}, {integer("blocksize", 2)}}, {x}) == "");
  }
}

// One run of 4-bit numbers for each row, which begins with a byte of its own. The last block of a
// row may have places that K lacks.
TEST_CASE("onnx sizes: MatMulNBits has whole bytes of zero points for each row") {
  const std::uint64_t n = 3, block = 16, rows = 2;
  for (const std::uint64_t blocks : {1U, 2U, 3U, 4U, 5U}) {
    for (const std::uint64_t lacking : {0U, 2U, 7U}) {
      const bool is_flat = lacking == 2;
      for (const bool has_zeros : {false, true}) {
        CAPTURE(blocks);
        CAPTURE(lacking);
        CAPTURE(has_zeros);
        const std::uint64_t k = blocks * block - lacking, zero_bytes = (blocks + 1) / 2;
        const Numbers x = some_numbers({4, rows, k}, 1);
        const Numbers scales = some_numbers(is_flat ? Sizes{n * blocks} : Sizes{n, blocks}, 2);
        Numbers weights = whole({n, blocks, block / 2}, DataType::UInt8, 0, 100, 3);
        for (double& value : weights.values) value = std::fmod(value * 77, 256);
        Numbers zeros = whole(is_flat ? Sizes{n * zero_bytes} : Sizes{n, zero_bytes},
                              DataType::UInt8, 0, 100, 4);
        for (double& value : zeros.values) value = std::fmod(value * 53 + 1, 256);
        const auto nibble = [](const Numbers& bytes, std::uint64_t index) {
          const auto byte = static_cast<std::uint64_t>(bytes.values[index / 2]);
          return static_cast<double>(index % 2 == 0 ? byte % 16 : byte / 16);
        };
        const Numbers expected = numbers_at({4, rows, n}, [&](const Sizes& place) {
          double sum = 0;
          for (std::uint64_t i = 0; i < k; ++i) {
            const std::uint64_t row = place[2], at_block = i / block;
            const double zero = has_zeros ? nibble(zeros, row * 2 * zero_bytes + at_block) : 8;
            sum += at(x, {place[0], place[1], i}) * scales.values[row * blocks + at_block] *
                   (nibble(weights, row * blocks * block + i) - zero);
          }
          return sum;
        });
        OneNode node{"MatMulNBits",
                     {x, weights, scales},
                     {integer("K", static_cast<std::int64_t>(k)), integer("N", n),
                      integer("block_size", block), integer("bits", 4)}};
        node.domain = "com.microsoft";
        if (has_zeros) node.inputs.push_back(zeros);
        CHECK(difference(node, {expected}) == "");
      }
    }
  }
}

// DirectML's zero points have the type of the weights.
TEST_CASE("onnx sizes: MatMulNBits with zero points that are no bytes is refused") {
  OneNode node{"MatMulNBits",
               {some_numbers({2, 16}), whole({3, 1, 8}, DataType::UInt8, 0, 100),
                some_numbers({3, 1}), some_numbers({3, 1})},
               {integer("K", 16), integer("N", 3), integer("block_size", 16), integer("bits", 4)}};
  node.domain = "com.microsoft";
  CHECK(run_node(node).findings.find("its zero points are FLOAT32") != std::string::npos);
}

TEST_CASE("onnx sizes: MatMulNBits of other tensors than K, N and block_size make is refused") {
  struct Row {
    std::size_t input;
    Sizes sizes;
    DataType type;
    std::string message;
  };
  const auto bytes = [](Sizes sizes, DataType type) {
    return whole(std::move(sizes), type, 0, 100);
  };
  const auto refusal = [&](std::int64_t block, const std::optional<Row>& row) {
    OneNode node{
        "MatMulNBits",
        {some_numbers({2, 30}), bytes({3, 2, 8}, DataType::UInt8), some_numbers({3, 2}),
         bytes({3, 1}, DataType::UInt8)},
        {integer("K", 30), integer("N", 3), integer("block_size", block), integer("bits", 4)}};
    node.domain = "com.microsoft";
    if (row) node.inputs.at(row->input) = bytes(row->sizes, row->type);
    return run_node(node).findings;
  };
  CHECK(refusal(16, std::nullopt) == "");
  CHECK(refusal(24, std::nullopt).find("its block_size is 24") != std::string::npos);
  CHECK(refusal(32, std::nullopt).find("its scales have the sizes [3, 2]") != std::string::npos);
  for (const Row& row : {
           Row{1, {3, 2, 8}, DataType::Int8, "its weights are not UINT8"},
           Row{1, {3, 2, 7}, DataType::UInt8, "its weights have the sizes [3, 2, 7]"},
           Row{1, {3, 3, 8}, DataType::UInt8, "its weights have the sizes [3, 3, 8]"},
           Row{3, {2}, DataType::UInt8, "its zero points have the sizes [2]"},
           Row{3, {3, 2}, DataType::UInt8, "its zero points have the sizes [3, 2]"},
       }) {
    CAPTURE(row.message);
    CHECK(refusal(16, row).find(row.message) != std::string::npos);
  }
}

namespace {

/// The element that a place of a larger tensor sees.
double broadcast_at(const Numbers& tensor, const Sizes& place) {
  Sizes from;
  const std::size_t skipped = place.size() - tensor.sizes.size();
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i)
    from.push_back(tensor.sizes[i] == 1 ? 0 : place[skipped + i]);
  return at(tensor, from);
}

/// The last dimensions of one tensor, with 1 for some.
Sizes last_sizes(std::size_t dimensions, unsigned ones) {
  Sizes sizes{3, 2, 5, 4, 6};
  sizes.erase(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(dimensions));
  for (std::size_t i = 0; i < dimensions; ++i) {
    if ((ones >> i & 1) != 0) sizes[dimensions - 1 - i] = 1;
  }
  return sizes;
}

Sizes joined_sizes(const Sizes& a, const Sizes& b) {
  const Sizes& longer = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  Sizes sizes = longer;
  const std::size_t skipped = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i)
    sizes[skipped + i] = std::max(sizes[skipped + i], shorter[i]);
  return sizes;
}

}  // namespace

TEST_CASE("onnx sizes: inputs of any number of dimensions are repeated to each other") {
  for (std::size_t first = 0; first <= 5; ++first) {
    for (std::size_t second = 0; second <= 5; ++second) {
      for (const unsigned ones : {0U, 21U}) {
        CAPTURE(first);
        CAPTURE(second);
        CAPTURE(ones);
        const Numbers a = some_numbers(last_sizes(first, 0), 1);
        const Numbers b = some_numbers(last_sizes(second, ones), 2);
        const Numbers c = some_numbers(last_sizes(1, 0), 3);
        const Sizes two = joined_sizes(a.sizes, b.sizes), three = joined_sizes(two, c.sizes);
        const auto check = [&](const char* type, const std::vector<Numbers>& inputs,
                               const std::function<double(const Line&)>& function) {
          CAPTURE(std::string(type));
          const Numbers expected =
              numbers_at(inputs.size() == 2 ? two : three, [&](const Sizes& place) {
                Line line;
                for (const Numbers& input : inputs) line.push_back(broadcast_at(input, place));
                return function(line);
              });
          CHECK(difference({type, inputs}, {expected}) == "");
        };
        const auto minus = [](const Line& x) { return x[0] - x[1]; };
        check("Sub", {a, b}, minus);
        check("Sub", {b, a}, [&](const Line& x) { return x[0] - x[1]; });
        check("Max", {a, c, b},
              [](const Line& x) { return *std::max_element(x.begin(), x.end()); });
        check("Mean", {a, b}, [](const Line& x) { return (x[0] + x[1]) / 2; });
        check("Mean", {a, b, c}, [](const Line& x) { return (x[0] + x[1] + x[2]) / 3; });
        Numbers condition = b;
        condition.type = DataType::UInt8;
        for (double& value : condition.values) value = value > 0 ? 1 : 0;
        check("Where", {condition, a, c}, [](const Line& x) { return x[0] != 0 ? x[1] : x[2]; });
        check("Where", {condition, c, a}, [](const Line& x) { return x[0] != 0 ? x[1] : x[2]; });
        if (two == a.sizes)
          check("PRelu", {a, b}, [](const Line& x) { return x[0] < 0 ? x[0] * x[1] : x[0]; });
        const std::vector<std::int64_t> wanted(a.sizes.begin(), a.sizes.end());
        const Numbers expanded =
            numbers_at(two, [&](const Sizes& place) { return broadcast_at(b, place); });
        if (first > 0) CHECK(difference({"Expand", {b, whole_numbers(wanted)}}, {expanded}) == "");
      }
    }
  }
}

TEST_CASE("onnx sizes: inputs that do not fit together are all named") {
  const auto said = [](const char* type, const std::vector<Sizes>& sizes) {
    OneNode node{type, {}};
    for (const Sizes& one : sizes) node.inputs.push_back(some_numbers(one));
    return run_node(node).findings;
  };
  check_refused({"Gemm", {some_numbers({3, 5}), some_numbers({5, 4})}, {integer("transA", 1)}},
                "its matrices [3, 5] and [5, 4] do not fit together\n  rule: A has as many columns "
                "as B has rows; transA turns A");
  for (const auto& [type, sizes, text] :
       std::vector<std::tuple<const char*, std::vector<Sizes>, std::string>>{
           {"Add", {{2, 3}, {4}}, "its inputs [2, 3] and [4] do not fit together"},
           {"Max",
            {{2, 1}, {2, 3}, {2, 4}},
            "its inputs [2, 1], [2, 3], [2, 4] do not fit together"},
           {"MatMul",
            {{2, 4, 5}, {3, 5, 6}},
            "its matrices [2, 4, 5] and [3, 5, 6] do not fit together"},
           {"MatMul",
            {{2, 4, 5}, {2, 6, 5}},
            "its matrices [2, 4, 5] and [2, 6, 5] do not fit together"},
           {"PRelu", {{2, 3}, {4}}, "its slopes [4] do not fit its input [2, 3]"},
           {"PRelu", {{3}, {2, 3}}, "its slopes [2, 3] do not fit its input [3]"},
           {"Gemm", {{2, 3}, {3, 4}, {5}}, "its C [5] does not fit its output [2, 4]"}}) {
    const std::string findings = said(type, sizes);
    CHECK_MESSAGE(findings.find(text) != std::string::npos, findings);
  }
}

TEST_CASE("onnx sizes: pooling over 1 to 3 dimensions, and where the largest was") {
  const std::vector<Shape> pools{
      {{7}, {3}, {2}, {1}, {1}, {2}},
      {{7, 5}, {3, 2}, {2, 1}, {1, 1}, {1, 0}, {2, 1}},
      {{5, 4, 6}, {3, 2, 1}, {1, 2, 3}, {1, 1, 1}, {1, 1, 0}, {0, 1, 0}},
  };
  for (const Shape& pool : pools) {
    CAPTURE(pool.input.size());
    const Numbers x = some_numbers(joined({2, 3}, pool.input));
    Sizes sizes = convolved_sizes(pool);
    sizes[1] = 3;
    const double window = static_cast<double>(element_count(pool.filter).value_or(0));
    // The elements of the window, and where they are.
    const auto seen = [&](const Sizes& place) {
      std::vector<std::pair<double, double>> elements;
      for (const Sizes& tap : places_of(pool.filter)) {
        Sizes from{place[0], place[1]};
        bool is_inside = true;
        for (std::size_t i = 0; i < tap.size(); ++i) {
          const std::uint64_t at = place[i + 2] * pool.strides[i] + tap[i];
          is_inside = is_inside && at >= pool.start[i] && at - pool.start[i] < pool.input[i];
          from.push_back(at - pool.start[i]);
        }
        if (!is_inside) continue;
        std::uint64_t index = 0;
        for (std::size_t i = 0; i < from.size(); ++i) index = index * x.sizes[i] + from[i];
        elements.emplace_back(at(x, from), static_cast<double>(index));
      }
      return elements;
    };
    const auto largest = [&](const Sizes& place) {
      const auto elements = seen(place);
      return *std::max_element(elements.begin(), elements.end(),
                               [](const auto& a, const auto& b) { return a.first < b.first; });
    };
    std::vector<std::string> attributes = pool.attributes(1);
    attributes.erase(attributes.begin());  // group
    attributes.pop_back();                 // dilations
    const std::vector<std::int64_t> counts(pool.filter.begin(), pool.filter.end());
    attributes.push_back(integers("kernel_shape", counts));
    CHECK(difference({"MaxPool", {x}, attributes, 2},
                     {numbers_at(sizes, [&](const Sizes& place) { return largest(place).first; }),
                      numbers_at(sizes, [&](const Sizes& place) {
                        return largest(place).second;
                      })}) == "");
    for (const bool counts_padding : {false, true}) {
      std::vector<std::string> all = attributes;
      all.push_back(integer("count_include_pad", counts_padding));
      CHECK(difference({"AveragePool", {x}, all}, {numbers_at(sizes, [&](const Sizes& place) {
                         double sum = 0;
                         const auto elements = seen(place);
                         for (const auto& one : elements) sum += one.first;
                         return sum /
                                (counts_padding ? window : static_cast<double>(elements.size()));
                       })}) == "");
    }
    CHECK(difference({"LpPool", {x}, attributes}, {numbers_at(sizes, [&](const Sizes& place) {
                       double sum = 0;
                       for (const auto& one : seen(place)) sum += one.first * one.first;
                       return std::sqrt(sum);
                     })}) == "");
  }
}

// The output's indices count through all batches and channels.
TEST_CASE("onnx sizes: MaxUnpool puts each element where its index says") {
  const Sizes sizes{2, 3, 3, 4}, output{2, 3, 6, 12};
  const Numbers x = some_numbers(sizes);
  Numbers expected = numbers_at(output, [](const Sizes&) { return 0; });
  std::size_t next = 0;
  const Numbers indices = numbers_at(
      sizes,
      [&](const Sizes& place) {
        const std::uint64_t row = place[2] * 2 + place[0], column = place[3] * 3 + place[1];
        const std::uint64_t index = ((place[0] * 3 + place[1]) * 6 + row) * 12 + column;
        expected.values[index] = x.values[next++];
        return static_cast<double>(index);
      },
      DataType::Int64);
  CHECK(difference({"MaxUnpool",
                    {x, indices},
                    {integers("kernel_shape", {2, 3}), integers("strides", {2, 3})}},
                   {expected}) == "");
}

// Each part of a region is the mean, or the largest, of samples between the elements.
TEST_CASE("onnx sizes: RoiAlign of regions that are no squares") {
  const std::uint64_t height = 5, width = 7, rows = 2, columns = 3;
  const Numbers x = some_numbers({2, 3, height, width});
  const Numbers regions{{4, 4}, {2, 3, 9, 8, 0, 0, 13, 9, 4, 1, 7, 9, 1, 2, 12, 5}};
  const Numbers batches{{4}, {1, 0, 0, 1}, DataType::Int64};
  const auto sample = [&](std::uint64_t batch, std::uint64_t channel, double y, double x_place) {
    const auto inside = [](double place, std::uint64_t size) {
      return std::clamp(place, 0.0, static_cast<double>(size - 1));
    };
    y = inside(y, height);
    x_place = inside(x_place, width);
    const auto top = static_cast<std::uint64_t>(y), left = static_cast<std::uint64_t>(x_place);
    const std::uint64_t bottom = std::min(top + 1, height - 1);
    const std::uint64_t right = std::min(left + 1, width - 1);
    const double down = y - static_cast<double>(top), over = x_place - static_cast<double>(left);
    return std::array<double, 4>{(1 - down) * (1 - over) * at(x, {batch, channel, top, left}),
                                 (1 - down) * over * at(x, {batch, channel, top, right}),
                                 down * (1 - over) * at(x, {batch, channel, bottom, left}),
                                 down * over * at(x, {batch, channel, bottom, right})};
  };
  for (const bool is_old : {false, true}) {
    CAPTURE(is_old);
    const double offset = is_old ? 0 : 0.5;
    const Numbers expected = numbers_at({4, 3, rows, columns}, [&](const Sizes& place) {
      const auto corner = [&](std::uint64_t i) { return at(regions, {place[0], i}) / 2 - offset; };
      const double part_width = (corner(2) - corner(0)) / static_cast<double>(columns);
      const double part_height = (corner(3) - corner(1)) / static_cast<double>(rows);
      const auto batch = static_cast<std::uint64_t>(batches.values[place[0]]);
      double sum = 0;
      for (std::uint64_t i = 0; i < 4; ++i) {
        const double y = static_cast<double>(place[2]) + (static_cast<double>(i / 2) + 0.5) / 2;
        const double z = static_cast<double>(place[3]) + (static_cast<double>(i % 2) + 0.5) / 2;
        for (const double number :
             sample(batch, place[1], corner(1) + y * part_height, corner(0) + z * part_width))
          sum += number / 4;
      }
      return sum;
    });
    CHECK(difference({"RoiAlign",
                      {x, regions, batches},
                      {integer("output_height", rows), integer("output_width", columns),
                       integer("sampling_ratio", 2), real("spatial_scale", 0.5F)},
                      1,
                      is_old ? 10 : 16},
                     {expected}) == "");
  }
}

TEST_CASE("onnx sizes: RoiAlign refuses sizes and numbers of samples that are out of range") {
  const Numbers regions{{1, 4}, {0, 0, 2, 2}}, batches{{1}, {0}, DataType::Int64};
  const auto findings_of = [&](const char* name, std::int64_t number) {
    return run_node({"RoiAlign",
                     {some_numbers({1, 1, 3, 3}), regions, batches},
                     {integer(name, number)}})
        .findings;
  };
  for (const char* name : {"output_height", "output_width", "sampling_ratio"}) {
    for (const std::int64_t number : {-1, 0x8000}) {
      CAPTURE(std::string(name));
      CAPTURE(number);
      const std::string findings = findings_of(name, number);
      CHECK_MESSAGE(
          findings.find("its output sizes or sampling_ratio are wrong") != std::string::npos,
          findings);
    }
    CHECK(findings_of(name, 1) == "");
  }
}

TEST_CASE("onnx sizes: EyeLike of matrices that are no squares") {
  for (const Sizes& sizes : {Sizes{3, 5}, Sizes{5, 2}}) {
    for (std::int64_t k = -6; k <= 6; ++k) {
      CAPTURE(sizes[0]);
      CAPTURE(k);
      const Numbers expected = numbers_at(sizes, [&](const Sizes& place) {
        const bool is_one =
            static_cast<std::int64_t>(place[1]) == static_cast<std::int64_t>(place[0]) + k;
        return is_one ? 1.0 : 0.0;
      });
      CHECK(difference({"EyeLike", {some_numbers(sizes)}, {integer("k", k)}}, {expected}) == "");
    }
  }
}

// DirectML has 4 dimensions.
TEST_CASE("onnx sizes: Trilu keeps a triangle of each matrix") {
  constexpr std::int64_t distant = std::int64_t{1} << 40;
  std::vector<std::int64_t> diagonals{-distant, distant};
  for (std::int64_t k = -4; k <= 6; ++k) diagonals.push_back(k);
  for (std::size_t dimensions = 2; dimensions <= 6; ++dimensions) {
    Sizes sizes{2, 3, 2, 4, 3, 5};
    sizes.erase(sizes.begin(), sizes.end() - static_cast<std::ptrdiff_t>(dimensions));
    const Numbers x = some_numbers(sizes);
    for (const std::int64_t k : diagonals) {
      for (const bool is_upper : {false, true}) {
        CAPTURE(dimensions);
        CAPTURE(k);
        CAPTURE(is_upper);
        const Numbers expected = numbers_at(sizes, [&](const Sizes& place) {
          const std::int64_t diagonal = static_cast<std::int64_t>(place[dimensions - 1]) -
                                        static_cast<std::int64_t>(place[dimensions - 2]);
          return (is_upper ? diagonal >= k : diagonal <= k) ? at(x, place) : 0;
        });
        CHECK(difference({"Trilu", {x, whole_numbers({k})}, {integer("upper", is_upper)}},
                         {expected}) == "");
        if (k == 0 && is_upper) CHECK(difference({"Trilu", {x}}, {expected}) == "");
      }
    }
  }
}

TEST_CASE("onnx sizes: a file of other sizes hears how to save it, if only the order differs") {
  struct Row {
    std::vector<std::string> wanted;
    Sizes sizes;
    std::string help;
  };
  for (const Row& row :
       {Row{{"n", "3", "8", "6"}, {8, 6, 3}, "save array.transpose(2, 0, 1).reshape(1, 3, 8, 6)"},
        Row{{"n", "3", "8", "6"}, {2, 8, 6, 3}, "save array.transpose(0, 3, 1, 2)"},
        Row{{"n", "3", "8", "6"}, {3, 8, 6}, "save array.reshape(1, 3, 8, 6)"},
        Row{{"3", "4"}, {1, 1, 3, 4}, "save array.reshape(3, 4)"},
        Row{{"4", "3"}, {3, 4}, "save array.transpose(1, 0)"}, Row{{"4", "3"}, {4, 4}, ""},
        Row{{"2", "3", "8", "6"}, {3, 8, 6}, ""}, Row{{"n", "4"}, {2, 3}, ""}}) {
    CAPTURE(row.sizes.size());
    const std::string findings = run_onnx(model({.nodes = {node("Relu", {"x"}, {"y"})},
                                                 .inputs = {value("x", row.wanted)},
                                                 .outputs = {value("y", {})}}),
                                          {{"x", some_numbers(row.sizes)}})
                                     .findings;
    CAPTURE(findings);
    CHECK(findings.find("but its file has the sizes") != std::string::npos);
    CHECK((findings.find("help: ") == std::string::npos) == row.help.empty());
    CHECK(findings.find(row.help) != std::string::npos);
  }
}

}  // namespace dmlop::test::onnx_sizes_test
