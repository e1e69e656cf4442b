// The fixes of findings: with a fix the finding is gone, and there is no new one. What users wrote
// wrong, and hundreds of small mistakes in every operator's example.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "described.hpp"
#include "folder.hpp"
#include "mending.hpp"
#include "mutation.hpp"
#include "program.hpp"

namespace dmlop::test::fixes_test {
namespace {

using Json = nlohmann::ordered_json;

using dmlop::Diagnostics;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

const std::string conv =
    R"("Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1],
         "Dilations": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0],
         "OutputPadding": [0, 0], "GroupCount": 1,
         "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 2, 5, 5]},
         "FilterTensor": {"DataType": "FLOAT32", "Sizes": [4, 2, 3, 3]})";

Diagnostics mended(const std::string& operator_name, const std::string& fields) {
  return check_and_mend_desc(operator_name, Json::parse(fields)).diagnostics;
}

}  // namespace

TEST_CASE("fixes: what is proposed for the mistakes of users works") {
  struct Row {
    const char* name;
    const char* fields;
    const char* help;
  };
  const std::string bias = "{" + conv + R"(, "BiasTensor": {"DataType": "FLOAT32", "Sizes": [4]}})";
  const Row rows[] = {
      {"CONVOLUTION", bias.c_str(), "write [1, 4, 1, 1]"},
      {"GEMM", R"({"ATensor": {"DataType": "FLOAT32", "Sizes": [2, 3]},
                   "BTensor": {"DataType": "FLOAT32", "Sizes": [3, 5]},
                   "CTensor": {"DataType": "FLOAT32", "Sizes": [5]},
                   "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1})",
       "write [2, 5] and [0, 1] for CTensor.Strides"},
      {"MAX_POOLING", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
                          "Strides": [1, 1], "WindowSize": 2, "StartPadding": [0, 0],
                          "EndPadding": [0, 0]})",
       "write [2, 2]"},
      {"PADDING", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [4, 4]},
                      "PaddingMode": "EDGE", "EndPadding": [1, 1]})",
       "write \"StartPadding\": [1, 2], for example"},
      {"MEAN_VARIANCE_NORMALIZATION1",
       R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 4, 8]}, "Axes": [2],
           "NormalizeVariance": true, "Epsilon": 0.1,
           "ScaleTensor": {"DataType": "FLOAT32", "Sizes": [8]}})",
       "write [1, 1, 8]"},
      {"ELEMENT_WISE_POW", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
                               "ExponentTensor": {"DataType": "FLOAT32", "Sizes": [4]},
                               "Exponent": 2})",
       "DML_OPERATOR_ELEMENT_WISE_CONSTANT_POW has this field"},
      {"TOP_K1", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "Axis": 0, "K": 2,
                     "AxisDirection": "DESCENDING",
                     "OutputIndexTensor": {"DataType": "UINT32", "Sizes": [2]}})",
       "did you mean \"DECREASING\"?"},
      {"TOP_K1", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 4]}, "Axis": -1, "K": 2,
                     "AxisDirection": "DECREASING",
                     "OutputIndexTensor": {"DataType": "UINT32", "Sizes": [2, 2]}})",
       "write 1"},
      {"SLICE",
       R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
                    "Offsets": [0, 0, 0, 0], "Sizes": [1, 1, 2, 2], "Strides": [1, 1, 1, -1]})",
       "DML_OPERATOR_SLICE1 takes negative InputWindowStrides; there, write InputWindowOffsets for "
       "Offsets, InputWindowSizes for Sizes, InputWindowStrides for Strides"},
      {"RESAMPLE",
       R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
                       "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
                       "InterpolationMode": "LINEAR", "Scales": [1, 1, 0, 0.5]})",
       "write a number greater than 0"},
      {"ACTIVATION_ELU", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]},
                             "Alpha": "infinity"})",
       "write \"inf\""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.fields);
    const Diagnostics found = mended(row.name, row.fields);
    REQUIRE(found.size() == 1);
    CAPTURE(to_text(found.front()));
    CHECK(found.front().suggestion.text() == row.help);
  }
}

