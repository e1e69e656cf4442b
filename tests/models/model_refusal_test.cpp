// Models as a whole, their dispatchables and commands: what is accepted, ignored and refused.
#include <doctest/doctest.h>

#include "model.hpp"
#include "model/open.hpp"

namespace dmlop::test::model_refusal_test {
namespace {

std::string with_commands(const std::string& commands) {
  return "{" + usual_members() + ", \"commands\": [" + commands + "]}";
}

const std::string dispatch =
    R"({"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "In", "OutputTensor": "Out"}})";

/// The fields of PADDING with one replaced, or one added.
std::string padding(const std::string& name, const std::string& value) {
  const std::vector<std::pair<std::string, std::string>> fields{
      {"InputTensor", R"({"DataType": "FLOAT32", "Sizes": [4]})"},
      {"OutputTensor", R"({"DataType": "FLOAT32", "Sizes": [6]})"},
      {"PaddingMode", "\"EDGE\""},
      {"PaddingValue", "0"},
      {"DimensionCount", "1"},
      {"StartPadding", "[1]"},
      {"EndPadding", "[1]"}};
  std::string text;
  bool found = false;
  for (const auto& [field, usual] : fields) {
    if (field == name) found = true;
    if (field == name && value.empty()) continue;
    text += (text.empty() ? "" : ", ") + ("\"" + field + "\": ") + (field == name ? value : usual);
  }
  if (!found && !name.empty()) text += ", " + name + ": " + value;
  return text;
}

ModelRow desc(const std::string& name, const std::string& value, std::vector<std::string> findings,
              std::vector<std::string> warnings = {}) {
  return {R"({"type": "PADDING", "desc": {)" + padding(name, value) + "}}", std::move(findings),
          std::move(warnings)};
}

const std::string unknown_fields =
    "\n  rule: the fields of DML_OPERATOR_PADDING are InputTensor, OutputTensor, PaddingMode, "
    "PaddingValue, DimensionCount, StartPadding, EndPadding";

}  // namespace

TEST_CASE("models: a root with resources, dispatchables or commands is one") {
  const auto is_model = [](const std::string& text) {
    dmlop::Diagnostics diagnostics;
    const auto opened = dmlop::parse_op_or_model(dmlop::json::Source{"x.json"}, text, diagnostics);
    REQUIRE(opened);
    return opened->has_model;
  };
  CHECK(is_model(R"({"resources": {}, "dispatchables": {}, "commands": []})"));
  CHECK(is_model(R"({"commands": []})"));
  CHECK(is_model(R"({"type": "x", "resources": {}, "dispatchables": {}, "commands": []})"));
  CHECK(!is_model(R"({"type": "PADDING", "resources": {}})"));
  CHECK(!is_model(R"({"Resources": {}})"));
  CHECK(!is_model("{}"));
  CHECK(!is_model("[]"));
}

// clang-format off

TEST_CASE("models: DxDispatch's dialect of JSON") {
  check_models({
    {"// a comment\n{\"resources\": {}, /* and another */ \"dispatchables\": {}, \"commands\": [],}"},
    {R"({"$schema": "./_schema.json", "resources": {}, "dispatchables": {}, "commands": []})"},
    {R"({"resources": {}, "dispatchables": {}, "commands": []} ~and so on "unread)", {},
     {"wrong JSON: unexpected and; expected the end of the file\n  rule: what follows a model is ignored\n  help: leave out what stands here and behind it"}},
    {R"({"resources": {}, "dispatchables": {}, "commands": []} ~/* open)", {},
     {"this /* comment never ends\n  rule: what follows a model is ignored\n  help: write */ at its end"}},
    {R"({"resources": {}, "dispatchables": {}, "commands": [], ~"commands": 5})", {},
     {"the field \"commands\" is given twice\n  rule: the first of repeated fields counts\n  help: keep one of them"}},
    {R"({"resources": {}, "dispatchables": {}, "commands": [], ~"comands": []})", {},
     {"unknown field \"comands\"; did you mean \"commands\"?\n"
      "  rule: the fields of a model are $schema, resources, dispatchables, commands"}},
  });
  for (const std::string& text : {std::string(R"({"resources": {, "commands": []})"), std::string(R"({"commands": [] /* open)"),
                                  std::string(R"({"commands": [NaN]})")}) {
    dmlop::Diagnostics diagnostics;
    CHECK(!dmlop::parse_op_or_model(dmlop::json::Source{"x.json"}, text, diagnostics));
    CHECK(diagnostics.size() == 1);
  }
}

