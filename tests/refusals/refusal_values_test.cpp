// Refused descriptions: values of a wrong kind or out of range, unknown and missing fields.
#include <doctest/doctest.h>

#include "refusal.hpp"

namespace dmlop::refusal_values_test {

using dmlop::test::check_refused;

// Raw strings are marked JSON: see refusal.hpp.
// clang-format off

TEST_CASE("numbers must be integers or floats that fit the field") {
  check_refused("PADDING", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^1.5], "EndPadding": [2])",
     {"StartPadding[0] is 1.5, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 1 or 2"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^-1], "EndPadding": [2])",
     {"StartPadding[0] is -1, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 0 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^4294967296], "EndPadding": [2])",
     {"StartPadding[0] is 4294967296, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 4294967295 or less"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^1e999], "EndPadding": [2])",
     {"StartPadding[0] is 1e999, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 4294967295 or less"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^1e2], "EndPadding": [2])",
     {"StartPadding[0] is 1e2, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 100"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^"4"], "EndPadding": [2])",
     {"StartPadding[0] is the string \"4\", must be an integer from 0 to 4294967295 "
      "(UINT)\n"
      "  help: write 4, without the quotes"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^true], "EndPadding": [2])",
     {"StartPadding[0] is true, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^null], "EndPadding": [2])",
     {"StartPadding[0] is null, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 2, for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": ^[[1]], "EndPadding": [2])",
     {"StartPadding is an array of arrays, must be an array of UINT\n"
      "  help: write [1]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [^{}], "EndPadding": [2])",
     {"StartPadding[0] is an object, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 2, for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": ^1, "EndPadding": [2])",
     {"StartPadding is 1, must be an array of UINT\n"
      "  help: write [1]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": ^"1", "EndPadding": [2])",
     {"StartPadding is the string \"1\", must be an array of UINT\n"
      "  help: write [1], without the quotes"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": ^null, "EndPadding": [2])",
     {"StartPadding is null, must be an array of UINT\n"
      "  help: write [0, 0, 1, 2], for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "DimensionCount": ^1.0, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"DimensionCount is 1.0, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "DimensionCount": ^[1], )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"DimensionCount is an array, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingValue": ^1e39, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is 1e39, must be within the range of FLOAT (up to 3.4028235e38)\n"
      "  help: write \"inf\" for infinity"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingValue": ^-1e39, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is -1e39, must be within the range of FLOAT (up to 3.4028235e38)\n"
      "  help: write \"-inf\" for infinity"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingValue": ^1e309, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is 1e309, must be within the range of FLOAT (up to 3.4028235e38)\n"
      "  help: write \"inf\" for infinity"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingValue": ^-12345e400, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is -12345e400, must be within the range of FLOAT (up to 3.4028235e38)\n"
      "  help: write \"-inf\" for infinity"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingValue": ^"infinity", )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is the string \"infinity\", must be a number, \"inf\", \"-inf\" or "
      "\"nan\" (FLOAT)\n"
      "  help: write \"inf\""}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingValue": ^true, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is true, must be a number, \"inf\", \"-inf\" or \"nan\" (FLOAT)\n"
      "  help: write 1"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingValue": ^null, )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is null, must be a number, \"inf\", \"-inf\" or \"nan\" (FLOAT)\n"
      "  help: write 9, for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingValue": ^[1], )"
     R"("PaddingMode": "CONSTANT", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingValue is an array, must be a number, \"inf\", \"-inf\" or \"nan\" (FLOAT)\n"
      "  help: write 1"}},
  });
}

