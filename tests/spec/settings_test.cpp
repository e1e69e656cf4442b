// --set: what is typed becomes JSON, in its place; and one reader judges it as it judges a file.
#include "spec/settings.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "model/open.hpp"
#include "program.hpp"
#include "spec/description.hpp"
#include "spec/setting_value.hpp"
#include "spec/validate.hpp"

namespace dmlop::test::settings_test {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Setting> settings_of(const std::vector<std::string>& texts) {
  std::vector<Setting> settings;
  for (const std::string& text : texts) {
    const auto setting = parse_setting(text);
    REQUIRE_MESSAGE(setting, text);
    settings.push_back(*setting);
  }
  return settings;
}

/// The JSON that a document's tree has now, without looking at its text.
Json json_of_value(const json::Value& value) {
  using Kind = json::Value::Kind;
  Json json;
  switch (value.kind) {
    case Kind::null:
      return nullptr;
    case Kind::boolean:
      return value.boolean;
    case Kind::number:
      return Json::parse(value.text);
    case Kind::string:
      return value.text;
    case Kind::array:
      json = Json::array();
      for (const json::Value& item : value.items) json.push_back(json_of_value(item));
      return json;
    case Kind::object:
      json = Json::object();
      for (const json::Member& member : value.members)
        json[member.name] = json_of_value(member.value);
      return json;
  }
  return json;
}

/// A description with settings: its tree, and what reader and rules find in it.
struct Applied {
  Json root;
  std::vector<std::string> findings;  // as the program prints them
  Diagnostics diagnostics;
};

Applied with_set(json::Document document, const std::vector<std::string>& texts) {
  Applied applied;
  Diagnostics& diagnostics = applied.diagnostics;
  apply_settings(document, settings_of(texts), diagnostics);
  applied.root = json_of_value(document.root());
  if (diagnostics.empty()) {
    const auto shared = std::make_shared<const json::Document>(std::move(document));
    const std::shared_ptr<const json::Value> root(shared, &shared->root());
    auto description = read_description(shared, root, {}, std::nullopt, diagnostics);
    if (description && diagnostics.empty()) validate(*description, diagnostics);
  }
  for (const Diagnostic& diagnostic : diagnostics) applied.findings.push_back(to_text(diagnostic));
  return applied;
}

Applied with_set(const std::string& operator_name, const std::vector<std::string>& texts) {
  const OperatorSpec* spec = find_spec(operator_name);
  REQUIRE(spec != nullptr);
  return with_set(operator_document(operator_name, *spec), texts);
}

Applied with_set_in_file(const std::string& text, const std::vector<std::string>& texts) {
  Diagnostics diagnostics;
  auto document = json::Document::parse("op.json", text, diagnostics);
  REQUIRE(document);
  return with_set(std::move(*document), texts);
}

/// The field's JSON after one setting of it.
std::string value_set(const std::string& operator_name, const std::string& setting) {
  const Json desc = with_set(operator_name, {setting}).root.at("desc");
  return desc.at(setting.substr(0, setting.find_first_of("=.["))).dump();
}

}  // namespace