TEST_CASE("models: op descriptions keep their stricter dialect") {
  dmlop::Diagnostics diagnostics;
  CHECK(dmlop::parse_op_or_model(dmlop::json::Source{"x.json"}, R"({"type": "PADDING", "type": "X"})", diagnostics));
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].message == "the field \"type\" is given twice");
  diagnostics.clear();
  CHECK(!dmlop::parse_op_or_model(dmlop::json::Source{"x.json"}, R"({"type": "PADDING"} [])", diagnostics));
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics[0].message == "wrong JSON: unexpected '['; expected the end of the file");
}

TEST_CASE("models: what is missing, all at once") {
  const std::string rule = "\n  rule: a DxDispatch model has resources, dispatchables and commands";
  check_models({
    {R"(^^{"commands": []})",
     {"the field \"resources\" is missing" + rule + "\n  help: write \"resources\": {…}",
      "the field \"dispatchables\" is missing" + rule + "\n  help: write \"dispatchables\": {…}"}},
    {R"(^{"resources": ^[], "dispatchables": ^null})",
     {"the field \"commands\" is missing" + rule + "\n  help: write \"commands\": […]",
      "resources is an empty array, must be an object of buffers by name",
      "dispatchables is null, must be an object of operators by name"}},
    {R"({"resources": {"A": {"initialValuesDataType": "INT8", "initialValues": [1]},
                       ^"A": {"initialValuesDataType": "INT8", "initialValues": [2]}},
         "dispatchables": {"x": ^1, ^"x": 2}, "commands": []})",
     {"the resource \"A\" is given twice",
      "x is 1, must be an object with type and desc",
      "the dispatchable \"x\" is given twice"}},
  });
}

TEST_CASE("models: forms of an operator that are accepted") {
  const std::string fields = padding("", "");
  check_dispatchables({
    {R"({"type": "DML_OPERATOR_PADDING", "desc": {)" + fields + "}}"},
    {R"({"type": "PADDING", "Desc": {)" + fields + "}}"},
    {R"({"type": "PADDING", )" + fields + "}"},
    {R"({"type": "PADDING", "Desc": {)" + fields + R"(}, "desc": 1})"},
    {R"({"type": "PADDING", "dmlCompileType": "DmlCompileGraph", "executionFlags": "NONE", )" + fields + "}"},
    {R"({"type": "PADDING", "executionFlags": ["DISABLE_META_COMMANDS", "DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE"], )" + fields + "}"},
    {R"({"type": "PADDING", "bindings": {}, )" + fields + "}"},
    {R"({"type": "PADDING", "bindings": "ignored", )" + fields + "}"},
    desc("PaddingMode", R"("DML_PADDING_MODE_REFLECTION")", {}),
    desc("PaddingValue", R"("NaN")", {}),
    desc("InputTensor", R"({"Type": "DML_TENSOR_TYPE_BUFFER", "Desc": {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [4]}})", {}),
    desc("InputTensor", R"({"DataType": "FLOAT32", "Sizes": [4], "Strides": [], "TotalTensorSizeInBytes": 0, "Flags": "NONE", "DimensionCount": 1})", {}),
    desc("InputTensor", R"({"DataType": "FLOAT32", "Sizes": [4], "Strides": [2], "Flags": ["DML_TENSOR_FLAG_NONE"]})", {}),
  });
}