TEST_CASE("fixes: a tensor under a name of no field is the only one that is missing") {
  const std::string tensor = R"({"DataType": "FLOAT32", "Sizes": [2, 3]})";
  const auto add = [&](const std::string& first, const std::string& second) {
    return Json::parse("{\"" + first + "\": " + tensor + ", \"" + second + "\": " + tensor +
                       ", \"OutputTensor\": " + tensor + "}");
  };
  // InputTensor is nearer to OutputTensor, which is there.
  for (const auto& [fields, meant] : {std::pair(add("InputTensor", "BTensor"), "ATensor"),
                                      {add("ATensor", "Other"), "BTensor"}}) {
    const Mended checked = check_and_mend_desc("ELEMENT_WISE_ADD", fields);
    REQUIRE(checked.diagnostics.size() == 1);
    CHECK(checked.diagnostics[0].message.ends_with("did you mean \"" + std::string(meant) + "\"?"));
    CHECK(mends(checked, checked.diagnostics[0]));
  }
  // Two are missing: neither is meant more than the other. A number is no tensor.
  const auto both = check_and_mend_desc("ELEMENT_WISE_ADD", add("Left", "Right"));
  CHECK(both.diagnostics.size() == 4);
  for (const Diagnostic& finding : both.diagnostics)
    CHECK(finding.message.find("did you mean") == std::string::npos);
  Json number = add("Other", "BTensor");
  number["Other"] = 3;
  CHECK(check_and_mend_desc("ELEMENT_WISE_ADD", number).diagnostics.size() == 2);
}

TEST_CASE("fixes: a misspelt tensor is renamed, and an activation gets its whole name") {
  for (const char* name : {"inputTensor", "InptTensor", "Input"}) {
    std::string fields = "{" + conv + "}";
    fields.replace(fields.find("InputTensor"), std::string("InputTensor").size(), name);
    CAPTURE(fields);
    const Mended checked = check_and_mend_desc("CONVOLUTION", Json::parse(fields));
    REQUIRE(checked.diagnostics.size() == 1);
    CHECK(mends(checked, checked.diagnostics[0]));
  }
  struct Row {
    const char* activation;
    const char* help;
  };
  const Row rows[] = {
      {R"({"Type": "LEAKY_RELU", "Desc": {"Alpha": 0.1}})",
       "did you mean \"ACTIVATION_LEAKY_RELU\"?"},
      {R"({"Type": "leakyrelu", "Desc": {"Alpha": 0.1}})",
       "did you mean \"ACTIVATION_LEAKY_RELU\"?"},
      {R"({"Type": "LEAKY_RELU"})",
       "did you mean \"ACTIVATION_LEAKY_RELU\"? Then write 0.25 for FusedActivation.Alpha"},
      {R"({"Type": "SIGMOD"})", "did you mean \"ACTIVATION_SIGMOID\"?"},
      {R"({"Type": "ACTIVATION_LEAKY_RELU"})", "write \"Alpha\": 0.25, for example"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.activation);
    const std::string fields = "{" + conv + R"(, "FusedActivation": )" + row.activation + "}";
    const Mended checked = check_and_mend_desc("CONVOLUTION", Json::parse(fields));
    REQUIRE(checked.diagnostics.size() == 1);
    CHECK(checked.diagnostics[0].suggestion.text() == row.help);
    CHECK(mends(checked, checked.diagnostics[0]));
  }
}

