// The schemas and the readers of the same files agree: a schema accepts everything that its reader
// accepts, and refuses only what the reader refuses, with one error per mistake.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "batch/manifest.hpp"
#include "graph.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "program.hpp"
#include "spec/description.hpp"
#include "spec/facts.hpp"

namespace dmlop::schema_test {
namespace {

using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;
using dmlop::test::dmlop_program;
using dmlop::test::Folder;
using dmlop::test::graph_file;
using dmlop::test::read_file;

/// What `dmlop schema` prints, given these arguments.
const valijson::Schema& schema(const std::vector<std::string>& arguments = {}) {
  static std::map<std::vector<std::string>, std::unique_ptr<valijson::Schema>> parsed;
  std::unique_ptr<valijson::Schema>& made = parsed[arguments];
  if (made) return *made;
  std::vector<std::string> command{"schema"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto printed = dmlop_program(command);
  REQUIRE(printed.code == 0);
  const Json json = Json::parse(printed.output);
  CHECK(json.at("$schema") == "http://json-schema.org/draft-07/schema#");
  made = std::make_unique<valijson::Schema>();
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(json), *made);
  return *made;
}

bool schema_accepts(const std::string& text, const std::vector<std::string>& arguments = {}) {
  const Json json = Json::parse(text, nullptr, true, true);
  return valijson::Validator().validate(schema(arguments), Adapter(json), nullptr);
}

/// The places and messages of a text's errors, without those that only say that a part has one.
std::vector<std::string> errors_of(const std::string& text,
                                   const std::vector<std::string>& arguments) {
  const Json json = Json::parse(text);
  valijson::ValidationResults results;
  valijson::Validator().validate(schema(arguments), Adapter(json), &results);
  std::vector<std::string> errors;
  for (const auto& error : results) {
    if (error.description.starts_with("Failed to validate")) continue;
    std::string& line = errors.emplace_back();
    for (const std::string& part : error.context) line += part;
    line += ": " + error.description;
  }
  return errors;
}

bool validator_accepts(const std::string& text) {
  dmlop::Diagnostics diagnostics;
  auto description = dmlop::read_description("op.json", text, std::nullopt, diagnostics);
  if (description) check_description(*description, diagnostics);
  return diagnostics.empty();
}

std::string example_of(const std::string& name, const std::string& prefix = "") {
  return "{\"type\": \"" + prefix + name + "\", \"desc\": " + dmlop::find_spec(name)->example + "}";
}

/// The same with the fields beside type: not for an operator with a field Type.
std::string example_beside_type(const std::string& name) {
  Json description = Json::parse(dmlop::find_spec(name)->example);
  description["Type"] = name;
  return description.dump();
}

/// Descriptions that mutations take apart.
const std::string padding =
    R"({"$schema": "dmlop.schema.json", "type": "DML_OPERATOR_PADDING", "desc": {
  "InputTensor": {"Type": "BUFFER", "DataType": "FLOAT32", "Flags": ["OWNED_BY_DML"], "DimensionCount": 2,
                  "Sizes": [3, 4], "Strides": [4, 1], "TotalTensorSizeInBytes": 48,
                  "GuaranteedBaseOffsetAlignment": 4},
  "OutputTensor": {"DataType": "DML_TENSOR_DATA_TYPE_FLOAT32", "Sizes": [4, 7]},
  "PaddingMode": "DML_PADDING_MODE_CONSTANT", "PaddingValue": "-inf", "DimensionCount": 2,
  "StartPadding": [1, 1], "EndPadding": [0, 2]},
  "bindings": {"InputTensor": "x.npy"}, "featureLevel": "5.0", "dmlCompileType": "DmlCompileOp",
  "executionFlags": ["NONE"]})";
const std::string slice =
    R"({"Type": "SLICE1", "Desc": {"InputTensor": {"Desc": {"DataType": "INT8", "Sizes": [9]}},
  "InputWindowOffsets": [0], "InputWindowSizes": [9], "InputWindowStrides": [-2147483648]}})";
const std::string reverse =
    R"({"type": "REVERSE_SUBSEQUENCES", "InputTensor": {"DataType": "FLOAT16", "Sizes": [3, 4]},
  "SequenceLengthsTensor": {"DataType": "UINT32", "Strides": null}, "Axis": 1})";
const std::string pooling =
    R"({"type": "LP_POOLING", "desc": {"InputTensor": {"DataType": "FLOAT16", "Sizes": [1, 2, 3, 4]},
  "Strides": [1, 1], "WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2}})";