TEST_CASE("models: what an operator has too much of is ignored, and told") {
  check_dispatchables({
    desc("~\"PadingValue\"", "1", {}, {"unknown field \"PadingValue\"; did you mean \"PaddingValue\"?" + unknown_fields}),
    desc("PaddingMode", R"(~"WRAP")", {}, {"PaddingMode WRAP is unknown to DxDispatch itself"}),
    desc("StartPadding", "~[1, 5, 5]", {}, {"StartPadding has 3 values, of which DimensionCount takes the first 1"}),
    desc("InputTensor", R"({"DataType": "FLOAT32", "DimensionCount": 1, "Sizes": ~[4, 9], "Strides": ~[1, 1]})", {},
         {"InputTensor.Sizes has 2 values, of which InputTensor.DimensionCount takes the first 1",
          "InputTensor.Strides has 2 values, of which InputTensor.DimensionCount takes the first 1"}),
    desc("InputTensor", R"({"DataType": "FLOAT32", "Sizes": [4], ~"Offset": 1})", {},
         {"unknown field \"Offset\"\n  rule: the fields of a tensor desc are Type, DataType, Flags, DimensionCount, "
          "Sizes, Strides, TotalTensorSizeInBytes, GuaranteedBaseOffsetAlignment\n  help: leave it out"}),
    {R"({"type": "PADDING", ~"featureLevel": "1_0", "desc": {)" + padding("", "") + "}}", {},
     {"unknown field \"featureLevel\"\n  rule: the fields of a dispatchable are type, Type, desc, Desc, "
      "dmlCompileType, executionFlags, bindings\n  help: leave it out"}},
  });
}

TEST_CASE("models: mistakes in operators, with the messages of op descriptions") {
  const auto missing = [](const std::string& field, const std::string& text, const std::string& example) {
    return ModelRow{R"({"type": "PADDING", "desc": ^{)" + padding(field, "") + "}}",
                    {"the field \"" + field + "\" is missing\n  rule: DML_OPERATOR_PADDING needs it: " + text +
                     "\n  help: write \"" + field + "\": " + example + ", for example"}};
  };
  check_dispatchables({
    {R"(^{"desc": {}})",
     {"the field \"pad.type\" is missing\n  help: write \"type\": \"DML_OPERATOR_PADDING\""}},
    {R"(^{"Type": "PADDING"})",
     {"the field \"pad.type\" is missing\n  help: write \"type\": \"DML_OPERATOR_PADDING\""}},
    {R"({"type": ^"padding", "desc": {}})",
     {"type is the string \"padding\", which is not an operator of DirectML\n"
      "  rule: `dmlop ops` lists the operators\n"
      "  help: did you mean \"PADDING\" or \"PADDING1\"?"}},
    missing("PaddingValue", "The value of mode CONSTANT, converted to the tensors' type: integers truncate toward "
                            "zero and must fit.", "0"),
    missing("DimensionCount", "The number of elements of StartPadding and EndPadding.", "4"),
    missing("OutputTensor", "The padded tensor.", R"({"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]})"),
    desc("OutputTensor", R"(^{"DataType": "FLOAT32"})",
         {"the field \"OutputTensor.Sizes\" is missing\n  rule: a tensor desc has a DataType and Sizes\n"
          "  help: write \"Sizes\": [1, 1, 4, 4], for example"}),
    desc("InputTensor", R"(^{"Sizes": [4]})",
         {"the field \"InputTensor.DataType\" is missing\n  rule: a tensor desc has a DataType and Sizes\n"
          "  help: write \"DataType\": \"FLOAT32\", for example"}),
    desc("OutputTensor", R"({"DataType": "FLOAT32", "Sizes": [^7]})",
         {"OutputTensor.Sizes[0] is 7, must be 6\n"
          "  rule: OutputTensor.Sizes[0] == InputTensor.Sizes[0] + StartPadding[0] + EndPadding[0], where 4 + 1 + 1 = 6\n"
          "  help: write 6"}),
    desc("InputTensor", R"({"DataType": "FLOAT32", "Sizes": [4], "DimensionCount": ^2})",
         {"InputTensor.DimensionCount is 2, must be 1\n  rule: Sizes has 1 value\n  help: write 1 or leave it out"}),
    desc("PaddingMode", R"(^"Edge")",
         {"PaddingMode is the string \"Edge\", must be one of CONSTANT, EDGE, REFLECTION, SYMMETRIC, WRAP\n"
          "  help: did you mean \"EDGE\"?"}),
    desc("StartPadding", "[^1.0]", {"StartPadding[0] is 1.0, must be an integer from 0 to 4294967295 (UINT)\n  help: write 1"}),
    {R"({"type": "PADDING", "dmlCompileType": ^"graph", "desc": {)" + padding("", "") + "}}",
     {"dmlCompileType is the string \"graph\", must be one of DmlCompileOp, DmlCompileGraph\n"
      "  help: write \"DmlCompileOp\", for example"}},
    {R"({"type": "PADDING", "executionFlags": ^"FAST", "desc": {)" + padding("", "") + "}}",
     {"executionFlags is the string \"FAST\", must be one of NONE, ALLOW_HALF_PRECISION_COMPUTATION, "
      "DISABLE_META_COMMANDS, DESCRIPTORS_VOLATILE\n"
      "  help: write \"NONE\", for example"}},
  });
}

