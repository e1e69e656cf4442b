// What the layer says when a call fails, what it captures, and what dmlop explain reads in a text.
#include "layer/explain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/path.hpp"
#include "described.hpp"
#include "folder.hpp"
#include "graph/files.hpp"
#include "layer/capture.hpp"
#include "layer/hresults.hpp"
#include "struct_builder.hpp"

namespace dmlop::explain_test {
namespace {

using Json = nlohmann::ordered_json;

using namespace dmlop::layer;

/// An operator in memory, which `damage` changed before it was read.
ReadOperator read_after(const std::string& name, const Json& desc,
                        const std::function<void(test::StructBuilder&)>& damage) {
  const auto checked = test::check_desc(name, desc, Judge::directml);
  REQUIRE(checked.diagnostics.empty());
  test::StructBuilder builder;
  const Address address = builder.build(*checked.description);
  damage(builder);
  Diagnostics findings;
  auto read = read_operator(address, findings);
  REQUIRE(read.has_value());
  return std::move(*read);
}

Json example(const std::string& name) {
  return Json::parse(find_spec(name)->example);
}

std::string report_of(const ReadOperator& operation, FeatureLevel level = newest_feature_level) {
  Refusal refusal{.call = "CreateOperator", .subject = "", .code = 0x80070057, .findings = {}};
  explain_operator(operation, level, refusal);
  return text_of(refusal);
}

}  // namespace

TEST_CASE("layer: a refused operator is explained by the field, the rule and what would mend it") {
  const auto wrong = read_after("PADDING", example("PADDING"), [](auto& b) {
    reinterpret_cast<std::uint32_t*>(b.buffers[1]->sizes)[3] = 11;
    b.buffers[1]->total_size_in_bytes = 1024;
  });
  CHECK(report_of(wrong) ==
        "CreateOperator: DML_OPERATOR_PADDING refused (80070057 E_INVALIDARG)\n"
        "  OutputTensor.Sizes[3] is 11, must be 10\n"
        "    rule: OutputTensor.Sizes[3] == InputTensor.Sizes[3] + StartPadding[3] + "
        "EndPadding[3], where 4 + 2 + 4 = 10\n"
        "    help: write 10\n");
}

TEST_CASE("layer: advice has no end of what a struct cannot leave out") {
  const std::vector<std::uint32_t> strides{0, 0, 0, 1};
  const Json desc =
      Json::parse(R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}})");
  const auto overlapping = read_after("ACTIVATION_RELU", desc,
                                      [&](auto& b) { b.buffers[1]->strides = b.keep(strides); });
  CHECK(report_of(overlapping).find("    help: write [6, 6, 3, 1] for a packed tensor\n") !=
        std::string::npos);
}

TEST_CASE("layer: where no rule is broken, it says so and prints the description") {
  const auto right = read_after("ACTIVATION_RELU", example("ACTIVATION_RELU"), [](auto&) {});
  const std::string report = report_of(right);
  CHECK(report.starts_with(
      "CreateOperator: DML_OPERATOR_ACTIVATION_RELU refused (80070057 E_INVALIDARG)\n"
      "  the rules of DirectML 1.15.4 that dmlop knows find nothing wrong\n"
      "  {\"type\":\"DML_OPERATOR_ACTIVATION_RELU\",\"desc\":{\"InputTensor\":{\"DataType\":"));
}

TEST_CASE("layer: a failure that is none of arguments is explained by its code") {
  const auto relu = read_after("ACTIVATION_RELU", example("ACTIVATION_RELU"), [](auto&) {});
  const auto report_with = [&](std::uint32_t code) {
    Refusal refusal{.call = "CreateOperator", .subject = "", .code = code, .findings = {}};
    explain_operator(relu, newest_feature_level, refusal);
    return text_of(refusal);
  };
  for (const HResult& known : known_hresults()) {
    CAPTURE(known.name);
    const bool is_refusal = known.name == "E_INVALIDARG" || known.name == "E_POINTER";
    const std::string report = report_with(known.code);
    CHECK(report.starts_with("CreateOperator: DML_OPERATOR_ACTIVATION_RELU " +
                             std::string(is_refusal ? "refused (" : "failed (")));
    CHECK((report.find("find nothing wrong") != std::string::npos) == is_refusal);
    CHECK((report.find("  help: " + std::string(known.help) + "\n") == std::string::npos) ==
          is_refusal);
    CHECK(report.find("  {\"type\":\"DML_OPERATOR_ACTIVATION_RELU\"") != std::string::npos);
  }
  CHECK(report_with(0x80000001).find("find nothing wrong") != std::string::npos);
}

