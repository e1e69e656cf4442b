// Refused descriptions: the documented constraints of each operator.
#include <doctest/doctest.h>

#include "refusal.hpp"

namespace dmlop::refusal_rules_test {

using dmlop::test::check_refused;

// Raw strings are marked JSON: see refusal.hpp.
// clang-format off

TEST_CASE("REDUCE: an output holds the index of every element") {
  const std::string large = R"("InputTensor": {"DataType": "UINT8", "Sizes": [50000, 50000]}, )";
  const std::string larger = R"("InputTensor": {"DataType": "UINT8", "Sizes": [2, 50000, 50000]}, )";
  const auto output = [](const std::string& type) {
    return R"("OutputTensor": {"DataType": )" + type + "}, ";
  };
  const std::string two = R"("Axes": [0, 1])", three = R"("Axes": [0, 1, 2])";
  for (const std::string name : {"ARGMAX", "ARGMIN", "REDUCE"}) {
    CAPTURE(name);
    const std::string how =
        name == "REDUCE" ? R"("Function": "ARGMIN", )" : R"("AxisDirection": "DECREASING", )";
    const auto finding = [](const std::string& type, const std::string& rule,
                            const std::string& types, const std::string& note,
                            const std::string& help) {
      return "OutputTensor.DataType is " + type + ", must be one of " + types +
             "\n  rule: OutputTensor.DataType in {" + types + "}" + rule + "\n  note: " + note +
             "\n  help: write " + help;
    };
    check_refused(name, {
      {how + large + output(R"(^"INT32")") + two,
       {finding("INT32", "", "UINT32, INT64, UINT64",
                "INT32 holds the indices of at most 2147483648 elements.",
                R"("UINT32", "INT64" or "UINT64")")}},
      {how + larger + output(R"(^"UINT32")") + three,
       {finding("UINT32", "", "INT64, UINT64",
                "32 bits hold the indices of at most 4294967296 elements.",
                R"("INT64" or "UINT64")")}},
      {how + larger + output(R"(^"INT32")") + three,
       {finding("INT32", "", "INT64, UINT64",
                "32 bits hold the indices of at most 4294967296 elements.",
                R"("INT64" or "UINT64")")}},
      {how + large + output(R"("UINT32")") + two, {}},
      {how + larger + output(R"("UINT32")") + R"("Axes": [1, 2])", {}},
      {how + larger + output(R"("INT64")") + three, {}},
    });
  }
}

TEST_CASE("RESAMPLE1: offsets are finite") {
  const std::string fields =
      R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [2]}, "InterpolationMode": "LINEAR", )"
      R"("OutputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "Scales": [2], )";
  for (const std::string word : {"NaN", "inf", "-inf"}) {
    CAPTURE(word);
    check_refused("RESAMPLE1", {
      {fields + R"("InputPixelOffsets": [^")" + word + R"("], "OutputPixelOffsets": [-0.5])",
       {"InputPixelOffsets[0] must be a finite number\n"
        "  rule: finite(InputPixelOffsets[0])\n"
        "  help: write a finite number"}},
      {fields + R"("InputPixelOffsets": [0.5], "OutputPixelOffsets": [^")" + word + R"("])",
       {"OutputPixelOffsets[0] must be a finite number\n"
        "  rule: finite(OutputPixelOffsets[0])\n"
        "  help: write a finite number"}},
    });
  }
}