const std::string gemm =
    R"({"type": "GEMM", "desc": {"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
  "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 5]}, "CTensor": null, "TransA": "NONE",
  "TransB": "NONE", "Alpha": 1, "Beta": 0,
  "FusedActivation": {"Type": "ACTIVATION_ELU", "Desc": {"Alpha": 0.5, "InputTensor": null}}}})";
const std::string join =
    R"({"type": "JOIN", "desc": {"InputTensors": [{"DataType": "FLOAT32", "Sizes": [3, 4]},
  {"DataType": "FLOAT32", "Sizes": [3, 5]}], "Axis": 1},
  "bindings": {"InputTensors": ["0.npy", "1.npy"]}})";
const std::string clip =
    R"({"type": "ELEMENT_WISE_CLIP1", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
  "ScaleBias": {"Scale": 2, "Bias": 1}, "MinMaxDataType": "FLOAT32", "Min": {"Float32": -1},
  "Max": "inf"}})";
const std::string upsampling =
    R"({"type": "UPSAMPLE_2D", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
  "ScaleSize": {"Width": 2, "Height": 3}, "InterpolationMode": "LINEAR"}})";
const std::string generator =
    R"({"type": "RANDOM_GENERATOR", "desc": {"Type": "PHILOX_4X32_10",
  "InputStateTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 6]},
  "OutputTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 8]}}})";
const std::string scan =
    R"({"type": "CUMULATIVE_SUMMATION", "InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]},
  "Axis": 1, "AxisDirection": "INCREASING", "HasExclusiveSum": true})";

struct Mutation {
  const std::string& text;
  std::string from;
  std::string to;
};