TEST_CASE("--set: a value is read as its field's kind asks for") {
  struct Row {
    const char* operator_name;
    const char* setting;
    const char* json;
  };
  const Row rows[] = {
      {"PADDING", "PaddingMode=EDGE", "\"EDGE\""},
      {"PADDING", "PaddingMode=DML_PADDING_MODE_EDGE", "\"DML_PADDING_MODE_EDGE\""},
      {"PADDING", "PaddingMode=1", "1"},
      {"PADDING", "StartPadding=0,1", "[0,1]"},
      {"PADDING", "StartPadding=[0, 1]", "[0,1]"},
      {"PADDING", "StartPadding= 0 , 1 ", "[0,1]"},
      {"PADDING", "StartPadding=7", "[7]"},
      {"PADDING", "StartPadding=", "[]"},
      {"PADDING", "StartPadding=0,x", "[0,\"x\"]"},
      {"PADDING", "PaddingValue=-1.5e3", "-1500.0"},
      {"PADDING", "PaddingValue=.5", "0.5"},
      {"PADDING", "PaddingValue=+2.", "2.0"},
      {"PADDING", "PaddingValue=-inf", "\"-inf\""},
      {"PADDING", "PaddingValue=0x10", "\"0x10\""},
      {"PADDING", "InputTensor=FLOAT32:1,2", R"({"DataType":"FLOAT32","Sizes":[1,2]})"},
      {"PADDING", "InputTensor=FLOAT32[1, 2]", R"({"DataType":"FLOAT32","Sizes":[1,2]})"},
      {"PADDING", "InputTensor=FLOAT16", R"({"DataType":"FLOAT16"})"},
      {"PADDING", "InputTensor=3,4", R"({"Sizes":[3,4]})"},
      {"PADDING", "InputTensor=[3, 4]", R"({"Sizes":[3,4]})"},
      {"PADDING", R"(InputTensor={"DataType": "INT8"})", R"({"DataType":"INT8"})"},
      {"PADDING", "InputTensor.Sizes=2,3", R"({"Sizes":[2,3]})"},
      {"PADDING", "InputTensor.DataType=UINT8", R"({"DataType":"UINT8"})"},
      {"PADDING", "InputTensor.Flags=OWNED_BY_DML", R"({"Flags":["OWNED_BY_DML"]})"},
      {"TOP_K1", "K=3", "3"},
      {"CUMULATIVE_SUMMATION", "HasExclusiveSum=True", "true"},
      {"CUMULATIVE_SUMMATION", "HasExclusiveSum=0", "0"},
      {"FILL_VALUE_CONSTANT", "Value=3", "3"},
      {"FILL_VALUE_CONSTANT", "Value=nan", "\"nan\""},
      {"UPSAMPLE_2D", "ScaleSize=2,3", R"({"Width":2,"Height":3})"},
      {"UPSAMPLE_2D", "ScaleSize.Width=2", R"({"Width":2})"},
      {"ELEMENT_WISE_IDENTITY", "ScaleBias=2,.5", R"({"Scale":2,"Bias":0.5})"},
      {"RESAMPLE", "Scales=1,2.5", "[1,2.5]"},
      {"JOIN", "InputTensors[0].Sizes=2,3", R"([{"Sizes":[2,3]}])"},
      {"JOIN", "InputTensors.0=FLOAT32:2,3", R"([{"DataType":"FLOAT32","Sizes":[2,3]}])"},
      {"GEMM", "FusedActivation=ACTIVATION_RELU", R"({"Type":"ACTIVATION_RELU"})"},
      {"GEMM", "FusedActivation.Type=ACTIVATION_RELU", R"({"Type":"ACTIVATION_RELU"})"},
      {"GEMM", R"(FusedActivation={"Type": "ACTIVATION_ELU"})", R"({"Type":"ACTIVATION_ELU"})"},
      {"LSTM", "ActivationDescs=ACTIVATION_TANH,ACTIVATION_RELU",
       R"([{"Type":"ACTIVATION_TANH"},{"Type":"ACTIVATION_RELU"}])"},
      {"PADDING", "NoSuchField=1,2", "[1,2]"},
      {"PADDING", "NoSuchField=a \"b\"", R"("a \"b\"")"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.setting);
    CHECK(value_set(row.operator_name, row.setting) == row.json);
  }
}

TEST_CASE("--set: numbers are read as people write them") {
  int numbers = 0;
  for (const std::string sign : {"", "-", "+"}) {
    for (const std::string whole : {"", "0", "7", "007"}) {
      for (const std::string fraction : {"", ".", ".5", ".250"}) {
        for (const std::string exponent : {"", "e2", "E2", "e+2", "E-2", "E-02", "e", "E+"}) {
          const std::string text = sign + whole + fraction + exponent;
          CAPTURE(text);
          const bool has_digits = !whole.empty() || fraction.size() > 1;
          const bool is_number = has_digits && exponent != "e" && exponent != "E+";
          if (text.empty()) continue;
          const Json value = Json::parse(value_set("PADDING", "PaddingValue=" + text));
          CHECK(value.is_number() == is_number);
          if (!is_number) continue;
          CHECK(value == std::strtod(text.c_str(), nullptr));
          ++numbers;
        }
      }
    }
  }
  CHECK(numbers > 200);
}

