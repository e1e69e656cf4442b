// What is advised where tensors come from files: their arrays are saved in another way.
#include <doctest/doctest.h>

#include "mending.hpp"

namespace dmlop::test::file_fixes_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string convolution =
    R"("Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "Strides": [1, 1],
       "Dilations": [1, 1], "StartPadding": [1, 1], "EndPadding": [1, 1],
       "OutputPadding": [0, 0], "GroupCount": 1)";
const std::string gemm = R"("TransA": "NONE", "TransB": "NONE", "Alpha": 1, "Beta": 1)";

Diagnostics found_in(const std::string& operator_name, const std::string& fields,
                     const std::vector<TensorOfFile>& files) {
  return check_and_mend_files(operator_name, Json::parse("{" + fields + "}"), files).diagnostics;
}

// What the only finding advises.
std::string advised(const std::string& operator_name, const std::string& fields,
                    const std::vector<TensorOfFile>& files) {
  const Diagnostics found = found_in(operator_name, fields, files);
  CAPTURE(found.size());
  REQUIRE(!found.empty());
  CAPTURE(to_text(found.front()));
  CHECK(found.size() == 1);
  return found.front().suggestion.text();
}

}  // namespace

TEST_CASE("fixes with files: one value for each channel has the channels in dimension 1") {
  const std::string fields = R"("Spatial": true, "Epsilon": 0.001)";
  const Sizes one{64};
  const Diagnostics found = found_in("BATCH_NORMALIZATION", fields,
                                     {{"InputTensor", {1, 64, 64, 64}},
                                      {"MeanTensor", one},
                                      {"VarianceTensor", one},
                                      {"ScaleTensor", one},
                                      {"BiasTensor", one}});
  REQUIRE(found.size() == 4);
  for (const auto& finding : found)
    CHECK(finding.suggestion.text() == "save array.reshape(1, 64, 1, 1)");
}

TEST_CASE("fixes with files: a filter of fewer channels is one of groups") {
  const Sizes input{1, 32, 8, 9};
  CHECK(advised("CONVOLUTION", convolution,
                {{"InputTensor", input}, {"FilterTensor", {32, 1, 3, 3}}}) ==
        "write 32 for GroupCount");
  CHECK(advised("CONVOLUTION", convolution,
                {{"InputTensor", input}, {"FilterTensor", {64, 8, 3, 3}}}) ==
        "write 4 for GroupCount");
}

TEST_CASE("fixes with files: an array is stretched, or broadcast in NumPy") {
  const std::vector<TensorOfFile> files{
      {"ATensor", {10, 64}}, {"BTensor", {64, 32}}, {"CTensor", {1, 32}}};
  CHECK(advised("GEMM", gemm, files) ==
        "write \"CTensor\": {\"Broadcast\": true} to stretch it as NumPy does, or save "
        "numpy.broadcast_to(array, (10, 32))");
}

TEST_CASE("fixes with files: as few dimensions are merged as will do") {
  const Diagnostics found = found_in("ACTIVATION_SOFTMAX", "", {{"InputTensor", {2, 3, 4, 5}}});
  REQUIRE(found.size() == 2);
  for (const auto& finding : found)
    CHECK(finding.suggestion.text().starts_with("save array.reshape(24, 5), which mends both"));
}

TEST_CASE("fixes with files: an array is reshaped only where that helps") {
  const std::string padding = "\"EndPadding\": [1, 1]";
  std::string three = convolution;
  three.replace(three.find(padding), padding.size(), "\"EndPadding\": [3]");
  CHECK(advised("CONVOLUTION", three,
                {{"InputTensor", {1, 3, 24, 24}}, {"FilterTensor", {64, 3, 7, 7}}}) ==
        "write 2 values");
  CHECK(advised("MAX_POOLING",
                R"("Strides": [1, 1, 1, 1], "WindowSize": [2, 2], "StartPadding": [0, 0],
                   "EndPadding": [0, 0])",
                {{"InputTensor", {1, 3, 8, 10}}}) == "write 2 values");
}

TEST_CASE("fixes with files: advice says which array is to be saved") {
  const Diagnostics found = found_in("CONVOLUTION", convolution,
                                     {{"InputTensor", {3, 8, 9}}, {"FilterTensor", {4, 3, 3, 3}}});
  REQUIRE(!found.empty());
  for (const auto& finding : found)
    CHECK(finding.suggestion.text().find("save array.reshape(1, 3, 8, 9) for InputTensor") == 0);
}

TEST_CASE("fixes with files: what another layout explains is transposed, not reshaped") {
  CHECK(advised("CONVOLUTION", convolution,
                {{"InputTensor", {1, 8, 9, 3}}, {"FilterTensor", {4, 3, 3, 3}}}) ==
        "save array.transpose(0, 3, 1, 2) for InputTensor");
  CHECK(advised("CONVOLUTION", convolution,
                {{"InputTensor", {1, 3, 8, 9}}, {"FilterTensor", {5, 5, 3, 4}}}) ==
        "save array.transpose(3, 2, 0, 1)");
  const Diagnostics both =
      found_in("ELEMENT_WISE_ADD", "", {{"ATensor", {3, 4}}, {"BTensor", {4, 3}}});
  REQUIRE(both.size() == 2);
  for (const auto& finding : both)
    CHECK(finding.suggestion.text() == "save array.transpose(1, 0), which mends both findings");
}