TEST_CASE("models: each tensor of an array is complete, and what is no tensor is one mistake") {
  const auto join = [](const std::string& tensors, std::vector<std::string> findings) {
    return ModelRow{R"({"type": "JOIN", "desc": {"InputCount": 2, "InputTensors": )" + tensors +
                        R"(, "Axis": 0, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}}})",
                    std::move(findings)};
  };
  const std::string tensor = R"({"DataType": "FLOAT32", "Sizes": [2]})";
  const std::string example = R"(must be an object such as {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]})";
  const std::string rule = "\n  rule: a tensor desc has a DataType and Sizes\n  help: write ";
  check_dispatchables({
    join("[" + tensor + R"(, ^{"DataType": "FLOAT32"}])",
         {"the field \"InputTensors[1].Sizes\" is missing" + rule + "\"Sizes\": [1, 1, 4, 4], for example"}),
    join(R"([^{"Sizes": [2]}, ^5])",
         {"the field \"InputTensors[0].DataType\" is missing" + rule + "\"DataType\": \"FLOAT32\", for example",
          "InputTensors[1] is 5, " + example +
              "\n  help: write {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 2, 4]}, for example"}),
    desc("InputTensor", "^5",
         {"InputTensor is 5, " + example +
          "\n  help: write {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}, for example"}),
  });
}

TEST_CASE("models: an operator below its feature level is found at its type") {
  const std::string text = R"({"resources": {}, "dispatchables": {"back": {"type": "SLICE1",
    "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]}, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]},
    "DimensionCount": 4, "InputWindowOffsets": [0, 0, 0, 0], "InputWindowSizes": [1, 1, 1, 4],
    "InputWindowStrides": [1, 1, 1, -1]}}, "commands": []})";
  CHECK(read(text).findings.empty());
  CHECK(read(text, {.checking = {.feature_level = dmlop::FeatureLevel{1, 0}}}).findings ==
        "model.json:1:54: error: DML_OPERATOR_SLICE1 needs feature level 2_1, this run has 1_0\n"
        "  rule: the operator was introduced in 2_1\n"
        "  help: run with --feature-level 2_1\n");
}

TEST_CASE("models: inputs that are owned by DirectML") {
  const auto owned = [](const std::string& bindings, const std::string& flags) {
    return R"({"type": "PADDING", "bindings": )" + bindings + R"(, "desc": {)" +
           padding("InputTensor", R"({"DataType": "FLOAT32", "Sizes": [4], "Flags": ")" + flags + "\"}") + "}}";
  };
  const std::string rule =
      "\n  rule: an input with the flag OWNED_BY_DML is bound in the dispatchable's bindings, before the first command"
      "\n  help: write \"bindings\": {\"InputTensor\": \"RESOURCE\"} beside type";
  check_dispatchables({
    {owned("^{}", "OWNED_BY_DML"), {"InputTensor is not bound at initialization" + rule}},
    {owned(R"({"InputTensor": ^~"R"})", "OWNED_BY_DML"),
     {"InputTensor needs 16 bytes, but \"R\" has 4\n"
      "  rule: FLOAT32 [4] has 16 bytes, rounded up to a multiple of 4\n"
      "  help: make \"R\" larger, or the tensor smaller"},
     {"InputTensor is FLOAT32, but the values of \"R\" are UINT32\n"
      "  rule: a buffer has no type: its bytes are read as FLOAT32\n"
      "  help: give the tensor and the values the same type"}},
    {owned(R"({"InputTensor": ^"R"})", "NONE"),
     {"InputTensor is bound at initialization, but is not owned by DirectML\n"
      "  rule: a tensor with the flag OWNED_BY_DML is bound in the dispatchable's bindings, all others in the command's\n"
      "  help: bind it in the dispatch command"}},
  });
}