// Structural mistakes: what a schema can say.
const std::vector<Mutation> mutations{
    {padding, "\"EndPadding\": [0, 2]", "\"EndPading\": [0, 2]"},
    {padding, ",\n  \"StartPadding\": [1, 1]", ""},
    {padding, "\"PaddingMode\": \"DML_PADDING_MODE_CONSTANT\", ", ""},
    {padding, "MODE_CONSTANT", "MODE_CONSTNT"},
    {padding, "\"DML_PADDING_MODE_CONSTANT\"", "9"},
    {padding, "\"-inf\"", "\"minus infinity\""},
    {padding, "\"-inf\"", "true"},
    {padding, "\"-inf\"", "1e39"},
    {padding, "\"-inf\"", "null"},
    {padding, "[1, 1]", "1"},
    {padding, "[1, 1]", "[1, 1.5]"},
    {padding, "[1, 1]", "[1, -1]"},
    {padding, "[1, 1]", "[1, 4294967296]"},
    {padding, "[1, 1]", "[1, \"1\"]"},
    {padding, "[1, 1]", "[1, true]"},
    {padding, "[1, 1]", "[1, null]"},
    {padding, "\"Sizes\": [3, 4]", "\"Sizes\": [3, 0]"},
    {padding, "\"Sizes\": [3, 4]", "\"Sizes\": []"},
    {padding, "\"Sizes\": [3, 4]", "\"sizes\": [3, 4]"},
    {padding, "\"BUFFER\"", "\"INVALID\""},
    {padding, "\"DataType\": \"FLOAT32\"", "\"DataType\": \"float32\""},
    {padding, "\"DataType\": \"FLOAT32\"", "\"DataType\": 99"},
    {padding, "OWNED_BY_DML", "OWNED"},
    {padding, "[\"OWNED_BY_DML\"]", "0"},
    {padding, "\"DimensionCount\": 2,\n", "\"DimensionCount\": 9,\n"},
    {padding, "\"DimensionCount\": 2,\n", "\"DimensionCount\": \"2\",\n"},
    {padding, "\"Strides\": [4, 1]", "\"Strides\": [4, -1]"},
    {padding, "\"TotalTensorSizeInBytes\": 48", "\"TotalTensorSizeInBytes\": -48"},
    {padding, "Alignment\": 4", "Alignment\": 4.5"},
    {padding, "\"5.0\"", "\"5.3\""},
    {padding, "\"5.0\"", "5.0"},
    {padding, "\"DmlCompileOp\"", "\"DmlCompile\""},
    {padding, "[\"NONE\"]", "[\"SOME\"]"},
    {padding, "\"x.npy\"", "\"\""},
    {padding, "\"x.npy\"", "{\"name\": \"x\"}"},
    {padding, "{\"InputTensor\": \"x.npy\"}", "{\"Input\": \"x.npy\"}"},
    {padding, "{\"InputTensor\": \"x.npy\"}", "[]"},
    {padding, "\"dmlop.schema.json\"", "7"},
    {padding, "\"DML_OPERATOR_PADDING\"", "\"DML_OPERATOR_PADDIN\""},
    {padding, "\"DML_OPERATOR_PADDING\"", "\"GEMM\""},
    {padding, "\"type\": \"DML_OPERATOR_PADDING\", ", ""},
    {padding, "\"type\": \"DML_OPERATOR_PADDING\"", "\"type\": \"PADDING\", \"Type\": \"PADDING\""},
    {slice, "-2147483648", "-2147483649"},
    {slice, "-2147483648", "2147483648"},
    {slice, "\"InputWindowSizes\": [9]", "\"InputWindowSizes\": [-9]"},
    {slice, "{\"Desc\": {", "{\"Sizes\": [9], \"Desc\": {"},
    {slice, "\"Desc\": {\"DataType\"", "\"desc\": {\"DataType\""},
    {reverse, "\"Axis\": 1", "\"Axis\": [1]"},
    {reverse, ", \"Axis\": 1", ""},
    {reverse, "\"Axis\": 1", "\"Axis\": 1, \"Axes\": 1"},
    {pooling, "\"P\": 2", "\"P\": -2"},
    {pooling, "\"P\": 2", "\"P\": 2, \"Dilations\": [1, 1]"},
    {padding, "\"desc\": {", "\"Desc\": {}, \"desc\": {"},
    {gemm, "ACTIVATION_ELU", "ACTIVATION_EL"},
    {gemm, "ACTIVATION_ELU", "ACTIVATION_HARDMAX"},
    {gemm, "{\"Alpha\": 0.5, ", "{\"Alpa\": 0.5, "},
    {gemm, "{\"Alpha\": 0.5, ", "{"},
    {gemm, ", \"Desc\": {\"Alpha\": 0.5, \"InputTensor\": null}", ""},
    {gemm, "\"Type\": \"ACTIVATION_ELU\", ", ""},
    {gemm, "\"CTensor\": null", "\"CTensor\": []"},
    {gemm, "\"Alpha\": 1", "\"Alpha\": null"},
    {join, "\"InputTensors\": [{\"DataType\"", "\"InputTensors\": [{\"Datatype\""},
    {join, "\"InputTensors\": [{", "\"InputTensors\": [7, {"},
    {join, "[\"0.npy\", \"1.npy\"]", "\"0.npy\""},
    {join, "\"1.npy\"", "1"},
    {clip, "\"Bias\"", "\"Bia\""},
    {clip, ", \"Bias\": 1", ""},
    {clip, "{\"Scale\": 2, \"Bias\": 1}", "2"},
    {clip, "\"Float32\"", "\"Float\""},
    {clip, "\"inf\"", "\"infinity\""},
    {clip, "\"inf\"", "[1]"},
    {upsampling, "\"Width\"", "\"width\""},
    {upsampling, "{\"Width\": 2, \"Height\": 3}", "[2, 3]"},
    {generator, "PHILOX_4X32_10", "PHILOX"},
    {scan, "true", "2"},
    {scan, "true", "\"true\""},
};

std::string mutated(const Mutation& mutation) {
  const std::size_t at = mutation.text.find(mutation.from);
  REQUIRE_MESSAGE(at != std::string::npos, mutation.from);
  std::string text = mutation.text;
  return text.replace(at, mutation.from.size(), mutation.to);
}

/// A mistake, and the one error that it makes: its place, and a part of its message.
struct Typo {
  const std::string& text;
  std::string from;
  std::string to;
  std::string place;
  std::string message;
};

void check_typos(const std::vector<std::string>& arguments, const std::vector<Typo>& typos) {
  for (const Typo& typo : typos) {
    CHECK(errors_of(typo.text, arguments).empty());
    const std::string text = mutated({typo.text, typo.from, typo.to});
    CAPTURE(text);
    const std::vector<std::string> errors = errors_of(text, arguments);
    CHECK_MESSAGE(errors.size() == 1, errors.size());
    for (const std::string& error : errors) {
      CHECK_MESSAGE(error.starts_with("<root>" + typo.place + ": "), error);
      CHECK_MESSAGE(error.find(typo.message) != std::string::npos, error);
    }
  }
}

