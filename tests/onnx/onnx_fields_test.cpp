// What attributes of ONNX's nodes become in the fields of DirectML's operators, where ONNX's own
// tests of operators have no example.
#include <doctest/doctest.h>

#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "graph/describe.hpp"
#include "onnx/import.hpp"
#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_fields_test {
namespace {

using namespace onnx_bytes;
using Json = nlohmann::ordered_json;

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

/// A node in the words of a version.
struct Versioned {
  std::int64_t version;
  std::vector<std::string> inputs;
  std::vector<std::string> attributes = {};
  std::vector<std::string> initializers = {};
};

Json fields_of(const std::string& type, const std::vector<std::string>& inputs,
               const Versioned& written, const std::vector<std::string>& outputs = {"y"}) {
  std::vector<std::string> values;
  for (const std::string& output : outputs) values.push_back(value(output, {"a", "b", "c", "d"}));
  return fields_of(model({.nodes = {node(type, written.inputs, outputs, written.attributes)},
                          .initializers = written.initializers,
                          .inputs = inputs,
                          .outputs = values,
                          .version = written.version}));
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

// ONNX lets pads stand with auto_pad NOTSET only. ONNX Runtime refuses convolutions that have both,
// and pools without the pads.
TEST_CASE(
    "onnx fields: pads beside auto_pad are not read by pooling, and refused by convolutions") {
  const std::string x = value("x", {"1", "2", "5", "5"}), w = value("w", {"2", "2", "3", "3"});
  const std::string pads = integers("pads", {1, 1, 0, 0});
  for (const char* automatic : {"VALID", "SAME_UPPER", "SAME_LOWER"}) {
    const std::string chosen = text("auto_pad", automatic);
    for (const char* type : {"MaxPool", "AveragePool", "LpPool"}) {
      const std::string window = integers("kernel_shape", {2, 2});
      CHECK(fields_of(type, {x}, {13, {"x"}, {window, chosen, pads}}) ==
            fields_of(type, {x}, {13, {"x"}, {window, chosen}}));
    }
    for (const char* type : {"Conv", "ConvTranspose"}) {
      const std::string said = fields_of(type, {x, w}, {13, {"x", "w"}, {chosen, pads}}).dump();
      CHECK_MESSAGE(said.find("its auto_pad is " + std::string(automatic) +
                              ", but it has pads [1, 1, 0, 0], too") != std::string::npos,
                    said);
      // Pads of 0 say nothing else.
      const std::string zeros = integers("pads", {0, 0, 0, 0});
      CHECK(fields_of(type, {x, w}, {13, {"x", "w"}, {chosen, zeros}}) ==
            fields_of(type, {x, w}, {13, {"x", "w"}, {chosen}}));
    }
  }
  for (const char* type : {"Conv", "ConvTranspose"}) {
    const std::string said =
        fields_of(type, {x, w}, {13, {"x", "w"}, {text("auto_pad", "SAME")}}).dump();
    CHECK(said.find("its auto_pad is \\\"SAME\\\"") != std::string::npos);
  }
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

TEST_CASE("onnx fields: names of activations are the same in any case") {
  const auto activations = [](const std::string& name) {
    return fields_of(
        model({.nodes = {node("RNN", {"x", "w", "r"}, {"y"}, {texts("activations", {name})})},
               .inputs = {value("x", {"2", "1", "3"}), value("w", {"1", "2", "3"}),
                          value("r", {"1", "2", "2"})},
               .outputs = {value("y", {"2", "1", "1", "2"})}}));
  };
  const auto in_case = [](std::string name, int (*convert)(int)) {
    for (char& c : name) c = static_cast<char>(convert(c));
    return name;
  };
  const std::map<std::string, std::string> expected{
      {"Relu", "RELU{}"},
      {"LeakyRelu", "LEAKY_RELU{\"Alpha\":0.01}"},
      {"ThresholdedRelu", "THRESHOLDED_RELU{\"Alpha\":1}"},
      {"Tanh", "TANH{}"},
      {"ScaledTanh", "SCALED_TANH{\"Alpha\":1,\"Beta\":1}"},
      {"Sigmoid", "SIGMOID{}"},
      {"HardSigmoid", "HARD_SIGMOID{\"Alpha\":0.2,\"Beta\":0.5}"},
      {"Elu", "ELU{\"Alpha\":1}"},
      {"Softsign", "SOFTSIGN{}"},
      {"Softplus", "SOFTPLUS{\"Steepness\":1}"},
  };
  for (const auto& [name, text] : expected) {
    for (const std::string& spelling :
         {name, in_case(name, std::tolower), in_case(name, std::toupper)}) {
      CAPTURE(spelling);
      const Json fields = activations(spelling);
      REQUIRE_MESSAGE(fields.is_object(), fields.dump());
      const Json& one = fields.at("ActivationDescs").at(0);
      CHECK(one.at("Type").get<std::string>().substr(24) + one.at("Desc").dump() == text);
    }
  }
  CHECK(activations("Affine").dump().find("is none of DirectML's") != std::string::npos);
}

// What an operator was called otherwise, or took from elsewhere, before a version of ONNX.
TEST_CASE("onnx fields: each version says the same in its own words") {
  struct Row {
    const char* old_type;
    const char* type;
    Versioned before, since;
    bool differ = false;
    std::vector<std::string> outputs = {"y"};
  };
  const std::string x = value("x", {"1", "2", "4", "6"});
  const auto counts = [](const char* name, const std::vector<std::int64_t>& numbers) {
    return tensor(name, 7, {static_cast<std::int64_t>(numbers.size())}, raw_integers(numbers));
  };
  const auto floats = [](const char* name, const std::vector<float>& numbers) {
    return tensor(name, 1, {static_cast<std::int64_t>(numbers.size())}, raw_floats(numbers));
  };
  const auto scalar = [](const char* name, float number) {
    return tensor(name, 1, {}, raw_floats({number}));
  };
  const std::vector<std::string> asymmetric{text("coordinate_transformation_mode", "asymmetric"),
                                            text("nearest_mode", "floor")};
  const std::string scales = floats("s", {1, 1, 2, 0.5F});
  const std::vector<Row> rows{
      {"Softmax", "Softmax", {12, {"x"}, {integer("axis", 3)}}, {13, {"x"}}},
      {"Softmax", "Softmax", {12, {"x"}}, {13, {"x"}}, true},
      {"LogSoftmax", "LogSoftmax", {12, {"x"}, {integer("axis", 3)}}, {13, {"x"}}},
      {"TopK",
       "TopK",
       {9, {"x"}, {integer("k", 3)}},
       {10, {"x", "k"}, {}, {counts("k", {3})}},
       false,
       {"y", "i"}},
      {"Slice",
       "Slice",
       {9, {"x"}, {integers("starts", {1, 2}), integers("ends", {3, 5}), integers("axes", {2, 3})}},
       {10,
        {"x", "b", "e", "a"},
        {},
        {counts("b", {1, 2}), counts("e", {3, 5}), counts("a", {2, 3})}}},
      {"Pad",
       "Pad",
       {10, {"x"}, {integers("pads", {0, 0, 1, 2, 0, 0, 3, 4}), real("value", 5)}},
       {11, {"x", "p", "v"}, {}, {counts("p", {0, 0, 1, 2, 0, 0, 3, 4}), scalar("v", 5)}}},
      {"Upsample",
       "Resize",
       {7, {"x"}, {reals("scales", {1, 1, 2, 0.5F})}},
       {11, {"x", "", "s"}, {}, {scales}}},
      {"Upsample",
       "Resize",
       {9, {"x", "s"}, {}, {scales}},
       {11, {"x", "", "s"}, {}, {scales}}},
      {"Resize",
       "Resize",
       {10, {"x", "s"}, {}, {scales}},
       {11, {"x", "", "s"}, {}, {scales}}},
      {"Resize",
       "Resize",
       {10, {"x", "s"}, {}, {scales}},
       {11, {"x", "", "s"}, asymmetric, {scales}},
       true},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.type));
    CAPTURE(row.before.version);
    const Json before = fields_of(row.old_type, {x}, row.before, row.outputs);
    const Json since = fields_of(row.type, {x}, row.since, row.outputs);
    REQUIRE_MESSAGE(before.is_object(), before.dump());
    REQUIRE_MESSAGE(since.is_object(), since.dump());
    if (row.differ) {
      CHECK(before.dump() != since.dump());
    } else {
      CHECK(before.dump() == since.dump());
    }
  }
  // Bounds of a newer Clip have the type of the input.
  const Json clip = fields_of("Clip", {x}, {10, {"x"}, {real("min", -2), real("max", 3)}});
  CHECK(clip.at("Min") == -2);
  CHECK(clip.at("Max") == 3);
  // Regions begin half an element earlier since version 16, unless it is told not to.
  const std::vector<std::string> regions{value("x", {"1", "2", "8", "8"}), value("r", {"3", "4"}),
                                         value("b", {"3"}, 7)};
  const auto align = [&](std::int64_t version, const std::vector<std::string>& attributes) {
    return fields_of("RoiAlign", regions, {version, {"x", "r", "b"}, attributes}).dump();
  };
  const std::string old_mode = text("coordinate_transformation_mode", "output_half_pixel");
  CHECK(align(10, {}) == align(16, {old_mode}));
  CHECK(align(10, {}) != align(16, {}));
}

// Windows are counted one by one: with ceil_mode the last one may end behind the padding, but must
// begin before what is padded behind.
TEST_CASE("onnx fields: pooling has as many windows as there are, for all sizes") {
  const auto count_of = [](std::int64_t length, std::int64_t window, std::int64_t stride,
                           std::int64_t before, std::int64_t behind, bool rounds_up) {
    const std::int64_t all = length + before + behind;
    std::int64_t count = 0;
    while (count * stride + window <= all) ++count;
    const bool is_covered = (count - 1) * stride + window == all;
    if (rounds_up && !is_covered && count * stride < length + before) ++count;
    return count;
  };
  std::size_t cases = 0;
  for (std::int64_t length = 1; length <= 7; ++length) {
    for (std::int64_t window = 1; window <= 4; ++window) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (const auto& pads : {std::pair(0, 0), {1, 0}, {0, 1}, {2, 3}}) {
          const int before = pads.first, behind = pads.second;
          if (before >= window || behind >= window || length + before + behind < window) continue;
          for (const bool rounds_up : {false, true}) {
            const Json fields = fields_of(
                "MaxPool", {value("x", {"1", "1", "3", std::to_string(length)})},
                {12,
                 {"x"},
                 {integers("kernel_shape", {1, window}), integers("strides", {1, stride}),
                  integers("pads", {0, before, 0, behind}), integer("ceil_mode", rounds_up)}});
            CAPTURE(length);
            CAPTURE(window);
            CAPTURE(stride);
            CAPTURE(before);
            CAPTURE(behind);
            CAPTURE(rounds_up);
            REQUIRE_MESSAGE(fields.is_object(), fields.dump());
            CHECK(fields.at("OutputTensor").at("Sizes").at(3) ==
                  count_of(length, window, stride, before, behind, rounds_up));
            ++cases;
          }
        }
      }
    }
  }
  CHECK(cases > 300);
}