TEST_CASE("fixes: an input that repeats in several dimensions is one finding, with one Strides") {
  struct Row {
    const char* name;
    const char* fields;
    const char* message;
    const char* help;
    dmlop::Fix fix;
  };
  const Row rows[] = {
      {"ELEMENT_WISE_ADD",
       R"({"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 4, 5]},
           "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 1, 1], "TotalTensorSizeInBytes": 12}})",
       "BTensor.Sizes is [1, 3, 1, 1], must be [1, 3, 4, 5]",
       "write [1, 3, 4, 5], and [0, 1, 0, 0] for its Strides, which repeat it",
       {{"/desc/BTensor/Sizes", "[1, 3, 4, 5]"}, {"/desc/BTensor/Strides", "[0, 1, 0, 0]"}}},
      {"ELEMENT_WISE_ADD",
       R"({"ATensor": {"DataType": "FLOAT32", "Sizes": [2, 3, 4]},
           "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 4]}})",
       "BTensor.Sizes[0] is 1, must be 2",
       "write 2, and [0, 4, 1] for its Strides, which repeat it",
       {{"/desc/BTensor/Sizes/0", "2"}, {"/desc/BTensor/Strides", "[0, 4, 1]"}}},
      {"ELEMENT_WISE_ADD",
       R"({"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 4, 5]},
           "BTensor": {"DataType": "FLOAT32", "Sizes": [3]}})",
       "BTensor has 1 dimension, must have 4",
       "write [1, 3, 4, 5] for its Sizes, and [0, 1, 0, 0] for its Strides, which repeat it",
       {{"/desc/BTensor/Sizes", "[1, 3, 4, 5]"}, {"/desc/BTensor/Strides", "[0, 1, 0, 0]"}}},
      {"ELEMENT_WISE_QUANTIZE_LINEAR",
       R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]},
           "ScaleTensor": {"DataType": "FLOAT32", "Sizes": [1, 1]},
           "ZeroPointTensor": {"DataType": "UINT8", "Sizes": [1, 1]}})",
       "ScaleTensor.Sizes is [1, 1], must be [2, 3]",
       "write [2, 3] for both, and [0, 0] for their Strides, which repeat them, or change "
       "InputTensor.Sizes",
       {{"/desc/ScaleTensor/Sizes", "[2, 3]"},
        {"/desc/ScaleTensor/Strides", "[0, 0]"},
        {"/desc/ZeroPointTensor/Sizes", "[2, 3]"},
        {"/desc/ZeroPointTensor/Strides", "[0, 0]"}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.fields);
    const Diagnostics found = mended(row.name, row.fields);
    REQUIRE(found.size() == 1);
    CHECK(found[0].message == row.message);
    CHECK(found[0].suggestion.text() == row.help);
    CHECK(found[0].fix == row.fix);
  }
}

TEST_CASE("fixes: the strides that are proposed for a tensor of ones agree in all findings") {
  std::size_t repeated = 0;
  for (const std::string& name : dmlop::specified_operators()) {
    const Json example = Json::parse(dmlop::find_spec(name)->example);
    for (const auto& [field, desc] : example.items()) {
      const bool has_sizes = desc.is_object() && desc.contains("Sizes");
      if (!has_sizes || dmlop::find_spec(name)->find_field(field)->is_output()) continue;
      Json with_ones = example;
      with_ones[field]["Sizes"] = std::vector<int>(desc["Sizes"].size(), 1);
      std::map<std::string, std::string> proposed;
      for (const auto& finding : check_and_mend_desc(name, with_ones).diagnostics) {
        for (const auto& each : finding.fix) {
          if (!each.pointer.ends_with("/Strides") || !each.value.starts_with('[')) continue;
          ++repeated;
          CAPTURE(name);
          CAPTURE(each.pointer);
          CHECK(proposed.try_emplace(each.pointer, each.value).first->second == each.value);
        }
      }
    }
  }
  CHECK(repeated > 40);
}