/// The op.json files below a folder.
std::vector<std::string> descriptions_below(const std::string& folder) {
  std::vector<std::string> texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "op.json") texts.push_back(read_file(entry.path()));
  }
  return texts;
}

}  // namespace

TEST_CASE("the schema takes samples, examples, conformance cases and every spelling") {
  std::vector<std::string> texts{padding, slice, reverse,    pooling,   gemm,
                                 join,    clip,  upsampling, generator, scan};
  for (const std::string& name : dmlop::specified_operators()) {
    texts.push_back(example_of(name));
    texts.push_back(example_of(name, "DML_OPERATOR_"));
    if (name != "RANDOM_GENERATOR") texts.push_back(example_beside_type(name));
  }
  const std::size_t before = texts.size();
  for (const std::string& folder :
       {test::conformance_path("public"), test::conformance_path("directml")}) {
    for (std::string& text : descriptions_below(folder)) texts.push_back(std::move(text));
  }
  CHECK(texts.size() > before + 100);
  for (const std::string& text : texts) {
    CAPTURE(text);
    REQUIRE(validator_accepts(text));
    CHECK(schema_accepts(text));
  }
  // Their tensors may be those of files beside them.
  const auto samples = descriptions_below(test::source_path("samples"));
  CHECK(samples.size() >= 31);
  for (const std::string& text : samples) {
    CAPTURE(text);
    CHECK(schema_accepts(text));
  }
}

TEST_CASE("schema and validator both refuse structural mistakes") {
  for (const Mutation& mutation : mutations) {
    const std::string text = mutated(mutation);
    CAPTURE(text);
    CHECK_FALSE(schema_accepts(text));
    CHECK_FALSE(validator_accepts(text));
  }
}

TEST_CASE("one mistake in a description is one error, at its place") {
  check_typos(
      {}, {
              {padding, "\"EndPadding\": [0, 2]", "\"EndPading\": [0, 2]", "[desc]", "'EndPading'"},
              {padding, "\"Sizes\": [3, 4]", "\"sizes\": [3, 4]", "[desc][InputTensor]", "'sizes'"},
              {padding, "MODE_CONSTANT", "MODE_CONSTNT", "[desc][PaddingMode]", "enum"},
              {padding, "[1, 1]", "[1, \"1\"]", "[desc][StartPadding][1]", "type"},
              {padding, "[1, 1]", "1", "[desc][StartPadding]", "type"},
              {padding, ",\n  \"StartPadding\": [1, 1]", "", "[desc]",
               "Missing required property 'StartPadding'"},
              {padding, "\"desc\": {", "\"decs\": {", "", "'decs'"},
              {padding, "\"type\": \"DML_OPERATOR_PADDING\", ", "", "",
               "Missing required property 'type'"},
              {padding, "DML_OPERATOR_PADDING", "PADDIN", "[type]", "enum"},
              {padding, "\"DML_OPERATOR_PADDING\"", "1", "[type]", "type"},
              {padding, "\"-inf\"", "\"minus\"", "[desc][PaddingValue]", "pattern"},
              {padding, "\"-inf\"", "true", "[desc][PaddingValue]", "type"},
              {padding, "{\"InputTensor\": \"x.npy\"}", "{\"Input\": \"x.npy\"}", "[bindings]",
               "'Input'"},
              {padding, "\"5.0\"", "\"5.3\"", "[featureLevel]", "enum"},
              {reverse, "\"Axis\": 1", "\"Axes\": 1", "", "'Axes'"},
              {reverse, ", \"Axis\": 1", "", "", "Missing required property 'Axis'"},
              {gemm, "ACTIVATION_ELU", "ACTIVATION_EL", "[desc][FusedActivation][Type]", "enum"},
              {gemm, "{\"Alpha\": 0.5, ", "{\"Alpa\": 0.5, ", "[desc][FusedActivation][Desc]",
               "'Alpa'"},
              {gemm, "{\"Alpha\": 0.5, ", "{", "[desc][FusedActivation][Desc]",
               "Missing required property 'Alpha'"},
              {gemm, "\"Type\": \"ACTIVATION_ELU\", ", "", "[desc][FusedActivation]",
               "Missing required property 'Type'"},
              {gemm, "\"CTensor\": null", "\"CTensor\": 7", "[desc][CTensor]", "type"},
              {join, "[\"0.npy\", \"1.npy\"]", "\"0.npy\"", "[bindings][InputTensors]", "type"},
              {clip, "\"Bias\"", "\"Bia\"", "[desc][ScaleBias]", "'Bia'"},
              {clip, "\"Float32\"", "\"Float\"", "[desc][Min]", "'Float'"},
              {upsampling, "\"Width\": 2, ", "", "[desc][ScaleSize]",
               "Missing required property 'Width'"},
              {generator, "PHILOX_4X32_10", "PHILOX", "[desc][Type]", "enum"},
              {scan, "true", "2", "[HasExclusiveSum]", "enum"},
          });
}

