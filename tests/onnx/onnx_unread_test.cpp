// Attributes and inputs that a node's operator does not have are refused, not ignored. Those that
// change no output are accepted.
#include <doctest/doctest.h>

#include "onnx/mapping.hpp"
#include "onnx/versions.hpp"
#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_unread_test {
namespace {

using namespace onnx_bytes;

const Numbers matrix = some_numbers({3, 4});
const Numbers image = some_numbers({1, 4, 5, 6});
const Numbers channels = some_numbers({4}, 1);

/// Some of a node's attributes change nothing: it computes what it computes without them.
void check_changes_nothing(OneNode node, const std::vector<std::string>& attributes) {
  CAPTURE(node.type);
  const OnnxRun without = run_node(node);
  REQUIRE(without.findings == "");
  for (const std::string& attribute : attributes) node.attributes.push_back(attribute);
  CHECK(difference(node, without.outputs) == "");
}

/// The row of an operator of ONNX itself; null if it is not mapped.
const onnx::Signature* signature_of(const onnx::OnnxOperator& row) {
  const bool is_mapped = row.map != nullptr && *row.domain == '\0';
  return is_mapped ? onnx::find_signature(row.name) : nullptr;
}

Numbers ones(const Sizes& sizes) {
  return numbers_at(sizes, [](const Sizes&) { return 1.0; });
}

}  // namespace

TEST_CASE("onnx unread: attributes that an operator does not have are refused, all at once") {
  check_refused({"Relu", {matrix}, {integer("axis", 1)}},
                R"(it has the attribute "axis", which is unknown here)");
  check_refused({"Relu", {matrix}, {integer("axis", 1), text("mode", "soft")}},
                R"(it has the attribute "axis" and the attribute "mode", which are unknown here)");
  check_refused({"Relu", {matrix}, {integer("axis", 1), text("mode", "soft")}},
                "remove them if they change no output");
  check_refused({"Softmax", {matrix}, {integer("axes", 1)}}, "help: did you mean \"axis\"?");
  check_refused({"Softmax", {matrix}, {integer("axis", 1), integer("axes", 1)}},
                "help: remove it if it changes no output");
  // Not one of another version.
  check_refused({"Cast", {matrix}, {integer("to", 10), integer("saturated", 1)}, 1, 13},
                "help: remove it if it changes no output");
  check_refused({"Gemm", {matrix, some_numbers({4, 2})}, {real("gamma", 0)}},
                R"(the attribute "gamma")");
}

TEST_CASE("onnx unread: an operator that a version of ONNX does not have is refused") {
  std::size_t count = 0;
  for (const onnx::OnnxOperator& row : onnx::onnx_operators()) {
    const onnx::Signature* signature = signature_of(row);
    if (signature == nullptr || signature->since <= 7) continue;
    CAPTURE(row.name);
    ++count;
    const std::string since = std::to_string(signature->since);
    check_refused({row.name, {matrix}, {}, 1, signature->since - 1},
                  "version " + std::to_string(signature->since - 1) +
                      " of ONNX's operators does not have it\n  rule: it is there from version " +
                      since + " on\n  help: declare version " + since);
  }
  CHECK(count > 50);
  const OneNode upsample{"Upsample", {image, {{4}, {1, 1, 2, 2}}}, {}, 1, 9};
  CHECK(run_node(upsample).findings == "");
  OneNode later = upsample;
  later.version = 10;
  check_refused(later,
                "version 10 of ONNX's operators does not have it\n  rule: it is there up to "
                "version 9\n  help: use Resize, or declare version 9");
  check_refused({"Scatter", {matrix, whole_numbers({0}), matrix}, {}, 1, 11},
                "help: use ScatterElements, or declare version 10");
}

TEST_CASE("onnx unread: each operator of ONNX that is mapped says what its versions have") {
  for (const onnx::OnnxOperator& row : onnx::onnx_operators()) {
    if (row.map == nullptr || *row.domain != '\0') continue;
    CAPTURE(row.name);
    CHECK(signature_of(row) != nullptr);
  }
}