TEST_CASE("models: all that is not available, by name and place") {
  const std::string rule = ", which cannot be run here\n  rule: of a model's dispatchables only DirectML operators are run";
  const std::string text = R"({"resources": {"P": {"initialValuesDataType": "UINT8", "initialValues": {"sourcePath": ^"a.png"}}},
    "dispatchables": {"s": {"type": ^"HLSL"}, "m": {"type": ^"Onnx"},
                      "e": {"type": "ELEMENT_WISE_IDENTITY", "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
                            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}}},
    "commands": [{"type": "dispatch", "dispatchable": "s", "bindings": {"x": "P", "y": ["P", {"name": ^"Q"}]}}]})";
  check_models({{text,
    {"images are not read here: a.png\n  rule: files of values are .npy, or raw bytes of any other name\n"
     "  help: convert the picture to .npy first",
     "s is an HLSL shader" + rule, "m is an ONNX model" + rule,
     "no resource is called \"Q\"\n  rule: resources: P"}}});
}

TEST_CASE("models: commands that are accepted") {
  check_commands({
    {dispatch}, {R"({"type": "DISPATCH", "dispatchable": "pad", "threadGroupCount": [1, 2, 3],
                     "bindings": {"InputTensor": {"name": "In"}, "OutputTensor": ["Out"]}})"},
    {R"({"type": "Print", "resource": "Out", "verbose": true})"},
    {R"({"type": "writefile", "resource": "Out", "targetPath": "x.npy", "dimensions": [2, 3]})"},
    {R"({"type": "writeFile", "resource": "Out", "targetPath": "x.npy", "dimensions": []})"},
    {R"({"type": "writeFile", "resource": "Mixed", "targetPath": "x.dat"})"},
    {R"({"type": "dispatch", "dispatchable": "pad", "bindings": {
         "InputTensor": {"name": "In", "elementCount": 4, "elementOffset": 0, "elementSizeInBytes": 4, "format": "R32_FLOAT"},
         "OutputTensor": "Out"}})"},
    {R"({"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "In", "OutputTensor": "Out", ~"Input": "In"}})", {},
     {"unknown field \"Input\"; did you mean \"InputTensor\"?\n  rule: the fields of bindings of DML_OPERATOR_PADDING are InputTensor, OutputTensor"}},
    {R"({"type": "writeFile", "resource": "Out", "targetPath": "x.npy", "dimensions": ~[2]})", {},
     {"of the 6 elements of \"Out\" only the first 2 are written"}},
    {R"({"type": "writeFile", "resource": "Out", "targetPath": "x.npy"}, {"type": "print", "resource": "In"},
        {"type": "writeFile", "resource": "In", "targetPath": ~"./x.npy"},
        {"type": "writeFile", "resource": "In", "targetPath": "y.npy"})", {},
     {"./x.npy replaces what commands[0] writes to this file\n"
      "  rule: as in DxDispatch, a later writeFile replaces an earlier one\n  help: write to another file"}},
    {R"({"type": "dispatch", "dispatchable": "pad", "bindings": {
         "InputTensor": {"name": "In", ~"elementStride": 1}, "OutputTensor": "Out"}})", {},
     {"unknown field \"elementStride\"\n  rule: the fields of a binding are name, elementCount, elementSizeInBytes, "
      "elementOffset, format, counter, counterOffsetBytes, shape\n  help: leave it out"}},
  });
}