TEST_CASE("PADDING: sizes, types, values and feature levels") {
  check_refused("PADDING", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"DataType": ^"FLOAT16", "Sizes": [7]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor.DataType is FLOAT16, must be FLOAT32\n"
      "  rule: OutputTensor.DataType == InputTensor.DataType\n"
      "  help: write \"FLOAT32\""}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"DataType": "FLOAT32", "Sizes": [^8]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor.Sizes[0] is 8, must be 7\n"
      "  rule: OutputTensor.Sizes[0] == InputTensor.Sizes[0] + StartPadding[0] + "
      "EndPadding[0], where 4 + 1 + 2 = 7\n"
      "  help: write 7"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"DataType": "FLOAT32", "Sizes": [^0]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor.Sizes[0] is 0, must be 7\n"
      "  rule: OutputTensor.Sizes[0] == InputTensor.Sizes[0] + StartPadding[0] + "
      "EndPadding[0], where 4 + 1 + 2 = 7\n"
      "  help: write 7"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"DataType": "FLOAT32", "Sizes": ^[1, 7]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor has 2 dimensions, must have 1\n"
      "  rule: OutputTensor.DimensionCount == InputTensor.DimensionCount\n"
      "  help: write [7] for its Sizes"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"DimensionCount": ^2}, "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"OutputTensor has 2 dimensions, must have 1\n"
      "  rule: OutputTensor.DimensionCount == InputTensor.DimensionCount\n"
      "  help: write [7] for its Sizes"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "DimensionCount": ^2, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"DimensionCount is 2, must be 1\n"
      "  rule: DimensionCount == InputTensor.DimensionCount\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": ^[1, 2], "EndPadding": [2])",
     {"StartPadding has 2 values, must have 1\n"
      "  rule: one value for each dimension: DimensionCount is 1\n"
      "  help: write 1 value"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": ^[], "EndPadding": [2])",
     {"StartPadding has 0 values, must have 1\n"
      "  rule: one value for each dimension: DimensionCount is 1\n"
      "  help: write 1 value, such as [0]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [^4294967295]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor.Sizes[0] would be 4294967298, must be from 1 to 4294967295 (UINT)\n"
      "  rule: OutputTensor.Sizes[0] == InputTensor.Sizes[0] + StartPadding[0] + "
      "EndPadding[0], where 4294967295 + 1 + 2 = 4294967298\n"
      "  help: change one of InputTensor.Sizes[0], StartPadding[0], EndPadding[0]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [^4]}, )"
     R"("OutputTensor": {"Sizes": [5]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [4294967295], "EndPadding": [2])",
     {"OutputTensor.Sizes[0] would be 4294967301, must be from 1 to 4294967295 (UINT)\n"
      "  rule: OutputTensor.Sizes[0] == InputTensor.Sizes[0] + StartPadding[0] + "
      "EndPadding[0], where 4 + 4294967295 + 2 = 4294967301\n"
      "  help: change one of InputTensor.Sizes[0], StartPadding[0], EndPadding[0]"}},
    {R"("InputTensor": {"DataType": "UINT8", "Sizes": [4]}, "PaddingValue": ^300, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is 300, which does not fit UINT8\n"
      "  rule: UINT8 holds 0 to 255; PaddingValue is truncated toward zero\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write a value from 0 to 255"}},
    {R"("InputTensor": {"DataType": "UINT8", "Sizes": [4]}, "PaddingValue": ^-1, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is -1, which does not fit UINT8\n"
      "  rule: UINT8 holds 0 to 255; PaddingValue is truncated toward zero\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write a value from 0 to 255"}},
    {R"("InputTensor": {"DataType": "INT8", "Sizes": [4]}, "PaddingValue": ^128, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is 128, which does not fit INT8\n"
      "  rule: INT8 holds -128 to 127; PaddingValue is truncated toward zero\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write a value from -128 to 127"}},
    {R"("InputTensor": {"DataType": "INT64", "Sizes": [4]}, "PaddingValue": ^1e30, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is 1e+30, which does not fit INT64\n"
      "  rule: INT64 holds -9223372036854775808 to 9223372036854775807; PaddingValue "
      "is truncated toward zero\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write a value from -9223372036854775808 to 9223372036854775807"}},
    {R"("InputTensor": {"DataType": "UINT16", "Sizes": [4]}, "PaddingValue": ^"nan", )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is nan, which does not fit UINT16\n"
      "  rule: UINT16 holds 0 to 65535; PaddingValue is truncated toward zero\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write a value from 0 to 65535"}},
    {R"("InputTensor": {"DataType": "INT32", "Sizes": [4]}, "PaddingValue": ^"-inf", )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is -inf, which does not fit INT32\n"
      "  rule: INT32 holds -2147483648 to 2147483647; PaddingValue is truncated "
      "toward zero\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write a value from -2147483648 to 2147483647"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]}, )"
     R"("PaddingMode": ^"SYMMETRIC", "StartPadding": [0, 0, 0, 1], "EndPadding": [0, 0, 0, )"
     R"(2])",
     {"PaddingMode SYMMETRIC needs feature level 3_0, this run has 2_1\n"
      "  rule: DML_PADDING_MODE_SYMMETRIC was introduced in 3_0\n"
      "  help: write \"featureLevel\": \"3_0\", or run with --feature-level 3_0, or use "
      "CONSTANT, EDGE, REFLECTION"}, "2_1"},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 4]}, )"
     R"("PaddingMode": ^"WRAP", "StartPadding": [0, 0, 0, 1], "EndPadding": [0, 0, 0, 2])",
     {"PaddingMode WRAP needs feature level 6_4, this run has 6_3\n"
      "  rule: DML_PADDING_MODE_WRAP was introduced in 6_4\n"
      "  help: write \"featureLevel\": \"6_4\", or run with --feature-level 6_4, or use "
      "CONSTANT, EDGE, REFLECTION, SYMMETRIC"}, "6_3"},
    {R"("InputTensor": {"DataType": ^"INT8", "Sizes": [1, 1, 1, 4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [0, 0, 0, 1], "EndPadding": [0, 0, 0, 2])",
     {"InputTensor.DataType INT8 needs feature level 2_1, this run has 2_0\n"
      "  rule: at 2_0 InputTensor takes FLOAT32, FLOAT16\n"
      "  help: write \"featureLevel\": \"2_1\", or run with --feature-level 2_1"}, "2_0"},
    {R"("InputTensor": {"DataType": ^"INT64", "Sizes": [1, 1, 1, 4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [0, 0, 0, 1], "EndPadding": [0, 0, 0, 2])",
     {"InputTensor.DataType INT64 needs feature level 5_0, this run has 4_1\n"
      "  rule: at 4_1 InputTensor takes FLOAT32, FLOAT16, INT32, INT16, INT8, "
      "UINT32, UINT16, UINT8\n"
      "  help: write \"featureLevel\": \"5_0\", or run with --feature-level 5_0"}, "4_1"},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"InputTensor has 1 dimension, which needs feature level 3_1, this run has 3_0\n"
      "  rule: at 3_0 InputTensor takes 4 to 5 dimensions\n"
      "  help: write \"featureLevel\": \"3_1\", or run with --feature-level 3_1"}, "3_0"},
  });
}