TEST_CASE("fixes with files: arrays that are all laid out in another way are named together") {
  const auto check_all = [](const Diagnostics& found, std::size_t count,
                            const std::string& advice) {
    REQUIRE(found.size() == count);
    for (const auto& finding : found) {
      CAPTURE(to_text(finding));
      CHECK(finding.suggestion.text() == advice);
    }
  };
  const TensorOfFile filter{"FilterTensor", {4, 3, 3, 3}}, bias{"BiasTensor", {4}};
  const std::string bias_words = "save array.reshape(1, 4, 1, 1) for BiasTensor";
  check_all(found_in("CONVOLUTION", convolution, {{"InputTensor", {9, 8, 3}}, filter, bias}), 3,
            "save array.transpose(2, 0, 1).reshape(1, 3, 9, 8) for InputTensor and " + bias_words +
                ", which mends all 3 findings");
  check_all(found_in("CONVOLUTION", convolution, {{"InputTensor", {3, 9, 8}}, filter, bias}), 3,
            "save array.reshape(1, 3, 9, 8) for InputTensor and " + bias_words +
                ", which mends all 3 findings");
  check_all(found_in("CONVOLUTION", convolution,
                     {{"InputTensor", {1, 9, 8, 3}}, {"FilterTensor", {5, 5, 3, 4}}, bias}),
            2,
            "save array.transpose(0, 3, 1, 2) for InputTensor and "
            "save array.transpose(3, 2, 0, 1) for FilterTensor and " +
                bias_words + ", which mends both findings");
  check_all(
      found_in("BATCH_NORMALIZATION", R"("Spatial": true, "Epsilon": 0.001)",
               {{"InputTensor", {1, 8, 9, 3}},
                {"MeanTensor", {3}},
                {"VarianceTensor", {3}},
                {"ScaleTensor", {1, 3, 1, 1}},
                {"BiasTensor", {1, 3, 1, 1}}}),
      4,
      "save array.transpose(0, 3, 1, 2) for InputTensor and save array.reshape(1, 3, 1, 1) for "
      "MeanTensor and VarianceTensor, which mends all 4 findings");
}

TEST_CASE("fixes with files: types and layouts are mended together") {
  const auto first = [](const std::string& operator_name, const std::string& fields,
                        const std::vector<TensorOfFile>& files) {
    const Diagnostics found = found_in(operator_name, fields, files);
    REQUIRE(!found.empty());
    // An array is named where the message is not about it.
    const std::string advice = found.back().suggestion.text();
    for (const auto& finding : found) {
      CAPTURE(to_text(finding));
      CHECK(finding.suggestion.text().starts_with(advice.substr(0, advice.find(" for "))));
    }
    return advice;
  };
  CHECK(first("CONVOLUTION", convolution,
              {{"InputTensor", {1, 32, 32, 3}, DataType::Float64},
               {"FilterTensor", {16, 3, 3, 3}}}) ==
        "save array.astype(numpy.float32).transpose(0, 3, 1, 2) for InputTensor, which mends both "
        "findings");
  CHECK(first("CONVOLUTION", convolution,
              {{"InputTensor", {1, 3, 9, 8}, DataType::Float16},
               {"FilterTensor", {16, 3, 3, 3}},
               {"BiasTensor", {1, 16, 1, 1}}}) ==
        "save array.astype(numpy.float32) for InputTensor, which mends both findings");
  CHECK(first("CONVOLUTION", convolution,
              {{"InputTensor", {3, 9, 8}},
               {"FilterTensor", {16, 3, 3, 3}},
               {"BiasTensor", {16, 1, 1, 1}}}) ==
        "save array.reshape(1, 3, 9, 8) for InputTensor and save array.reshape(1, 16, 1, 1) for "
        "BiasTensor, which mends all 3 findings");
  const std::string normalization = R"("Spatial": true, "Epsilon": 0.001)";
  const Sizes one{1, 6};
  CHECK(first("BATCH_NORMALIZATION", normalization,
              {{"InputTensor", {2, 6, 8, 10}},
               {"MeanTensor", one},
               {"VarianceTensor", one},
               {"ScaleTensor", one},
               {"BiasTensor", one}}) == "save array.reshape(1, 6, 1, 1)");
}