TEST_CASE("models: mistakes in commands") {
  const std::string resources = "\n  rule: resources: In, Out, Halves, Mixed, Later";
  const auto bindings = [](const std::string& text, std::vector<std::string> findings) {
    return ModelRow{R"({"type": "dispatch", "dispatchable": "pad", "bindings": )" + text + "}", std::move(findings)};
  };
  check_commands({
    {"^1", {"commands[0] is 1, must be an object with type"}},
    {"^{}", {"the field \"commands[0].type\" is missing\n  help: write \"type\": \"dispatch\""}},
    {R"({"type": ^"prnt", "resource": "Out"})",
     {"commands[0].type is the string \"prnt\", must be one of dispatch, print, writeFile\n  help: did you mean \"print\"?"}},
    {R"(^{"type": "print"})", {"the field \"commands[0].resource\" is missing\n  help: write \"resource\": \"NAME\""}},
    {R"({"type": "print", "resource": ^"out2"})",
     {"no resource is called \"out2\"" + resources + "\n  help: did you mean \"Out\"?"}},
    {R"({"type": "print", "resource": "Out", "verbose": ^1})", {"commands[0].verbose is 1, must be true or false\n"
                                                                "  help: write true"}},
    {R"({"type": "print", "resource": ^"Mixed"})",
     {"\"Mixed\" cannot be printed: its values have several types\n"
      "  rule: a resource that is printed has an initialValuesDataType"}},
    {R"({"type": "print", "resource": ^"Later"})",
     {"\"Later\" cannot be printed: its size is deferred\n"
      "  rule: a resource that is printed has an initialValuesDataType"}},
    {R"({"type": "dispatch", "dispatchable": ^"padd", "bindings": {}})",
     {"no dispatchable is called \"padd\"\n  rule: dispatchables: pad\n  help: did you mean \"pad\"?"}},
    {R"(^{"type": "dispatch", "dispatchable": "pad"})",
     {"the field \"commands[0].bindings\" is missing\n  rule: a dispatch says which resource is which tensor\n"
      "  help: write \"bindings\": {\"InputTensor\": \"RESOURCE\", …}"}},
    {R"({"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "In", "OutputTensor": "Out"}, "threadGroupCount": ^[1]})",
     {"commands[0].threadGroupCount is an array, must be an array of three numbers"}},
    bindings("^[]", {"commands[0].bindings is an empty array, must be an object of resources by tensor"}),
    bindings(R"(^{"InputTensor": "In"})",
             {"OutputTensor is not bound\n  rule: DML_OPERATOR_PADDING needs it\n  help: write \"OutputTensor\": \"RESOURCE\""}),
    bindings(R"({"InputTensor": ^"Inn", "OutputTensor": ^7})",
             {"no resource is called \"Inn\"" + resources + "\n  help: did you mean \"In\"?",
              "OutputTensor is 7, must be the name of a resource, or an object such as {\"name\": \"RESOURCE\", "
              "\"elementOffset\": 4}"}),
    bindings(R"({"InputTensor": ^["In", "In"], "OutputTensor": ^{}})",
             {"InputTensor takes 1 resource, but 2 are bound",
              "the field \"OutputTensor.name\" is missing\n  rule: a binding names a resource\n  help: write \"name\": \"RESOURCE\""}),
    bindings(R"({"InputTensor": "In", "OutputTensor": "Out", ^"InputTensor": "Out"})", {"InputTensor is bound twice"}),
    bindings(R"({"InputTensor": "In", "OutputTensor": ^"Halves"})",
             {"OutputTensor needs 24 bytes, but \"Halves\" has 12\n"
              "  rule: FLOAT32 [6] has 24 bytes, rounded up to a multiple of 4\n"
              "  help: make \"Halves\" larger, or the tensor smaller"}),
    bindings(R"({"InputTensor": ^{"name": "Out", "elementOffset": 3}, "OutputTensor": "Out"})",
             {"InputTensor needs 16 bytes, but \"Out\" has 12 from byte 12\n"
              "  rule: FLOAT32 [4] has 16 bytes, rounded up to a multiple of 4\n"
              "  help: make \"Out\" larger, or the tensor smaller"}),
    bindings(R"({"InputTensor": ^{"name": "In", "elementOffset": 9223372036854775807, "elementSizeInBytes": 1}, "OutputTensor": "Out"})",
             {"InputTensor needs 16 bytes, but \"In\" has 0 from byte 9223372036854775807\n"
              "  rule: FLOAT32 [4] has 16 bytes, rounded up to a multiple of 4\n"
              "  help: make \"In\" larger, or the tensor smaller"}),
    bindings(R"({"InputTensor": {"name": "In", "elementOffset": ^9223372036854775807}, "OutputTensor": "Out"})",
             {"InputTensor.elementOffset is 9223372036854775807, must be within the resource"}),
    bindings(R"({"InputTensor": {"name": "Mixed", "elementOffset": ^1}, "OutputTensor": "Out"})",
             {"InputTensor.elementOffset counts elements of no known size\n  rule: the resource has values of several types\n"
              "  help: write \"elementSizeInBytes\": 4, for example"}),
    bindings(R"({"InputTensor": {"name": "In", "counter": ^"No"}, "OutputTensor": "Out"})",
             {"no resource is called \"No\"" + resources}),
    bindings(R"({"InputTensor": ^"Later", "OutputTensor": "Out"})",
             {"InputTensor is bound to \"Later\", whose size is deferred\n"
              "  rule: only outputs of ONNX models are allocated while they run\n  help: give \"Later\" initialValues"}),
    {R"(^{"type": "writeFile", "resource": "Out"})",
     {"the field \"commands[0].targetPath\" is missing\n  help: write \"targetPath\": \"out.npy\""}},
    {R"({"type": "writeFile", "resource": "Out", "targetPath": ^"x.PNG"})",
     {"images are not written here: x.PNG\n  rule: files of values are .npy, or raw bytes of any other name\n"
      "  help: write a .npy file, and make the picture of it"}},
    {R"({"type": "writeFile", "resource": ^"Mixed", "targetPath": "x.npy"})",
     {"\"Mixed\" cannot be written: its values have several types\n"
      "  rule: a resource that is written has an initialValuesDataType"}},
    {R"({"type": "writeFile", "resource": "Halves", "targetPath": "x.npy", "dimensions": ^[6]})",
     {"dimensions [6] have 6 elements, but \"Halves\" has 5\n"
      "  rule: a file of these dimensions would promise more, or less, than it holds\n"
      "  help: write [5], or sizes that make 5"}},
    {R"({"type": "writeFile", "resource": "Out", "targetPath": "x.npy", "dimensions": ^[0]})",
     {"dimensions [0] have 0 elements, but \"Out\" has 6\n"
      "  rule: a file of these dimensions would promise more, or less, than it holds\n"
      "  help: write [6], or sizes that make 6"}},
    {R"({"type": "writeFile", "resource": "Out", "targetPath": "x.npy", "dimensions": [^1.5]})",
     {"commands[0].dimensions[0] is 1.5, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 1 or 2"}},
  });
}