TEST_CASE("LP_POOLING: sizes, types and windows") {
  check_refused("LP_POOLING", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, "Strides": [1, 1], )"
     R"("WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": ^0)",
     {"P is 0, must be at least 1\n"
      "  rule: P >= 1\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write 1 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, "Strides": [^0, 1], )"
     R"("WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"Strides[0] is 0, must be at least 1\n"
      "  rule: Strides[0] >= 1\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write 1 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, "Strides": [1, 1], )"
     R"("WindowSize": [2, ^0], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"WindowSize[1] is 0, must be at least 1\n"
      "  rule: WindowSize[1] >= 1\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write 1 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, "Strides": [1, 1], )"
     R"("WindowSize": [2, ^5], "StartPadding": [0, 1], "EndPadding": [0, 0], "P": 2)",
     {"WindowSize[1] is 5, must be at most 4\n"
      "  rule: WindowSize[1] <= InputTensor.Sizes[3] + StartPadding[1] + "
      "EndPadding[1], where 3 + 1 + 0 = 4\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write 4 or less"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, )"
     R"("DimensionCount": ^4, "Strides": [1, 1], "WindowSize": [2, 2], "StartPadding": [0, )"
     R"(0], "EndPadding": [0, 0], "P": 2)",
     {"DimensionCount is 4, must be 2\n"
      "  rule: DimensionCount == InputTensor.DimensionCount - 2, where 4 - 2 = 2\n"
      "  note: InputTensor is {batch, channel, height, width} or {batch, channel, depth, height, "
      "width}.\n"
      "  help: write 2"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, )"
     R"("OutputTensor": {"DataType": ^"FLOAT16", "Sizes": [1, 1, 2, 2]}, "Strides": [1, 1], )"
     R"("WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"OutputTensor.DataType is FLOAT16, must be FLOAT32\n"
      "  rule: OutputTensor.DataType == InputTensor.DataType\n"
      "  help: write \"FLOAT32\""}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, )"
     R"("OutputTensor": {"Sizes": [^2, 1, 2, 2]}, "Strides": [1, 1], "WindowSize": [2, 2], )"
     R"("StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"OutputTensor.Sizes[0] is 2, must be 1\n"
      "  rule: OutputTensor.Sizes[0] == InputTensor.Sizes[0]\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, )"
     R"("OutputTensor": {"Sizes": [1, ^2, 2, 2]}, "Strides": [1, 1], "WindowSize": [2, 2], )"
     R"("StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"OutputTensor.Sizes[1] is 2, must be 1\n"
      "  rule: OutputTensor.Sizes[1] == InputTensor.Sizes[1]\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, )"
     R"("OutputTensor": {"Sizes": [1, 1, 2, ^3]}, "Strides": [1, 1], "WindowSize": [2, 2], )"
     R"("StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"OutputTensor.Sizes[3] is 3, must be 2\n"
      "  rule: OutputTensor.Sizes[3] == (InputTensor.Sizes[3] + StartPadding[1] + "
      "EndPadding[1] - WindowSize[1]) / Strides[1] + 1, where (3 + 0 + 0 - 2) / 1 + "
      "1 = 2\n"
      "  note: The division rounds down; increase EndPadding to have a last, partial window. "
      "DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write 2"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, )"
     R"("OutputTensor": {"Sizes": ^[2, 2]}, "Strides": [1, 1], "WindowSize": [2, 2], )"
     R"("StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"OutputTensor has 2 dimensions, must have 4\n"
      "  rule: OutputTensor.DimensionCount == InputTensor.DimensionCount\n"
      "  note: InputTensor is {batch, channel, height, width} or {batch, channel, depth, height, "
      "width}.\n"
      "  help: write [1, 1, 2, 2] for its Sizes"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 3]}, "Strides": [1, 1], )"
     R"("WindowSize": ^[2], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"WindowSize has 1 value, must have 2\n"
      "  rule: one value for each dimension: DimensionCount is 2\n"
      "  help: write 2 values"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, ^3, 3]}, "Strides": [1, 1], )"
     R"("WindowSize": [2, 2], "StartPadding": [4294967295, 0], "EndPadding": [4294967295, )"
     R"(0], "P": 2)",
     {"OutputTensor.Sizes[2] would be 8589934592, must be from 1 to 4294967295 (UINT)\n"
      "  rule: OutputTensor.Sizes[2] == (InputTensor.Sizes[2] + StartPadding[0] + "
      "EndPadding[0] - WindowSize[0]) / Strides[0] + 1, where (3 + 4294967295 + "
      "4294967295 - 2) / 1 + 1 = 8589934592\n"
      "  note: The division rounds down; increase EndPadding to have a last, partial window.\n"
      "  help: change one of InputTensor.Sizes[2], StartPadding[0], EndPadding[0], "
      "WindowSize[0], Strides[0]"}},
    {R"("InputTensor": {"DataType": ^"INT32", "Sizes": [1, 1, 3, 3]}, "Strides": [1, 1], )"
     R"("WindowSize": [2, 2], "StartPadding": [0, 0], "EndPadding": [0, 0], "P": 2)",
     {"InputTensor.DataType is INT32, must be one of FLOAT32, FLOAT16\n"
      "  rule: at 6_4 InputTensor takes FLOAT32, FLOAT16\n"
      "  help: save array.astype(numpy.float32) and write \"FLOAT32\""}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[1, 3, 3]}, "Strides": [1], )"
     R"("WindowSize": [1], "StartPadding": [0], "EndPadding": [0], "P": 2)",
     {"InputTensor has 3 dimensions, must have 4 to 5\n"
      "  rule: at 6_4 InputTensor takes 4 to 5 dimensions\n"
      "  note: InputTensor is {batch, channel, height, width} or {batch, channel, depth, height, "
      "width}.\n"
      "  help: add dimensions of size 1: write [1, 1, 3, 3]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[3]}, "Strides": [1], )"
     R"("WindowSize": [1], "StartPadding": [0], "EndPadding": [0], "P": 2)",
     {"InputTensor has 1 dimension, must have 4 to 5\n"
      "  rule: at 6_4 InputTensor takes 4 to 5 dimensions\n"
      "  note: InputTensor is {batch, channel, height, width} or {batch, channel, depth, height, "
      "width}.\n"
      "  help: add dimensions of size 1: write [1, 1, 1, 3]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[3]}, "DimensionCount": 1, )"
     R"("Strides": [1], "WindowSize": [1], "StartPadding": [0], "EndPadding": [0], "P": 2)",
     {"InputTensor has 1 dimension, must have 4 to 5\n"
      "  rule: at 6_4 InputTensor takes 4 to 5 dimensions\n"
      "  note: InputTensor is {batch, channel, height, width} or {batch, channel, depth, height, "
      "width}.\n"
      "  help: add dimensions of size 1: write [1, 1, 1, 3]"}},
  });
}