TEST_CASE("onnx unread: attributes and inputs of another version are refused") {
  const auto check = [](const OneNode& node, std::int64_t version, const std::string& message) {
    CHECK_MESSAGE(run_node(node).findings == "", node.type);
    OneNode other = node;
    other.version = version;
    check_refused(other, message);
  };
  const Numbers one_row = some_numbers({1, 4});
  const std::string axes = integers("axes", {0});
  for (const char* type : {"Squeeze", "Unsqueeze", "ReduceSum"})
    check({type, {one_row}, {axes}, 1, 12}, 13,
          "it has the attribute \"axes\", which version 13 of ONNX's operators does not have\n"
          "  rule: " +
              std::string(type) +
              " has axes up to version 12\n"
              "  help: give axes as input 1, as version 13 has it, or declare version 12");
  check({"ReduceMean", {one_row}, {axes}, 1, 17}, 18, "or declare version 17");
  check({"ReduceSum", {one_row, whole_numbers({0})}, {}, 1, 13}, 12,
        "which version 12 of ONNX's operators does not have\n"
        "  rule: ReduceSum has axes from version 13 on\n"
        "  help: give axes as an attribute, as version 12 has it, or declare version 13");
  check({"Split", {some_numbers({6})}, {integers("split", {2, 4})}, 2, 12}, 13,
        "give split as input 1, as version 13 has it");
  check({"Dropout", {matrix}, {real("ratio", 0.5F)}, 1, 11}, 12,
        "give ratio as input 1, as version 12 has it, or declare version 11");
  check({"MaxPool",
         {image},
         {integers("kernel_shape", {2, 2}), integer("ceil_mode", 1), integers("dilations", {2, 2})},
         1,
         10},
        9,
        "it has the attribute \"ceil_mode\" and the attribute \"dilations\", which version 9 of "
        "ONNX's operators does not have\n  rule: MaxPool has ceil_mode and dilations from version "
        "10 on\n  help: remove them if they change no output, or declare version 10");
  check({"Slice", {matrix}, {integers("starts", {0}), integers("ends", {1}), axes}, 1, 9}, 10,
        "give starts, ends and axes as inputs 1, 2 and 3, as version 10 has them, or declare "
        "version 9");
  check({"TopK", {matrix}, {integer("k", 2)}, 2, 9}, 10, "give k as input 1");
  check({"Pad", {matrix}, {integers("pads", {0, 1, 0, 1}), real("value", 2)}, 1, 10}, 11,
        "give pads and value as inputs 1 and 2");
  check({"Pad", {matrix, whole_numbers({0, 1, 0, 1}), {{}, {2}}}, {}, 1, 11}, 10,
        "give pads and value as attributes, as version 10 has them, or declare version 11");
  check({"Resize",
         {image, {}, {{4}, {1, 1, 2, 2}}},
         {text("coordinate_transformation_mode", "asymmetric")},
         1,
         11},
        10, "Resize has coordinate_transformation_mode and scales from version 11 on");
  check({"BatchNormalization",
         {image, channels, channels, channels, ones({4})},
         {integer("spatial", 1)},
         1,
         8},
        9, "BatchNormalization has spatial up to version 8");
  check({"Cast", {matrix}, {integer("to", 10), integer("saturate", 0)}, 1, 19}, 18,
        "Cast has saturate from version 19 on");
  const std::string rounding = text("round_mode", "up");
  check({"Cast", {matrix}, {integer("to", 10), rounding}, 1, 24}, 23,
        "Cast has round_mode from version 24 on");
  check({"CastLike", {matrix, matrix}, {rounding}, 1, 24}, 23,
        "CastLike has round_mode from version 24 on");
  const Numbers heads = some_numbers({1, 2, 3, 4});
  check_refused({"Attention", {heads, heads, heads, {}, {}, {}, whole_numbers({3})}, {}, 1, 23},
                "Attention has nonpad_kv_seqlen from version 24 on");
  for (const char* name : {"left_window_size", "right_window_size"})
    check_refused({"Attention", {heads, heads, heads}, {integer(name, 1)}, 1, 24},
                  "Attention has " + std::string(name) + " from version 25 on");
}