TEST_CASE("models: an output does not share bytes with an input") {
  const auto model = [](const std::string& input, const std::string& output) {
    return R"({"resources": {"All": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 10, "value": 0}}},
      "dispatchables": {"pad": {"type": "PADDING", )" + padding("", "") + R"(}},
      "commands": [{"type": "dispatch", "dispatchable": "pad", "bindings": {
        "InputTensor": {"name": "All", "elementOffset": )" + input + R"(},
        "OutputTensor": ^{"name": "All", "elementOffset": )" + output + "}}}]}";
  };
  const std::string message =
      "OutputTensor and InputTensor are bound to the same bytes of \"All\"\n"
      "  rule: DML_OPERATOR_PADDING cannot write over its input\n  help: bind the output to another resource";
  check_models({{model("0", "0"), {message}}, {model("3", "4"), {message}}, {model("5", "0"), {message}}});
  std::string apart = model("0", "4");
  apart.erase(apart.find('^'), 1);
  check_models({{apart}});
  apart = model("6", "0");
  apart.erase(apart.find('^'), 1);
  check_models({{apart}});
}

TEST_CASE("models: an operator that may write over its input writes to all of its bytes and no others") {
  const auto model = [](const std::string& strides, const std::string& input, const std::string& output) {
    return R"({"resources": {"All": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 0}}},
      "dispatchables": {"copy": {"type": "ELEMENT_WISE_IDENTITY",
        "InputTensor": {"DataType": "FLOAT32", "Sizes": [4], "Strides": )" + strides + R"(},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}}},
      "commands": [{"type": "dispatch", "dispatchable": "copy", "bindings": {
        "InputTensor": {"name": "All", "elementOffset": )" + input + R"(},
        "OutputTensor": ^{"name": "All", "elementOffset": )" + output + "}}}]}";
  };
  const std::string message =
      "OutputTensor and InputTensor are bound to the same bytes of \"All\"\n"
      "  rule: DML_OPERATOR_ELEMENT_WISE_IDENTITY may write over an input, but to the same bytes only\n"
      "  help: bind the output to another resource";
  check_models({{model("[0]", "4", "4"), {message}}, {model("[2]", "4", "4"), {message}},
                {model("[1]", "4", "3"), {message}}, {model("[1]", "4", "5"), {message}},
                {model("[2]", "0", "6"), {message}}, {model("[0]", "7", "4"), {message}}});
  for (std::string valid : {model("[1]", "4", "4"), model("[2]", "0", "7"), model("[0]", "8", "4"),
                            model("[0]", "3", "4")}) {
    valid.erase(valid.find('^'), 1);
    check_models({{valid}});
  }
}

