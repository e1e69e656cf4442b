// Refused descriptions: what holds for every tensor of every operator.
#include <doctest/doctest.h>

#include "refusal.hpp"

namespace dmlop::refusal_tensors_test {

using dmlop::test::check_refused;

// Raw strings are marked JSON: see refusal.hpp.
// clang-format off

TEST_CASE("tensors must keep to the rules that all tensors share") {
  check_refused("PADDING", {
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4, ^0]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1, 1], "EndPadding": [2, 2])",
     {"InputTensor.Sizes[1] is 0, must be from 1 to 4294967295\n"
      "  rule: every size of a tensor is a UINT of at least 1\n"
      "  help: a tensor without elements cannot be used; write 1 or more"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3], "TotalTensorSizeInBytes": ^8}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.TotalTensorSizeInBytes is 8, must be at least 12\n"
      "  rule: the last element ends at byte 12, rounded up to a multiple of 4\n"
      "  help: write 12 or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT16", "Sizes": [3], "TotalTensorSizeInBytes": ^7}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.TotalTensorSizeInBytes is 7, must be at least 8\n"
      "  rule: the last element ends at byte 6, rounded up to a multiple of 4\n"
      "  help: write 8 or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [3], "Strides": [2], )"
     R"("TotalTensorSizeInBytes": ^12}, "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"InputTensor.TotalTensorSizeInBytes is 12, must be at least 20\n"
      "  rule: the last element ends at byte 20, rounded up to a multiple of 4\n"
      "  help: write 20 or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], "DimensionCount": ^2}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.DimensionCount is 2, must be 1\n"
      "  rule: Sizes has 1 value\n"
      "  help: write 1 or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], "Strides": ^[1, 1]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"InputTensor.Strides has 2 values, must have 1\n"
      "  rule: one stride, in elements, for each size\n"
      "  help: write [1] for a packed tensor, or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": [7], "Strides": ^[0]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor.Strides [0] let parts of the output overlap or interleave\n"
      "  rule: every element of an output has a place of its own, and each stride is at least what the "
      "dimensions with smaller strides span\n"
      "  help: write [1] for a packed tensor, or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4, 1]}, )"
     R"("OutputTensor": {"Sizes": [7, 2], "Strides": ^[1, 6]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1, 1], "EndPadding": [2, 0])",
     {"OutputTensor.Strides [1, 6] let parts of the output overlap or interleave\n"
      "  rule: every element of an output has a place of its own, and each stride is at least what the "
      "dimensions with smaller strides span\n"
      "  help: write [2, 1] for a packed tensor, or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": [7], "Strides": ^[1, 1]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor.Strides has 2 values, must have 1\n"
      "  rule: one stride, in elements, for each size\n"
      "  help: write [1] for a packed tensor, or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": [7], "TotalTensorSizeInBytes": ^24}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor.TotalTensorSizeInBytes is 24, must be at least 28\n"
      "  rule: the last element ends at byte 28, rounded up to a multiple of 4\n"
      "  help: write 28 or leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4]}, )"
     R"("OutputTensor": {"Sizes": [7], "Flags": ^"OWNED_BY_DML"}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [1], "EndPadding": [2])",
     {"OutputTensor.Flags is OWNED_BY_DML, must be NONE\n"
      "  rule: only inputs can be owned by DirectML (DML_TENSOR_FLAG_OWNED_BY_DML)\n"
      "  help: leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], )"
     R"("GuaranteedBaseOffsetAlignment": ^2}, "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"InputTensor.GuaranteedBaseOffsetAlignment is 2, must be 0 or a power of two "
      "of at least 4\n"
      "  rule: FLOAT32 has 4 bytes per element\n"
      "  help: leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4], )"
     R"("GuaranteedBaseOffsetAlignment": ^6}, "PaddingMode": "EDGE", "StartPadding": [1], )"
     R"("EndPadding": [2])",
     {"InputTensor.GuaranteedBaseOffsetAlignment is 6, must be 0 or a power of two "
      "of at least 4\n"
      "  rule: FLOAT32 has 4 bytes per element\n"
      "  help: leave it out"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[1, 1, 1, 1, 1, 1, 1, 1, 4]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [0, 0, 0, 0, 0, 0, 0, 0, 1], )"
     R"("EndPadding": [0, 0, 0, 0, 0, 0, 0, 0, 2])",
     {"InputTensor has 9 dimensions, must have 1 to 8\n"
      "  rule: at 6_4 InputTensor takes 1 to 8 dimensions\n"
      "  help: merge dimensions: write [1, 1, 1, 1, 1, 1, 1, 4]"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[4294967295, 4294967295], )"
     R"("Strides": [4294967295, 4294967295]}, "PaddingMode": "EDGE", "StartPadding": [0, )"
     R"(0], "EndPadding": [0, 0])",
     {"InputTensor of sizes [4294967295, 4294967295] is too large\n"
      "  rule: a tensor has at most 9223372036854775807 bytes, here 4 per element\n"
      "  help: make the sizes smaller"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": ^[4294967295, 4294967295, 2]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [0, 0, 0], "EndPadding": [0, 0, 0])",
     {"InputTensor of sizes [4294967295, 4294967295, 2] is too large\n"
      "  rule: a tensor has at most 9223372036854775807 bytes, here 4 per element\n"
      "  help: make the sizes smaller"}},
    {R"("InputTensor": {"DataType": "FLOAT64", "Sizes": [1, 1]}, "PaddingMode": "EDGE", )"
     R"("StartPadding": [4000000000, 4000000000], "EndPadding": [0, 0])",
     {"OutputTensor of sizes [4000000001, 4000000001] is too large\n"
      "  rule: a tensor has at most 9223372036854775807 bytes, here 8 per element\n"
      "  help: make the sizes smaller"}},
    {R"("InputTensor": {"DataType": "UINT32", "Sizes": ^[2000000000, 2000000000]}, )"
     R"("PaddingMode": "EDGE", "StartPadding": [0, 0], "EndPadding": [0, 0])",
     {"InputTensor of sizes [2000000000, 2000000000] is too large\n"
      "  rule: a tensor has at most 9223372036854775807 bytes, here 4 per element\n"
      "  help: make the sizes smaller"}},
    {R"("InputTensor": {"DataType": "FLOAT32", "Sizes": [4294967295, 1], )"
     R"("Strides": ^[4294967295, 1]}, "PaddingMode": "EDGE", "StartPadding": [0, 0], )"
     R"("EndPadding": [0, 0])",
     {"InputTensor.Strides [4294967295, 1] reach too far\n"
      "  rule: a tensor has at most 9223372036854775807 bytes; it has (sum of "
      "(size - 1) * stride) + 1 elements\n"
      "  help: make the strides smaller"}},
  });
}

}  // namespace dmlop::refusal_tensors_test