TEST_CASE("fixes with files: an image in NHWC is one, though other fields would fit it, too") {
  for (const std::uint64_t side : {32, 96}) {
    CHECK(advised("CONVOLUTION", convolution,
                  {{"InputTensor", {1, side, side, 3}}, {"FilterTensor", {32, 3, 3, 3}}}) ==
          "save array.transpose(0, 3, 1, 2) for InputTensor");
  }
  std::string groups = convolution;
  groups.replace(groups.rfind('1'), 1, "32");
  const auto begins = [](const Diagnostics& found, const std::string& advice) {
    REQUIRE(found.size() == 2);
    for (const auto& finding : found) {
      CAPTURE(to_text(finding));
      CHECK(finding.suggestion.text().starts_with(advice));
      CHECK(finding.suggestion.text().find(", which mends both findings") != std::string::npos);
    }
  };
  begins(found_in("CONVOLUTION", groups,
                  {{"InputTensor", {1, 32, 8, 9}}, {"FilterTensor", {3, 3, 32, 1}}}),
         "save array.transpose(2, 3, 0, 1)");
  begins(
      found_in(
          "CONVOLUTION", convolution,
          {{"InputTensor", {1, 3, 9, 8}}, {"FilterTensor", {3, 3, 3, 16}}, {"BiasTensor", {16}}}),
      "save array.transpose(3, 2, 0, 1) for FilterTensor and save array.reshape(1, 16, 1, 1) "
      "for BiasTensor");
}

TEST_CASE("fixes with files: dimensions of size 1 are likelier than another order") {
  const Sizes one{6};
  const Diagnostics found = found_in("BATCH_NORMALIZATION", R"("Spatial": true, "Epsilon": 0.001)",
                                     {{"InputTensor", {6, 8, 10}},
                                      {"MeanTensor", one},
                                      {"VarianceTensor", one},
                                      {"ScaleTensor", one},
                                      {"BiasTensor", one}});
  REQUIRE(!found.empty());
  for (const auto& finding : found)
    CHECK(finding.suggestion.text().starts_with(
        "save array.reshape(1, 6, 8, 10) for InputTensor and save array.reshape(1, 6, 1, 1) for "));
}

TEST_CASE("fixes with files: a filter gets no dimension that the input lacks") {
  const Diagnostics found = found_in(
      "CONVOLUTION", convolution,
      {{"InputTensor", {1, 7, 9, 5}}, {"FilterTensor", {8, 3, 3, 3}}, {"BiasTensor", {11}}});
  REQUIRE(!found.empty());
  for (const auto& finding : found) {
    CAPTURE(to_text(finding));
    CHECK(finding.suggestion.text().find("(1, 8, 3, 3, 3)") == std::string::npos);
  }
}

TEST_CASE("fixes with files: a row is stretched where NumPy would, a single number is not") {
  CHECK(advised("GEMM", gemm, {{"ATensor", {2, 3}}, {"BTensor", {3, 4}}, {"CTensor", {4}}}) ==
        "save numpy.broadcast_to(array, (2, 4))");
}

TEST_CASE("fixes with files: an array of matrices is one of rows, and a field may go with it") {
  CHECK(advised("GEMM", gemm, {{"ATensor", {2, 10, 768}}, {"BTensor", {256, 768}}}) ==
        "save array.reshape(20, 768) for ATensor and write \"TRANSPOSE\" for TransB");
  CHECK(advised("GEMM", gemm, {{"ATensor", {2, 10, 768}}, {"BTensor", {768, 256}}}) ==
        "save array.reshape(20, 768) for ATensor");
}

TEST_CASE("fixes with files: of two types, the one of floats is kept, and the larger one") {
  CHECK(advised("ELEMENT_WISE_ADD", "",
                {{"ATensor", {2, 3}, DataType::Int64}, {"BTensor", {2, 3}}}) ==
        "save array.astype(numpy.float32) for ATensor");
  CHECK(advised("ELEMENT_WISE_ADD", "",
                {{"ATensor", {2, 3}}, {"BTensor", {2, 3}, DataType::Int64}}) ==
        "save array.astype(numpy.float32)");
  CHECK(advised("ELEMENT_WISE_ADD", "",
                {{"ATensor", {2, 3}, DataType::Float16}, {"BTensor", {2, 3}}}) ==
        "save array.astype(numpy.float32) for ATensor");
}

TEST_CASE("fixes with files: the field that is to change is named if the message is about a file") {
  CHECK(advised("DEPTH_TO_SPACE", "\"BlockSize\": 2", {{"InputTensor", {1, 3, 8, 9}}}) ==
        "write 1 for BlockSize");
  CHECK(advised("DEPTH_TO_SPACE", "\"BlockSize\": 8", {{"InputTensor", {1, 4, 8, 9}}}) ==
        "change InputTensor.Sizes[1] or BlockSize");
}

TEST_CASE("fixes with files: an axis from the end is counted in the dimensions of a file") {
  CHECK(advised("CUMULATIVE_SUMMATION",
                R"("Axis": -1, "AxisDirection": "INCREASING", "HasExclusiveSum": false)",
                {{"InputTensor", {2, 3, 5}}}) == "write 2");
}

}  // namespace dmlop::test::file_fixes_test