TEST_CASE("a misspelt field of any operator is one error") {
  for (const std::string& name : dmlop::specified_operators()) {
    const Json example = Json::parse(dmlop::find_spec(name)->example);
    for (const auto& field : example.items()) {
      Json fields = example;
      fields.erase(field.key());
      fields["X" + field.key()] = field.value();
      const Json description{{"type", name}, {"desc", fields}};
      CAPTURE(description.dump());
      const std::vector<std::string> errors = errors_of(description.dump(), {});
      CHECK_MESSAGE(errors.size() == 1, errors.size());
      for (const std::string& error : errors)
        CHECK_MESSAGE(error.find("'X" + field.key() + "'") != std::string::npos, error);
    }
  }
}

TEST_CASE("the schema of jobs: what a job lacks the defaults may have") {
  const std::string jobs = R"({"jobs": [{"id": "a", "type": "PADDING", "desc": {
    "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [0]},
    "expect": {"OutputTensor": "y.npy"}, "tolerance": {"ulp": 1, "nan": "differ"}, "tags": ["x"]}]})";
  const std::string with_defaults = R"({"defaults": {"type": "PADDING", "desc": {
    "PaddingMode": "EDGE"}}, "jobs": [{"skip": "slow", "xfail": "why", "desc": {"StartPadding": [1]}},
    {"type": "SLICE1", "InputWindowSizes": [9]}]})";
  check_typos(
      {"--jobs"},
      {
          {jobs, "\"EndPadding\"", "\"EndPading\"", "[jobs][0][desc]", "'EndPading'"},
          {jobs, "\"expect\"", "\"expct\"", "[jobs][0]", "'expct'"},
          {jobs, "\"ulp\"", "\"ulps\"", "[jobs][0][tolerance]", "'ulps'"},
          {jobs, "\"type\": \"PADDING\", ", "", "[jobs][0]", "Missing required property 'type'"},
          {jobs, "\"jobs\"", "\"job\"", "", "'job'"},
          {jobs, ", \"EndPadding\": [0]", "", "[jobs][0][desc]",
           "Missing required property 'EndPadding'"},
          {with_defaults, "\"PaddingMode\"", "\"PadingMode\"", "[defaults][desc]", "'PadingMode'"},
          {with_defaults, "\"StartPadding\"", "\"StartPading\"", "[jobs][0][desc]",
           "'StartPading'"},
          {with_defaults, "\"skip\"", "\"skp\"", "[jobs][0]", "'skp'"},
          {with_defaults, "\"xfail\"", "\"xfial\"", "[jobs][0]", "'xfial'"},
          {with_defaults, "InputWindowSizes", "InputWindowSize", "[jobs][1]", "'InputWindowSize'"},
      });
}

TEST_CASE("the schema of a job.json takes the fields that its reader takes") {
  const std::string job =
      R"({"$schema": "dmlop-job.schema.json", "tags": ["slow"], "skip": "why", "xfail": "why"})";
  check_typos({"--job"}, {
                             {job, "\"tags\"", "\"tag\"", "", "'tag'"},
                             {job, "[\"slow\"]", "\"slow\"", "[tags]", "type"},
                             {job, "\"xfail\": \"why\"", "\"xfail\": true", "[xfail]", "type"},
                         });
  const Json members = Json::parse(dmlop_program({"schema", "--job"}).output).at("properties");
  CHECK(members.size() == dmlop::job_file_fields().size());
  for (const std::string& field : dmlop::job_file_fields()) CHECK(members.contains(field));
}