TEST_CASE("layer: an operator that the device is too old for is explained by the feature level") {
  const auto fold = read_after("FOLD", example("FOLD"), [](auto&) {});
  CHECK(report_of(fold).find("nothing wrong") != std::string::npos);
  const std::string report = report_of(fold, *feature_level_named("5_0"));
  CHECK(report.find("6_4") != std::string::npos);
  CHECK(report.find("nothing wrong") == std::string::npos);
}

TEST_CASE("layer: DirectML decides, not the page: what it accepts is no reason") {
  Json desc = example("PADDING");
  desc["InputTensor"]["DataType"] = "UINT8";
  desc["PaddingValue"] = 300;
  const std::string report = report_of(read_after("PADDING", desc, [](auto&) {}));
  CHECK(report.find("find nothing wrong") != std::string::npos);
}

TEST_CASE("layer: text of an application cannot break a report into lines") {
  Refusal refusal{.call = "CompileGraph", .subject = "", .code = 1, .findings = {}};
  refusal.findings.assign(20, {.message = "node \"a\nb\x1b[2J\""});
  const std::string report = text_of(refusal);
  CAPTURE(report);
  CHECK(report.starts_with("CompileGraph: refused (00000001)\n  node \"a\\u000ab\\u001b[2J\""));
  CHECK(report.find('\x1b') == std::string::npos);
  CHECK(std::ranges::count(report, '\n') == 18);
  CHECK(report.ends_with("  and 4 more\n"));
}

TEST_CASE("layer: operators and graphs are captured once, in order, with an index") {
  const test::Folder folder;
  const std::string into = folder / "captured";
  const auto padding = read_after("PADDING", example("PADDING"), [](auto&) {});
  const auto relu = read_after("ACTIVATION_RELU", example("ACTIVATION_RELU"), [](auto&) {});
  std::filesystem::create_directories(to_path(into) / "operator_0002_ACTIVATION_RELU");
  Capture capture(into);
  capture.write(padding, newest_feature_level);
  capture.write(relu, *feature_level_named("5_0"));
  capture.write(padding, newest_feature_level);
  const float constant[] = {1, 2, 3};
  const auto view = std::make_shared<const GraphBytes>(GraphBytes{
      .bytes = std::as_bytes(std::span(constant)), .owner = nullptr, .file = nullptr, .path = ""});
  GraphConstant content;
  content.view = view;
  const Graph graph{
      .file = "",
      .inputs = {},
      .outputs = {},
      .nodes = {{.name = "weights/1", .content = content, .inputs = {}, .outputs = {"w"}},
                {"relu", relu.operation(), {"w"}, {"y"}}}};
  capture.write(graph, *feature_level_named("5_0"));
  CHECK(test::read_file(to_path(into) / "index.jsonl") ==
        "{\"file\":\"operator_0001_PADDING/op.json\",\"type\":\"DML_OPERATOR_PADDING\"}\n"
        "{\"file\":\"operator_0003_ACTIVATION_RELU/op.json\",\"type\":\"DML_OPERATOR_ACTIVATION_"
        "RELU\",\"featureLevel\":\"5_0\"}\n"
        "{\"file\":\"graph_0001/graph.bin\",\"nodes\":2,\"featureLevel\":\"5_0\"}\n");
  Diagnostics findings;
  const auto read = read_description(
      "op.json", test::read_file(to_path(into) / "operator_0001_PADDING/op.json"), {}, findings);
  REQUIRE(read.has_value());
  CHECK(findings.empty());
  CHECK(read->spec->name == "PADDING");
  CHECK(read->judge == Judge::directml);
  const auto old = read_description(
      "op.json", test::read_file(to_path(into) / "operator_0003_ACTIVATION_RELU/op.json"), {},
      findings);
  REQUIRE(old.has_value());
  CHECK(old->feature_level == *feature_level_named("5_0"));
  const std::string path = to_text(to_path(into) / "graph_0001/graph.bin");
  const std::string bytes = test::read_file(to_path(path));
  const auto again = read_graph(path, std::as_bytes(std::span(bytes)), findings);
  REQUIRE(again.has_value());
  CHECK(again->nodes[1].name == "relu");
  CHECK(test::read_file(to_path(into) / "graph_0001/weights_1.bin").size() == 12);
  for (const std::string& name : {std::string("nul"), std::string("ends in a dot."),
                                  std::string(300, 'w'), std::string("..")}) {
    Graph named = graph;
    named.nodes[0].name = name;
    CHECK_NOTHROW(capture.write(named, newest_feature_level));
  }
}