TEST_CASE("signed integers must fit 32 bits") {
  check_refused("SLICE1", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [^-2147483649])",
     {"InputWindowStrides[0] is -2147483649, must be an integer from -2147483648 to "
      "2147483647 (INT)\n"
      "  help: write -2147483648 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [^2147483648])",
     {"InputWindowStrides[0] is 2147483648, must be an integer from -2147483648 to "
      "2147483647 (INT)\n"
      "  help: write 2147483647 or less"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "InputWindowOffsets": [0], )"
     R"("InputWindowSizes": [4], "InputWindowStrides": [^1.5])",
     {"InputWindowStrides[0] is 1.5, must be an integer from -2147483648 to "
      "2147483647 (INT)\n"
      "  help: write 1 or 2"}},
  });
}

TEST_CASE("values must be of the kind their field has") {
  check_refused("PADDING", {
    {R"("InputTensor": ^[4], "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor is an array, must be an object such as {\"DataType\": \"FLOAT32\", "
      "\"Sizes\": [1, 1, 4, 4]}\n"
      "  help: write {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}, for example"}},
    {R"("InputTensor": ^"x.npy", "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"InputTensor is the string \"x.npy\", must be a tensor desc, or be left out where a file gives it\n"
      "  help: leave it out, and write \"bindings\": {\"InputTensor\": \"x.npy\"} beside \"type\""}},
    {R"("InputTensor": ^null, "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor is null, must be an object such as {\"DataType\": \"FLOAT32\", "
      "\"Sizes\": [1, 1, 4, 4]}\n"
      "  help: write {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}, for example"}},
    {R"("InputTensor": ^4, "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor is 4, must be an object such as {\"DataType\": \"FLOAT32\", \"Sizes\": "
      "[1, 1, 4, 4]}\n"
      "  help: write {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}, for example"}},
    {R"("InputTensor": {"Desc": ^[]}, "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"InputTensor is an empty array, must be an object such as {\"DataType\": "
      "\"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}\n"
      "  help: write {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}, for example"}},
    {R"("InputTensor": {"Type": "BUFFER", ^"DataType": "FLOAT32", )"
     R"("Desc": {"DataType": "FLOAT32", "Sizes": [4]}}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"unknown field \"DataType\"\n"
      "  rule: the fields of a tensor desc with Desc are Type, Desc\n"
      "  help: leave it out"}},
    {R"("InputTensor": {"Type": ^"INVALID", "DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Type is the string \"INVALID\", must be one of BUFFER\n"
      "  help: write \"BUFFER\", for example"}},
    {R"("InputTensor": {"Type": ^"INVALID", "Desc": {"DataType": "FLOAT32", "Sizes": [4]}}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Type is the string \"INVALID\", must be one of BUFFER\n"
      "  help: write \"BUFFER\", for example"}},
    {R"("InputTensor": {"Type": "BUFFER", "Desc": {"Type": ^"INVALID", "DataType": "FLOAT32", )"
     R"("Sizes": [4]}}, "PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Type is the string \"INVALID\", must be one of BUFFER\n"
      "  help: write \"BUFFER\", for example"}},
    {R"("InputTensor": {"Type": ^1, "DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Type is 1, must be one of BUFFER\n"
      "  help: write \"BUFFER\", for example"}},
    {R"("InputTensor": {"DataType": ^14, "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.DataType is 14, must be one of FLOAT32 (1), FLOAT16 (2), UINT32 (3), "
      "UINT16 (4), UINT8 (5), INT32 (6), INT16 (7), INT8 (8), FLOAT64 (9), UINT64 (10), "
      "INT64 (11), UINT4 (12), INT4 (13)\n"
      "  help: write \"FLOAT32\", for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^4}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Sizes is 4, must be an array of UINT\n"
      "  help: write [4]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Sizes is an empty array, must be an array with one size for each "
      "dimension\n"
      "  help: write [1] for a tensor of one element, or leave Sizes out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [^"4"]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Sizes[0] is the string \"4\", must be an integer from 1 to "
      "4294967295 (UINT)\n"
      "  help: write 4, without the quotes"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], "Strides": ^{}}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Strides is an object, must be an array of UINT\n"
      "  help: write [1, 1, 2, 2], for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], "Strides": [^-1]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Strides[0] is -1, must be an integer from 0 to 4294967295 (UINT)\n"
      "  help: write 0 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], "Flags": ^1}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Flags is 1, must be one of NONE, OWNED_BY_DML\n"
      "  help: write \"NONE\", for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], "Flags": [^"OWNED", "NONE"]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Flags is the string \"OWNED\", must be one of NONE, OWNED_BY_DML\n"
      "  help: did you mean \"OWNED_BY_DML\"?"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], )"
     R"("TotalTensorSizeInBytes": ^-1}, "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"InputTensor.TotalTensorSizeInBytes is -1, must be an integer from 0 to "
      "9223372036854775807 (UINT64)\n"
      "  help: write 0 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], )"
     R"("GuaranteedBaseOffsetAlignment": ^4.0}, "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"InputTensor.GuaranteedBaseOffsetAlignment is 4.0, must be an integer from 0 "
      "to 4294967295 (UINT)\n"
      "  help: write 4"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], "DimensionCount": ^9}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.DimensionCount is 9, must be an integer from 1 to 8 (UINT)\n"
      "  help: write 8 or less"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": ^5, )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"PaddingMode is 5, must be one of CONSTANT (0), EDGE (1), REFLECTION (2), SYMMETRIC (3), "
      "WRAP (4)\n"
      "  help: write \"CONSTANT\", for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": ^null, )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"PaddingMode is null, must be one of CONSTANT, EDGE, REFLECTION, SYMMETRIC, "
      "WRAP\n"
      "  help: write \"CONSTANT\", for example"}},
  });
}

