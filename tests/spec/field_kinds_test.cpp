// Each kind of field in all its forms, and the messages about wrong ones.
#include <doctest/doctest.h>

#include "described.hpp"

namespace dmlop::test::field_kinds_test {
namespace {

using Json = nlohmann::ordered_json;

/// The messages of a description's findings, one per line.
std::string messages_of(const std::string& operator_name, const std::string& desc) {
  std::string text;
  for (const auto& finding : check_desc(operator_name, Json::parse(desc)).diagnostics)
    text += finding.message + "\n";
  return text;
}

struct Row {
  std::string desc;
  std::string messages;  // "": valid
};

void check_rows(const std::string& operator_name, const std::string& before,
                const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.desc);
    CHECK(messages_of(operator_name, "{" + before + row.desc + "}") == row.messages);
  }
}

const std::string vector_of_two = R"({"DataType": "FLOAT32", "Sizes": [2]})";
const std::string two_vectors = "\"ATensor\": " + vector_of_two + ", \"BTensor\": " + vector_of_two;

}  // namespace

TEST_CASE("nested operators: with Desc, with their fields beside, and null") {
  check_rows(
      "ELEMENT_WISE_ADD1", two_vectors + ", \"FusedActivation\": ",
      {{"null", ""},
       {R"({"Type": "DML_OPERATOR_ACTIVATION_RELU", "Desc": {}})", ""},
       {R"({"type": "ACTIVATION_ELU", "Alpha": 1})", ""},
       {R"({"Type": "ACTIVATION_RELU", "Desc": {"InputTensor": null}})", ""},
       {R"({"Type": "ACTIVATION_ELU"})", "the field \"Alpha\" is missing\n"},
       {R"({"Type": "ACTIVATION_ELU", "Desc": {"Alfa": 1}})",
        "unknown field \"Alfa\"; did you mean \"Alpha\"?\n"},
       {R"({"Type": "ACTIVATION_RELU", "Desc": {"OutputTensor": 5}})",
        "FusedActivation.OutputTensor is 5, must be null: a fused activation has no tensors\n"},
       {R"("RELU")",
        "FusedActivation is the string \"RELU\", must be an object such as {\"Type\": "
        "\"ACTIVATION_RELU\", \"Desc\": {}}\n"}});
}

TEST_CASE("scalar unions: a number of the sibling's type, or the union's member for it") {
  const std::string int8 =
      R"("OutputTensor": {"DataType": "INT8", "Sizes": [2]}, "ValueDataType": "INT8", "Value": )";
  check_rows("FILL_VALUE_CONSTANT", int8,
             {{"-128", ""},
              {R"({"Int8": 5})", ""},
              {"128", "Value is 128, must be an integer from -128 to 127 (INT8)\n"},
              {"1.5", "Value is 1.5, must be an integer from -128 to 127 (INT8)\n"},
              {R"({"Float32": 5})",
               "Value is 5, must be in the union's member Int8, not Float32 (INT8)\n"}});
  const std::string uint64 =
      R"("OutputTensor": {"DataType": "UINT64", "Sizes": [2]}, "ValueDataType": "UINT64", "Value": )";
  check_rows("FILL_VALUE_CONSTANT", uint64, {{"18446744073709551615", ""}});
  const std::string half =
      R"("OutputTensor": {"DataType": "FLOAT16", "Sizes": [2]}, "ValueDataType": "FLOAT16", "Value": )";
  check_rows("FILL_VALUE_CONSTANT", half,
             {{R"("-inf")", ""},
              {R"({"UInt16": 15360})", ""},
              {R"({"Float32": 1})",
               "Value is 1, must be in the union's member UInt16, not Float32 (FLOAT16)\n"},
              {"65504", ""},
              {"70000", "Value is 70000, must be from -65504 to 65504 (FLOAT16)\n"}});
  const std::string single =
      R"("OutputTensor": {"DataType": "FLOAT32", "Sizes": [2]}, "ValueDataType": "FLOAT32", "Value": )";
  check_rows("FILL_VALUE_CONSTANT", single,
             {{"3.4028235e38", ""},
              {R"({"Float32": -1e39})",
               "Value is -1e+39, must be from -3.4028235e38 to 3.4028235e38 (FLOAT32)\n"}});
}

TEST_CASE("the bits of a scalar are those of its type") {
  const auto bits_of = [](const std::string& type, const std::string& value) {
    const auto checked = check_desc("FILL_VALUE_CONSTANT",
                                    Json::parse("{\"OutputTensor\": {\"DataType\": \"" + type +
                                                "\", \"Sizes\": [2]}, \"Value\": " + value + "}"));
    REQUIRE(checked.diagnostics.empty());
    return std::get<dmlop::Scalar>(checked.description->find("Value")->value).bits;
  };
  CHECK(bits_of("FLOAT32", "1") == 0x3F800000);
  CHECK(bits_of("FLOAT16", "1") == 0x3C00);
  CHECK(bits_of("FLOAT16", R"({"UInt16": 15360})") == 0x3C00);
  CHECK(bits_of("INT8", "-1") == 0xFF);
  CHECK(bits_of("INT64", "-2") == 0xFFFFFFFFFFFFFFFE);
  CHECK(bits_of("UINT64", "18446744073709551615") == 0xFFFFFFFFFFFFFFFF);
}