TEST_CASE("explain: codes are found however they are written") {
  const auto codes = [](std::string_view text) { return read_failure_text(text).codes; };
  using Codes = std::vector<std::uint32_t>;
  for (const char* text :
       {"80070057", "0x80070057", "0X80070057", "hr=0x80070057.", "E_INVALIDARG", "e_invalidarg",
        "-2147024809", "2147942487", "80070057 (80070057), E_INVALIDARG"})
    CHECK_MESSAGE(codes(text) == Codes{0x80070057}, text);
  CHECK(codes("887A0005 and 0x8007000e") == Codes{0x887A0005, 0x8007000E});
  for (const char* text : {"", "7", "00000000", "12345678", "8007005", "800700570", "x80070057x",
                           "-0", "-99999999999999999999", "99999999999", "0x", "a80070057"})
    CHECK_MESSAGE(codes(text).empty(), text);
  CHECK(codes("8badf00d") == Codes{0x8BADF00D});
  CHECK(name_of_hresult(0x8BADF00D) == "8BADF00D");
  CHECK(find_hresult(0x8BADF00D) == nullptr);
}

TEST_CASE("explain: what Windows says stands for its code where a text has none") {
  using Codes = std::vector<std::uint32_t>;
  CHECK(read_failure_text("The parameter is incorrect.").codes == Codes{0x80070057});
  CHECK(
      read_failure_text("RuntimeException: Exception(1) tid(1) THE PARAMETER IS INCORRECT").codes ==
      Codes{0x80070057});
  CHECK(read_failure_text("80004005: The parameter is incorrect.").codes == Codes{0x80004005});
  CHECK(read_failure_text("The GPU will not respond to more commands, most likely").codes ==
        Codes{0x887A0006});
  CHECK(read_failure_text("the parameter is correct").codes.empty());
  std::size_t messages = 0;
  for (const HResult& known : known_hresults()) {
    if (known.message.empty()) continue;
    CHECK(read_failure_text(known.message).codes == Codes{known.code});
    ++messages;
  }
  CHECK(messages == 7);
}

TEST_CASE("explain: lines of ONNX Runtime's provider say what it was doing") {
  const auto read = read_failure_text(
      "Exception during initialization: D:\\a\\_work\\1\\s\\DmlGraphFusionHelper.cpp(391)"
      "\\onnxruntime.dll!00007FF: (caller: 00007FF) Exception(1) tid(24) 80070057 Invalid "
      "parameter.");
  CHECK(read.codes == std::vector<std::uint32_t>{0x80070057});
  REQUIRE(read.lines.size() == 1);
  CHECK(read.lines[0].line == 391);
  CHECK(meaning_of(read.lines[0]).find("(CreateOperator)") != std::string::npos);
  CHECK(meaning_of({"DmlGraphFusionHelper.cpp", 614}).find("(CompileGraph)") != std::string::npos);
  CHECK(meaning_of({"dmlgraphfusionhelper.cpp", 12}) != "");
  CHECK(meaning_of({"main.cpp", 391}) == "");
  CHECK(help_for({"AbiCustomRegistry.cpp", 519}).find("dmlop check") == 0);
  CHECK(read_failure_text("main.cpp(391)").lines.empty());
}

TEST_CASE("explain: each code is there once, is a failure, and says what helps") {
  std::set<std::uint32_t> codes;
  for (const HResult& known : known_hresults()) {
    CAPTURE(known.name);
    CHECK(codes.insert(known.code).second);
    CHECK((known.code & 0x8000'0000) != 0);
    CHECK(known.meaning.ends_with('.'));
    CHECK(known.help.ends_with('.'));
    CHECK(read_failure_text(known.name).codes == std::vector{known.code});
  }
  CHECK(codes.size() >= 16);
}

}  // namespace dmlop::explain_test