TEST_CASE("unknown fields and names are refused with the nearest") {
  check_refused("PADDING", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], ^"EndPading": [2])",
     {"unknown field \"EndPading\"; did you mean \"EndPadding\"?\n"
      "  rule: the fields of DML_OPERATOR_PADDING are InputTensor, OutputTensor, "
      "PaddingMode, PaddingValue, DimensionCount, StartPadding, EndPadding"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, ^"Color": 1, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"unknown field \"Color\"\n"
      "  rule: the fields of DML_OPERATOR_PADDING are InputTensor, OutputTensor, "
      "PaddingMode, PaddingValue, DimensionCount, StartPadding, EndPadding\n"
      "  help: leave it out"}},
    {R"(^"InptTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"unknown field \"InptTensor\"; did you mean \"InputTensor\"?\n"
      "  rule: the fields of DML_OPERATOR_PADDING are InputTensor, OutputTensor, "
      "PaddingMode, PaddingValue, DimensionCount, StartPadding, EndPadding"}},
    {R"("InputTensor": {"DataType": "FLOAT32", ^"Size": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"unknown field \"Size\"; did you mean \"Sizes\"?\n"
      "  rule: the fields of a tensor desc are Type, DataType, Flags, "
      "DimensionCount, Sizes, Strides, Broadcast, TotalTensorSizeInBytes, "
      "GuaranteedBaseOffsetAlignment"}},
    {R"("InputTensor": {^"Datatype": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"unknown field \"Datatype\"; did you mean \"DataType\"?\n"
      "  rule: the fields of a tensor desc are Type, DataType, Flags, "
      "DimensionCount, Sizes, Strides, Broadcast, TotalTensorSizeInBytes, "
      "GuaranteedBaseOffsetAlignment"}},
    {R"("InputTensor": {"DataType": ^"FLOAT", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.DataType is the string \"FLOAT\", must be one of FLOAT32, FLOAT16, "
      "UINT32, UINT16, UINT8, INT32, INT16, INT8, FLOAT64, UINT64, INT64, UINT4, INT4\n"
      "  help: did you mean \"FLOAT32\"?"}},
    {R"("InputTensor": {"DataType": ^"DML_TENSOR_DATA_TYPE_INT4", "Sizes": [4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.DataType is INT4, must be one of FLOAT64, FLOAT32, FLOAT16, INT64, INT32, "
      "INT16, INT8, UINT64, UINT32, UINT16, UINT8\n"
      "  rule: at 6_4 InputTensor takes FLOAT64, FLOAT32, FLOAT16, INT64, INT32, INT16, INT8, "
      "UINT64, UINT32, UINT16, UINT8\n"
      "  help: save array.astype(numpy.int8) and write \"INT8\""}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": ^"SYMETRIC", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"PaddingMode is the string \"SYMETRIC\", must be one of CONSTANT, EDGE, "
      "REFLECTION, SYMMETRIC, WRAP\n"
      "  help: did you mean \"SYMMETRIC\"?"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": ^"edge", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"PaddingMode is the string \"edge\", must be one of CONSTANT, EDGE, REFLECTION, "
      "SYMMETRIC, WRAP\n"
      "  help: did you mean \"EDGE\"?"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("PaddingMode": ^"DML_PADDING_MODE_MIRROR", "StartPadding": [1], "EndPadding": [2])",
     {"PaddingMode is the string \"DML_PADDING_MODE_MIRROR\", must be one of CONSTANT, "
      "EDGE, REFLECTION, SYMMETRIC, WRAP\n"
      "  help: write \"CONSTANT\", for example"}},
  });
}