TEST_CASE("onnx unread: an operator that is not known may be meant for another") {
  check_refused({"Sofmax", {matrix}}, "help: did you mean \"Softmax\"?");
  check_refused({"FusedConv", {image, image}}, "help: write the domain com.microsoft");
  // Neither an operator of another domain, nor one that is refused itself.
  for (const char* type : {"MyOp", "Looop", "Loop"})
    check_refused({type, {matrix}, {}, 1, 17, "my.domain"},
                  "help: dmlop ops --onnx lists the operators that are read");
  check_refused({"FusedConvv", {image, image}, {}, 1, 17, "com.microsoft"},
                "help: did you mean \"FusedConv\"?");
  check_refused({"Softmax", {matrix}, {}, 1, 17, "com.microsoft"},
                "help: leave the domain out: it is an operator of ONNX itself");
}

TEST_CASE("onnx unread: inputs that an operator does not have are refused") {
  check_refused({"Relu", {matrix, matrix}}, R"(it has the input 1 ")");
  check_refused({"Add", {matrix, matrix, matrix}}, R"(it has the input 2 ")");
  check_refused({"Relu", {matrix, matrix}, {integer("axis", 1)}},
                R"(it has the attribute "axis" and the input 1 ")");
  // One that is left out is none.
  CHECK(difference({"Relu", {ones({2}), {}}}, {ones({2})}) == "");
}

TEST_CASE("onnx unread: what is for training, for FLOAT8 or for a device changes nothing") {
  check_changes_nothing({"Cast", {matrix}, {integer("to", 10)}, 1, 23}, {integer("saturate", 0)});
  check_changes_nothing({"Cast", {matrix}, {integer("to", 10)}, 1, 26}, {text("round_mode", "up")});
  check_changes_nothing({"CastLike", {matrix, whole_numbers({1})}, {}, 1, 24},
                        {text("round_mode", "down")});
  check_changes_nothing({"CastLike", {matrix, whole_numbers({1})}, {}, 1, 23},
                        {integer("saturate", 0)});
  check_changes_nothing({"QuantizeLinear", {matrix, {{}, {0.5}}}, {}, 1, 21},
                        {integer("saturate", 0)});
  check_changes_nothing({"Dropout", {matrix}}, {integer("seed", 3)});
  check_changes_nothing({"Dropout", {matrix}, {}, 1, 10}, {real("ratio", 0.25F)});
  CHECK(difference({"Dropout", {ones({2}), {{}, {0.25}}}}, {ones({2})}) == "");
  check_changes_nothing({"BatchNormalization", {image, channels, channels, channels, ones({4})}},
                        {real("momentum", 0.5F)});
  check_changes_nothing({"LayerNormalization", {matrix, channels}}, {integer("stash_type", 10)});
  check_changes_nothing(
      {"GroupNormalization", {image, channels, channels}, {integer("num_groups", 2)}, 1, 21},
      {integer("stash_type", 10)});
  const Numbers heads = some_numbers({1, 2, 3, 4});
  check_changes_nothing({"Attention", {heads, heads, heads}, {}, 1, 23},
                        {integer("softmax_precision", 1), integer("qk_matmul_output_mode", 2)});
  check_changes_nothing({"TopK", {matrix, whole_numbers({2})}, {}, 2}, {integer("sorted", 0)});
}