TEST_CASE("--set: parts of nested fields are typed by the nested operator") {
  const auto gemm =
      with_set("GEMM", {"FusedActivation=ACTIVATION_ELU", "FusedActivation.Alpha=.25"}).root;
  CHECK(gemm.at("desc").dump() == R"({"FusedActivation":{"Type":"ACTIVATION_ELU","Alpha":0.25}})");
  const auto lstm =
      with_set("LSTM", {"ActivationDescs[0].Type=ACTIVATION_ELU", "ActivationDescs[0].Alpha=inf",
                        "ActivationDescs.1=ACTIVATION_TANH"})
          .root;
  CHECK(
      lstm.at("desc").dump() ==
      R"({"ActivationDescs":[{"Type":"ACTIVATION_ELU","Alpha":"inf"},{"Type":"ACTIVATION_TANH"}]})");
}

TEST_CASE("--set: DxDispatch's members Desc are looked through") {
  const auto applied = with_set_in_file(
      R"({"Type": "GEMM", "Desc": {"ATensor": {"Type": "BUFFER", "Desc": {"DataType": "FLOAT32", "Sizes": [1]}},
          "FusedActivation": {"Type": "ACTIVATION_ELU", "Desc": {"Alpha": 1}}}})",
      {"ATensor.Sizes=2,3", "FusedActivation.Alpha=5", "Alpha=2"});
  CHECK(applied.root.at("Desc").dump() ==
        R"({"ATensor":{"Type":"BUFFER","Desc":{"DataType":"FLOAT32","Sizes":[2,3]}},)"
        R"("FusedActivation":{"Type":"ACTIVATION_ELU","Desc":{"Alpha":5}},"Alpha":2})");
}

TEST_CASE("--set: replaces what a file has, beside its type as in its desc") {
  const char* inline_fields =
      R"({"type": "PADDING", "PaddingMode": "EDGE", "StartPadding": [1, 1], "EndPadding": [2, 2]})";
  CHECK(with_set_in_file(inline_fields, {"PaddingMode=WRAP", "StartPadding[1]=9"}).root.dump() ==
        R"({"type":"PADDING","PaddingMode":"WRAP","StartPadding":[1,9],"EndPadding":[2,2]})");
  const char* with_desc = R"({"type": "PADDING", "desc": {"PaddingMode": "EDGE"}})";
  CHECK(with_set_in_file(with_desc, {"PaddingMode=WRAP"}).root.dump() ==
        R"({"type":"PADDING","desc":{"PaddingMode":"WRAP"}})");
}

TEST_CASE("--set: null leaves a field out, also one that a file has and that is not optional") {
  const Folder folder;
  folder.write("op.json", R"({"type": "PADDING", "desc": {
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [2]},
    "OutputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
    "PaddingMode": "EDGE", "StartPadding": [0], "EndPadding": [1]}})");
  const auto check = [&](const std::string& setting) {
    return dmlop_program({"check", "op.json", "--set", "EndPadding=5", "--set", setting},
                         {.folder = folder.path()});
  };
  CHECK(check("OutputTensor=null").output.find("OutputTensor FLOAT32 [7]") != std::string::npos);
  CHECK(check("OutputTensor.Sizes=null").output.find("OutputTensor FLOAT32 [7]") !=
        std::string::npos);
  CHECK(check("StartPadding=null").error.find("the field \"StartPadding\" is missing") !=
        std::string::npos);
}

TEST_CASE("--set: null is refused for a name that nothing has") {
  const auto findings = [](const std::string& setting) {
    return with_set("GEMM", {"ATensor=FLOAT32:2,3", "FusedActivation=ACTIVATION_ELU", setting})
        .findings;
  };
  for (const char* setting : {"CTensor=null", "OutputTensor=null", "ATensor.Strides=null",
                              "FusedActivation.Alpha=null"}) {
    for (const std::string& finding : findings(setting))
      CHECK_MESSAGE(finding.find("unknown") == std::string::npos, finding);
  }
  for (const auto& [setting, message] : std::vector<std::pair<std::string, std::string>>{
           {"Ctensor=null",
            "--set Ctensor: error: unknown field \"Ctensor\"; did you mean \"CTensor\"?"},
           {"ATensor.Stride=null",
            "--set ATensor.Stride: error: unknown field \"Stride\"; did you mean \"Strides\"?"},
           {"FusedActivation.Alpa=null",
            "--set FusedActivation.Alpa: error: unknown field \"Alpa\"; did you mean \"Alpha\"?"},
           {"null=null", "--set null: error: unknown field \"null\""}}) {
    CAPTURE(setting);
    const auto found = findings(setting);
    CHECK(std::ranges::any_of(
        found, [&](const std::string& finding) { return finding.starts_with(message); }));
  }
}