TEST_CASE("a misspelt optional field is not missing, too") {
  check_refused("PADDING", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "CONSTANT", )"
     R"(^"PaddingValu": 9, "StartPadding": [1], "EndPadding": [2])",
     {"unknown field \"PaddingValu\"; did you mean \"PaddingValue\"?\n"
      "  rule: the fields of DML_OPERATOR_PADDING are InputTensor, OutputTensor, "
      "PaddingMode, PaddingValue, DimensionCount, StartPadding, EndPadding"}},
  });
}

TEST_CASE("fields that nothing tells are missing") {
  check_refused("PADDING", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("EndPadding": [2])",
     {"the field \"StartPadding\" is missing\n"
      "  rule: DML_OPERATOR_PADDING needs it: How many elements to add before the "
      "first of each dimension.\n"
      "  help: write \"StartPadding\": [2], for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1])",
     {"the field \"EndPadding\" is missing\n"
      "  rule: DML_OPERATOR_PADDING needs it: How many elements to add after the "
      "last of each dimension.\n"
      "  help: write \"EndPadding\": [4], for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"the field \"PaddingMode\" is missing\n"
      "  rule: DML_OPERATOR_PADDING needs it: What the padding holds: one value, the "
      "edge, the input mirrored at or beside its edge, or repeated.\n"
      "  help: write \"PaddingMode\": \"CONSTANT\", for example"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, "PaddingMode": "CONSTANT", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"the field \"PaddingValue\" is missing\n"
      "  rule: it may be left out only where PaddingMode != CONSTANT\n"
      "  help: write \"PaddingValue\": 0, for example"}},
    {R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.DataType and InputTensor.Sizes are missing\n"
      "  rule: a tensor's type and sizes are written in its desc or taken from its "
      ".npy file\n"
      "  help: write \"InputTensor\": {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}, "
      "or name its .npy file"}},
    {R"("InputTensor": ^{"DataType": "FLOAT32"}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Sizes is missing\n"
      "  rule: a tensor's type and sizes are written in its desc or taken from its "
      ".npy file\n"
      "  help: write \"InputTensor\": {\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}, "
      "or name its .npy file"}},
    {R"("InputTensor": ^{"Sizes": [4]}, "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"InputTensor.DataType is missing\n"
      "  rule: a tensor's type and sizes are written in its desc or taken from its "
      ".npy file\n"
      "  help: write \"InputTensor\": {\"DataType\": \"FLOAT32\", \"Sizes\": [4]}, "
      "or name its .npy file"}},
  });
}

}  // namespace dmlop::refusal_values_test