TEST_CASE("onnx unread: what is for another use of the operator changes nothing") {
  const std::string kernel = integers("kernel_shape", {2, 2});
  check_changes_nothing({"AveragePool", {image}, {kernel, text("auto_pad", "SAME_UPPER")}},
                        {integers("pads", {1, 1, 1, 1})});
  check_changes_nothing({"MaxPool", {image}, {kernel}}, {integer("storage_order", 1)});
  check_changes_nothing({"Gemm", {matrix, some_numbers({4, 2})}}, {real("beta", 3)});
  check_changes_nothing({"ReduceSum", {matrix, whole_numbers({1})}},
                        {integer("noop_with_empty_axes", 1)});
  const OneNode resize{"Resize", {image, {}, {{4}, {1, 1, 2, 2}}}, {text("mode", "linear")}, 1, 18};
  check_changes_nothing(resize, {real("cubic_coeff_a", 1), text("nearest_mode", "ceil"),
                                 text("keep_aspect_ratio_policy", "not_larger")});
  OneNode with_roi = resize;
  with_roi.inputs[1] = {{8}, {0, 0, 0, 0, 1, 1, 0.5, 0.5}};
  CHECK(difference(with_roi, run_node(resize).outputs) == "");
}

TEST_CASE("onnx unread: attributes that repeat sizes must say the same") {
  const Numbers filter = some_numbers({8, 4, 2, 3});
  check_changes_nothing({"Conv", {image, filter}}, {integers("kernel_shape", {2, 3})});
  check_refused({"Conv", {image, filter}, {integers("kernel_shape", {3, 2})}},
                "its kernel_shape is [3, 2], but its filter has the sizes [8, 4, 2, 3]");
  const Numbers backward = some_numbers({4, 2, 2, 3});
  check_changes_nothing({"ConvTranspose", {image, backward}}, {integers("kernel_shape", {2, 3})});
  check_refused({"ConvTranspose", {image, backward}, {integers("kernel_shape", {2, 2})}},
                "its kernel_shape is [2, 2], but its filter has the sizes [4, 2, 2, 3]");
  const OneNode network{
      "RNN", {some_numbers({2, 1, 3}), some_numbers({1, 5, 3}), some_numbers({1, 5, 5})}};
  check_changes_nothing(network, {integer("hidden_size", 5)});
  OneNode other = network;
  other.attributes = {integer("hidden_size", 3)};
  check_refused(other, "its hidden_size is 3, but its recurrence weights have the sizes [1, 5, 5]");
}

TEST_CASE("onnx unread: a choice that is none of the operator's is refused") {
  check_refused({"DepthToSpace", {image}, {integer("blocksize", 2), text("mode", "XYZ")}},
                "its mode is \"XYZ\"\n  rule: mode is one of: DCR, CRD");
  check_refused({"Gelu", {matrix}, {text("approximate", "erf")}, 1, 20},
                "approximate is one of: none, tanh");
  const Numbers regions = some_numbers({2, 4});
  const auto regions_with = [&](const std::string& attribute) {
    return OneNode{"RoiAlign", {image, regions, whole_numbers({0, 0})}, {attribute}};
  };
  check_refused(regions_with(text("mode", "sum")), "mode is one of: avg, max");
  check_refused(regions_with(text("coordinate_transformation_mode", "corners")),
                "coordinate_transformation_mode is one of: half_pixel, output_half_pixel");
}

