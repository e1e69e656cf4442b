// Refused descriptions as a whole: operators, options, bindings, and many mistakes at once.
#include "refusal.hpp"

#include <doctest/doctest.h>

#include "ops/operator.hpp"
#include "spec/description.hpp"

namespace dmlop::refusal_test {

using dmlop::test::check_refused_texts;

namespace {

/// "[value, value, ...]".
std::string array_of(const std::string& value, int count) {
  std::string text = "[" + value;
  for (int i = 1; i < count; ++i) text += ", " + value;
  return text + "]";
}

std::vector<std::string> messages(const std::string& fields) {
  dmlop::Diagnostics diagnostics;
  auto description = dmlop::read_description(
      "op.json", R"({"type": "PADDING", "PaddingMode": "EDGE", )" + fields + "}", std::nullopt,
      diagnostics);
  REQUIRE(description.has_value());
  check_description(*description, diagnostics);
  std::vector<std::string> list;
  for (const auto& diagnostic : diagnostics) list.push_back(diagnostic.message);
  return list;
}

}  // namespace

TEST_CASE("of the same mistake in a long array the first eight are listed") {
  const std::string input = R"("InputTensor": {"DataType": "FLOAT32", "Sizes": )";
  const std::string ones = R"(, "StartPadding": )" + array_of("1", 20);
  const std::string zeros = R"(, "EndPadding": )" + array_of("0", 20);
  // A wrong number of dimensions is the only finding: nothing follows from such a tensor.
  const auto dimensions = messages(input + array_of("3", 20) + "}" + ones + zeros);
  CHECK(dimensions == std::vector<std::string>{"InputTensor has 20 dimensions, must have 1 to 8"});
  const auto rule = messages(input + array_of("3", 8) + R"(}, "StartPadding": )" +
                             array_of("1", 8) + R"(, "EndPadding": )" + array_of("0", 8) +
                             R"(, "OutputTensor": {"Sizes": )" + array_of("9", 8) + "}");
  REQUIRE(rule.size() == 8);
  CHECK(rule[7] == "OutputTensor.Sizes[7] is 9, must be 4");
  const auto sizes = messages(input + array_of("0", 20) + "}" + ones + zeros);
  REQUIRE(sizes.size() == 9);
  CHECK(sizes[7] == "InputTensor.Sizes[7] is 0, must be from 1 to 4294967295");
  const auto numbers =
      messages(input + "[3]}" + R"(, "StartPadding": [1], "EndPadding": )" + array_of("-1", 20));
  CHECK(numbers.size() == 8);
}

TEST_CASE("an array longer than any operator's is refused as a whole") {
  const auto found = messages(R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3]},
      "EndPadding": [1], "StartPadding": )" +
                              array_of("1", 5000));
  CHECK(found == std::vector<std::string>{"StartPadding has 5000 values, must have at most 4096"});
}

// Raw strings are marked JSON: see refusal.hpp.
// clang-format off