TEST_CASE("onnx fields: output_dtype is the type of what is quantized, and of what comes back") {
  const auto quantized = [](std::int64_t type, const std::vector<std::string>& more = {}) {
    std::vector<std::string> names{"x", "s"}, inputs{value("x", {"2"}), value("s", {})};
    if (!more.empty()) names.emplace_back("z");
    inputs.insert(inputs.end(), more.begin(), more.end());
    return fields_of("QuantizeLinear", inputs, {21, names, {integer("output_dtype", type)}});
  };
  const auto type_of = [](const Json& fields) {
    REQUIRE_MESSAGE(fields.is_object(), fields.dump());
    return fields.at("OutputTensor").at("DataType").get<std::string>().substr(21);
  };
  CHECK(type_of(quantized(0)) == "UINT8");
  CHECK(type_of(quantized(2)) == "UINT8");
  CHECK(type_of(quantized(3)) == "INT8");
  CHECK(type_of(quantized(0, {value("z", {}, 3)})) == "INT8");
  CHECK(type_of(quantized(3, {value("z", {}, 3)})) == "INT8");
  CHECK(quantized(4).dump().find("it quantizes to UINT16") != std::string::npos);
  CHECK(quantized(2, {value("z", {}, 3)})
            .dump()
            .find("its output_dtype is UINT8, but its zero point is INT8") != std::string::npos);
  CHECK(quantized(17).dump().find(
            "its output_dtype is FLOAT8E4M3FN, which DirectML does not have") != std::string::npos);
}