TEST_CASE("onnx unread: what DirectML does not have comes with what it has") {
  const Numbers scales{{4}, {1, 1, 2, 2}};
  const auto resize = [&](const std::vector<std::string>& attributes) {
    return OneNode{"Resize", {image, {}, scales}, attributes};
  };
  check_refused(resize({text("mode", "cubic")}), "help: where a smoother picture is not needed");
  check_refused(resize({integer("exclude_outside", 1)}), "help: leave out exclude_outside");
  check_refused(resize({real("extrapolation_value", 2)}), "help: leave it out");
  check_refused({"Resize", {image}}, "help: give scales as input 2, or sizes as input 3");
  check_refused({"Resize", {image}, {}, 1, 10}, "help: give scales as input 1");
  check_refused({"Gemm", {image, image}},
                "rule: both have 2 dimensions\n  help: for more dimensions");
  const auto einsum = [&](std::vector<Numbers> inputs, const char* equation) {
    return OneNode{"Einsum", std::move(inputs), {text("equation", equation)}};
  };
  check_refused(einsum({matrix}, "...j->..."), "help: write a letter for each dimension");
  check_refused(einsum({ones({2, 2})}, "ii->i"), "help: multiply the input by an identity matrix");
  check_refused(einsum({matrix, matrix, matrix}, "ij,ij,ij->i"),
                "help: write it as several nodes of two inputs each");
  check_refused({"Pad", {matrix, whole_numbers({-1, 0, 0, 0})}}, "help: take elements away");
  check_refused({"ScatterElements",
                 {matrix,
                  numbers_at(
                      {1, 4}, [](const Sizes&) { return 0; }, DataType::Int64),
                  ones({1, 4})},
                 {text("reduction", "add")}},
                "scatter what Add makes of the updates and of GatherElements");
  const Numbers row = numbers_at(
      {1, 1}, [](const Sizes&) { return 0; }, DataType::Int64);
  check_refused({"ScatterND", {matrix, row, ones({1, 4})}, {text("reduction", "max")}, 1, 18},
                "scatter what Max makes of the updates and of GatherND");
  check_refused({"ScatterND", {matrix, row, ones({1, 4})}, {text("reduction", "sum")}, 1, 18},
                "reduction is one of: none, add, mul, max, min");
}

TEST_CASE("onnx unread: num_outputs of Split counts its outputs") {
  const auto split = [](std::vector<std::string> attributes, std::vector<Numbers> more = {}) {
    more.insert(more.begin(), some_numbers({6}));
    return OneNode{"Split", more, std::move(attributes), 2, 18};
  };
  check_changes_nothing(split({}), {integer("num_outputs", 2)});
  check_refused(split({integer("num_outputs", 3)}), "its num_outputs is 3, but it has 2 outputs");
  check_refused(split({integer("num_outputs", 2)}, {whole_numbers({2, 4})}),
                "it has split and num_outputs");
}

TEST_CASE("onnx unread: attention and packed weights accept their defaults, and nothing more") {
  const Numbers heads = some_numbers({1, 2, 3, 4});
  OneNode attention{"Attention", {heads, heads, heads}, {}, 1, 23};
  check_changes_nothing(attention, {integer("q_num_heads", 2), integer("kv_num_heads", 2)});
  attention.attributes = {integer("q_num_heads", 4)};
  check_refused(attention, "its q_num_heads is 4, but its query has the sizes [1, 2, 3, 4]");

  const Numbers key = some_numbers({1, 3, 4});
  OneNode group{"GroupQueryAttention",
                {some_numbers({1, 3, 8}), key, key, {}, {}, whole_numbers({2}), whole_numbers({3})},
                {integer("num_heads", 2), integer("kv_num_heads", 1)}};
  group.domain = "com.microsoft";
  check_changes_nothing(group,
                        {integer("qk_output", 0), integer("kv_cache_bit_width", 0),
                         real("qk_norm_epsilon", 1e-6F), integer("sliding_window_cache", 0)});
  group.attributes.push_back(integer("sliding_window_cache", 1));
  check_refused(group, "its cache slides");

  const auto bytes = [](const Sizes&) { return 37.0; };
  OneNode packed{"MatMulNBits",
                 {some_numbers({1, 32}), numbers_at({2, 1, 16}, bytes, DataType::UInt8), ones({2})},
                 {integer("K", 32), integer("N", 2), integer("block_size", 32)}};
  packed.domain = "com.microsoft";
  check_changes_nothing(
      packed, {integer("bits", 4), integer("weight_prepacked", 0), integer("accuracy_level", 4)});
  packed.attributes.push_back(integer("weight_prepacked", 1));
  check_refused(packed, "its weights are prepacked");
}

