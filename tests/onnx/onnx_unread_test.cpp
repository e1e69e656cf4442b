// Nothing of a node is left out in silence: attributes and inputs that its operator does not have
// are refused, and those that change no output are accepted.
#include <doctest/doctest.h>

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

Numbers ones(const Sizes& sizes) {
  return numbers_at(sizes, [](const Sizes&) { return 1.0; });
}

}  // namespace

TEST_CASE("onnx unread: attributes that an operator does not have are refused, all at once") {
  check_refused({"Relu", {matrix}, {integer("axis", 1)}},
                R"(it has the attribute "axis", which is unknown here)");
  check_refused({"Relu", {matrix}, {integer("axis", 1), text("mode", "soft")}},
                R"(it has the attribute "axis" and the attribute "mode", which are unknown here)");
  check_refused({"Gemm", {matrix, some_numbers({4, 2})}, {real("gamma", 0)}},
                R"(the attribute "gamma")");
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

}  // namespace dmlop::test::onnx_unread_test