TEST_CASE("fixes: an enumerator is the one that a value abbreviates, or the one that fits") {
  const auto transposed = [](const std::string& value, const std::string& b) {
    const Diagnostics found =
        mended("GEMM", R"({"ATensor": {"DataType": "FLOAT32", "Sizes": [4, 5]}, "TransA": 0,
                           "Alpha": 1, "Beta": 1, "BTensor": {"DataType": "FLOAT32", "Sizes": )" +
                           b + R"(}, "TransB": )" + value + "}");
    REQUIRE(found.size() == 1);
    return std::pair(found[0].suggestion.text(), found[0].fix);
  };
  const dmlop::Fix transpose{{"/desc/TransB", R"("TRANSPOSE")"}},
      none{{"/desc/TransB", R"("NONE")"}};
  const std::string turned = "[3, 5]", straight = "[5, 3]", meant = R"(did you mean "TRANSPOSE"?)";
  CHECK(transposed(R"("T")", turned) == std::pair(meant, transpose));
  CHECK(transposed(R"("t")", turned) == std::pair(meant, transpose));
  CHECK(transposed("true", turned) == std::pair(meant, transpose));
  CHECK(transposed(R"("N")", straight) == std::pair(std::string(R"(did you mean "NONE"?)"), none));
  CHECK(transposed("false", straight) == std::pair(std::string(R"(did you mean "NONE"?)"), none));
  CHECK(transposed(R"("trans-pose")", turned) == std::pair(meant, transpose));
  // What is meant stays so where it does not fit the sizes; these are another mistake.
  CHECK(transposed(R"("transpose")", straight) == std::pair(meant, dmlop::Fix()));
  CHECK(transposed("true", straight) == std::pair(meant, dmlop::Fix()));
  // Nothing is meant by these.
  const std::string example = R"(write "NONE", for example)", fitting = R"(write "TRANSPOSE")";
  CHECK(transposed("7", turned) == std::pair(fitting, transpose));
  CHECK(transposed(R"("xyz")", turned) == std::pair(fitting, transpose));
  CHECK(transposed(R"("xyz")", straight) == std::pair(example, none));
}

TEST_CASE("fixes: a number that mends a finding is found where the rule names it") {
  const auto mended_by = [](const char* name, const std::string& fields) {
    const Diagnostics found = mended(name, fields);
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].fix.size() == 1);
    return found[0].suggestion.text();
  };
  CHECK(mended_by("GATHER_ND1",
                  R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 3, 2, 2]},
                      "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 3, 2, 2]},
                      "InputDimensionCount": 3, "IndicesDimensionCount": 3,
                      "BatchDimensionCount": 7})") == "write 1, for example");
  CHECK(mended_by("VALUE_SCALE_2D",
                  R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 2, 2]},
                      "Scale": 0.5, "Bias": [0.25, 0, -0.25]})") ==
        "write 3 for InputTensor.Sizes[1], for example");
  CHECK(mended_by("SLICE_GRAD",
                  R"({"InputGradientTensor": {"DataType": "FLOAT32", "Sizes": [2, 2]},
                      "OutputGradientTensor": {"DataType": "FLOAT32", "Sizes": [4, 4]},
                      "InputWindowOffsets": [0, 0], "InputWindowSizes": [4, 0],
                      "InputWindowStrides": [2, 2]})") == "write 3, for example");
}

TEST_CASE("fixes: no number of dimensions is proposed that the operator does not take") {
  const Diagnostics found =
      mended("ROI_POOLING", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 4]},
                                "ROITensor": {"DataType": "FLOAT32", "Sizes": [2, 1, 2, 5]},
                                "SpatialScale": 1, "PooledSize": {"Width": 2, "Height": 2}})");
  REQUIRE(found.size() == 1);
  CHECK(found[0].suggestion.text() == "write 1");
  CHECK(found[0].fix == dmlop::Fix{{"/desc/ROITensor/Sizes/0", "1"}});
}

/// CONVOLUTION of FLOAT32 along two dimensions, with the same step and padding on all sides.
std::string convolution(const std::string& step, const std::string& padding,
                        const std::string& input, const std::string& filter,
                        const std::string& more = "") {
  const std::string steps = "[" + step + ", " + step + "]";
  const std::string paddings = "[" + padding + ", " + padding + "]";
  return R"({"Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": )" + steps +
         R"(, "Dilations": [1, 1], "StartPadding": )" + paddings + R"(, "EndPadding": )" +
         paddings +
         R"(, "OutputPadding": [0, 0], "GroupCount": 1, "InputTensor": {"DataType": "FLOAT32",
           "Sizes": )" +
         input + R"(}, "FilterTensor": {"DataType": "FLOAT32", "Sizes": )" + filter + "}" + more +
         "}";
}