TEST_CASE("--set: a field that was left out may be given in parts") {
  CHECK(with_set("GEMM", {"ATensor=null", "ATensor.DataType=FLOAT16"}).root.at("desc").dump() ==
        R"({"ATensor":{"DataType":"FLOAT16"}})");
}

TEST_CASE("--set: findings are those of a file, at the option") {
  const std::vector<std::string> padding{"PaddingMode=EDGE", "StartPadding=0,1", "EndPadding=0,2",
                                         "InputTensor=FLOAT32:2,3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), padding.begin() + 1, padding.end());
    return with_set("PADDING", more);
  };
  CHECK(with_set("PADDING", padding).findings.empty());

  const auto wrong_name = with({"PaddingMode=EDG"});
  REQUIRE(wrong_name.findings.size() == 1);
  CHECK(wrong_name.findings[0].starts_with(
      "--set PaddingMode: error: PaddingMode is the string \"EDG\", must be one of CONSTANT"));
  CHECK(wrong_name.findings[0].ends_with("did you mean \"EDGE\"?"));
  CHECK(wrong_name.diagnostics[0].argument == "--set PaddingMode");
  CHECK(wrong_name.diagnostics[0].pointer == "/desc/PaddingMode");
  CHECK(wrong_name.diagnostics[0].value == "\"EDG\"");
  CHECK(wrong_name.diagnostics[0].kind == ErrorKind::invalid_input);

  const auto misspelt = with({"PadingMode=EDGE"});
  REQUIRE(misspelt.findings.size() == 1);
  CHECK(misspelt.findings[0].starts_with(
      "--set PadingMode: error: unknown field \"PadingMode\"; did you mean \"PaddingMode\"?"));

  const auto element =
      with_set("PADDING", {padding[0], "StartPadding=0,-1", padding[2], padding[3]});
  REQUIRE(element.findings.size() == 1);
  CHECK(element.findings[0].starts_with("--set StartPadding: error: StartPadding[1] is -1"));
  CHECK(element.diagnostics[0].pointer == "/desc/StartPadding/1");

  const auto by_rule = with({"PaddingMode=EDGE", "OutputTensor.Sizes=2,5"});
  REQUIRE(by_rule.findings.size() == 1);
  CHECK(by_rule.findings[0].starts_with(
      "--set OutputTensor.Sizes: error: OutputTensor.Sizes[1] is 5, must be 6"));

  // What the file says wrong stays the file's.
  const auto mixed = with_set_in_file(
      "{\"type\": \"PADDING\",\n \"desc\": {\"PaddingMode\": 1.5, \"StartPadding\": [0]}}",
      {"EndPadding=x", "InputTensor=FLOAT32:2"});
  REQUIRE(mixed.findings.size() == 2);
  CHECK(mixed.findings[0].starts_with("op.json:2:26: error: PaddingMode is 1.5"));
  CHECK(mixed.findings[1].starts_with("op.json: --set EndPadding: error: EndPadding[0] is"));
}

TEST_CASE(
    "--set: what is missing is asked for as an option, and what cannot be inferred is named") {
  const auto nothing = with_set("PADDING", {"PaddingMode=EDGE"});
  REQUIRE(nothing.findings.size() == 2);
  CHECK(nothing.findings[0].starts_with("PADDING: error: the field \"StartPadding\" is missing\n"));
  CHECK(nothing.findings[0].ends_with("help: add --set StartPadding=0,0,1,2, for example"));

  const auto no_input = with_set("PADDING", {"PaddingMode=EDGE", "StartPadding=1", "EndPadding=1"});
  REQUIRE(no_input.findings.size() == 1);
  CHECK(no_input.findings[0].starts_with(
      "PADDING: error: InputTensor.DataType and InputTensor.Sizes are missing\n"));
  CHECK(no_input.findings[0].find("add --set InputTensor=FLOAT32:") != std::string::npos);

  const auto no_size = with_set("PADDING", {"PaddingMode=EDGE", "StartPadding=1", "EndPadding=1",
                                            "InputTensor.DataType=FLOAT32"});
  REQUIRE(no_size.findings.size() == 1);
  CHECK(no_size.findings[0].starts_with(
      "--set InputTensor.DataType: error: InputTensor.Sizes is missing\n"));
}

