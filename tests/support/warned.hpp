// A description and a model that are valid, but have warnings.
#pragma once

#include <cstdint>
#include <string>

#include "folder.hpp"

namespace dmlop::test {

/// Of a sum of INT64 along the last of six dimensions: its page allows it, and DirectML 1.15.4 does
/// not.
inline const std::string warned_fields =
    R"("type": "CUMULATIVE_SUMMATION", "desc": {"Axis": 5, "AxisDirection": "INCREASING", )"
    R"("HasExclusiveSum": 0})";

/// What is said about it, behind its place and the word for it.
inline const std::string warned_message = "InputTensor.DimensionCount is 6, must be at most 4\n";
inline const std::string warned_note = "DirectML 1.15.4 refuses this.";

/// A model of it on the values 1 and 2. It also has a field that DxDispatch ignores.
inline std::string warned_model() {
  const std::string tensor = R"({"DataType": "INT64", "Sizes": [1, 1, 1, 1, 1, 2]})";
  return R"({"comments": [], "resources": {
    "In": {"initialValuesDataType": "INT64", "initialValues": [1, 2]},
    "Out": {"initialValuesDataType": "INT64", "initialValues": {"valueCount": 2, "value": 0}}},
  "dispatchables": {"sum": {"type": "CUMULATIVE_SUMMATION", "desc": {
    "InputTensor": )" +
         tensor + R"(, "OutputTensor": )" + tensor + R"(,
    "Axis": 5, "AxisDirection": "INCREASING", "HasExclusiveSum": false}}},
  "commands": [
    {"type": "dispatch", "dispatchable": "sum",
     "bindings": {"InputTensor": "In", "OutputTensor": "Out"}},
    {"type": "writeFile", "resource": "Out", "targetPath": "written.npy"}]})";
}

/// A .npy file of two INT64 in six dimensions, such as the input and the output of the sum.
inline std::string six_dimensional_npy(std::int64_t first, std::int64_t second) {
  return npy("<i8", "(1, 1, 1, 1, 1, 2)", bytes_of(std::vector<std::int64_t>{first, second}));
}

}  // namespace dmlop::test