TEST_CASE("the schema of tolerances") {
  const std::string tolerance = R"({"rtol": 1e-5, "atol": 0, "ulp": 2, "nan": "differ"})";
  check_typos({"--tolerance"}, {
                                   {tolerance, "\"ulp\"", "\"ulps\"", "", "'ulps'"},
                                   {tolerance, "2", "-2", "[ulp]", "greater than or equal to 0"},
                                   {tolerance, "2", "2.5", "[ulp]", "type"},
                                   {tolerance, "\"differ\"", "\"differs\"", "[nan]", "enum"},
                               });
}

TEST_CASE("the schema of models takes the samples, and wants all fields") {
  const std::string folder = test::source_path("samples/dxdispatch");
  std::size_t models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    CAPTURE(entry.path());
    if (entry.path().extension() != ".json") continue;
    CHECK(schema_accepts(read_file(entry.path()), {"--model"}));
    ++models;
  }
  CHECK(models >= 4);
  const std::string model = R"({"resources": {"x": {"initialValuesDataType": "FLOAT32",
    "initialValues": {"valueCount": 4, "value": "nan"}}, "y": {"initialValues": [{"type": "UINT8", "value": 1}]}},
    "dispatchables": {"abs": {"type": "ELEMENT_WISE_ABS", "desc": {
      "InputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
      "OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}}}},
    "commands": [{"type": "Dispatch", "dispatchable": "abs",
      "bindings": {"InputTensor": {"name": "x", "elementOffset": 0}, "OutputTensor": ["y"]}},
      {"type": "print", "resource": "y"}, {"type": "writeFile", "resource": "y", "targetPath": "y.npy"}]})";
  const std::string abs = "[dispatchables][abs][desc]";
  check_typos(
      {"--model"},
      {
          {model, "\"desc\": {\n", "\"desc\": {\"ScaleBia\": null,\n", abs, "'ScaleBia'"},
          {model, "\"OutputTensor\": {", "\"OutputTensr\": {", abs, "'OutputTensr'"},
          {model, ",\n      \"OutputTensor\": {\"DataType\": \"FLOAT32\", \"Sizes\": [4]}", "", abs,
           "Missing required property 'OutputTensor'"},
          {model, "{\"DataType\": \"FLOAT32\", \"Sizes\": [4]},", "{\"Sizes\": [4]},",
           abs + "[InputTensor]", "Missing required property 'DataType'"},
          {model, "ELEMENT_WISE_ABS", "ELEMENT_WISE_ABSS", "[dispatchables][abs][type]", "enum"},
          {model, "\"Dispatch\"", "\"Dispath\"", "[commands][0][type]", "enum"},
          {model, "\"resource\": \"y\"}", "\"resourc\": \"y\"}", "[commands][1]", "'resourc'"},
          {model, "\"bindings\"", "\"binding\"", "[commands][0]", "'binding'"},
          {model, "\"name\": \"x\", ", "", "[commands][0][bindings][InputTensor]",
           "Missing required property 'name'"},
          {model, "\"valueCount\": 4, ", "", "[resources][x][initialValues]",
           "Missing required property 'valueCount'"},
          {model, "\"value\": \"nan\"", "\"valu\": 1", "[resources][x][initialValues]", "'valu'"},
          {model, "\"initialValuesDataType\": \"FLOAT32\",", "", "[resources][x]",
           "Missing required property 'initialValuesDataType'"},
      });
}

TEST_CASE("the schema of models takes graphs as dispatchables") {
  const std::string model = R"({"resources": {}, "commands": [], "dispatchables": {
    "net": {"type": "DmlSerializedGraph", "sourcePath": "Partition_0.bin"}}})";
  CHECK(schema_accepts(model, {"--model"}));
  check_typos(
      {"--model"},
      {
          {model, "\"sourcePath\"", "\"sourcepath\"", "[dispatchables][net]", "'sourcepath'"},
          {model, "SerializedGraph", "SerialisedGraph", "[dispatchables][net][type]", "enum"},
      });
}

