// What attributes of ONNX's nodes become in the fields of DirectML's operators, where ONNX's own
// tests of operators have no example.
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "graph/describe.hpp"
#include "onnx/import.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test {
namespace {

using namespace onnx_bytes;
using Json = nlohmann::ordered_json;

std::string text(const std::string& name, const std::string& value) {
  return part(1, name) + part(4, value) + number(20, 3);
}

std::string integers(const std::string& name, const std::vector<std::int64_t>& values) {
  std::string bytes = part(1, name) + number(20, 7);
  for (const std::int64_t value : values) bytes += number(8, value);
  return bytes;
}

std::string reals(const std::string& name, const std::vector<float>& values) {
  return part(1, name) + number(20, 6) + part(7, raw_floats(values));
}

std::string texts(const std::string& name, const std::vector<std::string>& values) {
  std::string bytes = part(1, name) + number(20, 8);
  for (const std::string& value : values) bytes += part(9, value);
  return bytes;
}

/// The fields of the first operator that a model becomes, or what is said about the model.
Json fields_of(const std::string& bytes) {
  Diagnostics findings;
  const auto model = onnx::read_onnx("x.onnx", std::as_bytes(std::span(bytes)), findings);
  const auto imported = model ? onnx::import_onnx(*model, {}, findings) : std::nullopt;
  if (!imported) return to_text(findings.front());
  for (const GraphNode& node : imported->graph.nodes) {
    std::vector<std::string> messages;
    if (const auto* operation = std::get_if<GraphOperator>(&node.content))
      return describe(node, *operation, messages).description.at("desc");
  }
  return nullptr;
}

Json transposed_convolution(const std::vector<std::string>& attributes) {
  return fields_of(
      model({.nodes = {node("ConvTranspose", {"x", "w"}, {"y"}, attributes)},
             .inputs = {value("x", {"1", "2", "4", "5"}), value("w", {"2", "3", "3", "4"})},
             .outputs = {value("y", {"1", "3", "h", "w"})}}));
}

}  // namespace

// Without padding the output has 2 * 3 + 3 = 9 rows and 2 * 4 + 4 = 12 columns.
TEST_CASE("onnx fields: ConvTranspose pads to its output_shape, and the odd row at the right end") {
  const std::string strides = integers("strides", {2, 2});
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{8, 9}, {1, 3, 8, 9}}) {
    CAPTURE(sizes.size());
    const std::string shape = integers("output_shape", sizes);
    const Json upper = transposed_convolution({strides, shape, text("auto_pad", "SAME_UPPER")});
    CHECK(upper.at("StartPadding") == Json{0, 1});
    CHECK(upper.at("EndPadding") == Json{1, 2});
    for (const std::vector<std::string>& others :
         {std::vector<std::string>{text("auto_pad", "SAME_LOWER")},
          {text("auto_pad", "NOTSET")},
          {},
          {integers("pads", {1, 0, 0, 3})}}) {
      std::vector<std::string> attributes{strides, shape};
      attributes.insert(attributes.end(), others.begin(), others.end());
      const Json fields = transposed_convolution(attributes);
      CHECK(fields.at("StartPadding") == Json{1, 2});
      CHECK(fields.at("EndPadding") == Json{0, 1});
    }
  }
  CHECK(transposed_convolution({strides, integers("output_shape", {9, 12})}).at("StartPadding") ==
        Json{0, 0});
}

// Of the output's 8 rows and 10 columns one and two too many are cut off.
TEST_CASE("onnx fields: ConvTranspose of SAME cuts off where it says") {
  const std::string strides = integers("strides", {2, 2});
  const auto paddings = [&](const char* automatic) {
    const Json fields = transposed_convolution({strides, text("auto_pad", automatic)});
    return Json{fields.at("StartPadding"), fields.at("EndPadding")};
  };
  CHECK(paddings("SAME_UPPER") == Json{{0, 1}, {1, 1}});
  CHECK(paddings("SAME_LOWER") == Json{{1, 1}, {0, 1}});
}

TEST_CASE("onnx fields: activations take alpha and beta in their own order") {
  const auto activations = [](const std::vector<std::string>& names,
                              const std::vector<float>& alphas, const std::vector<float>& betas) {
    const Json fields = fields_of(
        model({.nodes = {node("LSTM", {"x", "w", "r"}, {"y"},
                              {texts("activations", names), reals("activation_alpha", alphas),
                               reals("activation_beta", betas)})},
               .inputs = {value("x", {"2", "1", "3"}), value("w", {"1", "8", "3"}),
                          value("r", {"1", "8", "2"})},
               .outputs = {value("y", {"2", "1", "1", "2"})}}));
    std::string text;
    for (const Json& one : fields.at("ActivationDescs"))
      text += one.at("Type").get<std::string>().substr(24) + one.at("Desc").dump() + " ";
    return text;
  };
  CHECK(
      activations({"LeakyRelu", "ScaledTanh", "HardSigmoid"}, {1.5F, 2.5F, 3.5F}, {0.25F, 0.75F}) ==
      "LEAKY_RELU{\"Alpha\":1.5} SCALED_TANH{\"Alpha\":2.5,\"Beta\":0.25} "
      "HARD_SIGMOID{\"Alpha\":3.5,\"Beta\":0.75} ");
  CHECK(activations({"HardSigmoid", "Tanh", "ScaledTanh"}, {1.5F}, {0.25F, 0.75F}) ==
        "HARD_SIGMOID{\"Alpha\":1.5,\"Beta\":0.25} TANH{} "
        "SCALED_TANH{\"Alpha\":1,\"Beta\":0.75} ");
}

}  // namespace dmlop::test