TEST_CASE("fixes: an image and its filters whose channels are last get strides, not groups") {
  const auto conv = [](const std::string& input, const std::string& filter,
                       const std::string& more) {
    const Diagnostics found = mended("CONVOLUTION", convolution("2", "3", input, filter, more));
    REQUIRE(!found.empty());
    return found.front();
  };
  const auto image = conv("[1, 224, 224, 3]", "[64, 7, 7, 3]", "");
  CHECK(image.suggestion.text() ==
        "write [1, 3, 224, 224] for InputTensor.Sizes and [150528, 1, 672, 3] for "
        "InputTensor.Strides and [64, 3, 7, 7] for FilterTensor.Sizes and [147, 1, 21, 3] for "
        "FilterTensor.Strides, if their channels are last");
  CHECK(image.fix.size() == 4);
  const auto inner =
      conv("[1, 56, 56, 64]", "[128, 3, 3, 64]",
           R"(, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 30, 30, 128]})");
  CHECK(contains(inner.suggestion.text(), "[1, 128, 30, 30] for OutputTensor.Sizes"));
  // These channels are groups.
  CHECK(contains(conv("[1, 8, 9, 9]", "[8, 4, 3, 3]", "").suggestion.text(), "GroupCount"));
  CHECK(contains(conv("[1, 6, 7, 7]", "[4, 3, 7, 7]", "").suggestion.text(), "GroupCount"));
}

TEST_CASE("fixes: a misspelt field gets its name, and other findings beside it are mended, too") {
  const Diagnostics found =
      mended("CONVOLUTION", R"({"Mode": "CROSSCORRELATION", "Direction": "FORWARD",
          "Strides": [1, 1], "Dilation": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0],
          "OutputPadding": [0, 0], "GroupCount": 1,
          "InputTensor": {"dataType": "FLOAT32", "Sizes": [1, 2, 5, 5]},
          "FilterTensor": {"DataType": "FLOAT32", "Sizes": [4, 2, 3, 3]}})");
  REQUIRE(found.size() == 3);
  std::map<std::string, dmlop::Fix> fixes;
  for (const auto& finding : found) fixes[finding.pointer] = finding.fix;
  CHECK(fixes["/desc/Mode"] == dmlop::Fix{{"/desc/Mode", R"("CROSS_CORRELATION")"}});
  CHECK(fixes["/desc/Dilation"] ==
        dmlop::Fix{{"/desc/Dilation", "null"}, {"/desc/Dilations", "[1, 1]"}});
  CHECK(fixes["/desc/InputTensor/dataType"] ==
        dmlop::Fix{{"/desc/InputTensor/dataType", "null"},
                   {"/desc/InputTensor/DataType", R"("FLOAT32")"}});
  for (const auto& finding : found)
    CHECK((finding.pointer == "/desc/Mode") != finding.suggestion.empty());  // the message says it
}

TEST_CASE("fixes: an image whose channels are last gets strides, other tensors do not") {
  const auto advised = [](const std::string& sizes, const std::string& channels) {
    const Diagnostics found =
        mended("CONVOLUTION", convolution("1", "0", sizes, "[4, " + channels + ", 2, 2]"));
    REQUIRE(found.size() == 1);
    return found.front().suggestion.text();
  };
  CHECK(advised("[2, 8, 9, 3]", "3") ==
        "write [2, 3, 8, 9] for InputTensor.Sizes and [216, 1, 27, 3] for InputTensor.Strides, if "
        "its channels are last");
  CHECK(!contains(advised("[2, 9, 3, 8]", "8"), "channels are last"));
  CHECK(!contains(advised("[2, 3, 9, 8]", "8"), "channels are last"));
}

