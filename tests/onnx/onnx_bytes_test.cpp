// The bytes of ONNX models: every part that is cut off, wrong or too large is refused with its
// place, and external data stays beside the model.
#include <functional>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "folder.hpp"
#include "onnx/import.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_bytes_test {
namespace {

using namespace onnx_bytes;

std::string findings_of(const std::string& bytes, const onnx::ImportRequest& request = {}) {
  Diagnostics findings;
  const auto model = onnx::read_onnx("x.onnx", std::as_bytes(std::span(bytes)), findings);
  if (model) onnx::import_onnx(*model, request, findings);
  std::vector<std::string> texts;
  for (const Diagnostic& finding : findings) texts.push_back(to_text(finding));
  return join(texts, "\n");
}

const std::string relu = node("Relu", {"x"}, {"y"});

TEST_CASE("onnx bytes: the last version of a domain counts, and ONNX Runtime's own needs none") {
  const std::vector<onnx::OperatorSet> sets{{"", 13}, {"ai.onnx", 11}, {"own", 2}};
  CHECK(onnx::version_of("", sets) == 11);
  CHECK(onnx::version_of("ai.onnx", sets) == 11);
  CHECK(onnx::version_of("own", sets) == 2);
  CHECK(onnx::version_of("com.microsoft", sets) == 1);
  CHECK(onnx::version_of("other", sets) == 0);
}

/// A model that is refused, and a part of what is said about it.
struct Refused {
  std::string bytes;
  std::string message;
};

TEST_CASE("onnx bytes: a model is read") {
  CHECK(findings_of(model({.nodes = {relu}})).empty());
}

TEST_CASE("onnx bytes: a graph keeps the bytes of a model in which its constants lie") {
  auto bytes = std::make_shared<const std::string>(
      model({.nodes = {node("Gemm", {"x", "w"}, {"h"}), node("Identity", {"v"}, {"u"}),
                       node("Add", {"h", "u"}, {"y"})},
             .initializers = {tensor("w", 1, {3, 3}, raw_floats({1, 2, 3, 4, 5, 6, 7, 8, 9})),
                              tensor("v", 1, {3}, raw_floats({1, 2, 3}))}}));
  const std::weak_ptr<const std::string> kept = bytes;
  std::optional<onnx::Imported> imported;
  {
    Diagnostics findings;
    auto model = onnx::read_onnx("x.onnx", std::as_bytes(std::span(*bytes)), findings);
    REQUIRE(model);
    model->owner = std::move(bytes);
    imported = onnx::import_onnx(*model, {}, findings);
    REQUIRE(imported);
  }
  std::size_t in_model = 0;  // others are computed
  for (const GraphNode& node : imported->graph.nodes) {
    const auto* constant = std::get_if<GraphConstant>(&node.content);
    if (constant == nullptr) continue;
    REQUIRE(constant->view);
    CHECK(constant->view->owner != nullptr);
    in_model += constant->view->owner == kept.lock() ? 1 : 0;
  }
  CHECK(in_model == 1);
  imported.reset();
  CHECK(kept.expired());
}

TEST_CASE("onnx bytes: every beginning of a model is refused or valid, and nothing crashes") {
  const std::string bytes =
      model({.nodes = {node("Gemm", {"x", "w"}, {"h"}, {integer("transB", 1)}),
                       node("Softmax", {"h"}, {"y"}, {integer("axis", -1)})},
             .initializers = {tensor("w", 1, {3, 3}, raw_floats({1, 2, 3, 4, 5, 6, 7, 8, 9}))}});
  REQUIRE(findings_of(bytes).empty());
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    refused += findings_of(bytes.substr(0, size)).empty() ? 0 : 1;
  CHECK(refused == bytes.size());  // the operator set stands at the end
}

TEST_CASE("onnx bytes: what is wrong is said with its place") {
  const std::string w = raw_floats({1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto with_weights = [&](const std::string& initializer) {
    return model({.nodes = {node("MatMul", {"x", "w"}, {"y"})}, .initializers = {initializer}});
  };
  const std::vector<Refused> rows{
      {"", "it has no graph"},
      {"\x0A\x7F", "byte 2: a field is longer than what holds it"},
      {std::string(11, '\xFF'), "byte 0: a number has more than 10 bytes"},
      {number(7, 1), "field 7 must have a length"},
      {model({.nodes = {part(1, "x") + number(2, 1)}}), "node 0: byte"},
      {model({.nodes = {relu}, .version = 6}), "version 6 of ONNX's operators"},
      {model({.nodes = {relu}, .version = 6}), "convert_version(model, 13)"},
      {model({.nodes = {relu}, .version = 99}),
       "versions 7 to 26 are read\n  help: export it with one of these, or convert it: "
       "onnx.version_converter.convert_version(model, 26)"},
      {model({.nodes = {node("Relu", {"xx"}, {"y"})}}), "help: did you mean \"x\"?"},
      {model({.nodes = {node("Relu", {"inptu"}, {"y"})},
              .inputs = {value("input", {"2"}), value("other", {"2"})}}),
       "help: did you mean \"input\"?"},
      {model({.nodes = {node("Relu", {"somewhere"}, {"y"})},
              .inputs = {value("x", {"2"}), value("other", {"2"})}}),
       "help: values that are there: other, x"},
      {model({.nodes = {node("Relu", {"y"}, {"y"})}}),
       "help: no node may read what it writes itself"},
      {model({.nodes = {node("Relu", {"z"}, {"y"})}}),
       "its input \"z\" is neither an input of the model"},
      {model({.nodes = {relu, relu}}),
       "the value \"y\" already exists\n  rule: each value is written once\n"
       "  help: give one of the two another name"},
      {model({.nodes = {node("Relu", {"x"}, {"z"})}}), "the output \"y\" is written by no node"},
      {model({.nodes = {node("Frobnicate", {"x"}, {"y"})}}),
       "node \"node of y\" (Frobnicate): dmlop does not read this operator"},
      {model({.nodes = {node("Loop", {"x"}, {"y"})}}), "(Loop): it runs other nodes"},
      {model({.nodes = {relu}, .inputs = {value("x", {"n", "3"})}}),
       "dimension 0 \"n\" has no size in the model"},
      {model({.nodes = {relu}, .inputs = {value("x", {"2"}, 8)}}), "input \"x\" is STRING"},
      {model({.nodes = {relu}, .inputs = {value("x", {"2"}, 16)}}), "input \"x\" is BFLOAT16"},
      {model({.nodes = {relu}, .inputs = {value("x", {"0", "3"})}}),
       "DirectML has no tensors without elements"},
      {with_weights(tensor("w", 1, {3, 3}, w.substr(1))),
       "its raw_data has 35 bytes, must have 36"},
      {with_weights(tensor_head("w", 1, {3, 3}) + part(4, w.substr(4))),
       "it has 8 values, must have 9"},
      {with_weights(tensor_head("w", 1, {3, 3}) + part(4, w + w)), "has more than 9 numbers"},
      {with_weights(tensor_head("w", 1, {3, 3}) + number(7, 1)), "does not hold values of FLOAT32"},
      {with_weights(tensor("w", 1, {3, -3}, w)), "it has the size -3"},
      {with_weights(tensor("w", 1, {1LL << 40, 1LL << 40}, w)), "more elements than 64 bits"},
      {with_weights(tensor_head("w", 1, {1LL << 30, 1LL << 30})), "elements as numbers, must have"},
      {with_weights(tensor("w", 1, {2, 3}, w.substr(12))), "do not fit together"},
      {model({.nodes = {node("Reshape", {"x", "s"}, {"y"})},
              .inputs = {value("x", {"2", "3"}), value("s", {"1"}, 7)}}),
       "its input 1 \"s\" must be known before anything runs"},
      {model({.nodes = {node("Abs", {"s"}, {"t"}), node("Reshape", {"x", "t"}, {"y"})},
              .inputs = {value("x", {"2", "3"}), value("s", {"1"}, 7)}}),
       "help: make it an initializer, or give the elements of the inputs that it follows from"},
      {model({.nodes = {node("Reshape", {"x", "s"}, {"y"})},
              .initializers = {tensor("s", 7, {2}, raw_integers({4, 2}))}}),
       "its output [4, 2] has other elements than its input [2, 3]"},
      {model({.nodes = {node("Relu", {"x"}, {"y"})}, .outputs = {}}),
       "the model has no outputs\n  rule: what no output needs is not read\n  help: declare"},
      {model({.nodes = {node("Softmax", {"x"}, {"y"}, {integer("axis", 5)})}}),
       "its axis is 5, but the tensor has 2 dimensions"},
      {model({.nodes = {node("Add", {"x", "z"}, {"y"})},
              .inputs = {value("x", {"2", "3"}), value("z", {"4"})}}),
       "its inputs [2, 3] and [4] do not fit together"},
  };
  for (const Refused& row : rows) {
    const std::string findings = findings_of(row.bytes);
    CHECK_MESSAGE(findings.find(row.message) != std::string::npos,
                  row.message << " not in: " << findings);
  }
}

TEST_CASE(
    "onnx bytes: all nodes that are refused are said at once, what follows from them is not") {
  std::vector<std::string> nodes, outputs{value("y", {})};
  for (int i = 0; i < 70; ++i) {
    const std::string name = "d" + std::to_string(i);
    nodes.push_back(node("Det", {"x"}, {name}));
    outputs.push_back(value(name, {}));
  }
  nodes.push_back(node("Relu", {"d0"}, {"y"}));
  const std::string bytes = model({.nodes = nodes, .outputs = outputs});
  Diagnostics findings;
  const auto model = onnx::read_onnx("x.onnx", std::as_bytes(std::span(bytes)), findings);
  REQUIRE(model);
  CHECK_FALSE(onnx::import_onnx(*model, {}, findings));
  CHECK(count_of(findings) == 70);
  CHECK(findings.size() == 64);
}

TEST_CASE("onnx bytes: a constant is computed, and what it makes has a bound") {
  const auto filled_all = [](const std::vector<std::int64_t>& sizes) {
    const auto count = static_cast<std::int64_t>(sizes.size());
    return findings_of(
        model({.nodes = {node("ConstantOfShape", {"s"}, {"c"}), node("Relu", {"c"}, {"y"})},
               .initializers = {tensor("s", 7, {count}, raw_integers(sizes))}}));
  };
  const auto filled = [&](std::int64_t size) { return filled_all({size}); };
  CHECK(filled(1 << 10).empty());
  CHECK(filled(1 << 24).empty());
  CHECK(filled((1 << 24) + 1).empty());  // an operator fills it when the model runs
  CHECK(filled(1LL << 62).find("is too large") != std::string::npos);
  CHECK(filled_all({1LL << 32, 1LL << 32, 4}).find("64 bits count") != std::string::npos);
  CHECK(filled(-1).find("its output has the size -1") != std::string::npos);
}

TEST_CASE("onnx bytes: what all nodes make has a bound, too") {
  std::vector<std::string> nodes, outputs;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "c" + std::to_string(i);
    nodes.push_back(node("ConstantOfShape", {"s"}, {name}));
    outputs.push_back(value(name, {}));
  }
  const std::string findings =
      findings_of(model({.nodes = nodes,
                         .initializers = {tensor("s", 7, {1}, raw_integers({1 << 21}))},
                         .outputs = outputs}));
  CHECK(findings.find("have more than 268435456 bytes") != std::string::npos);
}

TEST_CASE("onnx bytes: a constant of a node stays when the model ends") {
  const Folder folder;
  const std::string constant =
      node("Constant", {}, {"c"},
           {part(1, "value") + part(5, tensor("", 1, {3}, raw_floats({1, 2, 3})))});
  folder.write("m.onnx", model({.nodes = {constant, node("Add", {"x", "c"}, {"y"})}}));
  Diagnostics diagnostics;
  auto model = onnx::open_onnx(to_text(folder / "m.onnx"), diagnostics);
  REQUIRE(model);
  const auto imported = onnx::import_onnx(*model, {}, diagnostics);
  REQUIRE(imported);
  const std::weak_ptr<const InputFile> file = model->file;
  model.reset();
  CHECK_FALSE(file.expired());
  std::size_t constants = 0;
  for (const GraphNode& one : imported->graph.nodes) {
    const auto* held = std::get_if<GraphConstant>(&one.content);
    if (held == nullptr) continue;
    ++constants;
    CHECK(held->view->bytes.size() == 12);
    CHECK(held->view->file != nullptr);
  }
  CHECK(constants == 1);
}

TEST_CASE("onnx bytes: external data is a part of a file beside the model") {
  const Folder folder;
  folder.write("w.bin", "1234" + raw_floats({1, 2, 3, 4, 5, 6, 7, 8, 9}));
  const auto findings = [&](const std::string& location, const std::string& offset,
                            const std::string& length) {
    const auto entry = [](const std::string& key, const std::string& text) {
      return part(13, part(1, key) + part(2, text));
    };
    folder.write("m.onnx",
                 model({.nodes = {node("MatMul", {"x", "w"}, {"y"})},
                        .initializers = {tensor_head("w", 1, {3, 3}) + number(14, 1) +
                                         entry("location", location) + entry("offset", offset) +
                                         entry("length", length)}}));
    Diagnostics diagnostics;
    const auto model = onnx::open_onnx(to_text(folder / "m.onnx"), diagnostics);
    REQUIRE(model);
    onnx::import_onnx(*model, {}, diagnostics);
    return diagnostics.empty() ? std::string() : to_text(diagnostics.front());
  };
  CHECK(findings("w.bin", "4", "36").empty());
  CHECK(findings("v.bin", "4", "36").find("help: put \"v.bin\" beside the model, or save") !=
        std::string::npos);
  CHECK(findings("w.bin", "5", "36").find("ends at byte 41, but") != std::string::npos);
  CHECK(findings("w.bin", "1000", "36").find("ends at byte 1036, but") != std::string::npos);
  CHECK(findings("w.bin", "18446744073709551615", "36")
            .find("ends at byte 18446744073709551615, but") != std::string::npos);
  CHECK(findings("w.bin", "4", "35").find("has 35 bytes, must have 36") != std::string::npos);
  CHECK(findings("w.bin", "-4", "36").find("must be a number") != std::string::npos);
  CHECK(findings("no.bin", "0", "36").find("no.bin") != std::string::npos);
  for (const char* path : {"../w.bin", "/etc/passwd", "", "C:w.bin"}) {
    CAPTURE(path);
    CHECK_FALSE(findings(path, "0", "36").empty());
  }
}

}  // namespace
}  // namespace dmlop::test::onnx_bytes_test