TEST_CASE("models: a buffer holds its tensor's bytes, rounded up to four as DirectML counts them") {
  const auto model = [](const std::string& size) {
    return R"({"resources": {"In": {"initialValuesDataType": "UINT8", "initialValues": [1, 2, 3, 4]},
      "Out": {"initialValuesDataType": "UINT8", "initialValues": [1, 2, 3], "sizeInBytes": )" + size + R"(}},
      "dispatchables": {"pad": {"type": "PADDING", "InputTensor": {"DataType": "UINT8", "Sizes": [2]},
        "OutputTensor": {"DataType": "UINT8", "Sizes": [3]}, "PaddingMode": "EDGE", "PaddingValue": 0,
        "DimensionCount": 1, "StartPadding": [1], "EndPadding": [0]}},
      "commands": [{"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "In", "OutputTensor": )" +
           (size == "3" ? "^" : "") + R"("Out"}}]})";
  };
  check_models({{model("4")},
                {model("3"), {"OutputTensor needs 4 bytes, but \"Out\" has 3\n"
                              "  rule: UINT8 [3] has 3 bytes, rounded up to a multiple of 4\n"
                              "  help: make \"Out\" larger, or the tensor smaller"}}});
  const std::string total = R"({"DataType": "FLOAT32", "Sizes": [4], "TotalTensorSizeInBytes": 32})";
  check_models({{R"({"resources": {"In": {"initialValuesDataType": "FLOAT32", "initialValues": [1, 2, 3, 4]},
      "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}}},
      "dispatchables": {"pad": {"type": "PADDING", )" + padding("InputTensor", total) + R"(}},
      "commands": [{"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": ^"In", "OutputTensor": "Out"}}]})",
      {"InputTensor needs 32 bytes, but \"In\" has 16\n  rule: its TotalTensorSizeInBytes says so\n"
       "  help: make \"In\" larger, or the tensor smaller"}}});
}

TEST_CASE("models: an offset keeps the alignment that its tensor guarantees") {
  const auto model = [](const std::string& offset) {
    return R"({"resources": {"In": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 16, "value": 0}},
                             "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}}},
      "dispatchables": {"pad": {"type": "PADDING", )" +
           padding("InputTensor", R"({"DataType": "FLOAT32", "Sizes": [4], "GuaranteedBaseOffsetAlignment": 16})") + R"(}},
      "commands": [{"type": "dispatch", "dispatchable": "pad", "bindings": {
        "InputTensor": )" + (offset == "2" ? "^" : "") + R"({"name": "In", "elementOffset": )" + offset + R"(}, "OutputTensor": "Out"}}]})";
  };
  check_models({{model("4")},
                {model("2"), {"InputTensor is bound at byte 8, but its GuaranteedBaseOffsetAlignment is 16\n"
                              "  rule: the offset must be a multiple of what the tensor desc guarantees"}}});
}

TEST_CASE("models: every mistake of a model is told at once, and nothing else") {
  check_models({{R"({
  "resources": {
    "In": {"initialValuesDataType": "FLOAT32", "initialValues": [1, ^"two"]},
    "Out": {"initialValuesDataType": "FLOAT32", "initialValues": {"valueCount": 6, "value": 0}}
  },
  "dispatchables": {
    "pad": {"type": "PADDING", "desc": {)" + padding("OutputTensor", R"({"DataType": "FLOAT32", "Sizes": [^5]})") + R"(}}
  },
  "commands": [
    {"type": "dispatch", "dispatchable": "pad", "bindings": {"InputTensor": "In", "OutputTensor": "Out"}},
    {"type": "print", "resource": ^"Ou"}
  ]
})",
    {"In.initialValues[1] is the string \"two\"" ", must be a number, \"inf\", \"-inf\" or \"nan\" (FLOAT32)",
     "OutputTensor.Sizes[0] is 5, must be 6\n"
     "  rule: OutputTensor.Sizes[0] == InputTensor.Sizes[0] + StartPadding[0] + EndPadding[0], where 4 + 1 + 1 = 6\n"
     "  help: write 6",
     "no resource is called \"Ou\"\n  rule: resources: In, Out\n  help: did you mean \"Out\"?"}}});
  CHECK(valid_model(with_commands(dispatch)).commands.size() == 1);
}

// clang-format on

}  // namespace dmlop::test::model_refusal_test