TEST_CASE("onnx fields: DequantizeLinear makes the type that output_dtype says") {
  const Numbers x{{3}, {-3, 5, 100}, DataType::Int8}, scale{{}, {0.5}, DataType::Float32};
  for (const auto& [number, type] :
       {std::pair(1, DataType::Float32), {10, DataType::Float16}, {0, DataType::Float32}}) {
    const OnnxRun run =
        run_node({"DequantizeLinear", {x, scale}, {integer("output_dtype", number)}, 1, 23});
    REQUIRE(run.findings == "");
    CHECK(run.outputs[0].type == type);
    CHECK(difference(run.outputs[0], {{3}, {-1.5, 2.5, 50}}) == "");
  }
}

TEST_CASE("onnx fields: DynamicQuantizeLinear takes up to 8 dimensions") {
  for (std::size_t dimensions = 1; dimensions <= 8; ++dimensions) {
    CAPTURE(dimensions);
    Sizes sizes(dimensions, 1);
    sizes.back() = 3;
    const Numbers x{sizes, {0, 2, 5.1}};
    CHECK(difference({"DynamicQuantizeLinear", {x}, {}, 3},
                     {{sizes, {0, 100, 255}}, {{}, {0.02}}, {{}, {0}}}) == "");
  }
}

// 4 to the power of 0.5 is 2, not 4 to the power of 0.
TEST_CASE("onnx fields: the exponent of an integer keeps its fraction") {
  for (const DataType type : {DataType::Int32, DataType::UInt8, DataType::Float32}) {
    const Numbers base{{3}, {4, 9, 2}, type};
    const auto check = [&](const Numbers& exponent, const std::vector<double>& expected) {
      CAPTURE(name_of(type));
      CAPTURE(name_of(exponent.type));
      CHECK(difference({"Pow", {base, exponent}}, {{{3}, expected, type}}) == "");
    };
    const double half = type == DataType::Float32 ? 0.5 : 0;
    for (const DataType exponent : {DataType::Float32, DataType::Float16})
      check({{3}, {0.5, 1.5, -1}, exponent}, {2, 27, half});
    check({{}, {0.5}, DataType::Float32}, {2, 3, type == DataType::Float32 ? std::sqrt(2) : 1});
    for (const DataType exponent : {DataType::Int64, DataType::Int32, DataType::Int8})
      check({{3}, {2, 1, -1}, exponent}, {16, 9, half});
    for (const DataType exponent : {DataType::UInt64, DataType::UInt32, DataType::UInt8})
      check({{3}, {2, 1, 3}, exponent}, {16, 9, 8});
  }
}

