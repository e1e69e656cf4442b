// DML_OPERATOR_MULTIHEAD_ATTENTION and MULTIHEAD_ATTENTION1.
#include "reference/attention.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "gpu/dispatch.hpp"
#include "ops/operator.hpp"
#include "plan_case.hpp"
#include "small_numbers.hpp"
#include "spec/validate.hpp"
#include "sweep.hpp"

namespace dmlop::test::attention_test {
namespace {

struct Layout {
  bool is_numbered = false;  // MULTIHEAD_ATTENTION1
  std::string stacked;       // "QueryKey", "KeyValue" or "QueryKeyValue"; "": none
  bool has_present = false;
};

/// {batch, length, heads, tensors, size} of tensors {batch, length, heads * size}.
Tensor stacked(const std::vector<Tensor>& tensors, std::uint64_t heads) {
  const List& sizes = tensors.front().sizes;
  const std::uint64_t size = sizes[2] / heads;
  Tensor stack =
      Tensor::packed(tensors.front().type, {sizes[0], sizes[1], heads, tensors.size(), size});
  for_each_index(stack.sizes, [&](const Index& at) {
    set_value(stack, at, value_at(tensors[at[3]], {at[0], at[1], at[2] * size + at[4]}));
  });
  return stack;
}

PlanCase case_of(const MultiheadAttention& use, const Layout& layout, double tolerance) {
  PlanCase a_case{"DML_OPERATOR_MULTIHEAD_ATTENTION", {}, {}, {}};
  a_case.fields = {
      {"Scale", use.scale}, {"MaskFilterValue", use.filter}, {"MaskType", use.mask_type}};
  if (layout.is_numbered) {
    a_case.type += "1";
    a_case.fields["QueryHeadCount"] = use.heads;
    a_case.fields["KeyValueHeadCount"] = use.key_heads;
  } else {
    a_case.fields["HeadCount"] = use.heads;
  }
  const auto is_stacked = [&](const char* name) {
    return layout.stacked.find(name) != std::string::npos;
  };
  std::vector<Tensor> stack;
  const auto add = [&](const char* name, const Tensor& tensor) {
    if (is_stacked(name)) return stack.push_back(tensor);
    a_case.inputs.push_back({std::string(name) + "Tensor", tensor});
  };
  add("Query", use.query);
  add("Key", use.key);
  add("Value", use.value);
  if (!stack.empty())
    a_case.inputs.push_back({"Stacked" + layout.stacked + "Tensor", stacked(stack, use.key_heads)});
  a_case.add_if("BiasTensor", use.bias);
  a_case.add_if("MaskTensor", use.mask);
  a_case.add_if("RelativePositionBiasTensor", use.position_bias);
  a_case.add_if("PastKeyTensor", use.past_key);
  a_case.add_if("PastValueTensor", use.past_value);
  a_case.add_if("PastSequenceLengthsTensor", use.past_lengths);
  const auto expect = [&](const char* field, const Tensor& tensor) {
    a_case.outputs.push_back({.field = field, .tensor = tensor, .tolerance = tolerance});
  };
  expect("OutputTensor", use.result());
  if (layout.has_present) {
    expect("OutputPresentKeyTensor", use.present_key());
    expect("OutputPresentValueTensor", use.present_value());
  }
  return a_case;
}

Tensor random_mask(const MultiheadAttention& use, Random& random) {
  const std::uint64_t n = use.batch();
  const List sizes = use.mask_type == "BOOLEAN" ? List{n, use.heads, use.queries(), use.keys()}
                     : use.mask_type == "KEY_SEQUENCE_LENGTH"    ? List{1, n}
                     : use.mask_type == "KEY_SEQUENCE_END_START" ? List{2, n}
                                                                 : List{3 * n + 2};
  Tensor mask = Tensor::packed(DataType::Int32, sizes);
  for_each_index(sizes, [&](const Index& at) {
    const bool is_boolean = use.mask_type == "BOOLEAN";
    // Also lengths beyond the keys, and starts that let a query have none.
    const std::uint64_t most = is_boolean ? 1 : use.keys() + (random.one_in(4) ? 3 : 0);
    set_value(mask, at, static_cast<double>(random.below(most + 1)));
  });
  return mask;
}

struct Sizes {
  std::uint64_t batch, heads, queries, keys, size, value_size;
};

MultiheadAttention random_attention(DataType type, const Sizes& sizes, std::uint64_t group,
                                    Random& random) {
  const auto tensor = [&](const List& shape) { return small_numbers(type, shape, random, 0.25); };
  const std::uint64_t key_heads = sizes.heads, heads = key_heads * group;
  MultiheadAttention use{.heads = heads,
                         .key_heads = key_heads,
                         .query = tensor({sizes.batch, sizes.queries, heads * sizes.size}),
                         .key = tensor({sizes.batch, sizes.keys, key_heads * sizes.size}),
                         .value = tensor({sizes.batch, sizes.keys, key_heads * sizes.value_size}),
                         .scale = random.one_in(2) ? 0.5 : -0.75};
  if (random.one_in(2))
    use.bias = tensor({use.query.sizes[2] + use.key.sizes[2] + use.value.sizes[2]});
  if (random.one_in(3)) {
    const std::uint64_t past = random.from_to(1, 3);
    use.past_key = tensor({sizes.batch, key_heads, past, sizes.size});
    use.past_value = tensor({sizes.batch, key_heads, past, sizes.value_size});
  }
  if (random.one_in(2)) use.position_bias = tensor({sizes.batch, heads, sizes.queries, use.keys()});
  use.mask_type =
      random.one_of<std::string>({"NONE", "KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START",
                                  "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN"});
  if (use.mask_type == "NONE") return use;
  use.mask = random_mask(use, random);
  use.filter = random.one_in(2) ? -10000 : -1.5;
  return use;
}

Layout random_layout(const Sizes& sizes, bool is_grouped, Random& random) {
  Layout layout{.is_numbered = is_grouped || random.one_in(2), .has_present = random.one_in(2)};
  std::vector<std::string> stacks{""};
  if (sizes.size == sizes.value_size) stacks.push_back("KeyValue");
  if (sizes.queries == sizes.keys && !is_grouped) {
    stacks.push_back("QueryKey");
    if (sizes.size == sizes.value_size) stacks.push_back("QueryKeyValue");
  }
  layout.stacked = random.one_of(stacks);
  return layout;
}

TEST_CASE("MULTIHEAD_ATTENTION: values are mixed by how well their keys match") {
  // Scores ln 1, ln 3, so that the weights are 1/4 and 3/4.
  MultiheadAttention use{.query = floats({1, 1, 1}, {2}),
                         .key = floats({1, 2, 1}, {0, 1}),
                         .value = floats({1, 2, 1}, {4, 8}),
                         .scale = std::log(3.0) / 2};
  PlanCase a_case = case_of(use, {}, 1e-6);
  CHECK(value_at(a_case.outputs[0].tensor, {0, 0, 0}) == doctest::Approx(7));
  check_plan_case(a_case);
  use.mask_type = "KEY_SEQUENCE_LENGTH";
  use.mask = Tensor::of<std::int32_t>(DataType::Int32, {1, 1}, {1});
  use.filter = -10000;
  a_case = case_of(use, {}, 1e-6);
  CHECK(value_at(a_case.outputs[0].tensor, {0, 0, 0}) == doctest::Approx(4));
  check_plan_case(a_case);
}

TEST_CASE("MULTIHEAD_ATTENTION: a mask that leaves out every key leaves the weights alone") {
  const MultiheadAttention use{.query = floats({1, 1, 1}, {2}),
                               .key = floats({1, 2, 1}, {0, 1}),
                               .value = floats({1, 2, 1}, {4, 8}),
                               .mask = Tensor::of<std::int32_t>(DataType::Int32, {1, 1}, {0}),
                               .mask_type = "KEY_SEQUENCE_LENGTH",
                               .scale = 0.5,
                               .filter = -10000};
  check_plan_case(case_of(use, {}, 1e-6));
}

TEST_CASE(
    "MULTIHEAD_ATTENTION: a boolean mask, and no other, multiplies the position bias by Scale") {
  // Scores 0 and ln 3, so that the weights are 1/4 and 3/4; twice as much makes them 1/10 and 9/10.
  MultiheadAttention use{.query = floats({1, 1, 1}, {1}),
                         .key = floats({1, 2, 1}, {0, 0}),
                         .value = floats({1, 2, 1}, {0, 20}),
                         .position_bias = floats({1, 1, 1, 2}, {0, std::log(3.0F)}),
                         .scale = 2};
  const auto check_mix = [&](const Tensor& mask, const char* mask_type, float mix) {
    use.mask = mask;
    use.mask_type = mask_type;
    for (const bool is_numbered : {false, true}) {
      PlanCase a_case = case_of(use, {.is_numbered = is_numbered}, 1e-6);
      a_case.outputs[0].tensor = floats({1, 1, 1}, {mix});
      check_plan_case(a_case);
    }
  };
  check_mix(Tensor::of<std::int32_t>(DataType::Int32, {1, 1}, {2}), "KEY_SEQUENCE_LENGTH", 15);
  check_mix(Tensor::of<std::int32_t>(DataType::Int32, {1, 1, 1, 2}, {1, 1}), "BOOLEAN", 18);
}

TEST_CASE("MULTIHEAD_ATTENTION: random heads of all layouts and masks") {
  Random random(81);
  for (int i = 0; i < 400; ++i) {
    const bool is_half = random.one_in(3);
    Sizes sizes{random.from_to(1, 2), random.from_to(1, 3), random.from_to(1, 5),
                random.from_to(1, 5), random.from_to(1, 4), random.from_to(1, 4)};
    if (random.one_in(2)) sizes.keys = sizes.queries;
    if (random.one_in(2)) sizes.value_size = sizes.size;
    const std::uint64_t group = random.one_in(3) ? 2 : 1;
    const MultiheadAttention use =
        random_attention(is_half ? DataType::Float16 : DataType::Float32, sizes, group, random);
    check_plan_case(case_of(use, random_layout(sizes, group > 1, random), is_half ? 2e-2 : 2e-5));
  }
}

// Tiles of 128 queries and 64 keys, slices of 16 elements, and values of up to four times 64.
TEST_CASE("MULTIHEAD_ATTENTION: several tiles of queries and keys") {
  Random random(84);
  for (int i = 0; i < 8; ++i) {
    const bool is_half = i % 4 == 3;
    const Sizes sizes{random.from_to(1, 2),   random.from_to(1, 2),  random.from_to(8, 130),
                      random.from_to(1, 150), random.from_to(1, 40), 8 * random.from_to(1, 16)};
    const std::uint64_t group = random.one_in(3) ? 2 : 1;
    const MultiheadAttention use =
        random_attention(is_half ? DataType::Float16 : DataType::Float32, sizes, group, random);
    check_plan_case(case_of(use, random_layout(sizes, group > 1, random), is_half ? 2e-2 : 2e-5));
  }
}

// Powers of 0 stand behind the last key; an infinite value of that one must not meet them.
TEST_CASE("MULTIHEAD_ATTENTION: tiles that are read by fours, and an infinite value") {
  Random random(85);
  const auto tensor = [&](const List& sizes) {
    return with_small_numbers(Tensor::packed(DataType::Float32, sizes), random, 0.25);
  };
  MultiheadAttention use{.query = tensor({1, 9, 20}),
                         .key = tensor({1, 65, 20}),
                         .value = tensor({1, 65, 68}),
                         .scale = 0.5};
  set_value(use.value, {0, 64, 66}, std::numeric_limits<double>::infinity());
  check_plan_case(case_of(use, {}, 2e-5));
}

// Nothing behind the last element of the last key counts: it is -infinity, and 0 times that is NaN.
TEST_CASE("MULTIHEAD_ATTENTION: three tiles of queries, of keys and of values") {
  Random random(86);
  const auto tensor = [&](const List& sizes) {
    return with_small_numbers(Tensor::packed(DataType::Float32, sizes), random, 0.25);
  };
  MultiheadAttention use{.query = tensor({1, 257, 20}),
                         .key = tensor({1, 129, 20}),
                         .value = tensor({1, 129, 196}),
                         .scale = 0.5};
  for (std::uint64_t query = 0; query < 257; ++query) set_value(use.query, {0, query, 19}, 1);
  set_value(use.key, {0, 128, 19}, -std::numeric_limits<double>::infinity());
  check_plan_case(case_of(use, {}, 2e-5));
  check_plan_case(
      case_of(random_attention(DataType::Float16, {1, 2, 136, 70, 18, 200}, 1, random), {}, 2e-2));
}

// How long keys may be that a thread goes over.
TEST_CASE("MULTIHEAD_ATTENTION: sequences of 16384 run in tiles") {
  const auto kernel_of = [](DataType type, std::uint64_t keys) {
    const Tensor heads{type, {1, keys, 64}, {keys * 64, 64, 1}, {}};
    Diagnostics diagnostics;
    const PlanCase a_case{
        "DML_OPERATOR_MULTIHEAD_ATTENTION",
        {{"Scale", 1}, {"MaskFilterValue", 0}, {"MaskType", "NONE"}, {"HeadCount", 1}},
        {{"QueryTensor", heads}, {"KeyTensor", heads}, {"ValueTensor", heads}},
        {{.field = "OutputTensor", .tensor = heads}}};
    const auto description =
        read_description("op.json", a_case.description().dump(), newest_feature_level, diagnostics);
    REQUIRE(description);
    return gpu::make_dispatches(make_plan(*description).passes[0].kernel).dispatches.front().kernel;
  };
  CHECK(kernel_of(DataType::Float32, 16384) == "attention_tiles");
  CHECK(kernel_of(DataType::Float16, 8192) == "attention_tiles");
}

// More keys than are multiplied at once, more queries, and more scores than are kept at a time.
TEST_CASE("MULTIHEAD_ATTENTION: long sequences") {
  Random random(82);
  for (const Sizes& sizes : {Sizes{1, 1, 3, 1100, 3, 2},
                             {1, 2, 250, 9, 2, 2},
                             {1, 1, 2, 3, 300, 600},
                             {1, 1, 250, 17000, 1, 1}}) {
    MultiheadAttention use = random_attention(DataType::Float32, sizes, 1, random);
    use.scale = 0.01;
    check_plan_case(case_of(use, {}, 2e-5));
  }
}

// With layouts of their own, too: what belongs to a key is found in every block.
TEST_CASE("MULTIHEAD_ATTENTION: masks of all kinds, and a position bias, beyond a block of keys") {
  Random random(87);
  for (const char* mask_type : {"KEY_SEQUENCE_LENGTH", "KEY_SEQUENCE_END_START",
                                "KEY_QUERY_SEQUENCE_LENGTH_START_END", "BOOLEAN"}) {
    for (int i = 0; i < 4; ++i) {
      const Sizes sizes{2, 2, 3, random.from_to(257, 600), 2, 2};
      MultiheadAttention use = random_attention(DataType::Float32, sizes, 1, random);
      use.mask_type = mask_type;
      use.mask = random_mask(use, random);
      use.filter = -1.5;
      use.position_bias = small_numbers(
          DataType::Float32, {sizes.batch, use.heads, sizes.queries, use.keys()}, random, 0.25);
      check_plan_case(case_of(use, {}, 2e-5));
    }
  }
}

// Sequence 0 has one earlier key, whose value is 4, and sequence 1 none: its new values are alone.
TEST_CASE("MULTIHEAD_ATTENTION1: new keys follow the earlier ones that there are") {
  const MultiheadAttention use{
      .query = floats({2, 2, 1}, {0, 0, 0, 0}),
      .key = floats({2, 2, 1}, {1, 1, 1, 1}),
      .value = floats({2, 2, 1}, {8, 18, 8, 18}),
      .past_key = floats({2, 1, 3, 1}, {1, 1, 1, 1, 1, 1}),
      .past_value = floats({2, 1, 3, 1}, {4, 99, 99, 99, 99, 99}),
      .past_lengths = Tensor::of<std::int32_t>(DataType::Int32, {2}, {1, 0}),
      .total = 5};
  PlanCase a_case = case_of(use, {.is_numbered = true, .has_present = true}, 1e-6);
  const Tensor& output = a_case.outputs[0].tensor;
  CHECK(value_at(output, {0, 0, 0}) == doctest::Approx(6));
  CHECK(value_at(output, {0, 1, 0}) == doctest::Approx(10));
  CHECK(value_at(output, {1, 0, 0}) == doctest::Approx(8));
  CHECK(value_at(output, {1, 1, 0}) == doctest::Approx(13));
  const Tensor& present = a_case.outputs[2].tensor;
  for (const auto& [k, value] : {std::pair{0U, 4.0}, {1U, 8.0}, {2U, 18.0}, {3U, 0.0}})
    CHECK(value_at(present, {0, 0, k, 0}) == value);
  check_plan_case(a_case);
}

/// With earlier keys and lengths of them, from none to all.
MultiheadAttention attention_with_past(DataType type, const Sizes& sizes, std::uint64_t group,
                                       std::uint64_t past, Random& random) {
  MultiheadAttention use = random_attention(type, sizes, group, random);
  use.past_key = small_numbers(type, {sizes.batch, sizes.heads, past, sizes.size}, random, 0.25);
  use.past_value =
      small_numbers(type, {sizes.batch, sizes.heads, past, sizes.value_size}, random, 0.25);
  use.past_lengths = Tensor::packed(DataType::Int32, {sizes.batch});
  for (std::uint64_t b = 0; b < sizes.batch; ++b)
    set_value(*use.past_lengths, {b}, static_cast<double>(random.below(past + 1)));
  use.total = past + sizes.keys;
  if (use.position_bias)
    use.position_bias =
        small_numbers(type, {sizes.batch, use.heads, sizes.queries, use.keys()}, random, 0.25);
  if (use.mask) use.mask = random_mask(use, random);
  use.filter = -1.5;  // a large one would cost the scores their last digits
  return use;
}

TEST_CASE("MULTIHEAD_ATTENTION1: random lengths of earlier keys, of all layouts and masks") {
  Random random(83);
  for (int i = 0; i < 150; ++i) {
    const bool is_half = random.one_in(3), is_long = i == 0;
    Sizes sizes{random.from_to(1, 3), random.from_to(1, 3), random.from_to(1, 5), 0,
                random.from_to(1, 4), random.from_to(1, 4)};
    if (is_long) sizes = {1, 1, 260, 0, 2, 2};
    sizes.keys = sizes.queries;
    const std::uint64_t group = random.one_in(3) ? 2 : 1, past = random.from_to(1, 6);
    const DataType type = is_half ? DataType::Float16 : DataType::Float32;
    MultiheadAttention use = attention_with_past(type, sizes, group, past, random);
    for (std::uint64_t b = 0; b < sizes.batch; ++b)
      set_value(*use.past_lengths, {b}, static_cast<double>(random.below(past + 3)) - 1);
    // Room for all, or for those of a buffer that is not outgrown.
    Layout layout = random_layout(sizes, group > 1, random);
    layout.is_numbered = true;
    use.total = past + sizes.keys;
    if (layout.has_present && random.one_in(2)) use.total = std::max(past, sizes.keys);
    if (use.position_bias)
      use.position_bias =
          small_numbers(type, {sizes.batch, use.heads, sizes.queries, use.keys()}, random, 0.25);
    if (use.mask) use.mask = random_mask(use, random);
    check_plan_case(case_of(use, layout, is_half ? 2e-2 : 2e-5));
  }
}

// A GPU computes them by tiles of 128 queries and 64 keys.
TEST_CASE("MULTIHEAD_ATTENTION1: several tiles of queries and keys, with lengths of earlier keys") {
  Random random(88);
  for (int i = 0; i < 6; ++i) {
    const bool is_half = i % 3 == 2;
    const std::uint64_t queries = random.from_to(8, 200);
    const MultiheadAttention use =
        attention_with_past(is_half ? DataType::Float16 : DataType::Float32,
                            {random.from_to(1, 2), random.from_to(1, 2), queries, queries,
                             random.from_to(1, 24), 8 * random.from_to(1, 9)},
                            random.from_to(1, 2), random.from_to(1, 200), random);
    check_plan_case(case_of(use, {.is_numbered = true, .has_present = random.one_in(2)},
                            is_half ? 2e-2 : 2e-5));
  }
}

// Of a tile, of a block of keys, and of few queries: only later queries see the value.
TEST_CASE("MULTIHEAD_ATTENTION1: an infinite value or NaN of a new key is seen from its query on") {
  Random random(89);
  for (const std::uint64_t queries : {12U, 140U, 2U, 7U}) {  // a GPU runs the first ones
    for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
      for (const std::uint64_t value_size : {8U, 9U}) {
        CAPTURE(queries);
        const std::int32_t length = value_size == 8 ? 62 : 60;  // query 0 does not see key 63
        const auto tensor = [&](const List& sizes) {
          return with_small_numbers(Tensor::packed(DataType::Float32, sizes), random, 0.25);
        };
        MultiheadAttention use{
            .query = tensor({1, queries, 4}),
            .key = tensor({1, queries, 4}),
            .value = tensor({1, queries, value_size}),
            .past_key = tensor({1, 1, 70, 4}),
            .past_value = tensor({1, 1, 70, value_size}),
            .past_lengths = Tensor::of<std::int32_t>(DataType::Int32, {1}, {length}),
            .total = 70 + queries,
            .scale = 0.5};
        set_value(use.value, {0, queries / 2, 3}, value);
        set_value(*use.past_value, {0, 0, 5, 1}, value);
        REQUIRE(std::isfinite(value_at(use.result(), {0, queries / 2 - 1, 3})));
        check_plan_case(case_of(use, {.is_numbered = true}, 2e-5));
      }
    }
  }
}

// A GPU that has cooperative matrices uses them for these.
TEST_CASE("MULTIHEAD_ATTENTION1: FLOAT16 with vectors of 64 and 128, and lengths of earlier keys") {
  Random random(92);
  for (const std::uint64_t size : {128U, 64U, 96U}) {
    MultiheadAttention use =
        attention_with_past(DataType::Float16, {2, 1, 40, 40, size, size}, 2, 30, random);
    use.bias.reset();
    use.scale = 0.0625;
    check_plan_case(case_of(use, {.is_numbered = true}, 2e-2));
    // Later queries see it, earlier ones do not.
    set_value(use.value, {1, 20, 3}, std::numeric_limits<double>::infinity());
    check_plan_case(case_of(use, {.is_numbered = true}, 2e-2));
  }
}

// A GPU cuts their keys into parts of 64 to 256, with vectors of keys and values or without.
TEST_CASE("MULTIHEAD_ATTENTION1: few queries over many keys") {
  Random random(90);
  for (int i = 0; i < 24; ++i) {
    const bool is_half = i % 2 == 1, has_vectors = i % 4 < 2, has_past = i % 3 != 2;
    const DataType type = is_half ? DataType::Float16 : DataType::Float32;
    const std::uint64_t unit = has_vectors ? 8 : 1;
    Sizes sizes{random.from_to(1, 3),
                random.from_to(1, 3),
                random.from_to(1, 4),
                has_past ? 0 : random.from_to(1, 600),
                unit * random.from_to(1, 20 / unit + 3),
                8 * random.from_to(1, 9)};
    const std::uint64_t group = random.from_to(1, 3);
    MultiheadAttention use;
    if (has_past) {
      sizes.keys = sizes.queries;
      use = attention_with_past(type, sizes, group, random.from_to(1, 600), random);
    } else {
      use = random_attention(type, sizes, group, random);
    }
    check_plan_case(case_of(use, {.is_numbered = true, .has_present = has_past && random.one_in(2)},
                            is_half ? 2e-2 : 2e-5));
  }
}

// Values as long as a group has threads, and rows in several slices of scratch.
TEST_CASE("MULTIHEAD_ATTENTION: few queries, at the limits of a group") {
  Random random(91);
  for (const Sizes& sizes : {Sizes{1, 1, 1, 70, 512, 1024},
                             {2, 2, 3, 130, 8, 260},
                             {1, 1, 2, 70, 513, 8},
                             {1, 2, 1, 70, 8, 1028},
                             {1, 1, 1, 300, 3, 2048}}) {
    MultiheadAttention use = random_attention(DataType::Float32, sizes, 1, random);
    use.scale = 0.01;
    use.filter = -1.5;  // a large one would cost the scores their last digits
    check_plan_case(case_of(use, {}, 2e-5));
  }
}

TEST_CASE("MULTIHEAD_ATTENTION: few queries, and scores that are -infinity in a part of the keys") {
  Random random(92);
  MultiheadAttention use = random_attention(DataType::Float32, {1, 1, 1, 200, 4, 8}, 1, random);
  use = {.query = use.query, .key = use.key, .value = use.value, .scale = 0.5};
  set_value(use.query, {0, 0, 0}, 1);
  for (std::uint64_t key = 64; key < 140; ++key)
    set_value(use.key, {0, key, 0}, -std::numeric_limits<double>::infinity());
  check_plan_case(case_of(use, {}, 2e-5));
}

void check_refused(const nlohmann::ordered_json& description, const char* message) {
  Diagnostics diagnostics;
  auto read = read_description("op.json", description.dump(), newest_feature_level, diagnostics);
  REQUIRE(read);
  check_description(*read, diagnostics);
  REQUIRE(diagnostics.empty());
  CHECK_THROWS_WITH_AS(make_plan(*read), doctest::Contains(message), Error);
}

TEST_CASE(
    "MULTIHEAD_ATTENTION1: lengths need earlier keys, one query for each new one, one total") {
  MultiheadAttention use{.query = floats({1, 1, 1}, {1}),
                         .key = floats({1, 1, 1}, {1}),
                         .value = floats({1, 1, 1}, {1}),
                         .past_key = floats({1, 1, 2, 1}, {1, 1}),
                         .past_value = floats({1, 1, 2, 1}, {1, 1}),
                         .past_lengths = Tensor::of<std::int32_t>(DataType::Int32, {1}, {1}),
                         .total = 3};
  const Layout layout{.is_numbered = true, .has_present = true};
  nlohmann::ordered_json description = case_of(use, layout, 0).description();
  description["desc"]["OutputPresentValueTensor"]["Sizes"] = {1, 1, 2, 1};
  check_refused(description, "OutputPresentValueTensor has a total length of 2");
  use.query = floats({1, 2, 1}, {1, 1});
  check_refused(case_of(use, layout, 0).description(), "2 queries but 1 new keys");
  use.query = floats({1, 1, 1}, {1});
  use.past_key.reset();
  use.past_value.reset();
  check_refused(case_of(use, layout, 0).description(), "PastSequenceLengthsTensor without Past");
}

TEST_CASE("MULTIHEAD_ATTENTION: the heads share the hidden size evenly") {
  MultiheadAttention use{.query = floats({1, 1, 2}, {1, 2}),
                         .key = floats({1, 1, 2}, {1, 2}),
                         .value = floats({1, 1, 2}, {1, 2})};
  nlohmann::ordered_json description = case_of(use, {}, 0).description();
  CHECK(messages(description) == "");
  description["desc"]["HeadCount"] = 3;
  CHECK(messages(description) != "");
}

}  // namespace
}  // namespace dmlop::test::attention_test