// Queries, keys and values whose heads have a dimension of their own, as in other libraries.
TEST_CASE("MULTIHEAD_ATTENTION: more dimensions than it has") {
  check_refused("MULTIHEAD_ATTENTION", {
    {R"("QueryTensor": {"DataType": "FLOAT32", "Sizes": [^2, 4, 3, 8]}, )"
     R"("KeyTensor": {"DataType": "FLOAT32", "Sizes": [^2, 4, 5, 8]}, )"
     R"("ValueTensor": {"DataType": "FLOAT32", "Sizes": [^2, 4, 5, 8]}, )"
     R"("Scale": 0.5, "HeadCount": 4, "MaskType": "NONE")",
     {"QueryTensor.Sizes[0] is 2, must be 1\n"
      "  rule: QueryTensor.Sizes[0] == 1\n"
      "  note: More than 3 dimensions are allowed when the first ones are 1. QueryTensor is "
      "{batch, query length, heads * head size}.\n"
      "  help: write Sizes of 3 dimensions",
      "KeyTensor.Sizes[0] is 2, must be 1\n"
      "  rule: KeyTensor.Sizes[0] == 1\n"
      "  note: More than 3 dimensions are allowed when the first ones are 1. KeyTensor is "
      "{batch, key length, heads * head size}.\n"
      "  help: write Sizes of 3 dimensions",
      "ValueTensor.Sizes[0] is 2, must be 1\n"
      "  rule: ValueTensor.Sizes[0] == 1\n"
      "  note: More than 3 dimensions are allowed when the first ones are 1. ValueTensor is "
      "{batch, key length, heads * value head size}.\n"
      "  help: write Sizes of 3 dimensions"}},
  });
}