TEST_CASE("the schema of graphs takes the sample and what convert makes, and jobs of graphs") {
  const std::string sample = test::source_path("samples/graph/graph.json");
  CHECK(schema_accepts(read_file(sample), {"--graph"}));
  const Folder folder;
  for (const char* name : {"cnn_relu_pool", "bitwise_ops", "nbits_matmul", "gru_forward"}) {
    CAPTURE(name);
    const auto made = dmlop_program({"convert", graph_file(name), "--to-graph", "g.json"},
                                    {.folder = folder.path()});
    CHECK(made.code == 0);
    CHECK(schema_accepts(folder.read("g.json"), {"--graph"}));
  }
  const std::string graph =
      R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [2]}, "i", null],
    "constants": {"c": "c.npy", "d": {"DataType": "FLOAT32", "Sizes": [2], "Values": [1, "nan"]}},
    "nodes": [{"name": "add", "type": "ELEMENT_WISE_ADD", "desc": {},
      "bindings": {"ATensor": "x", "BTensor": "d", "OutputTensor": "y"}}],
    "outputs": ["y"]})";
  CHECK(schema_accepts(graph, {"--graph"}));
  check_typos(
      {"--graph"},
      {
          {graph, "\"name\": \"x\", ", "", "[inputs][0]", "'name'"},
          {graph, "\"Sizes\": [2]}, \"i\"", "\"Size\": [2]}, \"i\"", "[inputs][0]", "'Size'"},
          {graph, "\"Values\"", "\"Value\"", "[constants][d]", "'Value'"},
          {graph, "ELEMENT_WISE_ADD", "ELEMENT_WISE_AD", "[nodes][0][type]", "enum"},
          {graph, "\"bindings\"", "\"binding\"", "[nodes][0]", "'binding'"},
          {graph, "\"desc\": {}", "\"desc\": {\"Alpha\": 1}", "[nodes][0][desc]", "'Alpha'"},
          {graph, "\"outputs\": [\"y\"]", "\"outputs\": [1]", "[outputs][0]", "type"},
          {graph, "\"outputs\"", "\"output\"", "", "'output'"},
      });
  const std::string job = R"({"jobs": [{"id": "a", "graph": "graph.json",
    "bindings": {"x": "x.npy"}, "expect": {"y": "y.npy"}}]})";
  CHECK(schema_accepts(job, {"--jobs"}));
  check_typos({"--jobs"}, {
                              {job, "\"expect\"", "\"expct\"", "[jobs][0]", "'expct'"},
                              {job, "\"x.npy\"", "1", "[jobs][0][bindings][x]", "type"},
                          });
}

TEST_CASE("the schema of one operator takes that operator only") {
  CHECK(schema_accepts(slice, {"DML_OPERATOR_SLICE1"}));
  CHECK_FALSE(schema_accepts(pooling, {"DML_OPERATOR_SLICE1"}));
  CHECK(schema_accepts(R"({"type": "DML_OPERATOR_SCATTER", "Axis": 0})", {"SCATTER"}));
}

TEST_CASE("the schema and the validator fuse the same activations into the same operators") {
  // Whatever the operator's own example says, with each activation's example as what is fused.
  unsigned accepted = 0, refused = 0;
  for (const std::string owner : {"GEMM", "CONVOLUTION", "ELEMENT_WISE_ADD1"}) {
    for (const auto& activation : dmlop::fused_activations()) {
      Json fields = Json::parse(dmlop::find_spec(activation.name)->example);
      for (const auto& field : dmlop::find_spec(activation.name)->fields)
        if (field.is_tensor()) fields.erase(field.name);
      Json description = Json::parse(example_of(owner));
      description["desc"]["FusedActivation"] = {{"Type", activation.name}, {"Desc", fields}};
      CAPTURE(description.dump());
      const auto& into = activation.into;
      const bool is_taken =
          into.empty() || std::find(into.begin(), into.end(), owner) != into.end();
      ++(is_taken ? accepted : refused);
      CHECK(validator_accepts(description.dump()) == is_taken);
      CHECK(schema_accepts(description.dump()) == is_taken);
    }
  }
  CHECK(accepted > 40);
  CHECK(refused == 5);
}

TEST_CASE("every field has its sentence, and the schemas stay below a megabyte") {
  for (const std::string option : {"--jobs", "--model", "--graph"})
    CHECK(dmlop_program({"schema", option}).output.size() < 1000000);
  const auto printed = dmlop_program({"schema"});
  CHECK(printed.output.size() < 1000000);
  const Json definitions = Json::parse(printed.output).at("definitions");
  for (const std::string& name : dmlop::specified_operators()) {
    for (const dmlop::FieldSpec& field : dmlop::find_spec(name)->fields) {
      const Json& schema = definitions.at(name + ".desc").at("properties").at(field.name);
      CAPTURE(name + "." + field.name);
      CHECK(schema.at("description") == field.text);
      CHECK_FALSE(schema.contains("$ref"));  // whose siblings mean nothing
    }
  }
}

}  // namespace dmlop::schema_test