TEST_CASE("--set: what is missing inside a field is asked for by its whole path") {
  const std::vector<std::string> gemm{"ATensor=FLOAT32:2,3",
                                      "BTensor=FLOAT32:3,4",
                                      "TransA=NONE",
                                      "TransB=NONE",
                                      "Alpha=1",
                                      "Beta=0",
                                      "FusedActivation=ACTIVATION_ELU"};
  const auto no_alpha = with_set("GEMM", gemm);
  REQUIRE(no_alpha.findings.size() == 1);
  CHECK(no_alpha.findings[0].starts_with(
      "--set FusedActivation: error: the field \"Alpha\" is missing\n"));
  CHECK(no_alpha.findings[0].ends_with("help: add --set FusedActivation.Alpha=0.5, for example"));
  auto complete = gemm;
  complete.push_back("FusedActivation.Alpha=1");
  CHECK(with_set("GEMM", complete).findings.empty());
  const auto no_output = with_set("FILL_VALUE_CONSTANT", {"Value=3", "ValueDataType=FLOAT32"});
  REQUIRE(no_output.findings.size() == 1);
  CHECK(no_output.findings[0] ==
        "FILL_VALUE_CONSTANT: error: OutputTensor.DataType and OutputTensor.Sizes are missing\n"
        "  rule: a tensor's type and sizes are written in its desc where no rule of "
        "DML_OPERATOR_FILL_VALUE_CONSTANT gives them\n"
        "  help: add --set OutputTensor=FLOAT32:2,3, for example");
}

TEST_CASE("--set: what is no setting, given twice, no JSON or behind the end is refused") {
  for (const char* text :
       {"", "=", "=1", "PaddingMode", "Padding Mode=1", ".A=1", "A.=1", "A[=1", "A[x]=1", "A[]=1",
        "A]=1", "A[99999]=1", "0.A=1.B", "A..B=1", "A.B.C.D.E.F.G.H.I.J.K.L.M.N.O.P.Q=1"}) {
    CAPTURE(text);
    const bool is_field_zero = std::string(text) == "0.A=1.B";  // a strange name, but a name
    CHECK(parse_setting(text).has_value() == is_field_zero);
  }
  const auto twice = with_set("PADDING", {"PaddingMode=EDGE", "PaddingMode=WRAP"});
  REQUIRE(twice.findings.size() == 1);
  CHECK(twice.findings[0] ==
        "--set PaddingMode: error: PaddingMode is set twice\n  help: keep one of them");
  CHECK(twice.diagnostics[0].kind == ErrorKind::usage);
  const auto wrong_json = with_set("PADDING", {"InputTensor={\"Sizes\": [1,}"});
  REQUIRE(wrong_json.findings.size() == 1);
  CHECK(wrong_json.findings[0].starts_with("--set InputTensor: error: wrong JSON: unexpected"));
  const auto gap = with_set("JOIN", {"InputTensors[1].Sizes=2"});
  REQUIRE(gap.findings.size() == 1);
  CHECK(
      gap.findings[0].starts_with("--set InputTensors[1].Sizes: error: InputTensors[1].Sizes is "
                                  "behind the end: the array has 0 elements"));
}

TEST_CASE("--set: every field of every operator takes its example's value as it is typed") {
  for (const std::string& name : specified_operators()) {
    CAPTURE(name);
    const OperatorSpec& spec = *find_spec(name);
    const Json example = Json::parse(spec.example);
    std::vector<std::string> texts;
    for (const FieldSpec& field : spec.fields) {
      if (!example.contains(field.name)) continue;
      texts.push_back(field.name + "=" + typed_value(example_value(spec, field.name)));
    }
    const auto applied = with_set(name, texts);
    CHECK(join(applied.findings, "\n") == "");
    for (const auto& [field, value] : example.items())
      CHECK_MESSAGE(applied.root.at("desc").at(field) == value, field);
  }
}

}  // namespace dmlop::test::settings_test