TEST_CASE("onnx unread: operators of com.microsoft take what is for other uses") {
  const auto contrib = [](const std::string& type, const std::vector<Numbers>& inputs,
                          const std::vector<std::string>& attributes = {}) {
    OneNode node{type, inputs, attributes};
    node.domain = "com.microsoft";
    return node;
  };
  check_changes_nothing(contrib("Attention", {some_numbers({1, 2, 6}), some_numbers({6, 12})},
                                {integer("num_heads", 2)}),
                        {integer("rotary_embedding_dim", 32)});

  const auto words = [](double number) {
    return numbers_at(
        {1, 2}, [=](const Sizes&) { return number; }, DataType::Int32);
  };
  std::vector<Numbers> embedding{words(1), {},       matrix,  some_numbers({2, 4}),
                                 {},       channels, channels};
  const OneNode without_mask = contrib("EmbedLayerNormalization", embedding);
  check_changes_nothing(without_mask, {integer("mask_index_type", 1)});
  embedding.push_back(words(1));
  CHECK(difference(contrib("EmbedLayerNormalization", embedding), run_node(without_mask).outputs) ==
        "");

  // Cosines and sines without do_rotary.
  const Numbers key = some_numbers({1, 3, 4}), cache = some_numbers({3, 2}, 5);
  std::vector<Numbers> group{some_numbers({1, 3, 8}), key, key, {}, {}, whole_numbers({2}),
                             whole_numbers({3})};
  const std::vector<std::string> heads{integer("num_heads", 2), integer("kv_num_heads", 1)};
  const OnnxRun without_cache = run_node(contrib("GroupQueryAttention", group, heads));
  REQUIRE(without_cache.findings == "");
  group.insert(group.end(), {cache, cache});
  CHECK(difference(contrib("GroupQueryAttention", group, heads), without_cache.outputs) == "");
}

TEST_CASE("onnx unread: what tools note in attributes of their own is none of the operator's") {
  check_changes_nothing({"Relu", {matrix}}, {integer("__layer", 3)});
}

TEST_CASE("onnx unread: MeanVarianceNormalization is ONNX's own from version 9 on") {
  check_refused({"MeanVarianceNormalization", {image}, {}, 1, 8}, "it is there from version 9 on");
  CHECK(run_node({"MeanVarianceNormalization", {image}, {}, 1, 9}).findings == "");
}

TEST_CASE("onnx unread: functions and branches have no more than they say") {
  const auto findings_of = [](const std::string& called) {
    const std::string own =
        function({.name = "Own",
                  .inputs = {"a"},
                  .outputs = {"r"},
                  .nodes = {node("LeakyRelu", {"a"}, {"r"}, {reference("alpha", "slope")})},
                  .attributes = {"slope"}});
    return run_onnx(model({.nodes = {called}, .initializers = {truth("holds", true)}}, {own}),
                    {{"x", some_numbers({2, 3})}})
        .findings;
  };
  CHECK(findings_of(node_of("own", "Own", {"x"}, {"y"}, {real("slope", 2)})) == "");
  const auto check = [&](const std::string& called, const std::string& words) {
    const std::string findings = findings_of(called);
    CHECK_MESSAGE(findings.find(words) != std::string::npos, findings);
  };
  const Parts branch{
      .nodes = {node("Relu", {"x"}, {"z"})}, .inputs = {}, .outputs = {value("z", {})}};
  const std::string then_branch = graph_attribute("then_branch", branch),
                    else_branch = graph_attribute("else_branch", branch);
  CHECK(findings_of(node("If", {"holds"}, {"y"}, {then_branch, else_branch})) == "");
  check(node("If", {"holds"}, {"y"}, {then_branch, else_branch, integer("mode", 1)}),
        "it has the attribute \"mode\", which is unknown here");
  check(node_of("own", "Own", {"x", "x"}, {"y"}), "it has 2 inputs, but its function has 1");
  check(node_of("own", "Own", {"x"}, {"y"}, {real("scope", 2)}),
        "it has the attribute \"scope\", which its function does not have");
}

}  // namespace dmlop::test::onnx_unread_test