TEST_CASE("fixes: an integer that is written as a float stays the same number") {
  const auto depth = mended("DEPTH_TO_SPACE", R"({"InputTensor": {"DataType": "FLOAT32",
                             "Sizes": [1, 8, 2, 3]}, "BlockSize": 2.0})");
  REQUIRE(depth.size() == 1);
  CHECK(depth[0].suggestion.text() == "write 2");
  CHECK(depth[0].fix == dmlop::Fix{{"/desc/BlockSize", "2"}});
  const auto sum = mended("CUMULATIVE_SUMMATION",
                          R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 5]}, "Axis": 1.0,
                              "AxisDirection": "INCREASING", "HasExclusiveSum": false})");
  REQUIRE(sum.size() == 1);
  CHECK(sum[0].suggestion.text() == "write 1");
  CHECK(sum[0].fix == dmlop::Fix{{"/desc/Axis", "1"}});
  const auto sizes =
      mended("ACTIVATION_RELU", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [2.0, 3.5]}})");
  REQUIRE(sizes.size() == 2);
  CHECK(sizes[0].suggestion.text() == "write 2");
  CHECK(sizes[0].fix == dmlop::Fix{{"/desc/InputTensor/Sizes/0", "2"}});
  CHECK(sizes[1].suggestion.text() == "write 3 or 4");
}

TEST_CASE("fixes: advice begins with what the fix does") {
  const auto gemm = mended("GEMM", R"({"ATensor": {"DataType": "FLOAT32", "Sizes": [10, 64]},
                         "BTensor": {"DataType": "FLOAT32", "Sizes": [32, 64]},
                         "OutputTensor": {"DataType": "FLOAT32", "Sizes": [10, 32]},
                         "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0})");
  REQUIRE(gemm.size() == 1);
  CHECK(gemm[0].suggestion.text() == R"(write "TRANSPOSE" for TransB)");
  CHECK(gemm[0].fix == dmlop::Fix{{"/desc/TransB", "\"TRANSPOSE\""}});
}

TEST_CASE("fixes: the field whose change mends everything is named first") {
  const Diagnostics found =
      mended("GATHER", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 6]},
                           "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 3]},
                           "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 6]},
                           "Axis": 3, "IndexDimensions": 1})");
  REQUIRE(found.size() == 2);
  for (const auto& finding : found) {
    CHECK(finding.suggestion.text().starts_with(
        "write 2 for Axis, which mends both findings; otherwise "));
    CHECK(finding.fix == dmlop::Fix{{"/desc/Axis", "2"}});
  }
}

TEST_CASE("fixes: other findings may hide what helps, so they are to be mended first") {
  const auto advised = [](const std::string& more) {
    return mended(
               "UNFOLD",
               R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 2, 2, 4]}, "DimensionCount": 1,
                                "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 6, 1]}, "WindowSizes": [3],
                                "Strides": [2], "Dilations": [1], "StartPadding": [0], "EndPadding": [0])" +
                   more + "}")
        .back()
        .suggestion.text();
  };
  CHECK(advised("") == "compare what the rule names: no change of one value was found to help");
  CHECK(advised(R"(, "padding": 1)") ==
        "compare what the rule names, or mend the other findings first");
}

TEST_CASE("fixes: what mends everything is not said twice") {
  const Diagnostics found =
      mended("GEMM", R"({"ATensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 2]},
                         "BTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
                         "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 4]},
                         "TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 0})");
  REQUIRE(found.size() == 2);
  const std::string mends_both = R"(write "TRANSPOSE" for TransA, which mends both findings)";
  CHECK(found.front().suggestion.text() == mends_both);
  CHECK(found.back().suggestion.text() == mends_both + "; otherwise write 3");
}