TEST_CASE("op descriptions") {
  check_refused_texts({
    {R"(^[])",
     {"the description is an empty array, must be an object with \"type\" and \"desc\"\n"
      "  help: save each operator as a file of its own, without the brackets"}},
    {R"(^null)",
     {"the description is null, must be an object with \"type\" and \"desc\"\n"
      "  help: `dmlop ops PADDING --example` prints one to begin with"}},
    {R"(^"PADDING")",
     {"the description is the string \"PADDING\", must be an object with \"type\" and "
      "\"desc\"\n"
      "  help: `dmlop ops PADDING --example` prints one to begin with"}},
    {R"(^{})",
     {"the field \"type\" is missing\n"
      "  rule: an op description has the fields type and desc\n"
      "  help: write \"type\": \"DML_OPERATOR_PADDING\", or another operator of `dmlop "
      "ops`"}},
    {R"(^{"dispatchables": {}, "resources": {}, "commands": []})",
     {"the field \"type\" is missing\n"
      "  rule: an op description has the fields type and desc\n"
      "  help: this is a whole DxDispatch model; save one object of its "
      "\"dispatchables\" as a file of its own"}},
    {R"({"type": ^64, "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})",
     {"type is 64, must be the name of an operator\n"
      "  help: write \"DML_OPERATOR_PADDING\", or another operator of `dmlop ops`"}},
    {R"({"type": ^"PADING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})",
     {"type is the string \"PADING\", which is not an operator of DirectML\n"
      "  rule: `dmlop ops` lists the operators\n"
      "  help: did you mean \"PADDING\" or \"PADDING1\"?"}},
    {R"({"type": ^"DML_OPERATOR_SLICE2", "desc": {"InputTensor": {"DataType": "FLOAT32", )"
     R"("Sizes": [4]}, "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})",
     {"type is the string \"DML_OPERATOR_SLICE2\", which is not an operator of DirectML\n"
      "  rule: `dmlop ops` lists the operators\n"
      "  help: did you mean \"SLICE\" or \"SLICE1\"?"}},
    {R"({"type": ^"FROBNICATE", "desc": {"InputTensor": {"DataType": "FLOAT32", )"
     R"("Sizes": [4]}, "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})",
     {"type is the string \"FROBNICATE\", which is not an operator of DirectML\n"
      "  rule: `dmlop ops` lists the operators"}},
    {R"({^"type": "PADDING", "Type": "PADDING", )"
     R"("desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})",
     {"both \"type\" and \"Type\" are given\n"
      "  help: keep one of them"}},
    {R"({"type": "PADDING", "Desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"(^"desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})",
     {"both \"desc\" and \"Desc\" are given\n"
      "  help: keep one of them"}},
    {R"({"type": "PADDING", "desc": ^[]})",
     {"desc is an empty array, must be an object with the operator's fields\n"
      "  help: `dmlop ops PADDING --example` prints one"}},
    {R"({"type": "PADDING", ^"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})",
     {"unknown field \"InputTensor\"\n"
      "  rule: the fields of an op description are type, Type, desc, Desc, bindings, "
      "featureLevel, as, dmlCompileType, executionFlags, $schema\n"
      "  help: write it into desc"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"("featureLevel": ^"7_0"})",
     {"featureLevel is the string \"7_0\", must be a feature level from \"1_0\" to \"6_4\"\n"
      "  help: write \"6_4\", the newest, which is also meant where it is left out"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"("featureLevel": ^5.0})",
     {"featureLevel is 5.0, must be a feature level from \"1_0\" to \"6_4\"\n"
      "  help: write \"6_4\", the newest, which is also meant where it is left out"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"(^"feature_level": "5_0"})",
     {"unknown field \"feature_level\"; did you mean \"featureLevel\"?\n"
      "  rule: the fields of an op description are type, Type, desc, Desc, bindings, "
      "featureLevel, as, dmlCompileType, executionFlags, $schema"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, "$schema": ^1})",
     {"$schema is 1, must be a string\n"
      "  help: write \"1\""}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"("dmlCompileType": ^"DmlCompile"})",
     {"dmlCompileType is the string \"DmlCompile\", must be one of DmlCompileOp, "
      "DmlCompileGraph\n"
      "  help: did you mean \"DmlCompileOp\"?"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"("executionFlags": ["NONE", ^"FAST"]})",
     {"executionFlags is the string \"FAST\", must be one of NONE, "
      "ALLOW_HALF_PRECISION_COMPUTATION, DISABLE_META_COMMANDS, DESCRIPTORS_VOLATILE\n"
      "  help: write \"NONE\", for example"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"("bindings": ^"x.npy"})",
     {"bindings is the string \"x.npy\", must be an object such as {\"InputTensor\": "
      "\"x.npy\"}\n"
      "  help: write the names of tensors with the paths of their files in braces"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"("bindings": {^"InptTensor": "x.npy"}})",
     {"unknown field \"InptTensor\"; did you mean \"InputTensor\"?\n"
      "  rule: the fields of bindings are InputTensor, OutputTensor"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"("bindings": {"InputTensor": ^1, "OutputTensor": ^""}})",
     {"bindings.InputTensor is 1, must be a string\n"
      "  help: write \"1\"",
      "bindings.OutputTensor is the string \"\", must be the path of a .npy file\n"
      "  help: write \"x.npy\", for example"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, )"
     R"("bindings": {"InputTensor": ^"x\u0000.npy"}})",
     {"bindings.InputTensor is the string \"x\\u0000.npy\", must be the path of a .npy "
      "file\n"
      "  help: write \"x.npy\", for example"}},
    {R"({"type": ^"SLICE1", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("InputWindowOffsets": [0], "InputWindowSizes": [4], "InputWindowStrides": [^0]}})",
     {"DML_OPERATOR_SLICE1 needs feature level 2_1, this run has 2_0\n"
      "  rule: the operator was introduced in 2_1\n"
      "  help: write \"featureLevel\": \"2_1\", or run with --feature-level 2_1",
      "InputWindowStrides[0] is 0, must not be 0\n"
      "  rule: InputWindowStrides[0] != 0\n"
      "  help: change InputWindowStrides[0]"}, "2_0"},
    {R"({"type": "PADDING", ^"type": "PADDING", )"
     R"("desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}})",
     {"the field \"type\" is given twice\n  help: keep one of them"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2]}, ^"\u001b[31mred": 1})",
     {"unknown field \"\\u001b[31mred\"\n"
      "  rule: the fields of an op description are type, Type, desc, Desc, bindings, "
      "featureLevel, as, dmlCompileType, executionFlags, $schema\n"
      "  help: leave it out"}},
    {R"({"type": "PADDING", "featureLevel": ^"9_9", )"
     R"("desc": {"InputTensor": {"DataType": ^"FLOAT23", "Sizes": [1, 2]}, )"
     R"("OutputTensor": {"Sizes": [2, 4], "Flags": ^"OWNED_BY_DML"}, )"
     R"("PaddingMode": ^"EDGES", ^"Start": 1, "StartPadding": [1, ^-1], )"
     R"("EndPadding": [^0.5, 1]}, "bindings": ^[]})",
     {"featureLevel is the string \"9_9\", must be a feature level from \"1_0\" to \"6_4\"\n"
      "  help: write \"6_4\", the newest, which is also meant where it is left out",
      "InputTensor.DataType is the string \"FLOAT23\", must be one of FLOAT32, "
      "FLOAT16, UINT32, UINT16, UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64, UINT4, INT4\n"
      "  help: did you mean \"FLOAT32\"?",
      "OutputTensor.Flags is OWNED_BY_DML, must be NONE\n"
      "  rule: only inputs can be owned by DirectML (DML_TENSOR_FLAG_OWNED_BY_DML)\n"
      "  help: leave it out",
      "PaddingMode is the string \"EDGES\", must be one of CONSTANT, EDGE, REFLECTION, "
      "SYMMETRIC, WRAP\n"
      "  help: did you mean \"EDGE\"?",
      "unknown field \"Start\"; did you mean \"StartPadding\"?\n"
      "  rule: the fields of DML_OPERATOR_PADDING are InputTensor, OutputTensor, "
      "PaddingMode, PaddingValue, DimensionCount, StartPadding, EndPadding",
      "StartPadding[1] is -1, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 0 or more",
      "EndPadding[0] is 0.5, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 0 or 1",
      "bindings is an empty array, must be an object such as {\"InputTensor\": \"x.npy\"}\n"
      "  help: write the names of tensors with the paths of their files in braces"}},
    {R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "UINT8", "Sizes": [3, 4], )"
     R"("TotalTensorSizeInBytes": ^8}, "OutputTensor": {"DataType": ^"INT8", "Sizes": [5, )"
     R"(7], "Strides": ^[0, 1]}, "PaddingMode": "CONSTANT", "PaddingValue": ^256, )"
     R"("DimensionCount": ^3, "StartPadding": [1, 1, 1], "EndPadding": [0, 1]}})",
     {"InputTensor.TotalTensorSizeInBytes is 8, must be at least 12\n"
      "  rule: the last element ends at byte 12, rounded up to a multiple of 4\n"
      "  help: write 12 or leave it out",
      "OutputTensor.DataType is INT8, must be UINT8\n"
      "  rule: OutputTensor.DataType == InputTensor.DataType\n"
      "  help: write \"UINT8\"",
      "OutputTensor.Strides [0, 1] let parts of the output overlap or interleave\n"
      "  rule: every element of an output has a place of its own, and each stride is at least what the "
      "dimensions with smaller strides span\n"
      "  help: write [7, 1] for a packed tensor, or leave it out",
      "PaddingValue is 256, which does not fit UINT8\n"
      "  rule: UINT8 holds 0 to 255; PaddingValue is truncated toward zero\n"
      "  note: DirectML 1.15.4 accepts this, and so does dmlop with --as directml-1.15.4.\n"
      "  help: write a value from 0 to 255",
      "DimensionCount is 3, must be 2\n"
      "  rule: DimensionCount == InputTensor.DimensionCount\n"
      "  help: write 2"}},
  });
}

}  // namespace dmlop::refusal_test