TEST_CASE("arrays of tensors: each element has its place") {
  const std::string one = R"({"DataType": "FLOAT32", "Sizes": [2, 3]})";
  check_rows("JOIN", "\"Axis\": 1, \"InputTensors\": ",
             {{"[" + one + ", " + one + "]", ""},
              {"[" + one + ", 5]",
               "InputTensors[1] is 5, must be an object such as {\"DataType\": "
               "\"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}\n"},
              {one, "InputTensors is an object, must be an array of tensor descs\n"}});
  CHECK(messages_of("JOIN", R"({"Axis": 1})") == "the field \"InputTensors\" is missing\n");
}

TEST_CASE("booleans, sizes and pairs") {
  const std::string pooled =
      R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}, "InterpolationMode": "LINEAR", "ScaleSize": )";
  check_rows("UPSAMPLE_2D", pooled,
             {{R"({"Width": 2, "Height": 3})", ""},
              {R"({"Width": 2})", "the field \"ScaleSize.Height\" is missing\n"},
              {"2", "ScaleSize is 2, must be an object such as {\"Width\": 2, \"Height\": 2}\n"}});
  const std::string absolute = "\"InputTensor\": " + vector_of_two + ", \"ScaleBias\": ";
  check_rows("ELEMENT_WISE_ABS", absolute,
             {{"null", ""},
              {R"({"Scale": 2, "Bias": 0.5})", ""},
              {R"({"Scale": "x", "Bias": 0})",
               "ScaleBias.Scale is the string \"x\", must be a number, \"inf\", \"-inf\" or "
               "\"nan\" (FLOAT)\n"}});
  const std::string sum = "\"InputTensor\": " + vector_of_two +
                          ", \"Axis\": 0, \"AxisDirection\": \"INCREASING\", \"HasExclusiveSum\": ";
  check_rows("CUMULATIVE_SUMMATION", sum,
             {{"true", ""},
              {"0", ""},
              {"2", "HasExclusiveSum is 2, must be true, false, 1 or 0 (BOOL)\n"}});
}

TEST_CASE("sizes beyond 64 bits are too large, not unknown") {
  const std::string huge = R"({"DataType": "FLOAT32", "Sizes": [4294967295]})";
  const auto found =
      messages_of("TILE", "{\"InputTensor\": " + huge + ", \"Repeats\": [4294967295], " +
                              "\"OutputTensor\": {\"DataType\": \"FLOAT32\", \"Sizes\": [1]}}");
  CHECK(found.find("OutputTensor.Sizes[0] would be 1") != std::string::npos);
}

TEST_CASE("a type that cannot be makes no other tensor wrong") {
  const std::string wrong = R"({"DataType": "INT32", "Sizes": [2, 2]})";
  const std::string right = R"({"DataType": "FLOAT32", "Sizes": [2, 2]})";
  CHECK(
      messages_of("GEMM", "{\"ATensor\": " + wrong + ", \"BTensor\": " + right +
                              ", \"OutputTensor\": " + right +
                              R"(, "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0})") ==
      "ATensor.DataType is INT32, must be one of FLOAT32, FLOAT16\n");
}

TEST_CASE("warnings: what DirectML refuses and its page allows, and the other way round") {
  const std::string rows = R"({"InputTensor": {"DataType": "INT64", "Sizes": [1, 1, 1, 1, 1, 2]},
      "Axis": 5, "AxisDirection": "INCREASING", "HasExclusiveSum": 0})";
  const auto by_page = check_desc("CUMULATIVE_SUMMATION", Json::parse(rows));
  CHECK(by_page.diagnostics.empty());
  REQUIRE(by_page.description->warnings.size() == 1);
  CHECK(by_page.description->warnings[0].note.ends_with("DirectML 1.15.4 refuses this."));
  const auto by_directml =
      check_desc("CUMULATIVE_SUMMATION", Json::parse(rows), dmlop::Judge::directml);
  REQUIRE(by_directml.diagnostics.size() == 1);
  CHECK(by_directml.diagnostics[0].note.ends_with("and so does dmlop with --as page."));
  const std::string tile =
      R"({"InputTensor": {"DataType": "FLOAT64", "Sizes": [2]}, "Repeats": [2]})";
  const auto refused = check_desc("TILE", Json::parse(tile));
  REQUIRE(refused.diagnostics.size() == 1);
  CHECK(refused.diagnostics[0].note ==
        "DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.");
  const auto accepted = check_desc("TILE", Json::parse(tile), dmlop::Judge::directml);
  CHECK(accepted.diagnostics.empty());
  REQUIRE(accepted.description->warnings.size() == 1);
  CHECK(accepted.description->warnings[0].note ==
        "The operator's page does not allow this. DirectML 1.15.4 accepts it, and its results are "
        "known.");
}

}  // namespace dmlop::test::field_kinds_test