TEST_CASE("fixes: an input with too few dimensions for all else is named, not what fits") {
  const auto padding = [](const std::string& fields) {
    return mended(
        "PADDING",
        R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, "PaddingMode": "EDGE",
                      "StartPadding": [0, 1, 1], "EndPadding": [0, 0, 2])" +
            fields + "}");
  };
  const std::string input = "write [1, 3, 4] for InputTensor.Sizes";
  const Diagnostics two =
      padding(R"(, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 4, 7]})");
  REQUIRE(two.size() == 2);
  CHECK(two[0].suggestion.text() ==
        input + ", which mends both findings; otherwise write Sizes of 2 dimensions");
  CHECK(two[1].suggestion.text() ==
        input + ", which mends both findings; otherwise write 2 values");
  CHECK(two[0].fix == dmlop::Fix{{"/desc/InputTensor/Sizes", "[1, 3, 4]"}});
  const Diagnostics one = padding(R"(, "DimensionCount": 3)");
  REQUIRE(one.size() == 1);
  CHECK(one[0].suggestion.text() == input);
  // The sizes that would follow from the first two paddings are not those that are meant.
  const Diagnostics all = padding(
      R"(, "DimensionCount": 3, "OutputTensor": {"DataType": "FLOAT32", "Sizes": [2, 4, 7]})");
  REQUIRE(all.size() == 2);
  CHECK(all[0].suggestion.text() == "write Sizes of 2 dimensions");
}

TEST_CASE("fixes: values that are proposed for two fields agree with each other and the output") {
  const Diagnostics found =
      mended("PADDING", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]},
                            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [6, 9]},
                            "PaddingMode": "EDGE"})");
  REQUIRE(found.size() == 2);
  CHECK(found[0].suggestion.text() == "write \"StartPadding\": [1, 2], for example");
  CHECK(found[1].suggestion.text() == "write \"EndPadding\": [2, 3], for example");
  const Diagnostics input =
      mended("PADDING", R"({"OutputTensor": {"DataType": "FLOAT32", "Sizes": [6, 9]},
                            "StartPadding": [1, 1], "EndPadding": [0, 2], "PaddingMode": "EDGE"})");
  REQUIRE(input.size() == 1);
  CHECK(contains(input[0].suggestion.text(), "\"Sizes\": [5, 6]"));
}

TEST_CASE("fixes: a wrong axis is named, not the sizes that are right") {
  const Diagnostics found =
      mended("SPLIT", R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 6, 2]},
                          "OutputTensors": [{"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]},
                                            {"DataType": "FLOAT32", "Sizes": [1, 1, 4, 2]}],
                          "Axis": 4})");
  REQUIRE(found.size() == 1);
  CHECK(found.front().suggestion.text() == "write 2");
  CHECK(found.front().fix == dmlop::Fix{{"/desc/Axis", "2"}});
}

TEST_CASE("fixes: a field that is written twice is not mended by another one") {
  const Folder folder;
  folder.write("op.json", R"({"type": "ACTIVATION_RELU",
                              "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2, 3]}},
                              "desc": {}})");
  const std::string error = dmlop_program({"check", "op.json"}, {.folder = folder.path()}).error;
  CAPTURE(error);
  CHECK(contains(error, "the field \"desc\" is given twice\n  help: keep one of them"));
}

TEST_CASE("fixes: a size that is too large says so once") {
  const Diagnostics found =
      mended("ACTIVATION_RELU",
             R"({"InputTensor": {"DataType": "FLOAT32", "Sizes": [5000000000], "Strides": [1]}})");
  CHECK(found.size() == 1);
}

TEST_CASE("fixes: each fix of a small mistake in an example mends it, and breaks nothing") {
  std::size_t findings = 0, fixes = 0;
  for (const std::string& name : dmlop::specified_operators()) {
    const dmlop::OperatorSpec& spec = *dmlop::find_spec(name);
    const Json example = Json::parse(spec.example);
    for (const Mutation& mutation : single_mutations(spec, example, {})) {
      const Mended checked = check_and_mend_desc(name, mutation.desc);
      for (const auto& finding : checked.diagnostics) {
        ++findings;
        if (finding.fix.empty()) continue;
        ++fixes;
        CAPTURE(name);
        CAPTURE(mutation.words);
        CAPTURE(to_text(finding));
        CHECK(mends(checked, finding));
      }
    }
  }
  CHECK(findings > 9000);
  CHECK(fixes * 2 > findings);
}

}  // namespace dmlop::test::fixes_test