TEST_CASE("SLICE1: windows, sizes and feature levels") {
  check_refused("SLICE1", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "InputWindowOffsets": [^1], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [2])",
     {"InputWindowOffsets[0] + InputWindowSizes[0] is 5, must be at most 4\n"
      "  rule: InputWindowOffsets[0] + InputWindowSizes[0] <= InputTensor.Sizes[0], "
      "where 1 + 4 = 5\n"
      "  help: change InputWindowOffsets[0], InputWindowSizes[0] or InputTensor.Sizes[0]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("InputWindowOffsets": [^4294967295], "InputWindowSizes": [4294967295], )"
     R"("InputWindowStrides": [2])",
     {"InputWindowOffsets[0] + InputWindowSizes[0] is 8589934590, must be at most 4\n"
      "  rule: InputWindowOffsets[0] + InputWindowSizes[0] <= InputTensor.Sizes[0], "
      "where 4294967295 + 4294967295 = 8589934590\n"
      "  help: change InputWindowOffsets[0], InputWindowSizes[0] or InputTensor.Sizes[0]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [^0], "InputWindowStrides": [2])",
     {"InputWindowSizes[0] is 0, must be at least 1\n"
      "  rule: InputWindowSizes[0] >= 1\n"
      "  help: write 1 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [^0])",
     {"InputWindowStrides[0] is 0, must not be 0\n"
      "  rule: InputWindowStrides[0] != 0\n"
      "  help: change InputWindowStrides[0]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": [^3]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [2])",
     {"OutputTensor.Sizes[0] is 3, must be at most 2\n"
      "  rule: 1 <= OutputTensor.Sizes[0] <= 1 + (InputWindowSizes[0] - 1) / "
      "abs(InputWindowStrides[0]), where 1 + (4 - 1) / abs(2) = 2\n"
      "  help: write 2 or less"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": [^3]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [-2])",
     {"OutputTensor.Sizes[0] is 3, must be at most 2\n"
      "  rule: 1 <= OutputTensor.Sizes[0] <= 1 + (InputWindowSizes[0] - 1) / "
      "abs(InputWindowStrides[0]), where 1 + (4 - 1) / abs(-2) = 2\n"
      "  help: write 2 or less"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": [^2]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [-2147483648])",
     {"OutputTensor.Sizes[0] is 2, must be at most 1\n"
      "  rule: 1 <= OutputTensor.Sizes[0] <= 1 + (InputWindowSizes[0] - 1) / "
      "abs(InputWindowStrides[0]), where 1 + (4 - 1) / abs(-2147483648) = 1\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": [^0]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [2])",
     {"OutputTensor.Sizes[0] is 0, must be at least 1\n"
      "  rule: 1 <= OutputTensor.Sizes[0] <= 1 + (InputWindowSizes[0] - 1) / "
      "abs(InputWindowStrides[0])\n"
      "  help: write 1 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"DataType": ^"INT32", "Sizes": [2]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [2])",
     {"OutputTensor.DataType is INT32, must be FLOAT32\n"
      "  rule: OutputTensor.DataType == InputTensor.DataType\n"
      "  help: write \"FLOAT32\""}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": ^[1, 2]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [2])",
     {"OutputTensor has 2 dimensions, must have 1\n"
      "  rule: OutputTensor.DimensionCount == InputTensor.DimensionCount\n"
      "  help: write [2] for its Sizes"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "DimensionCount": ^3, )"
     R"("InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [2])",
     {"DimensionCount is 3, must be 1\n"
      "  rule: DimensionCount == InputTensor.DimensionCount\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": ^[2, 2])",
     {"InputWindowStrides has 2 values, must have 1\n"
      "  rule: one value for each dimension: DimensionCount is 1\n"
      "  help: write 1 value"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[4]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [2])",
     {"InputTensor has 1 dimension, which needs feature level 3_0, this run has 2_1\n"
      "  rule: at 2_1 InputTensor takes 4 to 5 dimensions\n"
      "  help: write \"featureLevel\": \"3_0\", or run with --feature-level 3_0"}, "2_1"},
    {R"("InputTensor": {"DataType": ^"FLOAT64", "Sizes": [4]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [2])",
     {"InputTensor.DataType FLOAT64 needs feature level 4_1, this run has 4_0\n"
      "  rule: at 4_0 InputTensor takes FLOAT32, FLOAT16, INT32, INT16, INT8, "
      "UINT32, UINT16, UINT8\n"
      "  help: write \"featureLevel\": \"4_1\", or run with --feature-level 4_1"}, "4_0"},
  });
}

TEST_CASE("REVERSE_SUBSEQUENCES: axis, lengths and feature levels") {
  check_refused("REVERSE_SUBSEQUENCES", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": [3, 1]}, "Axis": ^2)",
     {"Axis is 2, must be less than 2\n"
      "  rule: Axis < InputTensor.DimensionCount\n"
      "  help: write 1 or less"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": [3, 1]})",
     {"the field \"Axis\" is missing\n"
      "  rule: DML_OPERATOR_REVERSE_SUBSEQUENCES needs it: The dimension along which "
      "the sequences lie.\n"
      "  help: write \"Axis\": 1, for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, "Axis": 1)",
     {"SequenceLengthsTensor.DataType is missing\n"
      "  rule: a tensor's type and sizes are written in its desc or taken from its "
      ".npy file\n"
      "  help: write \"SequenceLengthsTensor\": {\"DataType\": \"UINT32\", \"Sizes\": [3, 1]}, "
      "or name its .npy file"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": ^"INT32", "Sizes": [3, 1]}, "Axis": 1)",
     {"SequenceLengthsTensor.DataType is INT32, must be one of UINT64, UINT32\n"
      "  rule: at 6_4 SequenceLengthsTensor takes UINT64, UINT32\n"
      "  help: save array.astype(numpy.uint32) and write \"UINT32\""}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": [^1, ^4]}, "Axis": 1)",
     {"SequenceLengthsTensor.Sizes[0] is 1, must be 3\n"
      "  rule: SequenceLengthsTensor.Sizes[0] == InputTensor.Sizes[0]\n"
      "  note: There is one length for each sequence along the axis.\n"
      "  help: write 3",
      "SequenceLengthsTensor.Sizes[1] is 4, must be 1\n"
      "  rule: SequenceLengthsTensor.Sizes[1] == 1\n"
      "  note: There is one length for each sequence along the axis.\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": [^0, 1]}, "Axis": 1)",
     {"SequenceLengthsTensor.Sizes[0] is 0, must be 3\n"
      "  rule: SequenceLengthsTensor.Sizes[0] == InputTensor.Sizes[0]\n"
      "  note: There is one length for each sequence along the axis.\n"
      "  help: write 3"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": ^[3]}, "Axis": 1)",
     {"SequenceLengthsTensor has 1 dimension, must have 2\n"
      "  rule: SequenceLengthsTensor.DimensionCount == InputTensor.DimensionCount\n"
      "  help: write [3, 1] for its Sizes"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": [3, 1]}, )"
     R"("OutputTensor": {"Sizes": [^4, ^3]}, "Axis": 1)",
     {"OutputTensor.Sizes[0] is 4, must be 3\n"
      "  rule: OutputTensor.Sizes[0] == InputTensor.Sizes[0]\n"
      "  help: write 3",
      "OutputTensor.Sizes[1] is 3, must be 4\n"
      "  rule: OutputTensor.Sizes[1] == InputTensor.Sizes[1]\n"
      "  help: write 4"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": [3, 1]}, )"
     R"("OutputTensor": {"DataType": ^"FLOAT64", "Sizes": [3, 4]}, "Axis": 1)",
     {"OutputTensor.DataType is FLOAT64, must be FLOAT32\n"
      "  rule: OutputTensor.DataType == InputTensor.DataType\n"
      "  help: write \"FLOAT32\""}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": ^"UINT64", "Sizes": [3, 1]}, "Axis": 1)",
     {"SequenceLengthsTensor.DataType UINT64 needs feature level 5_0, this run has "
      "4_0\n"
      "  rule: at 4_0 SequenceLengthsTensor takes UINT32\n"
      "  help: write \"featureLevel\": \"5_0\", or run with --feature-level 5_0"}, "4_0"},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": [3, 1]}, "Axis": 1)",
     {"InputTensor has 2 dimensions, which needs feature level 4_0, this run has 3_1\n"
      "  rule: at 3_1 InputTensor takes 4 to 5 dimensions\n"
      "  help: write \"featureLevel\": \"4_0\", or run with --feature-level 4_0"}, "3_1"},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[1, 1, 1, 3, 4]}, )"
     R"("SequenceLengthsTensor": {"DataType": "UINT32", "Sizes": [1, 1, 1, 3, 1]}, "Axis": 4)",
     {"InputTensor has 5 dimensions, which needs feature level 3_0, this run has 2_1\n"
      "  rule: at 2_1 InputTensor takes 4 dimensions\n"
      "  help: write \"featureLevel\": \"3_0\", or run with --feature-level 3_0"}, "2_1"},
  });
}

}  // namespace dmlop::refusal_rules_test