// In double, 10 times the float 0.7 is less than 7.
TEST_CASE("onnx fields: the size that a scale gives is computed in float") {
  struct Row {
    std::uint64_t from;
    float scale;
    std::uint64_t to;
  };
  for (const Row& row : {Row{10, 0.7F, 7}, {5, 1.4F, 7}, {10, 0.69F, 6}, {3, 2, 6}, {7, 0.5F, 3}}) {
    CAPTURE(row.from);
    CAPTURE(row.scale);
    const std::string x = value("x", {std::to_string(row.from)});
    const std::string scales = tensor("s", 1, {1}, raw_floats({row.scale}));
    for (const Json& fields :
         {fields_of("Resize", {x}, {13, {"x", "", "s"}, {}, {scales}}),
          fields_of("Resize", {x}, {10, {"x", "s"}, {}, {scales}}),
          fields_of("Upsample", {x}, {9, {"x", "s"}, {}, {scales}}),
          fields_of("Upsample", {x}, {7, {"x"}, {reals("scales", {row.scale})}})}) {
      REQUIRE_MESSAGE(fields.is_object(), fields.dump());
      CHECK(fields.at("OutputTensor").at("Sizes").back() == row.to);
    }
  }
}

TEST_CASE("onnx fields: an attribute that ONNX requires must be there") {
  const std::string x = value("x", {"1", "1", "4", "4"});
  const auto is_refused = [&](const std::string& type, const std::vector<std::string>& inputs,
                              const std::string& attribute) {
    const std::string said =
        fields_of(type, {x, value("i", {"1", "1", "4", "4"}, 7)}, {13, inputs}).dump();
    CAPTURE(said);
    CHECK(said.find("its attribute " + attribute + " is missing") != std::string::npos);
  };
  for (const char* type : {"MaxPool", "AveragePool", "LpPool"})
    is_refused(type, {"x"}, "kernel_shape");
  is_refused("MaxUnpool", {"x", "i"}, "kernel_shape");
  is_refused("Concat", {"x", "x"}, "axis");
  // A filter has the sizes of its windows.
  CHECK(fields_of("Conv", {x, value("w", {"2", "1", "3", "3"})}, {13, {"x", "w"}}).is_object());
}

// DirectML writes them as UINT64.
TEST_CASE("onnx fields: indices are INT64") {
  const Numbers x = some_numbers({1, 2, 4, 4});
  const OneNode top{"TopK", {x, whole_numbers({2})}, {}, 2};
  const OneNode pool{"MaxPool", {x}, {integers("kernel_shape", {2, 2})}, 2};
  for (const OneNode& one : {top, pool}) {
    CAPTURE(one.type);
    const OnnxRun run = run_node(one);
    REQUIRE(run.findings == "");
    CHECK(run.outputs[0].type == DataType::Float32);
    CHECK(run.outputs[1].type == DataType::Int64);
  }
}

TEST_CASE("onnx fields: an attribute of another type is refused, not taken for 0") {
  const Numbers x = some_numbers({1, 2});
  for (const auto& [attribute, type] :
       {std::pair(integer("alpha", 1), "INT"), std::pair(text("alpha", "0.5"), "STRING"),
        std::pair(reals("alpha", {0.5F}), "FLOATS")}) {
    const std::string findings = run_node({"LeakyRelu", {x}, {attribute}}).findings;
    CAPTURE(findings);
    CHECK(findings.find("its attribute alpha is " + std::string(type)) != std::string::npos);
    CHECK(findings.find("rule: it must be FLOAT") != std::string::npos);
  }
  CHECK(
      run_node({"Softmax", {x}, {real("axis", 0)}}).findings.find("its attribute axis is FLOAT") !=
      std::string::npos);
}

}  // namespace dmlop::test::onnx_fields_test
